// A fixture for tests of isotact collide.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/tool_test.h"

namespace isotact {

class CollideVerb : public ToolTest {
 protected:
  void make_ball() { ASSERT_EQ(run({"make", "sphere", "-o", "ball.obj"}).exit_code, 0); }
  Json collide(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"collide"});
    arguments.emplace_back("--json");
    const auto is_mesh = [](const std::string& word) { return word.ends_with(".obj"); };
    if (std::any_of(arguments.begin(), arguments.end(), is_mesh))
      arguments.insert(arguments.end(), {"--resolution", "32"});
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r.exit_code == 0 ? parse_output(r.out) : Json();
  }
};

}  // namespace isotact
