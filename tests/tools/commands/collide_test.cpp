// isotact collide as a user drives it.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "support/collide_verb.h"

namespace isotact {
namespace {

// Balls of radius 0.5.
TEST_F(CollideVerb, TellsWhenBallsMeet) {
  make_ball();
  const Json j = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=-3,0,0", "--to-pose-a",
                          "xyz=1,0,0", "--pose-b", "xyz=0,0,0 wxyz=1,0,0,0", "--distance"});
  EXPECT_EQ(j["status"], "contact");
  EXPECT_EQ(j["method"], "swept");
  EXPECT_NEAR(j["time_of_contact"].get<double>(), 0.5, 0.01);
  ASSERT_EQ(j["intervals"].size(), 1U);
  EXPECT_NEAR(j["intervals"][0][0].get<double>(), 0.5, 0.01);
  EXPECT_NEAR(j["intervals"][0][1].get<double>(), 1, 0.01);
  const Json& contact = j["contacts"][0];
  EXPECT_NEAR(contact["normal"][0].get<double>(), -1, 0.02);
  EXPECT_NEAR(contact["position"][0].get<double>(), -0.5, 0.02);
  EXPECT_NEAR(contact["depth"].get<double>(), 0, 1e-3);
  EXPECT_GT(j["touching_points"].get<int>(), 10);
  EXPECT_GE(j["seconds"].get<double>(), 0);
  EXPECT_EQ(j["exact"], true);
  EXPECT_EQ(j["min_distance"], 0);  // of the surfaces, when they meet
  EXPECT_NEAR(j["min_distance_time"].get<double>(), j["time_of_contact"].get<double>(), 1e-5);
  const Json field = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=-3,0,0", "--to-pose-a",
                              "xyz=1,0,0", "--distance", "--accuracy", "field"});
  EXPECT_EQ(field["exact"], false);
  EXPECT_NEAR(field["time_of_contact"].get<double>(), 0.5, 0.01);
  EXPECT_LT(field["min_distance"].get<double>(), 0);
}

// Two cubes whose edges pass each other by a hair: no point of either comes in.
TEST_F(CollideVerb, MovingBodiesAreExactByDefault) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  const auto with = [&](const std::string& end, std::vector<std::string> more) {
    std::vector<std::string> words{"collide",
                                   "box.obj",
                                   "box.obj",
                                   "--resolution",
                                   "32",
                                   "--pose-a",
                                   "axis=0,0,1,45",
                                   "--pose-b",
                                   "xyz=0.005,3,0.005 axis=1,0,0,45",
                                   "--to-pose-b",
                                   "xyz=0.005," + end + ",0.005 axis=1,0,0,45"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto ask = [&](const std::string& end, std::vector<std::string> more) {
    return run_json(with(end, std::move(more)));
  };
  const Json first = ask("1.412", {"--first"}), all = ask("1.412", {"--distance"});
  EXPECT_EQ(all["status"], "contact");
  EXPECT_EQ(all["exact"], true);
  EXPECT_EQ(all["time_of_contact"], first["time_of_contact"]);
  EXPECT_NEAR(all["time_of_contact"].get<double>(), 0.998606, 1e-5);
  ASSERT_FALSE(all["contacts"].empty());
  EXPECT_EQ(all["contacts"][0]["time_of_contact"], all["time_of_contact"]);
  EXPECT_EQ(all["min_distance"], 0);
  EXPECT_EQ(all["distance"], 0);
  EXPECT_EQ(all["blind_depth"], 0);
  EXPECT_GT(all["points_blind_depth"].get<double>(), 0);
  EXPECT_TRUE(all["touching_points"].is_number());
  EXPECT_EQ(run(with("1.412", {"--fail-on", "contact"})).exit_code, 3);
  EXPECT_EQ(ask("1.412", {"--accuracy", "exact"})["status"], "contact");
  EXPECT_EQ(ask("1.412", {"--accuracy", "field"})["status"], "free");
  // A gap that fields could not tell.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--distance"}, {"--distance", "--first"}}) {
    const Json apart = ask("1.426", more);
    EXPECT_EQ(apart["status"], "free");
    EXPECT_EQ(apart["exact"], true);
    EXPECT_GT(apart["min_distance"].get<double>(), 0);
    EXPECT_LE(apart["lower_bound"], apart["min_distance"]);
    EXPECT_GT(apart["lower_bound"].get<double>(), 0);
    EXPECT_TRUE(apart["contacts"].empty());
    EXPECT_TRUE(apart["time_of_contact"].is_null());
  }
  EXPECT_EQ(run(with("1.426", {"--fail-on", "contact"})).exit_code, 0);
  const std::string text = run(with("1.412", {})).out;
  EXPECT_NE(text.find("contact (exact)"), std::string::npos) << text;
  EXPECT_NE(text.find("of the motion (exact)"), std::string::npos) << text;
  const std::string by_points = run(with("1.412", {"--points-of", "a"})).out;
  EXPECT_NE(by_points.find("free (not exact)"), std::string::npos) << by_points;
  EXPECT_EQ(run(with("1.412", {"--points-of", "a", "--accuracy", "exact"})).exit_code, 2);
  // What is inside from the start touches, and is at no distance.
  const Json inside = run_json({"collide", "box.obj", "sphere:0.1", "--to-pose-b", "xyz=0.1,0,0",
                                "--distance", "--resolution", "32"});
  EXPECT_EQ(inside["status"], "contact");
  EXPECT_EQ(inside["contained"], true);
  EXPECT_EQ(inside["time_of_contact"], 0);
  EXPECT_EQ(inside["min_distance"], 0);
  // Not searched for how deep they go.
  const Json fall = run_json({"collide", "sphere:0.1", "plane", "--pose-a", "xyz=0,1.1,0",
                              "--to-pose-a", "xyz=0,-0.9,0", "--distance"});
  EXPECT_EQ(fall["min_distance"], 0);
  EXPECT_NEAR(fall["min_distance_time"].get<double>(), fall["time_of_contact"].get<double>(), 1e-6);
}

