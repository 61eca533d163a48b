#include "isotact/queries/deformable/features.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/aabb.h"
#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "feature_oracle.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

// --- distances

std::array<Vec3, 4> random_features(Random& random, int kind) {
  std::array<Vec3, 4> p{};
  for (Vec3& x : p) x = random.in_unit_ball();
  if (kind == 1) p[3] = p[2] + (p[1] - p[0]) * random.uniform(-1, 1);  // parallel
  if (kind == 2) p[3] = p[2];
  if (kind == 3) p[1] = p[0], p[3] = p[2];
  if (kind == 4) p[3] = lerp(p[1], p[2], random.uniform(-1, 2));  // a face that is a segment
  if (kind == 5)
    for (Vec3& x : p) x.z = 0;
  if (kind == 6) p[3] = p[2] + random.in_unit_ball() * 1e-6;
  if (kind == 7)  // on a grid, so that much coincides
    for (Vec3& x : p) x = {std::round(x.x * 2), std::round(x.y * 2), std::round(x.z * 2)};
  if (kind == 8)
    for (Vec3& x : p) x = x * 1e-30 + Vec3{1, 2, 3};
  return p;
}

TEST(FeatureDistance, AgreesWithAWiderOracle) {
  Random random(811);
  int zero = 0, inside = 0, total = 0;
  for (int i = 0; i < unless_slow(45000, 9000); ++i) {
    const std::array<Vec3, 4> p = random_features(random, i % 9);
    feature_oracle::Points wide{};
    for (std::size_t k = 0; k < 4; ++k) wide[k] = feature_oracle::widen(p[k]);
    for (const bool is_edges : {false, true}) {
      const FeatureDistance found =
          is_edges ? compute_distance_edge_edge(p) : compute_distance_vertex_face(p);
      const long double want =
          is_edges ? feature_oracle::edge_edge(wide) : feature_oracle::vertex_face(wide);
      ASSERT_NEAR(found.distance, static_cast<double>(want), i % 9 == 6 ? 3e-12 : 1e-14) << i;
      // The points that the weights name are as far from each other, and on the features.
      const std::size_t split = is_edges ? 2 : 1;
      Vec3 first{}, second{};
      double sum_first = 0, sum_second = 0;
      bool is_inside = true;
      for (std::size_t k = 0; k < 4; ++k) {
        (k < split ? first : second) += p[k] * found.weights[k];
        (k < split ? sum_first : sum_second) += found.weights[k];
        ASSERT_GE(found.weights[k], -1e-15);
        is_inside = is_inside && found.weights[k] > 0;
      }
      ASSERT_NEAR(sum_first, 1, 1e-15);
      ASSERT_NEAR(sum_second, 1, 1e-15);
      ASSERT_LE(length(first - second - found.to_first), 1e-11);
      ASSERT_NEAR(length(found.to_first), found.distance, 1e-15);
      zero += found.distance < 1e-12;
      inside += is_inside;
      ++total;
    }
  }
  EXPECT_GT(zero, total / 20);
  EXPECT_LT(zero, total / 2);
  EXPECT_GT(inside, total / 15);
}

// --- surfaces

struct BentSheet {
  SurfaceTopology topology;
  std::vector<Vec3> t0, t1;

  SurfaceView still() const { return {&topology, t0}; }
  SurfaceView moving() const { return {&topology, t0, t1}; }
};

// A sheet of n * n squares in the plane z = 0, one metre wide.
BentSheet make_sheet(std::uint32_t n) {
  std::vector<Triangle> triangles;
  BentSheet body;
  for (std::uint32_t y = 0; y <= n; ++y)
    for (std::uint32_t x = 0; x <= n; ++x) {
      body.t0.push_back({static_cast<double>(x) / n, static_cast<double>(y) / n, 0});
      if (x == n || y == n) continue;
      const std::uint32_t v = y * (n + 1) + x;
      triangles.push_back({v, v + 1, v + n + 2});
      triangles.push_back({v, v + n + 2, v + n + 1});
    }
  body.topology = make_topology(triangles, body.t0.size());
  body.t1 = body.t0;
  return body;
}

void shake(std::vector<Vec3>& positions, Random& random, double by) {
  for (Vec3& p : positions) p += random.in_unit_ball() * by;
}

