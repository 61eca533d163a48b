// docs/schema says what the tool prints with --json. These tests hold the schemas against their own
// rules (one key, one meaning), and real outputs of every verb against the schemas. Other tests of
// the tool check each JSON object that they read in the same way (support/tool_test.h).
#include <filesystem>
#include <map>
#include <set>

#include "support/slow_build.h"
#include "support/tool_test.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;

const JsonSchemas& schemas() {
  static const JsonSchemas all(ISOTACT_SOURCE_FOLDER "/docs/schema");
  return all;
}

// Calls `visit(key, schema)` for each property of a schema and of those within.
template <typename Visit>
void for_each_property(const Json& node, const Visit& visit) {
  if (node.is_array())
    for (const Json& part : node) for_each_property(part, visit);
  if (!node.is_object()) return;
  for (const auto& [word, part] : node.items()) {
    if (word == "properties")
      for (const auto& [key, schema] : part.items()) visit(key, schema);
    for_each_property(part, visit);
  }
}

// Calls `visit(object)` for each schema of an object with properties.
template <typename Visit>
void for_each_object(const Json& node, const Visit& visit) {
  if (node.is_object() && node.contains("properties")) visit(node);
  if (node.is_structured())
    for (const Json& part : node) for_each_object(part, visit);
}

TEST(Schema, EveryKeyIsDefinedOnceAndUsed) {
  const Json& keys = schemas().files().at("keys")["$defs"];
  std::map<std::string, std::string> inline_keys;
  std::set<std::string> used{"schema"};
  for (const auto& [file, schema] : schemas().files())
    for_each_property(schema, [&, name = file](const std::string& key, const Json& own) {
      if (own.contains("const")) return;  // "schema" itself
      const Json& reference =
          own.contains("anyOf") && own["anyOf"][0].contains("$ref") ? own["anyOf"][0] : own;
      const std::string target = reference.value("$ref", "");
      if (target.find("#/$defs/") != std::string::npos) {
        EXPECT_EQ(target.substr(target.rfind('/') + 1), key) << name;
        used.insert(key);
        return;
      }
      // What only one output has may stand in its own file.
      EXPECT_FALSE(keys.contains(key)) << name << " defines " << key << " again";
      EXPECT_TRUE(own.contains("description")) << name << ": " << key;
      const std::string words = own.value("description", "");
      EXPECT_EQ(inline_keys.emplace(key, words).first->second, words) << key;
    });
  for (const auto& [key, own] : keys.items()) {
    EXPECT_EQ(used.count(key), 1U) << key << " is not used";
    const std::string words = own.value("description", "");
    EXPECT_TRUE(!words.empty() && words.back() == '.') << key << ": " << words;
  }
  EXPECT_GT(keys.size(), 200U);
}

TEST(Schema, EveryKeyIsAlwaysThereAndNumbersHaveUnits) {
  for (const auto& [file, schema] : schemas().files())
    for_each_object(schema, [&, name = file](const Json& object) {
      if (object.value("additionalProperties", true) == true && name == "bench") return;
      EXPECT_EQ(object.value("additionalProperties", true), false) << name;
      std::set<std::string> required, known;
      for (const Json& key : object["required"]) required.insert(key.get<std::string>());
      for (const auto& [key, own] : object["properties"].items()) known.insert(key);
      EXPECT_EQ(required, known) << name;
    });
  const std::set<std::string> any_unit{"default", "lowest", "highest"};  // as the parameter
  for (const auto& [key, own] : schemas().files().at("keys")["$defs"].items()) {
    if (own.value("type", Json()) != "number" || any_unit.count(key) > 0) continue;
    EXPECT_TRUE(own.contains("unit")) << key;
  }
}

