#include "isotact/queries/intersection/intersection_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

namespace isotact {
namespace {

// KGM's Algorithm 1, line by line: sorted sides in, sorted numbers out.
std::array<double, 3> as_printed(double b1, double b2, double b3, double n) {
  const double a2 = b2 / b1;
  const double a3 = b3 / b1;
  double r1 = n / std::cbrt(a2 * a3);
  double r2 = r1 * a2;
  const double r3 = std::max(std::round(r1 * a3), 1.0);
  double q = std::sqrt(r1 * r2 * r3 / (n * n * n));
  r1 = r1 / q;
  r2 = std::max(std::round(r2 / q), 1.0);
  q = r1 * r2 * r3 / (n * n * n);
  r1 = std::max(std::round(r1 / q), 1.0);
  return {r1, r2, r3};
}

TEST(DistributeSamples, IsThePrintedAlgorithm) {
  Random random(1);
  int uneven = 0;
  for (int i = 0; i < 20000; ++i) {
    std::array<double, 3> side{};
    for (double& s : side)
      s = std::ldexp(random.uniform(0.5, 1), static_cast<int>(random.below(12)));
    const int n = 1 + static_cast<int>(random.below(32));
    const auto found = distribute_samples({side[0], side[1], side[2]}, n);
    std::array<std::size_t, 3> order{0, 1, 2};
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return side[a] > side[b]; });
    const auto printed = as_printed(side[order[0]], side[order[1]], side[order[2]], n);
    for (std::size_t k = 1; k < 3; ++k) EXPECT_EQ(found[order[k]], printed[k]) << i;
    // Its last line is n^3 / (r2 r3), by a longer way: halves are rounded either way there.
    const double exact = 1.0 * n * n * n / (printed[1] * printed[2]);
    const bool half = std::abs(exact - std::floor(exact) - 0.5) < 1e-9;
    EXPECT_NEAR(found[order[0]], printed[0], half ? 1 : 0) << i;
    uneven += found[0] != found[1] ? 1 : 0;
  }
  EXPECT_GT(uneven, 15000);
}

TEST(DistributeSamples, KeepsItsPromiseForEveryBox) {
  const std::array<double, 9> sides{0, 1e-300, 1e-30, 1e-9, 1e-3, 0.3, 1, 1000, 1e30};
  for (const double x : sides)
    for (const double y : sides)
      for (const double z : sides)
        for (const int n : {1, 2, 3, 5, 20, 32}) {
          const auto found = distribute_samples({x, y, z}, n);
          const double product = static_cast<double>(found[0]) * static_cast<double>(found[1]) *
                                 static_cast<double>(found[2]);
          EXPECT_LE(product, 2.0 * n * n * n) << x << " " << y << " " << z << " " << n;
          EXPECT_GE(product, 0.5 * ((x > 0 || y > 0 || z > 0) ? n * n * n : 1));
          EXPECT_TRUE(found[0] >= 1 && found[1] >= 1 && found[2] >= 1);
          EXPECT_TRUE(x > 0 || found[0] == 1);
          EXPECT_TRUE(y > 0 || found[1] == 1);
          EXPECT_TRUE(z > 0 || found[2] == 1);
        }
  EXPECT_EQ(distribute_samples({0, 0, 0}, 20), (std::array<std::int32_t, 3>{1, 1, 1}));
  EXPECT_EQ(distribute_samples({0, 2, 0}, 4), (std::array<std::int32_t, 3>{1, 64, 1}));
  EXPECT_EQ(distribute_samples({1, 1, 1}, 20), (std::array<std::int32_t, 3>{20, 20, 20}));
}

Pose pose_of(const Vec3& where, const Quat& turn = {}) { return {turn, where}; }

IdfPlan plan_of(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                const IdfSettings& settings = {}) {
  IdfPlan plan;
  const IdfPair pairs[] = {{0, 1}};
  plan_intersections(shapes, bodies, pairs, settings, plan, {});
  return plan;
}

