// Mode::kAny and batches: beside all pairs of triangles, full queries and single calls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "queries/swept/motions.h"
#include "support/allocation_count.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

struct Part {
  TriangleMesh mesh;
  Shape shape;
};

Part make_part(const TriangleMesh& mesh) {
  return {mesh, Shape::from_mesh(mesh, {.field = {.resolution = 40}, .points = 400})};
}

TriangleMesh scaled(TriangleMesh mesh, float by) {
  for (Vec3f& p : mesh.positions) p = p * by;
  return mesh;
}

// A sheet without an inside, in two pieces.
TriangleMesh make_sheet() {
  return {
      .positions =
          {{-1, 0, -1}, {1, 0, -1}, {0, 0, 0.2F}, {-1, 0.3F, 0.4F}, {1, 0.3F, 0.4F}, {0, 0.2F, 1}},
      .triangles = {{0, 2, 1}, {3, 5, 4}}};
}

// Of very different sizes, with large triangles and small ones, closed and open, in parts.
const std::vector<Part>& parts() {
  static const std::vector<Part> all = [] {
    std::vector<Part> made;
    made.push_back(make_part(make_shape("gear")));
    made.push_back(make_part(make_shape("bowl")));
    made.push_back(make_part(make_box({})));
    made.push_back(make_part(scaled(make_sphere({.frequency = 4}), 0.03F)));
    made.push_back(make_part(make_sheet()));
    return made;
  }();
  return all;
}

double size_of(const Part& part) { return length(extent(to_double(bounds(part.mesh)))); }

// Middles as near as both sizes allow, so that half of the pairs touch.
Pose place_near(const Part& a, const Part& b, Random& random) {
  Pose pose{.rotation = random.rotation()};
  pose.translation = random.unit_vector() * (0.6 * (size_of(a) + size_of(b)) * random.uniform());
  return pose;
}

bool touch_all_pairs(const Part& a, const Part& b, const Pose& pose) {
  return compute_mesh_distance_brute_force(a.mesh, b.mesh, pose).touching;
}

