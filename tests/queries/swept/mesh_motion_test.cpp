// First contacts and closest approaches of triangles along motions, beside static distances at many
// times.
#include "isotact/queries/swept/mesh_motion.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/primitives/primitives.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

// A rod, a sheet, a needle far from its own origin, and bodies with holes.
std::vector<TriangleMesh> odd_meshes() {
  TriangleMesh far_away = make_box({.size_x = 0.01, .size_y = 1, .size_z = 0.01});
  for (Vec3f& p : far_away.positions) p = p + Vec3f{20, -30, 10};
  return {make_shape("gear", {}), make_knot({.segments = 96, .tube_segments = 8}),
          make_box({.size_x = 1, .size_y = 0.001, .size_z = 1}),
          make_box({.size_x = 2, .size_y = 0.02, .size_z = 0.02}), far_away};
}

struct Body {
  TriangleMesh mesh;
  Bvh bvh;
  Vec3 middle;
  double size;
};

std::vector<Body> odd_bodies() {
  std::vector<Body> bodies;
  for (TriangleMesh& mesh : odd_meshes()) {
    const Aabb box = to_double(bounds(mesh));
    Bvh bvh(mesh);
    bodies.push_back({std::move(mesh), std::move(bvh), center(box), length(extent(box))});
  }
  return bodies;
}

// Poses whose bodies' middles are near the origin.
BodyMotion motion_near_origin(Random& random, const Body& body, double furthest, bool rests) {
  BodyMotion motion;
  for (Pose* pose : {&motion.from, &motion.to}) {
    pose->rotation = random.rotation();
    pose->translation = random.in_unit_ball() * furthest - rotate(pose->rotation, body.middle);
  }
  motion.pivot = body.middle;
  return rests ? at_rest(motion.from) : motion;
}

// The true map's distance; for maps that are no rotations all pairs of triangles.
double distance_at(const Body& a, const Body& b, const ShellMotion& motion, double time) {
  const AffineMap map = compute_map(motion, time);
  TriangleMesh moved = b.mesh;
  if (motion.model == MotionModel::kConstantRates || motion.model == MotionModel::kScrew)
    return compute_mesh_distance(a.bvh, b.bvh, {to_quat(map.linear), map.offset}).distance;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.mesh.triangles.size(); ++i) {
    const auto ca = corners(a.mesh, i);
    for (std::size_t k = 0; k < b.mesh.triangles.size(); ++k) {
      const auto cb = corners(b.mesh, k);
      least = std::min(least,
                       compute_triangle_distance(
                           {to_double(ca[0]), to_double(ca[1]), to_double(ca[2])},
                           {map * to_double(cb[0]), map * to_double(cb[1]), map * to_double(cb[2])})
                           .distance);
    }
  }
  return least;
}

TEST(MeshMotion, FirstContactsAreNeverLate) {
  const std::vector<Body> bodies = odd_bodies();
  Random random(test_seed(31));
  int free = 0, touching = 0, at_start = 0;
  for (int i = 0; i < test_cases(unless_slow(120, 24)); ++i) {
    SCOPED_TRACE(i);
    const Body &a = bodies[random.next_u32() % bodies.size()],
               &b = bodies[random.next_u32() % bodies.size()];
    const double far = 0.6 * (a.size + b.size);
    ShellMotion motion{.shell = motion_near_origin(random, b, far, false),
                       .field = motion_near_origin(random, a, far, i % 2 == 0)};
    motion.model = i % 3 == 0 ? MotionModel::kScrew : MotionModel::kConstantRates;
    const double world = i % 5 == 0 ? 1e4 : 0;  // metres from the origin
    for (BodyMotion* of : {&motion.shell, &motion.field})
      for (Pose* pose : {&of->from, &of->to}) pose->translation += Vec3{world, -world, 0};
    const MeshContactResult r = find_first_contact(a.bvh, b.bvh, motion);
    const double end = std::min(1.0, r.time);
    if (end > 0) {
      // Refined at minima, and just before the contact.
      const auto at = [&](double time) { return distance_at(a, b, motion, time); };
      const double last = r.status == MeshMotionStatus::kFree ? 1 : end * (1 - 1e-12);
      const Sampled least = sample_distance(at, 0, last, unless_slow(200, 40));
      ASSERT_GT(least.least, 0) << "at " << least.time << " of " << end;
      for (const double share : {1e-3, 1e-5, 1e-7, 1e-9}) ASSERT_GT(at(last * (1 - share)), 0);
    }
    if (r.status == MeshMotionStatus::kFree) {
      ASSERT_GT(distance_at(a, b, motion, 1), 0);
      ++free;
      continue;
    }
    ASSERT_EQ(r.status, MeshMotionStatus::kContact);
    ASSERT_LE(r.latest_time - r.time, 1e-6);
    ASSERT_LE(distance_at(a, b, motion, r.latest_time), 1e-12 * far + 4e-14 * (200 + 4 * world));
    ASSERT_NEAR(length(r.normal), 1, 1e-9);
    if (r.time == 0)
      ++at_start;
    else
      ++touching;
  }
  EXPECT_GT(free, unless_slow(20, 2));
  EXPECT_GT(touching, unless_slow(8, 1));
  EXPECT_GE(at_start, unless_slow(2, 0));
}

