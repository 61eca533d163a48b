// Bodies that just touch: the normal of the touch, and how long it takes.
#include <algorithm>
#include <numbers>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

Shape touch_shape_of(const TriangleMesh& mesh) {
  return Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = 400});
}

// Bodies that touch without overlapping once took minutes, and then all memory.
TEST(ExactTouch, BodiesThatJustTouchAreQuick) {
  const Shape box = touch_shape_of(make_box({})),
              ball = touch_shape_of(make_sphere({.frequency = 8}));
  Random random(test_seed(25));
  for (int i = 0; i < test_cases(unless_slow(400, 40)); ++i) {
    SCOPED_TRACE(i);
    // Faces, edges and corners that meet, exactly or almost.
    Vec3 at{1, random.uniform() * 2 - 1, random.uniform() * 2 - 1};
    if (i % 4 > 0) at.y = i % 4 == 1 ? 0 : 1;
    if (i % 3 == 0) at.z = 1;
    if (i % 5 == 0) at.x += 1e-6 * (random.uniform() - 0.5);
    const Pose in_world = random_pose(random, i % 7);
    const Pose of_b = i % 2 == 0 ? Pose{} : in_world;
    const Shape& other = i % 8 < 5 ? box : ball;
    const DistanceResult r =
        distance(box, of_b * Pose{.translation = at}, other, of_b, {.max_tests = 20'000});
    ASSERT_TRUE(r.exact);
    EXPECT_EQ(r.status, DistanceStatus::kDone) << at.x - 1 << " " << at.y << " " << at.z;
    if (&other == &box) {
      ASSERT_NEAR(r.distance, at.x - 1, 1e-5);
    }
  }
}

// How a body rests on a plane.
enum class Rest { kFace, kEdge, kCorner };

Quat random_rest(Rest rest, Random& random) {
  if (rest == Rest::kCorner) return random.rotation();
  constexpr double kQuarter = std::numbers::pi / 2;
  const auto turn = [](const Vec3& axis, double angle) { return rotation_about(axis, angle); };
  const Quat face = turn({1, 0, 0}, kQuarter * double(random.below(4))) *
                    turn({0, 0, 1}, kQuarter * double(random.below(4)));
  const double roll = rest == Rest::kEdge ? kQuarter * (0.2 + 0.6 * random.uniform()) : 0;
  return turn({0, 1, 0}, 6 * random.uniform()) * (turn({1, 0, 0}, roll) * face);
}

// The mesh turned so, with its lowest point, edge or face, or the highest, around a point.
Pose place_at(const TriangleMesh& mesh, const Quat& rotation, double side, const Vec3& at) {
  double most = -1e9;
  for (const Vec3f& p : mesh.positions)
    most = std::max(most, side * rotate(rotation, to_double(p)).y);
  Vec3 sum{};
  int count = 0;
  for (const Vec3f& p : mesh.positions) {
    const Vec3 x = rotate(rotation, to_double(p));
    if (side * x.y < most - 1e-9) continue;
    sum += x;
    ++count;
  }
  return {rotation, at - sum * (1.0 / count)};
}

// Bodies that touch without depth once had any axis as normal, of any sign.
TEST(ExactTouch, NormalsAreThoseOfTheTouch) {
  const TriangleMesh boxes[] = {make_box({}),
                                make_box({.size_x = 0.7F, .size_y = 1.5F, .size_z = 0.4F})};
  const TriangleMesh balls[] = {make_shape("sphere"), make_sphere({.frequency = 5})};
  const Shape of_boxes[] = {touch_shape_of(boxes[0]), touch_shape_of(boxes[1])};
  const Shape of_balls[] = {touch_shape_of(balls[0]), touch_shape_of(balls[1])};
  Random random(test_seed(31));
  CollideScratch scratch;
  int touching = 0;
  for (int i = 0; i < test_cases(unless_slow(600, 60)); ++i) {
    SCOPED_TRACE(i);
    const bool edges = i % 5 == 0, is_ball = i % 5 == 1, two_balls = i % 5 == 2;
    const std::size_t k = random.below(2), l = random.below(2);
    const TriangleMesh &upper = is_ball || two_balls ? balls[k] : boxes[k],
                       &lower = two_balls ? balls[l] : boxes[l];
    const Shape& a = is_ball || two_balls ? of_balls[k] : of_boxes[k];
    const Shape& b = two_balls ? of_balls[l] : of_boxes[l];
    const Rest rest = edges ? Rest::kEdge : is_ball ? Rest::kCorner : static_cast<Rest>(i % 3);
    Quat of_upper = random_rest(rest, random);
    Quat of_lower = random_rest(edges ? Rest::kEdge : Rest::kFace, random);
    if (two_balls) {  // corner on corner
      const auto to_y = [&](const TriangleMesh& mesh, double side) {
        const Vec3 p =
            normalized(to_double(mesh.positions[random.next_u32() % mesh.positions.size()]));
        const Vec3 to{0, side, 0}, c = cross(p, to);
        return normalized(Quat{1 + dot(p, to), c.x, c.y, c.z});
      };
      of_upper = to_y(upper, -1);
      of_lower = to_y(lower, 1);
    }
    const Vec3 off =
        edges || two_balls ? Vec3{} : Vec3{0.1 * random.uniform(), 0, 0.1 * random.uniform()};
    Pose of_a = place_at(upper, of_upper, -1, off), of_b = place_at(lower, of_lower, 1, {});
    Vec3 up{0, 1, 0};
    if (i % 2 == 0) {
      const Pose world = random_pose(random, i % 7);
      of_a = world * of_a;
      of_b = world * of_b;
      up = rotate(world.rotation, up);
    }
    const bool swap = random.below(2) == 0;
    const auto measure = [&](const auto& call) {
      return swap ? call(b, of_b, a, of_a) : call(a, of_a, b, of_b);
    };
    if (swap) up = -up;
    const DistanceResult r = measure([](const auto&... bodies) { return distance(bodies...); });
    ASSERT_TRUE(r.exact);
    ASSERT_NEAR(r.distance, 0, 1e-6);
    ASSERT_LT(length(r.contact.normal - up), 1e-3)
        << r.distance << ' ' << r.touching << ' ' << r.contact.normal.x << ' ' << r.contact.normal.y
        << ' ' << r.contact.normal.z;
    const CollideResult any = measure([&](const auto&... bodies) {
      return collide(bodies..., CollideRequest{.mode = Mode::kAny}, scratch);
    });
    if (any.contacts.empty()) continue;
    ++touching;
    ASSERT_LT(length(any.contacts[0].normal - up), 1e-3);
    const CollideResult all =
        measure([&](const auto&... bodies) { return collide(bodies..., {}); });
    for (const Contact& c : all.contacts) EXPECT_GT(dot(c.normal, up), 0.9);
  }
  EXPECT_GT(touching, unless_slow(200, 20));
}

// A unit cube, and a ball or a cube at its side.
TEST(ExactTouch, NormalsOfAxisParallelTouches) {
  const Shape cube = touch_shape_of(make_box({})), ball = touch_shape_of(make_shape("sphere"));
  for (const Shape* other : {&cube, &ball})
    for (std::size_t k = 0; k < 3; ++k)
      for (const double sign : {1.0, -1.0}) {
        Vec3 at{};
        at[k] = sign;
        const DistanceResult r = distance(cube, {}, *other, {.translation = at});
        ASSERT_TRUE(r.touching);
        ASSERT_LT(length(r.contact.normal + at), 1e-6) << k << sign;
        const CollideResult any =
            collide(cube, {}, *other, {.translation = at}, {.mode = Mode::kAny});
        ASSERT_EQ(any.status, CollideStatus::kContact);
        ASSERT_LT(length(any.contacts[0].normal + at), 1e-6) << k << sign;
      }
}

}  // namespace
}  // namespace isotact
