#include "isotact/geometry/bvh/bvh.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/brute_force.h"
#include "isotact/geometry/bvh/bvh_visit.h"
#include "isotact/geometry/bvh/detail/bvh_query.h"

#include "geometry/bvh/search_meshes.h"
#include "support/nan.h"

namespace isotact {
namespace {

using search_test::make_search_meshes;
using search_test::NamedMesh;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<SimdLevel> levels_here() {
  std::vector<SimdLevel> levels{SimdLevel::kBaseline};
  if (simd_level_of_cpu() == SimdLevel::kAvx2) levels.push_back(SimdLevel::kAvx2);
  return levels;
}

// Somewhere in and around the mesh; often exactly on a corner, an edge or a face.
Vec3f pick_point(Random& random, const NamedMesh& named, const Aabb& box) {
  const TriangleMesh& mesh = named.mesh;
  const Vec3 size = extent(box);
  if (mesh.triangles.empty() || random.below(2) == 0)
    return to_float(random.in_box(box.lower - size * 0.3, box.upper + size * 0.3));
  const auto c = corners(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())));
  const auto u = static_cast<float>(random.uniform());
  switch (random.below(3)) {
    case 0:
      return c[random.below(3)];
    case 1:
      return lerp(c[0], c[1], u);
    default:
      return lerp(lerp(c[0], c[1], u), c[2], static_cast<float>(random.uniform()));
  }
}

Aabb box_around(const Bvh& bvh) {
  return bvh.triangle_count() == 0 ? Aabb{{0, 0, 0}, {1, 1, 1}} : to_double(bvh.bounds());
}

Ray pick_ray(Random& random, const NamedMesh& named, const Aabb& box) {
  Ray ray{.origin = pick_point(random, named, box)};
  ray.direction = random.below(2) == 0 ? pick_point(random, named, box) - ray.origin
                                       : to_float(random.unit_vector());
  if (random.below(4) == 0) ray.direction[random.below(3)] = 0;
  if (random.below(8) == 0) ray.direction = ray.direction * 1e-6F;
  if (random.below(4) == 0) ray.t_min = -kInfinity;
  if (random.below(4) == 0) ray.t_max = static_cast<float>(random.uniform(0, 2));
  return ray;
}

TEST(Bvh, ClosestPointsEqualBruteForceToTheBit) {
  Random random(1);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    const Aabb box = box_around(bvh);
    const double reach = length(extent(box));
    int found = 0, limited = 0, on_face = 0;
    const int cases = named.mesh.triangles.size() > 1000 ? 200 : 600;
    for (int i = 0; i < cases; ++i) {
      const Vec3f point = pick_point(random, named, box);
      const bool limit = random.below(4) == 0;
      const float max_distance =
          limit ? static_cast<float>(random.uniform(0, 0.1) * reach) : kInfinity;
      const ClosestPoint expected =
          brute_force::find_closest_point(named.mesh, point, max_distance);
      for (const SimdLevel level : levels_here())
        ASSERT_EQ(detail::find_closest_point(bvh, point, max_distance, level), expected)
            << i << " " << name(level);
      found += expected.triangle != kNoTriangle ? 1 : 0;
      limited += expected.triangle == kNoTriangle ? 1 : 0;
      on_face += expected.feature == TriangleFeature::kFace ? 1 : 0;
    }
    if (bvh.triangle_count() < 100) continue;
    EXPECT_GT(found, cases / 2);
    EXPECT_GT(limited, 0);
    EXPECT_GT(on_face, cases / 20);
  }
}

TEST(Bvh, ClosestPointOfTiesIsTheLowestTriangle) {
  const TriangleMesh grid = search_test::make_grid(8);
  const Bvh bvh(grid);
  for (std::uint32_t j = 0; j <= 8; ++j)
    for (std::uint32_t i = 0; i <= 8; ++i) {
      const Vec3f above{static_cast<float>(i), static_cast<float>(j), 0.5F};
      std::uint32_t lowest = kNoTriangle;
      for (std::uint32_t t = 0; t < grid.triangles.size(); ++t)
        for (const std::uint32_t corner : grid.triangles[t])
          if (corner == j * 9 + i) lowest = std::min(lowest, t);
      const ClosestPoint closest = find_closest_point(bvh, above);
      EXPECT_EQ(closest.triangle, lowest);
      EXPECT_GE(closest.feature, TriangleFeature::kVertex0);
      EXPECT_EQ(closest.distance, 0.5F);
    }
}

