// isotact segments as a user drives it.
#include <fstream>
#include <sstream>

#include "support/tool_test.h"

namespace isotact {
namespace {

class SegmentsVerb : public ToolTest {
 protected:
  void build(const std::string& field) {
    ASSERT_EQ(run({"make", "sphere", "-o", "ball.obj"}).exit_code, 0);
    ASSERT_EQ(
        run({"build", "ball.obj", "-o", "ball.isotact", "--resolution", "48", "--field", field})
            .exit_code,
        0);
  }
  std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream in(folder_.path() / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

// A ball of radius 0.5 is entered by a line through its middle at a quarter and left at three.
TEST_F(SegmentsVerb, WritesIntervals) {
  for (const char* field : {"brick", "dense"}) {
    build(field);
    write("paths.csv", "0 1 0 0 -1 0\n2 2 2 3 3 3\n0 0 0 0.1 0 0\n");
    for (const char* traversal : {"uniform", "octree", "fast"}) {
      const ProgramRun r = run({"segments", "ball.isotact", "paths.csv", "-o", "times.csv",
                                "--traversal", traversal, "--json"});
      ASSERT_EQ(r.exit_code, 0) << r.err;
      const Json j = parse_output(r.out);
      EXPECT_EQ(j["segments"], 3);
      EXPECT_EQ(j["intervals"], 2);
      EXPECT_EQ(j["hits"], 2);
      EXPECT_GE(j["seconds"].get<double>(), 0);
      const std::vector<std::string> lines = lines_of("times.csv");
      ASSERT_EQ(lines.size(), 3U);
      EXPECT_EQ(lines[0], "segment,t_enter,t_exit");
      float segment = -1, enter = -1, exit = -1;
      char comma = 0;
      std::istringstream(lines[1]) >> segment >> comma >> enter >> comma >> exit;
      EXPECT_EQ(segment, 0);
      EXPECT_NEAR(enter, 0.25, 0.01);
      EXPECT_NEAR(exit, 0.75, 0.01);
      EXPECT_EQ(lines[2], "2,0,1");
    }
  }
}

TEST_F(SegmentsVerb, TakesAnIsoAndModes) {
  build("brick");
  write("paths.csv", "0 2 0 0 -2 0\n");
  for (const char* mode : {"first", "any"}) {
    const ProgramRun r = run(
        {"segments", "ball.isotact", "paths.csv", "-o", "times.csv", "--iso", "1", "--mode", mode});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const std::vector<std::string> lines = lines_of("times.csv");
    ASSERT_EQ(lines.size(), 2U);
  }
}

// With a GPU or, with a warning, without: the same bytes.
TEST_F(SegmentsVerb, TakesTheGpuWhereThereIsOne) {
  build("brick");
  write("paths.csv", "0 1 0 0 -1 0\n2 2 2 3 3 3\n0 0 0 0.1 0 0\n0.3 0.7 0.1 -0.4 -0.5 0.2\n");
  ASSERT_EQ(run({"segments", "ball.isotact", "paths.csv", "-o", "times.csv"}).exit_code, 0);
  const ProgramRun r =
      run({"segments", "ball.isotact", "paths.csv", "-o", "gpu.csv", "--gpu", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(lines_of("gpu.csv"), lines_of("times.csv"));
  const bool on_cpu = parse_output(r.out)["device"] == "cpu";
  EXPECT_EQ(on_cpu, r.err.find("traced on the CPU") != std::string::npos) << r.err;
  build("dense");
  const ProgramRun dense =
      run({"segments", "ball.isotact", "paths.csv", "-o", "gpu.csv", "--gpu", "--json"});
  ASSERT_EQ(dense.exit_code, 0) << dense.err;
  EXPECT_EQ(parse_output(dense.out)["device"], "cpu");
  EXPECT_NE(dense.err.find("traced on the CPU"), std::string::npos) << dense.err;
}

TEST_F(SegmentsVerb, RefusesBadInput) {
  build("brick");
  write("bad.csv", "0 1 0 0 -1\n");
  EXPECT_EQ(run({"segments", "ball.isotact", "bad.csv", "-o", "t.csv"}).exit_code, 1);
  EXPECT_EQ(run({"segments", "ball.isotact", "none.csv", "-o", "t.csv"}).exit_code, 1);
  EXPECT_EQ(run({"segments", "ball.isotact", "bad.csv", "-o", "t.csv", "--mode", "x"}).exit_code,
            2);
  EXPECT_EQ(run({"segments", "ball.isotact", "bad.csv", "-o", "bad.csv"}).exit_code, 2);
}

}  // namespace
}  // namespace isotact
