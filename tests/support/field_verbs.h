// A fixture for tests of the verbs of fields: build, info, sample, slice, convert, render.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/tool_test.h"

namespace isotact {

class FieldVerbs : public ToolTest {
 protected:
  void expect_failure(const std::vector<std::string>& arguments, int exit_code,
                      const std::string& part_of_message) {
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err.rfind("isotact: error: ", 0), 0U) << r.err;
    EXPECT_NE(r.err.find(part_of_message), std::string::npos) << r.err;
  }
  std::filesystem::path file(const std::string& name) { return folder_.path() / name; }
  std::string bytes_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(file(name), std::ios::binary).rdbuf();
    return text.str();
  }
  // A torus of ring 0.375 and tube 0.125 about y.
  void build_torus(const std::vector<std::string>& more = {"--resolution", "40"}) {
    run_json({"make", "torus", "-o", "torus.obj"});
    std::vector<std::string> arguments{"build", "torus.obj", "-o", "torus.isotact"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    report_ = run_json(arguments);
  }

  Json report_;
};

}  // namespace isotact