TEST(Schema, TheCheckOfOutputsSeesFlaws) {
  const Json good = Json::parse(R"({"schema": "isotact.make/1", "shape": "box", "output": "b.obj",
                                    "vertices": 8, "triangles": 12, "warnings": []})");
  EXPECT_TRUE(schemas().find_flaws(good).empty());
  const auto flaws_with = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    return schemas().find_flaws(bad).size();
  };
  EXPECT_EQ(flaws_with("verices", 8), 1U);
  EXPECT_EQ(flaws_with("vertices", nullptr), 1U);
  EXPECT_EQ(flaws_with("vertices", 8.5), 1U);
  EXPECT_EQ(flaws_with("warnings", {1}), 1U);
  EXPECT_EQ(flaws_with("schema", "isotact.make/2"), 1U);
  EXPECT_EQ(flaws_with("schema", "isotact.fly/1"), 1U);
  Json lacks = good;
  lacks.erase("triangles");
  EXPECT_EQ(schemas().find_flaws(lacks).size(), 1U);
}

// The contract of the tool: these keys stay as they are.
TEST(Schema, ContractKeysAreThere) {
  const std::map<std::string, std::vector<std::string>> contract{
      {"info",
       {"vertices", "triangles", "bounds", "watertight", "manifold", "boundary_loops", "components",
        "degenerate", "volume", "area", "sections", "resolution", "voxel_size", "bytes",
        "sign_method", "points"}},
      {"build",
       {"resolution", "dims", "voxel_size", "bytes", "build_seconds", "sign_method", "watertight",
        "points", "warnings"}},
      {"segments", {"segments", "intervals", "hits", "seconds"}},
      {"collide",
       {"status", "method", "contacts", "min_distance", "time_of_contact", "intervals", "force",
        "torque", "seconds"}}};
  for (const auto& [name, keys] : contract)
    for (const std::string& key : keys)
      EXPECT_TRUE(schemas().files().at(name)["properties"].contains(key)) << name << " " << key;
  const Json& contact = schemas().files().at("keys")["$defs"]["contacts"]["items"]["properties"];
  for (const char* key : {"position", "point_on_a", "point_on_b", "normal", "depth"})
    EXPECT_TRUE(contact.contains(key)) << key;
}

class SchemaOfVerbs : public ToolTest {
 protected:
  // Whatever the exit code, one JSON object that fits the schema of this name.
  Json checked(const std::string& schema, std::vector<std::string> arguments, int exit_code = 0) {
    arguments.emplace_back("--json");
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    Json object = parse_output(r.out);
    EXPECT_EQ(object.value("schema", ""), "isotact." + schema + "/1");
    return object;
  }
  void make_ball() { checked("make", {"make", "sphere", "-o", "ball.obj", "--size", "0.1"}); }
  Json build_ball(const std::vector<std::string>& more = {}) {
    make_ball();
    std::vector<std::string> words{"build", "ball.obj", "-o", "ball.isotact", "--resolution", "32"};
    words.insert(words.end(), more.begin(), more.end());
    return checked("build", words);
  }
};

TEST_F(SchemaOfVerbs, MakeConvertAndDoctor) {
  build_ball();
  const Json shapes = checked("make_list", {"make", "--list"})["shapes"];
  EXPECT_GT(shapes.size(), 10U);
  const Json mesh = checked("convert", {"convert", "ball.obj", "b.stl", "--clean"});
  EXPECT_TRUE(mesh["resolution"].is_null());
  EXPECT_GT(checked("convert", {"convert", "ball.isotact", "c.stl", "--iso", "0.01"})["triangles"],
            100);
  const Json field = checked("convert", {"convert", "ball.isotact", "c.sdf"});
  EXPECT_EQ(field["resolution"], 32);
  EXPECT_TRUE(field["triangles"].is_null());
  checked("doctor", {"doctor"});
}

