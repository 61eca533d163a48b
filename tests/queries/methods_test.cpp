// Every method against every kind of shape, with a ball as the other body: its distance from a body
// is that of its middle, less its radius.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/shape_views.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kRadius = 0.25;
constexpr Method kMethods[] = {Method::kPoints, Method::kSwept, Method::kIntersectionField,
                               Method::kDepthMap};
const TorusField kRing{.radius = 0.5, .tube_radius = 0.2};

// A body, and the formula that it is of.
struct Kind {
  std::string name;
  Shape shape;
  AnalyticSolid truth;
  double error = 0;  // metres: how far the shape's surface may be from the formula's
};

TriangleMesh ring_mesh() {
  return make_torus({.radius = kRing.radius,
                     .tube_radius = kRing.tube_radius,
                     .segments = 96,
                     .tube_segments = 48});
}

void add_analytic(std::vector<Kind>& kinds) {
  const auto add = [&](const char* name, const AnalyticSolid& solid) {
    kinds.push_back({name, Shape::from_analytic(solid, {.spacing = 0.05}), solid});
  };
  const Pose turned{.rotation = normalized(Quat{0.8, 0.1, -0.5, 0.3}), .translation = {0.1, 0, 0}};
  add("plane", PlaneField{.normal = {0.6, 0.8, 0}, .offset = 0.1});
  add("sphere", SphereField{{0.1, 0, 0}, 0.5});
  add("box", BoxField{.half_size = {0.5, 0.2, 0.4}});
  add("capsule", CapsuleField{{-0.3, 0.2, 0.1}, {0.4, -0.2, 0.3}, 0.2});
  add("cylinder", CylinderField{.radius = 0.4, .height = 0.8});
  add("cone", ConeField{.radius = 0.5, .height = 1});
  add("torus", kRing);
  add("terrain", TerrainField({.origin_x = -1,
                               .origin_z = -1,
                               .spacing = 1,
                               .cells_x = 2,
                               .cells_z = 2,
                               .heights = {0, 0.1F, 0.1F, -0.1F, 0.2F, 0, 0.1F, 0.1F, 0}}));
  add("union", Union{BoxField{.half_size = {0.5, 0.2, 0.4}}, ConeField{{0, 0.5, 0}, 0.3, 0.7}});
  add("difference", Difference{BoxField{.half_size = {0.6, 0.2, 0.6}}, CylinderField{{}, 0.3, 1}});
  add("placed",
      place(Offset{Intersection{BoxField{}, SphereField{.radius = 0.6}}, 0.05}, turned, 0.8));
}

// Assets with one section each.
void add_ring(std::vector<Kind>& kinds) {
  const TriangleMesh mesh = ring_mesh();
  const double cell = 0.03, facets = 0.003;
  const auto add = [&](const char* name, const Asset& asset, double error) {
    kinds.push_back({name, Shape::from_asset(asset, {.spacing = 0.05}), kRing, facets + error});
  };
  const BrickField bricks = build_field(mesh, {.voxel_size = cell}).field;
  kinds.push_back({"mesh", Shape::from_mesh(mesh, {.field = {.voxel_size = cell}}), kRing, facets});
  const Surface surface = prepare_surface(mesh, {.voxel_size = cell});
  const ExactField exact(surface);
  const Lattice lattice = bricks.lattice();
  Asset field, points, dense, first_order;
  field.field = bricks;
  add("field alone", field, 0);
  set_point_sphere_tree(points,
                        build_point_sphere_tree(sample_by_repulsion(mesh, {.spacing = 0.05})));
  add("points alone", points, 0);
  dense.dense = sample_on_lattice(exact, lattice, {.holds_body = true});
  add("dense alone", dense, 0);
  first_order.first_order = sample_first_order(exact, lattice);
  add("first order alone", first_order, 0);
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    Asset voxmap;
    voxmap.voxmap =
        build_voxmap(surface, voxmap_lattice(to_double(bounds(mesh)), cell), {.encoding = encoding})
            .voxmap;
    add(encoding == VoxmapEncoding::kLayers   ? "layers alone"
        : encoding == VoxmapEncoding::kScaled ? "scaled alone"
                                              : "support alone",
        voxmap, encoding == VoxmapEncoding::kLayers ? 1.4 * cell : 0);
  }
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> made;
    add_analytic(made);
    add_ring(made);
    return made;
  }();
  return kinds;
}