TEST(MeshMotion, MarginsAreKept) {
  const std::vector<Body> bodies = odd_bodies();
  Random random(test_seed(32));
  int touching = 0;
  for (int i = 0; i < test_cases(unless_slow(100, 24)); ++i) {
    SCOPED_TRACE(i);
    const Body &a = bodies[random.next_u32() % bodies.size()],
               &b = bodies[random.next_u32() % bodies.size()];
    const double far = 0.6 * (a.size + b.size), margin = 0.05 * a.size * random.uniform();
    const ShellMotion motion{.shell = motion_near_origin(random, b, far, false),
                             .field = motion_near_origin(random, a, far, false),
                             .model = MotionModel::kConstantRates};
    const MeshContactResult r = find_first_contact(a.bvh, b.bvh, motion, {.margin = margin});
    const double end = std::min(1.0, r.time);
    if (end > 0) {
      const auto at = [&](double time) { return distance_at(a, b, motion, time); };
      const double last = r.status == MeshMotionStatus::kFree ? 1 : end * (1 - 1e-12);
      ASSERT_GT(sample_distance(at, 0, last, 60).least, margin * (1 - 1e-12));
    }
    if (r.status == MeshMotionStatus::kFree) continue;
    ASSERT_LE(distance_at(a, b, motion, r.latest_time), margin + 1e-12 * far + 1e-11);
    ++touching;
  }
  EXPECT_GT(touching, unless_slow(30, 3));
}

TEST(MeshMotion, AllModelsAreKnown) {
  const Body a{make_box({}), Bvh(make_box({})), {}, 1.8};
  const Body& b = a;
  Random random(test_seed(33));
  int touching = 0, free = 0;
  for (int i = 0; i < test_cases(unless_slow(200, 40)); ++i) {
    SCOPED_TRACE(i);
    ShellMotion motion{.shell = motion_near_origin(random, b, 2, false),
                       .field = motion_near_origin(random, a, 2, false),
                       .model = kAllModels[i % 4]};
    motion.degree = 2 + i % 5;
    const MeshContactResult r = find_first_contact(a.bvh, b.bvh, motion);
    const MeshApproachResult near = find_closest_approach(a.bvh, b.bvh, motion);
    const double end = std::min(1.0, r.time);
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= 100; ++k) {
      const double distance = distance_at(a, b, motion, k / 100.0);
      least = std::min(least, distance);
      if (k < 100 && end > 0) {
        ASSERT_GT(distance_at(a, b, motion, end * k / 100), 0);
      }
    }
    ASSERT_LE(near.lower_bound, least);
    ASSERT_LE(near.lower_bound, near.distance);
    if (r.status == MeshMotionStatus::kContact) {
      ++touching;
      ASSERT_EQ(near.lower_bound, 0);
      ASSERT_LE(distance_at(a, b, motion, r.latest_time), 1e-11);
    } else {
      ++free;
      ASSERT_GT(near.distance, 0);
    }
  }
  EXPECT_GT(touching, unless_slow(60, 10));
  EXPECT_GT(free, unless_slow(30, 5));
}

