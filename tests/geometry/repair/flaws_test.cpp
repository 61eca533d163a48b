#include "isotact/geometry/repair/flaws.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "support/nan.h"
#include "support/small_meshes.h"

namespace isotact {
namespace {

TEST(Flaws, ClosedBoxHasNone) {
  const MeshFlaws f = find_flaws(test::make_box(), {.self_intersections = true});
  EXPECT_TRUE(describe(f).empty());
  EXPECT_TRUE(f.watertight && f.watertight_as_stored && f.manifold && f.oriented && f.balanced);
  EXPECT_FALSE(f.inward);
  EXPECT_EQ(f.vertices, 8U);
  EXPECT_EQ(f.triangles, 12U);
  EXPECT_EQ(f.bounds, (Aabbf{{0, 0, 0}, {1, 1, 1}}));
  EXPECT_EQ(f.shells.count, 1U);
  EXPECT_EQ(f.components, 1U);
  EXPECT_EQ(f.degenerate, 0U);
  EXPECT_DOUBLE_EQ(f.volume.value_or(0), 1);
  EXPECT_DOUBLE_EQ(f.area, 6);
}

TEST(Flaws, ExplodedBoxIsWatertightOnlyAfterMerging) {
  const TriangleMesh m = test::exploded(test::make_box());
  const MeshFlaws f = find_flaws(m);
  EXPECT_TRUE(f.watertight);
  EXPECT_FALSE(f.watertight_as_stored);
  EXPECT_EQ(f.merged_vertices, 28U);
  EXPECT_TRUE(describe(f).empty());
  const MeshFlaws stored = find_flaws(m, {.merge_equal_positions = false});
  EXPECT_FALSE(stored.watertight);
  EXPECT_EQ(stored.boundary_edges.count, 36U);
  EXPECT_EQ(stored.boundary_loops.count, 12U);
  EXPECT_EQ(stored.shells.count, 12U);
}

TEST(Flaws, OpenBoxHasOneHole) {
  TriangleMesh m = test::make_box();
  m.triangles.erase(m.triangles.begin() + 2, m.triangles.begin() + 4);  // +z
  const MeshFlaws f = find_flaws(m);
  EXPECT_FALSE(f.watertight);
  EXPECT_TRUE(f.manifold);
  EXPECT_FALSE(f.volume.has_value());
  EXPECT_EQ(describe(f), (std::vector<std::string>{"1 hole (4 boundary edges)"}));
  ASSERT_EQ(f.boundary_loops.examples.size(), 1U);
  const BoundaryLoop& loop = f.boundary_loops.examples[0];
  EXPECT_TRUE(loop.closed);
  EXPECT_EQ(loop.vertices, (std::vector<std::uint32_t>{4, 6, 7, 5}));
}

TEST(Flaws, FlippedFaceAndInwardBox) {
  TriangleMesh m = test::make_box();
  test::flip(m.triangles[0]);
  const MeshFlaws f = find_flaws(m);
  EXPECT_TRUE(f.watertight && f.manifold);
  EXPECT_FALSE(f.oriented || f.balanced || f.volume);
  EXPECT_EQ(f.inconsistent_edges.count, 3U);
  const MeshFlaws in = find_flaws(test::flipped(test::make_box()));
  EXPECT_TRUE(in.inward && in.oriented && in.balanced);
  EXPECT_DOUBLE_EQ(in.volume.value_or(0), -1);
  EXPECT_EQ(in.inward_shells, 1U);
  EXPECT_EQ(describe(in).size(), 1U);
}

TEST(Flaws, CavityIsAnInwardShellOfAnOutwardMesh) {
  TriangleMesh m = test::make_box({0, 0, 0}, {3, 3, 3});
  test::append(m, test::flipped(test::make_box({1, 1, 1}, {2, 2, 2})));
  const MeshFlaws f = find_flaws(m);
  EXPECT_FALSE(f.inward);
  EXPECT_EQ(f.inward_shells, 1U);
  EXPECT_EQ(f.shells.count, 2U);
  EXPECT_DOUBLE_EQ(f.volume.value_or(0), 26);
}

TEST(Flaws, MoebiusStripHasOneLoopAndCannotBeOriented) {
  const MeshFlaws f = find_flaws(test::make_moebius_strip(12));
  EXPECT_EQ(f.boundary_loops.count, 1U);
  EXPECT_EQ(f.boundary_loops.examples[0].vertices.size(), 24U);
  EXPECT_EQ(f.inconsistent_edges.count, 1U);
  EXPECT_TRUE(f.manifold);
}

TEST(Flaws, BoxesThatShareAnEdgeOrACorner) {
  TriangleMesh edge = test::make_box();
  test::append(edge, test::make_box({1, 1, 0}, {2, 2, 1}));
  const MeshFlaws e = find_flaws(edge);
  EXPECT_EQ(e.non_manifold_edges.count, 1U);
  EXPECT_EQ(e.non_manifold_vertices.count, 2U);
  EXPECT_EQ(e.bow_tie_vertices.count, 0U);
  EXPECT_EQ(e.shells.count, 1U);
  EXPECT_FALSE(e.watertight || e.manifold);
  EXPECT_TRUE(e.balanced);  // two triangles run the edge each way
  EXPECT_DOUBLE_EQ(e.volume.value_or(0), 2);

  TriangleMesh corner = test::make_box();
  test::append(corner, test::make_box({1, 1, 1}, {2, 2, 2}));
  const MeshFlaws c = find_flaws(corner);
  EXPECT_EQ(c.non_manifold_vertices.count, 1U);
  EXPECT_EQ(c.bow_tie_vertices.examples, (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(c.shells.count, 2U);
  EXPECT_EQ(c.components, 1U);
  EXPECT_TRUE(c.watertight);
  EXPECT_FALSE(c.manifold);
}

TEST(Flaws, HolesThatTouchAndSheetsThatTouchAreLoopsOfTheirOwn) {
  // Two triangles that share a corner.
  const TriangleMesh bow_tie{{{0, 0, 0}, {1, 1, 0}, {1, -1, 0}, {-1, 1, 0}, {-1, -1, 0}},
                             {{0, 2, 1}, {0, 3, 4}}};
  const MeshFlaws f = find_flaws(bow_tie);
  EXPECT_EQ(f.boundary_loops.count, 2U);
  EXPECT_EQ(f.bow_tie_vertices.count, 1U);
  // A sheet of 4 by 4 cells without two that touch in the middle corner.
  TriangleMesh sheet;
  for (std::uint32_t i = 0; i < 25; ++i)
    sheet.positions.push_back({static_cast<float>(i % 5), static_cast<float>(i / 5), 0});
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t v = i % 4 + i / 4 * 5;
    if (i == 5 || i == 10) continue;
    sheet.triangles.push_back({v, v + 1, v + 6});
    sheet.triangles.push_back({v, v + 6, v + 5});
  }
  const MeshFlaws s = find_flaws(sheet);
  EXPECT_EQ(s.boundary_loops.count, 3U);
  EXPECT_EQ(s.boundary_edges.count, 24U);
  for (const BoundaryLoop& loop : s.boundary_loops.examples)
    EXPECT_EQ(loop.vertices.size(), loop.vertices[0] == 0 ? 16U : 4U);
}

TEST(Flaws, DuplicatesCountBothWindings) {
  TriangleMesh m = test::make_box();
  m.triangles.push_back({2, 3, 0});  // the first triangle, turned
  m.triangles.push_back({3, 2, 0});  // and turned over
  const MeshFlaws f = find_flaws(m);
  EXPECT_EQ(f.duplicate_triangles.count, 2U);
  EXPECT_EQ(f.opposite_duplicates, 1U);
  EXPECT_EQ(f.duplicate_triangles.examples[0].first, 0U);
  EXPECT_EQ(f.duplicate_triangles.examples[0].triangle, 12U);
  EXPECT_FALSE(f.duplicate_triangles.examples[0].opposite);
  EXPECT_TRUE(f.duplicate_triangles.examples[1].opposite);
  EXPECT_EQ(f.non_manifold_edges.count, 3U);
}

TEST(Flaws, DegenerateTrianglesAndUnusedVertices) {
  TriangleMesh m = test::make_box();
  m.positions.push_back({0, 0, -0.0F});
  m.positions.push_back({5, 5, 5});
  m.positions.push_back({kNan, 0, 0});
  m.positions.push_back({0.5F, 0, 0});
  m.triangles.push_back({0, 0, 1});   // repeats an index
  m.triangles.push_back({0, 8, 1});   // repeats a position
  m.triangles.push_back({0, 11, 1});  // corners on a line
  const MeshFlaws f = find_flaws(m);
  EXPECT_EQ(f.collapsed_triangles.examples, (std::vector<std::uint32_t>{12, 13}));
  EXPECT_EQ(f.collinear_triangles.examples, (std::vector<std::uint32_t>{14}));
  EXPECT_EQ(f.degenerate, 3U);
  EXPECT_EQ(f.unreferenced_vertices.examples, (std::vector<std::uint32_t>{9, 10}));
  EXPECT_EQ(f.non_finite_vertices.examples, (std::vector<std::uint32_t>{10}));
  EXPECT_EQ(f.non_finite_triangles, 0U);
  m.triangles.pop_back();
  EXPECT_TRUE(find_flaws(m).watertight);  // collapsed triangles open nothing
}

TEST(Flaws, NonFinitePositionsAreNeverMergedAndSpoilTheSolid) {
  TriangleMesh m = test::make_box();
  for (Vec3f& p : m.positions) p = {kNan, std::numeric_limits<float>::infinity(), 0};
  const MeshFlaws f = find_flaws(m, {.self_intersections = true});
  EXPECT_EQ(f.merged_vertices, 0U);
  EXPECT_EQ(f.non_finite_triangles, 12U);
  EXPECT_FALSE(f.watertight || f.balanced || f.volume);
  EXPECT_EQ(f.boundary_edges.count, 0U);
  EXPECT_EQ(describe(f).size(), 1U);
}

TEST(Flaws, EmptyAndPointLikeMeshes) {
  const MeshFlaws none = find_flaws({}, {.self_intersections = true});
  EXPECT_FALSE(none.watertight);
  EXPECT_EQ(none.shells.count, 0U);
  EXPECT_EQ(describe(none), (std::vector<std::string>{"no triangles"}));
  TriangleMesh point = test::make_box();
  for (Vec3f& p : point.positions) p = {1, 1, 1};
  const MeshFlaws f = find_flaws(point, {.self_intersections = true});
  EXPECT_EQ(f.collapsed_triangles.count, 12U);
  EXPECT_FALSE(f.watertight || f.watertight_as_stored);
}

TEST(Flaws, ExamplesAreLimitedAndCountsAreNot) {
  const TriangleMesh m = test::exploded(test::make_box());
  const FlawSettings few{.merge_equal_positions = false, .max_examples = 3};
  const MeshFlaws f = find_flaws(m, few);
  EXPECT_EQ(f.boundary_edges.count, 36U);
  EXPECT_EQ(f.boundary_edges.examples.size(), 3U);
  EXPECT_EQ(f.boundary_loops.examples.size(), 3U);
}

TEST(Flaws, TextsSayWhereTheSearchForSelfIntersectionsGaveUp) {
  MeshFlaws f = find_flaws(test::make_box(), {.self_intersections = true});
  ASSERT_TRUE(f.self_intersections.has_value());
  EXPECT_TRUE(f.self_intersections->complete);
  EXPECT_TRUE(describe(f).empty());
  f.self_intersections->complete = false;
  ASSERT_EQ(describe(f).size(), 1U);
  EXPECT_NE(describe(f)[0].find("there may be more"), std::string::npos);
}

TEST(Flaws, SearchingSelfIntersectionsCanBeCancelled) {
  CancelToken cancel;
  cancel.cancel();
  const TriangleMesh box = test::make_box();
  EXPECT_THROW(find_flaws(box, {.self_intersections = true, .monitor = {.cancel = &cancel}}),
               Cancelled);
}

TEST(Flaws, TextsCountRightly) {
  TriangleMesh m = test::make_box();
  m.triangles.erase(m.triangles.begin());
  m.triangles.pop_back();
  m.positions.resize(10);
  const std::vector<std::string> expected{"2 holes (6 boundary edges)",
                                          "2 vertices that no triangle uses"};
  EXPECT_EQ(describe(find_flaws(m)), expected);
}

// --- an oracle with maps and sets ----------------------------------------------------------------

struct Oracle {
  std::map<MeshEdge, std::vector<std::uint32_t>> edges;  // their triangles
  std::size_t inconsistent = 0, split = 0, bow_ties = 0, duplicates = 0, shells = 0;
  bool balanced = true;
};

// The number of groups in which the members hang together.
template <typename Linked>
std::size_t count_groups(std::vector<std::uint32_t> members, Linked linked) {
  std::size_t groups = 0;
  while (!members.empty()) {
    ++groups;
    std::vector<std::uint32_t> open{members.back()};
    members.pop_back();
    while (!open.empty()) {
      const std::uint32_t t = open.back();
      open.pop_back();
      const auto end = std::partition(members.begin(), members.end(),
                                      [&](std::uint32_t other) { return !linked(t, other); });
      open.insert(open.end(), end, members.end());
      members.erase(end, members.end());
    }
  }
  return groups;
}

Oracle ask_oracle(const TriangleMesh& m) {
  Oracle o;
  std::map<MeshEdge, int> balance;
  std::set<std::set<std::uint32_t>> seen;
  std::vector<std::uint32_t> live;
  std::map<std::uint32_t, std::vector<std::uint32_t>> at_vertex;
  for (std::uint32_t i = 0; i < m.triangles.size(); ++i) {
    const Triangle& t = m.triangles[i];
    const std::set<std::uint32_t> corners(t.begin(), t.end());
    if (corners.size() < 3) continue;
    live.push_back(i);
    if (!seen.insert(corners).second) ++o.duplicates;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      o.edges[{std::min(a, b), std::max(a, b)}].push_back(i);
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
      at_vertex[a].push_back(i);
    }
  }
  for (const auto& [edge, triangles] : o.edges) {
    if (triangles.size() == 2 && balance[edge] != 0) ++o.inconsistent;
    o.balanced &= balance[edge] == 0;
  }
  const auto share = [&](std::uint32_t a, std::uint32_t b, std::size_t max_uses, std::int64_t at) {
    return std::any_of(o.edges.begin(), o.edges.end(), [&](const auto& entry) {
      const auto& [edge, triangles] = entry;
      return triangles.size() <= max_uses && (at < 0 || edge[0] == at || edge[1] == at) &&
             std::count(triangles.begin(), triangles.end(), a) > 0 &&
             std::count(triangles.begin(), triangles.end(), b) > 0;
    });
  };
  constexpr std::size_t kAny = 1000;
  for (const auto& entry : at_vertex) {
    const auto v = entry.first;  // clang 14 captures no structured binding
    const auto& triangles = entry.second;
    const auto fan = [&](std::uint32_t a, std::uint32_t b) { return share(a, b, 2, v); };
    const auto part = [&](std::uint32_t a, std::uint32_t b) { return share(a, b, kAny, v); };
    o.split += count_groups(triangles, fan) > 1 ? 1U : 0U;
    o.bow_ties += count_groups(triangles, part) > 1 ? 1U : 0U;
  }
  o.shells =
      count_groups(live, [&](std::uint32_t a, std::uint32_t b) { return share(a, b, kAny, -1); });
  return o;
}

void expect_loops_cover_boundary(const MeshFlaws& f, const Oracle& o) {
  std::set<MeshEdge> walked;
  for (const BoundaryLoop& loop : f.boundary_loops.examples) {
    const std::vector<std::uint32_t>& v = loop.vertices;
    EXPECT_EQ(std::set(v.begin(), v.end()).size(), v.size()) << "a vertex appears twice";
    for (std::size_t i = loop.closed ? 0 : 1; i < v.size(); ++i) {
      const std::uint32_t a = v[(i + v.size() - 1) % v.size()], b = v[i];
      EXPECT_TRUE(walked.insert({std::min(a, b), std::max(a, b)}).second);
    }
  }
  std::set<MeshEdge> boundary;
  for (const auto& [edge, triangles] : o.edges)
    if (triangles.size() == 1) boundary.insert(edge);
  EXPECT_EQ(walked, boundary);
}

TEST(Flaws, AgreeWithMapsAndSetsOnRandomMeshes) {
  Random random(81);
  int balanced = 0, holed = 0, split = 0;
  for (int i = 0; i < 3000; ++i) {
    TriangleMesh m;
    const std::uint32_t vertices = 3 + random.below(10), triangles = random.below(24);
    for (std::uint32_t v = 0; v < vertices; ++v)
      m.positions.push_back(to_float(random.in_unit_ball()));
    // Pieces of a box in between, so that not all is torn.
    if (i % 3 == 0) m = test::make_box();
    for (std::uint32_t t = 0; t < triangles && m.positions.size() > 0; ++t) {
      const auto n = static_cast<std::uint32_t>(m.positions.size());
      if (i % 3 != 0)
        m.triangles.push_back({random.below(n), random.below(n), random.below(n)});
      else if (t < 4)
        m.triangles.erase(m.triangles.begin() +
                          random.below(static_cast<std::uint32_t>(m.triangles.size())));
    }
    const Oracle o = ask_oracle(m);
    const MeshFlaws f = find_flaws(m, {.max_examples = 1000, .threads = {1}});
    std::size_t boundary = 0, non_manifold = 0;
    for (const auto& [edge, uses] : o.edges) {
      boundary += uses.size() == 1 ? 1U : 0U;
      non_manifold += uses.size() > 2 ? 1U : 0U;
    }
    ASSERT_EQ(f.boundary_edges.count, boundary);
    ASSERT_EQ(f.non_manifold_edges.count, non_manifold);
    ASSERT_EQ(f.inconsistent_edges.count, o.inconsistent);
    ASSERT_EQ(f.non_manifold_vertices.count, o.split);
    ASSERT_EQ(f.bow_tie_vertices.count, o.bow_ties);
    ASSERT_EQ(f.duplicate_triangles.count, o.duplicates);
    ASSERT_EQ(f.shells.count, o.shells);
    ASSERT_EQ(f.balanced, o.balanced && !o.edges.empty());
    ASSERT_EQ(is_balanced(m, {1}), f.balanced);
    expect_loops_cover_boundary(f, o);
    balanced += f.balanced ? 1 : 0;
    holed += boundary > 0 ? 1 : 0;
    split += o.bow_ties > 0 ? 1 : 0;
  }
  EXPECT_GT(balanced, 30);
  EXPECT_GT(holed, 1000);
  EXPECT_GT(split, 300);
}

TEST(Flaws, BalancedAloneAgreesOnPositionsThatRepeatOrAreNotFinite) {
  TriangleMesh exploded;  // Each triangle has its own corners.
  for (const Triangle& t : test::make_box().triangles)
    for (const std::uint32_t v : t) {
      if (exploded.positions.size() % 3 == 0) {
        const auto n = static_cast<std::uint32_t>(exploded.positions.size());
        exploded.triangles.push_back({n, n + 1, n + 2});
      }
      exploded.positions.push_back(test::make_box().positions[v]);
    }
  EXPECT_TRUE(is_balanced(exploded));
  exploded.positions.push_back({NAN, 0, 0});  // No triangle uses it.
  EXPECT_EQ(is_balanced(exploded), find_flaws(exploded).balanced);
  exploded.triangles.push_back({0, 1, static_cast<std::uint32_t>(exploded.positions.size() - 1)});
  EXPECT_FALSE(is_balanced(exploded));
  EXPECT_FALSE(find_flaws(exploded).balanced);
  EXPECT_FALSE(is_balanced({}));
}

TEST(Flaws, SameOnAnyNumberOfThreads) {
  Random random(82);
  TriangleMesh m = test::make_ball(6, 1);
  for (int i = 0; i < 500; ++i) {
    const auto count = static_cast<std::uint32_t>(m.triangles.size());
    m.triangles.erase(m.triangles.begin() + random.below(count));
    test::flip(m.triangles[random.below(count - 1)]);
  }
  const MeshFlaws one = find_flaws(m, {.max_examples = 100000, .threads = {1}});
  for (const int threads : {2, 7}) {
    const MeshFlaws many = find_flaws(m, {.max_examples = 100000, .threads = {threads}});
    EXPECT_EQ(many.boundary_edges.examples, one.boundary_edges.examples);
    EXPECT_EQ(many.inconsistent_edges.examples, one.inconsistent_edges.examples);
    ASSERT_EQ(many.boundary_loops.count, one.boundary_loops.count);
    for (std::size_t i = 0; i < one.boundary_loops.examples.size(); ++i)
      EXPECT_EQ(many.boundary_loops.examples[i].vertices, one.boundary_loops.examples[i].vertices);
    EXPECT_EQ(many.area, one.area);
  }
  EXPECT_GT(one.boundary_loops.count, 300U);
}

}  // namespace
}  // namespace isotact