TEST_F(CollideVerb, TellsTheDistanceAtRest) {
  make_ball();
  const Json j = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=0,1.5,0", "--distance"});
  EXPECT_EQ(j["status"], "free");
  EXPECT_TRUE(j["time_of_contact"].is_null());
  EXPECT_NEAR(j["min_distance"].get<double>(), 0.5, 0.02);
  EXPECT_TRUE(j["contacts"].empty());
  const Json near = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=0,1.5,0", "--margin", "0.6"});
  EXPECT_EQ(near["status"], "contact");
  const Json inside = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=0,0.9,0", "--distance"});
  EXPECT_EQ(inside["status"], "contact");
  EXPECT_NEAR(inside["min_distance"].get<double>(), -0.1, 0.02);
}

TEST_F(CollideVerb, HasExactDistancesVerdictsAndLists) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  const auto with = [&](const std::string& pose, std::vector<std::string> more) {
    more.insert(more.begin(), {"box.obj", "box.obj", "--pose-b", pose});
    return more;
  };
  for (const char* method : {"vps", "idf", "swept"}) {
    const Json j = collide(with("xyz=0,3,0 rpy=0,0,45", {"--method", method, "--distance"}));
    EXPECT_EQ(j["exact"], true) << method;
    EXPECT_NEAR(j["distance"].get<double>(), 2.5 - std::sqrt(0.5), 1e-6);
    EXPECT_NEAR(j["lower_bound"].get<double>(), 2.5 - std::sqrt(0.5), 1e-6);
    EXPECT_EQ(j["touching"], false);
    EXPECT_EQ(j["contained"], false);
    EXPECT_NEAR(j["witness_a"][1].get<double>(), 0.5, 1e-6);
  }
  for (const char* method : {"idf", "depth"})
    EXPECT_EQ(collide(with("xyz=0,3,0", {"--method", method}))["exact"], false) << method;
  const Json fast = collide(with("xyz=0,3,0", {}));
  for (const char* key : {"distance", "upper_bound", "contained", "witness_a"})
    EXPECT_TRUE(fast[key].is_null()) << key;
  EXPECT_EQ(fast["touching"], false);
  EXPECT_EQ(fast["lower_bound"], 0);
  const Json touches = collide(with("xyz=0,0.9,0", {}));
  EXPECT_EQ(touches["touching"], true);
  EXPECT_EQ(touches["contained"], false);
  EXPECT_EQ(touches["upper_bound"], 0);
  EXPECT_EQ(touches["witness_a"], touches["contacts"][0]["point_on_a"]);
  // Where the field's points say otherwise, all keys are of one answer.
  const Json thin = collide(with("xyz=0,1.001,0", {"--distance"}));
  EXPECT_EQ(thin["status"], "free");
  EXPECT_EQ(thin["min_distance"], thin["distance"]);
  const Json by_field = collide(with("xyz=0,1.001,0", {"--distance", "--accuracy", "field"}));
  EXPECT_EQ(by_field["status"], "uncertain");
  EXPECT_EQ(by_field["exact"], false);
  EXPECT_LE(by_field["lower_bound"].get<double>(), 0.001);
  EXPECT_GE(by_field["upper_bound"].get<double>(), 0.001);
  const Json near = collide(with("xyz=0,1.001,0", {"--margin", "5mm"}));
  EXPECT_EQ(near["status"], "contact");
  EXPECT_EQ(near["margin"], 0.005);
  EXPECT_EQ(fast["exact"], true);
  EXPECT_EQ(collide(with("xyz=0,3,0", {"--accuracy", "field"}))["exact"], false);
  const std::vector<std::string> table{"collide",   "box.obj",      "box.obj", "--pose-b",
                                       "xyz=0,3,0", "--resolution", "32"};
  EXPECT_NE(run(table).out.find("free (exact)"), std::string::npos);
  const auto code = [&](const std::string& pose, std::vector<std::string> more) {
    more = with(pose, more);
    more.insert(more.begin(), "collide");
    more.insert(more.end(), {"--resolution", "32"});
    return run(more).exit_code;
  };
  // A gap that is thinner than what the field can tell.
  EXPECT_EQ(code("xyz=0,1.001,0", {"--fail-on", "contact"}), 0);
  EXPECT_EQ(code("xyz=0,1.001,0", {"--fail-on", "free"}), 3);
  EXPECT_EQ(code("xyz=0,0.999,0", {"--fail-on", "contact"}), 3);
  EXPECT_EQ(code("xyz=0,1.001,0", {"--fail-on", "closer:5mm"}), 3);
  EXPECT_EQ(code("xyz=0,1.001,0", {"--fail-on", "contact", "--margin", "0.01"}), 3);
  EXPECT_EQ(code("xyz=0,1.02,0", {"--fail-on", "closer:5mm", "--method", "idf"}), 0);
  EXPECT_EQ(code("xyz=0,3,0", {"--to-pose-b", "xyz=0,0,0", "--fail-on", "contact"}), 3);
  EXPECT_EQ(code("xyz=0,3,0", {"--to-pose-b", "xyz=0,2,0", "--fail-on", "closer:0.5"}), 0);
  EXPECT_EQ(code("xyz=0,3,0", {"--method", "depth", "--fail-on", "closer:1"}), 2);
  EXPECT_EQ(code("xyz=0,3,0", {"--fail-on", "never"}), 2);
  write("poses.csv", "0,3,0\n0,0.9,0\n");
  const Json list = collide({"box.obj", "box.obj", "--poses-b", "poses.csv", "--distance"});
  ASSERT_EQ(list["poses"].size(), 2U);
  EXPECT_EQ(list["poses"][0]["status"], "free");
  EXPECT_NEAR(list["poses"][0]["distance"].get<double>(), 2, 1e-6);
  EXPECT_EQ(list["poses"][1]["status"], "contact");
  EXPECT_EQ(list["status"], "contact");
  const Json fast_list = collide({"box.obj", "box.obj", "--poses-b", "poses.csv"});
  EXPECT_TRUE(fast_list["poses"][0]["distance"].is_null());
  EXPECT_EQ(fast_list["poses"][1]["status"], "contact");
  EXPECT_EQ(fast_list["poses"][1]["exact"], true);
  EXPECT_EQ(fast_list["exact"], true);
  EXPECT_EQ(collide({"box.obj", "box.obj", "--poses-b", "poses.csv", "--accuracy",
                     "field"})["poses"][0]["exact"],
            false);
  const auto list_code = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"collide", "box.obj", "box.obj", "--poses-b", "poses.csv"});
    return run(more).exit_code;
  };
  EXPECT_EQ(list_code({"--resolution", "32", "--fail-on", "contact"}), 3);
  EXPECT_EQ(list_code({"--pose-b", "xyz=0,0,1"}), 2);
  EXPECT_EQ(list_code({"--view", "a.html"}), 2);
  EXPECT_EQ(list_code({"--method", "idf"}), 2);
  const ProgramRun mm = run({"collide", "box.obj", "box.obj", "--pose-b", "xyz=0,0.999,0",
                             "--distance", "--print-unit", "mm", "--resolution", "32"});
  EXPECT_NE(mm.out.find("distance     -1 mm"), std::string::npos) << mm.out;
}