TEST(Bvh, ClosestPointNamesTheFeature) {
  const TriangleMesh mesh{{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, {{0, 1, 2}}};
  const Bvh bvh(mesh);
  const std::pair<Vec3f, TriangleFeature> cases[] = {
      {{1, 1, 3}, TriangleFeature::kFace},      {{2, -1, 1}, TriangleFeature::kEdge0},
      {{3, 3, 1}, TriangleFeature::kEdge1},     {{-1, 2, 1}, TriangleFeature::kEdge2},
      {{-1, -1, 0}, TriangleFeature::kVertex0}, {{6, -1, 0}, TriangleFeature::kVertex1},
      {{-1, 7, 2}, TriangleFeature::kVertex2}};
  for (const auto& [point, feature] : cases)
    EXPECT_EQ(find_closest_point(bvh, point).feature, feature);
  EXPECT_EQ(find_closest_point(bvh, {1, 1, 3}),
            (ClosestPoint{0, TriangleFeature::kFace, {1, 1, 0}, 3}));
  EXPECT_EQ(find_closest_point(bvh, {1, 1, 3}, 3).triangle, 0U);  // the limit is included
  EXPECT_EQ(find_closest_point(bvh, {1, 1, 3}, 2.9F).triangle, kNoTriangle);
}

TEST(Bvh, NonsenseArgumentsFindNothing) {
  const TriangleMesh mesh = search_test::make_sphere(1);
  const Bvh bvh(mesh);
  EXPECT_EQ(find_closest_point(bvh, {kNan, 0, 0}), ClosestPoint{});
  EXPECT_EQ(find_closest_point(bvh, {0, kInfinity, 0}), ClosestPoint{});
  EXPECT_EQ(find_closest_point(bvh, {0, 0, 0}, kNan), ClosestPoint{});
  EXPECT_EQ(find_closest_point(bvh, {0, 0, 0}, -1), ClosestPoint{});
  for (const Ray& ray : {Ray{{0, 0, 0}, {0, 0, 0}}, Ray{{0, 0, 0}, {kNan, 0, 1}},
                         Ray{{kInfinity, 0, 0}, {1, 0, 0}}, Ray{{0, 0, 0}, {1, 0, 0}, kNan},
                         Ray{{0, 0, 0}, {1, 0, 0}, 3, 2}, Ray{{0, 0, 0}, {kInfinity, 0, 0}}}) {
    EXPECT_EQ(find_first_hit(bvh, ray), RayHit{});
    EXPECT_FALSE(is_occluded(bvh, ray));
    EXPECT_EQ(brute_force::find_first_hit(mesh, ray), RayHit{});
  }
}

TEST(Bvh, BatchesEqualSingleQueriesForAnyNumberOfThreads) {
  Random random(2);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    std::vector<Vec3f> points;
    for (int i = 0; i < 800; ++i) points.push_back(pick_point(random, named, box_around(bvh)));
    points[7] = {kNan, 0, 0};
    const auto reach = static_cast<float>(length(extent(box_around(bvh))) * 0.2);
    for (const float max_distance : {kInfinity, reach}) {
      std::vector<ClosestPoint> expected;
      for (const Vec3f& p : points) expected.push_back(find_closest_point(bvh, p, max_distance));
      for (const int threads : {1, 2, 7}) {
        std::vector<ClosestPoint> results(points.size());
        find_closest_points(bvh, points, results, Threads{threads}, max_distance);
        EXPECT_EQ(results, expected);
      }
    }
  }
}

