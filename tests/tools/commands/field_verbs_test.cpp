// The verbs of fields as a user drives them: build, info, sample, slice, convert, render.
#include "support/field_verbs.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "isotact/field/io/asset.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

TEST_F(FieldVerbs, BuildReportsEveryKeyOfTheContract) {
  build_torus();
  for (const char* key :
       {"resolution", "dims", "voxel_size", "bytes", "build_seconds", "sign_method", "sign_reason",
        "watertight", "points", "bricks", "near_error", "far_error", "holes", "warnings", "output"})
    EXPECT_TRUE(report_.contains(key)) << key;
  EXPECT_EQ(report_["resolution"], 40);
  EXPECT_EQ(report_["dims"][0], 40);
  EXPECT_EQ(report_["watertight"], true);
  EXPECT_EQ(report_["sign_method"], "winding");
  EXPECT_EQ(report_["bytes"], std::filesystem::file_size(file("torus.isotact")));
  EXPECT_EQ(report_["warnings"], Json::array());
  const ProgramRun table = run({"build", "torus.obj", "-o", "t.isotact", "--resolution", "40"});
  EXPECT_NE(table.out.find("cells    40 x"), std::string::npos) << table.out;
  EXPECT_EQ(bytes_of("t.isotact"), bytes_of("torus.isotact"));
}

TEST_F(FieldVerbs, BuildGoesOnWithoutAGpu) {
  build_torus();
  EXPECT_EQ(report_["device"], "cpu");
  ::setenv("ISOTACT_GPU", "none", 1);
  const Json without = run_json(
      {"build", "torus.obj", "-o", "t.isotact", "--resolution", "40", "--first-order", "--gpu"});
  ::unsetenv("ISOTACT_GPU");
  EXPECT_EQ(without["device"], "cpu");
  ASSERT_EQ(without["warnings"].size(), 1U);
  EXPECT_NE(without["warnings"][0].get<std::string>().find("--gpu"), std::string::npos);
  EXPECT_EQ(without["bricks"], report_["bricks"]);
}

TEST_F(FieldVerbs, InfoOfAssetsAndOfSeveralFiles) {
  build_torus();
  const Json info = run_json({"info", "torus.isotact"});
  EXPECT_EQ(info["kind"], "asset");
  for (const char* key : {"resolution", "dims", "voxel_size", "bytes", "sign_method"})
    EXPECT_EQ(info[key], report_[key]) << key;
  for (const char* key : {"sections", "field_bounds", "points"})
    EXPECT_TRUE(info.contains(key)) << key;
  EXPECT_NEAR(info["volume"], 0.115, 0.001);
  const Json both = run_json({"info", "torus.obj", "torus.isotact"})["files"];
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["kind"], "mesh");
  for (const auto& [key, value] : both[1].items()) EXPECT_EQ(info[key], value) << key;
  EXPECT_NE(run({"info", "torus.isotact"}).out.find("brick field"), std::string::npos);
}

TEST_F(FieldVerbs, BuildStoresAllThatCollideNeeds) {
  build_torus();
  EXPECT_GT(report_["points"], 300);
  EXPECT_NEAR(report_["point_tree"]["spacing"], 2 * report_["voxel_size"].get<double>(), 1e-9);
  EXPECT_EQ(run_json({"info", "torus.isotact"})["sections"].size(), 5U);  // source, mass, mesh
  build_torus({"--resolution", "40", "--points", "none"});
  EXPECT_EQ(report_["points"], 0);
  EXPECT_TRUE(report_["point_tree"].is_null());
  EXPECT_EQ(run_json({"info", "torus.isotact"})["sections"].size(), 4U);
}

