#include "isotact/queries/depth/depth_map.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/self_intersection.h"

#include "depth_oracle.h"
#include "support/slow_build.h"

namespace isotact::test {
namespace {

constexpr DepthSettings kSmall{.width = 48, .height = 48};

// A mesh with what it takes to be drawn.
struct Drawn {
  TriangleMesh mesh;
  DepthMesh part = make_depth_mesh(mesh);

  explicit Drawn(TriangleMesh of) : mesh(std::move(of)) {}
  DepthElement at(const Pose& pose, std::uint32_t id = 0, bool closed = true) const {
    return make_depth_element(part, pose, id, closed);
  }
};

DepthResult detect(const Drawn& object, const Vec3& direction, const Pose& world_from_object,
                   const std::vector<DepthElement>& environment, const DepthSettings& settings) {
  const std::vector<DepthElement> parts = {object.at({})};
  const DepthView view = make_depth_view(to_double(bounds(object.mesh)), direction);
  const DepthMap map = draw_depth_map(parts, view, settings);
  return detect_by_depth(map, world_from_object, environment, settings);
}

TEST(DepthMap, TheViewHoldsTheBoxFromEverySide) {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    Aabb box;
    extend(box, random.in_box({-3, -3, -3}, {3, 3, 3}));
    if (trial % 7 != 0) extend(box, random.in_box({-3, -3, -3}, {3, 3, 3}));
    const Vec3 direction = trial % 5 == 0 ? Vec3{0, 0, -1} : random.unit_vector();
    const DepthView view = make_depth_view(box, direction * random.uniform(1e-3, 1e3));
    EXPECT_NEAR(length(transform_vector(view.object_from_view, {0, 0, 1}) - direction), 0, 1e-12);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p{(corner & 1) != 0 ? box.lower.x : box.upper.x,
                   (corner & 2) != 0 ? box.lower.y : box.upper.y,
                   (corner & 4) != 0 ? box.lower.z : box.upper.z};
      const Vec3 seen = transform_point(inverse(view.object_from_view), p);
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_LT(std::abs(seen[axis]), view.half_size[axis]);
    }
  }
  EXPECT_THROW(make_depth_view({}, {0, 0, 1}), Error);
  EXPECT_THROW(make_depth_view({{0, 0, 0}, {1, 1, 1}}, {0, 0, 0}), Error);
  EXPECT_THROW(make_depth_view({{0, 0, 0}, {1, 1, 1}}, {0, std::nan(""), 0}), Error);
}

TEST(DepthMap, BallsMeetAsTheirFormulaSays) {
  const Drawn ball(make_sphere({.radius = 0.5, .frequency = 12}));
  const Drawn other(make_sphere({.radius = 0.3, .frequency = 12}));
  const double facets = 0.01;  // how much smaller than the ball its mesh is
  Random random(2);
  int met = 0, apart = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3 direction = random.unit_vector();
    const Pose a{random.rotation(), random.in_box({-2, -2, -2}, {2, 2, 2})};
    const double distance = random.uniform(0, 1.1);
    const Pose b{random.rotation(), a.translation + random.unit_vector() * distance};
    const std::vector<DepthElement> environment = {other.at(b, 7)};
    const DepthResult report = detect(ball, direction, a, environment, kSmall);
    const DepthView view = make_depth_view(to_double(bounds(ball.mesh)), direction);
    // What they have in common holds a ball of half the depth at least.
    const double common = std::min((0.8 - distance) / 2, 0.3);
    if (common > compute_depth_miss(view, kSmall) + facets) {
      EXPECT_TRUE(report.colliding) << trial;
      EXPECT_EQ(report.ids, std::vector<std::uint32_t>{7});
      ++met;
    }
    if (distance > 0.8) {
      EXPECT_FALSE(report.colliding) << trial;
      EXPECT_TRUE(report.ids.empty());
      EXPECT_EQ(report.pixels, 0U);
      ++apart;
    }
    if (report.pixels > 0) {
      EXPECT_FALSE(report.inside);
      EXPECT_LE(length(report.deepest - a.translation), 0.5 + 1e-6);
      EXPECT_NEAR(length(report.deepest - b.translation), 0.3, facets);
      EXPECT_LE(report.first_pixel[0], report.last_pixel[0]);
      EXPECT_LE(report.first_pixel[1], report.last_pixel[1]);
    }
  }
  EXPECT_GT(met, 80);
  EXPECT_GT(apart, 30);
}