TEST(Bvh, RaysEqualBruteForceToTheBit) {
  Random random(3);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    int hit = 0, many = 0;
    const int cases = named.mesh.triangles.size() > 1000 ? 100 : 500;
    for (int i = 0; i < cases; ++i) {
      const Ray ray = pick_ray(random, named, box_around(bvh));
      std::array<RayHit, 8> buffer{}, expected_buffer{};
      const RayHit expected = brute_force::find_first_hit(named.mesh, ray);
      const AllHits expected_all = brute_force::find_all_hits(named.mesh, ray, expected_buffer);
      for (const SimdLevel level : levels_here()) {
        SCOPED_TRACE(name(level));
        ASSERT_EQ(detail::find_first_hit(bvh, ray, level), expected) << i;
        ASSERT_EQ(detail::is_occluded(bvh, ray, level), expected.triangle != kNoTriangle);
        const AllHits all = detail::find_all_hits(bvh, ray, buffer, level);
        ASSERT_EQ(all.status, expected_all.status);
        ASSERT_EQ(all.found, expected_all.found);
        ASSERT_TRUE(std::ranges::equal(all.hits, expected_all.hits));
        ASSERT_EQ(all.found == 0 ? RayHit{} : all.hits[0], expected);
      }
      hit += expected.triangle != kNoTriangle ? 1 : 0;
      many += expected_all.found > 1 ? 1 : 0;
    }
    if (bvh.triangle_count() < 100) continue;
    EXPECT_GT(hit, cases / 10);
    EXPECT_LT(hit, cases);
    EXPECT_GT(many, cases / 20);
  }
}

// From inside a closed mesh, every ray must leave, also through edges and corners.
TEST(Bvh, RaysCannotSlipThroughSharedEdges) {
  Random random(4);
  for (const Vec3f offset : {Vec3f{}, Vec3f{1e3F, -1e3F, 1e3F}, Vec3f{1e5F, 1, 0}}) {
    const TriangleMesh mesh = search_test::make_sphere(3, 1, offset);
    const Bvh bvh(mesh);
    for (int i = 0; i < 3000; ++i) {
      const auto c = corners(mesh, random.below(static_cast<std::uint32_t>(mesh.triangles.size())));
      const Vec3f origin = offset + to_float(random.in_unit_ball() * 0.5);
      const Vec3f target =
          i % 3 == 0 ? c[0] : lerp(c[0], c[1], static_cast<float>(random.uniform()));
      const Ray ray{.origin = origin, .direction = target - origin};
      const RayHit hit = find_first_hit(bvh, ray);
      ASSERT_NE(hit.triangle, kNoTriangle) << i;
      EXPECT_NEAR(hit.t, 1, 0.05);
      EXPECT_EQ(hit, brute_force::find_first_hit(mesh, ray));
    }
  }
}

TEST(Bvh, HitsHaveTheirPlaceOnTheTriangle) {
  const TriangleMesh mesh{{{0, 0, 2}, {4, 0, 2}, {0, 4, 2}}, {{0, 1, 2}}};
  const RayHit hit = find_first_hit(Bvh(mesh), {.origin = {1, 2, 0}, .direction = {0, 0, 0.5F}});
  EXPECT_EQ(hit, (RayHit{0, 4, 0.25F, 0.5F}));
}

TEST(Bvh, AllHitsKeepsTheNearestWhenTheBufferIsSmall) {
  TriangleMesh mesh;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto z = static_cast<float>((i * 7) % 50 + 1);
    mesh.positions.insert(mesh.positions.end(), {{-1, -1, z}, {1, -1, z}, {0, 1, z}});
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  std::array<RayHit, 5> buffer{};
  const AllHits all = find_all_hits(Bvh(mesh), {.direction = {0, 0, 1}}, buffer);
  EXPECT_EQ(all.status, AllHitsStatus::kBufferTooSmall);
  EXPECT_EQ(all.found, 50U);
  ASSERT_EQ(all.hits.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all.hits[i].t, static_cast<float>(i + 1));
  EXPECT_EQ(find_all_hits(Bvh(mesh), {.direction = {0, 0, 1}}, {}).found, 50U);
}