const Shape& ball() {
  static const Shape shape =
      Shape::from_analytic(SphereField{.radius = kRadius}, {.spacing = 0.03});
  return shape;
}
const Shape& mesh_ball() {
  static const Shape shape = Shape::from_mesh(make_sphere({.radius = kRadius, .frequency = 24}),
                                              {.field = {.resolution = 48}});
  return shape;
}

// How far the ball is from the body, and the radius of some ball that lies in both.
struct Truth {
  Interval apart{};
  double common = 0;
};
Truth find_truth(const AnalyticSolid& solid, const Vec3& middle) {
  const Interval d = solid.distance_bounds(middle);
  Truth truth{.apart = {d.lower - kRadius, d.upper - kRadius}};
  const Vec3 out = normalized(solid.sample(middle).gradient);
  for (int i = 0; i <= 40; ++i) {
    const double along = kRadius * i / 40;
    const double depth = -solid.distance_bounds(middle - out * along).upper;
    truth.common = std::max(truth.common, std::min(depth, kRadius - along));
  }
  return truth;
}

bool needs_surface(Method m) { return m == Method::kIntersectionField || m == Method::kDepthMap; }
bool is_refused(const Kind& kind, Method method) {
  return (kind.name == "points alone" && needs_surface(method)) ||
         (kind.name == "terrain" && method == Method::kIntersectionField);
}

// Anywhere, or deep in the body.
Vec3 place_ball(const AnalyticSolid& solid, Random& random) {
  Vec3 x = random.in_box({-0.9, -0.9, -0.9}, {0.9, 0.9, 0.9});
  if (random.uniform() < 0.5) return x;
  for (int i = 0; i < 6; ++i) {
    const FieldSample s = solid.sample(x);
    x = x - normalized(s.gradient) * (s.distance + 0.18);
  }
  return x;
}

struct Tally {
  int contact = 0, free = 0, doubtful = 0;
};

double near_error(const Shape& s) {
  return s.solid() || !s.can_have_field() ? 0 : double(s.brick_field().header().near_error);
}
double far_error(const Shape& s) {
  if (s.solid() || !s.can_have_field()) return 0;
  const BrickFieldHeader& h = s.brick_field().header();
  return double(std::max({h.near_error, h.far_error, h.sparse_error}));
}
// What both fields may be wrong by next to their surfaces.
double slack_of(const Kind& kind, const Shape& other) {
  return kind.error + near_error(kind.shape) + near_error(other) + 0.002;
}

void expect_verdict(const Kind& kind, const Shape& other, Method method, const Vec3& middle,
                    const CollideResult& r, Tally& tally) {
  const Truth truth = find_truth(kind.truth, middle);
  const double slack = slack_of(kind, other);
  const bool touches = r.status == CollideStatus::kContact;
  ASSERT_NE(r.status, CollideStatus::kGaveUp);
  ASSERT_EQ(r.method, method);
  ASSERT_GE(r.blind_depth, 0);
  const double deep = needs_surface(method) ? truth.common : -truth.apart.upper;
  // Of points, the blind depth has the errors of fields in it. A contact that was found was not
  // missed, however coarse the search was that found it.
  const double blind = touches && needs_surface(method) ? 0 : r.blind_depth;
  const double tolerance = blind + (needs_surface(method) ? slack : kind.error + 0.002);
  if (truth.apart.lower > slack) {
    ++tally.free;
    ASSERT_FALSE(touches) << kind.name << ", apart by " << truth.apart.lower;
  } else if (deep > tolerance) {
    ++tally.contact;
    ASSERT_TRUE(touches) << kind.name << ", deep by " << deep << ", blind " << r.blind_depth;
  } else {
    ++tally.doubtful;
  }
  ASSERT_EQ(touches, !r.contacts.empty()) << kind.name;
  for (const Contact& c : r.contacts) {
    ASSERT_NEAR(length(c.normal), 1, 1e-6);
    ASSERT_NEAR(length(c.point_on_a - c.point_on_b), std::abs(c.depth), 1e-6);
  }
  if (touches && r.has_distance) {
    ASSERT_EQ(r.distance, -r.contacts.at(0).depth);
  }
  ASSERT_FALSE(r.has_force);
  ASSERT_EQ(r.first_contact.back(), r.contacts.size());
}