TEST(MeshMotion, ClosestApproachesAreBounded) {
  const std::vector<Body> bodies = odd_bodies();
  Random random(test_seed(34));
  int free = 0;
  for (int i = 0; i < test_cases(unless_slow(60, 12)); ++i) {
    SCOPED_TRACE(i);
    const Body &a = bodies[random.next_u32() % bodies.size()],
               &b = bodies[random.next_u32() % bodies.size()];
    const double size = a.size + b.size;
    const ShellMotion motion{.shell = motion_near_origin(random, b, size, false),
                             .field = motion_near_origin(random, a, size, i % 2 == 0),
                             .model = MotionModel::kConstantRates};
    const double tolerance = i % 4 == 0 ? 1e-3 * size : 0;
    const MeshApproachResult r =
        find_closest_approach(a.bvh, b.bvh, motion, {.tolerance = tolerance});
    const double least =
        sample_distance([&](double time) { return distance_at(a, b, motion, time); }, 0, 1,
                        unless_slow(200, 40))
            .least;
    const double allowed = tolerance > 0 ? tolerance : 0x1.1p-20 * size + 1e-7;
    ASSERT_LE(r.lower_bound, least);
    ASSERT_LE(r.distance, least + allowed);
    ASSERT_LE(r.distance - r.lower_bound, allowed * (1 + 1e-9) + 1e-12);
    ASSERT_NEAR(distance_at(a, b, motion, r.time), r.distance, allowed);
    ASSERT_NEAR(length(r.point_on_a - r.point_on_b), r.distance, 1e-9 * size);
    if (r.distance > 0) ++free;
  }
  EXPECT_GT(free, unless_slow(15, 2));
}

// A piston slides in a cylinder with a hundredth of a millimetre to spare, and turns.
TEST(MeshMotion, APistonInItsCylinder) {
  const TriangleMesh piston = make_cylinder({.radius = 0.0499, .height = 0.05, .segments = 64});
  TriangleMesh bore = make_cylinder({.radius = 0.05, .height = 0.3, .segments = 64});
  std::erase_if(bore.triangles, [&](const Triangle& t) {  // open at both ends
    const float y = bore.positions[t[0]].y;
    return bore.positions[t[1]].y == y && bore.positions[t[2]].y == y;
  });
  const Bvh inner(piston), outer(bore);
  const ShellMotion slide{
      .shell = {.from = {.translation = {0, -0.1, 0}}, .to = {.translation = {0, 0.1, 0}}},
      .model = MotionModel::kConstantRates};
  const MeshApproachResult r = find_closest_approach(outer, inner, slide);
  EXPECT_FALSE(r.gave_up);
  const double gap = 0.0001 * std::cos(kPi / 64);
  EXPECT_NEAR(r.distance, gap, 2e-7);
  EXPECT_GE(r.lower_bound, gap - 1e-6);
  EXPECT_EQ(find_first_contact(outer, inner, slide).status, MeshMotionStatus::kFree);
  // Corners of the piston pass the middles of the bore's sides, which are nearer.
  ShellMotion turning = slide;
  turning.shell.to.rotation = rotation_about({0, 1, 0}, 0.8);
  const double middle = 0.05 * std::cos(kPi / 64) - 0.0499;
  const MeshApproachResult turned = find_closest_approach(outer, inner, turning);
  EXPECT_FALSE(turned.gave_up);
  EXPECT_LE(turned.lower_bound, std::max(middle, 0.0) + 1e-7);
  EXPECT_EQ(find_first_contact(outer, inner, turning).status,
            middle > 0 ? MeshMotionStatus::kFree : MeshMotionStatus::kContact);
}

TEST(MeshMotion, HalfSpacesAreKnown) {
  const std::vector<Body> bodies = odd_bodies();
  Random random(test_seed(36));
  int touching = 0, free = 0, at_start = 0;
  for (int i = 0; i < test_cases(unless_slow(400, 60)); ++i) {
    SCOPED_TRACE(i);
    const Body& b = bodies[random.next_u32() % bodies.size()];
    const PlaneField plane{normalized(random.in_unit_ball()), random.uniform() - 0.5};
    const Body origin{{}, {}, {}, 0};
    const ShellMotion motion{
        .shell = motion_near_origin(random, b, b.size, false),
        .field = motion_near_origin(random, origin, b.size, i % 2 == 0),
        .model = i % 3 == 0 ? MotionModel::kScrew : MotionModel::kConstantRates};
    const auto height_at = [&](double time) {
      const AffineMap map = compute_map(motion, time);
      double least = std::numeric_limits<double>::infinity();
      for (const Vec3f& p : b.mesh.positions)
        least = std::min(least, plane.value(map * to_double(p)));
      return least;
    };
    const double margin = i % 4 == 0 ? 0.1 * b.size : 0;
    const MeshContactResult r = find_first_contact(plane, b.bvh, motion, {.margin = margin});
    const MeshApproachResult near = find_closest_approach(plane, b.bvh, motion);
    const double end = std::min(1.0, r.time);
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= 200; ++k) {
      least = std::min(least, height_at(k / 200.0));
      if (k < 200 && end > 0) {
        ASSERT_GT(height_at(end * k / 200), margin * (1 - 1e-9));
      }
    }
    ASSERT_LE(near.lower_bound, std::max(least, 0.0));
    const double allowed = 0x1.1p-20 * b.size + 1e-7;
    ASSERT_LE(near.distance, std::max(least, 0.0) + allowed);
    ASSERT_LE(near.distance - near.lower_bound, allowed);
    ++(r.time == 0 ? at_start : r.status == MeshMotionStatus::kContact ? touching : free);
    if (r.status == MeshMotionStatus::kContact) {
      ASSERT_LE(height_at(r.latest_time), margin + 1e-10);
    }
  }
  EXPECT_GT(touching, unless_slow(40, 5));
  EXPECT_GT(free, unless_slow(40, 5));
  EXPECT_GT(at_start, unless_slow(40, 5));
}