// It costs more than the contacts do.
TEST_F(CollideVerb, FindsTheDistanceOnlyWhenAsked) {
  make_ball();
  ASSERT_EQ(run({"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32"}).exit_code, 0);
  for (const char* method : {"vps", "idf", "swept", "depth"})
    for (const char* place : {"xyz=0,0.9,0", "xyz=0,1.5,0"}) {
      std::vector<std::string> words{"ball.isotact", "ball.isotact", "--pose-a",
                                     place,          "--method",     method};
      EXPECT_TRUE(collide(words)["min_distance"].is_null()) << method;
      std::vector<std::string> table = words;
      table.insert(table.begin(), "collide");
      EXPECT_EQ(run(table).out.find("distance"), std::string::npos) << method;
      words.emplace_back("--distance");
      table.emplace_back("--distance");
      if (std::string(method) == "depth") {
        EXPECT_EQ(run(table).exit_code, 2);
      } else {
        EXPECT_TRUE(collide(words)["min_distance"].is_number()) << method;
        EXPECT_NE(run(table).out.find("distance"), std::string::npos) << method;
      }
    }
}

// With points or without, of every kind of field.
TEST_F(CollideVerb, RefusesNoAssetThatHasAField) {
  make_ball();
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {},
           {"--points", "none"},
           {"--field", "dense", "--points", "none"},
           {"--field", "none", "--first-order", "--points", "none"},
           {"--field", "none", "--voxmap", "scaled:3", "--points", "none", "--no-mesh"},
           {"--field", "none", "--voxmap", "layers", "--points", "none", "--no-mesh"},
           {"--field", "none", "--points", "none"}}) {
    std::vector<std::string> build{"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32"};
    build.insert(build.end(), more.begin(), more.end());
    ASSERT_EQ(run(build).exit_code, 0);
    for (const char* method : {"auto", "vps", "idf", "swept", "depth"}) {
      std::vector<std::string> words{"ball.isotact", "ball.isotact", "--method",
                                     method,         "--pose-a",     "xyz=0,0.9,0"};
      // Depths along a view exceed the distance where surfaces are steep to it
      // (docs/depth-maps.md).
      if (std::string(method) == "depth") words.insert(words.end(), {"--direction", "0,1,0"});
      const Json j = collide(words);
      EXPECT_EQ(j["status"], "contact") << method << ' ' << more.size();
      ASSERT_FALSE(j["contacts"].empty()) << method;
      EXPECT_NEAR(j["contacts"][0]["depth"].get<double>(), 0.1, 0.05) << method;
    }
  }
}