Aabb swept_box_of(const SurfaceView& s, std::uint32_t triangle) {
  Aabb box;
  for (const std::uint32_t v : s.topology->triangles[triangle]) {
    extend(box, s.positions[v]);
    if (!s.positions_t1.empty()) extend(box, s.positions_t1[v]);
  }
  return box;
}

bool are_boxes_near(const Aabb& a, const Aabb& b, double margin) {
  for (std::size_t k = 0; k < 3; ++k)
    if (a.lower[k] - b.upper[k] > margin || b.lower[k] - a.upper[k] > margin) return false;
  return true;
}

// As a tree would give them, but in any order, and some twice.
std::vector<TrianglePair> candidates_of(const SurfaceView& a, const SurfaceView& b, double margin,
                                        Random& random, bool is_self = false) {
  std::vector<TrianglePair> pairs;
  for (std::uint32_t i = 0; i < a.topology->triangles.size(); ++i)
    for (std::uint32_t k = is_self ? i + 1 : 0; k < b.topology->triangles.size(); ++k)
      if (are_boxes_near(swept_box_of(a, i), swept_box_of(b, k), margin)) {
        pairs.push_back({i, k});
        if (random.below(10) == 0) pairs.push_back({i, k});
      }
  for (std::uint32_t i = static_cast<std::uint32_t>(pairs.size()); i > 1; --i)
    std::swap(pairs[i - 1], pairs[random.below(i)]);
  return pairs;
}

void expect_same_features(const std::vector<FeatureContact>& got,
                          const std::vector<FeatureContact>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const FeatureContact &g = got[i], &w = want[i];
    ASSERT_TRUE(g.kind == w.kind && g.feature_a == w.feature_a && g.feature_b == w.feature_b);
    ASSERT_TRUE(g.vertices == w.vertices && g.weights == w.weights && g.normal == w.normal);
    ASSERT_TRUE(g.point_on_a == w.point_on_a && g.point_on_b == w.point_on_b);
    ASSERT_TRUE(g.distance == w.distance && g.time == w.time && g.gave_up == w.gave_up);
  }
}

// What a contact says about itself, held against the surfaces.
void expect_consistent(const FeatureContact& c, const SurfaceView& a, const SurfaceView& b) {
  const std::size_t split = c.kind == FeatureKind::kVertexFace   ? 1
                            : c.kind == FeatureKind::kFaceVertex ? 3
                                                                 : 2;
  const auto place = [&](const SurfaceView& s, std::uint32_t v) {
    return s.positions_t1.empty() ? s.positions[v]
                                  : lerp(s.positions[v], s.positions_t1[v], c.time);
  };
  Vec3 on_a{}, on_b{};
  double sum_a = 0, sum_b = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    (k < split ? sum_a : sum_b) += c.weights[k];
    if (k < split)
      on_a += place(a, c.vertices[k]) * c.weights[k];
    else
      on_b += place(b, c.vertices[k]) * c.weights[k];
  }
  ASSERT_NEAR(sum_a, 1, 1e-14);
  ASSERT_NEAR(sum_b, 1, 1e-14);
  ASSERT_LE(length(on_a - c.point_on_a), 1e-14);
  ASSERT_LE(length(on_b - c.point_on_b), 1e-14);
  ASSERT_NEAR(length(on_a - on_b), c.distance, 1e-10);
  ASSERT_NEAR(length(c.normal), 1, 1e-14);
  if (c.distance > 1e-6) {
    ASSERT_LE(length(c.normal * c.distance - (on_a - on_b)), 1e-9);
  }
  const Edge edge_a{std::min(c.vertices[0], c.vertices[1]), std::max(c.vertices[0], c.vertices[1])};
  if (c.kind == FeatureKind::kVertexFace) {
    ASSERT_EQ(c.vertices[0], c.feature_a);
  }
  if (c.kind == FeatureKind::kFaceVertex) {
    ASSERT_EQ(c.vertices[3], c.feature_b);
  }
  if (c.kind == FeatureKind::kEdgeEdge) {
    ASSERT_EQ(a.topology->edges[c.feature_a], edge_a);
  }
}

struct KindCounts {
  std::array<std::size_t, 3> kinds{};
  std::size_t pairs = 0;

  void add(const std::vector<FeatureContact>& contacts, const BentSheet& a, const BentSheet& b) {
    for (const FeatureContact& c : contacts) ++kinds[static_cast<std::size_t>(c.kind)];
    pairs += a.topology.triangles.size() * b.t0.size() + b.topology.triangles.size() * a.t0.size() +
             a.topology.edges.size() * b.topology.edges.size();
  }
};

