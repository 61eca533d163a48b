// isotact info: one form for one file and for several, a table and a verdict at the end.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "support/tool_test.h"

namespace isotact {
namespace {

std::string fmt_line(const std::string& kind, double x, double y, double z) {
  return kind + " " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + "\n";
}

class InfoVerb : public ToolTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"make", "box", "-o", "box.obj", "--size", "0.1"}).exit_code, 0);
    ASSERT_EQ(run({"build", "box.obj", "-o", "box.isotact", "--resolution", "16"}).exit_code, 0);
    write("open.obj", "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
  }
  Json info(std::vector<std::string> files, int exit_code = 0) {
    files.insert(files.begin(), "info");
    files.emplace_back("--json");
    const ProgramRun r = run(files);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    return parse_output(r.out);
  }
};

TEST_F(InfoVerb, OneFileHasItsKeysAtTheTopAndSeveralInFiles) {
  for (const char* file : {"box.obj", "box.isotact", "open.obj"}) {
    const Json one = info({file}), two = info({file, "box.obj"});
    EXPECT_TRUE(one["files"].is_null());
    ASSERT_EQ(two["files"].size(), 2U);
    for (const auto& [key, value] : two["files"][0].items()) EXPECT_EQ(one[key], value) << key;
    // The same keys at the top for any number of files.
    ASSERT_EQ(one.size(), two.size());
    for (const auto& [key, value] : one.items()) EXPECT_TRUE(two.contains(key)) << key;
    EXPECT_TRUE(two["file"].is_null());
    EXPECT_TRUE(two["watertight"].is_null());
  }
}

TEST_F(InfoVerb, EveryFileHasEveryKey) {
  const Json files = info({"box.obj", "box.isotact", "missing.obj"}, 1)["files"];
  for (const auto& [key, value] : files[0].items())
    for (const Json& file : files) EXPECT_TRUE(file.contains(key)) << key;
  EXPECT_TRUE(files[0]["voxel_size"].is_null());
  EXPECT_TRUE(files[1]["vertices"].is_null());
  EXPECT_TRUE(files[2]["kind"].is_null());
  EXPECT_TRUE(files[0]["error"].is_null());
  EXPECT_EQ(files[0]["watertight"], files[1]["watertight"]);
}

TEST_F(InfoVerb, TheVerdictIsThatOfTheWorst) {
  EXPECT_EQ(info({"box.obj"})["verdict"], "good");
  EXPECT_EQ(info({"box.isotact", "box.obj"})["verdict"], "good");
  EXPECT_EQ(info({"box.obj", "open.obj"})["verdict"], "flawed");
  EXPECT_EQ(info({"open.obj", "missing.obj", "box.obj"}, 1)["verdict"], "bad");
  const Json files = info({"open.obj", "missing.obj", "box.obj"}, 1)["files"];
  EXPECT_EQ(files[0]["verdict"], "flawed");
  EXPECT_EQ(files[1]["verdict"], "bad");
  EXPECT_EQ(files[2]["verdict"], "good");
}

// Two boxes, one in the other's side.
TEST_F(InfoVerb, CrossingTrianglesAreNotGood) {
  ASSERT_EQ(run({"make", "box", "-o", "left.off.obj", "--size", "0.1"}).exit_code, 0);
  std::string box, twin;
  std::ifstream in(folder_.path() / "left.off.obj");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      double x = 0, y = 0, z = 0;
      words >> x >> y >> z;
      box += fmt_line("v", x, y, z);
      twin += fmt_line("v", x + 0.05, y + 0.013, z + 0.007);
    }
  }
  std::ifstream again(folder_.path() / "left.off.obj");
  std::string faces;
  int vertices = 0;
  for (std::string line; std::getline(again, line);) {
    vertices += line.rfind("v ", 0) == 0 ? 1 : 0;
    if (line.rfind("f ", 0) == 0) faces += line.substr(0, line.size()) + "\n";
  }
  std::string shifted;
  std::istringstream lines(faces);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    shifted += "f";
    while (words >> word) shifted += " " + std::to_string(std::stoi(word) + vertices);
    shifted += "\n";
  }
  write("twins.obj", box + twin + faces + shifted);
  const Json facts = info({"twins.obj"});
  EXPECT_GT(facts["self_intersections"].get<int>(), 0);
  EXPECT_EQ(facts["verdict"], "flawed");
  EXPECT_EQ(info({"box.obj"})["self_intersections"], 0);
}