TEST(Methods, AgreeWithTheFormula) {
  for (const Kind& kind : all_kinds())
    for (const Method method : kMethods) {
      SCOPED_TRACE(kind.name + ", method " + std::to_string(static_cast<int>(method)));
      Random random(91);
      CollideScratch state;
      Tally tally;
      const int count = method == Method::kDepthMap ? 12 : 36;
      for (int i = 0; i < unless_slow(count, 6); ++i) {
        const Vec3 middle = place_ball(kind.truth, random);
        // A's frame anywhere; the ball where the body sees `middle`; both orders.
        const Pose world_from_kind{random.rotation(), random.in_unit_ball()};
        const Pose of_ball{random.rotation(), transform_point(world_from_kind, middle)};
        const Shape& other = i % 3 == 0 && kind.name != "points alone" ? mesh_ball() : ball();
        if (is_refused(kind, method)) {
          try {
            collide(kind.shape, world_from_kind, other, of_ball, {.method = method}, state);
            FAIL() << "should have been refused";
          } catch (const Error& error) {  // and names what would help
            const std::string text = error.what();
            ASSERT_TRUE(text.find("Method::") != text.npos || text.find("Shape::") != text.npos);
          }
          continue;
        }
        const CollideResult& r =
            i % 2 == 0
                ? collide(kind.shape, world_from_kind, other, of_ball, {.method = method}, state)
                : collide(other, of_ball, kind.shape, world_from_kind, {.method = method}, state);
        ASSERT_NO_FATAL_FAILURE(expect_verdict(kind, other, method, middle, r, tally));
      }
      if (kSlowBuild || is_refused(kind, method)) continue;
      EXPECT_GE(tally.contact, count / 12);
      EXPECT_GE(tally.free, count / 12);
      EXPECT_LE(tally.doubtful, count / 2);
    }
}

// A body on a plane, or in the top of a box, was in contact without contacts: the view was along
// the surface.
TEST(Methods, DepthMapsOfFlatSurfacesHaveContacts) {
  const double radius = 0.05, length_of = 0.9;
  const Shape capsule =
      Shape::from_analytic(CapsuleField{{0, -0.45, 0}, {0, 0.45, 0}, radius}, {.spacing = 0.02});
  const Shape ground = Shape::from_analytic(PlaneField{});
  const Shape block = Shape::from_analytic(BoxField{.half_size = {1, 1, 1}});
  const double top = length_of / 2 + radius;
  for (const double depth : {0.01, 0.1, 0.25, 0.45}) {
    SCOPED_TRACE(depth);
    for (const bool swap : {false, true}) {
      const Pose standing{.translation = {0.013, top - depth, 0.007}};
      const auto query = [&](const Shape& other, const Pose& world_from_other) {
        const CollideRequest request{.method = Method::kDepthMap};
        return swap ? collide(other, world_from_other, capsule, standing, request)
                    : collide(capsule, standing, other, world_from_other, request);
      };
      const CollideResult on_ground = query(ground, {});
      ASSERT_FALSE(on_ground.contacts.empty());
      // The end is round: its pixels are up to half a diagonal from the lowest point.
      EXPECT_NEAR(on_ground.contacts[0].depth, depth, 1e-3);
      EXPECT_NEAR(on_ground.contacts[0].normal.y, swap ? -1 : 1, 1e-9);
      const CollideResult in_block = query(block, {.translation = {0, -1, 0}});
      ASSERT_FALSE(in_block.contacts.empty());
      EXPECT_GT(in_block.contacts[0].depth, 0);
      // The depth is what lies behind the other's surface, of the first body.
      if (!swap) {
        EXPECT_LT(in_block.contacts[0].depth, depth + 1e-3);
      }
    }
  }
}