TEST(MeshMotion, LimitsLeaveBounds) {
  const Body a{make_shape("gear", {}), Bvh(make_shape("gear", {})), {}, 0.2};
  Random random(test_seed(35));
  for (int i = 0; i < 60; ++i) {
    const ShellMotion motion{.shell = motion_near_origin(random, a, 0.2, false),
                             .field = motion_near_origin(random, a, 0.2, false),
                             .model = MotionModel::kConstantRates};
    const MeshContactResult whole = find_first_contact(a.bvh, a.bvh, motion);
    const MeshApproachResult near = find_closest_approach(a.bvh, a.bvh, motion);
    for (std::uint64_t most : {1U, 10U, 100U, 1000U}) {
      const MeshContactResult r = find_first_contact(a.bvh, a.bvh, motion, {.max_tests = most});
      if (r.status == MeshMotionStatus::kGaveUp) {
        ASSERT_LE(r.time, whole.latest_time);
      } else {
        ASSERT_EQ(r.status, whole.status);
      }
      const MeshApproachResult cut =
          find_closest_approach(a.bvh, a.bvh, motion, {.max_tests = most});
      ASSERT_LE(cut.lower_bound, near.distance);
      ASSERT_GE(cut.distance, near.lower_bound);
    }
  }
}

// Of b's origin in a's frame, in long double; both have the same rotation.
double truth_along_x(const Pose& a, const Pose& b) {
  const auto w = static_cast<long double>(a.rotation.w), x = static_cast<long double>(a.rotation.x),
             y = static_cast<long double>(a.rotation.y), z = static_cast<long double>(a.rotation.z);
  const long double scale = 1 / (w * w + x * x + y * y + z * z);
  const auto between = [&](std::size_t k) {
    return static_cast<long double>(b.translation[k]) - static_cast<long double>(a.translation[k]);
  };
  // The first column of the rotation matrix.
  return static_cast<double>(scale * ((w * w + x * x - y * y - z * z) * between(0) +
                                      2 * (x * y + w * z) * between(1) +
                                      2 * (x * z - w * y) * between(2)) -
                             1);
}

// Ten thousand kilometres from the origin, positions are rounded by nanometres. What touches in
// truth is never free, though computed distances may say so.
TEST(MeshMotion, RoundingNeverHidesAContact) {
  const Bvh box(make_box({}));
  Random random(test_seed(37));
  int touching = 0, hidden = 0;
  for (int i = 0; i < test_cases(unless_slow(2000, 200)); ++i) {
    SCOPED_TRACE(i);
    const Vec3 world = random.unit_vector() * 1e7;
    Pose a{.rotation = random.rotation(), .translation = world};
    Pose b = a;
    b.translation +=
        rotate(a.rotation, {1 + random.uniform(-4e-9, 1e-9), random.uniform(-0.5, 0.5), 0.1});
    const double gap = truth_along_x(a, b);
    if (gap > 0) continue;
    ++touching;
    const ShellMotion rests{.shell = at_rest(b), .field = at_rest(a), .model = kAllModels[i % 4]};
    const AffineMap map = compute_map(rests, 0.5);
    if (compute_mesh_distance(box, box, {to_quat(map.linear), map.offset}).distance > 0) ++hidden;
    ASSERT_EQ(find_first_contact(box, box, rests).status, MeshMotionStatus::kContact) << gap;
    ASSERT_EQ(find_closest_approach(box, box, rests).lower_bound, 0);
  }
  EXPECT_GT(touching, unless_slow(500, 50));
  EXPECT_GT(hidden, unless_slow(20, 1));
}

// A wall of small triangles across x.
TriangleMesh make_wall(float x, std::uint32_t count) {
  TriangleMesh wall;
  const auto at = [&](std::uint32_t i) {
    return 8 * (static_cast<float>(i) / static_cast<float>(count) - 0.5F);
  };
  for (std::uint32_t i = 0; i <= count; ++i)
    for (std::uint32_t k = 0; k <= count; ++k) wall.positions.push_back({x, at(i), at(k)});
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t first = i * (count + 1) + k, next = first + count + 1;
      wall.triangles.push_back({first, next, next + 1});
      wall.triangles.push_back({first, next + 1, first + 1});
    }
  return wall;
}