TEST_F(FieldVerbs, BuildStoresPoints) {
  build_torus({"--resolution", "32", "--points", "500"});
  EXPECT_EQ(report_["points"], 500);
  const Json info = run_json({"info", "torus.isotact"});
  EXPECT_EQ(info["points"], 500);
  EXPECT_EQ(info["point_tree"], report_["point_tree"]);
  EXPECT_EQ(info["point_tree"]["levels"].size(), 3U);  // 8, 64 and 512 points at most
  EXPECT_GT(info["point_tree"]["covering_radius"], 0);
  EXPECT_NEAR(info["point_tree"]["area"], 1.85, 0.02);
  EXPECT_NE(run({"info", "torus.isotact"}).out.find("level 2"), std::string::npos);
  const ProgramRun picture = run({"render", "torus.isotact", "-o", "p.png", "--shell", "1",
                                  "--width", "60", "--height", "40"});
  EXPECT_EQ(picture.exit_code, 0) << picture.err;
  const ProgramRun balls = run({"render", "torus.isotact", "-o", "b.png", "--balls", "2", "--width",
                                "60", "--height", "40"});
  EXPECT_EQ(balls.exit_code, 0) << balls.err;
  build_torus({"--field", "none", "--points", "vertices", "--cluster", "4"});
  EXPECT_EQ(report_["points"], 96 * 32);
  build_torus({"--resolution", "32", "--spacing", "0.05", "--points-by", "voxels",
               "--point-normals", "field", "--spheres", "nested"});
  EXPECT_GT(report_["points"], 300);
  const std::vector<std::string> build{"build", "torus.obj", "-o", "t.isotact"};
  const auto refuse = [&](std::vector<std::string> more, const std::string& message) {
    more.insert(more.begin(), build.begin(), build.end());
    expect_failure(more, 2, message);
  };
  refuse({"--points", "many"}, "--points many");
  refuse({"--points", "10", "--spacing", "1"}, "exclude");
  refuse({"--points", "none", "--spacing", "1"}, "exclude");
  refuse({"--points", "10", "--points-by", "voxels"}, "--spacing");
  refuse({"--points", "10", "--point-normals", "field", "--field", "none"}, "--field brick");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--field", "none", "--spacing", "1e-9"},
                 1, "points");
  build_torus({"--resolution", "40", "--points", "none"});
  expect_failure({"render", "torus.isotact", "-o", "p.png", "--shell", "1"}, 1, "no points");
}

TEST_F(FieldVerbs, BuildTakesItsSettings) {
  build_torus({"--voxel-size", "0.05", "--padding", "12", "--threads", "1"});
  EXPECT_NEAR(report_["voxel_size"], 0.05, 1e-12);
  // Said before the first byte is taken, with the sum of all sections.
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--first-order", "--resolution", "1024",
                  "--max-memory", "500"},
                 1, "first order");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--resolution", "64", "--field", "dense",
                  "--first-order", "--voxmap", "support", "--max-memory", "4"},
                 1, "would need");
  std::ofstream(file("sheet.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  const Json shell = run_json({"build", "sheet.obj", "-o", "s.isotact", "--resolution", "24",
                               "--sign", "unsigned", "--shell-offset", "0.1"});
  EXPECT_EQ(shell["sign_method"], "unsigned");
  EXPECT_EQ(shell["watertight"], false);
  run_json({"make", "box", "-o", "box.obj"});
  const Json millimetres =
      run_json({"build", "box.obj", "-o", "b.isotact", "--unit", "mm", "--resolution", "24"});
  EXPECT_LT(millimetres["voxel_size"], 1e-3);
}

TEST_F(FieldVerbs, BuildFindsAndKeepsThinWalls) {
  run_json(
      {"make", "bowl", "-o", "bowl.obj", "--set", "thickness=0.003", "--set", "foot_radius=0.01"});
  const auto build = [&](const char* keep) {
    return run_json(
        {"build", "bowl.obj", "-o", "bowl.isotact", "--voxel-size", "0.008", "--keep-thin", keep});
  };
  const Json reported = build("report");
  EXPECT_GT(reported["thin_features"]["lost_share"], 0.2);
  EXPECT_EQ(reported["warnings"].size(), 1U);
  EXPECT_LT(build("refine")["voxel_size"], 0.003);
  EXPECT_GT(build("offset")["thin_features"]["offset"], 0.002);
  EXPECT_EQ(build("ignore")["thin_features"]["samples"], 0);
  expect_failure({"build", "bowl.obj", "-o", "b.isotact", "--keep-thin", "offset", "--first-order"},
                 2, "brick");
}