// Every pair of these in all orientations of a cube, and in some at random.
TEST(Methods, DepthMapContactsAreNeverWithoutContacts) {
  const Shape bodies[] = {
      Shape::from_analytic(BoxField{.half_size = {0.4, 0.2, 0.3}}),
      Shape::from_analytic(SphereField{.radius = 0.3}),
      Shape::from_analytic(TorusField{.radius = 0.3, .tube_radius = 0.1}),
      Shape::from_mesh(ring_mesh(), {.field = {.resolution = 32}, .points = 300})};
  const Shape others[] = {Shape::from_analytic(PlaneField{.normal = {0, 0, 1}}),
                          Shape::from_analytic(BoxField{.half_size = {1, 1, 1}}), bodies[1],
                          bodies[2], bodies[3]};
  const auto turn_of = [](int i, Random& random) {
    if (i >= 24) return random.rotation();
    // Six directions of the first axis, four turns about it.
    const Quat faces[] = {{},
                          rotation_about({0, 0, 1}, kPi),
                          rotation_about({0, 0, 1}, kPi / 2),
                          rotation_about({0, 0, 1}, -kPi / 2),
                          rotation_about({0, 1, 0}, kPi / 2),
                          rotation_about({0, 1, 0}, -kPi / 2)};
    return normalized(faces[i / 4] * rotation_about({1, 0, 0}, kPi / 2 * (i % 4)));
  };
  Random random(97);
  int contacts = 0, within = 0, total = 0;
  for (const Shape& other : others)
    for (const Shape& body : bodies)
      for (int i = 0; i < unless_slow(30, 2); ++i, ++total) {
        const Pose at{turn_of(i, random), random.in_box({-0.6, -0.6, -0.9}, {0.6, 0.6, 0.3})};
        const bool swap = i % 2 == 1;
        const CollideRequest request{.method = Method::kDepthMap};
        const CollideResult r =
            swap ? collide(other, {}, body, at, request) : collide(body, at, other, {}, request);
        if (r.status != CollideStatus::kContact) continue;
        ++contacts;
        ASSERT_FALSE(r.contacts.empty());
        ASSERT_TRUE(r.has_distance);
        ASSERT_EQ(r.distance, -r.contacts[0].depth);
        for (const Contact& c : r.contacts) {
          ASSERT_GE(c.depth, 0);
          ASSERT_NEAR(length(c.normal), 1, 1e-6);
          // Found by a point of the object: this lies within the other body.
          if (c.sampled_by != (swap && !other.is_bounded() ? Body::kB : Body::kA)) continue;
          ++within;
          const bool is_body = !swap || !other.is_bounded();
          const Vec3 point = c.sampled_by == Body::kA ? c.point_on_a : c.point_on_b;
          const double value = is_body
                                   ? other.any_field().value(point)
                                   : body.any_field().value(transform_point(inverse(at), point));
          ASSERT_NEAR(value, -c.depth, 1e-6);
        }
      }
  if (kSlowBuild) return;
  EXPECT_GT(contacts, total / 3);
  EXPECT_GT(within, 20);
}