TEST(DepthMap, ContactsOfABallOnAPlane) {
  const Drawn ball(make_sphere({.radius = 0.5, .frequency = 24}));
  const Drawn ground(make_box({.size_x = 9, .size_y = 1, .size_z = 9}));
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const double depth = random.uniform(0.02, 0.3);
    // The ground tilted, and seen at up to 60 degrees from its normal.
    const Quat tilt = random.rotation();
    const Vec3 up = rotate(tilt, {0, 1, 0});
    Vec3 direction = random.unit_vector();
    if (dot(direction, up) > -0.5) direction = direction * 0.5 - up;
    const Pose pose{tilt, up * (-0.5 - 0.5 + depth)};
    const std::vector<DepthElement> environment = {ground.at(pose, 3)};
    DepthSettings settings = kSmall;
    settings.max_contacts = 5;
    const DepthResult report = detect(ball, direction, {}, environment, settings);
    ASSERT_EQ(report.contacts.size(), 5U);
    for (const Contact& contact : report.contacts) {
      EXPECT_NEAR(length(contact.normal - up), 0, 1e-6);
      EXPECT_EQ(contact.point, 3U);
      EXPECT_EQ(contact.sampled_by, Body::kB);
      EXPECT_NEAR(dot(contact.point_on_b, up), -0.5 + depth, 1e-5);
      EXPECT_NEAR(length(contact.point_on_a), 0.5, 0.005);
      EXPECT_NEAR(length(contact.point_on_b - contact.point_on_a), contact.depth, 1e-9);
    }
    // The deepest point lies a part of a pixel beside a middle.
    EXPECT_NEAR(report.contacts[0].depth, depth, 0.015);
    for (std::size_t i = 1; i < 5; ++i)
      EXPECT_GE(report.contacts[i - 1].depth, report.contacts[i].depth);
  }
}

TEST(DepthMap, DetectsWhatRaysDetect) {
  Random random(4);
  std::vector<Drawn> shapes;
  shapes.emplace_back(make_box({}));
  shapes.emplace_back(make_torus({.segments = 10, .tube_segments = 5}));
  shapes.emplace_back(make_knot({.segments = 36, .tube_segments = 4}));
  shapes.emplace_back(make_sphere({.frequency = 2}));
  int hits = 0, misses = 0, within = 0;
  std::uint32_t undecided = 0;
  const int trials = unless_slow(1500, 60);
  for (int trial = 0; trial < trials; ++trial) {
    const Drawn& object = shapes[random.below(4)];
    const std::vector<DepthElement> parts = {object.at({})};
    std::vector<DepthElement> environment;
    for (std::uint32_t i = 0; i < 2; ++i)
      environment.push_back(
          shapes[random.below(4)].at({random.rotation(), random.in_unit_ball() * 1.2}, i));
    const Pose world_from_object{random.rotation(), random.in_unit_ball() * 0.3};
    const DepthView view = make_depth_view(to_double(bounds(object.mesh)), random.unit_vector());
    const DepthSettings settings{.width = 14, .height = 11, .layers = 8};
    const DepthMap map = draw_depth_map(parts, view, settings);
    const DepthResult report = detect_by_depth(map, world_from_object, environment, settings);
    const OracleReport rays = detect_with_rays(parts, view, world_from_object, environment, 14, 11);
    EXPECT_GE(report.pixels, rays.pixels) << trial;
    EXPECT_LE(report.pixels, rays.pixels + rays.undecided) << trial;
    for (const std::size_t e : rays.elements)
      EXPECT_TRUE(std::count(report.ids.begin(), report.ids.end(), e) == 1) << trial;
    if (rays.undecided == 0) {
      EXPECT_EQ(report.inside, rays.within && rays.pixels == 0) << trial;
      EXPECT_EQ(report.colliding, rays.within || rays.pixels > 0) << trial;
    }
    undecided += rays.undecided;
    ++(rays.pixels > 0 ? hits : misses);
    within += rays.within ? 1 : 0;
  }
  EXPECT_GT(hits, trials / 4);
  EXPECT_GT(misses, trials / 10);
  EXPECT_GT(within, trials / 10);
  EXPECT_LT(undecided, static_cast<std::uint32_t>(trials) * 14 * 11 / 50);
}