TEST(CollideAny, IsTheVerdictOfAllPairsOfTriangles) {
  Random random(61);
  CollideScratch scratch;  // of all pairs: what it remembers is often wrong
  int touching = 0, contained = 0, free = 0;
  for (int i = 0; i < unless_slow(1000, 60); ++i) {
    const std::size_t k = random.below(5), l = random.below(5);
    const Part &a = parts()[k], &b = parts()[l];
    if (a.mesh.triangles.size() * b.mesh.triangles.size() > 50'000) continue;  // takes too long
    const Pose pose = place_near(a, b, random);
    const CollideResult& any = collide(a.shape, {}, b.shape, pose, {.mode = Mode::kAny}, scratch);
    SCOPED_TRACE(i);
    ASSERT_TRUE(any.exact && any.blind_depth == 0 && any.complete);
    const bool crosses = touch_all_pairs(a, b, pose);
    const DistanceResult d = distance(a.shape, {}, b.shape, pose, {.want_depth = false});
    ASSERT_EQ(d.touching, crosses);
    ASSERT_EQ(any.status, crosses || d.contained ? CollideStatus::kContact : CollideStatus::kFree);
    (crosses ? touching : d.contained ? contained : free)++;
    ASSERT_EQ(any.contacts.size(), any.status == CollideStatus::kContact ? 1U : 0U);
    ASSERT_EQ(any.first_contact.size(), any.contacts.size() + 1);
    if (any.contacts.empty()) continue;
    const Contact& c = any.contacts[0];
    const double size = size_of(a) + size_of(b);
    ASSERT_NEAR(length(c.normal), 1, 1e-9);
    ASSERT_NEAR(length(c.point_on_a - c.point_on_b), c.depth, 1e-6 * size);
    if (crosses) {
      ASSERT_EQ(c.depth, 0);
    }
    // Both are points of surfaces, but for the part that is inside.
    const Vec3f in_b = to_float(transform_point(inverse(pose), c.point_on_b));
    ASSERT_LE(find_closest_point(Bvh(a.mesh), to_float(c.point_on_a)).distance, 1e-5 * size);
    ASSERT_LE(find_closest_point(Bvh(b.mesh), in_b).distance, 1e-5 * size);
  }
  EXPECT_GT(touching, unless_slow(60, 3));
  EXPECT_GT(contained, unless_slow(10, -1));
  EXPECT_GT(free, unless_slow(100, 3));
}

// Thousands of poses near contact: the statuses of full queries and of distances.
TEST(CollideAny, AgreesWithFullQueries) {
  Random random(62);
  CollideScratch any_scratch, all_scratch;
  int touching = 0, by_margin = 0, rounds = 0;
  for (int i = 0; i < unless_slow(2000, 60); ++i) {
    const Part &a = parts()[random.below(5)], &b = parts()[random.below(5)];
    const Pose of_a = random_pose(random, 1);
    const Pose of_b = of_a * place_near(a, b, random);
    const double margin = i % 3 == 0 ? 0.1 * random.uniform() * size_of(b) : 0;
    SCOPED_TRACE(i);
    const auto any =
        collide(a.shape, of_a, b.shape, of_b, {.mode = Mode::kAny, .margin = margin}, any_scratch)
            .status;
    const auto all = collide(a.shape, of_a, b.shape, of_b, {.margin = margin}, all_scratch).status;
    const DistanceResult d = distance(a.shape, of_a, b.shape, of_b, {.want_depth = false});
    ASSERT_EQ(any, all);
    const bool touch = d.touching || d.contained || d.distance <= margin;
    ASSERT_EQ(any, touch ? CollideStatus::kContact : CollideStatus::kFree);
    touching += touch ? 1 : 0;
    by_margin += touch && !d.touching && !d.contained ? 1 : 0;
    ++rounds;
  }
  EXPECT_GT(touching, rounds / 4);
  EXPECT_LT(touching, 9 * rounds / 10);
  EXPECT_GT(by_margin, unless_slow(25, -1));
}

// After a contact, samples decide where they can: how bodies touch is still what triangles say. Of
// two balls that are one mesh, the one that a sample finds inside may lie there whole.
TEST(Collide, SamplesProveOnlyWhatTrianglesSay) {
  TriangleMesh balls = make_sphere({.frequency = 2});
  const auto count = static_cast<std::uint32_t>(balls.positions.size());
  const std::size_t triangles = balls.triangles.size();
  for (std::uint32_t i = 0; i < count; ++i)
    balls.positions.push_back(balls.positions[i] + Vec3f{30, 0, 0});
  for (std::size_t t = 0; t < triangles; ++t) {
    const Triangle v = balls.triangles[t];
    balls.triangles.push_back({v[0] + count, v[1] + count, v[2] + count});
  }
  const Part of_two = make_part(scaled(std::move(balls), 0.03F));
  const Part* const bodies[] = {&of_two, parts().data(), &parts()[2], &parts()[3], &parts()[4]};
  Random random(67);
  CollideScratch scratch;
  int touching = 0, contained = 0, of_parts = 0, after = 0;
  bool was_contact = false;
  for (int i = 0; i < unless_slow(1500, 60); ++i) {
    const Part &a = *bodies[random.below(5)], &b = *bodies[random.below(5)];
    const Pose of_a = random_pose(random, 1);
    Pose near = place_near(a, b, random);
    if (&b == &of_two && i % 2 == 0) near.translation = near.translation * 0.2;
    const CollideResult& all = collide(a.shape, of_a, b.shape, of_a * near, {}, scratch);
    const DistanceResult d = distance(a.shape, {}, b.shape, near, {.want_depth = false});
    const bool crosses = d.touching;
    SCOPED_TRACE(i);
    ASSERT_EQ(all.status, crosses || d.contained ? CollideStatus::kContact : CollideStatus::kFree);
    ASSERT_EQ(all.touching, crosses);
    ASSERT_EQ(all.contained, !crosses && d.contained);
    touching += crosses && was_contact ? 1 : 0;
    contained += all.contained && was_contact ? 1 : 0;
    of_parts += all.contained && was_contact && (&a == &of_two || &b == &of_two) ? 1 : 0;
    after += was_contact ? 1 : 0;
    was_contact = all.status == CollideStatus::kContact;
  }
  EXPECT_GT(touching, unless_slow(100, 3));
  EXPECT_GT(contained, unless_slow(40, -1));
  EXPECT_GT(of_parts, unless_slow(10, -1));
  EXPECT_GT(after, unless_slow(300, 10));
}

TEST(CollideAny, ByTheFieldIsTheStatusOfAllPoints) {
  Random random(63);
  CollideScratch any_scratch, all_scratch;
  const Shape ground = Shape::from_analytic(PlaneField{});
  int touching = 0, rounds = 0;
  for (int i = 0; i < unless_slow(2000, 100); ++i) {
    const Part &a = parts()[random.below(4)], &b = parts()[random.below(4)];
    const Pose of_a = random_pose(random, 0.5);
    const bool on_ground = i % 5 == 0;
    const Shape& other = on_ground ? ground : b.shape;
    const Pose of_b = on_ground ? Pose{} : of_a * place_near(a, b, random);
    CollideRequest request{.accuracy = Accuracy::kField,
                           .margin = i % 4 == 0 ? 0.02 * (random.uniform() - 0.5) : 0,
                           .only_points = true};
    if (i % 7 == 0) request.roles = Roles::kPointsOfA;
    const CollideResult& all = collide(a.shape, of_a, other, of_b, request, all_scratch);
    request.mode = Mode::kAny;
    const CollideResult& any = collide(a.shape, of_a, other, of_b, request, any_scratch);
    SCOPED_TRACE(i);
    ASSERT_FALSE(any.exact);
    ASSERT_EQ(any.status, all.status);
    ASSERT_EQ(any.contacts.size(), any.status == CollideStatus::kContact ? 1U : 0U);
    if (!any.contacts.empty()) {
      ASSERT_GE(any.contacts[0].depth, -request.margin - 1e-6);
    }
    touching += any.status == CollideStatus::kContact ? 1 : 0;
    ++rounds;
  }
  EXPECT_GT(touching, rounds / 5);
  EXPECT_LT(touching, 19 * rounds / 20);
}

TEST(CollideAny, SolidsAgreeWithFormulas) {
  const Shape ball = Shape::from_analytic(SphereField{.radius = 0.5});
  const Shape rod = Shape::from_analytic(CapsuleField{{0, -1, 0}, {0, 1, 0}, 0.25});
  const Shape ground = Shape::from_analytic(PlaneField{});
  Random random(64);
  CollideScratch scratch;
  int touching = 0;
  for (int i = 0; i < 600; ++i) {
    const Pose pose = random_pose(random, 1);
    const double margin = i % 2 == 0 ? 0 : 0.2 * random.uniform();
    const CollideRequest request{.mode = Mode::kAny, .margin = margin};
    const auto touches = [&](const Shape& a, const Shape& b) {
      const CollideResult& r = collide(a, {}, b, pose, request, scratch);
      EXPECT_TRUE(r.exact);
      touching += r.status == CollideStatus::kContact ? 1 : 0;
      return r.status == CollideStatus::kContact;
    };
    const Vec3 at = pose.translation;
    ASSERT_EQ(touches(ball, ball), length(at) - 1 <= margin);
    ASSERT_EQ(touches(ground, ball), at.y - 0.5 <= margin);
    const Vec3 in_rod = transform_point(inverse(pose), {});
    const double to_axis =
        length(Vec3{in_rod.x, in_rod.y - std::clamp(in_rod.y, -1.0, 1.0), in_rod.z});
    ASSERT_EQ(touches(ball, rod), to_axis - 0.75 <= margin);
  }
  EXPECT_GT(touching, 300);
  EXPECT_LT(touching, 1700);
}

// Faces, edges and corners that share points exactly, and by less than any plane could tell.
TEST(CollideAny, TouchingWithoutOverlapIsContact) {
  const Part& box = parts()[2];
  Random random(65);
  for (int i = 0; i < 300; ++i) {
    Vec3 at{1, i % 2 == 0 ? 1.0 : 0.25, i % 3 == 0 ? 1.0 : -0.5};
    SCOPED_TRACE(i);
    EXPECT_EQ(collide(box.shape, {}, box.shape, {.translation = at}, {.mode = Mode::kAny}).status,
              CollideStatus::kContact);
    at.x = 1 + 1e-9 * (1 + random.uniform());
    EXPECT_EQ(collide(box.shape, {}, box.shape, {.translation = at}, {.mode = Mode::kAny}).status,
              CollideStatus::kFree);
  }
}

TEST(CollideAny, RefusesWhatItCannotSay) {
  const Shape& box = parts()[2].shape;
  const auto refuses = [&](CollideRequest request) {
    request.mode = Mode::kAny;
    EXPECT_THROW(collide(box, {}, box, {}, request), Error);
  };
  refuses({.want_distance = true});
  refuses({.want_force = true});
  refuses({.patches = 3});
  refuses({.level = 2});
  refuses({.max_nodes = 5});
  refuses({.max_microseconds = 5});
  refuses({.method = Method::kDepthMap});
  refuses({.accuracy = Accuracy::kExact, .method = Method::kPoints});
  EXPECT_THROW(collide(box, {}, box, {}, {.mode = Mode::kFirst}), Error);
}

TEST(CollideAny, LimitsGiveUpWithBounds) {
  Random random(68);
  CollideScratch scratch;
  int gave_up = 0, settled = 0;
  for (int i = 0; i < unless_slow(200, 100); ++i) {
    const Part &a = parts()[random.below(5)], &b = parts()[random.below(5)];
    const Pose pose = place_near(a, b, random);
    const DistanceResult truth = distance(a.shape, {}, b.shape, pose);
    const CollideStatus verdict = collide(a.shape, {}, b.shape, pose, {}).status;
    for (const Mode mode : {Mode::kAll, Mode::kAny}) {
      SCOPED_TRACE(i);
      const CollideRequest request{.mode = mode, .max_tests = 1 + random.below(40)};
      const CollideResult& r = collide(a.shape, {}, b.shape, pose, request, scratch);
      ASSERT_EQ(r.first_contact.front(), 0U);
      ASSERT_EQ(r.first_contact.back(), r.contacts.size());
      if (r.status != CollideStatus::kGaveUp) {
        ASSERT_EQ(r.status, verdict);
        ++settled;
        continue;
      }
      ++gave_up;
      ASSERT_FALSE(r.exact || r.complete);
      ASSERT_TRUE(r.contacts.empty());
      ASSERT_EQ(r.first_contact.size(), 1U);
      ASSERT_LE(r.least_distance, truth.upper_bound);
      ASSERT_GE(r.most_distance, truth.lower_bound);
      ASSERT_LE(r.least_distance, r.most_distance);
    }
  }
  EXPECT_GT(gave_up, unless_slow(40, 6));
  EXPECT_GT(settled, unless_slow(40, 6));
}

TEST(CollideAny, DoesNotAllocate) {
  const Part &a = parts()[0], &b = parts()[1];
  for (const Accuracy accuracy : {Accuracy::kBest, Accuracy::kField}) {
    Random random(66);
    CollideScratch scratch;
    const CollideRequest request{.accuracy = accuracy, .mode = Mode::kAny};
    for (const Shape* shape : {&a.shape, &b.shape}) prepare(*shape, request);
    collide(a.shape, {}, b.shape, {}, request, scratch);
    collide(a.shape, {}, b.shape, {.translation = {1, 0, 0}}, request, scratch);
    const std::size_t before = allocation_count();
    for (int i = 0; i < 50; ++i)
      collide(a.shape, {}, b.shape, place_near(a, b, random), request, scratch);
    EXPECT_EQ(allocation_count(), before);
  }
}

// ---- batches ------------------------------------------------------------------------------------

struct States {
  std::vector<Shape> bodies{};
  std::vector<ShapePair> pairs{};
  std::vector<Pose> poses{};

  PoseBatch batch() const { return {bodies, pairs, poses}; }
};

States make_states(std::size_t count, bool with_ground) {
  Random random(67);
  States s;
  for (const Part& part : parts()) s.bodies.push_back(part.shape);
  s.pairs = {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 0}};
  if (with_ground) {
    s.bodies.push_back(Shape::from_analytic(PlaneField{}));
    s.pairs.push_back({5, 0});
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < s.bodies.size(); ++k)
      s.poses.push_back({.rotation = random.rotation(),
                         .translation = random.unit_vector() * (1.2 * random.uniform())});
  return s;
}

