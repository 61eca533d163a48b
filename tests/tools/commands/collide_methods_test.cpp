// isotact collide by intersection fields, depth maps and voxelmaps, as a user drives it.
#include <cmath>
#include <filesystem>

#include "support/collide_verb.h"

namespace isotact {
namespace {

using CollideMethods = CollideVerb;

// By intersection fields: two balls, 0.1 m deep, on the CPU and on the GPU where there is one.
TEST_F(CollideMethods, TakesIntersectionFields) {
  make_ball();
  for (const bool gpu : {false, true}) {
    std::vector<std::string> words{"ball.obj",    "ball.obj",  "--method", "idf",       "--pose-a",
                                   "xyz=0,0.9,0", "--samples", "12",       "--distance"};
    if (gpu) words.push_back("--gpu");
    const Json j = collide(words);
    EXPECT_EQ(j["status"], "contact");
    EXPECT_EQ(j["method"], "idf");
    ASSERT_FALSE(j["contacts"].empty());
    EXPECT_NEAR(j["contacts"][0]["depth"].get<double>(), 0.1, 0.02);
    EXPECT_GT(j["contacts"][0]["normal"][1].get<double>(), 0.95);
    EXPECT_NEAR(j["min_distance"].get<double>(), -0.1, 0.02);
    EXPECT_FALSE(j["device"].get<std::string>().empty());
  }
  EXPECT_EQ(
      collide({"ball.obj", "ball.obj", "--method", "idf", "--pose-a", "xyz=0,1.5,0"})["status"],
      "free");
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--gpu"}).exit_code, 2);
  // A gap of 0.05 m is contact within a margin of 0.1 m, with the gap as a negative depth.
  const Json near = collide(
      {"ball.obj", "ball.obj", "--method", "idf", "--margin", "0.1", "--pose-a", "xyz=0,1.05,0"});
  EXPECT_EQ(near["status"], "contact");
  ASSERT_FALSE(near["contacts"].empty());
  EXPECT_NEAR(near["contacts"][0]["depth"].get<double>(), -0.05, 0.02);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--method", "idf", "--margin", "-1"}).exit_code,
            2);
}

// By drawing both: two balls, 0.1 m deep, on the CPU and on the GPU where there is one.
TEST_F(CollideMethods, TakesDepthMaps) {
  make_ball();
  const auto depth = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"ball.obj", "ball.obj", "--method", "depth", "--pixels", "64"});
    return collide(more);
  };
  for (const bool gpu : {false, true}) {
    std::vector<std::string> words{"--pose-a", "xyz=0,0.9,0", "--direction", "0,1,0"};
    if (gpu) words.push_back("--gpu");
    const Json j = depth(words);
    EXPECT_EQ(j["status"], "contact");
    EXPECT_EQ(j["method"], "depth");
    EXPECT_FALSE(j["device"].get<std::string>().empty());
    EXPECT_EQ(j["device"] != "cpu" || !j["warnings"].empty(), gpu);
    ASSERT_FALSE(j["contacts"].empty());
    EXPECT_NEAR(j["contacts"][0]["depth"].get<double>(), 0.1, 0.02);
    EXPECT_GT(j["contacts"][0]["normal"][1].get<double>(), 0.95);
    EXPECT_GT(j["pixels"].get<int>(), 50);
    EXPECT_FALSE(j["inside"].get<bool>());
    EXPECT_EQ(j["layers"], 4);
    // Half a pixel's diagonal of a map of 1.01 m.
    EXPECT_NEAR(j["blind_depth"].get<double>(), 1.01 / 64 * std::sqrt(0.5), 2e-4);
    ASSERT_EQ(j["directions"].size(), 1U);
    EXPECT_EQ(j["directions"][0]["direction"][1], 1);
    EXPECT_NEAR(j["unseen"].get<double>(), 0.17, 0.02);  // steeper than 80 degrees
  }
  const Json apart = depth({"--pose-a", "xyz=0,1.2,0"});
  EXPECT_EQ(apart["status"], "free");
  EXPECT_TRUE(apart["contacts"].empty());
  EXPECT_TRUE(apart["time_of_contact"].is_null());
  EXPECT_EQ(depth({"--conservative"})["blind_depth"], 0);
  // FAB's maps along one direction: a bead behind the ball, seen from where the view begins.
  ASSERT_EQ(run({"make", "sphere", "--set", "radius=0.05", "-o", "bead.obj"}).exit_code, 0);
  std::vector<std::string> behind{
      "ball.obj", "bead.obj",    "--method", "depth",    "--pixels",
      "64",       "--direction", "0,1,0",    "--pose-b", "xyz=0.4,-0.42,0"};
  EXPECT_EQ(collide(behind)["status"], "free");
  behind.insert(behind.end(), {"--maps", "two-maps"});
  EXPECT_EQ(collide(behind)["status"], "contact");
  // They miss a ball within a box, however large: no bound is stated.
  EXPECT_TRUE(collide(behind)["blind_depth"].is_null());
  behind.emplace_back("--two-sided");
  EXPECT_EQ(collide(behind)["status"], "free");
}