TEST_F(InfoVerb, CellsAsLargeAsTheBodyAreAFlaw) {
  for (const auto& [cell, verdict] : {std::pair{"0.02", "good"}, {"0.05", "flawed"}}) {
    const ProgramRun build =
        run({"build", "box.obj", "-o", "coarse.isotact", "--voxel-size", cell});
    EXPECT_EQ(build.exit_code, 0);
    EXPECT_EQ(build.err.find("a quarter of the body") != std::string::npos,
              std::string(verdict) == "flawed")
        << build.err;
    EXPECT_EQ(info({"coarse.isotact"})["verdict"], verdict);
  }
}

// Large numbers may mean another unit; that is no flaw.
TEST_F(InfoVerb, AnOddSizeIsNoFlaw) {
  ASSERT_EQ(run({"make", "box", "-o", "large.obj", "--size", "50"}).exit_code, 0);
  const ProgramRun text = run({"info", "large.obj"});
  EXPECT_NE(text.out.find("verdict: good"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("--unit mm"), std::string::npos) << text.err;
  EXPECT_EQ(info({"large.obj"})["warnings"].size(), 1U);
}

TEST_F(InfoVerb, FailsOnAVerdictIfAsked) {
  write("empty.obj", "v 0 0 0\n");
  EXPECT_EQ(run({"info", "empty.obj"}).exit_code, 0);
  EXPECT_EQ(run({"info", "empty.obj", "--fail-on", "bad"}).exit_code, 3);
  EXPECT_EQ(run({"info", "empty.obj", "--fail-on", "flawed"}).exit_code, 3);
  EXPECT_EQ(run({"info", "open.obj", "--fail-on", "bad"}).exit_code, 0);
  EXPECT_EQ(run({"info", "open.obj", "box.obj", "--fail-on", "flawed"}).exit_code, 3);
  EXPECT_EQ(run({"info", "box.obj", "--fail-on", "flawed"}).exit_code, 0);
  EXPECT_EQ(run({"info", "box.obj", "--fail-on", "good"}).exit_code, 2);
  EXPECT_EQ(run({"info", "missing.obj", "box.obj", "--fail-on", "bad"}).exit_code, 1);
}

TEST_F(InfoVerb, AssetsThatQueriesRefuseAreFlawed) {
  const auto build = [&](std::vector<std::string> extra) {
    extra.insert(extra.begin(), {"build", "box.obj", "-o", "part.isotact", "--resolution", "16",
                                 "--field", "none", "--no-mesh"});
    const ProgramRun r = run(extra);
    EXPECT_EQ(r.exit_code, 0);
    return r.err;
  };
  for (const bool points : {true, false}) {
    const std::string err = points ? build({"--points", "100"}) : build({"--points", "none"});
    EXPECT_NE(err.find("build it again with a field"), std::string::npos) << err;
    const Json facts = info({"part.isotact"});
    EXPECT_EQ(facts["verdict"], "flawed");
    EXPECT_NE(facts["warnings"].dump().find("build it again with a field"), std::string::npos);
  }
}

TEST_F(InfoVerb, TextEndsWithOneTableAndAVerdict) {
  const std::string head = "file         kind   size         watertight  flaws  verdict\n";
  const std::string one = run({"info", "box.obj"}).out;
  EXPECT_NE(one.find("\nfile     kind  size          watertight  flaws  verdict\n"
                     "box.obj  mesh  12 triangles  yes         0      good\n"
                     "\nverdict: good: nothing is wrong with it\n"),
            std::string::npos)
      << one;
  const ProgramRun several = run({"info", "box.isotact", "open.obj", "missing.obj"});
  EXPECT_EQ(several.exit_code, 1);
  const std::string end =
      "\n" + head +
      "box.isotact  asset  16 cells     yes         0      good\n"
      "open.obj     mesh   3 triangles  no          1      flawed\n"
      "missing.obj  -      -            -           -      bad\n"
      "\nverdict: bad: 1 of 3 files cannot be used, 1 of 3 files has flaws or warnings\n";
  EXPECT_TRUE(several.out.ends_with(end)) << several.out;
  EXPECT_EQ(std::count(several.out.begin(), several.out.end(), '\n') > 20, true);
}

// As with every verb, and whatever --json.
TEST_F(InfoVerb, OneFileThatCannotBeReadIsAnError) {
  const ProgramRun r = run({"info", "missing.obj", "--json"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err.rfind("isotact: error: missing.obj", 0), 0U) << r.err;
}

TEST_F(InfoVerb, OptionsThatWouldDoNothingAreWrongUsage) {
  EXPECT_EQ(run({"info", "box.isotact", "--self-intersections"}).exit_code, 2);
  EXPECT_EQ(run({"info", "box.isotact", "box.obj", "--self-intersections"}).exit_code, 0);
}

}  // namespace
}  // namespace isotact