// A body turns about the origin, and its furthest corner dips into a wall by very little, at the
// top of its arc. The chord of the arc stays free. The time is known: cos(angle) = wall / radius.
TEST(MeshMotion, CornersThatGrazeAWallAreFound) {
  Random random(test_seed(97));
  int found = 0;
  for (int i = 0; i < unless_slow(1500, 200); ++i) {
    TriangleMesh body = i % 3 == 0 ? make_box({})
                        : i % 3 == 1
                            ? make_sphere({.frequency = 2 + static_cast<int>(random.below(4))})
                            : make_box({.size_x = 1, .size_y = 0.1, .size_z = 0.1});
    const Pose place{random.rotation(), random.in_unit_ball()};
    for (Vec3f& p : body.positions) p = to_float(transform_point(place, to_double(p)));
    const double turn = random.uniform(0.05, 2.5), begin = random.uniform(-kPi, kPi);
    const auto height_at = [&](const Vec3f& p, double time) {
      const double angle = begin + turn * time;
      return std::cos(angle) * double{p.x} - std::sin(angle) * double{p.y};
    };
    double furthest = 0, at_ends = 0;
    for (const Vec3f& p : body.positions) {
      at_ends = std::max({at_ends, height_at(p, 0), height_at(p, 1)});
      const double top = std::remainder(-std::atan2(double{p.y}, double{p.x}) - begin, 2 * kPi);
      if (top > 0 && top < turn)
        furthest = std::max(furthest, std::hypot(double{p.x}, double{p.y}));
    }
    const auto x = static_cast<float>(furthest - std::pow(10, random.uniform(-6, -1.5)));
    if (!(at_ends < double{x} - 1e-6) || furthest <= double{x}) continue;
    double truth = 2;
    for (const Vec3f& p : body.positions) {
      const double radius = std::hypot(double{p.x}, double{p.y});
      if (radius <= double{x}) continue;
      const double reached = -std::acos(double{x} / radius),
                   angle = std::remainder(std::atan2(double{p.y}, double{p.x}) + begin, 2 * kPi);
      truth = std::min(truth, (reached - angle + (angle > reached ? 2 * kPi : 0)) / turn);
    }
    const BodyMotion turning{.from = {.rotation = rotation_about({0, 0, 1}, begin)},
                             .to = {.rotation = rotation_about({0, 0, 1}, begin + turn)}};
    BodyMotion resting{}, back = turning;
    for (Pose* pose : {&back.from, &back.to}) pose->rotation = conjugate(pose->rotation);
    const Bvh of_body(body), of_wall(make_wall(x, 1 + random.below(24)));
    SCOPED_TRACE(i);
    for (const bool wall_turns : {false, true}) {
      const MeshContactResult r =
          wall_turns
              ? find_first_contact(
                    of_body, of_wall,
                    {.shell = back, .field = resting, .model = MotionModel::kConstantRates})
              : find_first_contact(
                    of_wall, of_body,
                    {.shell = turning, .field = resting, .model = MotionModel::kConstantRates});
      ASSERT_EQ(r.status, MeshMotionStatus::kContact) << wall_turns;
      ASSERT_LE(r.time, truth + 1e-9);
      ASSERT_GE(r.latest_time, truth - 1e-6);
      ASSERT_GE(r.time, truth - 1e-5);
    }
    ++found;
  }
  EXPECT_GT(found, unless_slow(300, 10));
}

TEST(MeshMotion, BadInputIsAnError) {
  const Bvh box(make_box({}));
  ShellMotion bad;
  bad.shell.from.translation.x = std::nan("");
  EXPECT_THROW(find_first_contact(box, box, bad), Error);
  EXPECT_THROW(find_closest_approach(box, box, bad), Error);
  EXPECT_THROW(find_first_contact(box, box, {}, {.margin = -1}), Error);
  EXPECT_THROW(find_first_contact(box, box, {}, {.time_tolerance = 0}), Error);
  EXPECT_THROW(find_closest_approach(box, box, {}, {.tolerance = -1}), Error);
  EXPECT_EQ(find_first_contact(box, Bvh{}, {}).status, MeshMotionStatus::kFree);
  EXPECT_TRUE(std::isinf(find_closest_approach(Bvh{}, box, {}).lower_bound));
}

}  // namespace
}  // namespace isotact