TEST_F(CollideVerb, TakesAssetsAndEveryMotion) {
  make_ball();
  for (const char* field : {"brick", "dense"}) {
    ASSERT_EQ(run({"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32", "--field",
                   field, "--points", "500"})
                  .exit_code,
              0);
    for (const char* motion : {"straight", "rates", "screw", "polynomial"}) {
      const Json j =
          collide({"ball.isotact", "ball.isotact", "--pose-a", "xyz=-2,0,0", "--to-pose-a",
                   "xyz=2,0,0 wxyz=0.8,0,0.6,0", "--motion", motion, "--first"});
      EXPECT_EQ(j["status"], "contact") << motion;
      EXPECT_EQ(j["contacts"].size(), 1U);
    }
  }
}

TEST_F(CollideVerb, WritesIntervalsAndAPicture) {
  make_ball();
  collide({"ball.obj", "ball.obj", "--pose-a", "xyz=-2,0,0", "--to-pose-a", "xyz=2,0,0", "-o",
           "times.csv", "--picture", "contact.png", "--width", "200", "--points", "300"});
  std::ifstream in(folder_.path() / "times.csv");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "body,point,t_enter,t_exit");
  int rows = 0;
  while (std::getline(in, line)) ++rows;
  EXPECT_GT(rows, 100);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "contact.png"));
}

