// Bodies that bend in scene files, runs and replays.
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/scene/run/run.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

// A cloth that hangs by one edge over a ball, and a soft ball beside it.
const char* const kSoftScene = R"({
  "isotact_scene": 1,
  "name": "soft",
  "world": {"step": 0.002},
  "soft": {"integrator": "verlet", "cube": [[-3, -3, -3], [3, 3, 3]], "contact": true},
  "run": {"steps": 60, "frames_per_second": 50},
  "bodies": [{"name": "ball", "kind": "static", "shape": {"field": "sphere", "radius": 0.2}}],
  "soft_bodies": [
    {"name": "cloth", "shape": {"sheet": [0.8, 0.8], "cells": [8, 6]}, "mass": 0.1,
     "position": [0, 0.25, 0], "pinned": [[-0.41, 0, -0.5], [-0.39, 1, 0.5]], "margin": 0.01,
     "self_contact": true, "colour": "#aa3355",
     "material": {"stiffness": 40, "damping": 0.02, "bending": 1, "area": 0, "volume": 0,
                  "air_friction": 0.1, "max_strain": 0.2, "yield": 0, "creep": 1, "friction": 0.3}},
    {"name": "fish", "shape": {"figure": "fish", "size": 0.3}, "mass": 0.2,
     "position": [1, 0, 0], "velocity": [0, 1, 0], "angular_velocity": [0, 0, 2],
     "steering": {"speed": 0.5, "period": 0.1, "seed": 7, "wobble": 2},
     "repeat": {"count": [1, 1, 2], "spacing": [0, 0, 0.8]}}
  ]
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string soft_message(const std::string& text) {
  try {
    parse_scene(text, "soft.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SoftScene, ReadsEveryKey) {
  const Scene s = parse_scene(kSoftScene, "soft.json");
  EXPECT_EQ(s.soft.integrator, SoftIntegrator::kVerlet);
  ASSERT_TRUE(s.soft.cube);
  ASSERT_EQ(s.soft_bodies.size(), 3U);
  const SceneSoftBody& cloth = s.soft_bodies[0];
  EXPECT_EQ(std::get<SheetShape>(cloth.source).cells_z, 6);
  EXPECT_EQ(cloth.material.max_strain, 0.2);
  EXPECT_EQ(cloth.material.friction, 0.3);
  EXPECT_EQ(cloth.margin, 0.01);
  EXPECT_TRUE(cloth.self_contact);
  EXPECT_TRUE(cloth.pinned);
  const SceneSoftBody& fish = s.soft_bodies[2];
  EXPECT_EQ(fish.name, "fish 2");
  EXPECT_EQ(std::get<FigureShape>(fish.source).size, 0.3);
  EXPECT_EQ(fish.velocity.y, 1);
  ASSERT_TRUE(fish.steering);
  EXPECT_EQ(fish.steering->seed, 8U) << "copies go their own ways";
  EXPECT_EQ(fish.steering->wobble, 2);
}

TEST(SoftScene, ReadsScriptsOfVelocities) {
  const auto with = [](const std::string& keys) {
    return replaced(kSoftScene, R"({"speed": 0.5, "period": 0.1, "seed": 7, "wobble": 2})",
                    R"({"keys": )" + keys + "}");
  };
  const Scene s = parse_scene(
      with(R"([{"time": 0, "velocity": [1, 2, 3]}, {"time": 0.5, "velocity": [0, 0, 1]}])"),
      "soft.json");
  ASSERT_EQ(s.soft_bodies[1].steering->keys.size(), 2U);
  EXPECT_EQ(s.soft_bodies[1].steering->keys[0].velocity, (Vec3{1, 2, 3}));
  EXPECT_EQ(s.soft_bodies[1].steering->keys[1].time, 0.5);
  EXPECT_EQ(
      soft_message(with("[]")),
      "soft.json: soft_bodies[1].steering.keys: expected a key at least, found an array of 0");
  EXPECT_EQ(soft_message(with(R"([{"time": 1, "velocity": [1, 0, 0]},
                                  {"time": 1, "velocity": [1, 0, 0]}])")),
            "soft.json: soft_bodies[1].steering.keys[1].time: keys should be in order of time");
  EXPECT_NE(soft_message(with("[3]")).find("steering.keys[0]: expected an object"),
            std::string::npos);
}

// The story: bodies were made one by one, for minutes and ten gigabytes, before it was said that
// there are too many.
TEST(SoftScene, TooManyVerticesAreSaidAtOnce) {
  const Scene s = parse_scene(R"({"isotact_scene": 1, "soft_bodies": [
      {"name": "bike", "shape": {"figure": "bike"}, "repeat": {"count": [100, 1, 100], "spacing": [1, 1, 1]}}]})",
                              "soft.json");
  try {
    const SceneRun run(s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("20000000 are allowed"), std::string::npos);
  }
}

