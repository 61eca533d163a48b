// Edges in fields and points on triangles, against walks in small steps and against all points.
#include "isotact/queries/points/feature_query.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact {
namespace {

const TriangleMesh& torus_mesh() {
  static const TriangleMesh mesh = make_torus({.segments = 32, .tube_segments = 16});
  return mesh;
}
const BrickField& torus_field() {
  static const BrickField field = build_field(torus_mesh(), {.resolution = 48}).field;
  return field;
}

// A thousand steps: the stretches and how deep each is.
std::vector<double> walk_slowly(const BrickField& field, const FeatureEdge& edge, double limit) {
  std::vector<double> depths;
  bool inside = false;
  for (int i = 0; i <= 1000; ++i) {
    const double v = field.value(lerp(edge.a, edge.b, i / 1000.0));
    if (v <= limit && !inside) depths.push_back(v);
    inside = v <= limit;
    if (inside) depths.back() = std::min(depths.back(), v);
  }
  return depths;
}

TEST(FeatureQuery, FindsEveryStretchAndItsDeepestPlace) {
  const BrickField& field = torus_field();
  Random random(1);
  std::vector<FeatureHit> hits;
  int none = 0, one = 0, more = 0;
  for (int i = 0; i < 600; ++i) {
    const FeatureEdge edge{random.in_box({-0.7, -0.3, -0.7}, {0.7, 0.3, 0.7}),
                           random.in_box({-0.7, -0.3, -0.7}, {0.7, 0.3, 0.7})};
    const double margin = i % 3 == 0 ? 0.02 : 0;
    find_hits_edges_field(field, std::span(&edge, 1), {.margin = margin}, hits);
    const std::vector<double> truth = walk_slowly(field, edge, margin);
    // What is shorter than half a cell may be passed over.
    std::vector<double> deep;
    for (const double d : truth)
      if (d < margin - field.voxel_size() / 2) deep.push_back(d);
    ASSERT_GE(hits.size(), deep.size());
    ASSERT_LE(hits.size(), truth.size() + 1);
    std::size_t at = 0;
    for (const FeatureHit& hit : hits) {
      EXPECT_LT(length(lerp(edge.a, edge.b, hit.t) - hit.point), 1e-9);
      EXPECT_NEAR(length(hit.direction), 1, 1e-9);
      EXPECT_LE(hit.distance, margin);
      if (at < deep.size() && std::abs(hit.distance - deep[at]) < 0.002) ++at;
    }
    EXPECT_EQ(at, deep.size()) << "case " << i;
    ++(deep.empty() ? none : deep.size() == 1 ? one : more);
  }
  EXPECT_GT(none, 50);
  EXPECT_GT(one, 100);
  EXPECT_GT(more, 30);
}

TEST(FeatureQuery, BallsMuchLargerThanThePaddingTouchWhereTheyDo) {
  const BrickField& field = torus_field();
  Random random(2);
  std::vector<FeatureHit> hits;
  int touching = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3 center = random.unit_vector() * random.uniform(1.0, 2.0);
    const double radius = random.uniform(0.5, 1.4);
    // The torus, by its formula.
    const double ring = std::sqrt(center.x * center.x + center.z * center.z) - 0.375;
    const double truth = std::sqrt(ring * ring + center.y * center.y) - 0.125 - radius;
    const FeatureEdge ball{center, center};
    find_hits_edges_field(field, std::span(&ball, 1), {.radius = radius}, hits);
    if (truth > 0.01) {
      EXPECT_TRUE(hits.empty());
    }
    if (truth < -0.02) {
      ASSERT_EQ(hits.size(), 1U);
      EXPECT_NEAR(hits[0].distance, truth, 0.02) << center.x << ' ' << center.y << ' ' << center.z;
      ++touching;
    }
  }
  EXPECT_GT(touching, 50);
  EXPECT_LT(touching, 250);
}

TEST(FeatureQuery, VoxmapsAgreeWithinThreeVoxels) {
  const double s = 0.02;
  for (const VoxmapEncoding encoding : {VoxmapEncoding::kLayers, VoxmapEncoding::kSupport}) {
    const Voxmap map =
        build_voxmap(torus_mesh(), voxmap_lattice(to_double(bounds(torus_mesh())), s),
                     {.encoding = encoding})
            .voxmap;
    std::vector<FeatureHit> hits;
    const FeatureEdge edge{{0.375, -0.5, 0}, {0.375, 0.5, 0}};  // through the middle of the tube
    find_hits_edges_field(map, std::span(&edge, 1), {}, hits);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_NEAR(hits[0].distance, -0.125, 3 * s);
  }
}

TEST(TriangleQuery, HitsAreThoseOfAllPoints) {
  const PointSphereTree tree =
      build_point_sphere_tree(sample_by_repulsion(torus_mesh(), {.count = 3000, .rounds = 2}), {});
  Random random(3);
  std::size_t found = 0, cases_with_hits = 0;
  for (int i = 0; i < 400; ++i) {
    const ShellPlacement placement{
        .field_from_shell = {random.rotation(), random.in_unit_ball() * 0.3}, .shell_scale = 1.5};
    const Vec3 a = random.in_unit_ball(), b = random.in_unit_ball(), c = random.in_unit_ball();
    const TriangleRequest request{.margin = 0.02, .thickness = 0.1, .widen = 1e-6};
    std::vector<ShellHit> hits;
    find_hits_triangle(tree, placement, a, b, c, request, hits);
    const Vec3 n = normalized(cross(b - a, c - a));
    std::size_t at = 0;
    for (std::uint32_t p = 0; p < tree.point_count(); ++p) {
      const Vec3 x = place_of(tree, placement, p);
      const double h = dot(n, x - a);
      const auto beyond = [&](const Vec3& from, const Vec3& to) {
        return dot(normalized(cross(to - from, n)), x - from);
      };
      const double side = std::max({beyond(a, b), beyond(b, c), beyond(c, a)});
      const bool is_hit = at < hits.size() && hits[at].point == p;
      const double edge = std::max({h - 0.02, -h - 0.1, side - 1e-6});
      if (std::abs(edge) > 1e-9) {
        ASSERT_EQ(is_hit, edge < 0) << "case " << i << ", point " << p;
      }
      if (!is_hit) continue;
      EXPECT_NEAR(static_cast<double>(hits[at].distance), h, 1e-6);
      ++at;
    }
    EXPECT_EQ(at, hits.size());
    found += hits.size();
    cases_with_hits += hits.empty() ? 0U : 1U;
  }
  EXPECT_GT(cases_with_hits, 100U);
  EXPECT_GT(found, 2000U);
}

}  // namespace
}  // namespace isotact
