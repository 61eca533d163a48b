#include "isotact/geometry/repair/self_intersection.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "support/small_meshes.h"

namespace isotact {
namespace {

using Contact = TriangleContact;

// --- an oracle in rational numbers: what is common to two triangles is spanned by the corners of
// each that lie in the other and the points where edges of one pass planes through the other.

using Whole = std::array<std::int64_t, 3>;
struct Rational {  // (x, y, z) / w
  Whole p{};
  std::int64_t w = 1;
};
using WholeTriangle = std::array<Whole, 3>;

Whole minus(const Whole& a, const Whole& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Whole times(const Whole& a, std::int64_t s) { return {a[0] * s, a[1] * s, a[2] * s}; }
Whole crossed(const Whole& a, const Whole& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
std::int64_t dotted(const Whole& a, const Whole& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Whole normal(const WholeTriangle& t) { return crossed(minus(t[1], t[0]), minus(t[2], t[0])); }
bool same(const Rational& a, const Rational& b) { return times(a.p, b.w) == times(b.p, a.w); }

enum class Place { kOutside, kOnEdge, kInside };

Place place_in(const WholeTriangle& t, const Rational& q) {
  const Whole n = normal(t);
  if (dotted(n, minus(q.p, times(t[0], q.w))) != 0) return Place::kOutside;
  Place place = Place::kInside;
  for (std::size_t k = 0; k < 3; ++k) {
    const Whole along = minus(t[(k + 1) % 3], t[k]), to = minus(q.p, times(t[k], q.w));
    const std::int64_t side = dotted(crossed(along, to), n);
    if (side < 0) return Place::kOutside;
    if (side == 0) place = Place::kOnEdge;
  }
  return place;
}

void add_passage(const Whole& a, const Whole& b, const Whole& origin, const Whole& direction,
                 std::vector<Rational>& points) {
  const std::int64_t da = dotted(direction, minus(a, origin));
  const std::int64_t db = dotted(direction, minus(b, origin));
  if (da == db) return;
  const std::int64_t sign = db > da ? 1 : -1;
  const Whole p = times(minus(times(a, db), times(b, da)), sign);
  const std::int64_t w = (db - da) * sign;
  points.push_back({p, w});
}

Contact oracle_contact(const WholeTriangle& a, const WholeTriangle& b) {
  if (normal(a) == Whole{} || normal(b) == Whole{}) return Contact::kNone;
  std::vector<Rational> candidates, common;
  for (const auto& [s, t] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    const Whole n = normal(*t);
    for (std::size_t k = 0; k < 3; ++k) {
      candidates.push_back({(*s)[k], 1});
      const Whole &p = (*s)[k], &q = (*s)[(k + 1) % 3];
      add_passage(p, q, (*t)[0], n, candidates);
      for (std::size_t j = 0; j < 3; ++j)
        add_passage(p, q, (*t)[j], crossed(n, minus((*t)[(j + 1) % 3], (*t)[j])), candidates);
    }
  }
  for (const Rational& q : candidates)
    if (place_in(a, q) != Place::kOutside && place_in(b, q) != Place::kOutside &&
        std::none_of(common.begin(), common.end(), [&](const Rational& c) { return same(c, q); }))
      common.push_back(q);
  std::vector<Rational> shared;
  for (const Whole& p : a)
    if (std::find(b.begin(), b.end(), p) != b.end()) shared.push_back({p, 1});
  if (shared.size() == 3 || common.empty()) return Contact::kNone;
  const bool only_shared = std::all_of(common.begin(), common.end(), [&](const Rational& c) {
    return std::any_of(shared.begin(), shared.end(), [&](const Rational& s) { return same(s, c); });
  });
  if (common.size() == 1) return only_shared ? Contact::kNone : Contact::kTouch;
  const bool coplanar = crossed(normal(a), normal(b)) == Whole{};
  // The middle of all common points is in the inside of whatever they span.
  Rational middle = common[0];
  for (std::size_t i = 1; i < common.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Rational &u = common[i], &v = common[j];
      const Whole pu = times(u.p, v.w), pv = times(v.p, u.w);
      middle = {{pu[0] + pv[0], pu[1] + pv[1], pu[2] + pv[2]}, 2 * u.w * v.w};
      const bool inside_a = place_in(a, middle) == Place::kInside;
      const bool inside_b = place_in(b, middle) == Place::kInside;
      if (inside_a && inside_b) return coplanar ? Contact::kOverlap : Contact::kCross;
    }
  // An area has pairs of corners whose middle is inside of both, or its own edges are in edges of
  // both; then three of its corners do not lie on one line.
  if (coplanar)
    for (std::size_t i = 2; i < common.size(); ++i) {
      const auto from_first = [&](const Rational& q) {
        return minus(times(q.p, common[0].w), times(common[0].p, q.w));
      };
      if (crossed(from_first(common[1]), from_first(common[i])) != Whole{})
        return Contact::kOverlap;
    }
  return only_shared ? Contact::kNone : Contact::kTouch;
}

TriangleCorners to_corners(const WholeTriangle& t) {
  TriangleCorners c{};
  for (std::size_t k = 0; k < 3; ++k)
    c[k] = {static_cast<float>(t[k][0]), static_cast<float>(t[k][1]), static_cast<float>(t[k][2])};
  return c;
}

std::array<Vec3, 3> to_double(const TriangleCorners& t, double scale = 1) {
  return {isotact::to_double(t[0]) * scale, isotact::to_double(t[1]) * scale,
          isotact::to_double(t[2]) * scale};
}

TEST(TriangleContact, AgreesWithRationalNumbersOnAGrid) {
  Random random(71);
  std::array<int, 4> counts{};
  for (int i = 0; i < 60000; ++i) {
    const std::uint32_t size = 2 + random.below(5);
    const std::uint32_t height = i % 3 == 0 ? 1 : size;  // a third of them in one plane
    WholeTriangle a{}, b{};
    for (WholeTriangle* t : {&a, &b})
      for (Whole& p : *t) p = {random.below(size), random.below(size), random.below(height)};
    // Some share corners on purpose.
    for (std::size_t k = 0; k < 2 && static_cast<int>(k) < i % 8 - 4; ++k) b[k] = a[k];
    const Contact expected = oracle_contact(a, b);
    const TriangleCorners ca = to_corners(a), cb = to_corners(b);
    ASSERT_EQ(find_contact_triangle_triangle(ca, cb), expected) << i;
    ASSERT_EQ(find_contact_triangle_triangle(cb, ca), expected) << i;
    ASSERT_EQ(find_contact_triangle_triangle({ca[1], ca[0], ca[2]}, {cb[2], cb[0], cb[1]}),
              expected);
    // In double and told what is shared; a third is far smaller than floats are.
    const double scale = i % 3 == 0 ? 0x1p-200 : 1;
    const auto shared =
        static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const Whole& p) {
          return std::find(b.begin(), b.end(), p) != b.end();
        }));
    if (shared < 3) {
      ASSERT_EQ(find_contact_triangle_triangle(to_double(ca, scale), to_double(cb, scale), shared),
                expected);
    }
    ++counts[static_cast<std::size_t>(expected)];
  }
  for (const int count : counts) EXPECT_GT(count, 1500);
}

TEST(TriangleContact, NamesTheWaysToMeet) {
  const TriangleCorners floor{{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  const auto with = [&](const TriangleCorners& t) {
    return find_contact_triangle_triangle(floor, t);
  };
  EXPECT_EQ(with({{{1, 1, -1}, {1, 1, 1}, {9, 9, 1}}}), Contact::kCross);
  EXPECT_EQ(with({{{1, 1, 1}, {1, 1, 2}, {9, 9, 1}}}), Contact::kNone);
  EXPECT_EQ(with({{{1, 1, 0}, {1, 1, 1}, {9, 9, 1}}}), Contact::kTouch);   // corner on face
  EXPECT_EQ(with({{{2, 0, 0}, {1, 1, 1}, {9, 9, 1}}}), Contact::kTouch);   // corner on edge
  EXPECT_EQ(with({{{1, 1, 0}, {2, 1, 0}, {1, 1, 1}}}), Contact::kTouch);   // edge in face
  EXPECT_EQ(with({{{1, 0, 0}, {2, 0, 0}, {1, -1, 1}}}), Contact::kTouch);  // edge on edge
  EXPECT_EQ(with({{{0, 0, 0}, {4, 0, 0}, {1, -1, 1}}}), Contact::kNone);   // shared edge
  EXPECT_EQ(with({{{0, 0, 0}, {-4, 0, 0}, {1, -1, 1}}}), Contact::kNone);  // shared corner
  EXPECT_EQ(with({{{0, 0, 0}, {1, 1, 1}, {1, 1, -1}}}), Contact::kCross);  // and through the face
  EXPECT_EQ(with({{{0, 0, 0}, {1, 0, 0}, {0, -1, 1}}}), Contact::kTouch);  // and along an edge
  EXPECT_EQ(with({{{1, 1, 0}, {9, 1, 0}, {9, 9, 0}}}), Contact::kOverlap);
  EXPECT_EQ(with({{{0, 0, 0}, {4, 0, 0}, {1, 1, 0}}}), Contact::kOverlap);  // folded over
  EXPECT_EQ(with({{{0, 0, 0}, {4, 0, 0}, {1, -1, 0}}}), Contact::kNone);    // flat neighbours
  EXPECT_EQ(with({{{1, 0, 0}, {2, 0, 0}, {1, -1, 0}}}), Contact::kTouch);   // T-junction
  EXPECT_EQ(with({floor[1], floor[0], floor[2]}), Contact::kNone);          // duplicate
  EXPECT_EQ(with({{{1, 1, -1}, {1, 1, 1}, {1, 1, 3}}}), Contact::kNone);    // no area
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(with({{{1, 1, -1}, {1, 1, 1}, {nan, 9, 1}}}), Contact::kNone);
}

TEST(TriangleContact, WhatIsSharedMayBeTold) {
  const std::array<Vec3, 3> floor{{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  const auto with = [&](const std::array<Vec3, 3>& t, std::size_t shared) {
    return find_contact_triangle_triangle(floor, t, shared);
  };
  const std::array<Vec3, 3> at_edge{{{0, 0, 0}, {4, 0, 0}, {1, -1, 1}}};
  const std::array<Vec3, 3> at_corner{{{0, 0, 0}, {-4, 0, 0}, {1, -1, 1}}};
  EXPECT_EQ(with(at_edge, 2), Contact::kNone);
  EXPECT_EQ(with(at_edge, 0), Contact::kTouch);
  EXPECT_EQ(with(at_corner, 1), Contact::kNone);
  EXPECT_EQ(with(at_corner, 0), Contact::kTouch);
  EXPECT_EQ(with(floor, 0), Contact::kOverlap);
  EXPECT_EQ(with(floor, 3), Contact::kOverlap);
  EXPECT_EQ(with({{{1, 1, -1e-12}, {1, 1, 1}, {9, 9, 1}}}, 0), Contact::kCross);
  EXPECT_EQ(with({{{1, 1, 0x1p-290}, {1, 1, 1}, {9, 9, 1}}}, 0), Contact::kNone);
  EXPECT_EQ(with({{{1, 1, -1}, {1, 1, 1}, {1e99, 9, 1}}}, 0), Contact::kNone);  // out of range
}

TEST(SelfIntersection, CleanMeshesHaveNone) {
  for (const TriangleMesh& m : {test::make_box(), test::make_ball(3, 1), TriangleMesh{},
                                test::exploded(test::make_box())}) {
    const SelfIntersections s = find_self_intersections(m);
    EXPECT_EQ(s.crossing + s.overlapping + s.touching, 0U);
  }
}

TEST(SelfIntersection, BoxesThatCrossOverlapAndTouch) {
  TriangleMesh crossing = test::make_box({0, 0, 0}, {4, 4, 4});
  test::append(crossing, test::make_box({1, 2, 3}, {2, 3, 7}));
  EXPECT_GT(find_self_intersections(crossing).crossing, 0U);
  EXPECT_EQ(find_self_intersections(crossing).overlapping, 0U);
  TriangleMesh stacked = test::make_box({0, 0, 0}, {4, 4, 4});
  test::append(stacked, test::make_box({1, 1, 4}, {2, 3, 7}));
  EXPECT_GT(find_self_intersections(stacked).overlapping, 0U);
  TriangleMesh tip = test::make_box({0, 0, 0}, {4, 4, 4});
  test::append(tip, {{{1, 2, 4}, {0, 0, 5}, {1, 0, 5}, {0, 1, 5}},
                     {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}});
  const SelfIntersections s = find_self_intersections(tip);
  EXPECT_EQ(s.crossing + s.overlapping, 0U);
  EXPECT_EQ(s.touching, 3U);  // the three sides that meet in the tip, with the face below
  EXPECT_EQ(find_self_intersections(tip, {.touching = false}).touching, 0U);
  EXPECT_EQ(find_self_intersections(tip, {.max_pairs = 2}).pairs.size(), 2U);
}

TEST(SelfIntersection, AgreesWithBruteForceOnSoupsForAnyNumberOfThreads) {
  Random random(72);
  std::size_t pairs = 0, tested = 0;
  for (int i = 0; i < 30; ++i) {
    TriangleMesh soup = test::make_soup(random, 200, random.uniform(0.02, 0.3));
    if (i % 3 == 0)  // snapped to a grid they touch, overlap and degenerate
      for (Vec3f& p : soup.positions)
        for (std::size_t k = 0; k < 3; ++k) p[k] = std::round(p[k] * 8) / 8;
    if (i % 5 == 0) soup.positions[17].y = std::numeric_limits<float>::infinity();
    if (i % 4 == 0)  // some are repeated, by other vertices and in another order
      for (std::uint32_t k = 0; k < 40; ++k) {
        const auto [a, b, c] = corners(soup, random.below(200));
        const auto first = static_cast<std::uint32_t>(soup.positions.size());
        soup.positions.insert(soup.positions.end(), {b, a, c});
        soup.triangles.push_back({first, first + 1, first + 2});
      }
    const SelfIntersections expected = find_self_intersections_brute_force(soup);
    for (const int threads : {1, 2, 7}) {
      const SelfIntersections found = find_self_intersections(soup, {.threads = {threads}});
      EXPECT_EQ(found.crossing, expected.crossing);
      EXPECT_EQ(found.overlapping, expected.overlapping);
      EXPECT_EQ(found.touching, expected.touching);
      EXPECT_EQ(found.pairs, expected.pairs);
      EXPECT_TRUE(found.complete);
    }
    pairs += expected.pairs.size();
    tested += 200 * 199 / 2;
  }
  EXPECT_GT(pairs, tested / 1000);
  EXPECT_LT(pairs, tested / 10);
}

TEST(SelfIntersection, CopiesAndLinesAreNotTestedInAllPairs) {
  TriangleMesh m{{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, -1}, {1, 1, 1}, {9, 9, 1}, {2, 0, 0}},
                 {{0, 1, 2}}};
  m.triangles.insert(m.triangles.end(), 200'000, {1, 2, 0});
  m.triangles.push_back({3, 4, 5});
  m.triangles.insert(m.triangles.end(), 100'000, {0, 1, 6});
  // Two pairs at most, whatever the number of copies.
  const SelfIntersections found = find_self_intersections(m, {.max_tests = 2});
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.pairs, (std::vector<TrianglesInContact>{{0, 200'001, Contact::kCross}}));
  EXPECT_EQ(found.crossing, 1U);
}

TEST(SelfIntersection, AnyNumberOfPairsMayBeAskedFor) {
  Random random(73);
  const TriangleMesh soup = test::make_soup(random, 1000, 0.5);
  const SelfIntersections all =
      find_self_intersections(soup, {.max_pairs = std::numeric_limits<std::size_t>::max()});
  ASSERT_GT(all.pairs.size(), 10'000U);  // tasks hand over several times
  EXPECT_EQ(all.pairs, find_self_intersections_brute_force(soup).pairs);
  for (const std::size_t max_pairs : {0U, 1U, 100U, 5000U}) {
    const SelfIntersections some = find_self_intersections(soup, {.max_pairs = max_pairs});
    EXPECT_EQ(some.crossing, all.crossing);
    EXPECT_TRUE(std::equal(some.pairs.begin(), some.pairs.end(), all.pairs.begin()));
    EXPECT_EQ(some.pairs.size(), max_pairs);
  }
}

TEST(SelfIntersection, GivesUpTheSameWayForAnyNumberOfThreads) {
  Random random(74);
  const TriangleMesh soup = test::make_soup(random, 3000, 0.15);
  const SelfIntersections all = find_self_intersections(soup);
  ASSERT_TRUE(all.complete);
  std::size_t partial = 0;
  for (std::uint64_t max_tests = 0; max_tests < 1'000'000; max_tests = 3 * max_tests + 1000) {
    const SelfIntersections one =
        find_self_intersections(soup, {.max_tests = max_tests, .threads = {1}});
    for (const int threads : {2, 7}) {
      const SelfIntersections same =
          find_self_intersections(soup, {.max_tests = max_tests, .threads = {threads}});
      EXPECT_EQ(same.complete, one.complete);
      EXPECT_EQ(same.crossing, one.crossing);
      EXPECT_EQ(same.pairs, one.pairs);
    }
    EXPECT_LE(one.crossing, max_tests);
    EXPECT_TRUE(one.complete ? one.crossing == all.crossing : one.crossing < all.crossing);
    partial += !one.complete && one.crossing > 0 ? 1 : 0;
  }
  EXPECT_FALSE(find_self_intersections(soup, {.max_tests = 0}).complete);
  EXPECT_GE(partial, 2U);
}

TEST(SelfIntersection, CanBeWatchedAndCancelled) {
  Random random(75);
  const TriangleMesh soup = test::make_soup(random, 3000, 0.1);
  std::uint64_t last = 0, total = 0;
  SelfIntersectionSettings settings{.threads = {2}};
  settings.monitor.on_progress = [&](const ProgressReport& r) {
    if (r.task != "searching self-intersections") return;
    EXPECT_GT(r.done, last);
    last = r.done;
    total = r.total;
  };
  find_self_intersections(soup, settings);
  EXPECT_GT(total, 700U);
  EXPECT_EQ(last, total);
  CancelToken cancel;
  settings.monitor.cancel = &cancel;
  settings.monitor.on_progress = [&](const ProgressReport& r) {
    if (r.task == "searching self-intersections") cancel.cancel();
  };
  EXPECT_THROW(find_self_intersections(soup, settings), Cancelled);
}

}  // namespace
}  // namespace isotact