TEST(SoftScene, SaysWhatDoesNotFit) {
  const auto with = [](const char* from, const char* to) {
    return soft_message(replaced(kSoftScene, from, to));
  };
  EXPECT_EQ(
      with("\"cells\": [8, 6]", "\"cells\": [8]"),
      "soft.json: soft_bodies[0].shape.cells: expected two numbers of cells, found an array of 1");
  EXPECT_NE(with("\"fish\", \"size\"", "\"fisch\", \"size\"").find("did you mean fish"),
            std::string::npos);
  EXPECT_NE(with("\"mass\": 0.1", "\"mass\": 0").find("soft_bodies[0].mass"), std::string::npos);
  EXPECT_NE(with("\"stiffness\": 40", "\"stiffness\": -1").find("material.stiffness"),
            std::string::npos);
  EXPECT_NE(with("\"verlet\"", "\"euler\"").find("soft.integrator"), std::string::npos);
  EXPECT_NE(with("\"speed\": 0.5", "\"sped\": 0.5").find("steering"), std::string::npos);
  EXPECT_NE(with("\"name\": \"cloth\"", "\"name\": \"ball\"").find("another with the name 'ball'"),
            std::string::npos);
  EXPECT_NE(with("\"step\": 0.002", "\"step\": 0.002, \"engine\": \"bullet\"")
                .find("only our own world bends bodies"),
            std::string::npos);
}

TEST(SoftScene, NeedsNoOtherBodies) {
  const Scene s = parse_scene(
      R"({"isotact_scene": 1, "soft_bodies": [{"name": "pawn", "shape": {"figure": "pawn"}}]})",
      "soft.json");
  SceneRun run(s);
  EXPECT_TRUE(run.go(3));
  EXPECT_EQ(run.report().number, 3U);
  EXPECT_LT(run.report().energies.potential, 0);  // it falls
}

TEST(SoftScene, TheSameForAnyNumberOfThreads) {
  const Scene scene = parse_scene(kSoftScene, "soft.json");
  std::optional<std::uint64_t> hash;
  for (const int threads : {1, 2, 7}) {
    SceneRun run(scene, {.threads = {threads}});
    ASSERT_TRUE(run.go(step_count(scene)));
    if (!hash) hash = run.hash();
    EXPECT_EQ(run.hash(), *hash) << threads;
  }
}

TEST(SoftScene, GoesOnFromASnapshot) {
  const Scene scene = parse_scene(kSoftScene, "soft.json");
  SceneRun whole(scene), half(scene), rest(scene);
  whole.go(60);
  half.go(30);
  const std::vector<std::byte> snapshot = half.save();
  rest.restore(snapshot);
  EXPECT_EQ(rest.report().number, 30U);
  rest.go(30);
  EXPECT_EQ(rest.hash(), whole.hash());
  EXPECT_NE(half.hash(), whole.hash());

  SceneRun other(parse_scene(replaced(kSoftScene, "\"mass\": 0.2", "\"mass\": 0.3"), "soft.json"));
  EXPECT_THROW(other.restore(snapshot), Error);
  for (const std::size_t size : {std::size_t{30}, snapshot.size() - 8})
    EXPECT_THROW(rest.restore(std::span(snapshot).first(size)), Error);
}

TEST(SoftScene, PinnedVerticesStayAndOthersFall) {
  const Scene scene = parse_scene(kSoftScene, "soft.json");
  SceneRun run(scene);
  const std::vector<Vec3> before(run.soft()->positions(0).begin(), run.soft()->positions(0).end());
  run.go(30);
  const std::vector<std::uint32_t>& pinned = run.soft()->body_settings(0).pinned;
  ASSERT_EQ(pinned.size(), 7U);
  for (const std::uint32_t v : pinned) EXPECT_EQ(run.soft()->positions(0)[v], before[v]);
  EXPECT_LT(run.soft()->positions(0)[8].y, before[8].y - 0.005);
}

