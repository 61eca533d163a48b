// The part of JSON Schema that docs/schema uses, for checks of outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace isotact {

class JsonSchemas {
 public:
  // Reads all files of a folder. Throws std::runtime_error for a keyword that is not known here.
  explicit JsonSchemas(const std::string& folder);

  const std::map<std::string, nlohmann::json>& files() const { return files_; }

  // What is wrong with a value, one line each, "/contacts/0/depth: is a string"; empty if nothing
  // is.
  std::vector<std::string> find_flaws(const std::string& name, const nlohmann::json& value) const;

  // By the value's own "schema", "isotact.collide/1".
  std::vector<std::string> find_flaws(const nlohmann::json& value) const;

 private:
  struct Part {
    std::string file;
    const nlohmann::json* node;
  };
  Part follow(Part part) const;
  void check(Part part, const nlohmann::json& value, const std::string& where,
             std::vector<std::string>& flaws) const;
  void check_object(const Part& part, const nlohmann::json& value, const std::string& where,
                    std::vector<std::string>& flaws) const;

  std::map<std::string, nlohmann::json> files_;
};

}  // namespace isotact
