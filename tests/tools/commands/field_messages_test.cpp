// What the verbs of fields say where a user might stumble, and how soon.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/slow_build.h"
#include "support/tool_test.h"

namespace isotact {
namespace {

class FieldMessages : public ToolTest {
 protected:
  void expect_failure(const std::vector<std::string>& arguments, int exit_code,
                      const std::vector<std::string>& parts_of_message) {
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_EQ(r.out, "");
    for (const std::string& part : parts_of_message)
      EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
  Json build_torus(const std::vector<std::string>& more = {}) {
    run_json({"make", "torus", "-o", "torus.obj"});
    std::vector<std::string> arguments{"build",         "torus.obj",    "-o",
                                       "torus.isotact", "--resolution", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }
};

// They ran for minutes first, and then gave up on too many triangles.
TEST_F(FieldMessages, SurfacesFarOutsideAreMadeCoarselyOrRefusedAtOnce) {
  build_torus();
  const auto start = std::chrono::steady_clock::now();
  expect_failure({"convert", "torus.isotact", "far.obj", "--iso", "500", "--stride", "1"}, 1,
                 {"torus.isotact", "about", "triangles", "--stride"});
  expect_failure({"convert", "torus.isotact", "far.obj", "--iso", "1e11"}, 1,
                 {"torus.isotact", "triangles", "--iso"});
  expect_failure({"render", "torus.isotact", "-o", "far.png", "--iso", "1e11"}, 1,
                 {"torus.isotact", "triangles", "--iso"});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 10);
  // Under sanitizers just far enough for a stride of two, which leaves a third of the triangles.
  const Json far =
      run_json({"convert", "torus.isotact", "far.stl", "--iso", unless_slow("100", "12")});
  EXPECT_GT(far["triangles"], 100'000);
  EXPECT_LT(far["triangles"], 6'000'000);
  EXPECT_NE(far["warnings"][0].get<std::string>().find("stride"), std::string::npos);
}

TEST_F(FieldMessages, TooLargeAStrideIsNamed) {
  build_torus();
  expect_failure({"convert", "torus.isotact", "t.obj", "--stride", "1000"}, 1,
                 {"torus.isotact", "stride of 1000"});
  expect_failure({"convert", "torus.isotact", "t.obj", "--iso", "-3"}, 1, {"no surface at -3 m"});
}

TEST_F(FieldMessages, SampleCountsPointsOutsideOfTheBox) {
  build_torus();
  write("points.csv", "0 0 0\n0 9 0\n9 9 9\n");
  EXPECT_EQ(run_json({"sample", "torus.isotact", "points.csv", "-o", "d.csv"})["outside_box"], 2);
  EXPECT_NE(run({"sample", "torus.isotact", "points.csv", "-o", "d.csv"}).out.find("2 of them"),
            std::string::npos);
  write("one.csv", "0 0 0\n");
  const std::string out = run({"sample", "torus.isotact", "one.csv", "-o", "d.csv"}).out;
  EXPECT_NE(out.find("1 point in"), std::string::npos) << out;
}

TEST_F(FieldMessages, SparseErrorsAreNullWhereNothingIsSparse) {
  const Json none = build_torus({"--tolerance", "0"});
  EXPECT_TRUE(none["sparse_from"].is_null());
  EXPECT_TRUE(none["sparse_error"].is_null());
  EXPECT_TRUE(run_json({"info", "torus.isotact"})["sparse_from"].is_null());
  // Sparse from 56 cells on, and no value is as large.
  const Json some = build_torus();
  EXPECT_GT(some["sparse_from"], some["largest_value"]);
  EXPECT_EQ(run({"info", "torus.isotact"}).out.find(" m on"), std::string::npos);
}

TEST_F(FieldMessages, InfoShowsWhatEachSectionHolds) {
  build_torus({"--field", "dense", "--first-order", "--voxmap", "scaled:5"});
  const Json info = run_json({"info", "torus.isotact"});
  EXPECT_GT(info["dense"]["node_error"], 0);
  EXPECT_LT(info["dense"]["node_error"], 0.003 * info["voxel_size"].get<double>());
  EXPECT_GT(info["first_order"]["near_node_error"], 0);
  EXPECT_GT(info["first_order"]["far_node_error"], info["first_order"]["near_node_error"]);
  EXPECT_EQ(info["voxmap"]["encoding"], "scaled");
  EXPECT_EQ(info["voxmap"]["precision"], 5);
  const std::string table = run({"info", "torus.isotact"}).out;
  for (const char* word : {"dense ", "first order ", "scaled by 10^5"})
    EXPECT_NE(table.find(word), std::string::npos) << table;
  build_torus({"--field", "none", "--voxmap", "layers"});
  const Json layers = run_json({"info", "torus.isotact"});
  EXPECT_EQ(layers["voxmap"]["encoding"], "layers");
  EXPECT_EQ(layers["voxmap"]["dims"].size(), 3U);
  EXPECT_GT(layers["voxmap"]["inner_voxels"], 0);
}

TEST_F(FieldMessages, InfoShowsWhatBuildWarnedOf) {
  // A slanted plate a twentieth of a cell thick.
  write("plate.obj",
        "v 0 0 0\nv 1 0 .3\nv 1 1 .4\nv 0 1 .1\n"
        "v 0 0 .001\nv 1 0 .301\nv 1 1 .401\nv 0 1 .101\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  const Json built = run_json({"build", "plate.obj", "-o", "plate.isotact", "--resolution", "48"});
  ASSERT_FALSE(built["warnings"].empty());
  const Json shown = run_json({"info", "plate.isotact"})["warnings"];
  ASSERT_EQ(shown.size(), built["warnings"].size());
  for (std::size_t i = 0; i < shown.size(); ++i)  // build adds its options
    EXPECT_EQ(built["warnings"][i].get<std::string>().rfind(shown[i].get<std::string>(), 0), 0U);
  EXPECT_NE(run({"info", "plate.isotact"}).out.find("warning"), std::string::npos);
}

TEST_F(FieldMessages, InfoGoesOnAfterABadFile) {
  build_torus();
  const ProgramRun r = run({"info", "torus.obj", "missing.obj", "torus.isotact", "--json"});
  EXPECT_EQ(r.exit_code, 1);
  const Json object = parse_output(r.out);
  EXPECT_EQ(object["verdict"], "bad");
  const Json& all = object["files"];
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["kind"], "mesh");
  EXPECT_EQ(all[1]["file"], "missing.obj");
  EXPECT_TRUE(all[1]["error"].is_string());
  EXPECT_EQ(all[2]["kind"], "asset");
  const ProgramRun table = run({"info", "missing.obj", "torus.obj"});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_NE(table.out.find("torus.obj"), std::string::npos);
  EXPECT_NE(table.err.find("missing.obj"), std::string::npos);
}

TEST_F(FieldMessages, NameTheWayOut) {
  build_torus();
  expect_failure({"convert", "torus.isotact", "t.xyz"}, 2, {".obj .stl .ply .glb .sdf .vti"});
  expect_failure({"convert", "torus.obj", "t.xyz"}, 2, {".obj .stl .ply .glb"});
  expect_failure({"make", "torus", "-o", "t.xyz"}, 2, {".obj .stl .ply .glb"});
  write("points.csv", "0 0 0\n");
  expect_failure({"sample", "torus.obj", "points.csv", "-o", "d.csv"}, 1,
                 {"torus.obj", "isotact build"});
  expect_failure({"slice", "torus.isotact", "-o", "s.png", "--at-metres", "7"}, 1,
                 {"torus.isotact", "outside"});
  expect_failure({"render", "torus.obj", "-o", "s.png", "--iso", "0.01"}, 2, {"--iso"});
}

TEST_F(FieldMessages, HugeMeshesAreRefusedInWords) {
  write("huge.obj",
        "v 0 0 0\nv 1e30 0 0\nv 0 1e30 0\nv 0 0 1e30\n"
        "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  expect_failure({"build", "huge.obj", "-o", "huge.isotact"}, 1, {"huge.obj", "1e+30 m"});
}

}  // namespace
}  // namespace isotact