// Two sheets, one above the other or through it, rough as you like.
std::pair<BentSheet, BentSheet> make_two_sheets(Random& random, int i) {
  BentSheet a = make_sheet(3 + random.below(4)), b = make_sheet(3 + random.below(4));
  const Quat turn = random.rotation();
  for (Vec3& p : b.t0)
    p = i % 2 == 0 ? p + Vec3{random.uniform(), 0, 0.05} : rotate(turn, p) + Vec3{0.5, 0.5, 0.1};
  if (i % 3 != 0) shake(a.t0, random, 0.1), shake(b.t0, random, 0.1);
  a.t1 = a.t0;
  b.t1 = b.t0;
  const Vec3 move = Vec3{0, 0, -0.3} + random.in_unit_ball() * 0.1;
  for (Vec3& p : b.t1) p += move;
  if (i % 4 != 0) shake(a.t1, random, 0.05), shake(b.t1, random, 0.05);
  return {a, b};
}

TEST(Proximities, AgreeWithBruteForce) {
  Random random(821);
  KindCounts counts;
  for (int i = 0; i < unless_slow(300, 30); ++i) {
    SCOPED_TRACE(i);
    const auto [a, b] = make_two_sheets(random, i);
    const double margin = i % 5 == 0 ? 0.05 : random.uniform(0, 0.1);
    std::vector<FeatureContact> want, got;
    find_proximities_brute_force(a.still(), b.still(), margin, want);
    // Ends at t1 do not matter.
    find_proximities(a.moving(), b.still(), candidates_of(a.still(), b.still(), margin, random),
                     margin, got);
    ASSERT_NO_FATAL_FAILURE(expect_same_features(got, want));
    for (const FeatureContact& c : got) {
      ASSERT_LE(c.distance, margin);
      ASSERT_NO_FATAL_FAILURE(expect_consistent(c, a.still(), b.still()));
    }
    counts.add(got, a, b);
  }
  for (const std::size_t kind : counts.kinds) {
    EXPECT_GT(kind, counts.pairs / 2000);
    EXPECT_LT(kind, counts.pairs / 10);
  }
}

TEST(Proximities, OfOneBody) {
  Random random(822);
  std::size_t found = 0, features = 0;
  for (int i = 0; i < unless_slow(200, 20); ++i) {
    SCOPED_TRACE(i);
    BentSheet body = make_sheet(4 + random.below(4));
    for (Vec3& p : body.t0)  // folded
      if (p.x > 0.5) p = {1 - p.x, p.y, i % 2 == 0 ? 0.05 : 0.0};
    if (i % 3 != 0) shake(body.t0, random, 0.05);
    const double margin = random.uniform(0, 0.1);
    std::vector<FeatureContact> want, got;
    find_self_proximities_brute_force(body.still(), margin, want);
    std::vector<TrianglePair> candidates =
        candidates_of(body.still(), body.still(), margin, random, true);
    for (TrianglePair& c : candidates)  // either way round
      if (random.below(2) == 0) std::swap(c.a, c.b);
    find_self_proximities(body.still(), candidates, margin, got);
    ASSERT_NO_FATAL_FAILURE(expect_same_features(got, want));
    for (const FeatureContact& c : got) {
      ASSERT_NE(c.kind, FeatureKind::kFaceVertex);
      if (c.kind == FeatureKind::kEdgeEdge) {
        ASSERT_LT(c.feature_a, c.feature_b);
      }
      ASSERT_NO_FATAL_FAILURE(expect_consistent(c, body.still(), body.still()));
      const auto& v = c.vertices;
      ASSERT_TRUE(v[0] != v[2] && v[0] != v[3]);
    }
    found += got.size();
    features += body.topology.edges.size();
  }
  EXPECT_GT(found, features / 2);
}