// Balls of radius 0.5, 0.2 deep in each other: what overlaps pushes as an elastic layer would. The
// force of each shell's cap of height 0.1 is the volume of that cap and its mirror image.
TEST_F(CollideVerb, TellsForceAtRest) {
  make_ball();
  const std::vector<std::string> pair{"ball.obj", "ball.obj", "--pose-a", "xyz=0,0.8,0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pair.begin(), pair.end());
    return collide(more);
  };
  const Json j = with({"--distance"});
  EXPECT_EQ(j["status"], "contact");
  EXPECT_EQ(j["method"], "vps");
  EXPECT_EQ(j["time_of_contact"], 0);
  EXPECT_TRUE(j["complete"].get<bool>());
  EXPECT_NEAR(j["min_distance"].get<double>(), -0.2, 0.02);
  EXPECT_NEAR(j["contacts"][0]["depth"].get<double>(), 0.2, 0.02);
  EXPECT_NEAR(j["contacts"][0]["normal"][1].get<double>(), 1, 0.02);
  EXPECT_LE(j["contacts"].size(), 4U);
  const double force = j["force"][1].get<double>();
  EXPECT_GT(force, 0);
  EXPECT_NEAR(j["force"][0].get<double>(), 0, 0.05 * force);
  EXPECT_NEAR(j["torque"][1].get<double>(), 0, 0.05 * force);
  const Json twice = with({"--stiffness", "2e7"});
  EXPECT_NEAR(twice["force"][1].get<double>(), 2 * force, 1e-6 * force);
  EXPECT_GT(with({"--patches", "16"})["manifolds"].size(), 1U);
  EXPECT_EQ(with({"--method", "swept"})["method"], "swept");
}

TEST_F(CollideVerb, TablesHaveNoNegativeZeros) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--pose-a", "xyz=0,-0.9,0"},
           {"--pose-a", "xyz=0,0.9,0", "--method", "depth", "--direction", "0,-1,0"},
           {"--pose-a", "xyz=0.9,0,0", "--method", "idf"},
           {"--pose-a", "xyz=-3,0,0", "--to-pose-a", "xyz=3,0,0"}}) {
    std::vector<std::string> words{"collide", "box.obj", "box.obj", "--resolution", "32"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string out = run(words).out;
    EXPECT_NE(out.find("contact"), std::string::npos);
    for (const char* zero : {" -0 ", " -0,", " -0:"})
      EXPECT_EQ(out.find(zero), std::string::npos) << out;
  }
}

