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

TEST_F(DistanceVerb, EndsEarlyAndSeparates) {
  const Json near = distance({"--pose-b", "xyz=0,1.002,0", "--near-enough", "5mm"});
  EXPECT_EQ(near["complete"], false);
  EXPECT_LE(near["upper_bound"].get<double>(), 0.005);
  EXPECT_EQ(distance({"--pose-b", "xyz=0,1.02,0", "--near-enough", "5mm"})["complete"], true);
  const Json far = distance({"--pose-b", "xyz=0,3,0", "--max-distance", "50cm"});
  EXPECT_NEAR(far["lower_bound"].get<double>(), 0.5, 1e-9);
  EXPECT_TRUE(far["separation"].is_null());
  const Json apart = distance({"--pose-b", "xyz=0.01,0.9,0.02", "--separation"});
  EXPECT_NEAR(apart["separation"][1].get<double>(), -0.1, 0.01);
  EXPECT_EQ(
      run({"distance", "box.obj", "box.obj", "--accuracy", "field", "--separation"}).exit_code, 2);
  EXPECT_EQ(run({"distance", "box.obj", "box.obj", "--max-distance", "5km"}).exit_code, 2);
}

// By the field, bounds are of the surfaces, and a gap that it cannot tell is uncertain.
TEST_F(DistanceVerb, FieldsSayWhatIsUncertain) {
  const Json j = distance({"--pose-b", "xyz=0,1.001,0", "--accuracy", "field"});
  EXPECT_EQ(j["status"], "uncertain");
  EXPECT_LE(j["lower_bound"].get<double>(), 0.001);
  EXPECT_GE(j["upper_bound"].get<double>(), 0.001);
  EXPECT_EQ(distance({"--pose-b", "xyz=0,3,0", "--accuracy", "field"})["status"], "free");
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

TEST_F(DistanceVerb, PosesComeInManyForms) {
  // On its edge, 3 up.
  const double truth = 2.5 - std::sqrt(0.5);
  const std::string s = "0.70710678118654752";
  const std::string rows = s + ",-" + s + ",0,0, " + s + "," + s + ",0,3, 0,0,1,0";
  write("matrix.txt", s + " -" + s + " 0 0\n" + s + " " + s + " 0 3\n0 0 1 0\n0 0 0 1\n");
  write("pose.txt", "xyz=0,3,0\nrpy=0,0,45\n");
  for (const std::string& pose :
       {std::string("xyz=0,3,0 axis=0,0,1,45"), std::string("xyz=0,3,0 rpy=0,0,45"),
        "matrix=" + rows, "matrix=" + rows + ",0,0,0,1", std::string("@matrix.txt"),
        std::string("@pose.txt")})
    EXPECT_NEAR(distance({"--pose-b", pose})["distance"].get<double>(), truth, 1e-6) << pose;
  const auto code = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"distance", "box.obj", "box.obj"});
    return run(arguments).exit_code;
  };
  EXPECT_EQ(code({"--pose-b", "matrix=1,0,0,0,0,1,0,0"}), 2);
  EXPECT_EQ(code({"--pose-b", "matrix=2,0,0,0,0,1,0,0,0,0,1,0"}), 2);
  EXPECT_EQ(code({"--pose-b", "matrix=-1,0,0,0,0,1,0,0,0,0,1,0"}), 2);
  EXPECT_EQ(code({"--pose-b", "@missing.txt"}), 1);
  // Lists: as many answers as poses, each as if asked alone.
  const std::string w = "0.92387953251128674", z = "0.38268343236508977";
  write("xyz.csv", "0,3,0\n0,0.9,0\n0,1.004,0\n");
  write("wxyz.csv", "x,y,z,qw,qx,qy,qz\n0,3,0," + w + ",0,0," + z + "\n");
  write("xyzw.csv", "X,Y,Z,QX,QY,QZ,QW\n0,3,0,0,0," + z + "," + w + "\n");
  write("matrix.csv", rows + "\n");
  const Json list = distance({"--poses-b", "xyz.csv"});
  ASSERT_EQ(list["poses"].size(), 3U);
  EXPECT_EQ(list["status"], "contact");
  EXPECT_EQ(list["poses"][0]["status"], "free");
  const char* poses[] = {"xyz=0,3,0", "xyz=0,0.9,0", "xyz=0,1.004,0"};
  for (std::size_t i = 0; i < 3; ++i) {
    const Json one = distance({"--pose-b", poses[i]});
    EXPECT_TRUE(one["poses"].is_null());
    for (const char* key : {"status", "distance", "lower_bound", "upper_bound", "exact", "touching",
                            "contained", "witness_a", "witness_b"})
      EXPECT_EQ(list["poses"][i][key], one[key]) << i << key;
  }
  for (const char* file : {"wxyz.csv", "xyzw.csv", "matrix.csv"})
    EXPECT_NEAR(distance({"--poses-b", file})["poses"][0]["distance"].get<double>(), truth, 1e-6)
        << file;
  // As NumPy writes an array of shape (2, 3).
  std::string npy = "\x93NUMPY\x01";
  npy += '\0';
  const std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
  npy += {static_cast<char>(head.size()), '\0'};
  npy += head;
  for (const double x : {0.0, 3.0, 0.0, 0.0, 1.004, 0.0})
    npy.append(reinterpret_cast<const char*>(&x), sizeof x);
  write("poses.npy", npy);
  EXPECT_EQ(distance({"--poses-b", "poses.npy"})["poses"][1], list["poses"][2]);
  write("bare.csv", "0,3,0,1,0,0,0\n");
  write("none.csv", "x,y,z\n");
  write("odd.csv", "1,2,3,4\n");
  write("numbers.raw", "0123456789ab");
  for (const char* file : {"bare.csv", "none.csv", "odd.csv", "numbers.raw", "missing.csv"})
    EXPECT_EQ(code({"--poses-b", file}), 1) << file;
  EXPECT_EQ(code({"--poses-b", "xyz.csv", "--pose-b", "xyz=0,1,0"}), 2);
  EXPECT_EQ(code({"--poses-b", "xyz.csv", "--fail-on", "contact", "--resolution", "32"}), 3);
  const ProgramRun table = run({"distance", "box.obj", "box.obj", "--poses-b", "xyz.csv",
                                "--print-unit", "mm", "--resolution", "32"});
  EXPECT_NE(table.out.find("     2  free                 4 mm  yes"), std::string::npos)
      << table.out;
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