// FAB's own rules, from rays: closed bodies, the environment's surfaces that look at the view.
struct HeightHits {
  std::uint32_t pixels = 0, undecided = 0;
};
HeightHits compare_heights(std::span<const DepthElement> object, const DepthView& view,
                           std::span<const DepthElement> environment,
                           const DepthSettings& settings) {
  HeightHits hits;
  const Pose view_from_object = inverse(view.object_from_view);
  const auto a = project(object, view_from_object, view, settings.width, settings.height);
  const auto b = project(environment, view_from_object, view, settings.width, settings.height);
  for (std::int32_t row = 0; row < settings.height; ++row)
    for (std::int32_t column = 0; column < settings.width; ++column) {
      const RayCrossings of_a = cast_ray(a, view, column, row);
      const RayCrossings of_b = cast_ray(b, view, column, row);
      bool undecided = !of_a.sure || !of_b.sure, hit = false;
      double near = 0, far = -1, far_doubt = 0;
      for (const RayCrossing& c : of_a.all) {
        if (c.sign < 0) far = c.z, far_doubt = c.doubt;
        if (settings.two_sided && c.sign > 0 && near == 0) near = c.z;
      }
      bool first = true;
      for (const RayCrossing& c : of_b.all) {
        if (c.sign < 0 || c.z < 0 || c.z > 2 * view.half_size.z) continue;
        if (!first && settings.method == DepthMethod::kTwoMaps) break;
        first = false;
        const double doubt = c.doubt + far_doubt + 1e-5;
        for (const double end : {near, far, 0.0, 2 * view.half_size.z})
          undecided = undecided || std::abs(c.z - end) < doubt;
        hit = hit || (c.z >= near && c.z <= far);
      }
      hits.pixels += hit && !undecided ? 1U : 0U;
      hits.undecided += undecided ? 1U : 0U;
    }
  return hits;
}

TEST(DepthMap, HeightMapsAreThePapers) {
  Random random(9);
  std::vector<Drawn> shapes;
  shapes.emplace_back(make_box({}));
  shapes.emplace_back(make_torus({.segments = 10, .tube_segments = 5}));
  shapes.emplace_back(make_sphere({.frequency = 2}));
  std::uint32_t pixels = 0, undecided = 0;
  for (int trial = 0; trial < unless_slow(400, 40); ++trial) {
    const Drawn& object = shapes[random.below(3)];
    const std::vector<DepthElement> parts = {object.at({})};
    std::vector<DepthElement> environment;
    for (std::uint32_t i = 0; i < 2; ++i)
      environment.push_back(
          shapes[random.below(3)].at({random.rotation(), random.in_unit_ball() * 1.2}, i));
    const DepthView view = make_depth_view(to_double(bounds(object.mesh)), random.unit_vector());
    const DepthSettings settings{
        .method = trial % 2 == 0 ? DepthMethod::kTwoMaps : DepthMethod::kFragments,
        .width = 13,
        .height = 15,
        .two_sided = trial % 4 < 2};
    const DepthResult report =
        detect_by_depth(draw_depth_map(parts, view, settings), {}, environment, settings);
    const HeightHits rays = compare_heights(parts, view, environment, settings);
    EXPECT_GE(report.pixels, rays.pixels) << trial;
    EXPECT_LE(report.pixels, rays.pixels + rays.undecided) << trial;
    pixels += rays.pixels;
    undecided += rays.undecided;
  }
  EXPECT_GT(pixels, 100U * undecided / 10);
  EXPECT_GT(pixels, unless_slow(4000U, 400U));
}

