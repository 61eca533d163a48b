// The pack of two bodies against what it was made of.
#include "isotact/scene/pack/pair_pack.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/geometry/primitives/primitives.h"

#include "scene/pack/open_pack.h"

namespace isotact {
namespace {

PairPackSource make_pair_of_balls() {
  PairPackSource source;
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 4});
  const Shape shape = Shape::from_mesh(ball, {.field = {.resolution = 24}, .points = 100});
  source.a = {.name = "<b>\xff", .surface = ball, .shape = shape};
  source.b = {.name = "ball", .surface = ball};
  for (const double time : {0.0, 0.5, 1.0}) {
    source.times.push_back(time);
    source.a.poses.push_back({rotation_about({0, 1, 0}, time), {time, 0.1, 1.0 / 3}});
    source.b.poses.emplace_back();
  }
  source.paths.push_back({{1, 2, 3}, {4, 5, 6}, 0.25F, 0.5F});
  source.report = R"({"status": "free", "contacts": []})";
  source.still = "nobody asked";
  return source;
}

TEST(PairPack, HasBothBodiesOnTheirWays) {
  const PairPackSource source = make_pair_of_balls();
  const OpenPack pack = open_pack(write_pair_pack(source));
  ASSERT_EQ(pack.json["bodies"].size(), 2U);
  EXPECT_EQ(pack.json["bodies"][0]["name"], "<b>\xef\xbf\xbd");
  EXPECT_EQ(pack.doubles(pack.json["frames"]["times"]), source.times);
  EXPECT_EQ(pack.wholes(pack.json["frames"]["moving"]), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(pack.json["shapes"][0]["shell"].is_object());
  EXPECT_TRUE(pack.json["shapes"][1]["shell"].is_null());
  const Json& pair = pack.json["pair"];
  EXPECT_EQ(pair["report"]["status"], "free");
  EXPECT_EQ(pair["still"], "nobody asked");
  EXPECT_TRUE(pair["query"].is_null());
  EXPECT_EQ(pack.floats(pair["paths"]), (std::vector<float>{1, 2, 3, 4, 5, 6, 0.25F, 0.5F}));
  // Poses are there to the bit.
  const std::vector<double> poses = pack.doubles(pair["poses"]);
  ASSERT_EQ(poses.size(), 42U);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& [q, t] = source.a.poses[k];
    const std::vector<double> expected{t.x, t.y, t.z, q.w, q.x, q.y, q.z, 0, 0, 0, 1, 0, 0, 0};
    const auto begin = poses.begin() + static_cast<std::ptrdiff_t>(14 * k);
    EXPECT_EQ(std::vector<double>(begin, begin + 14), expected);
  }
}

TEST(PairPack, CarriesAQuery) {
  PairPackSource source = make_pair_of_balls();
  source.query = PairPackQuery{.module = {std::byte{1}, std::byte{2}},
                               .asset_a = {std::byte{3}},
                               .request = {.margin = 0.5, .roles = Roles::kPointsOfB}};
  const OpenPack pack = open_pack(write_pair_pack(source));
  const Json& query = pack.json["pair"]["query"];
  EXPECT_EQ(pack.get<std::uint8_t>(query["module"], "u8"), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(pack.get<std::uint8_t>(query["assets"][0], "u8"), std::vector<std::uint8_t>{3});
  EXPECT_TRUE(pack.get<std::uint8_t>(query["assets"][1], "u8").empty());
  EXPECT_EQ(pack.doubles(query["request"]), (std::vector<double>{0.5, 2, 4, 1, -1, 0, 1e7}));
}

TEST(PairPack, RefusesWhatIsNoReportOrTooLarge) {
  PairPackSource source = make_pair_of_balls();
  EXPECT_THROW(write_pair_pack(source, {.most_bytes = 1000}), Error);
  source.report = "status: free";
  EXPECT_THROW(write_pair_pack(source), Error);
}

}  // namespace
}  // namespace isotact