TEST_F(CollideMethods, DepthMapsChooseDirectionsAndDrawThem) {
  make_ball();
  ASSERT_EQ(run({"make", "box", "--set", "size_x=3", "--set", "size_y=3", "--set", "size_z=3", "-o",
                 "room.obj"})
                .exit_code,
            0);
  const Json j = collide({"ball.obj", "room.obj", "--method", "depth", "--pixels", "32",
                          "--directions", "3", "--picture", "maps.png"});
  EXPECT_EQ(j["status"], "contact");
  EXPECT_TRUE(j["inside"].get<bool>());
  EXPECT_FALSE(j["contacts"].empty());  // the deepest positions within
  EXPECT_GT(j["directions"].size(), 1U);
  EXPECT_GT(j["seen"].get<double>(), 0.95);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "maps.png"));
  // An asset is drawn as its mesh, or as the surface of its field if it keeps none.
  for (const bool keeps_mesh : {true, false}) {
    std::vector<std::string> build{"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32"};
    if (!keeps_mesh) build.emplace_back("--no-mesh");
    ASSERT_EQ(run(build).exit_code, 0);
    const Json asset = collide({"ball.isotact", "ball.obj", "--method", "depth", "--pixels", "64",
                                "--pose-a", "xyz=0,0.8,0"});
    EXPECT_EQ(asset["status"], "contact");
    EXPECT_EQ(asset["warnings"].empty(), keeps_mesh);
  }
}

TEST_F(CollideMethods, DepthMapsSayWhatIsWrong) {
  make_ball();
  const auto expect_usage = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"collide", "ball.obj", "ball.obj"});
    EXPECT_EQ(run(more).exit_code, 2) << more.back();
  };
  expect_usage({"--pixels", "64"});
  expect_usage({"--method", "idf", "--conservative"});
  expect_usage({"--method", "depth", "--to-pose-a", "xyz=0,1,0"});
  expect_usage({"--method", "depth", "--margin", "1"});
  expect_usage({"--method", "depth", "--pixels", "5000"});
  expect_usage({"--method", "depth", "--layers", "9"});
  expect_usage({"--method", "depth", "--direction", "up"});
  expect_usage({"--method", "depth", "--direction", "0,0,0"});
  expect_usage({"--method", "depth", "--two-sided"});
  expect_usage({"--method", "depth", "--maps", "two-maps", "--layers", "2"});
  expect_usage({"--method", "depth", "--direction", "0,1,0", "--directions", "2"});
  ASSERT_EQ(run({"build", "ball.obj", "-o", "points.isotact", "--resolution", "32", "--field",
                 "none", "--points", "100", "--no-mesh"})
                .exit_code,
            0);
  const ProgramRun r = run({"collide", "points.isotact", "ball.obj", "--method", "depth"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("points.isotact: a pointshell alone has no surface"), std::string::npos)
      << r.err;
}

TEST_F(CollideMethods, TakesVoxelmapsAndPoints) {
  make_ball();
  for (const char* voxmap : {"layers", "scaled:3", "support"}) {
    ASSERT_EQ(run({"build", "ball.obj", "-o", "map.isotact", "--resolution", "32", "--field",
                   "none", "--voxmap", voxmap, "--points", "500"})
                  .exit_code,
              0);
    const Json j = collide({"map.isotact", "map.isotact", "--pose-a", "xyz=0,0.8,0", "--distance"});
    EXPECT_EQ(j["status"], "contact") << voxmap;
    EXPECT_NEAR(j["min_distance"].get<double>(), -0.2, 0.1) << voxmap;
    EXPECT_GT(j["force"][1].get<double>(), 0) << voxmap;
    // Swept, the shape makes a field of its map.
    EXPECT_EQ(run({"collide", "map.isotact", "map.isotact", "--to-pose-a", "xyz=0,1,0"}).exit_code,
              0);
  }
}

}  // namespace
}  // namespace isotact
