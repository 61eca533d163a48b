// The tour that a newcomer takes first.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/slow_build.h"
#include "support/tool_test.h"

namespace isotact {
namespace {

class DemoVerb : public ToolTest {
 protected:
  bool exists(const Json& path) {
    return std::filesystem::exists(folder_.path() / path.get<std::string>());
  }
};

TEST_F(DemoVerb, TellsAStoryWithFiguresThatHold) {
  const Json demo = run_json({"demo", "-o", "tour"});
  EXPECT_EQ(demo["shape_count"], demo["watertight_count"]);
  EXPECT_NEAR(demo["thread_gap"], 0.1e-3, 0.005e-3);
  EXPECT_GT(demo["inside_outside_agree"], 0.97);
  EXPECT_TRUE(exists(demo["slice_picture"]));
  EXPECT_TRUE(exists(demo["picture"]));
  EXPECT_EQ(run_json({"info", demo["asset"].get<std::string>()})["kind"], "asset");
  EXPECT_NEAR(demo["field_distance"], demo["exact_distance"],
              0.05 * demo["exact_distance"].get<double>());
  // Seen on the way, not where steps end.
  const Json& continuous = demo["continuous"];
  EXPECT_EQ(continuous["found"], true);
  EXPECT_EQ(continuous["found_at_steps"], false);
  EXPECT_GT(continuous["time_of_contact"], 0.4);
  EXPECT_LT(continuous["time_of_contact"], 0.6);
  for (const Json& x : continuous["position"]) EXPECT_LT(std::abs(x.get<double>()), 0.12);
  const Json& run = demo["run"];
  EXPECT_EQ(run["trouble"], nullptr);
  EXPECT_GE(run["bodies"], 19);
  EXPECT_EQ(run["soft_bodies"], 2);
  EXPECT_GT(run["nut_turns"], 0);
  if (!kSlowBuild) {
    EXPECT_GT(run["nut_turns"], 4);
    EXPECT_NEAR(run["nut_sank"].get<double>() / run["nut_turns"].get<double>(), 0.01, 0.0003);
    EXPECT_GT(run["most_contacts"], 20);
    EXPECT_LT(run["deepest_penetration"], 0.01);
  }
  EXPECT_TRUE(exists(demo["replay"]));
  const bool has_page = run_json({"doctor"})["viewer"].get<std::string>().find("built in") == 0;
  EXPECT_EQ(has_page, demo["page"] == demo["replay"]);
  EXPECT_EQ(
      demo["replay"].get<std::string>().find(has_page ? ".html" : ".glb") != std::string::npos,
      true);
  // It leaves the scene, which others can go on with.
  EXPECT_TRUE(exists(demo["scene_file"]));
  if (!kSlowBuild) {
    EXPECT_EQ(
        run_json({"simulate", demo["scene_file"].get<std::string>(), "--steps", "1"})["trouble"],
        nullptr);
  }
  if (has_page) {
    std::ifstream page(folder_.path() / demo["page"].get<std::string>());
    std::string start(200, ' ');
    page.read(start.data(), 200);
    EXPECT_NE(start.find("<html lang=\"en\" data-play"), std::string::npos) << start;
    run_json({"render", demo["replay"].get<std::string>(), "-o", "end.png", "--width", "60",
              "--height", "40"});
    EXPECT_TRUE(exists("end.png"));
  }
}

TEST_F(DemoVerb, IsNotAfraidOfFoldersThatCannotBe) {
  write("taken", "a file");
  const ProgramRun r = run({"demo", "-o", "taken"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("taken"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace isotact