// Seen from far away, with units that a float overflows or underflows in, and backwards: whatever
// rounds to the same float is at the same t, for every query.
TEST(Bvh, HitsThatAFloatCannotTellApartAreOrderedByIndex) {
  Random random(31);
  int ties = 0, not_nearest = 0, cases = 0;
  for (const std::uint32_t count : {2U, 3U, 40U})
    for (const float unit : {1.0F, 0.7F, 1e-38F, 1e-44F, 3e38F, 1e30F})
      for (const float from : {-1e8F, -1e6F, -2.0F, 0.25F, 1e7F, -1e-38F})
        for (int i = 0; i < 4; ++i) {
          TriangleMesh mesh;
          for (std::uint32_t k = 0; k < count; ++k) {
            const float z =
                count == 2 ? (k == 0 ? 0.5F : 0.0F) : static_cast<float>(random.below(64)) / 64;
            mesh.positions.insert(mesh.positions.end(), {{-1, -1, z}, {1, -1, z}, {0, 1, z}});
            mesh.triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
          }
          const Ray ray{.origin = {0, 0, from},
                        .direction = {0, 0, i % 2 == 0 ? unit : -unit},
                        .t_min = -kInfinity};
          std::array<RayHit, 64> buffer{}, brute_buffer{};
          const Bvh bvh(mesh);
          const AllHits brute = brute_force::find_all_hits(mesh, ray, brute_buffer);
          ASSERT_EQ(brute.found, count);
          ASSERT_EQ(brute_force::find_first_hit(mesh, ray), brute.hits[0]);
          for (const SimdLevel level : levels_here()) {
            const AllHits all = detail::find_all_hits(bvh, ray, buffer, level);
            ASSERT_TRUE(std::ranges::equal(all.hits, brute.hits));
            ASSERT_EQ(detail::find_first_hit(bvh, ray, level), all.hits[0]) << unit << " " << from;
          }
          const auto height = [&](std::uint32_t k) {
            return corners(mesh, brute.hits[k].triangle)[0].z;
          };
          ++cases;
          ties += brute.hits[0].t == brute.hits[1].t ? 1 : 0;
          not_nearest += (height(0) - height(1)) * ray.direction.z > 0 ? 1 : 0;
        }
  EXPECT_GT(ties, cases / 4);
  EXPECT_GT(not_nearest, cases / 20);
  const TriangleMesh two{
      {{-1, -1, 0.5F}, {1, -1, 0.5F}, {0, 1, 0.5F}, {-1, -1, 0}, {1, -1, 0}, {0, 1, 0}},
      {{0, 1, 2}, {3, 4, 5}}};
  EXPECT_EQ(find_first_hit(Bvh(two), {.origin = {0, 0, -1e8F}, .direction = {0, 0, 1}}).triangle,
            0U);
}

TEST(Bvh, BoxesEqualBruteForce) {
  Random random(5);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    std::size_t visited = 0;
    for (int i = 0; i < 200; ++i) {
      Aabbf box;
      const Vec3f p = pick_point(random, named, box_around(bvh));
      extend(box, p);
      const Vec3 size = extent(box_around(bvh)) * (0.2 * random.uniform());
      if (i % 4 != 0) extend(box, p + to_float(size));
      std::vector<std::uint32_t> triangles;
      visit_triangles_in_box(bvh, box, [&](std::uint32_t t) { triangles.push_back(t); });
      std::sort(triangles.begin(), triangles.end());
      EXPECT_EQ(triangles, brute_force::find_triangles_in_box(named.mesh, box));
      visited += triangles.size();
    }
    if (bvh.triangle_count() >= 100) {
      EXPECT_GT(visited, 200U);
      int calls = 0;
      visit_triangles_in_box(bvh, bvh.bounds(), [&](std::uint32_t) { return ++calls < 3; });
      EXPECT_EQ(calls, 3);
    }
  }
}

TEST(Bvh, OverlappingPairsEqualBruteForce) {
  for (const NamedMesh& named : make_search_meshes()) {
    if (named.mesh.triangles.size() > 1000) continue;  // brute force looks at all pairs
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    std::vector<Pair> pairs;
    for_each_overlapping_pair(bvh, [&](std::uint32_t a, std::uint32_t b) {
      ASSERT_LT(a, b);
      pairs.emplace_back(a, b);
    });
    std::sort(pairs.begin(), pairs.end());
    EXPECT_EQ(pairs, brute_force::find_overlapping_pairs(named.mesh));
    int calls = 0;
    for_each_overlapping_pair(bvh, [&](std::uint32_t, std::uint32_t) {
      ++calls;
      return false;
    });
    EXPECT_EQ(calls, pairs.empty() ? 0 : 1);
  }
}