// Words in place of files.
TEST_F(CollideVerb, TakesSimpleSolids) {
  make_ball();
  for (const char* method : {"auto", "vps", "idf", "swept", "depth"}) {
    const Json j = collide({"ball.obj", "plane", "--pose-a", "xyz=0,0.45,0", "--method", method});
    EXPECT_EQ(j["status"], "contact") << method;
    ASSERT_FALSE(j["contacts"].empty()) << method;
    EXPECT_NEAR(j["contacts"][0]["normal"][1].get<double>(), 1, 0.02) << method;
    EXPECT_NEAR(j["contacts"][0]["depth"].get<double>(), 0.05, 0.02) << method;
    const Json apart =
        collide({"plane", "ball.obj", "--pose-b", "xyz=0,0.6,0", "--method", method});
    EXPECT_EQ(apart["status"], "free") << method;
  }
  const Json fall = collide(
      {"sphere:0.1", "plane", "--pose-a", "xyz=0,1.1,0", "--to-pose-a", "xyz=0,-0.9,0", "--first"});
  EXPECT_NEAR(fall["time_of_contact"].get<double>(), 0.5, 1e-4);
  for (const auto& [word, top] : {std::pair{"sphere:0.2", 0.2},
                                  {"box:1,0.4,2", 0.2},
                                  {"capsule:0.1,0.6", 0.4},
                                  {"cylinder:0.5,0.3", 0.15},
                                  {"cone:0.5,0.3", 0.15},
                                  {"torus:0.5,0.25", 0.25},
                                  {"box", 0.5},
                                  {"sphere", 0.5},
                                  {"capsule", 0.5},
                                  {"cylinder", 0.5},
                                  {"cone", 0.5},
                                  {"torus", 0.125}}) {
    // Down on the ground, upside down, a metre above it.
    const Json j = run_json({"distance", word, "plane", "--pose-a", "xyz=0,1,0 rpy=180,0,0"});
    EXPECT_NEAR(j["distance"].get<double>(), 1 - top, 1e-5) << word;
  }
  for (const char* wrong :
       {"box:1", "box:1,2", "box:1,2,3,4", "box:1,2,", "sphere:0", "sphere:-1",
        "sphere:", "sphere:x", "sphere:1x", "sphere:inf", "plane:1", "torus:0.1,0.2", "torus:1"})
    EXPECT_EQ(run({"distance", wrong, "ball.obj"}).exit_code, 2) << wrong;
  const ProgramRun endless = run({"collide", "plane", "plane"});
  EXPECT_EQ(endless.exit_code, 1);
  EXPECT_EQ(endless.err.find("::"), std::string::npos) << endless.err;
  EXPECT_EQ(run({"collide", "ball.obj", "plane", "--view", "p.html"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "plane", "--picture", "p.png"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "sphere", "plane", "--unit", "mm"}).exit_code, 2);
  // A file of such a name.
  ASSERT_EQ(run({"make", "box", "-o", "plane.obj"}).exit_code, 0);
  std::filesystem::rename(folder_.path() / "plane.obj", folder_.path() / "plane");
  EXPECT_EQ(run_json({"distance", "./plane", "sphere", "--pose-b", "xyz=0,2,0"})["distance"], 1.0);
}

TEST_F(CollideVerb, GivesUpWhereABudgetEnds) {
  make_ball();
  // Their boxes overlap, the balls do not.
  const std::vector<std::string> apart{"ball.obj", "ball.obj", "--pose-a", "xyz=0.71,0.71,0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), apart.begin(), apart.end());
    return collide(more);
  };
  const Json cut = with({"--max-nodes", "1", "--accuracy", "field"});
  EXPECT_EQ(cut["status"], "gave_up");
  EXPECT_FALSE(cut["complete"].get<bool>());
  EXPECT_LT(cut["lower_bound"].get<double>(), 0);
  const Json coarse = with({"--level", "1", "--accuracy", "field"});
  EXPECT_EQ(coarse["level"], 1);
  // The triangles know no such limits.
  for (const char* limit : {"--max-nodes", "--level"}) {
    const Json exact = with({limit, "1"});
    EXPECT_EQ(exact["status"], "free") << limit;
    EXPECT_TRUE(exact["exact"].get<bool>()) << limit;
  }
  const Json enough = with({"--time-budget", "1e6"});
  EXPECT_EQ(enough["status"], "free");
  EXPECT_TRUE(enough["complete"].get<bool>());
}