TEST(Crossings, AgreeWithBruteForce) {
  Random random(823);
  KindCounts counts;
  std::size_t later = 0;
  for (int i = 0; i < unless_slow(200, 20); ++i) {
    SCOPED_TRACE(i);
    const auto [a, b] = make_two_sheets(random, i);
    const double margin = i % 2 == 0 ? 0 : random.uniform(0, 0.02);
    std::vector<FeatureContact> want, got;
    find_crossings_brute_force(a.moving(), b.moving(), margin, want);
    find_crossings(a.moving(), b.moving(), candidates_of(a.moving(), b.moving(), margin, random),
                   margin, got);
    ASSERT_NO_FATAL_FAILURE(expect_same_features(got, want));
    for (const FeatureContact& c : got) {
      ASSERT_LE(c.distance, margin + (c.gave_up || c.time == 0 ? 1 : 1.0001e-6));
      ASSERT_NO_FATAL_FAILURE(expect_consistent(c, a.moving(), b.moving()));
      later += c.time > 0;
    }
    counts.add(got, a, b);
    // Of one body, the same.
    want.clear(), got.clear();
    find_self_crossings_brute_force(a.moving(), margin, want);
    find_self_crossings(a.moving(), candidates_of(a.moving(), a.moving(), margin, random, true),
                        margin, got);
    ASSERT_NO_FATAL_FAILURE(expect_same_features(got, want));
  }
  for (const std::size_t kind : counts.kinds) {
    EXPECT_GT(kind, counts.pairs / 3000);
    EXPECT_LT(kind, counts.pairs / 10);
  }
  EXPECT_GT(later, (counts.kinds[0] + counts.kinds[2]) / 4);
}

// Nothing slips through: bodies that were apart and are through each other have crossed.
TEST(Crossings, NoneIsMissedBetweenWhatWasApartAndWhatIsNot) {
  Random random(824);
  int apart_before = 0, through_after = 0;
  for (int i = 0; i < unless_slow(1500, 100); ++i) {
    SCOPED_TRACE(i);
    BentSheet a = make_sheet(2 + random.below(3)), b = make_sheet(2 + random.below(3));
    shake(a.t0, random, 0.05), shake(b.t0, random, 0.05);
    for (Vec3& p : b.t0) p.z += 0.2;
    a.t1 = a.t0, b.t1 = b.t0;
    const double down = random.uniform(0.05, 0.35);
    for (Vec3& p : b.t1) p.z -= down;
    shake(b.t1, random, 0.05);
    std::vector<TrianglePair> before, after;
    const auto all = candidates_of(a.moving(), b.moving(), 0, random);
    find_intersections(a.still(), b.still(), all, before);
    find_intersections({&a.topology, a.t1}, {&b.topology, b.t1}, all, after);
    if (!before.empty()) continue;
    ++apart_before;
    std::vector<FeatureContact> crossings;
    find_crossings(a.moving(), b.moving(), all, 0, crossings);
    if (!after.empty()) {
      ASSERT_FALSE(crossings.empty());
      ++through_after;
    }
    // Up to just before the first of them they stay apart.
    double first = 1;
    for (const FeatureContact& c : crossings) first = std::min(first, c.time);
    std::vector<Vec3> at_first_a, at_first_b;
    for (std::size_t k = 0; k < a.t0.size(); ++k)
      at_first_a.push_back(lerp(a.t0[k], a.t1[k], first * (1 - 1e-9)));
    for (std::size_t k = 0; k < b.t0.size(); ++k)
      at_first_b.push_back(lerp(b.t0[k], b.t1[k], first * (1 - 1e-9)));
    std::vector<TrianglePair> now;
    find_intersections({&a.topology, at_first_a}, {&b.topology, at_first_b}, all, now);
    ASSERT_TRUE(now.empty());
  }
  EXPECT_GT(apart_before, unless_slow(1000, 60));
  EXPECT_GT(through_after, apart_before / 4);
  EXPECT_LT(through_after, apart_before);
}

TEST(Crossings, NormalsPointToWhereACameFrom) {
  BentSheet floor = make_sheet(1);
  BentSheet body{make_topology(std::vector<Triangle>{{0, 1, 2}}, 3),
                 {{0.3, 0.2, 0.5}, {0.4, 0.3, 0.6}, {0.3, 0.4, 0.7}},
                 {}};
  body.t1 = body.t0;
  for (Vec3& p : body.t1) p.z -= 1;
  Random random(1);
  std::vector<FeatureContact> contacts;
  const auto candidates = candidates_of(body.moving(), floor.still(), 0, random);
  // Of the margin's own distance, and so near that it is lost in rounding.
  for (const double margin : {0.01, 0.0})
    find_crossings(body.moving(), floor.still(), candidates, margin, contacts, {.tolerance = 0});
  ASSERT_GE(contacts.size(), 6U);
  for (const FeatureContact& c : contacts) {
    if (c.kind == FeatureKind::kVertexFace) {
      EXPECT_NEAR(c.normal.z, 1, 1e-9);
    }
  }
  EXPECT_NEAR(contacts[0].time, 0.49, 1e-9);
  contacts.clear();
  find_crossings(floor.still(), body.moving(),
                 candidates_of(floor.still(), body.moving(), 0, random), 0, contacts,
                 {.tolerance = 0});
  ASSERT_GE(contacts.size(), 3U);
  EXPECT_EQ(contacts[0].kind, FeatureKind::kFaceVertex);
  EXPECT_NEAR(contacts[0].normal.z, -1, 1e-9);
  EXPECT_NEAR(contacts[0].time, 0.5, 1e-9);
}