// Positions in the world, as float32: what the exact test and the drawing both start from.
TriangleMesh moved(const TriangleMesh& mesh, const Pose& pose) {
  TriangleMesh out = mesh;
  for (Vec3f& p : out.positions) p = to_float(transform_point(pose, to_double(p)));
  return out;
}
bool cross_exactly(const TriangleMesh& a, const TriangleMesh& b) {
  for (std::size_t i = 0; i < a.triangles.size(); ++i)
    for (std::size_t j = 0; j < b.triangles.size(); ++j)
      if (find_contact_triangle_triangle(corners(a, i), corners(b, j)) == TriangleContact::kCross)
        return true;
  return false;
}

TEST(DepthMap, AgreesWithExactIntersectionOfMeshes) {
  Random random(5);
  const TriangleMesh shapes[] = {make_box({.size_x = 0.2}),
                                 make_torus({.segments = 10, .tube_segments = 4}),
                                 make_knot({.segments = 36, .tube_segments = 3})};
  int crossing = 0, apart = 0, grazing = 0, missed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Drawn object(shapes[random.below(3)]);
    // Mostly near to touching, by an axis along which they are pushed.
    const Drawn other(moved(shapes[random.below(3)],
                            {random.rotation(), random.unit_vector() * random.uniform(0.3, 1.2)}));
    const bool truth = cross_exactly(object.mesh, other.mesh);
    DepthSettings settings{.width = 40, .height = 40, .layers = 8, .find_inside = false};
    const Vec3 direction = random.unit_vector();
    const std::vector<DepthElement> environment = {other.at({}, 0, false)};
    const DepthResult report = detect(object, direction, {}, environment, settings);
    settings.conservative = true;
    const DepthResult bound = detect(object, direction, {}, environment, settings);
    // None is missed with bounds, and what is found without them is there.
    EXPECT_TRUE(bound.colliding || !(truth || report.colliding)) << trial;
    EXPECT_TRUE(truth || !report.colliding || report.depth < 1e-6) << trial;
    EXPECT_GE(bound.pixels, report.pixels);
    if (!truth && bound.colliding) ++grazing;
    if (truth && !report.colliding) ++missed;  // passes between the middles
    ++(truth ? crossing : apart);
  }
  EXPECT_GT(crossing, 60);
  EXPECT_GT(apart, 60);
  EXPECT_LT(grazing, apart / 2);  // "up to a pixel away" is no licence to say yes
  EXPECT_LT(missed, crossing / 10);
}

// FAB's four wrong frames: a thing that has passed through the object, and is behind it.
TEST(DepthMap, AThingBehindTheObjectIsFabsErrorNotOurs) {
  const Drawn plate(make_box({.size_x = 2, .size_y = 2, .size_z = 0.2}));
  const Drawn ball(make_sphere({.radius = 0.1, .frequency = 4}));
  // The view's box is a little larger than the object: stretch it so that it holds the ball.
  const std::vector<DepthElement> parts = {plate.at({})};
  const DepthView view = make_depth_view({{-1, -1, -1}, {1, 1, 1}}, {0, 0, 1});
  const std::vector<DepthElement> behind = {ball.at({{}, {0, 0, -0.5}}, 1)};
  for (const DepthMethod method :
       {DepthMethod::kTwoMaps, DepthMethod::kFragments, DepthMethod::kIntervals}) {
    DepthSettings settings = kSmall;
    settings.method = method;
    const DepthMap map = draw_depth_map(parts, view, settings);
    const bool wrong = method != DepthMethod::kIntervals;
    EXPECT_EQ(detect_by_depth(map, {}, behind, settings).colliding, wrong);
    settings.two_sided = true;  // the paper's own cure
    const DepthMap both = draw_depth_map(parts, view, settings);
    EXPECT_FALSE(detect_by_depth(both, {}, behind, settings).colliding);
  }
  // And hides what is in the plate from two-sided maps; each fragment for itself is seen.
  const std::vector<DepthElement> hidden = {ball.at({{}, {0, 0, -0.5}}, 1), ball.at({}, 2)};
  for (const DepthMethod method :
       {DepthMethod::kTwoMaps, DepthMethod::kFragments, DepthMethod::kIntervals}) {
    DepthSettings settings = kSmall;
    settings.method = method;
    settings.two_sided = true;
    const DepthResult report =
        detect_by_depth(draw_depth_map(parts, view, settings), {}, hidden, settings);
    const bool seen = method != DepthMethod::kTwoMaps;
    EXPECT_EQ(report.colliding, seen);
    EXPECT_EQ(report.ids, seen ? std::vector<std::uint32_t>{2} : std::vector<std::uint32_t>{});
  }
}