TEST(Methods, MarginsWidenContact) {
  for (const Kind& kind : all_kinds())
    for (const Method method : {Method::kPoints, Method::kSwept, Method::kIntersectionField}) {
      if (is_refused(kind, method)) continue;
      SCOPED_TRACE(kind.name + ", method " + std::to_string(static_cast<int>(method)));
      Random random(92);
      int wider = 0;
      constexpr double kMargin = 0.1;
      for (int i = 0; i < unless_slow(40, 5); ++i) {
        const Vec3 middle = random.in_box({-0.9, -0.9, -0.9}, {0.9, 0.9, 0.9});
        const Truth truth = find_truth(kind.truth, middle);
        const CollideResult r = collide(kind.shape, {}, ball(), {.translation = middle},
                                        {.method = method, .margin = kMargin});
        const double slack = slack_of(kind, ball());
        // A field's box may end before the margin does: then contact comes sooner, never later.
        const bool is_exact = kind.shape.solid() && method != Method::kIntersectionField;
        if (is_exact && truth.apart.lower > kMargin + slack) {
          ASSERT_EQ(r.status, CollideStatus::kFree);
        }
        if (method != Method::kIntersectionField &&
            truth.apart.upper < kMargin - far_error(kind.shape) - slack - r.blind_depth) {
          ASSERT_EQ(r.status, CollideStatus::kContact);
        }
        for (const Contact& c : r.contacts) ASSERT_GE(c.depth, -kMargin - 1e-6);
        wider += truth.apart.lower > 0 && r.status == CollideStatus::kContact ? 1 : 0;
      }
      EXPECT_GT(wider, unless_slow(0, -1));
    }
}

TEST(Methods, DistancesAreThoseOfTheFormula) {
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name);
    Random random(93);
    int apart = 0;
    for (int i = 0; i < unless_slow(40, 5); ++i) {
      const Vec3 middle = random.in_box({-1.2, -1.2, -1.2}, {1.2, 1.2, 1.2});
      const Truth truth = find_truth(kind.truth, middle);
      const Pose pose{random.rotation(), middle};
      const DistanceResult r = i % 2 == 0 ? distance(kind.shape, {}, ball(), pose)
                                          : distance(ball(), pose, kind.shape, {});
      ASSERT_EQ(r.status, DistanceStatus::kDone);
      if (truth.apart.lower <= 0) continue;
      ++apart;
      const double covering =
          ball().points().covering_radius() +
          (kind.shape.can_have_points() ? kind.shape.points().covering_radius() : 0);
      const double slack = kind.error + far_error(kind.shape) + 0.002 + 0.1 * 0.03;
      ASSERT_GE(r.distance, truth.apart.lower - slack);
      ASSERT_LE(r.distance, truth.apart.upper + covering + slack);
      ASSERT_LE(r.lower_bound, r.distance);
      ASSERT_NEAR(-r.contact.depth, r.distance, 1e-6);
    }
    EXPECT_GT(apart, unless_slow(8, 0));
  }
  EXPECT_THROW(distance(ball(), {}, ball(), {}, {.method = Method::kDepthMap}), Error);
}

// A ball on a straight line: where the contact is found, the ball is as near as blind depth and
// errors allow.
TEST(Methods, FirstContactIsThatOfTheFormula) {
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name);
    Random random(94);
    int hits = 0, misses = 0;
    for (int i = 0; i < unless_slow(40, 5); ++i) {
      const Vec3 from = random.in_box({-1.2, -1.2, -1.2}, {1.2, 1.2, 1.2});
      const Vec3 to = random.in_box({-1.2, -1.2, -1.2}, {1.2, 1.2, 1.2});
      const Quat turn = random.rotation();
      const BodyMotion motion{.from = {turn, from}, .to = {turn, to}};
      const ContinuousResult r = i % 2 == 0 ? continuous_collide(kind.shape, {}, ball(), motion)
                                            : continuous_collide(ball(), motion, kind.shape, {});
      const double slack = slack_of(kind, ball());
      double nearest_upper = 1e30;
      const double end = std::min(r.time_of_contact, 1.0);
      for (int k = 0; k <= 200; ++k) {
        const Truth truth = find_truth(kind.truth, lerp(from, to, end * k / 200));
        nearest_upper = std::min(nearest_upper, truth.apart.upper);
      }
      // Nothing deeper than that was passed before.
      if (end > 0) {
        ASSERT_GT(nearest_upper, -r.blind_depth - slack - 0.02);
      }
      if (r.status == ContinuousStatus::kContact) {
        ++hits;
        ASSERT_LT(find_truth(kind.truth, lerp(from, to, r.time_of_contact)).apart.lower, slack);
      } else {
        ++misses;
      }
    }
    if (kSlowBuild) continue;
    EXPECT_GT(hits, 5);
    EXPECT_GT(misses, 0);
  }
  EXPECT_THROW(continuous_collide(ball(), {}, ball(), {}, {.method = Method::kPoints}), Error);
}