bool is_same_row(const CollideRow& x, const CollideRow& y) {
  return x.status == y.status && x.exact == y.exact && x.pair == y.pair &&
         x.distance == y.distance && x.lower_bound == y.lower_bound &&
         x.contact.depth == y.contact.depth && x.contact.point_on_a == y.contact.point_on_a &&
         x.contact.point_on_b == y.contact.point_on_b && x.contact.normal == y.contact.normal &&
         x.contact.point == y.contact.point;
}

// By triangles, by fields, and with contacts: bit for bit, for any number of threads.
TEST(CollideBatch, IsThatOfSingleCallsForAnyThreads) {
  for (const bool with_ground : {false, true}) {
    const States s = make_states(unless_slow(700, 40), with_ground);
    const std::size_t n = s.bodies.size();
    for (const CollideRequest& request :
         {CollideRequest{.mode = Mode::kAny},
          CollideRequest{.accuracy = Accuracy::kField, .mode = Mode::kAny},
          CollideRequest{
              .accuracy = Accuracy::kField, .want_distance = true, .only_points = true}}) {
      std::vector<CollideRow> first;
      for (const int threads : {1, 2, 7}) {
        BatchScratch scratch;
        const auto rows =
            collide_batch(s.batch(), {.collide = request, .threads = {threads}}, scratch);
        ASSERT_EQ(rows.size(), s.poses.size() / n * s.pairs.size());
        if (first.empty()) first.assign(rows.begin(), rows.end());
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), first.begin(), is_same_row));
      }
      int touching = 0;
      for (std::size_t i = 0; i < first.size(); ++i) {
        const ShapePair& p = s.pairs[i % s.pairs.size()];
        const Pose* state = s.poses.data() + i / s.pairs.size() * n;
        const CollideResult single =
            collide(s.bodies[p.a], state[p.a], s.bodies[p.b], state[p.b], request);
        SCOPED_TRACE(i);
        ASSERT_EQ(first[i].status, single.status);
        ASSERT_EQ(first[i].exact, single.exact);
        ASSERT_EQ(first[i].distance, single.distance);
        ASSERT_EQ(first[i].lower_bound, single.lower_bound);
        touching += single.status == CollideStatus::kContact ? 1 : 0;
      }
      EXPECT_GT(touching, static_cast<int>(first.size()) / 10);
      EXPECT_LT(touching, static_cast<int>(9 * first.size()) / 10);
    }
  }
}