TEST(IntersectionPlan, TheBoxIsWhatBothHaveInCommon) {
  const IdfShape shapes[] = {IdfShape{SphereField{.radius = 1}},
                             IdfShape{BoxField{.half_size = {0.5, 0.5, 0.5}}}};
  const IdfBody bodies[] = {{0, pose_of({100, 0, 0})}, {1, pose_of({101.3, 0.2, 0}), 2}};
  const IdfPlan plan = plan_of(shapes, bodies, {.samples = 10, .margin = 0.01});
  ASSERT_EQ(plan.records.size(), 1U);
  const IdfPairRecord& r = plan.records[0];
  // x from 100.3 to 101, y from -0.8 to 1, z from -1 to 1; each side grown on both ends.
  EXPECT_NEAR(plan.world_from_pair[0].x, 100.65, 1e-9);
  EXPECT_NEAR(plan.world_from_pair[0].y, 0.1, 1e-9);
  EXPECT_NEAR(r.box_min[0], -0.36F, 1e-6F);
  EXPECT_NEAR(r.box_min[1], -0.91F, 1e-6F);
  EXPECT_NEAR(r.box_min[2], -1.01F, 1e-6F);
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_NEAR(r.cell_size[axis] * static_cast<float>(r.cells[axis]), -2 * r.box_min[axis], 1e-6F);
  EXPECT_EQ(plan.particle_end[0], static_cast<std::uint32_t>(r.cells[0] * r.cells[1] * r.cells[2]));
  // The middle of the pair in the box's own metres.
  EXPECT_NEAR(r.b_from_pair[3], (100.65F - 101.3F) / 2, 1e-5F);
  EXPECT_NEAR(r.b_from_pair[0], 0.5F, 1e-7F);
  EXPECT_GE(r.cell_cull, r.half_diagonal);
  EXPECT_LT(r.cell_cull, r.half_diagonal * 1.001F);
}

TEST(IntersectionPlan, BodiesApartHaveNoParticles) {
  const IdfShape shapes[] = {IdfShape{SphereField{}}};
  const IdfBody bodies[] = {{0, pose_of({0, 0, 0})}, {0, pose_of({3, 0, 0})}};
  const IdfPlan plan = plan_of(shapes, bodies);
  EXPECT_EQ(plan.particle_end[0], 0U);
  EXPECT_EQ(plan.records[0].cells[0], 0);
}

// Random tilted planes: no point of the body behind the plane is left out of the box.
TEST(IntersectionPlan, APlaneCutsTheBoxOfTheOther) {
  Random random(5);
  double kept = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3 normal = i < 6 ? Vec3{} : random.unit_vector();
    PlaneField plane{.normal = normal, .offset = random.uniform(-0.4, 0.4)};
    if (i < 6) plane.normal[static_cast<std::size_t>(i % 3)] = i < 3 ? 1 : -1;
    const IdfShape shapes[] = {IdfShape{plane}, IdfShape{BoxField{}}};
    const Vec3 away = random.in_box({-1e4, -1e4, -1e4}, {1e4, 1e4, 1e4});
    const IdfBody bodies[] = {{0, pose_of(away, random.rotation()), 3}, {1, pose_of(away)}};
    const IdfPlan plan = plan_of(shapes, bodies, {.margin = 0.001});
    const IdfPairRecord& r = plan.records[0];
    double volume = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      volume *= -2 * static_cast<double>(r.box_min[axis]) * (r.cells[axis] > 0 ? 1 : 0);
    kept += volume;
    for (int k = 0; k < 50; ++k) {
      const Vec3 p = random.in_box({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5});
      const Vec3 in_plane = rotate(conjugate(bodies[0].world_from_body.rotation), p) / 3.0;
      if (plane.value(in_plane) > 0) continue;
      ASSERT_GT(r.cells[0], 0);
      const Vec3 in_pair = p + away - plan.world_from_pair[0];
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_LE(std::abs(in_pair[axis]), -static_cast<double>(r.box_min[axis]) + 1e-6);
      // The record's rows find the same value.
      double value = -plane.offset;
      for (std::size_t row = 0; row < 3; ++row) {
        double coordinate = static_cast<double>(r.a_from_pair[4 * row + 3]);
        for (std::size_t column = 0; column < 3; ++column)
          coordinate += static_cast<double>(r.a_from_pair[4 * row + column]) * in_pair[column];
        value += plane.normal[row] * coordinate;
      }
      EXPECT_NEAR(value, plane.value(in_plane), 1e-6);
    }
  }
  EXPECT_LT(kept / 300, 0.95);
  EXPECT_GT(kept / 300, 0.3);
}