// The mass that was stored was that of both parts, overlap twice.
TEST_F(FieldVerbs, MassIsThatOfTheBodyThatTheFieldHas) {
  const auto volume = [&](const char* boxes, const char* nested, const char* from) {
    const Json built = run_json({"build", boxes, "-o", "b.isotact", "--nested", nested});
    EXPECT_EQ(built["mass_from"], from) << boxes;
    return run_json({"info", "b.isotact"})["volume"].get<double>();
  };
  std::string text;
  const auto add_box = [&](int first, double at) {
    std::ostringstream out;
    for (int i = 0; i < 8; ++i)
      out << "v " << at + i % 2 << ' ' << at + i / 2 % 2 << ' ' << at + i / 4 << '\n';
    constexpr int kSides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (const auto& side : kSides) {
      out << 'f';
      for (const int corner : side) out << ' ' << first + corner;
      out << '\n';
    }
    text += out.str();
  };
  add_box(1, 0);
  std::ofstream(file("one.obj")) << text;
  add_box(9, 0.5);
  std::ofstream(file("two.obj")) << text;
  EXPECT_NEAR(volume("one.obj", "winding", "mesh"), 1, 1e-9);
  EXPECT_NEAR(volume("two.obj", "winding", "field"), 1.875, 0.01);
  EXPECT_NEAR(volume("two.obj", "even-odd", "field"), 1.75, 0.02);
}

TEST_F(FieldVerbs, OutputsNeverReplaceWhatIsRead) {
  build_torus();
  const std::string before = bytes_of("torus.obj");
  expect_failure({"build", "torus.obj", "-o", "./torus.obj"}, 2, "would replace");
  expect_failure({"build", "torus.obj", "-o", "field.stl"}, 2, "build writes assets");
  expect_failure({"convert", "torus.obj", "./torus.obj"}, 2, "would replace");
  expect_failure({"sample", "torus.isotact", "torus.obj", "-o", "torus.isotact"}, 2,
                 "would replace");
  EXPECT_EQ(bytes_of("torus.obj"), before);
}