TEST(DepthMap, FindsAnObjectThatIsWithinAnElement) {
  const Drawn ball(make_sphere({.radius = 0.2, .frequency = 4}));
  const Drawn room(make_box({.size_x = 3, .size_y = 3, .size_z = 3}));
  for (const bool conservative : {false, true}) {
    DepthSettings settings = kSmall;
    settings.conservative = conservative;
    const DepthResult report = detect(ball, {1, 2, 3}, {}, {room.at({}, 5)}, settings);
    EXPECT_TRUE(report.colliding);
    EXPECT_TRUE(report.inside);
    EXPECT_EQ(report.pixels, 0U);
    EXPECT_EQ(report.ids, std::vector<std::uint32_t>{5});
    EXPECT_LT(length(report.deepest), 0.21);  // bounds: up to a pixel away
    // The same walls, but open, or turned inwards: a room with air in it.
    EXPECT_FALSE(detect(ball, {1, 2, 3}, {}, {room.at({}, 5, false)}, settings).colliding);
    TriangleMesh inwards = room.mesh;
    for (Triangle& t : inwards.triangles) std::swap(t[1], t[2]);
    const Drawn turned(inwards);
    EXPECT_FALSE(detect(ball, {1, 2, 3}, {}, {turned.at({}, 5)}, settings).colliding);
    // Beside it.
    EXPECT_FALSE(detect(ball, {1, 2, 3}, {{}, {0, 0, 2}}, {room.at({}, 5)}, settings).colliding);
    settings.find_inside = false;
    EXPECT_FALSE(detect(ball, {1, 2, 3}, {}, {room.at({}, 5)}, settings).colliding);
  }
}

// A pillar stands in a wing. Its walls run along the view's axis, so nothing of it shows in the
// wing; and the middle of the wing is far from it.
TEST(DepthMap, FindsAPillarWhoseWallsTheViewDoesNotSee) {
  const Drawn wing(make_box({.size_x = 4, .size_y = 0.1, .size_z = 1}));
  const Drawn pillar(make_box({.size_x = 0.5, .size_y = 5, .size_z = 0.5}));
  const std::vector<DepthElement> environment = {pillar.at({{}, {1.5, 0, 0.2}}, 9)};
  const DepthResult report = detect(wing, {0, 1, 0}, {}, environment, kSmall);
  EXPECT_TRUE(report.inside);
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{9});
  DepthSettings settings = kSmall;
  settings.conservative = true;
  EXPECT_GT(detect(wing, {0, 1, 0}, {}, environment, settings).pixels, 0U);
}

TEST(DepthMap, AConcaveObjectNeedsNoSecondView) {
  const Drawn torus(make_torus({.radius = 0.5, .tube_radius = 0.1}));
  const Drawn ball(make_sphere({.radius = 0.05, .frequency = 4}));
  for (const Vec3& direction : {Vec3{0, 1, 0}, Vec3{1, 0, 0}, Vec3{1, 1, 1}}) {
    EXPECT_FALSE(detect(torus, direction, {}, {ball.at({})}, kSmall).colliding);
    EXPECT_FALSE(detect(torus, direction, {}, {ball.at({{}, {0.3, 0, 0}})}, kSmall).colliding);
    EXPECT_TRUE(detect(torus, direction, {}, {ball.at({{}, {0.5, 0.1, 0}})}, kSmall).colliding);
    EXPECT_TRUE(detect(torus, direction, {}, {ball.at({{}, {-0.42, 0, 0}})}, kSmall).colliding);
  }
  // One layer cannot know the hole: said, and on the safe side.
  DepthSettings settings = kSmall;
  settings.layers = 1;
  const std::vector<DepthElement> parts = {torus.at({})};
  const DepthView view = make_depth_view(to_double(bounds(torus.mesh)), {1, 0, 0});
  const DepthMap map = draw_depth_map(parts, view, settings);
  EXPECT_GT(map.overfull, 0U);
  const std::vector<DepthElement> in_the_hole = {ball.at({})};
  EXPECT_TRUE(detect_by_depth(map, {}, in_the_hole, settings).colliding);
}