TEST(CollideBatch, StopsAtTheFirstPair) {
  const States s = make_states(unless_slow(900, 60), false);
  const std::size_t n = s.bodies.size(), pairs = s.pairs.size();
  for (const Accuracy accuracy : {Accuracy::kBest, Accuracy::kField}) {
    CollideBatchRequest request{.collide = {.accuracy = accuracy, .mode = Mode::kAny}};
    BatchScratch all_scratch;
    const auto all = collide_batch(s.batch(), request, all_scratch);
    request.stop_at_first = true;
    std::vector<CollideRow> first;
    for (const int threads : {1, 2, 7}) {
      BatchScratch scratch;
      request.threads = {threads};
      const auto rows = collide_batch(s.batch(), request, scratch);
      ASSERT_EQ(rows.size(), s.poses.size() / n);
      if (first.empty()) first.assign(rows.begin(), rows.end());
      ASSERT_TRUE(std::equal(rows.begin(), rows.end(), first.begin(), is_same_row));
    }
    int touching = 0;
    BatchScratch one_by_one;
    for (std::size_t i = 0; i < first.size(); ++i) {
      SCOPED_TRACE(i);
      const auto row_of = [&](std::size_t k) { return all[i * pairs + k].status; };
      bool any = false;
      for (std::size_t k = 0; k < pairs; ++k) any = any || row_of(k) == CollideStatus::kContact;
      ASSERT_EQ(first[i].status == CollideStatus::kContact, any);
      ASSERT_EQ(first[i].pair != kNoPair, any);
      if (any) {
        ASSERT_EQ(row_of(first[i].pair), CollideStatus::kContact);
      }
      PoseBatch one = s.batch();
      one.world_from_body = one.world_from_body.subspan(i * n, n);
      ASSERT_EQ(collide_batch(one, request, one_by_one)[0].status, first[i].status);
      touching += any ? 1 : 0;
    }
    EXPECT_GT(touching, static_cast<int>(first.size()) / 10);
    EXPECT_LT(touching, static_cast<int>(first.size()));
  }
}