TEST_F(SchemaOfVerbs, BuildWithAllAndWithNothing) {
  const Json plain = build_ball();
  EXPECT_TRUE(plain["thin_features"]["thinnest"].is_null());
  EXPECT_TRUE(plain["largest_hole"].is_null());
  const Json all = build_ball({"--first-order", "--voxmap", "layers", "--points", "100"});
  EXPECT_EQ(all["points"], 100);
  EXPECT_EQ(all["field"], "brick");
  EXPECT_TRUE(build_ball({"--field", "dense"})["bricks"].is_null());
  const Json none = build_ball({"--field", "none", "--voxmap", "scaled:3"});
  EXPECT_TRUE(none["field"].is_null());
  EXPECT_TRUE(none["voxel_size"].is_null());
  // An open box: a wide hole, and a warning.
  write("open.obj",
        "v 0 0 0\nv .1 0 0\nv .1 .1 0\nv 0 .1 0\nv 0 0 .1\nv .1 0 .1\nv .1 .1 .1\nv 0 .1 .1\n"
        "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  const Json open =
      checked("build", {"build", "open.obj", "-o", "open.isotact", "--resolution", "32"});
  EXPECT_FALSE(open["warnings"].empty());
  EXPECT_GT(open["largest_hole"], 0);
}

TEST_F(SchemaOfVerbs, SampleSegmentsSliceAndRender) {
  build_ball({"--points", "60"});
  write("points.csv", "0 0 0\n0 1 0\n");
  write("segments.csv", "0 2 0 0 -2 0\n");
  EXPECT_EQ(checked("sample", {"sample", "ball.isotact", "points.csv", "-o", "d.csv"})["queries"],
            2);
  for (const char* mode : {"intervals", "first", "any"})
    checked("segments", {"segments", "ball.isotact", "segments.csv", "-o", "t.csv", "--mode", mode,
                         "--iso", "0.01"});
  checked("segments", {"segments", "ball.isotact", "segments.csv", "-o", "t.csv", "--gpu"});
  const std::vector<std::string> slice{"slice", "ball.isotact", "-o", "s.png", "--width", "200"};
  EXPECT_TRUE(checked("slice", slice)["outline_segments"].is_null());
  std::vector<std::string> with_mesh = slice;
  with_mesh.insert(with_mesh.end(), {"--mesh", "ball.obj"});
  EXPECT_GT(checked("slice", with_mesh)["outline_segments"], 0);
  // A mesh that looks as if it were in millimetres.
  checked("make", {"make", "box", "-o", "large.obj", "--size", "100"});
  const Json picture = checked("render", {"render", "large.obj", "ball.isotact", "-o", "r.png",
                                          "--width", "32", "--height", "24"});
  ASSERT_EQ(picture["warnings"].size(), 1U);
  EXPECT_EQ(picture["warnings"][0].get<std::string>().rfind("large.obj: ", 0), 0U);
}

TEST_F(SchemaOfVerbs, CollideByEveryMethod) {
  build_ball({"--points", "200"});
  const auto collide = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"collide", "ball.isotact", "ball.isotact"});
    return checked("collide", more);
  };
  const std::string near = "xyz=0.05,0,0", far = "xyz=0.5,0,0";
  for (const char* method : {"vps", "idf", "depth", "swept"})
    for (const std::string& pose : {near, far}) {
      const Json j = collide({"--method", method, "--pose-b", pose});
      EXPECT_EQ(j["method"], method);
      EXPECT_EQ(j["status"], pose == near ? "contact" : "free") << method;
      EXPECT_EQ(j["contacts"].empty(), pose == far) << method;
    }
  EXPECT_EQ(collide({"--pose-b", near, "--max-nodes", "1"})["complete"], false);
  const Json moving = collide({"--pose-b", far, "--to-pose-b", near});
  EXPECT_EQ(moving["contacts"][0]["time_of_contact"], moving["time_of_contact"]);
  EXPECT_TRUE(collide({"--pose-b", far, "--to-pose-b", near, "--first"})["intervals"].is_null());
  collide({"--pose-b", near, "--method", "idf", "--gpu"});
  collide({"--pose-b", near, "--method", "depth", "--maps", "fragments", "--directions", "2"});
}

TEST_F(SchemaOfVerbs, Distance) {
  build_ball({"--points", "200"});
  for (const char* file : {"ball.obj", "ball.isotact"})
    for (const char* pose : {"xyz=0.05,0,0", "xyz=0.5,0,0"})
      for (const char* reach : {"0.001", "10"})
        checked("distance", {"distance", file, "ball.obj", "--pose-b", pose, "--resolution", "32",
                             "--max-distance", reach});
}