TEST_F(CollideVerb, DrawsBodiesAtRest) {
  make_ball();
  const Json j = collide({"ball.obj", "ball.obj", "--pose-a", "xyz=0,0.8,0", "--picture",
                          "rest.png", "--width", "200", "--points", "300"});
  EXPECT_EQ(j["method"], "vps");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "rest.png"));
}

// Plates thinner than a cell: grown rather than lost, with a warning. Where the field loses them,
// their triangles still decide.
TEST_F(CollideVerb, KeepsThinWalls) {
  ASSERT_EQ(run({"make", "box", "--set", "size_y=0.001", "-o", "plate.obj"}).exit_code, 0);
  const std::string turn = "wxyz=0.7071067811865476,0.7071067811865476,0,0";
  const Json kept = collide({"plate.obj", "plate.obj", "--pose-b", turn});
  EXPECT_EQ(kept["status"], "contact");
  EXPECT_FALSE(kept["warnings"].empty());
  const Json lost = collide({"plate.obj", "plate.obj", "--pose-b", turn, "--keep-thin", "report"});
  EXPECT_EQ(lost["status"], "contact");
  EXPECT_FALSE(lost["warnings"].empty());
}

// tests/viewer looks at pages in a browser; this is what is left where there is none.
TEST_F(CollideVerb, WritesAPageOrSaysWhyNot) {
  make_ball();
  const bool has_pages = run_json({"doctor"})["viewer"].get<std::string>().find("built in") == 0;
  const ProgramRun r = run({"collide", "ball.obj", "ball.obj", "--pose-a", "xyz=0,0.9,0",
                            "--resolution", "32", "--view", "pair.html"});
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--view", "pair.png"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--view", "-"}).exit_code, 2);
  EXPECT_EQ(r.exit_code, has_pages ? 0 : 2) << r.err;
  if (!has_pages) return;
  std::ifstream in(folder_.path() / "pair.html");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(page.find("id=\"run-pack\">H4sI"), std::string::npos);
  // WebAssembly is allowed where it is in the page, and nowhere else.
  const bool has_query =
      run_json({"doctor"})["webassembly"].get<std::string>().find("built in") == 0;
  EXPECT_EQ(page.find("'wasm-unsafe-eval'") != std::string::npos, has_query);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--view", "no/such/pair.html"}).exit_code, 1);
}

TEST_F(CollideVerb, SaysWhatIsWrong) {
  make_ball();
  EXPECT_EQ(run({"collide", "ball.obj"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "none.obj"}).exit_code, 1);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--pose-a", "xyz=1,2"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--pose-a", "wxyz=2,0,0,0"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--method", "magic"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--first", "-o", "x.csv"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--picture", "x.jpg"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "-o", "-"}).exit_code, 2);
  const std::vector<std::string> moving{"collide", "ball.obj", "ball.obj", "--to-pose-a",
                                        "xyz=1,0,0"};
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--method", "vps"}, {"--level", "2"}, {"--stiffness", "1"}, {"--time-budget", "5"}}) {
    std::vector<std::string> all = moving;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_EQ(run(all).exit_code, 2) << more[0];
  }
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--method", "vps", "--first"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--motion", "screw"}).exit_code, 2);
  EXPECT_EQ(run({"collide", "ball.obj", "ball.obj", "--pivot-b", "1,0,0"}).exit_code, 2);
  ASSERT_EQ(run({"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32"}).exit_code, 0);
  for (const char* verb : {"collide", "distance"})
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--unit", "mm"}, {"--resolution", "64"}}) {
      std::vector<std::string> words{verb, "ball.isotact", "ball.isotact"};
      words.insert(words.end(), more.begin(), more.end());
      EXPECT_EQ(run(words).exit_code, 2) << verb << ' ' << more[0];
      words[2] = "ball.obj";
      EXPECT_EQ(run(words).exit_code, 0) << verb << ' ' << more[0];
    }
  const ProgramRun word = run({"distance", "ball.obj", "cube:1"});
  EXPECT_EQ(word.exit_code, 1);
  EXPECT_NE(word.err.find("a simple solid? box:X,Y,Z"), std::string::npos) << word.err;
}

}  // namespace
}  // namespace isotact
