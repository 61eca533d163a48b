#include "isotact/queries/deformable/deformable_surface.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

namespace isotact {
namespace {

TEST(SurfaceTopology, TwoTrianglesShareAnEdge) {
  const std::vector<Triangle> triangles{{0, 1, 2}, {2, 1, 3}};
  const SurfaceTopology t = make_topology(triangles, 5);
  EXPECT_EQ(t.vertex_count, 5U);
  EXPECT_EQ(t.triangles, triangles);
  EXPECT_EQ(t.edges, (std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(t.edges_of[0], (std::array<std::uint32_t, 3>{0, 2, 1}));
  EXPECT_EQ(t.edges_of[1], (std::array<std::uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(t.owned[0], 0b111'111);
  EXPECT_EQ(t.owned[1], 0b110'100);
  EXPECT_TRUE(t.owns_corner(1, 2));
  EXPECT_FALSE(t.owns_corner(1, 1));
  EXPECT_FALSE(t.owns_edge(1, 0));
  EXPECT_TRUE(t.owns_edge(1, 1));
}

TEST(SurfaceTopology, TrianglesThatNameAVertexTwice) {
  const std::vector<Triangle> triangles{{1, 1, 0}, {2, 2, 2}};
  const SurfaceTopology t = make_topology(triangles, 3);
  EXPECT_EQ(t.edges, (std::vector<Edge>{{0, 1}}));
  EXPECT_EQ(t.edges_of[0], (std::array<std::uint32_t, 3>{kNoEdge, 0, 0}));
  EXPECT_EQ(t.edges_of[1], (std::array<std::uint32_t, 3>{kNoEdge, kNoEdge, kNoEdge}));
  EXPECT_EQ(t.owned[0], 0b010'101);
  EXPECT_EQ(t.owned[1], 0b000'001);
}

TEST(SurfaceTopology, BadIndicesAreErrors) {
  EXPECT_THROW(make_topology(std::vector<Triangle>{{0, 1, 2}, {0, 1, 3}}, 3), Error);
  EXPECT_THROW(make_topology({}, std::size_t{1} << 32U), Error);
  EXPECT_TRUE(make_topology({}, 0).edges.empty());
}

// Every vertex in use and every edge has one owner, the lowest triangle that has it.
TEST(SurfaceTopology, FeaturesOfSoupsHaveOneOwner) {
  Random random(31);
  std::size_t shared = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t vertices = 1 + random.below(30);
    std::vector<Triangle> triangles(random.below(60));
    for (Triangle& t : triangles)
      t = {random.below(vertices), random.below(vertices), random.below(vertices)};
    const SurfaceTopology topology = make_topology(triangles, vertices);
    std::set<std::uint32_t> corners;
    std::set<Edge> edges;
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t from = triangles[t][k], to = triangles[t][(k + 1) % 3];
        ASSERT_EQ(topology.owns_corner(t, k), corners.insert(from).second);
        const Edge edge{std::min(from, to), std::max(from, to)};
        const bool is_new = from != to && edges.insert(edge).second;
        ASSERT_EQ(topology.owns_edge(t, k), is_new);
        shared += from != to && !is_new;
        if (from == to) {
          ASSERT_EQ(topology.edges_of[t][k], kNoEdge);
        } else {
          ASSERT_EQ(topology.edges[topology.edges_of[t][k]], edge);
        }
      }
    ASSERT_TRUE(
        std::equal(edges.begin(), edges.end(), topology.edges.begin(), topology.edges.end()));
  }
  EXPECT_GT(shared, 2000U);
}

}  // namespace
}  // namespace isotact