TEST(Bvh, BuildsTheSameBytesWithAnyNumberOfThreads) {
  Random random(6);
  const TriangleMesh mesh = search_test::make_broken(random, 30000);
  const Bvh one(mesh, {.threads = {1}});
  EXPECT_GT(one.left_out_count(), 0U);
  EXPECT_EQ(one.triangle_count() + one.left_out_count(), mesh.triangles.size());
  for (const int threads : {2, 7})
    EXPECT_EQ(Bvh(mesh, {.threads = {threads}}).content_hash(), one.content_hash());
}

TEST(Bvh, EveryTriangleLiesInOneBlockAndInTheBoxesAbove) {
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    std::set<std::uint32_t> seen;
    for (const detail::BvhNode& node : bvh.nodes())
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        if ((node.child[i] & detail::kBlockBit) == 0) continue;
        const detail::TriangleBlock& block = bvh.blocks()[node.child[i] & ~detail::kBlockBit];
        for (std::size_t lane = 0; lane < detail::kBlockWidth; ++lane) {
          if (block.triangle[lane] == kNoTriangle) continue;
          EXPECT_TRUE(seen.insert(block.triangle[lane]).second);
          const Aabbf box = detail::lane_bounds(block, lane);
          for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_LE(node.lower[axis][i], box.lower[axis]);
            EXPECT_GE(node.upper[axis][i], box.upper[axis]);
          }
        }
      }
    EXPECT_EQ(seen.size(), bvh.triangle_count());
  }
}

// The boxes that closest points are culled by are turned, rounded to bytes, and must still enclose.
TEST(Bvh, TurnedBoxesEncloseTheirTriangles) {
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh bvh(named.mesh);
    int turned = 0;
    for (std::size_t n = 0; n < bvh.nodes().size(); ++n) {
      const detail::OrientedNode& node = bvh.oriented_nodes()[n];
      turned += node.axes[0][0] != 1 ? 1 : 0;
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        const std::uint32_t child = node.child[i];
        ASSERT_EQ(child, bvh.nodes()[n].child[i]);
        if ((child & detail::kBlockBit) == 0) continue;
        const detail::TriangleBlock& block = bvh.blocks()[child & ~detail::kBlockBit];
        for (std::size_t lane = 0; lane < detail::kBlockWidth; ++lane) {
          if (block.triangle[lane] == kNoTriangle) continue;
          for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t axis = 0; axis < 3; ++axis) {
              double local = 0;
              for (std::size_t j = 0; j < 3; ++j)
                local += double{node.axes[axis][j]} *
                         (double{block.corner[k][j][lane]} - double{node.origin[j]});
              EXPECT_LE(static_cast<float>(node.lower[axis][i]) * node.step[axis], local);
              EXPECT_GE(static_cast<float>(node.upper[axis][i]) * node.step[axis], local);
            }
        }
      }
    }
    if (named.name == "sphere" || named.name == "soup") {
      EXPECT_GT(turned, static_cast<int>(bvh.nodes().size() / 4));
    }
  }
}

// Splits by surface can peel off one triangle at a time: the depth must stay bounded all the same.
TEST(Bvh, DegenerateCrowdsStayShallow) {
  TriangleMesh same, line;
  same.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  same.triangles.assign(200000, Triangle{0, 1, 2});
  for (std::uint32_t i = 0; i < 200; ++i) {  // sizes and places grow exponentially
    const float x = std::ldexp(1.0F, static_cast<int>(i) - 100);
    line.positions.push_back({x, x, 0});
    line.triangles.push_back({i, i, i});
  }
  for (const TriangleMesh& mesh : {same, line}) {
    const Bvh bvh(mesh);
    std::vector<int> depth(bvh.nodes().size(), 1);
    for (std::size_t n = 0; n < bvh.nodes().size(); ++n)
      for (std::uint32_t i = 0; i < bvh.nodes()[n].child_count; ++i)
        if (const std::uint32_t child = bvh.nodes()[n].child[i]; (child & detail::kBlockBit) == 0)
          depth[child] = depth[n] + 1;
    EXPECT_LT(*std::max_element(depth.begin(), depth.end()), detail::kMaxDepth);
  }
  const Bvh bvh(same);
  EXPECT_EQ(find_closest_point(bvh, {0.2F, 0.2F, 1}).triangle, 0U);
  EXPECT_EQ(find_first_hit(bvh, {{0.2F, 0.2F, 1}, {0, 0, -1}}).triangle, 0U);
}