TEST_F(SchemaOfVerbs, Certify) {
  checked("make", {"make", "box", "-o", "box.obj"});
  const auto certify = [&](std::vector<std::string> more, int exit_code = 0) {
    more.insert(more.begin(), "certify");
    return checked("certify", more, exit_code);
  };
  const std::vector<std::string> pair{"box.obj", "box.obj", "-o", "p", "--pose-a"};
  for (const char* pose : {"xyz=0,3,0", "xyz=0,0.5,0"}) {
    std::vector<std::string> words = pair;
    words.emplace_back(pose);
    certify(words);
    certify({"--check", "p"});
    words.insert(words.end(), {"--clearance", "3"});
    EXPECT_EQ(certify(words, 1)["status"], "closer");
  }
}

TEST_F(SchemaOfVerbs, SimulateAlsoInTrouble) {
  const std::string scene = R"({"isotact_scene": 1, "world": {"step": 0.002},
    "run": {"steps": 5, "frames_per_second": 50}, "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "stone", "position": [0, 0.11, 0],
     "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 100}}]})";
  write("drop.json", scene);
  EXPECT_TRUE(checked("simulate", {"simulate", "drop.json"})["output"].is_null());
  EXPECT_EQ(checked("simulate", {"simulate", "drop.json", "-o", "d.csv"})["output"], "d.csv");
  std::string hard = scene;
  hard.replace(hard.find("\"step\": 0.002"), 13,
               "\"step\": 0.01, \"impacts\": \"off\", \"solve\": \"explicit\"");
  hard.replace(hard.find("\"bodies\""), 8,
               "\"materials\": {\"hard\": {\"stiffness\": 1e13}}, \"bodies\"");
  hard.replace(hard.find("\"steps\": 5"), 10, "\"steps\": 60");
  for (const char* body : {"\"name\": \"ground\"", "\"name\": \"stone\""})
    hard.replace(hard.find(body), std::string(body).size(),
                 std::string(body) + ", \"material\": \"hard\"");
  write("hard.json", hard);
  EXPECT_EQ(checked("simulate", {"simulate", "hard.json"}, 1)["trouble"]["body"], "stone");
}

TEST_F(SchemaOfVerbs, View) {
  const std::string viewer = checked("doctor", {"doctor"})["viewer"].get<std::string>();
  if (viewer.rfind("built in", 0) != 0) GTEST_SKIP() << viewer;
  write("still.json", R"({"isotact_scene": 1, "run": {"steps": 1}, "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "stone", "position": [0, 0.2, 0],
     "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 100}}]})");
  // It serves until it is told to stop.
  const ProgramRun r = run_program(
      "/usr/bin/timeout", {kSlowBuild ? "40" : "4", ISOTACT_TOOL, "view", "still.json", "--json"},
      folder_.path().string());
  EXPECT_GT(parse_output(r.out)["bytes"], 10000) << r.err;
}

TEST_F(SchemaOfVerbs, Bench) {
  // A copy of the tool with pretended programs beside it.
  const fs::path tool = folder_.path() / "isotact";
  fs::copy_file(ISOTACT_TOOL, tool);
  const auto add = [&](const std::string& name, const std::string& script) {
    write("bench_" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder_.path() / ("bench_" + name), fs::perms::owner_all);
  };
  add("none", "exit 3");
  add("own", R"(echo '{"mine": 3, "failures": []}')");
  const auto bench = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"bench", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(tool.string(), words, folder_.path().string());
  };
  EXPECT_EQ(parse_output(bench({"--list"}).out)["benchmarks"], Json({"none", "own"}));
  const ProgramRun r = bench({});
  EXPECT_EQ(r.exit_code, 1);
  const Json programs = parse_output(r.out)["programs"];
  EXPECT_TRUE(programs["none"]["error"].is_string());
  EXPECT_TRUE(programs["own"]["report"].is_null());
  EXPECT_EQ(programs["own"]["mine"], 3);
}

}  // namespace
}  // namespace isotact
