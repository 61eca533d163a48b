// Drives the program as a user would: arguments in; stdout, stderr and exit code out.
#include "support/tool_test.h"

#include <fstream>

#include <gtest/gtest.h>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

class Tool : public ToolTest {
 protected:
  // These say --json themselves.
  Json run_json(const std::vector<std::string>& arguments) {
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return parse_output(r.out);
  }
  std::filesystem::path file(const std::string& name) { return folder_.path() / name; }
};

TEST_F(Tool, MakesEveryShapeInEveryFormatAndInfoAgrees) {
  const char* const formats[] = {".obj", ".stl", ".ply", ".glb"};
  std::size_t turn = 0;
  for (const ShapeInfo& shape : shape_catalogue()) {
    const std::string path = std::string(shape.name) + formats[turn++ % 4];
    std::vector<std::string> make{"make", std::string(shape.name), "-o", path, "--json"};
    for (const ShapeParameter& p : shape.parameters) {  // coarser under sanitizers
      if (kSlowBuild && p.name == "triangles")
        make.insert(make.end(), {"--set", "triangles=4000"});
      else if (kSlowBuild && p.name == "segments" && p.value > 48)
        make.insert(make.end(), {"--set", "segments=48"});
    }
    const Json made = run_json(make);
    const Json info = run_json({"info", path, "--json"});
    EXPECT_EQ(info["triangles"], made["triangles"]) << shape.name;
    EXPECT_EQ(info["watertight"], true) << shape.name;
    EXPECT_EQ(info["manifold"], true) << shape.name;
    EXPECT_EQ(info["components"], 1) << shape.name;
    EXPECT_GT(info["volume"], 0) << shape.name;
  }
}

TEST_F(Tool, SizeScalesTheLargestExtent) {
  run_json({"make", "torus", "-o", "t.obj", "--size", "3", "--json"});
  const Json bounds = run_json({"info", "t.obj", "--json"})["bounds"];
  double largest = 0;
  for (std::size_t i = 0; i < 3; ++i)
    largest = std::max(largest, bounds["max"][i].get<double>() - bounds["min"][i].get<double>());
  EXPECT_NEAR(largest, 3, 1e-5);
}

TEST_F(Tool, InfoHasEveryKeyOfTheContract) {
  run_json({"make", "box", "-o", "b.stl", "--json"});
  const Json info = run_json({"info", "b.stl", "--json"});
  for (const char* key : {"vertices", "triangles", "bounds", "watertight", "manifold",
                          "boundary_loops", "components", "degenerate", "volume", "area"})
    EXPECT_TRUE(info.contains(key)) << key;
  EXPECT_EQ(info["format"], "stl");
  EXPECT_NEAR(info["volume"], 1, 1e-9);
  EXPECT_NEAR(info["area"], 6, 1e-9);
}

