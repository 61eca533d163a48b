// `build` to a stated accuracy, and `sample` with bounds.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "isotact/base/random.h"

#include "support/tool_test.h"

namespace isotact {
namespace {

class AccuracyVerbs : public ToolTest {
 protected:
  void SetUp() override { run_json({"make", "torus", "-o", "torus.obj"}); }
  std::string bytes_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / name, std::ios::binary).rdbuf();
    return text.str();
  }
};

TEST_F(AccuracyVerbs, BuildsToAnAccuracy) {
  const std::vector<std::string> build{"build",      "torus.obj", "-o",      "t.isotact",
                                       "--accuracy", "10mm",      "--range", "0.2"};
  const Json report = run_json(build);
  EXPECT_LE(report["near_error"], 0.01);
  EXPECT_GT(report["near_error"], 0.0098);
  EXPECT_GE(report["near_band"], 0.1999999);
  EXPECT_GT(report["planned_bytes"], report["field_bytes"].get<double>() / 2);
  EXPECT_LT(report["planned_bytes"], report["field_bytes"].get<double>() * 2);
  EXPECT_GT(report["planned_memory"], report["planned_bytes"]);
  EXPECT_GT(report["planned_seconds"], 0);
  EXPECT_GT(report["measured_error"]["error_points"], 1000);
  EXPECT_LE(report["measured_error"]["max_error"], report["near_error"]);
  const ProgramRun table = run(build);
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_EQ(table.err.rfind("isotact: plan: ", 0), 0U) << table.err;
  EXPECT_NE(table.out.find("measured"), std::string::npos) << table.out;
  EXPECT_EQ(run_json({"info", "t.isotact"})["near_band"], report["near_band"]);
  // Without: no plan, and nothing measured.
  const Json plain = run_json({"build", "torus.obj", "-o", "p.isotact", "--resolution", "40"});
  EXPECT_TRUE(plain["measured_error"].is_null());
  EXPECT_TRUE(plain["planned_bytes"].is_null());
}

TEST_F(AccuracyVerbs, SaysWhatIsWrongOrOutOfReach) {
  const auto fails = [&](const std::vector<std::string>& more, int exit_code,
                         const std::string& part) {
    std::vector<std::string> arguments{"build", "torus.obj", "-o", "t.isotact"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "t.isotact"));
  };
  fails({"--accuracy", "best"}, 2, "expected a length such as 5mm");
  fails({"--accuracy", "0"}, 2, "above 0");
  fails({"--accuracy", "1mm", "--resolution", "64"}, 2, "leave out");
  fails({"--accuracy", "1mm", "--field", "none"}, 2, "--field brick");
  fails({"--accuracy", "1mm", "--range", "-1mm"}, 2, "at least 0");
  fails({"--range", "1mm", "--field", "dense"}, 2, "--field brick");
  fails({"--accuracy", "0.1mm", "--max-memory", "20"}, 1, "can be reached");
  fails({"--accuracy", "1e-9mm"}, 1, "can be reached");
}

TEST_F(AccuracyVerbs, SamplesBounds) {
  run_json({"build", "torus.obj", "-o", "t.isotact", "--resolution", "64"});
  Random random(5);
  std::vector<float> points;
  for (int i = 0; i < 300; ++i)
    for (int k = 0; k < 3; ++k) points.push_back(static_cast<float>(random.uniform(-1, 1)));
  std::ofstream(folder_.path() / "p.f32", std::ios::binary)
      .write(reinterpret_cast<const char*>(points.data()),
             static_cast<std::streamsize>(points.size() * sizeof(float)));
  const Json report = run_json({"sample", "t.isotact", "p.f32", "-o", "a.f32", "--bounds"});
  EXPECT_EQ(report["with_bounds"], true);
  const std::string raw = bytes_of("a.f32");
  ASSERT_EQ(raw.size(), 300U * 3 * sizeof(float));
  int inside = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    float row[3];
    std::memcpy(row, raw.data() + i * sizeof row, sizeof row);
    const double x = static_cast<double>(points[3 * i]), y = static_cast<double>(points[3 * i + 1]),
                 z = static_cast<double>(points[3 * i + 2]);
    const double d = std::hypot(std::hypot(x, z) - 0.375, y) - 0.125;
    constexpr double kFacets = 0.003;  // the mesh's, beside the torus
    EXPECT_LE(static_cast<double>(row[1]), d + kFacets);
    EXPECT_GE(static_cast<double>(row[2]), d - kFacets);
    EXPECT_LE(row[1], row[2]);
    inside += d < 0 ? 1 : 0;
  }
  EXPECT_GT(inside, 3);
  run_json({"sample", "t.isotact", "p.f32", "-o", "a.csv", "--bounds", "--gradient"});
  EXPECT_EQ(bytes_of("a.csv").rfind("d,gx,gy,gz,lower,upper\n", 0), 0U);
  run_json({"sample", "t.isotact", "p.f32", "-o", "a.npy", "--bounds"});
  EXPECT_NE(bytes_of("a.npy").find("'shape': (300, 3)"), std::string::npos);
  // Files whose errors nobody knows have no bounds.
  run_json({"convert", "t.isotact", "t.sdf"});
  const ProgramRun unknown = run({"sample", "t.sdf", "p.f32", "-o", "b.csv", "--bounds"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("its errors are not known"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace isotact
