// The library names its settings in warnings and errors; the tool shows options of the running verb
// instead, and no names of C++. And no option is ignored in silence.
#include "support/tool_test.h"

namespace isotact {
namespace {

class Hints : public ToolTest {
 protected:
  std::string warnings_of(const std::vector<std::string>& arguments) {
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_NE(r.err.find("isotact: warning: "), std::string::npos) << r.err;
    return r.err;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(Hints, UnitsAreNamedWhereTheVerbHasThem) {
  ASSERT_EQ(run({"make", "box", "-o", "large.obj", "--size", "100"}).exit_code, 0);
  const std::string info = warnings_of({"info", "large.obj"});
  EXPECT_TRUE(has(info, "its numbers may be millimetres (--unit mm)\n")) << info;
  EXPECT_FALSE(has(info, "metres_per_unit")) << info;
  EXPECT_TRUE(has(warnings_of({"convert", "large.obj", "l.stl"}), "(--unit mm)"));
  // JSON has the same words.
  const Json j = run_json({"info", "large.obj"});
  ASSERT_EQ(j["warnings"].size(), 1U);
  EXPECT_TRUE(j["warnings"][0].get<std::string>().ends_with("may be millimetres (--unit mm)"));
}

TEST_F(Hints, ThinPartsAndOpeningsAreKeptByOptionsOfBuild) {
  write("plate.obj",
        "v 0 0 0\nv 1 0 .3\nv 1 1 .4\nv 0 1 .1\n"
        "v 0 0 .001\nv 1 0 .301\nv 1 1 .401\nv 0 1 .101\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  write("wall.obj",
        "v 0 0 0\nv 1 0 .3\nv 1 1 .4\nv 0 1 .1\n"
        "v 0 0 .01\nv 1 0 .31\nv 1 1 .41\nv 0 1 .11\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  const std::string thin =
      warnings_of({"build", "wall.obj", "-o", "w.isotact", "--resolution", "32"});
  EXPECT_TRUE(has(thin, " m keep them (--voxel-size S, --keep-thin refine or offset)\n")) << thin;
  EXPECT_FALSE(has(thin, "::")) << thin;
  // The same warning from the asset, for a verb without the options: no names of C++ either.
  const std::string table = run({"info", "w.isotact"}).out;
  EXPECT_TRUE(has(table, " m keep them\n")) << table;
  const Json kept = run_json({"info", "w.isotact"})["warnings"];
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_TRUE(kept[0].get<std::string>().ends_with(" m keep them")) << kept;
  write("open.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  const std::string open =
      warnings_of({"build", "open.obj", "-o", "o.isotact", "--resolution", "32"});
  EXPECT_TRUE(has(open, "(--sign unsigned)")) << open;
}

TEST_F(Hints, NestedPartsBecomeCavities) {
  ASSERT_EQ(run({"make", "sphere", "-o", "outer.obj", "--size", "1"}).exit_code, 0);
  std::string text;
  for (const double scale : {1.0, 0.5}) {
    const double h = scale / 2;
    for (int i = 0; i < 8; ++i)
      text += "v " + std::to_string((i & 1) != 0 ? h : -h) + " " +
              std::to_string((i & 2) != 0 ? h : -h) + " " + std::to_string((i & 4) != 0 ? h : -h) +
              "\n";
  }
  for (const int first : {1, 9}) {
    const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                             {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (const auto& face : faces) {
      text += "f";
      for (const int corner : face) text += " " + std::to_string(first + corner);
      text += "\n";
    }
  }
  write("nested.obj", text);
  const std::string said =
      warnings_of({"build", "nested.obj", "-o", "n.isotact", "--resolution", "32"});
  EXPECT_TRUE(has(said, "(a boolean union) (--nested even-odd)\n")) << said;
  EXPECT_FALSE(has(said, "::")) << said;
}

TEST_F(Hints, ErrorsNameOptionsToo) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_EQ(run({"make", "box", "-o", name + ".obj"}).exit_code, 0);
    ASSERT_EQ(run({"build", name + ".obj", "-o", name + ".isotact", "--field", "none", "--no-mesh"})
                  .exit_code,
              0);
  }
  const std::vector<std::vector<std::string>> of_points{
      {"collide", "a.isotact", "b.isotact"},
      {"distance", "a.isotact", "b.isotact"},
      {"collide", "a.isotact", "b.obj", "--method", "idf"},
      {"collide", "a.isotact", "b.obj", "--method", "depth"},
      {"collide", "a.isotact", "b.isotact", "--to-pose-b", "xyz=1,0,0"}};
  for (const std::vector<std::string>& words : of_points) {
    const ProgramRun points = run(words);
    EXPECT_EQ(points.exit_code, 1);
    EXPECT_FALSE(has(points.err, "::")) << points.err;
    EXPECT_TRUE(has(points.err, "(build its mesh with a field: isotact build MESH -o ASSET)"))
        << points.err;
  }
  for (const char* verb : {"collide", "distance"}) {
    const ProgramRun planes = run({verb, "plane", "plane"});
    EXPECT_EQ(planes.exit_code, 1);
    EXPECT_TRUE(has(planes.err, "in place of a plane)")) << planes.err;
  }
  // Points do for all but the two methods above.
  for (const char* method : {"vps", "swept"}) {
    const ProgramRun r = run({"collide", "a.isotact", "b.obj", "--method", method});
    EXPECT_EQ(r.exit_code, 0) << r.err;
  }
}

TEST_F(Hints, AnAssetIsNoMesh) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  ASSERT_EQ(run({"build", "box.obj", "-o", "box.isotact", "--resolution", "16"}).exit_code, 0);
  const ProgramRun r = run({"build", "box.isotact", "-o", "again.isotact"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(has(r.err, "box.isotact: is an asset")) << r.err;
}

TEST_F(Hints, ExactVerdictsRefuseOptionsOfPoints) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--level", "3"},
                                               {"--margin", "-1"},
                                               {"--points-of", "a"},
                                               {"--max-nodes", "5"},
                                               {"--time-budget", "5"}}) {
    std::vector<std::string> words{"collide", "box.obj", "box.obj", "--accuracy", "exact"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun r = run(words);
    EXPECT_EQ(r.exit_code, 2) << more[0] << r.err;
    EXPECT_TRUE(has(r.err, more[0])) << r.err;
  }
}

TEST_F(Hints, NoOptionIsIgnored) {
  ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  ASSERT_EQ(run({"build", "box.obj", "-o", "box.isotact", "--resolution", "16"}).exit_code, 0);
  write("s.csv", "0 2 0 0 -2 0\n");
  write("still.json", R"({"isotact_scene": 1, "run": {"steps": 1}, "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}}]})");
  const std::vector<std::vector<std::string>> ignored{
      {"make", "box", "--list"},
      {"make", "--list", "--size", "1"},
      {"convert", "box.isotact", "box.sdf", "--clean"},
      {"convert", "box.isotact", "box.sdf", "--weld", "0"},
      {"convert", "box.obj", "b.stl", "--stride", "2"},
      {"segments", "box.isotact", "s.csv", "-o", "t.csv", "--axis", "x"},
      {"segments", "box.isotact", "s.csv", "-o", "t.csv", "--at", "0.3"},
      {"segments", "box.isotact", "s.csv", "-o", "t.csv", "--gpu", "--traversal", "octree"},
      {"render", "box.obj", "-o", "r.png", "--shell", "1"},
      {"render", "box.obj", "-o", "r.png", "--no-contacts"},
      {"simulate", "still.json", "--width", "100"},
      {"simulate", "still.json", "--every", "2"},
      {"simulate", "still.json", "--fps", "100"},
      {"bench", "fields", "--list"},
      {"bench", "--list", "--report", "r.html"}};
  for (const std::vector<std::string>& words : ignored) {
    const ProgramRun r = run(words);
    std::string line;
    for (const std::string& word : words) line += word + " ";
    EXPECT_EQ(r.exit_code, 2) << line << r.err;
    EXPECT_EQ(r.out, "") << line;
  }
}

}  // namespace
}  // namespace isotact