// The arrays of a hierarchy in memory of their own, to be damaged.
struct OwnArrays {
  explicit OwnArrays(const Bvh& bvh)
      : nodes(bvh.nodes().begin(), bvh.nodes().end()),
        oriented(bvh.oriented_nodes().begin(), bvh.oriented_nodes().end()),
        blocks(bvh.blocks().begin(), bvh.blocks().end()) {}
  BvhArrays view() const { return {nodes, oriented, blocks}; }
  std::span<std::byte> bytes(std::uint32_t part) {
    return part == 0   ? std::as_writable_bytes(std::span(nodes))
           : part == 1 ? std::as_writable_bytes(std::span(oriented))
                       : std::as_writable_bytes(std::span(blocks));
  }

  std::vector<detail::BvhNode> nodes;
  std::vector<detail::OrientedNode> oriented;
  std::vector<detail::TriangleBlock> blocks;
};

std::string flaw_of(const OwnArrays& arrays, const TriangleMesh& mesh) {
  return find_flaw(arrays.view(), mesh.positions, mesh.triangles).value_or("");
}

TEST(Bvh, ArraysOfOthersAnswerAlike) {
  Random random(31);
  for (const NamedMesh& named : make_search_meshes()) {
    SCOPED_TRACE(named.name);
    const Bvh built(named.mesh);
    auto own = std::make_shared<OwnArrays>(built);
    const Bvh view = Bvh::from_arrays(own->view(), own);
    EXPECT_EQ(own.use_count(), 2);
    EXPECT_EQ(view.triangle_count(), built.triangle_count());
    EXPECT_EQ(view.bounds(), built.bounds());
    EXPECT_EQ(view.content_hash(), built.content_hash());
    EXPECT_EQ(view.nodes().data(), own->nodes.data());
    if (built.left_out_count() == 0) {
      EXPECT_EQ(flaw_of(*own, named.mesh), "");
    }
    const Aabb box = box_around(built);
    for (int i = 0; i < 50; ++i) {
      const Vec3f point = pick_point(random, named, box);
      ASSERT_EQ(find_closest_point(view, point), find_closest_point(built, point));
    }
  }
  // A copy keeps the arrays alive, and so does what was moved from.
  Bvh first(search_test::make_sphere(2));
  const std::uint64_t hash = first.content_hash();
  Bvh second = std::move(first);
  EXPECT_EQ(first.content_hash(), hash);  // NOLINT(bugprone-use-after-move)
  first = Bvh();
  EXPECT_EQ(second.content_hash(), hash);
}