TEST_F(Tool, InfoOfAnOpenMeshHasNoVolumeAndSaysWhy) {
  std::ofstream(file("open.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  const Json info = run_json({"info", "open.obj", "--json"});
  EXPECT_EQ(info["watertight"], false);
  EXPECT_EQ(info["boundary_loops"], 1);
  EXPECT_TRUE(info["volume"].is_null());
  EXPECT_FALSE(info["flaws"].empty());
  const ProgramRun table = run({"info", "open.obj"});
  EXPECT_NE(table.out.find("watertight"), std::string::npos);
}

// In small meshes always, in large ones only when asked; a verdict without the search says so.
TEST_F(Tool, SelfIntersectionsOfLargeMeshesOnlyWhenAsked) {
  std::ofstream(file("x.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.2 0.2 1\n"
                                  "v 0.3 0.4 1\nf 1 2 3\nf 4 5 6\n";
  EXPECT_EQ(run_json({"info", "x.obj", "--json"})["self_intersections"], 1);
  EXPECT_EQ(run_json({"info", "x.obj", "--json", "--self-intersections"})["self_intersections"], 1);
  // 512,000 triangles.
  ASSERT_EQ(run({"make", "sphere", "--set", "frequency=160", "-o", "large.stl"}).exit_code, 0);
  EXPECT_NE(
      run({"info", "large.stl"}).out.find("good: nothing is wrong with it; self-intersections"),
      std::string::npos);
  const ProgramRun asked = run({"info", "large.stl", "--self-intersections"});
  EXPECT_NE(asked.out.find("good: nothing is wrong with it\n"), std::string::npos) << asked.out;
}

TEST_F(Tool, UnitScalesAndImplausibleSizesWarn) {
  std::ofstream(file("mm.obj")) << "v 0 0 0\nv 100 0 0\nv 0 100 0\nf 1 2 3\n";
  const ProgramRun metres = run({"info", "mm.obj", "--json"});
  EXPECT_NE(metres.err.find("isotact: warning: mm.obj: the mesh is 100 m across"),
            std::string::npos);
  const ProgramRun millimetres = run({"info", "mm.obj", "--json", "--unit", "mm"});
  EXPECT_EQ(millimetres.err, "");
  EXPECT_NEAR(parse_output(millimetres.out)["bounds"]["max"][0], 0.1, 1e-8);
}

TEST_F(Tool, ConvertPlacesAndMends) {
  ASSERT_EQ(run({"make", "box", "--set", "size_z=3", "-o", "box.obj"}).exit_code, 0);
  const auto bounds_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"convert", "box.obj", "out.obj"});
    const ProgramRun r = run(more);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return parse_output(run({"info", "out.obj", "--json"}).out)["bounds"];
  };
  EXPECT_EQ(bounds_of({"--up", "z"})["max"], (Json{0.5, 1.5, 0.5}));
  EXPECT_EQ(bounds_of({"--scale", "2", "--up", "z"})["max"], (Json{1.0, 3.0, 1.0}));
  const Json moved = bounds_of({"--up", "z", "--transform", "xyz=0,1.5,0"});
  EXPECT_EQ(moved["min"][1], 0.0);
  for (const char* up : {"x", "-x", "y", "-y", "-z"}) {
    bounds_of({"--up", up});  // turned, not mirrored
    const Json facts = parse_output(run({"info", "out.obj", "--json"}).out);
    EXPECT_GT(facts["volume"].get<double>(), 2.9) << up;
  }
  EXPECT_EQ(run({"convert", "box.obj", "out.obj", "--up", "w"}).exit_code, 2);
  EXPECT_EQ(run({"convert", "box.obj", "out.obj", "--scale", "0"}).exit_code, 2);
  EXPECT_EQ(run({"convert", "box.obj", "out.obj", "--transform", "xyz=1"}).exit_code, 2);
  // One triangle is missing; another lies apart.
  std::ofstream(file("open.obj"))
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 0 0\nv 9.1 0 0\nv 9 0.1 0\n"
         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 5 6 7\n";
  const ProgramRun r =
      run({"convert", "open.obj", "whole.obj", "--keep-largest", "1", "--fill-holes", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(parse_output(r.out)["triangles"], 4);
  EXPECT_EQ(parse_output(run({"info", "whole.obj", "--json"}).out)["watertight"], true);
}

TEST_F(Tool, ConvertWeldsCleansAndOrients) {
  run_json({"make", "sphere", "-o", "s.stl", "--json"});
  const Json before = run_json({"info", "s.stl", "--json"});
  EXPECT_EQ(before["watertight_as_stored"], false);
  const Json report = run_json({"convert", "s.stl", "s.glb", "--weld", "0", "--json"});
  EXPECT_EQ(report["triangles"], before["triangles"]);
  const Json after = run_json({"info", "s.glb", "--json"});
  EXPECT_EQ(after["format"], "glb");
  EXPECT_EQ(after["watertight_as_stored"], true);
  EXPECT_LT(after["vertices"], before["vertices"]);

  // One face of a tetrahedron turned over, one triangle twice, one vertex unused.
  std::ofstream(file("bad.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\n"
                                    "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\nf 1 3 2\n";
  run_json({"convert", "bad.obj", "good.ply", "--clean", "--orient", "--json"});
  const Json good = run_json({"info", "good.ply", "--json"});
  EXPECT_EQ(good["vertices"], 4);
  EXPECT_EQ(good["triangles"], 4);
  EXPECT_EQ(good["oriented"], true);
  EXPECT_NEAR(good["volume"], 1.0 / 6, 1e-7);
}

// Dropping one of two triangles that face each other would leave the other's edges open.
TEST_F(Tool, CleanTearsNoHoles) {
  std::ofstream(file("twins.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                      "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 3 2\nf 1 2 3\n";
  run_json({"convert", "twins.obj", "clean.obj", "--clean", "--json"});
  const Json info = run_json({"info", "clean.obj", "--json"});
  EXPECT_EQ(info["triangles"], 5);
  EXPECT_EQ(info["boundary_edges"], 0);
}

TEST_F(Tool, RenderWritesAPng) {
  run_json({"make", "knot", "-o", "k.obj", "--json"});
  const Json r = run_json({"render", "k.obj", "-o", "k.png", "--width", "96", "--height", "64",
                           "--sky-rays", "4", "--json"});
  EXPECT_EQ(r["width"], 96);
  std::ifstream png(file("k.png"), std::ios::binary);
  std::string magic(8, ' ');
  png.read(magic.data(), 8);
  EXPECT_EQ(magic, "\x89PNG\r\n\x1a\n");
}

TEST_F(Tool, DoctorSpeaksJson) {
  const Json report = run_json({"doctor", "--json", "--threads", "3"});
  EXPECT_EQ(report["threads"], 3);
  for (const char* key : {"version", "compiler", "march", "library", "modules", "thread_backend",
                          "simd_used", "gpu", "viewer", "webassembly"})
    EXPECT_TRUE(report.contains(key)) << key;
}

TEST_F(Tool, CompletionNamesEveryVerbAndShape) {
  const ProgramRun r = run({"completion", "bash"});
  ASSERT_EQ(r.exit_code, 0);
  for (const char* word : {"make", "info", "convert", "doctor", "demo", "--unit", "torus"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word;
  // The script itself answers: source it and ask for words that begin with "inf".
  std::ofstream(file("c.bash"))
      << r.out << "COMP_WORDS=(isotact inf); COMP_CWORD=1; _isotact\n"
      << "echo \"${COMPREPLY[@]}\"\n"
      << "COMP_WORDS=(isotact info --un); COMP_CWORD=2; _isotact\n"
      << "echo \"${COMPREPLY[@]}\"\n"
      << "COMP_WORDS=(isotact make gear --set tee); COMP_CWORD=4; _isotact\n"
      << "echo \"${COMPREPLY[@]}\"\n";
  const ProgramRun bash = run_program("/bin/bash", {file("c.bash").string()});
  EXPECT_EQ(bash.out, "info\n--unit\nteeth=\n") << bash.err;
}

TEST_F(Tool, EveryVerbHasHelpWithExamples) {
  for (const char* verb :
       {"make", "info", "convert", "render", "view", "bench", "demo", "doctor", "completion"}) {
    const ProgramRun r = run({verb, "--help"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_NE(r.out.find("Example"), std::string::npos) << verb;
    EXPECT_EQ(r.err, "");
  }
}

TEST_F(Tool, ThreadsDoNotChangeTheAnswer) {
  run_json({"make", "blob", "-o", "b.ply", "--set",
            unless_slow("triangles=16000", "triangles=4000"), "--json"});
  Json one = run_json({"info", "b.ply", "--json", "--threads", "1"});
  one.erase("seconds");
  for (const char* threads : {"2", "7"}) {
    Json many = run_json({"info", "b.ply", "--json", "--threads", threads});
    many.erase("seconds");
    EXPECT_EQ(many, one);
  }
}

}  // namespace
}  // namespace isotact
