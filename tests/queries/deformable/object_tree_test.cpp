#include "isotact/queries/deformable/object_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/self_intersection.h"
#include "isotact/queries/deformable/detail/object_tree_state.h"

#include "support/allocation_count.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

struct BendingMesh {
  std::vector<Vec3> positions;
  std::vector<Triangle> triangles;
};

BendingMesh bending(const TriangleMesh& mesh) {
  BendingMesh result{{}, mesh.triangles};
  for (const Vec3f& p : mesh.positions) result.positions.push_back(to_double(p));
  return result;
}

// Triangles all over the place, among them slivers, points, and some that share corners.
BendingMesh random_soup(Random& random, std::uint32_t count) {
  BendingMesh mesh;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 at = random.in_box({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5});
    const double size = random.below(10) == 0 ? 0.5 : 0.1;
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (int k = 0; k < 3; ++k) mesh.positions.push_back(at + random.in_unit_ball() * size);
    Triangle t{first, first + 1, first + 2};
    if (random.below(8) == 0) t[2] = t[0];
    if (random.below(8) == 0) t[1] = random.below(first + 3);
    mesh.triangles.push_back(t);
  }
  return mesh;
}

// On a lattice, up to far less than a float can tell: many boxes touch, or miss by a hair.
BendingMesh random_lattice_soup(Random& random, std::uint32_t count) {
  BendingMesh mesh = random_soup(random, count);
  for (Vec3& p : mesh.positions)
    for (std::size_t k = 0; k < 3; ++k)
      p[k] = std::round(p[k] * 6) / 6 + (random.below(2) == 0 ? 1e-13 * random.uniform(-1, 1) : 0);
  return mesh;
}

BendingMesh random_body(Random& random) {
  switch (random.below(6)) {
    case 0:
      return bending(make_sphere({.frequency = static_cast<int>(1 + random.below(4))}));
    case 1:
      return bending(make_torus({.segments = 12, .tube_segments = 6}));
    case 2:
      return bending(make_box({.segments = static_cast<int>(1 + random.below(5))}));
    case 3:
      return random_lattice_soup(random, 1 + random.below(120));
    default:
      return random_soup(random, 1 + random.below(200));
  }
}

std::vector<Vec3> bent(const std::vector<Vec3>& rest, Random& random) {
  const Vec3 wave = random.in_unit_ball() * 8, by = random.in_unit_ball() * 0.3;
  const Vec3 at = random.in_unit_ball() * 1.1;
  const double noise = random.below(8) == 0 ? 0.3 : 0;
  std::vector<Vec3> result;
  for (const Vec3& p : rest) {
    const double phase = dot(wave, p);
    result.push_back(p + by * std::sin(phase) + at + random.in_unit_ball() * noise);
  }
  return result;
}

ObjectTreeSettings random_settings(Random& random, NodeVolume volume) {
  constexpr int kArities[] = {2, 4, 8};
  constexpr TreeCut kCuts[] = {TreeCut::kRegular, TreeCut::kBalanced, TreeCut::kCurve};
  constexpr int kParts[] = {1, 20, 50, 100000};
  constexpr int kLevels[] = {0, 1, 3, 16, 32};
  return {.arity = kArities[random.below(3)],
          .volume = volume,
          .cut = kCuts[random.below(3)],
          .leaf_triangles = static_cast<int>(1 + random.below(12)),
          .max_level = kLevels[random.below(5)],
          .part_triangles = kParts[random.below(4)]};
}