TEST_F(FieldVerbs, BuildRefusesWhatCannotBe) {
  run_json({"make", "torus", "-o", "torus.obj"});
  expect_failure({"build", "torus.obj"}, 2, "-o");
  expect_failure(
      {"build", "torus.obj", "-o", "t.isotact", "--resolution", "40", "--voxel-size", "0.1"}, 2,
      "exclude");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--sign", "guess"}, 2, "guess");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--voxmap", "scaled:x"}, 2, "scaled:x");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--voxmap", "runs"}, 2, "runs");
  for (const char* cells : {"8", "65537"})
    expect_failure({"build", "torus.obj", "-o", "t.isotact", "--resolution", cells}, 2,
                   "--resolution");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--padding", "10001"}, 2, "--padding");
  expect_failure({"build", "missing.obj", "-o", "t.isotact"}, 1, "missing.obj");
  expect_failure(
      {"build", "torus.obj", "-o", "t.isotact", "--resolution", "1000", "--max-memory", "1"}, 1,
      "limit");
  // Said before the first byte is taken, with the sum of all sections.
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--first-order", "--resolution", "1024",
                  "--max-memory", "500"},
                 1, "first order");
  expect_failure({"build", "torus.obj", "-o", "t.isotact", "--resolution", "64", "--field", "dense",
                  "--first-order", "--voxmap", "support", "--max-memory", "4"},
                 1, "would need");
  std::ofstream(file("sheet.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  expect_failure({"build", "sheet.obj", "-o", "t.isotact", "--sign", "pseudonormal"}, 1, "");
  EXPECT_FALSE(std::filesystem::exists(file("t.isotact")));
}

TEST_F(FieldVerbs, VoxelmapsFollowTheRuleForNestedParts) {
  const TriangleMesh outer = make_sphere({.radius = 0.5, .frequency = 6});
  const TriangleMesh inner = make_sphere({.radius = 0.3, .frequency = 5});
  std::ofstream obj(file("nested.obj"));
  std::uint32_t first = 1;
  for (const TriangleMesh* part : {&outer, &inner}) {
    for (const Vec3f& p : part->positions) obj << "v " << p.x << ' ' << p.y << ' ' << p.z << '\n';
    for (const Triangle& t : part->triangles)
      obj << "f " << first + t[0] << ' ' << first + t[1] << ' ' << first + t[2] << '\n';
    first += static_cast<std::uint32_t>(part->positions.size());
  }
  obj.close();
  for (const char* rule : {"winding", "even-odd"}) {
    run_json({"build", "nested.obj", "-o", "n.isotact", "--resolution", "40", "--voxmap", "support",
              "--nested", rule});
    const Asset asset = read_asset(file("n.isotact"));
    ASSERT_TRUE(asset.field && asset.voxmap);
    const Voxmap& map = *asset.voxmap;
    const double of_field = asset.field->value({0, 0, 0});
    EXPECT_EQ(of_field < 0, std::string(rule) == "winding");
    EXPECT_NEAR(map.distance_of_voxel(map.voxel_at({0, 0, 0})), of_field, 0.05);
  }
}

TEST_F(FieldVerbs, OtherSectionsAreStoredAndAnswer) {
  build_torus({"--resolution", "32", "--field", "dense", "--first-order", "--voxmap", "layers"});
  EXPECT_EQ(report_["field"], "dense");
  const Asset asset = read_asset(file("torus.isotact"));
  ASSERT_TRUE(asset.dense && asset.first_order && asset.voxmap);
  EXPECT_FALSE(asset.field);
  EXPECT_NEAR(asset.dense->value({0.375, 0, 0}), -0.125, 0.04);
  EXPECT_NEAR(asset.first_order->value({0.375, 0, 0}), -0.125, 0.02);
  EXPECT_TRUE(asset.voxmap->is_solid(asset.voxmap->voxel_at({0.375, 0, 0})));
  std::ofstream(file("p.csv")) << "0,0,0\n";
  run_json({"sample", "torus.isotact", "p.csv", "-o", "d.csv"});
  EXPECT_NEAR(std::stod(bytes_of("d.csv").substr(2)), 0.25, 0.02);
  EXPECT_GT(run_json({"convert", "torus.isotact", "t.obj"})["triangles"], 500);
  build_torus({"--resolution", "32", "--field", "none", "--voxmap", "support", "--points", "none"});
  expect_failure({"sample", "torus.isotact", "p.csv", "-o", "d.csv"}, 1, "holds no field");
  EXPECT_EQ(run_json({"info", "torus.isotact"})["sections"].size(), 4U);
  // Bricks that are not stored are not built either: these would take much more than a megabyte.
  build_torus({"--resolution", "512", "--field", "none", "--max-memory", "1", "--points", "none"});
  EXPECT_EQ(report_["sign_method"], "winding");
}

TEST_F(FieldVerbs, TheCacheIsUsedWhenAskedFor) {
  run_json({"make", "torus", "-o", "torus.obj"});
  const std::string cache = "ISOTACT_CACHE=" + file("cache").string();
  const auto build = [&](const char* output) {
    const ProgramRun r = run_program("/usr/bin/env",
                                     {cache, ISOTACT_TOOL, "build", "torus.obj", "-o", output,
                                      "--resolution", "32", "--cache", "--json"},
                                     folder_.path().string());
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return parse_output(r.out);
  };
  const Json first = build("a.isotact"), second = build("b.isotact");
  EXPECT_EQ(first["from_cache"], false);
  EXPECT_EQ(second["from_cache"], true);
  EXPECT_EQ(second["sign_method"], first["sign_method"]);
  EXPECT_EQ(bytes_of("a.isotact"), bytes_of("b.isotact"));
}

TEST_F(FieldVerbs, SliceDrawsACut) {
  build_torus();
  const Json slice = run_json({"slice", "torus.isotact", "--axis", "y", "--at", "0.5", "-o",
                               "cut.png", "--width", "300", "--mesh", "torus.obj"});
  EXPECT_EQ(slice["width"], 300);
  EXPECT_EQ(bytes_of("cut.png").substr(1, 3), "PNG");
  EXPECT_NEAR(slice["at_metres"], 0, 1e-9);
  EXPECT_NEAR(slice["min_value"], -0.125, 0.01);
  EXPECT_GT(slice["outline_segments"], 100);
  EXPECT_EQ(run_json({"slice", "torus.isotact", "--at-metres", "0.3", "-o", "c.png", "--width",
                      "200"})["at_metres"],
            0.3);
  expect_failure({"slice", "torus.isotact", "-o", "c.jpg"}, 2, ".png");
  expect_failure({"slice", "torus.isotact", "-o", "c.png", "--axis", "w"}, 2, "w");
  expect_failure({"slice", "torus.isotact", "-o", "c.png", "--at", "1.5"}, 2, "--at");
  expect_failure({"slice", "torus.isotact", "-o", "c.png", "--at", "1", "--at-metres", "0"}, 2,
                 "exclude");
}

TEST_F(FieldVerbs, ConvertExtractsClosedSurfaces) {
  build_torus();
  for (const char* iso : {"-0.05", "0", "0.2"}) {
    run_json({"convert", "torus.isotact", "grown.stl", "--iso", iso});
    const Json info = run_json({"info", "grown.stl"});
    EXPECT_EQ(info["watertight"], true) << iso;
    EXPECT_EQ(info["manifold"], true) << iso;
    const double r = 0.125 + std::stod(iso);
    EXPECT_NEAR(info["volume"], 2 * 9.8696 * 0.375 * r * r, 0.06 * r) << iso;
  }
  EXPECT_NE(run({"convert", "torus.isotact", "far.stl", "--iso", "0.5"}).err.find("a padding of"),
            std::string::npos);
  const Json fine = run_json({"convert", "torus.isotact", "a.obj"});
  const Json coarse = run_json({"convert", "torus.isotact", "b.obj", "--stride", "2"});
  EXPECT_GT(fine["triangles"], 3 * coarse["triangles"].get<int>());
  expect_failure({"convert", "torus.isotact", "a.obj", "--iso", "-1"}, 1, "no surface");
  expect_failure({"convert", "torus.isotact", "a.obj", "--iso", "1e9"}, 1, "triangles");
  expect_failure({"convert", "torus.obj", "a.obj", "--iso", "0"}, 2, "--iso");
  expect_failure({"convert", "torus.isotact", "a.vti", "--iso", "0"}, 2, "--iso");
  expect_failure({"convert", "torus.isotact", "a.xyz"}, 2, ".xyz");
}

TEST_F(FieldVerbs, ConvertExportsFields) {
  build_torus({"--resolution", "24"});
  run_json({"convert", "torus.isotact", "t.sdf"});
  std::istringstream numbers(bytes_of("t.sdf"));
  int x = 0, y = 0, z = 0;
  numbers >> x >> y >> z;
  EXPECT_EQ(x, report_["dims"][0].get<int>() + 1);
  const Json back = run_json({"convert", "t.sdf", "back.obj"});
  EXPECT_EQ(back["triangles"], run_json({"convert", "torus.isotact", "own.obj"})["triangles"]);
  run_json({"convert", "torus.isotact", "t.vti"});
  EXPECT_NE(bytes_of("t.vti").find("ImageData"), std::string::npos);
  const std::string formats = run_json({"doctor"})["field_writers"];
  const std::string support = run_json({"doctor"})["openvdb"];
  if (formats.find(".vdb") == std::string::npos) {
    EXPECT_EQ(support.rfind("not built in", 0), 0U) << support;
    expect_failure({"convert", "torus.isotact", "t.vdb"}, 1, "OpenVDB");
  } else {
    run_json({"convert", "torus.isotact", "t.vdb"});
    EXPECT_EQ(run_json({"convert", "t.vdb", "back.obj"})["triangles"], back["triangles"]);
  }
}

TEST_F(FieldVerbs, RenderTracesAssetsAndMeshesTogether) {
  build_torus();
  run_json({"make", "sphere", "-o", "ball.obj", "--size", "0.3"});
  const Json report = run_json({"render", "torus.isotact", "ball.obj", "-o", "pair.png", "--width",
                                "60", "--height", "40", "--iso", "0.02"});
  EXPECT_EQ(report["width"], 60);
  EXPECT_EQ(bytes_of("pair.png").substr(1, 3), "PNG");
  expect_failure({"render", "torus.isotact", "-o", "t.png", "--iso", "-1"}, 1, "no surface");
  // Solids in place of files.
  for (const char* solid : {"sphere", "box:0.1,0.2,0.3", "cone:0.1,0.1", "torus"})
    EXPECT_EQ(
        run_json({"render", solid, "-o", "solid.png", "--width", "40", "--height", "30"})["width"],
        40);
  expect_failure({"render", "plane", "-o", "t.png"}, 2, "no end");
  expect_failure({"render", "box:1", "-o", "t.png"}, 2, "box:X,Y,Z");
}

TEST_F(FieldVerbs, DamagedAssetsAreErrorsEverywhere) {
  build_torus({"--resolution", "24"});
  std::string bytes = bytes_of("torus.isotact");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(file("bad.isotact"), std::ios::binary) << bytes;
  std::ofstream(file("short.isotact"), std::ios::binary) << bytes.substr(0, 100);
  for (const char* name : {"bad.isotact", "short.isotact"}) {
    expect_failure({"info", name}, 1, name);
    expect_failure({"render", name, "-o", "x.png"}, 1, name);
    expect_failure({"slice", name, "-o", "x.png"}, 1, name);
    expect_failure({"convert", name, "x.obj"}, 1, name);
  }
}

TEST_F(FieldVerbs, InfoDescribesFieldsOfOtherPrograms) {
  build_torus();
  run_json({"convert", "torus.isotact", "torus.sdf"});
  const Json info = run_json({"info", "torus.sdf"});
  EXPECT_EQ(info["kind"], "field");
  EXPECT_EQ(info["format"], "sdf");
  EXPECT_NEAR(info["voxel_size"], report_["voxel_size"].get<double>(), 1e-6);
  EXPECT_EQ(info["dims"], report_["dims"]);
  EXPECT_NE(run({"info", "torus.sdf"}).out.find("(sdf)"), std::string::npos);
  std::ofstream(file("bad.sdf")) << "no field\n";
  expect_failure({"info", "bad.sdf"}, 1, "bad.sdf");
}

TEST_F(FieldVerbs, OutputsGoToStdout) {
  build_torus();
  const ProgramRun built = run({"build", "torus.obj", "-o", "-", "--resolution", "40"});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(built.out, bytes_of("torus.isotact"));
  run({"slice", "torus.isotact", "-o", "cut.png", "--width", "200"});
  EXPECT_EQ(run({"slice", "torus.isotact", "-o", "-", "--width", "200"}).out, bytes_of("cut.png"));
  const ProgramRun drawn =
      run({"render", "torus.obj", "-o", "-", "--width", "32", "--height", "32"});
  EXPECT_EQ(drawn.out.substr(1, 3), "PNG");
  EXPECT_FALSE(std::filesystem::exists(file("-")));
  for (const char* verb : {"slice", "render", "build"})
    expect_failure({verb, verb[0] == 'b' ? "torus.obj" : "torus.isotact", "-o", "-", "--json"}, 2,
                   "both write to stdout");
}

TEST_F(FieldVerbs, OptionsThatMeanNothingAreNotPassedOver) {
  build_torus();
  const Json report = run_json(
      {"build", "torus.obj", "-o", "t.isotact", "--resolution", "40", "--shell-offset", "0.1"});
  ASSERT_EQ(report["warnings"].size(), 1U);
  EXPECT_NE(report["warnings"][0].get<std::string>().find("shell offset has no effect"),
            std::string::npos);
  expect_failure(
      {"build", "torus.obj", "-o", "t.isotact", "--shell-offset", "0.1", "--sign", "winding"}, 2,
      "--shell-offset is for unsigned");
  expect_failure({"info", "torus.isotact", "--unit", "mm"}, 2, "--unit mm");
  expect_failure({"convert", "torus.isotact", "t.obj", "--unit", "mm"}, 2, "--unit mm");
  expect_failure({"slice", "torus.isotact", "-o", "t.png", "--unit", "mm"}, 2, "--unit mm");
  expect_failure({"render", "torus.isotact", "-o", "t.png", "--unit", "mm"}, 2, "--unit mm");
  EXPECT_EQ(run({"info", "torus.isotact", "torus.obj", "--unit", "mm"}).exit_code, 0);
}

}  // namespace
}  // namespace isotact
