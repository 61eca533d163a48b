// The animated GLB against the rules of glTF 2.0, with a reader of its own.
#include "isotact/scene/replay/replay.h"

#include <cstring>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isotact/geometry/io/gltf.h"
#include "isotact/scene/run/run.h"

#include "scene/run/small_scenes.h"

namespace isotact {
namespace {

using Json = nlohmann::json;

struct Glb {
  Json json;
  std::vector<std::byte> binary;

  std::vector<float> floats(std::size_t accessor) const {
    const Json& a = json["accessors"][accessor];
    const Json& view = json["bufferViews"][a["bufferView"].get<std::size_t>()];
    std::vector<float> all(view["byteLength"].get<std::size_t>() / 4);
    std::memcpy(all.data(), binary.data() + view["byteOffset"].get<std::size_t>(), all.size() * 4);
    return all;
  }
};

std::uint32_t u32_at(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

Glb open(const std::vector<std::byte>& bytes) {
  EXPECT_EQ(u32_at(bytes, 0), 0x46546c67U);  // "glTF"
  EXPECT_EQ(u32_at(bytes, 4), 2U);
  EXPECT_EQ(u32_at(bytes, 8), bytes.size());
  const std::size_t length = u32_at(bytes, 12);
  EXPECT_EQ(length % 4, 0U);
  EXPECT_EQ(u32_at(bytes, 16), 0x4e4f534aU);  // "JSON"
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 20;
  Glb glb{Json::parse(text, text + length), {}};
  EXPECT_EQ(u32_at(bytes, 20 + length) + 28 + length, bytes.size());
  EXPECT_EQ(u32_at(bytes, 24 + length), 0x004e4942U);  // "BIN"
  glb.binary.assign(bytes.begin() + static_cast<std::ptrdiff_t>(28 + length), bytes.end());
  return glb;
}

void check_accessors(const Glb& glb) {
  const std::map<std::string, std::size_t> parts{{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}};
  ASSERT_EQ(glb.json["buffers"].size(), 1U);
  EXPECT_EQ(glb.json["buffers"][0]["byteLength"], glb.binary.size());
  for (const Json& a : glb.json["accessors"]) {
    const Json& view = glb.json["bufferViews"][a["bufferView"].get<std::size_t>()];
    const auto offset = view["byteOffset"].get<std::size_t>();
    const auto length = view["byteLength"].get<std::size_t>();
    EXPECT_EQ(offset % 4, 0U);
    EXPECT_GT(length, 0U);
    EXPECT_LE(offset + length, glb.binary.size());
    EXPECT_EQ(a["count"].get<std::size_t>() * parts.at(a["type"]) * 4, length);
    EXPECT_TRUE(a["componentType"] == 5126 || a["componentType"] == 5125);
  }
}

void check_meshes(const Glb& glb) {
  for (const Json& mesh : glb.json["meshes"])
    for (const Json& p : mesh["primitives"]) {
      const auto positions = p["attributes"]["POSITION"].get<std::size_t>();
      const Json& a = glb.json["accessors"][positions];
      const std::vector<float> values = glb.floats(positions);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        float least = values[axis], most = values[axis];
        for (std::size_t i = axis; i < values.size(); i += 3) {
          least = std::min(least, values[i]);
          most = std::max(most, values[i]);
        }
        EXPECT_EQ(a["min"][axis].get<float>(), least);
        EXPECT_EQ(a["max"][axis].get<float>(), most);
      }
      EXPECT_LT(p["material"].get<std::size_t>(), glb.json["materials"].size());
      const Json& indices = glb.json["accessors"][p["indices"].get<std::size_t>()];
      EXPECT_EQ(indices["componentType"], 5125);
      EXPECT_EQ(indices["count"].get<std::size_t>() % 3, 0U);
    }
}

void check_animation(const Glb& glb) {
  const Json& animation = glb.json["animations"][0];
  std::set<std::pair<std::size_t, std::string>> targets;
  for (const Json& channel : animation["channels"]) {
    const Json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
    const std::string path = channel["target"]["path"];
    const auto node = channel["target"]["node"].get<std::size_t>();
    ASSERT_LT(node, glb.json["nodes"].size());
    EXPECT_TRUE(targets.insert({node, path}).second) << "a target twice";
    const auto input = sampler["input"].get<std::size_t>();
    const auto output = sampler["output"].get<std::size_t>();
    const std::vector<float> times = glb.floats(input), values = glb.floats(output);
    EXPECT_EQ(glb.json["accessors"][input]["min"][0].get<float>(), times.front());
    EXPECT_EQ(glb.json["accessors"][input]["max"][0].get<float>(), times.back());
    EXPECT_GE(times.front(), 0);
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GT(times[i], times[i - 1]);
    const std::size_t width = path == "rotation" ? 4 : 3;
    ASSERT_EQ(values.size(), width * times.size());
    if (path != "rotation") continue;
    for (std::size_t i = 0; i < values.size(); i += 4) {
      double square = 0;
      for (std::size_t k = 0; k < 4; ++k)
        square += static_cast<double>(values[i + k]) * values[i + k];
      EXPECT_NEAR(square, 1, 1e-5);
    }
  }
}

TEST(ReplayGlb, FollowsTheRules) {
  SceneRun run(parse_scene(kSmallScene, "small.json"));
  run.go(100);
  const std::vector<std::byte> bytes = write_replay_glb(run.replay());
  const Glb glb = open(bytes);
  EXPECT_EQ(glb.json["asset"]["version"], "2.0");
  EXPECT_EQ(glb.json["nodes"].size(), 7U);
  EXPECT_EQ(glb.json["nodes"][2]["name"], "cube 1");
  EXPECT_FALSE(glb.json["nodes"][1].contains("mesh"));  // the post
  check_accessors(glb);
  check_meshes(glb);
  check_animation(glb);
  // Two cubes, the ball, the pusher and the door move; ground and post do not.
  EXPECT_EQ(glb.json["animations"][0]["channels"].size(), 10U);
  // The numbers of a shape that many bodies have are there once.
  std::set<std::size_t> shapes;
  for (const Json& mesh : glb.json["meshes"])
    shapes.insert(mesh["primitives"][0]["attributes"]["POSITION"].get<std::size_t>());
  EXPECT_EQ(shapes.size(), 3U);
}

// Our reader shows the first frame.
TEST(ReplayGlb, IsReadBackAtRest) {
  SceneRun run(parse_scene(kSmallScene, "small.json"));
  run.go(20);
  const Replay& replay = run.replay();
  const LoadedMesh read = read_gltf(write_replay_glb(replay), "small.glb", false, {});
  std::size_t triangles = 0;
  for (const ReplayBody& body : replay.bodies)
    if (body.mesh) triangles += replay.meshes[*body.mesh].triangles.size();
  EXPECT_EQ(read.mesh.triangles.size(), triangles);
  EXPECT_TRUE(read.warnings.empty());
}

TEST(ReplayGlb, WritesWhatStandsStill) {
  const Scene still = parse_scene(
      R"({"isotact_scene": 1, "bodies": [{"name": "box", "kind": "static",
          "shape": {"field": "box", "size": [1, 2, 3]}}]})",
      "x");
  SceneRun run(still);
  run.go(3);
  const Glb glb = open(write_replay_glb(run.replay()));
  EXPECT_FALSE(glb.json.contains("animations"));
  check_accessors(glb);
  check_meshes(glb);
}

TEST(ReplayCsv, HasARowAStep) {
  SceneRun run(parse_scene(kSmallScene, "small.json"));
  run.go(30);
  std::istringstream lines(write_log_csv(run.replay()));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "step,time,kinetic,potential,springs,total,pairs,contacts,points,depth,broad_seconds,"
            "detection_seconds,forces_seconds,motion_seconds,impacts,substeps");
  int rows = 0;
  for (; std::getline(lines, line); ++rows)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 15);
  EXPECT_EQ(rows, 30);
}

}  // namespace
}  // namespace isotact
