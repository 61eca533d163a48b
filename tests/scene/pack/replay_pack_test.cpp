// The run pack against the replay that it was made of, with a reader of its own.
#include "isotact/scene/pack/replay_pack.h"

#include <sstream>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "scene/pack/open_pack.h"
#include "scene/run/small_scenes.h"

namespace isotact {
namespace {

// A run of the small scene, once for all tests.
const SceneRun& small_run() {
  static const SceneRun* const run = [] {
    auto* made = new SceneRun(parse_scene(kSmallScene, "small.json"), {.keep_paths = true});
    made->go(200);
    return made;
  }();
  return *run;
}
const OpenPack& small_pack() {
  static const OpenPack pack = open_pack(write_run_pack(small_run()));
  return pack;
}

TEST(RunPack, HasAllBodiesAndFrames) {
  const OpenPack& pack = small_pack();
  const Replay& replay = small_run().replay();
  EXPECT_EQ(pack.json["version"], 1);
  EXPECT_EQ(pack.json["scene"]["name"], "small");
  ASSERT_EQ(pack.json["bodies"].size(), replay.bodies.size());
  EXPECT_EQ(pack.json["bodies"][0]["kind"], "static");
  EXPECT_EQ(pack.json["bodies"][0]["endless"], true);
  EXPECT_EQ(pack.json["bodies"][1]["shape"], nullptr);
  EXPECT_EQ(pack.json["bodies"][2]["colour"], "#a07040");
  EXPECT_NEAR(pack.json["bodies"][4]["mass"].get<double>(), 2, 1e-12);
  EXPECT_EQ(pack.json["shapes"].size(), replay.meshes.size());
  const std::vector<double> times = pack.doubles(pack.json["frames"]["times"]);
  ASSERT_EQ(times.size(), replay.frames.size());
  for (std::size_t f = 0; f < times.size(); ++f) EXPECT_EQ(times[f], replay.frames[f].time);
}

TEST(RunPack, PosesAreWithinTheStatedError) {
  const OpenPack& pack = small_pack();
  const Replay& replay = small_run().replay();
  const Json& frames = pack.json["frames"];
  const auto moving = pack.wholes(frames["moving"]);
  const auto places = pack.floats(frames["places"]);
  const auto turns = pack.shorts(frames["turns"]);
  EXPECT_EQ(moving.size(), 5U);  // two cubes, the ball, the pusher, the door
  ASSERT_EQ(places.size(), 3 * moving.size() * replay.frames.size());
  ASSERT_EQ(turns.size(), 4 * moving.size() * replay.frames.size());
  for (std::size_t f = 0; f < replay.frames.size(); ++f)
    for (std::size_t k = 0; k < moving.size(); ++k) {
      const Pose& pose = replay.frames[f].poses[moving[k]];
      const std::size_t row = f * moving.size() + k;
      const Vec3f place = to_float(pose.translation);
      EXPECT_EQ(places[3 * row], place.x);
      EXPECT_EQ(places[3 * row + 2], place.z);
      const double q[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(turns[4 * row + i] / 32767.0, q[i], 1.6e-5);
    }
}

TEST(RunPack, ContactsAreThoseOfTheReplay) {
  const OpenPack& pack = small_pack();
  const Json& contacts = pack.json["contacts"];
  const auto first = pack.wholes(contacts["first"]);
  const auto bodies = pack.wholes(contacts["bodies"]);
  const auto depths = pack.floats(contacts["depths"]);
  const auto forces = pack.floats(contacts["forces"]);
  const auto moments = pack.floats(contacts["moments"]);
  const auto& frames = small_run().replay().frames;
  ASSERT_EQ(first.size(), frames.size() + 1);
  EXPECT_GT(depths.size(), 10U);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    ASSERT_EQ(first[f + 1] - first[f], frames[f].contacts.size());
    for (std::size_t k = 0; k < frames[f].contacts.size(); ++k) {
      const ReplayContact& c = frames[f].contacts[k];
      const std::size_t row = first[f] + k;
      EXPECT_EQ(bodies[2 * row], c.a);
      EXPECT_EQ(bodies[2 * row + 1], c.b);
      EXPECT_EQ(depths[row], static_cast<float>(c.depth));
      EXPECT_EQ(forces[3 * row + 1], static_cast<float>(c.force.y));
      EXPECT_EQ(moments[3 * row + 2], static_cast<float>(c.moment.z));
    }
  }
}

TEST(RunPack, TheLogIsTheCsv) {
  const OpenPack& pack = small_pack();
  std::istringstream csv(write_log_csv(small_run().replay()));
  std::string line, cell;
  std::getline(csv, line);
  std::vector<std::vector<double>> columns;
  std::istringstream names(line);
  while (std::getline(names, cell, ','))
    columns.push_back(pack.doubles(pack.json["log"]["columns"][cell]));
  EXPECT_EQ(pack.json["log"]["columns"].size(), columns.size());
  std::size_t row = 0;
  for (; std::getline(csv, line); ++row) {
    std::istringstream cells(line);
    for (std::size_t c = 0; std::getline(cells, cell, ','); ++c) {
      const double expected = std::stod(cell);
      ASSERT_NEAR(columns[c].at(row), expected, 1e-3 * std::abs(expected)) << line;
    }
  }
  EXPECT_EQ(columns[0].size(), row);
}

TEST(RunPack, LongLogsKeepEveryNthRow) {
  const OpenPack pack = open_pack(write_run_pack(small_run(), {.most_rows = 60}));
  EXPECT_EQ(pack.json["log"]["every"], 4);
  const auto steps = pack.doubles(pack.json["log"]["columns"]["step"]);
  ASSERT_EQ(steps.size(), 50U);
  EXPECT_EQ(steps[1], 5);
}

TEST(RunPack, TheFieldOfASliceIsTheField) {
  const OpenPack& pack = small_pack();
  const Json& field = pack.json["shapes"][0]["field"];
  ASSERT_TRUE(field.is_object());
  const auto values = pack.shorts(field["values"]);
  const auto nodes = field["nodes"].get<std::array<int, 3>>();
  const auto origin = field["origin"].get<std::array<double, 3>>();
  const double spacing = field["spacing"], scale = field["scale"];
  ASSERT_EQ(values.size(), static_cast<std::size_t>(nodes[0] * nodes[1] * nodes[2]));
  const BrickField& truth = *small_run().world().body_settings(2).shape->field();
  Random random(5);
  int inside = 0;
  for (int n = 0; n < 2000; ++n) {
    std::array<int, 3> at{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      at[axis] = nodes[axis] / 3 + static_cast<int>(random.below(static_cast<std::uint32_t>(
                                       nodes[axis] / 3)));  // where the body is
    const Vec3 p{origin[0] + spacing * at[0], origin[1] + spacing * at[1],
                 origin[2] + spacing * at[2]};
    const int value =
        values[static_cast<std::size_t>((at[2] * nodes[1] + at[1]) * nodes[0] + at[0])];
    EXPECT_NEAR(value * scale, truth.value(p), scale * 0.51);
    inside += value < 0 ? 1 : 0;
  }
  EXPECT_GT(inside, 100);
  EXPECT_LT(inside, 1900);
}

TEST(RunPack, SpheresHoldThePointsAndBricksTheSurface) {
  const OpenPack& pack = small_pack();
  const Json& shape = pack.json["shapes"][0];
  const auto points = pack.floats(shape["shell"]["positions"]);
  ASSERT_EQ(points.size(), 300U);
  for (const Json& level : shape["shell"]["levels"]) {
    const auto spheres = pack.floats(level["spheres"]);
    EXPECT_EQ(pack.wholes(level["points"]).size(), spheres.size() / 4);
    for (std::size_t p = 0; p < points.size(); p += 3) {
      bool held = false;
      for (std::size_t s = 0; s < spheres.size() && !held; s += 4) {
        const float dx = points[p] - spheres[s], dy = points[p + 1] - spheres[s + 1],
                    dz = points[p + 2] - spheres[s + 2];
        held = dx * dx + dy * dy + dz * dz <= spheres[s + 3] * spheres[s + 3] * 1.0001F;
      }
      EXPECT_TRUE(held);
    }
  }
  const Json& bricks = shape["bricks"];
  const Json& last = bricks["levels"].back();
  const auto corners = pack.get<std::uint16_t>(last["corners"], "u16");
  const auto origin = bricks["origin"].get<std::array<double, 3>>();
  const double side = last["side"];
  for (std::size_t p = 0; p < points.size(); p += 3) {
    bool held = false;
    for (std::size_t b = 0; b < corners.size() && !held; b += 3) {
      held = true;
      for (std::size_t i = 0; i < 3; ++i) {
        const double at = (static_cast<double>(points[p + i]) - origin[i]) / side - corners[b + i];
        held = held && at > -1e-6 && at < 1 + 1e-6;
      }
    }
    EXPECT_TRUE(held);
  }
}

TEST(RunPack, SoftVerticesAreWithinTheStatedError) {
  const SceneRun& run = small_run();
  Replay replay = run.replay();
  replay.soft_bodies.push_back({.name = "jelly", .triangles = {{0, 1, 2}}, .colour = {1, 2, 3}});
  Random random(8);
  for (ReplayFrame& frame : replay.frames) {
    frame.soft.emplace_back();
    for (int v = 0; v < 3; ++v)
      frame.soft[0].push_back(to_float(random.in_box({-1, 0, 5}, {1, 0.25, 5})));
  }
  const OpenPack pack = open_pack(write_run_pack({run.scene(), run.world(), replay}));
  const Json& soft = pack.json["soft_bodies"][0];
  EXPECT_EQ(soft["name"], "jelly");
  EXPECT_EQ(soft["colour"], "#010203");
  const auto lower = soft["lower"].get<std::array<double, 3>>();
  const auto size = soft["size"].get<std::array<double, 3>>();
  const auto places = pack.get<std::uint16_t>(soft["places"], "u16");
  ASSERT_EQ(places.size(), replay.frames.size() * 9);
  EXPECT_GT(size[0], 1);
  std::size_t at = 0;
  for (const ReplayFrame& frame : replay.frames)
    for (const Vec3f& p : frame.soft[0])
      for (std::size_t axis = 0; axis < 3; ++axis, ++at)
        EXPECT_NEAR(lower[axis] + size[axis] * places[at] / 65535, static_cast<double>(p[axis]),
                    size[axis] / 131070 * 1.01 + 1e-6);
}

TEST(RunPack, TheSameBytesForAnyNumberOfThreads) {
  std::vector<std::byte> first;
  for (const int threads : {1, 2, 7}) {
    SceneRun run(parse_scene(kSmallScene, "small.json"),
                 {.threads = {threads}, .keep_log = false, .keep_paths = true});
    run.go(60);
    const std::vector<std::byte> pack = write_run_pack(run, {.threads = {threads}});
    if (first.empty())
      first = pack;
    else
      EXPECT_TRUE(first == pack) << threads;
  }
}

TEST(RunPack, TooLargeIsToldWithWhatHelps) {
  try {
    write_run_pack(small_run(), {.most_bytes = 10000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("frames_per_second"), std::string::npos)
        << error.what();
  }
}

TEST(RunPack, NamesThatAreNoTextDoNotStopIt) {
  const SceneRun& run = small_run();
  Replay replay = run.replay();
  replay.bodies[0].name = "</script><script>\xff\"";
  const OpenPack pack = open_pack(write_run_pack({run.scene(), run.world(), replay}));
  EXPECT_EQ(pack.json["bodies"][0]["name"], "</script><script>\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace isotact