TEST(DepthMap, AnOpenObjectIsTakenFromItsFirstSurfaceToItsLast) {
  TriangleMesh cup = make_box({});
  std::erase_if(cup.triangles, [&](const Triangle& t) {
    return cup.positions[t[0]].x > 0 && cup.positions[t[1]].x > 0 && cup.positions[t[2]].x > 0;
  });
  ASSERT_EQ(cup.triangles.size(), 10U);
  const Drawn object(cup);
  const std::vector<DepthElement> parts = {object.at({})};
  const DepthView view = make_depth_view(to_double(bounds(cup)), {-1, 0, 0});
  const DepthMap map = draw_depth_map(parts, view, kSmall);
  EXPECT_EQ(map.open, map.covered);
  EXPECT_GT(map.open, 48U * 40U);
  const DepthView across = make_depth_view(to_double(bounds(cup)), {0, 0, 1});
  EXPECT_EQ(draw_depth_map(parts, across, kSmall).open, 0U);
}

TEST(DepthMap, LinesAndPointsMeetTheObject) {
  const Drawn box(make_box({}));
  const std::vector<Vec3> ends = {{0.1, 0.1, -3}, {0.2, 0.12, 0.3}, {3, 3, 3}};
  const std::vector<std::uint32_t> line = {0, 1}, inner = {1}, outer = {2};
  DepthSettings settings = kSmall;
  settings.max_contacts = 1;
  for (const bool conservative : {false, true}) {
    settings.conservative = conservative;
    DepthElement grass{.positions = ends, .indices = line, .id = 4};
    grass.primitive = DepthPrimitive::kLines;
    DepthResult report = detect(box, {0, 0, 1}, {}, {grass}, settings);
    EXPECT_TRUE(report.colliding);
    EXPECT_EQ(report.ids, std::vector<std::uint32_t>{4});
    EXPECT_EQ(detect(box, {1, 0, 0}, {}, {grass}, settings).colliding, true);
    DepthElement spark{.positions = ends, .indices = inner, .id = 6};
    spark.primitive = DepthPrimitive::kPoints;
    report = detect(box, {0, 0, 1}, {}, {spark}, settings);
    EXPECT_EQ(report.pixels, 1U);
    EXPECT_NEAR(report.depth, 0.2, 1e-5);
    ASSERT_EQ(report.contacts.size(), 1U);
    // Out by the nearer end, which is the far one: the object moves back along the view's axis.
    EXPECT_NEAR(report.contacts[0].depth, 0.2, 1e-5);
    EXPECT_NEAR(report.contacts[0].normal.z, -1, 1e-9);
    EXPECT_NEAR(report.contacts[0].point_on_a.z, 0.5, 1e-5);
    spark.indices = outer;
    EXPECT_FALSE(detect(box, {0, 0, 1}, {}, {spark}, settings).colliding);
  }
}