// --- intersections

TEST(Intersections, TouchingCountsAndNeighboursDoNot) {
  const BentSheet sheet = make_sheet(2);
  BentSheet other = make_sheet(2);
  Random random(2);
  std::vector<TrianglePair> pairs;
  const auto candidates = [&] { return candidates_of(sheet.still(), other.still(), 1, random); };
  for (Vec3& p : other.t0) p.z += 1e-300;
  find_intersections(sheet.still(), other.still(), candidates(), pairs);
  std::size_t neighbours = 0;  // in a sheet, triangles share a point where they share a vertex
  for (const Triangle& t : sheet.topology.triangles)
    for (const Triangle& u : sheet.topology.triangles)
      neighbours += std::find_first_of(t.begin(), t.end(), u.begin(), u.end()) != t.end();
  EXPECT_EQ(pairs.size(), neighbours);
  pairs.clear();
  for (Vec3& p : other.t0) p.z = 0x1p-299;
  find_intersections(sheet.still(), other.still(), candidates(), pairs);
  EXPECT_TRUE(pairs.empty());
  find_self_intersections(sheet.still(),
                          candidates_of(sheet.still(), sheet.still(), 1, random, true), pairs);
  EXPECT_TRUE(pairs.empty());
  // Folded along the middle, squares lie on squares.
  BentSheet folded = make_sheet(2);
  for (Vec3& p : folded.t0)
    if (p.x > 0.5) p.x = 0;
  find_self_intersections(folded.still(),
                          candidates_of(folded.still(), folded.still(), 1, random, true), pairs);
  EXPECT_GT(pairs.size(), 4U);
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
}

// Against distances in wider numbers: where they say that triangles are apart, they do not meet.
TEST(Intersections, AgreeWithDistances) {
  Random random(825);
  std::size_t met = 0, total = 0;
  for (int i = 0; i < unless_slow(4000, 800); ++i) {
    BentSheet a{make_topology(std::vector<Triangle>{{0, 1, 2}}, 3), {}, {}}, b = a;
    for (int k = 0; k < 3; ++k) {
      a.t0.push_back(random.in_unit_ball() + Vec3{1e3, 0, 0});
      b.t0.push_back(random.in_unit_ball() + Vec3{1e3, 0, 0});
    }
    if (i % 4 == 0) b.t0[0] = lerp(a.t0[0], a.t0[1], 0.5);
    std::vector<TrianglePair> pairs;
    find_intersections(a.still(), b.still(), std::vector<TrianglePair>{{0, 0}}, pairs);
    // Triangles that meet have an edge of one through the other.
    bool crosses = false;
    for (const auto& [s, t] : {std::pair{&a, &b}, std::pair{&b, &a}})
      for (std::size_t k = 0; k < 3; ++k) {
        const auto side = [&](std::size_t x, std::size_t y, std::size_t from, std::size_t to) {
          using feature_oracle::widen;
          const auto p = widen(s->t0[from]), q = widen(s->t0[to]);
          return dot(cross(widen(t->t0[x]) - p, widen(t->t0[y]) - p), q - p);
        };
        const std::size_t from = k, to = (k + 1) % 3;
        const auto u = side(0, 1, from, to), v = side(1, 2, from, to), w = side(2, 0, from, to);
        const auto normal =
            cross(feature_oracle::widen(t->t0[1]) - feature_oracle::widen(t->t0[0]),
                  feature_oracle::widen(t->t0[2]) - feature_oracle::widen(t->t0[0]));
        const auto above = [&](std::size_t c) {
          return dot(feature_oracle::widen(s->t0[c]) - feature_oracle::widen(t->t0[0]), normal);
        };
        const bool through = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
        crosses = crosses || (through && above(from) * above(to) < 0);
      }
    if (i % 4 == 0) continue;  // on the edge but for rounding: only that it returns
    ASSERT_EQ(pairs.size(), crosses ? 1U : 0U) << i;
    met += pairs.size();
    ++total;
  }
  EXPECT_GT(met, total / 10);
  EXPECT_LT(met, total / 2);
}