TEST(IntersectionPlan, RefusesWhatMakesNoSense) {
  const IdfShape shapes[] = {IdfShape{SphereField{}}, IdfShape{PlaneField{}}};
  const IdfBody good[] = {{0, {}}, {0, {}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(plan_of(shapes, good, {.samples = 0}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.samples = 33}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.margin = nan}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.margin = -1}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.max_steps = 0}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.relaxation = 2.5}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.resolution = nan}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.max_contacts = 65}), Error);
  EXPECT_THROW(plan_of(shapes, good, {.sampling = IdfSampling::kLowDiscrepancy}), Error);
  const auto refuses = [&](const IdfBody& a, const IdfBody& b) {
    const IdfBody bodies[] = {a, b};
    EXPECT_THROW(plan_of(shapes, bodies), Error);
  };
  refuses({2, {}}, {0, {}});
  refuses({0, pose_of({nan, 0, 0})}, {0, {}});
  refuses({0, pose_of({}, {0, 0, 0, 0})}, {0, {}});
  refuses({0, {}, 0}, {0, {}});
  refuses({0, {}, nan}, {0, {}});
  refuses({1, {}}, {1, {}});
  EXPECT_THROW(plan_of(shapes, std::span(good, 1)), Error);
  EXPECT_THROW(IdfShape{SphereField{.radius = -1}}, Error);
  EXPECT_THROW(IdfShape{TorusField{.radius = nan}}, Error);
}

TEST(CollectHits, SortsAndPlacesBothPoints) {
  const IdfBody bodies[] = {{0, {}}, {0, {}}};
  const IdfPair pairs[] = {{0, 1}, {1, 0}};
  IdfPlan plan;
  plan.records.resize(2);
  plan.world_from_pair = {{10, 0, 0}, {0, 20, 0}};
  plan.particle_end = {8, 16};
  IdfHit hits[] = {{.position = {1, 0, 0},
                    .particle = 5,
                    .normal = {0, 1, 0},
                    .depth = 0.5F,
                    .pair = 1,
                    .on_a = 0,
                    .unused = {}},
                   {.position = {2, 0, 0},
                    .particle = 7,
                    .normal = {0, 1, 0},
                    .depth = 0.25F,
                    .pair = 0,
                    .on_a = 1,
                    .unused = {}},
                   {.position = {3, 0, 0},
                    .particle = 3,
                    .normal = {0, 1, 0},
                    .depth = 0.25F,
                    .pair = 0,
                    .on_a = 1,
                    .unused = {}},
                   {.position = {4, 0, 0},
                    .particle = 9,
                    .normal = {0, 1, 0},
                    .depth = 0.75F,
                    .pair = 0,
                    .on_a = 0,
                    .unused = {}}};
  IdfScratch scratch;
  IdfResult result;
  collect_hits(hits, bodies, pairs, plan, {.keep_seeds = true}, result, scratch);
  ASSERT_EQ(result.contacts.size(), 4U);
  EXPECT_EQ(result.first_contact, (std::vector<std::uint32_t>{0, 3, 4}));
  EXPECT_EQ(result.arrived, (std::vector<std::uint32_t>{3, 1}));
  EXPECT_EQ(result.contacts[0].point, 9U);
  EXPECT_EQ(result.contacts[1].point, 3U);
  EXPECT_EQ(result.contacts[2].point, 7U);
  EXPECT_EQ(result.contacts[1].point_on_a, (Vec3{13, 0, 0}));
  EXPECT_EQ(result.contacts[1].point_on_b, (Vec3{13, 0.25, 0}));
  EXPECT_EQ(result.contacts[1].sampled_by, Body::kA);
  EXPECT_EQ(result.contacts[3].point_on_b, (Vec3{1, 20, 0}));
  EXPECT_EQ(result.contacts[3].point_on_a, (Vec3{1, 19.5, 0}));
  EXPECT_EQ(result.contacts[3].position, (Vec3{1, 19.75, 0}));
  EXPECT_EQ(scratch.seeds.size(), 2U);
  EXPECT_EQ(scratch.seeds.at(1U).in_a.size(), 3U);
  collect_hits({}, bodies, pairs, plan, {.keep_seeds = true}, result, scratch);
  EXPECT_TRUE(result.contacts.empty() && scratch.seeds.empty());
}

}  // namespace
}  // namespace isotact
