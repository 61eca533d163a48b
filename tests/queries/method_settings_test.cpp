// Settings of intersection fields and depth maps, and what methods cannot say.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/shape_views.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

const Shape& settings_ball() {
  static const Shape shape = Shape::from_analytic(SphereField{.radius = 0.25}, {.spacing = 0.03});
  return shape;
}

// Another seed tries other cases.
std::uint64_t seed_of(std::uint64_t usual) {
  const char* given = std::getenv("ISOTACT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) + usual : usual;
}

bool is_same_contact(const Contact& a, const Contact& b) {
  return a.position == b.position && a.point_on_a == b.point_on_a && a.point_on_b == b.point_on_b &&
         a.normal == b.normal && a.depth == b.depth;
}

const std::vector<Shape>& solid_meshes() {
  static const std::vector<Shape> shapes = [] {
    std::vector<Shape> made;
    for (const char* name : {"torus", "gear", "bowl", "box"})
      made.push_back(Shape::from_parts(
          ShapeParts{.mesh = std::make_shared<const TriangleMesh>(make_shape(name))},
          {.field = {.resolution = 24}}));
    return made;
  }();
  return shapes;
}

Pose random_place(Random& random, double size) {
  return {.rotation = normalized(Quat{random.uniform(-1, 1), random.uniform(-1, 1),
                                      random.uniform(-1, 1), random.uniform(-1, 1)}),
          .translation = random.in_box(Vec3{-1, -1, -1} * size, Vec3{1, 1, 1} * size)};
}

double size_of(const Shape& shape) { return length(extent(to_double(bounds(shape.surface())))); }

// The intersection fields of KGM as they are, and a device that passes on what it gets.
struct PassingOn final : IntersectionBackend {
  int calls = 0;
  void intersect(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                 std::span<const IdfPair> pairs, const IdfSettings& settings, IdfResult& result,
                 IdfScratch& scratch) override {
    ++calls;
    intersect_fields(shapes, bodies, pairs, settings, result, scratch);
  }
};

TEST(Methods, SettingsOfIntersectionFieldsAreThoseOfTheLayerBelow) {
  Random random(seed_of(4711));
  CollideScratch kept;
  int hits = 0;
  const int cases = unless_slow(150, 20);
  for (int i = 0; i < cases; ++i) {
    const Shape& a = solid_meshes()[static_cast<std::size_t>(random.uniform(0, 3.999))];
    const Shape& b = solid_meshes()[static_cast<std::size_t>(random.uniform(0, 3.999))];
    const Pose of_a = random_place(random, 0.4 * std::min(size_of(a), size_of(b))), of_b{};
    PassingOn device;
    CollideRequest request{.method = Method::kIntersectionField};
    request.intersection.samples = 4 + i % 12;
    request.intersection.resolution = i % 2 == 0 ? HUGE_VAL : 0.05 * size_of(a);
    request.intersection.keep = static_cast<std::uint32_t>(1 + i % 20);
    request.intersection.backend = i % 3 == 0 ? &device : nullptr;
    const CollideResult& r = collide(a, of_a, b, of_b, request, kept);
    EXPECT_EQ(device.calls, i % 3 == 0 ? 1 : 0);
    const Shape shapes[] = {a, b};
    const IdfBody bodies[] = {{0, of_a}, {1, of_b}};
    const IdfPair pairs[] = {{0, 1}};
    IdfResult found;
    IdfScratch scratch;
    intersect_fields(std::span<const Shape>(shapes), bodies, pairs,
                     {.samples = request.intersection.samples,
                      .resolution = i % 2 == 0 ? 0 : request.intersection.resolution,
                      .max_contacts = request.intersection.keep},
                     found, scratch);
    std::erase_if(found.contacts, [](const Contact& c) { return c.depth < 0; });
    ASSERT_EQ(r.contacts.size(), found.contacts.size());
    for (std::size_t k = 0; k < r.contacts.size(); ++k)
      ASSERT_TRUE(is_same_contact(r.contacts[k], found.contacts[k]));
    ASSERT_EQ(r.status == CollideStatus::kContact, !found.contacts.empty());
    ASSERT_EQ(r.blind_depth, static_cast<double>(found.resolution[0]));
    ASSERT_EQ(r.particles, found.particles);
    ASSERT_EQ(r.arrived, found.arrived[0]);
    hits += r.contacts.empty() ? 0 : 1;
  }
  EXPECT_GT(hits, cases / 4);
  EXPECT_LT(hits, cases);
}

struct Drawing final : DepthBackend {
  int maps = 0;
  DepthMap draw(std::span<const DepthElement> object, const DepthView& view,
                const DepthSettings& settings) override {
    ++maps;
    return draw_depth_map(object, view, settings);
  }
  DepthResult detect(const DepthMap& map, const Pose& world_from_object,
                     std::span<const DepthElement> environment,
                     const DepthSettings& settings) override {
    return detect_by_depth(map, world_from_object, environment, settings);
  }
};

TEST(Methods, SettingsOfDepthMapsAreThoseOfTheLayerBelow) {
  Random random(seed_of(815));
  CollideScratch kept;
  int hits = 0;
  const int cases = unless_slow(100, 12);
  for (int i = 0; i < cases; ++i) {
    const Shape& a = solid_meshes()[static_cast<std::size_t>(random.uniform(0, 3.999))];
    const Shape& b = solid_meshes()[static_cast<std::size_t>(random.uniform(0, 3.999))];
    const Pose of_a = random_place(random, 0.4 * std::min(size_of(a), size_of(b))), of_b{};
    const bool is_paper = i % 3 == 0;
    Drawing device;
    CollideRequest request{.method = Method::kDepthMap};
    DepthRequest& depth = request.depth;
    depth.maps = is_paper ? DepthMethod::kTwoMaps : DepthMethod::kIntervals;
    depth.two_sided = is_paper && i % 2 == 0;
    depth.pixels = 24 + i % 40;
    depth.conservative = i % 5 == 0;
    depth.direction = random.in_box({-1, -1, -1}, {1, 1, 1});
    depth.keep = 64;
    depth.backend = i % 4 == 0 ? &device : nullptr;
    const CollideResult& r = collide(a, of_a, b, of_b, request, kept);
    EXPECT_EQ(device.maps > 0, i % 4 == 0);
    const DepthSettings settings{.method = depth.maps,
                                 .width = depth.pixels,
                                 .height = depth.pixels,
                                 .two_sided = depth.two_sided,
                                 .conservative = depth.conservative,
                                 .max_contacts = 64};
    const DepthElement object[] = {depth_element(a, {}, 0)};
    const DepthElement environment[] = {depth_element(b, of_b, 0)};
    const DepthMap map = draw_depth_map(
        object, make_depth_view(to_double(bounds(a.surface())), depth.direction), settings);
    const DepthResult report = detect_by_depth(map, of_a, environment, settings);
    ASSERT_EQ(r.status == CollideStatus::kContact, report.colliding);
    ASSERT_EQ(r.depth.views.size(), 1U);
    const DepthViewResult& view = r.depth.views[0];
    ASSERT_EQ(view.pixels, report.pixels);
    ASSERT_EQ(view.covered, map.covered);
    ASSERT_EQ(view.depth, report.depth);
    ASSERT_EQ(r.depth.inside, report.colliding && report.pixels == 0);
    ASSERT_EQ(r.blind_depth, is_paper ? HUGE_VAL : compute_depth_miss(map.view, settings));
    if (!report.colliding) continue;
    ++hits;
    ASSERT_FALSE(r.contacts.empty());
    if (report.contacts.empty()) continue;  // then other axes show them
    ASSERT_EQ(r.contacts.size(), report.contacts.size());
    for (std::size_t k = 0; k < r.contacts.size(); ++k)
      ASSERT_EQ(r.contacts[k].depth, report.contacts[k].depth);
  }
  EXPECT_GT(hits, cases / 4);
  EXPECT_LT(hits, cases);
}

// More directions never see less, and one that sees a collision is enough for intervals.
TEST(Methods, DepthMapsTakeSeveralDirections) {
  const Shape& bowl = solid_meshes()[2];
  CollideRequest request{.method = Method::kDepthMap};
  request.depth.pixels = 64;
  request.depth.want_coverage = true;
  const Pose near{.translation = {0, 0.3 * size_of(bowl), 0}};
  double seen = 0;
  for (const int directions : {1, 2, 4}) {
    request.depth.max_directions = directions;
    const CollideResult r = collide(bowl, near, bowl, {}, request);
    EXPECT_LE(r.depth.views.size(), static_cast<std::size_t>(directions));
    EXPECT_GE(r.depth.seen, seen);
    EXPECT_NEAR(r.depth.seen + r.depth.unseen, 1, 1e-9);
    seen = r.depth.seen;
  }
  EXPECT_GT(seen, 0.5);
}

TEST(Methods, SettingsOfOtherMethodsAreRefused) {
  const auto refuse = [](const CollideRequest& request) {
    EXPECT_THROW(collide(settings_ball(), {}, settings_ball(), {}, request), Error);
  };
  refuse({.intersection = {.samples = 5}});
  refuse({.method = Method::kDepthMap, .intersection = {.keep = 5}});
  refuse({.depth = {.pixels = 64}});
  refuse({.method = Method::kSwept, .depth = {.direction = {0, 1, 0}}});
  for (const IntersectionRequest& wrong : {IntersectionRequest{.samples = 31},
                                           {.samples = 0},
                                           {.resolution = -1},
                                           {.resolution = std::nan("")},
                                           {.keep = 65}})
    refuse({.method = Method::kIntersectionField, .intersection = wrong});
  for (const DepthRequest& wrong : {DepthRequest{.pixels = 0},
                                    {.pixels = 5000},
                                    {.layers = 9},
                                    {.two_sided = true},
                                    {.direction = {0, std::nan(""), 0}},
                                    {.max_directions = 0},
                                    {.keep = 65},
                                    {.maps = DepthMethod::kTwoMaps, .layers = 2}})
    refuse({.method = Method::kDepthMap, .depth = wrong});
}

TEST(Methods, SayWhatDepthMapsCannotTell) {
  const auto of_mesh = [](TriangleMesh mesh) {
    return Shape::from_parts(
        ShapeParts{.mesh = std::make_shared<const TriangleMesh>(std::move(mesh))});
  };
  TriangleMesh open = make_box({}), turned = make_box({}), broken = make_box({});
  open.triangles.pop_back();
  for (Triangle& t : turned.triangles) std::swap(t[1], t[2]);
  broken.positions[0].x = std::numeric_limits<float>::quiet_NaN();
  const auto says = [&](const Shape& shape, bool is_environment) {
    const std::vector<std::string> said = describe_depth_limits(shape, is_environment);
    return said.empty() ? std::string() : said.front();
  };
  EXPECT_NE(says(of_mesh(open), true).find("is not closed"), std::string::npos);
  EXPECT_NE(says(of_mesh(turned), true).find("turned inwards"), std::string::npos);
  EXPECT_EQ(says(of_mesh(open), false), "");
  EXPECT_EQ(says(of_mesh(make_box({})), true), "");
  EXPECT_EQ(says(Shape::from_analytic(PlaneField{}), true), "");
  const Shape field =
      Shape::from_field(AnyField{SphereField{{}, 1}}, {{-1, -1, -1}, {1, 1, 1}}, 0.1);
  EXPECT_NE(says(field, false).find("surface of its field"), std::string::npos);
  EXPECT_THROW(describe_depth_limits(of_mesh(broken), false), Error);
}

// By the bounds: touching counts from a margin of 0 on, and what they leave open is uncertain.
TEST(Methods, DistancesHaveAStatus) {
  const auto status = [](double lower, double upper, double margin, bool touching = false) {
    const DistanceResult r{
        .distance = upper, .lower_bound = lower, .upper_bound = upper, .touching = touching};
    return compute_status(r, margin);
  };
  EXPECT_EQ(status(1, 1, 0), CollideStatus::kFree);
  EXPECT_EQ(status(1, 1, 1), CollideStatus::kContact);
  EXPECT_EQ(status(-1, -1, 0), CollideStatus::kContact);
  EXPECT_EQ(status(-1, -1, -2), CollideStatus::kFree);
  EXPECT_EQ(status(-1, 1, 0), CollideStatus::kUncertain);
  EXPECT_EQ(status(-1, 1, 0, true), CollideStatus::kContact);
  EXPECT_EQ(status(-1, 1, -2, true), CollideStatus::kFree);
  EXPECT_EQ(status(0.5, 2, 1), CollideStatus::kUncertain);
}

// A plane has neither an end nor a mass, a pointshell none.
TEST(Methods, MassesThatThereAreNotAreNamed) {
  const auto says = [](const Shape& shape) {
    try {
      shape.mass();
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(says(Shape::from_analytic(PlaneField{})).find("a shape without end has no mass"), 0U);
  const Shape points = Shape::from_parts(std::nullopt, settings_ball().points());
  EXPECT_EQ(says(points).find("a pointshell alone has no mass"), 0U);
}

// Scratches change nothing, for any order of shapes and motions.
TEST(Methods, ScratchesOfDistancesAndMotionsChangeNothing) {
  Random random(seed_of(99));
  DistanceScratch distances;
  ContinuousScratch motions, coherent;
  coherent.set_coherent(true);
  const TorusShape ring{.radius = 0.5, .tube_radius = 0.2, .segments = 96, .tube_segments = 48};
  const Shape shapes[] = {
      Shape::from_mesh(make_sphere({.radius = 0.25, .frequency = 24}),
                       {.field = {.resolution = 48}}),
      Shape::from_mesh(make_torus(ring), {.field = {.voxel_size = 0.03}}),
      Shape::from_analytic(TorusField{.radius = 0.5, .tube_radius = 0.2}, {.spacing = 0.05})};
  int overlaps = 0, touches = 0;
  const int cases = unless_slow(60, 10);
  for (int i = 0; i < cases; ++i) {
    const Shape& a = shapes[static_cast<std::size_t>(random.uniform(0, 2.999))];
    const Shape& b = shapes[static_cast<std::size_t>(random.uniform(0, 2.999))];
    Pose from = random_place(random, 0.8), to = from;
    to.translation = to.translation + random.in_box({-.1, -.1, -.1}, {.1, .1, .1});
    const DistanceRequest asked{.accuracy = i % 3 == 0 ? Accuracy::kField : Accuracy::kBest};
    const DistanceResult with = distance(a, from, b, {}, asked, distances);
    const DistanceResult without = distance(a, from, b, {}, asked);
    ASSERT_EQ(with.distance, without.distance);
    ASSERT_EQ(with.lower_bound, without.lower_bound);
    ASSERT_TRUE(is_same_contact(with.contact, without.contact));
    overlaps += with.distance < 0 ? 1 : 0;
    ContinuousRequest request{.accuracy = i % 2 == 0 ? Accuracy::kField : Accuracy::kBest};
    if (i % 5 == 0) request.mode = Mode::kAll;
    const ContinuousResult plain = continuous_collide(a, {from, to}, b, at_rest({}), request);
    for (ContinuousScratch* scratch : {&motions, &coherent}) {
      const ContinuousResult& r =
          continuous_collide(a, {from, to}, b, at_rest({}), request, *scratch);
      ASSERT_EQ(r.status, plain.status);
      ASSERT_EQ(r.time_of_contact, plain.time_of_contact);
      ASSERT_EQ(r.blind_depth, plain.blind_depth);
      ASSERT_EQ(r.points.size(), plain.points.size());
      ASSERT_EQ(r.contacts.size(), plain.contacts.size());
      ASSERT_TRUE(is_same_contact(r.contact, plain.contact));
    }
    touches += plain.status == ContinuousStatus::kContact ? 1 : 0;
  }
  EXPECT_GT(overlaps, cases / 10);
  EXPECT_GT(touches, cases / 10);
  EXPECT_LT(touches, cases);
  ContinuousScratch moved = std::move(motions);
  EXPECT_NO_THROW(continuous_collide(settings_ball(), {}, settings_ball(), at_rest({}), {}, moved));
  EXPECT_NO_THROW(
      continuous_collide(settings_ball(), {}, settings_ball(), at_rest({}), {}, motions));
}

}  // namespace
}  // namespace isotact
