// What is read from a run pack is what was written into it; whatever else is read is an Error.
#include "isotact/scene/pack/replay_unpack.h"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/scene/pack/replay_pack.h"

#include "scene/run/small_scenes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using Json = nlohmann::json;

// The small scene, and a soft body on top.
struct SmallRun {
  SceneRun run{parse_scene(kSmallScene, "small.json"), {.keep_paths = true}};
  Replay replay;
  std::vector<std::byte> pack;

  SmallRun() {
    run.go(150);
    replay = run.replay();
    replay.soft_bodies.push_back(
        {.name = "jelly", .triangles = {{0, 1, 2}, {1, 0, 3}}, .colour = {1, 2, 3}});
    Random random(8);
    for (ReplayFrame& frame : replay.frames) {
      frame.soft.emplace_back();
      for (int v = 0; v < 4; ++v)
        frame.soft[0].push_back(to_float(random.in_box({-1, 0, 5}, {1, 0.25, 7})));
    }
    pack = write_run_pack({run.scene(), run.world(), replay}, {.field_cells = 4});
  }
};
const SmallRun& small() {
  static const SmallRun* const made = new SmallRun;
  return *made;
}

TEST(RunUnpack, BodiesAndMeshesAreThoseOfTheReplay) {
  const RunPack run(small().pack, "small.html");
  const Replay& truth = small().replay;
  EXPECT_EQ(run.replay().name, "small");
  ASSERT_EQ(run.replay().bodies.size(), truth.bodies.size());
  for (std::size_t k = 0; k < truth.bodies.size(); ++k) {
    const ReplayBody &a = run.replay().bodies[k], &b = truth.bodies[k];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.mesh, b.mesh);
    EXPECT_EQ(a.is_endless, b.is_endless);
    EXPECT_EQ(a.colour, b.colour);
  }
  ASSERT_EQ(run.replay().meshes.size(), truth.meshes.size());
  for (std::size_t k = 0; k < truth.meshes.size(); ++k) {
    EXPECT_EQ(run.replay().meshes[k].positions, truth.meshes[k].positions);
    EXPECT_EQ(run.replay().meshes[k].triangles, truth.meshes[k].triangles);
  }
  EXPECT_EQ(run.replay().soft_bodies[0].triangles, truth.soft_bodies[0].triangles);
  EXPECT_EQ(run.replay().soft_bodies[0].colour, truth.soft_bodies[0].colour);
  EXPECT_EQ(run.view().yaw_degrees, 20);
  EXPECT_EQ(run.view().box->upper, (Vec3{1, 1, 1}));
}

TEST(RunUnpack, FramesAreWithinTheStatedError) {
  const RunPack run(small().pack, "small.html");
  const auto& frames = small().replay.frames;
  ASSERT_EQ(run.times().size(), frames.size());
  std::size_t contacts = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const ReplayFrame read = run.frame(f);
    EXPECT_EQ(read.time, frames[f].time);
    for (std::size_t k = 0; k < read.poses.size(); ++k) {
      EXPECT_LT(length(read.poses[k].translation - frames[f].poses[k].translation), 1e-6);
      const Quat q = conjugate(read.poses[k].rotation) * frames[f].poses[k].rotation;
      EXPECT_NEAR(std::abs(q.w), 1, 1e-8);
    }
    ASSERT_EQ(read.contacts.size(), frames[f].contacts.size());
    for (std::size_t k = 0; k < read.contacts.size(); ++k, ++contacts) {
      const ReplayContact &a = read.contacts[k], &b = frames[f].contacts[k];
      EXPECT_EQ(a.a, b.a);
      EXPECT_EQ(a.b, b.b);
      EXPECT_LT(length(a.position - b.position), 1e-6);
      EXPECT_LT(length(a.normal - b.normal), 5e-5);
      EXPECT_LT(length(a.force - b.force), 1e-5 * (1 + length(b.force)));
    }
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_LT(length(to_double(read.soft[0][v] - frames[f].soft[0][v])), 5e-5);
  }
  EXPECT_GT(contacts, 10U);
}

TEST(RunUnpack, TheNearestFrameIsFound) {
  const RunPack run(small().pack, "small.html");
  const auto times = run.times();
  EXPECT_EQ(run.nearest_frame(-1), 0U);
  EXPECT_EQ(run.nearest_frame(1e9), times.size() - 1);
  for (std::size_t f = 0; f + 1 < times.size(); ++f) {
    EXPECT_EQ(run.nearest_frame(times[f]), f);
    EXPECT_EQ(run.nearest_frame(0.6 * times[f] + 0.4 * times[f + 1]), f);
    EXPECT_EQ(run.nearest_frame(0.4 * times[f] + 0.6 * times[f + 1]), f + 1);
  }
}