std::vector<TrianglePair> sorted(std::vector<TrianglePair> pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

using FindPairs = TreeWork (*)(ObjectTree&, ObjectTree&, const TreeSearch&,
                               std::vector<TrianglePair>&);

std::vector<TrianglePair> found(FindPairs find, ObjectTree& a, ObjectTree& b,
                                const TreeSearch& search) {
  std::vector<TrianglePair> pairs;
  find(a, b, search, pairs);
  return pairs;
}

// Two bodies that bend, at rest or on their way.
struct BendingPair {
  BendingMesh a, b;
  ObjectTree tree_a, tree_b;
  std::vector<Vec3> a_t0, a_t1, b_t0, b_t1;

  BendingPair(Random& random, NodeVolume volume)
      : a(random_body(random)),
        b(random_body(random)),
        tree_a(a.positions, a.triangles, random_settings(random, volume)),
        tree_b(b.positions, b.triangles, random_settings(random, volume)) {}
  BendingPair(Random& random, const ObjectTreeSettings& settings)
      : a(random_body(random)),
        b(random_body(random)),
        tree_a(a.positions, a.triangles, settings),
        tree_b(b.positions, b.triangles, settings) {}

  void move(Random& random) {
    a_t0 = bent(a.positions, random);
    b_t0 = bent(b.positions, random);
    if (random.below(2) == 0) {
      tree_a.set_positions(a_t0);
    } else {
      a_t1 = bent(a.positions, random);
      tree_a.set_positions(a_t0, a_t1);
    }
    if (random.below(2) == 0) {
      tree_b.set_positions(b_t0);
    } else {
      b_t1 = bent(b.positions, random);
      tree_b.set_positions(b_t0, b_t1);
    }
  }
};

void compare_with_brute_force(NodeVolume volume, std::uint64_t seed) {
  Random random(seed);
  std::size_t cases = 0, with_pairs = 0, candidates = 0, pairs = 0, self_pairs = 0, in_sets = 0,
              of_sets = 0;
  for (int body = 0; body < unless_slow(250, 40); ++body) {
    BendingPair p(random, volume);
    for (int step = 0; step < 4; ++step) {
      p.move(random);
      const TreeSearch search{random.below(2) == 0 ? 0 : random.uniform(0, 0.1)};
      const auto want = sorted(found(find_triangle_pairs_brute_force, p.tree_a, p.tree_b, search));
      ASSERT_EQ(sorted(found(find_triangle_pairs, p.tree_a, p.tree_b, search)), want);
      std::vector<TrianglePair> self, self_want;
      find_self_pairs(p.tree_a, search, self);
      find_self_pairs_brute_force(p.tree_a, search, self_want);
      ASSERT_EQ(sorted(self), sorted(self_want));
      ContactSets sets, sets_want;
      find_contact_sets(p.tree_a, p.tree_b, search, sets);
      find_contact_sets_brute_force(p.tree_a, p.tree_b, search, sets_want);
      ASSERT_EQ(sets, sets_want);
      ++cases;
      with_pairs += want.empty() ? 0U : 1U;
      candidates += p.a.triangles.size() * p.b.triangles.size();
      pairs += want.size();
      self_pairs += self.size();
      in_sets += sets.triangles_a.size();
      of_sets += p.a.triangles.size();
    }
    ASSERT_EQ(find_flaw(p.tree_a), std::nullopt);
  }
  const auto share = [](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  EXPECT_GT(share(with_pairs, cases), 0.5);
  EXPECT_LT(share(with_pairs, cases), 0.99);
  EXPECT_GT(share(pairs, candidates), 0.01);
  EXPECT_LT(share(pairs, candidates), 0.3);
  EXPECT_GT(share(in_sets, of_sets), 0.2);
  EXPECT_LT(share(in_sets, of_sets), volume == NodeVolume::kBox ? 0.95 : 0.99);
  EXPECT_GT(self_pairs, cases);
}

TEST(ObjectTree, BoxesFindWhatBruteForceFinds) { compare_with_brute_force(NodeVolume::kBox, 1); }
TEST(ObjectTree, SpheresFindWhatBruteForceFinds) {
  compare_with_brute_force(NodeVolume::kSphere, 2);
}

// Spheres may leave pairs out, but none of triangles that meet.
TEST(ObjectTree, SpheresMissNoTrianglesThatMeet) {
  Random random(3);
  std::size_t meeting = 0;
  for (int i = 0; i < unless_slow(60, 10); ++i) {
    BendingPair p(random, {.volume = NodeVolume::kSphere, .leaf_triangles = 1});
    const auto round_all = [](std::vector<Vec3> points) {
      for (Vec3& q : points) q = to_double(to_float(q));
      return points;
    };
    const auto a = round_all(bent(p.a.positions, random)),
               b = round_all(bent(p.b.positions, random));
    p.tree_a.set_positions(a);
    p.tree_b.set_positions(b);
    const auto pairs = sorted(found(find_triangle_pairs, p.tree_a, p.tree_b, {}));
    const auto corners = [](const std::vector<Vec3>& at, const Triangle& t) {
      return TriangleCorners{to_float(at[t[0]]), to_float(at[t[1]]), to_float(at[t[2]])};
    };
    ObjectTree boxes_a(a, p.a.triangles), boxes_b(b, p.b.triangles);
    for (const TrianglePair& pair : found(find_triangle_pairs, boxes_a, boxes_b, {})) {
      if (find_contact_triangle_triangle(corners(a, p.a.triangles[pair.a]),
                                         corners(b, p.b.triangles[pair.b])) ==
          TriangleContact::kNone)
        continue;
      ++meeting;
      ASSERT_TRUE(std::binary_search(pairs.begin(), pairs.end(), pair));
    }
  }
  EXPECT_GT(meeting, unless_slow(500U, 100U));
}

// Bits and order do not depend on the width of lanes, nor on threads.
TEST(ObjectTree, GivesTheSameForAllKernelsAndThreads) {
  Random random(4);
  std::size_t pairs = 0;
  for (int i = 0; i < unless_slow(150, 25); ++i) {
    BendingPair p(random, i % 4 == 0 ? NodeVolume::kSphere : NodeVolume::kBox);
    for (ObjectTree* tree : {&p.tree_a, &p.tree_b})
      tree->state().kernels = &detail::kBaselineTreeKernels;
    p.move(random);
    const TreeSearch search{random.below(2) == 0 ? 0 : random.uniform(0, 0.1)};
    std::vector<TrianglePair> narrow, wide, threads;
    find_triangle_pairs(p.tree_a, p.tree_b, search, narrow);
    find_self_pairs(p.tree_a, search, narrow);
    const auto bytes = [](const auto& v) {
      const auto* first = reinterpret_cast<const unsigned char*>(v.data());
      return std::vector<unsigned char>(first, first + v.size() * sizeof(v[0]));
    };
    const auto leaf_bytes = bytes(p.tree_a.state().leaf_blocks);
    for (ObjectTree* tree : {&p.tree_a, &p.tree_b}) {
      ObjectTree::State& s = tree->state();
      s.kernels = &detail::choose_tree_kernels(simd_level_of_cpu());
      s.is_top_fitted = false;
      std::fill(s.is_part_fitted.begin(), s.is_part_fitted.end(), std::uint8_t{0});
    }
    find_triangle_pairs(p.tree_a, p.tree_b, search, wide);
    find_self_pairs(p.tree_a, search, wide);
    ASSERT_EQ(narrow, wide);
    ASSERT_EQ(leaf_bytes, bytes(p.tree_a.state().leaf_blocks));
    const TreeSearch many{search.margin, {3}};
    find_triangle_pairs(p.tree_a, p.tree_b, many, threads);
    find_self_pairs(p.tree_a, many, threads);
    ASSERT_EQ(narrow, threads);
    pairs += narrow.size();
  }
  EXPECT_GT(pairs, 1000U);
}

TEST(ObjectTree, FitsOnlyWhatASearchComesBy) {
  const BendingMesh ball = bending(make_sphere({.frequency = 40}));
  std::vector<Vec3> beside = ball.positions;
  for (Vec3& p : beside) p.x += 0.97;
  ObjectTree a(ball.positions, ball.triangles), b(ball.positions, ball.triangles);
  b.set_positions(beside);
  std::vector<TrianglePair> pairs;
  const TreeWork first = find_triangle_pairs(a, b, {}, pairs);
  EXPECT_GT(pairs.size(), 100U);
  EXPECT_EQ(first.pairs, pairs.size());
  // Every vertex once, but for those between parts; corners of triangles only near the contact.
  EXPECT_LT(first.vertices_read, 2 * 1.8 * static_cast<double>(ball.positions.size()));
  EXPECT_LT(first.nodes_fitted, (a.leaf_count() + b.leaf_count()) / 4);
  const TreeWork second = find_triangle_pairs(a, b, {}, pairs);
  EXPECT_EQ(second.vertices_read, 0U);
  EXPECT_EQ(second.nodes_fitted, 0U);
  EXPECT_EQ(second.pairs, first.pairs);
  for (Vec3& p : beside) p.x += 1;
  b.set_positions(beside);
  pairs.clear();
  find_triangle_pairs(a, b, {}, pairs);
  EXPECT_TRUE(pairs.empty());
}

// The paper keeps vertices in its octree, and bounds of them. A thin bar that pierces the middle of
// a large face is near none of that face's vertices.
TEST(ObjectTree, BoundsWholeTrianglesWhereBoxesOfVerticesMissThem) {
  const BendingMesh plate{{{-1, 0, -1}, {1, 0, -1}, {0, 0, 2}, {1, 0, 2}, {3, 0, 2}},
                          {{0, 1, 2}, {1, 4, 3}}};
  const BendingMesh bar{{{0, -0.5, 0}, {0.01, 0.5, 0}, {0, 0.5, 0.01}}, {{0, 1, 2}}};
  const ObjectTreeSettings fine{.leaf_triangles = 1};
  ObjectTree a(plate.positions, plate.triangles, fine), b(bar.positions, bar.triangles, fine);

  // Leaves of an octree of the plate's vertices, with one each: their boxes are these points.
  Aabb around_bar;
  for (const Vec3& p : bar.positions) extend(around_bar, p);
  for (const Vec3& p : plate.positions) EXPECT_FALSE(contains(around_bar, p));

  EXPECT_EQ(found(find_triangle_pairs, a, b, {}), (std::vector<TrianglePair>{{0, 0}}));
  ContactSets sets;
  find_contact_sets(a, b, {}, sets);
  EXPECT_EQ(sets.triangles_a, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(sets.vertices_a, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(sets.vertices_b, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(ObjectTree, CutsAsItIsTold) {
  const BendingMesh ball = bending(make_sphere({.frequency = 12}));
  for (const int arity : {2, 4, 8})
    for (const TreeCut cut : {TreeCut::kRegular, TreeCut::kBalanced, TreeCut::kCurve})
      for (const int level : {0, 1, 2}) {
        ObjectTree tree(ball.positions, ball.triangles,
                        {.arity = arity, .cut = cut, .leaf_triangles = 1, .max_level = level});
        const auto most = static_cast<std::size_t>(std::lround(std::pow(arity, level)));
        // A curve's last node may be the only one of its kind.
        EXPECT_LE(tree.leaf_count(), most);
        EXPECT_GT(tree.leaf_count(), most / 4);
        EXPECT_EQ(find_flaw(tree), std::nullopt);
      }
  ObjectTree balanced(ball.positions, ball.triangles, {.leaf_triangles = 8});
  for (std::size_t i = 0; i < balanced.leaf_count(); ++i) EXPECT_LE(balanced.leaf(i).size(), 8U);
  EXPECT_EQ(balanced.leaf_count(), ball.triangles.size() / 8);
}

// A regular cut is at the middle of cubes: what lies in one octant of the cube is one child.
TEST(ObjectTree, RegularCutsAreAtTheMiddleOfTheCube) {
  Random random(6);
  BendingMesh mesh = random_soup(random, 400);
  for (Triangle& t : mesh.triangles) t[1] = t[0], t[2] = t[0];  // their middles are vertices
  ObjectTree tree(mesh.positions, mesh.triangles,
                  {.cut = TreeCut::kRegular, .leaf_triangles = 1, .max_level = 1});
  Aabb box;
  for (const Triangle& t : mesh.triangles) extend(box, mesh.positions[t[0]]);
  const Vec3 middle = center(box);
  EXPECT_EQ(tree.leaf_count(), 8U);
  for (std::size_t i = 0; i < tree.leaf_count(); ++i) {
    std::set<int> octants;
    for (const std::uint32_t triangle : tree.leaf(i)) {
      const Vec3& p = mesh.positions[mesh.triangles[triangle][0]];
      octants.insert((p.x > middle.x ? 1 : 0) + (p.y > middle.y ? 2 : 0) +
                     (p.z > middle.z ? 4 : 0));
    }
    EXPECT_EQ(octants.size(), 1U);
  }
}

TEST(ObjectTree, TakesEmptyAndTinyBodies) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Triangle> one{{0, 1, 2}};
  for (const NodeVolume volume : {NodeVolume::kBox, NodeVolume::kSphere}) {
    ObjectTree nothing({}, {}, {.volume = volume}), empty(points, {}, {.volume = volume});
    ObjectTree single(points, one, {.volume = volume});
    EXPECT_TRUE(found(find_triangle_pairs, nothing, single, {}).empty());
    EXPECT_TRUE(found(find_triangle_pairs, single, empty, {1}).empty());
    EXPECT_EQ(found(find_triangle_pairs, single, single, {}), (std::vector<TrianglePair>{{0, 0}}));
    std::vector<TrianglePair> self;
    find_self_pairs(single, {}, self);
    find_self_pairs(nothing, {}, self);
    EXPECT_TRUE(self.empty());
    ContactSets sets{{1}, {2}, {3}, {4}};
    find_contact_sets(single, empty, {}, sets);
    EXPECT_EQ(sets, ContactSets{});
    EXPECT_EQ(find_flaw(nothing), std::nullopt);
    ObjectTree moved = std::move(single);
    EXPECT_EQ(moved.triangle_count(), 1U);
  }
}

// A body whose triangles all lie in one place cannot be cut; they are pairs all the same.
TEST(ObjectTree, TakesTrianglesInOnePlace) {
  const std::vector<Vec3> points{{1, 2, 3}, {1, 2, 3}};
  const std::vector<Triangle> many(50, Triangle{0, 1, 0});
  for (const TreeCut cut : {TreeCut::kRegular, TreeCut::kBalanced, TreeCut::kCurve}) {
    ObjectTree tree(points, many, {.cut = cut, .leaf_triangles = 2});
    std::vector<TrianglePair> self;
    find_self_pairs(tree, {}, self);
    EXPECT_EQ(self.size(), 50U * 49U / 2U);
    EXPECT_EQ(find_flaw(tree), std::nullopt);
  }
}

TEST(ObjectTree, NanCountsForNothingAndHugeNumbersAreWelcome) {
  Random random(7);
  std::size_t pairs = 0, without = 0;
  constexpr double kOdd[] = {kNoNumber, kInfinite, -kInfinite, 1e300, -1e300, 3.4e38, 1e-310, 0};
  for (int i = 0; i < unless_slow(400, 60); ++i) {
    BendingPair p(random, i % 3 == 0 ? NodeVolume::kSphere : NodeVolume::kBox);
    p.move(random);
    const std::uint32_t often = 1 + random.below(60);
    for (std::vector<Vec3>* points : {&p.a_t0, &p.b_t0, &p.a_t1, &p.b_t1})
      for (Vec3& point : *points)
        if (random.below(often) == 0) point[random.below(3)] = kOdd[random.below(8)];
    constexpr double kMargins[] = {0, 0.1, 1e-320, 1e39, 1e300, kInfinite};
    const TreeSearch search{kMargins[random.below(6)]};
    const auto want = sorted(found(find_triangle_pairs_brute_force, p.tree_a, p.tree_b, search));
    const auto got = sorted(found(find_triangle_pairs, p.tree_a, p.tree_b, search));
    ASSERT_EQ(got, want) << i;
    ContactSets sets, sets_want;
    find_contact_sets(p.tree_a, p.tree_b, search, sets);
    find_contact_sets_brute_force(p.tree_a, p.tree_b, search, sets_want);
    ASSERT_EQ(sets, sets_want) << i;
    pairs += want.size();
    without += want.empty() ? 1U : 0U;
  }
  EXPECT_GT(pairs, 10000U);
  EXPECT_GT(without, 0U);

  const std::vector<Vec3> none(3, Vec3{kNoNumber, 0, 0});
  const std::vector<Vec3> one{{0, 0, 0}, {1, 0, 0}, {0, 1, kNoNumber}};
  const std::vector<Triangle> t{{0, 1, 2}};
  ObjectTree a(none, t), b(one, t);
  EXPECT_TRUE(found(find_triangle_pairs, a, b, {kInfinite}).empty());
  EXPECT_EQ(found(find_triangle_pairs, b, b, {}).size(), 1U);
}

TEST(ObjectTree, SaysWhatIsWrong) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Triangle> one{{0, 1, 2}}, beyond{{0, 1, 3}};
  EXPECT_THROW(ObjectTree(points, beyond), Error);
  EXPECT_THROW(ObjectTree(points, one, {.arity = 3}), Error);
  EXPECT_THROW(ObjectTree(points, one, {.leaf_triangles = 0}), Error);
  EXPECT_THROW(ObjectTree(points, one, {.max_level = 33}), Error);
  EXPECT_THROW(ObjectTree(points, one, {.part_triangles = 0}), Error);
  ObjectTree tree(points, one), spheres(points, one, {.volume = NodeVolume::kSphere});
  EXPECT_THROW(tree.set_positions(std::span(points).first(2)), Error);
  EXPECT_THROW(tree.set_positions(points, std::span(points).first(2)), Error);
  EXPECT_THROW(found(find_triangle_pairs, tree, tree, {-1}), Error);
  EXPECT_THROW(found(find_triangle_pairs, tree, tree, {kNoNumber}), Error);
  EXPECT_THROW(found(find_triangle_pairs, tree, spheres, {}), Error);
}

TEST(ObjectTree, AsksForNoMemoryAgain) {
  const BendingMesh ball = bending(make_sphere({.frequency = 10}));
  std::vector<Vec3> beside = ball.positions;
  for (Vec3& p : beside) p.x += 0.9;
  ObjectTree a(ball.positions, ball.triangles), b(ball.positions, ball.triangles);
  std::vector<TrianglePair> pairs;
  const auto run = [&] {
    pairs.clear();
    a.set_positions(ball.positions);
    b.set_positions(beside);
    find_triangle_pairs(a, b, {0.01}, pairs);
  };
  run();
  const std::size_t before = allocation_count();
  run();
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(pairs.size(), 10U);
}

}  // namespace
}  // namespace isotact