// ---- the replay ---------------------------------------------------------------------------------

struct Opened {
  nlohmann::json json;
  std::vector<float> binary;

  std::vector<float> floats(std::size_t accessor) const {
    const nlohmann::json& a = json["accessors"][accessor];
    const nlohmann::json& view = json["bufferViews"][a["bufferView"].get<std::size_t>()];
    const auto first = view["byteOffset"].get<std::size_t>() / 4;
    return {binary.begin() + static_cast<std::ptrdiff_t>(first),
            binary.begin() +
                static_cast<std::ptrdiff_t>(first + view["byteLength"].get<std::size_t>() / 4)};
  }
};

Opened open_glb(const std::vector<std::byte>& bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 12, 4);
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 20;
  Opened glb{nlohmann::json::parse(text, text + length), {}};
  glb.binary.resize((bytes.size() - 28 - length) / 4);
  std::memcpy(glb.binary.data(), bytes.data() + 28 + length, glb.binary.size() * 4);
  return glb;
}

// What a player shows at each keyframe is the frame of the replay.
TEST(SoftScene, TheReplayBendsByMorphTargets) {
  const Scene scene = parse_scene(kSoftScene, "soft.json");
  SceneRun run(scene);
  run.go(60);
  const Replay& replay = run.replay();
  ASSERT_EQ(replay.soft_bodies.size(), 3U);
  ASSERT_GE(replay.frames.size(), 6U);
  const Opened glb = open_glb(write_replay_glb(replay));
  const nlohmann::json& animation = glb.json["animations"][0];
  int bending = 0;
  for (const nlohmann::json& channel : animation["channels"]) {
    if (channel["target"]["path"] != "weights") continue;
    const auto node = channel["target"]["node"].get<std::size_t>();
    const std::size_t soft = node - replay.bodies.size();
    const nlohmann::json& mesh =
        glb.json["meshes"][glb.json["nodes"][node]["mesh"].get<std::size_t>()];
    const nlohmann::json& primitive = mesh["primitives"][0];
    const nlohmann::json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
    const std::vector<float> times = glb.floats(sampler["input"].get<std::size_t>());
    const std::vector<float> weights = glb.floats(sampler["output"].get<std::size_t>());
    const std::size_t targets = primitive["targets"].size();
    ASSERT_EQ(times.size(), replay.frames.size());
    ASSERT_EQ(weights.size(), times.size() * targets);
    ASSERT_EQ(mesh["weights"].size(), targets);
    const std::vector<float> first =
        glb.floats(primitive["attributes"]["POSITION"].get<std::size_t>());
    for (std::size_t f = 0; f < times.size(); ++f) {
      std::vector<float> shown = first;
      for (std::size_t t = 0; t < targets; ++t) {
        if (weights[f * targets + t] == 0) continue;
        const auto by = glb.floats(primitive["targets"][t]["POSITION"].get<std::size_t>());
        for (std::size_t i = 0; i < shown.size(); ++i) shown[i] += weights[f * targets + t] * by[i];
      }
      for (std::size_t v = 0; v < shown.size() / 3; ++v)
        ASSERT_NEAR(shown[3 * v + 1], replay.frames[f].soft[soft][v].y, 1e-6);
    }
    ++bending;
  }
  EXPECT_EQ(bending, 3);
}

// More frames than there may be targets: thinned evenly, first and last kept.
TEST(SoftScene, LongReplaysHaveFewerKeyframes) {
  Replay replay{.soft_bodies = {{.name = "triangle", .triangles = {{0, 1, 2}}}}};
  for (int i = 0; i < 1000; ++i) {
    const auto y = static_cast<float>(i);
    replay.frames.push_back({.time = i * 0.01, .soft = {{{0, y, 0}, {1, 0, 0}, {0, 0, 1}}}});
  }
  const Opened glb = open_glb(write_replay_glb(replay));
  const nlohmann::json& sampler = glb.json["animations"][0]["samplers"][0];
  const std::vector<float> times = glb.floats(sampler["input"].get<std::size_t>());
  EXPECT_EQ(times.size(), 256U);
  EXPECT_EQ(times.front(), 0);
  EXPECT_FLOAT_EQ(times.back(), 9.99F);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_GT(times[i] - times[i - 1], 0.029F);
    EXPECT_LT(times[i] - times[i - 1], 0.041F);
  }
}

}  // namespace
}  // namespace isotact