// The pack with its JSON changed.
std::vector<std::byte> edit(const std::function<void(Json&)>& change) {
  const std::vector<std::byte>& pack = small().pack;
  std::uint64_t size = 0;
  std::memcpy(&size, pack.data() + 8, 8);
  const auto* text = reinterpret_cast<const char*>(pack.data()) + 16;
  Json json = Json::parse(text, text + size);
  change(json);
  std::string changed = json.dump();
  changed.resize((changed.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = changed.size();
  std::vector<std::byte> out(16 + changed.size());
  std::memcpy(out.data(), pack.data(), 8);
  std::memcpy(out.data() + 8, &length, 8);
  std::memcpy(out.data() + 16, changed.data(), changed.size());
  out.insert(out.end(), pack.begin() + static_cast<std::ptrdiff_t>(16 + size), pack.end());
  return out;
}

std::string message_of(const std::vector<std::byte>& pack) {
  try {
    const RunPack run(pack, "bad.html");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunUnpack, WhatDoesNotFitIsToldWithItsPath) {
  EXPECT_EQ(message_of(edit([](Json&) {})), "");
  const auto expect = [](const char* what, const std::function<void(Json&)>& change) {
    const std::string message = message_of(edit(change));
    EXPECT_NE(message.find(what), std::string::npos) << message << " / " << what;
    EXPECT_EQ(message.find("bad.html: "), 0U) << message;
  };
  expect("version", [](Json& j) { j["version"] = 2; });
  expect("frames", [](Json& j) { j.erase("frames"); });
  expect("frames.times", [](Json& j) { j["frames"]["times"][2] = 0; });
  expect("frames.times", [](Json& j) { j["frames"]["times"] = "none"; });
  expect("frames.places: ends behind", [](Json& j) { j["frames"]["places"][1] = 1 << 30; });
  expect("frames.places: ends behind", [](Json& j) { j["frames"]["places"][2] = 1e15; });
  expect("frames.places[1]", [](Json& j) { j["frames"]["places"][1] = -8; });
  expect("frames.places[2]", [](Json& j) { j["frames"]["places"][2] = 1e300; });
  expect("expected an array of f32", [](Json& j) { j["frames"]["places"][0] = "f64"; });
  expect("frames.first_places", [](Json& j) { j["bodies"].erase(5); });
  expect("bodies[0].shape", [](Json& j) { j["bodies"][0]["shape"] = 99; });
  expect("bodies[0].colour", [](Json& j) { j["bodies"][0]["colour"] = "red"; });
  expect("bodies[1]: is a plane", [](Json& j) { j["bodies"][1]["endless"] = true; });
  expect("contacts.first", [](Json& j) { j["contacts"]["depths"][2] = 0; });
  expect("soft_bodies[0].places", [](Json& j) { j["soft_bodies"][0]["places"][2] = 4; });
  expect("scene.view.zoom", [](Json& j) { j["scene"]["view"]["zoom"] = 0; });
  // Two arrays of the same bytes could grow beyond all memory.
  expect("shares bytes", [](Json& j) {
    const Json shape = j["shapes"][0];
    for (int k = 0; k < 2000; ++k) j["shapes"].push_back(shape);
  });
}

TEST(RunUnpack, WhatIsCutShortOrBrokenIsAnErrorOrARun) {
  const std::vector<std::byte>& pack = small().pack;
  std::uint64_t json = 0;
  std::memcpy(&json, pack.data() + 8, 8);
  for (std::size_t size = 0; size < 16 + json; size += unless_slow(97U, 997U))
    EXPECT_NE(message_of({pack.begin(), pack.begin() + static_cast<std::ptrdiff_t>(size)}), "");
  Random random(4);
  int refused = 0;
  const int tries = unless_slow(1500, 150);
  for (int k = 0; k < tries; ++k) {
    std::vector<std::byte> broken = pack;
    for (int n = 0; n < 3; ++n)
      broken[random.below(static_cast<std::uint32_t>(k % 2 == 0 ? 16 + json : broken.size()))] =
          static_cast<std::byte>(random.below(256));
    try {
      const RunPack run(broken, "broken.html");
      for (std::size_t f = 0; f < run.times().size(); f += 7)
        EXPECT_EQ(run.frame(f).poses.size(), run.replay().bodies.size());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, tries / 4);
  EXPECT_LT(refused, tries);
}

}  // namespace
}  // namespace isotact