bool is_equal(const CollideResult& a, const CollideResult& b) {
  if (a.status != b.status || a.contacts.size() != b.contacts.size()) return false;
  for (std::size_t i = 0; i < a.contacts.size(); ++i)
    if (!(a.contacts[i].position == b.contacts[i].position) ||
        a.contacts[i].depth != b.contacts[i].depth)
      return false;
  return a.blind_depth == b.blind_depth && a.touching_points == b.touching_points;
}

// Eight threads ask fresh shapes at once, each by all methods: the answers of one thread alone.
TEST(Methods, FirstUseFromManyThreads) {
  const auto fresh = [](const Kind& kind) {
    return Shape::from_parts(kind.shape.parts(), {.field = {.resolution = 32}, .spacing = 0.08});
  };
  const auto ask = [](const Shape& a, const Shape& b, const Kind& kind, Method method) {
    const Pose pose{.translation = {0.45, 0.1, 0.05}};
    return is_refused(kind, method) ? CollideResult{} : collide(a, {}, b, pose, {.method = method});
  };
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name);
    const Shape a = fresh(kind), b = Shape::from_analytic(SphereField{}, {.spacing = 0.1});
    constexpr int kThreads = 8;
    std::vector<CollideResult> found(kThreads * std::size(kMethods));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (std::size_t m = 0; m < std::size(kMethods); ++m) {
          const std::size_t mine = (m + t) % std::size(kMethods);
          found[t * std::size(kMethods) + mine] = ask(a, b, kind, kMethods[mine]);
        }
      });
    for (std::thread& t : threads) t.join();
    const Shape c = fresh(kind), d = Shape::from_analytic(SphereField{}, {.spacing = 0.1});
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(is_equal(found[i], ask(c, d, kind, kMethods[i % std::size(kMethods)]))) << i;
  }
}

TEST(Methods, RefuseWhatTheyDoNotKnow) {
  const auto says = [](const CollideRequest& request, const char* what) {
    try {
      collide(ball(), {}, ball(), {}, request);
      return false;
    } catch (const Error& error) {
      return std::string(error.what()).find(what) != std::string::npos;
    }
  };
  EXPECT_TRUE(says({.method = Method::kDepthMap, .margin = 0.1}, "Method::kPoints"));
  EXPECT_TRUE(says({.method = Method::kIntersectionField, .max_nodes = 5}, "Method::kPoints"));
  EXPECT_TRUE(says({.method = Method::kSwept, .level = 2}, "Method::kPoints"));
  EXPECT_TRUE(says({.method = Method::kDepthMap, .roles = Roles::kPointsOfA}, "Method::kPoints"));
  // They were ignored without a word.
  for (const Method method : {Method::kSwept, Method::kIntersectionField, Method::kDepthMap}) {
    EXPECT_TRUE(says({.method = method, .want_distance = true}, "Method::kPoints"));
    EXPECT_TRUE(says({.method = method, .want_force = true}, "Method::kPoints"));
    EXPECT_THROW(prepare(ball(), CollideRequest{.method = method, .want_force = true}), Error);
  }
  const CollideResult r =
      collide(ball(), {}, ball(), {}, {.want_distance = true, .want_force = true});
  EXPECT_TRUE(r.has_distance && r.has_force);
}

}  // namespace
}  // namespace isotact