TEST(Features, WhatIsWrongIsAnError) {
  BentSheet sheet = make_sheet(1);
  std::vector<FeatureContact> contacts;
  std::vector<TrianglePair> pairs;
  const std::vector<TrianglePair> one{{0, 1}}, beyond{{0, 2}};
  const auto run_all = [&](const SurfaceView& view, const std::vector<TrianglePair>& candidates,
                           double margin) {
    EXPECT_THROW(find_proximities(view, view, candidates, margin, contacts), Error);
    EXPECT_THROW(find_self_proximities(view, candidates, margin, contacts), Error);
    EXPECT_THROW(find_crossings(view, view, candidates, margin, contacts), Error);
    EXPECT_THROW(find_self_crossings(view, candidates, margin, contacts), Error);
    if (margin != 0) return;
    EXPECT_THROW(find_intersections(view, view, candidates, pairs), Error);
    EXPECT_THROW(find_self_intersections(view, candidates, pairs), Error);
  };
  run_all(sheet.still(), beyond, 0);
  run_all(sheet.still(), one, -1);
  run_all(sheet.still(), one, std::numeric_limits<double>::quiet_NaN());
  run_all({}, one, 0);
  run_all({&sheet.topology, std::span(sheet.t0).first(3)}, one, 0);
  run_all({&sheet.topology, sheet.t0, std::span(sheet.t0).first(3)}, one, 0);
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), 1e61, -1e300,
                           std::numeric_limits<double>::infinity()}) {
    BentSheet burst = sheet;
    burst.t1[2].y = odd;
    run_all(burst.moving(), one, 0);
    burst.t0[2].y = odd;
    run_all(burst.still(), one, 0);
    EXPECT_THROW(find_proximities_brute_force(burst.still(), sheet.still(), 0, contacts), Error);
    EXPECT_THROW(find_self_crossings_brute_force(burst.still(), 0, contacts), Error);
  }
  EXPECT_TRUE(contacts.empty());
  EXPECT_TRUE(pairs.empty());
  find_proximities(sheet.still(), sheet.still(), {}, 0, contacts);
  const SurfaceTopology nothing = make_topology({}, 0);
  find_self_crossings({&nothing, {}, {}}, {}, 0, contacts);
  EXPECT_TRUE(contacts.empty());
}

// Huge, tiny, flat and collapsed bodies give answers.
TEST(Features, AnySizeAndShape) {
  Random random(826);
  std::size_t found = 0;
  for (int i = 0; i < unless_slow(200, 50); ++i) {
    BentSheet a = make_sheet(2), b = make_sheet(2);
    const double scale = std::pow(10.0, static_cast<double>(random.below(119)) - 60);
    for (BentSheet* body : {&a, &b}) {
      if (random.below(3) != 0) shake(body->t0, random, 0.3);
      if (random.below(4) == 0) body->t0[random.below(9)] = body->t0[random.below(9)];
      if (random.below(8) == 0) std::fill(body->t0.begin(), body->t0.end(), Vec3{0.5, 0.5, 0});
      for (Vec3& p : body->t0) p = p * scale;
      body->t1 = body->t0;
      shake(body->t1, random, 0.2 * scale);
    }
    std::vector<FeatureContact> contacts;
    const auto all = candidates_of(a.moving(), b.moving(), scale, random);
    find_proximities(a.still(), b.still(), all, 0.1 * scale, contacts);
    find_crossings(a.moving(), b.moving(), all, 0, contacts);
    find_self_crossings(a.moving(), candidates_of(a.moving(), a.moving(), scale, random, true), 0,
                        contacts);
    for (const FeatureContact& c : contacts) {
      ASSERT_TRUE(is_finite(c.point_on_a) && is_finite(c.point_on_b));
      ASSERT_NEAR(length(c.normal), 1, 1e-12);
      ASSERT_TRUE(c.distance >= 0 && c.time >= 0 && c.time <= 1);
    }
    found += contacts.size();
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace isotact