TEST(CollideBatch, PosesOfOnePairAreThoseOfSingleCalls) {
  const Part &a = parts()[0], &b = parts()[1];
  Random random(68);
  const Pose of_a = random_pose(random, 1);
  std::vector<Pose> poses;
  for (int i = 0; i < unless_slow(1500, 60); ++i) poses.push_back(of_a * place_near(a, b, random));
  BatchScratch scratch;
  const auto rows = collide_poses(a.shape, of_a, b.shape, poses, {}, scratch);
  ASSERT_EQ(rows.size(), poses.size());
  for (std::size_t i = 0; i < poses.size(); ++i)
    ASSERT_EQ(rows[i].status,
              collide(a.shape, of_a, b.shape, poses[i], {.mode = Mode::kAny}).status);
  EXPECT_TRUE(collide_poses(a.shape, of_a, b.shape, {}, {}, scratch).empty());
}

TEST(DistanceBatch, IsThatOfSingleCallsForAnyThreads) {
  const States s = make_states(unless_slow(24, 4), true);
  const std::size_t n = s.bodies.size();
  for (const DistanceRequest& request :
       {DistanceRequest{}, DistanceRequest{.max_distance = 0.3, .want_depth = false},
        DistanceRequest{.accuracy = Accuracy::kField, .max_values = 50'000}}) {
    std::vector<DistanceResult> single;
    for (std::size_t state = 0; state < s.poses.size(); state += n)
      for (const ShapePair& p : s.pairs)
        single.push_back(distance(s.bodies[p.a], s.poses[state + p.a], s.bodies[p.b],
                                  s.poses[state + p.b], request));
    for (const int threads : {1, 2, 7}) {
      BatchScratch scratch;
      const auto rows =
          distance_batch(s.batch(), {.distance = request, .threads = {threads}}, scratch);
      ASSERT_EQ(rows.size(), single.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        SCOPED_TRACE(i);
        ASSERT_EQ(rows[i].distance, single[i].distance);
        ASSERT_EQ(rows[i].lower_bound, single[i].lower_bound);
        ASSERT_EQ(rows[i].upper_bound, single[i].upper_bound);
        ASSERT_EQ(rows[i].touching, single[i].touching);
        ASSERT_EQ(rows[i].contained, single[i].contained);
        ASSERT_EQ(rows[i].contact.point_on_a, single[i].contact.point_on_a);
        ASSERT_EQ(rows[i].contact.point_on_b, single[i].contact.point_on_b);
      }
    }
    BatchScratch scratch;
    const auto rows = distance_poses(s.bodies[0], s.poses[0], s.bodies[1], {&s.poses[1], 1},
                                     {.distance = request}, scratch);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].distance, single[0].distance);
  }
}

TEST(CollideBatch, RefusesWhatIsNotWhole) {
  const States s = make_states(3, false);
  BatchScratch scratch;
  PoseBatch cut = s.batch();
  cut.world_from_body = cut.world_from_body.subspan(1);
  EXPECT_THROW(collide_batch(cut, {}, scratch), Error);
  EXPECT_THROW(distance_batch(cut, {}, scratch), Error);
  const std::vector<ShapePair> wrong{{0, 5}};
  PoseBatch missing = s.batch();
  missing.pairs = wrong;
  EXPECT_THROW(collide_batch(missing, {}, scratch), Error);
  EXPECT_THROW(collide_batch({}, {}, scratch), Error);
  std::vector<Pose> poses = s.poses;
  poses.back().translation.x = std::nan("");
  PoseBatch bad = s.batch();
  bad.world_from_body = poses;
  EXPECT_THROW(collide_batch(bad, {}, scratch), Error);
  EXPECT_THROW(collide_batch(s.batch(), {.collide = {.mode = Mode::kFirst}}, scratch), Error);
}

}  // namespace
}  // namespace isotact
