// A fixture for tests that drive the tool as a user does, in a folder of their own.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/json_schema.h"
#include "support/run_program.h"
#include "support/scratch_folder.h"

namespace isotact {

using Json = nlohmann::json;

// Output of the tool with --json, checked by its schema.
inline Json parse_output(const std::string& out) {
  static const JsonSchemas schemas(ISOTACT_SOURCE_FOLDER "/docs/schema");
  Json object = Json::parse(out);
  EXPECT_EQ(schemas.find_flaws(object), std::vector<std::string>()) << out.substr(0, 3000);
  return object;
}

class ToolTest : public testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& arguments) {
    return run_program(ISOTACT_TOOL, arguments, folder_.path().string());
  }
  Json run_json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return parse_output(r.out);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
  }

  ScratchFolder folder_;
};

}  // namespace isotact
