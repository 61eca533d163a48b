#include "support/json_schema.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

namespace isotact {
namespace {

using nlohmann::json;

const std::set<std::string> kKeywords{
    "$schema", "$id",   "$defs",    "$ref",    "title",      "description", "unit",
    "default", "const", "enum",     "type",    "properties", "required",    "additionalProperties",
    "items",   "anyOf", "minItems", "maxItems"};

// Every keyword of a schema and of those within.
void check_keywords(const json& node, const std::string& file) {
  for (const auto& [key, value] : node.items()) {
    if (kKeywords.count(key) == 0) throw std::runtime_error(file + ": unknown keyword " + key);
    if (key == "properties" || key == "$defs")
      for (const json& member : value) check_keywords(member, file);
    if (key == "anyOf")
      for (const json& choice : value) check_keywords(choice, file);
    if (key == "items" || (key == "additionalProperties" && value.is_object()))
      check_keywords(value, file);
  }
}

bool is_of_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

bool is_of_types(const json& value, const json& types) {
  if (types.is_string()) return is_of_type(value, types.get<std::string>());
  return std::any_of(types.begin(), types.end(),
                     [&](const json& type) { return is_of_type(value, type.get<std::string>()); });
}

}  // namespace

JsonSchemas::JsonSchemas(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    json& file = files_[entry.path().stem().string()] = json::parse(in);
    check_keywords(file, entry.path().string());
  }
}

JsonSchemas::Part JsonSchemas::follow(Part part) const {
  while (part.node->contains("$ref")) {
    const auto target = (*part.node)["$ref"].get<std::string>();
    const std::size_t hash = target.find('#');
    if (hash != 0) part.file = target.substr(0, target.find(".json"));
    part.node = &files_.at(part.file);
    if (hash != std::string::npos)
      part.node = &part.node->at(json::json_pointer(target.substr(hash + 1)));
  }
  return part;
}

void JsonSchemas::check(Part part, const json& value, const std::string& where,
                        std::vector<std::string>& flaws) const {
  part = follow(part);
  const json& node = *part.node;
  const auto flaw = [&](const std::string& what) {
    flaws.push_back(where + ": " + what + ": " + value.dump().substr(0, 100));
  };
  if (node.contains("anyOf")) {
    std::vector<std::string> best;
    for (const json& choice : node["anyOf"]) {
      std::vector<std::string> own;
      check({part.file, &choice}, value, where, own);
      if (own.empty()) return;
      // What is nearest to fitting tells most.
      if (best.empty() || own.size() < best.size()) best = own;
    }
    flaws.insert(flaws.end(), best.begin(), best.end());
    return;
  }
  if (node.contains("const") && value != node["const"]) flaw("is not " + node["const"].dump());
  if (node.contains("enum") &&
      std::find(node["enum"].begin(), node["enum"].end(), value) == node["enum"].end())
    flaw("is not one of " + node["enum"].dump());
  if (node.contains("type") && !is_of_types(value, node["type"]))
    return flaw("is no " + node["type"].dump());
  if (value.is_array()) {
    if (value.size() < node.value("minItems", std::size_t{0})) flaw("is too short");
    if (value.size() > node.value("maxItems", value.size())) flaw("is too long");
    if (node.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check({part.file, &node["items"]}, value[i], where + "/" + std::to_string(i), flaws);
  }
  if (value.is_object()) check_object(part, value, where, flaws);
}

void JsonSchemas::check_object(const Part& part, const json& value, const std::string& where,
                               std::vector<std::string>& flaws) const {
  const json& node = *part.node;
  for (const json& key : node.value("required", json::array()))
    if (!value.contains(key.get<std::string>()))
      flaws.push_back(where + ": has no " + key.get<std::string>());
  const json none = json::object();
  const json& properties = node.contains("properties") ? node["properties"] : none;
  const auto others = node.find("additionalProperties");
  for (const auto& [key, member] : value.items()) {
    if (properties.contains(key))
      check({part.file, &properties[key]}, member, where + "/" + key, flaws);
    else if (others != node.end() && others->is_object())
      check({part.file, &*others}, member, where + "/" + key, flaws);
    else if (others != node.end() && *others == false)
      flaws.push_back(where + ": has the unknown key " + key);
  }
}

std::vector<std::string> JsonSchemas::find_flaws(const std::string& name, const json& value) const {
  std::vector<std::string> flaws;
  check({name, &files_.at(name)}, value, "", flaws);
  return flaws;
}

std::vector<std::string> JsonSchemas::find_flaws(const json& value) const {
  const std::string id = value.is_object() ? value.value("schema", "") : "";
  const std::size_t dot = id.find('.'), slash = id.find('/');
  if (id.rfind("isotact.", 0) != 0 || slash == std::string::npos ||
      files_.count(id.substr(dot + 1, slash - dot - 1)) == 0)
    return {"there is no schema '" + id + "'"};
  return find_flaws(id.substr(dot + 1, slash - dot - 1), value);
}

}  // namespace isotact