// Boxes along the axes: what two have in common is a box, too. Seen along an axis, most of their
// faces do not show; the bound holds all the same.
TEST(DepthMap, WhatHoldsALargerBallThanTheBoundIsFound) {
  Random random(8);
  int met = 0, apart = 0, thin = 0, within = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const auto side = [&] { return random.below(3) == 0 ? 0.1 : random.uniform(0.3, 3); };
    const Vec3 a{side(), side(), side()}, b{side(), side(), side()};
    const Drawn object(make_box({.size_x = a.x, .size_y = a.y, .size_z = a.z}));
    const Drawn other(make_box({.size_x = b.x, .size_y = b.y, .size_z = b.z}));
    const Vec3 shift = random.in_box({-1, -1, -1}, {1, 1, 1});
    Vec3 direction{};
    direction[random.below(3)] = random.below(2) == 0 ? 1 : -1;
    if (trial % 4 == 0) direction = random.unit_vector();
    const DepthSettings settings{.width = 24, .height = 24};
    const DepthView view = make_depth_view(to_double(bounds(object.mesh)), direction);
    const DepthResult report = detect(object, direction, {}, {other.at({{}, shift}, 5)}, settings);
    double radius = 1e300;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double upper = std::min(a[axis] / 2, shift[axis] + b[axis] / 2);
      const double lower = std::max(-a[axis] / 2, shift[axis] - b[axis] / 2);
      radius = std::min(radius, (upper - lower) / 2);
    }
    if (radius > compute_depth_miss(view, settings)) {
      EXPECT_TRUE(report.colliding) << trial;
      EXPECT_EQ(report.ids, std::vector<std::uint32_t>{5});
      ++met;
      within += report.inside ? 1 : 0;
    } else if (radius < 0) {
      EXPECT_FALSE(report.colliding) << trial;
      ++apart;
    } else {
      ++thin;
    }
  }
  EXPECT_GT(met, 100);
  EXPECT_GT(apart, 100);
  EXPECT_GT(within, 20);
  EXPECT_LT(thin, 200);
}

TEST(DepthMap, BoundsNeverMissWhatIsThin) {
  // Needles of a thousandth of a pixel: they pass between the middles, not between the squares.
  const Drawn object(make_sphere({.radius = 0.5, .frequency = 8}));
  const std::vector<DepthElement> parts = {object.at({})};
  const DepthView view = make_depth_view(to_double(bounds(object.mesh)), {0, 1, 0});
  DepthSettings bounds_too = kSmall;
  bounds_too.conservative = true;
  EXPECT_EQ(compute_depth_miss(view, bounds_too), 0);
  const DepthMap map = draw_depth_map(parts, view, kSmall);
  const DepthMap bound_map = draw_depth_map(parts, view, bounds_too);
  Random random(6);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const Vec3 inside = random.in_unit_ball() * 0.45;
    const std::vector<Vec3> ends = {inside, inside + random.unit_vector() * 1e-5,
                                    inside + random.unit_vector() * 1e-5};
    const std::vector<std::uint32_t> indices = {0, 1, 2};
    const std::vector<DepthElement> needle = {{.positions = ends, .indices = indices, .id = 1}};
    found += detect_by_depth(map, {}, needle, kSmall).colliding ? 1 : 0;
    EXPECT_TRUE(detect_by_depth(bound_map, {}, needle, bounds_too).colliding);
  }
  EXPECT_LT(found, 10);
}

