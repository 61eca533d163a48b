// isotact distance as a user drives it.
#include <cmath>

#include "support/tool_test.h"

namespace isotact {
namespace {

class DistanceVerb : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  }
  Json distance(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"distance", "box.obj", "box.obj"});
    arguments.insert(arguments.end(), {"--json", "--resolution", "32"});
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r.exit_code == 0 ? parse_output(r.out) : Json();
  }
};

TEST_F(DistanceVerb, IsExactForMeshes) {
  const Json apart = distance({"--pose-b", "xyz=0,3,0"});
  EXPECT_EQ(apart["status"], "free");
  EXPECT_EQ(apart["exact"], true);
  EXPECT_NEAR(apart["distance"].get<double>(), 2, 1e-6);
  EXPECT_LE(apart["lower_bound"].get<double>(), apart["distance"].get<double>());
  EXPECT_GE(apart["upper_bound"].get<double>(), apart["distance"].get<double>());
  EXPECT_NEAR(apart["witness_a"][1].get<double>(), 0.5, 1e-6);
  EXPECT_NEAR(apart["witness_b"][1].get<double>(), 2.5, 1e-6);
  EXPECT_EQ(apart["touching"], false);
  // On its edge, by axis and degrees.
  const Json edge = distance({"--pose-b", "xyz=0,3,0 axis=0,0,1,45"});
  EXPECT_NEAR(edge["distance"].get<double>(), 2.5 - std::sqrt(0.5), 1e-6);
  const Json into = distance({"--pose-b", "xyz=0.01,0.9,0.02"});
  EXPECT_EQ(into["status"], "contact");
  EXPECT_EQ(into["touching"], true);
  EXPECT_NEAR(into["distance"].get<double>(), -0.1, 1e-5);
  const Json by_field = distance({"--pose-b", "xyz=0,3,0", "--accuracy", "field"});
  EXPECT_EQ(by_field["exact"], false);
  EXPECT_TRUE(by_field["touching"].is_null());
  EXPECT_NEAR(by_field["distance"].get<double>(), 2, 0.05);
  const Json far = distance({"--pose-b", "xyz=0,3,0", "--max-distance", "1"});
  EXPECT_TRUE(far["distance"].is_null());
  EXPECT_NEAR(far["lower_bound"].get<double>(), 1, 1e-9);
}

TEST_F(DistanceVerb, AssetsKeepTheirTriangles) {
  const std::vector<std::string> pose{"--pose-b", "xyz=0,3,0 axis=0,0,1,45", "--json"};
  const auto exact = [&](const std::string& file, const std::string& accuracy) {
    std::vector<std::string> arguments{"distance", file, "box.obj", "--accuracy", accuracy};
    arguments.insert(arguments.end(), pose.begin(), pose.end());
    return run(arguments);
  };
  ASSERT_EQ(run({"build", "box.obj", "-o", "box.isotact", "--resolution", "32"}).exit_code, 0);
  const Json j = parse_output(exact("box.isotact", "exact").out);
  EXPECT_EQ(j["exact"], true);
  EXPECT_NEAR(j["distance"].get<double>(), 2.5 - std::sqrt(0.5), 1e-6);
  const Json info = parse_output(run({"info", "box.isotact", "--json"}).out);
  EXPECT_EQ(info["mesh"]["triangles"], 12);
  EXPECT_EQ(info["mesh"]["vertices"], 8);
  EXPECT_EQ(info["mesh"]["components"], 1);
  EXPECT_NE(run({"info", "box.isotact"}).out.find("8 vertices, 12 triangles"), std::string::npos);
  ASSERT_EQ(
      run({"build", "box.obj", "-o", "box.isotact", "--resolution", "32", "--no-mesh"}).exit_code,
      0);
  EXPECT_TRUE(parse_output(run({"info", "box.isotact", "--json"}).out)["mesh"].is_null());
  EXPECT_EQ(parse_output(exact("box.isotact", "best").out)["exact"], false);
  const ProgramRun refused = exact("box.isotact", "exact");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("keeps its mesh"), std::string::npos) << refused.err;
}

TEST_F(DistanceVerb, ExitCodesAreVerdicts) {
  const auto code = [&](const std::string& pose, const std::string& fail_on) {
    return run({"distance", "box.obj", "box.obj", "--resolution", "32", "--pose-b", pose,
                "--fail-on", fail_on})
        .exit_code;
  };
  EXPECT_EQ(code("xyz=0,1.004,0", "contact"), 0);
  EXPECT_EQ(code("xyz=0,1.004,0", "free"), 3);
  EXPECT_EQ(code("xyz=0,0.996,0", "contact"), 3);
  EXPECT_EQ(code("xyz=0,0.996,0", "free"), 0);
  EXPECT_EQ(code("xyz=0,1.004,0", "closer:5mm"), 3);
  EXPECT_EQ(code("xyz=0,1.004,0", "closer:0.003"), 0);
  EXPECT_EQ(code("xyz=0,3,0", "closer:5km"), 2);
  EXPECT_EQ(code("xyz=0,3,0", "always"), 2);
  EXPECT_EQ(code("xyz=0,nan,0", "free"), 2);
}

TEST_F(DistanceVerb, PrintsTheUnitThatIsAskedFor) {
  const ProgramRun r = run({"distance", "box.obj", "box.obj", "--pose-b", "xyz=0,1.004,0",
                            "--print-unit", "mm", "--resolution", "32"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_NE(r.out.find("4 mm"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace isotact