TEST(Bvh, FlawsOfArraysAreNamed) {
  const TriangleMesh mesh = search_test::make_sphere(4);
  const OwnArrays right{Bvh(mesh)};
  ASSERT_EQ(flaw_of(right, mesh), "");
  const auto with = [&](auto&& damage) {
    OwnArrays wrong = right;
    damage(wrong);
    return flaw_of(wrong, mesh);
  };
  const std::uint32_t inner = right.nodes[0].child[0];
  ASSERT_EQ(inner & detail::kBlockBit, 0U);
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].child[0] = 0; }), "node 0: a child lies before it");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].child[0] = 1U << 20U; }),
            "node 0: a child does not exist");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].child[0] = 0x80000000U | 1U << 20U; }),
            "node 0: a child does not exist");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].child[1] = a.nodes[0].child[0]; }),
            "node 0: a child has two parents");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].child_count = 9; }),
            "node 0: it has no child, or more than eight");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].lower[0][0] += 0.01F; }),
            "node 0: the box of a child is not that of its triangles");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].lower[2][1] = kNan; }),
            "node 0: the box of a child is not that of its triangles");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes[0].end_block -= 1; }),
            "node 0: its range is not that of the blocks below it");
  EXPECT_EQ(with([](OwnArrays& a) { a.oriented[0].child[0] += 1; }),
            "oriented node 0: its children are not those of the node");
  EXPECT_EQ(with([](OwnArrays& a) { a.oriented[0].axes[0][0] = 2; }),
            "oriented node 0: its axes are not orthonormal");
  EXPECT_EQ(with([](OwnArrays& a) { a.oriented[0].step[1] *= 0.5F; }),
            "oriented node 0: the box of a child does not enclose its triangles");
  EXPECT_EQ(with([](OwnArrays& a) { a.blocks[3].triangle[0] = 1U << 20U; }),
            "block 3, lane 0: its triangle does not exist");
  EXPECT_EQ(with([](OwnArrays& a) { a.blocks[3].corner[1][1][0] += 0.5F; }),
            "block 3, lane 0: a corner is not that of the triangle");
  EXPECT_EQ(with([](OwnArrays& a) { a.nodes.clear(); }),
            "nodes and oriented nodes differ in number");
  // A chain of nodes that is deeper than the stacks of queries are high.
  const std::uint32_t deep = detail::kMaxDepth + 10;
  const TriangleMesh many{.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                          .triangles = std::vector<Triangle>(deep, Triangle{0, 1, 2})};
  OwnArrays chain{Bvh(TriangleMesh{many.positions, {{0, 1, 2}}})};
  const detail::BvhNode root = chain.nodes[0];
  const detail::TriangleBlock block = chain.blocks[0];
  chain.nodes.assign(deep, root);
  chain.oriented.assign(deep, chain.oriented[0]);
  chain.blocks.assign(deep, block);
  for (std::uint32_t i = 0; i < deep; ++i) {
    chain.blocks[i].triangle[0] = i;
    const bool is_last = i + 1 == deep;
    detail::BvhNode& node = chain.nodes[i];
    node.child_count = is_last ? 1 : 2;
    node.child[0] = detail::kBlockBit | i;
    node.child[1] = is_last ? 0 : i + 1;
    for (int axis = 0; axis < 3 && !is_last; ++axis) {
      node.lower[axis][1] = node.lower[axis][0];
      node.upper[axis][1] = node.upper[axis][0];
    }
    node.begin_block = i;
    node.end_block = deep;
  }
  EXPECT_EQ(flaw_of(chain, many), "node 96: it is too deep");
}

// Damage is named, or does not matter: then the answers are still those of the mesh.
TEST(Bvh, DamagedArraysAreNamedOrAnswerAlike) {
  Random random(32);
  const TriangleMesh mesh = search_test::make_sphere(3);
  const OwnArrays right{Bvh(mesh)};
  int named = 0, harmless = 0;
  for (int i = 0; i < 4000; ++i) {
    auto wrong = std::make_shared<OwnArrays>(right);
    const std::span<std::byte> bytes = wrong->bytes(random.below(3));
    for (std::uint32_t n = 1 + random.below(2); n > 0; --n)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1U << random.below(8));
    if (!flaw_of(*wrong, mesh).empty()) {
      ++named;
      continue;
    }
    ++harmless;
    const Bvh bvh = Bvh::from_arrays(wrong->view(), wrong);
    for (int k = 0; k < 20; ++k) {
      const Vec3f point = to_float(random.in_box({-2, -2, -2}, {2, 2, 2}));
      ASSERT_EQ(find_closest_point(bvh, point),
                brute_force::find_closest_point(mesh, point, kInfinity))
          << i;
    }
  }
  EXPECT_GT(named, 2000);
  EXPECT_GT(harmless, 20);
}

TEST(Bvh, BuildingCanBeCancelledAndWatched) {
  const TriangleMesh mesh = search_test::make_sphere(5);
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(Bvh(mesh, {.monitor = {.cancel = &cancel}}), Cancelled);

  CancelToken later;
  BvhSettings settings{.threads = {2}, .monitor = {.cancel = &later}};
  settings.monitor.on_progress = [&](const ProgressReport&) { later.cancel(); };
  EXPECT_THROW(Bvh(mesh, settings), Cancelled);

  std::uint64_t last = 0;
  const Bvh bvh(mesh, {.threads = {2}, .monitor = {.on_progress = [&](const ProgressReport& r) {
                                         EXPECT_GT(r.done, last);
                                         EXPECT_EQ(r.total, mesh.triangles.size());
                                         last = r.done;
                                       }}});
  EXPECT_EQ(last, mesh.triangles.size());
}

}  // namespace
}  // namespace isotact