void expect_error(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error with \"" << part << '"';
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(DepthMap, RefusesWhatMakesNoSense) {
  const Drawn box(make_box({}));
  const auto with = [&](const std::function<void(DepthSettings&)>& change) {
    return [&box, change] {
      DepthSettings settings = kSmall;
      change(settings);
      detect(box, {0, 0, 1}, {}, {}, settings);
    };
  };
  expect_error(with([](DepthSettings& s) { s.width = 0; }), "width");
  expect_error(with([](DepthSettings& s) { s.height = -5; }), "height");
  expect_error(with([](DepthSettings& s) { s.width = 1 << 30; }), "4096");
  expect_error(with([](DepthSettings& s) { s.layers = 0; }), "layers");
  expect_error(with([](DepthSettings& s) { s.layers = 9; }), "layers");
  expect_error(with([](DepthSettings& s) { s.max_contacts = 65; }), "max_contacts");
  expect_error(with([](DepthSettings& s) { s.method = static_cast<DepthMethod>(9); }), "method");

  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Vec3> positions = {{0, 0, 0}, {1, 0, 0}, {nan, 1, 0}, {0, 1, 0}, {1e18, 0, 0}};
  const std::vector<std::uint32_t> good = {0, 1, 3}, bad = {0, 1, 2}, beyond = {0, 1, 5},
                                   two = {0, 1}, far = {0, 3, 4};
  const auto detect_one = [&](const std::vector<std::uint32_t>& indices, const Pose& pose) {
    return [&positions, &indices, &box, pose] {
      const DepthElement element{
          .positions = positions, .indices = indices, .world_from_element = pose};
      detect(box, {0, 0, 1}, {}, {element}, kSmall);
    };
  };
  EXPECT_NO_THROW(detect_one(good, {})());
  expect_error(detect_one(bad, {}), "element 0: position 2");
  expect_error(detect_one(beyond, {}), "index 5");
  expect_error(detect_one(two, {}), "2 indices");
  expect_error(detect_one(far, {}), "2^36 pixels");
  expect_error(detect_one(good, {{}, {0, nan, 0}}), "not finite");

  const std::vector<DepthElement> parts = {box.at({})};
  DepthView view = make_depth_view(to_double(bounds(box.mesh)), {0, 0, 1});
  const DepthMap map = draw_depth_map(parts, view, kSmall);
  DepthSettings other = kSmall;
  other.width = 24;
  expect_error([&] { detect_by_depth(map, {}, {}, other); }, "the map has 48 x 48");
  DepthMap broken = map;
  broken.intervals.pop_back();
  expect_error([&] { detect_by_depth(broken, {}, {}, kSmall); }, "interval");
  view.half_size.y = 0;
  expect_error([&] { draw_depth_map(parts, view, kSmall); }, "sizes above zero");
  EXPECT_FALSE(detect(Drawn(make_box({})), {0, 0, 1}, {}, {}, kSmall).colliding);
}

TEST(DepthMap, SameBytesForAnyNumberOfThreads) {
  const Drawn object(make_torus({}));
  const Drawn other(make_knot({}));
  std::vector<DepthResult> reports;
  for (const int threads : {1, 2, 7}) {
    DepthSettings settings = kSmall;
    settings.max_contacts = 64;
    settings.threads = {threads};
    const std::vector<DepthElement> environment = {other.at({{}, {0.1, 0.05, 0}}, 2),
                                                   other.at({{0, 1, 0, 0}, {-0.1, 0.05, 0}}, 1)};
    reports.push_back(detect(object, {1, 2, 3}, {}, environment, settings));
  }
  for (const DepthResult& report : reports) {
    EXPECT_GT(report.contacts.size(), 4U);
    EXPECT_EQ(report.pixels, reports[0].pixels);
    EXPECT_EQ(report.depth, reports[0].depth);
    EXPECT_EQ(report.deepest, reports[0].deepest);
    EXPECT_EQ(report.ids, (std::vector<std::uint32_t>{1, 2}));
    ASSERT_EQ(report.contacts.size(), reports[0].contacts.size());
    for (std::size_t i = 0; i < report.contacts.size(); ++i) {
      EXPECT_EQ(report.contacts[i].position, reports[0].contacts[i].position);
      EXPECT_EQ(report.contacts[i].normal, reports[0].contacts[i].normal);
      EXPECT_EQ(report.contacts[i].point, reports[0].contacts[i].point);
    }
  }
}

TEST(DepthMap, OnePixelAndNoObjectAreFine) {
  const Drawn box(make_box({}));
  DepthSettings settings{.width = 1, .height = 1, .layers = 1};
  EXPECT_TRUE(detect(box, {0, 0, 1}, {}, {box.at({{}, {0.1, 0, 0.1}})}, settings).colliding);
  const DepthMap empty =
      draw_depth_map({}, make_depth_view({{-1, -1, -1}, {1, 1, 1}}, {0, 1, 0}), settings);
  EXPECT_EQ(empty.covered, 0U);
  const std::vector<DepthElement> environment = {box.at({})};
  EXPECT_FALSE(detect_by_depth(empty, {}, environment, settings).colliding);
}

}  // namespace
}  // namespace isotact::test
