#include "isotact/queries/deformable/continuous_features.h"

#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/random.h"

#include "feature_oracle.h"
#include "support/allocation_count.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using feature_oracle::find_approach;
using feature_oracle::find_meeting;
using feature_oracle::find_meeting_by_inclusion;
using feature_oracle::LeastDistance;
using feature_oracle::Real;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// --- meetings that are known: all in numbers of few bits, so that nothing is rounded

Vec3 few_bits(Random& random, bool flat) {
  const auto draw = [&] { return (static_cast<double>(random.below(257)) - 128) / 16; };
  const double x = draw(), y = draw();
  return {x, y, flat ? 0.0 : draw()};
}

struct KnownMeeting {
  FeatureMotion motion;
  double time = 0;
};

// Parts of one in eighths, often 0 or 1.
double eighths(Random& random) {
  const std::uint32_t n = random.below(14);
  return n < 9 ? n / 8.0 : n < 12 ? 0.0 : 1.0;
}

// Points on both features coincide at a time that is known, in any of the ways that there are.
KnownMeeting make_known_meeting(Random& random, bool is_edges) {
  const bool flat = random.below(4) == 0;
  KnownMeeting k;
  const std::uint32_t when = random.below(6);
  k.time = when == 0 ? 0.0 : when == 1 ? 1.0 : when == 2 ? 0x1p-12 : random.below(1025) / 1024.0;
  std::array<Vec3, 4> velocity{}, there{};
  for (std::size_t i = 0; i < 4; ++i) {
    there[i] = few_bits(random, flat);
    velocity[i] = few_bits(random, flat);
    if (random.below(8) == 0) velocity[i] = velocity[0];
    if (random.below(16) == 0) there[i] = there[random.below(4)];  // segments and points
  }
  // The last point is put where both meet.
  if (is_edges) {
    // The second edge's first point is moved by what is missing.
    const double u = eighths(random), v = eighths(random);
    const Vec3 missing = lerp(there[0], there[1], u) - lerp(there[2], there[3], v);
    there[2] += missing;
    there[3] += missing;
  } else {
    double u = eighths(random), v = eighths(random);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    there[0] = there[1] + (there[2] - there[1]) * u + (there[3] - there[1]) * v;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    k.motion.at_t0[i] = there[i] - velocity[i] * k.time;
    k.motion.at_t1[i] = there[i] + velocity[i] * (1 - k.time);
  }
  return k;
}

TEST(ContinuousFeatures, KnownMeetingsAreNeverMissed) {
  Random random(901);
  const int count = unless_slow(40000, 6000);
  int at_start = 0, at_end = 0, tight = 0, gave_up = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_edges = i % 2 == 0;
    const KnownMeeting known = make_known_meeting(random, is_edges);
    ASSERT_EQ(feature_oracle::distance(known.motion, is_edges, known.time), 0) << i;
    const MeetingSettings settings{.tolerance = i % 3 == 0 ? 0.0 : 1e-6};
    const Meeting found = find_meeting(known.motion, is_edges, settings);
    ASSERT_NE(found.status, MeetingStatus::kApart) << i;
    ASSERT_LE(found.time, known.time) << i;
    gave_up += found.status == MeetingStatus::kGaveUp;
    if (found.status == MeetingStatus::kMeet) {
      ASSERT_LE(feature_oracle::distance(known.motion, is_edges, found.time), 1.01e-6) << i;
    }
    at_start += known.time == 0;
    at_end += known.time == 1;
    tight += found.time > known.time - 1e-4;
    if (i % 20 > 1) continue;
    const Meeting slow =
        find_meeting_by_inclusion(known.motion, is_edges, {.tolerance = 1e-3, .max_steps = 20000});
    ASSERT_NE(slow.status, MeetingStatus::kApart) << i;
    ASSERT_LE(slow.time, known.time) << i;
  }
  EXPECT_GT(at_start, count / 8);
  EXPECT_GT(at_end, count / 8);
  EXPECT_GT(tight, count / 2);  // others meet before
  EXPECT_LT(gave_up, count / 50);
}

// Far from the origin, in units of any size: what is exact stays so.
TEST(ContinuousFeatures, KnownMeetingsAnywhereAndOfAnySize) {
  Random random(902);
  int counted = 0;
  for (int i = 0; i < unless_slow(10000, 2000); ++i) {
    const bool is_edges = i % 2 == 0;
    KnownMeeting known = make_known_meeting(random, is_edges);
    const Vec3 away = few_bits(random, false) * 0x1p18;
    const double scale = std::ldexp(1.0, static_cast<int>(random.below(300)) - 150);
    for (auto* points : {&known.motion.at_t0, &known.motion.at_t1})
      for (Vec3& p : *points) p = (p + away) * scale;
    if (feature_oracle::distance(known.motion, is_edges, known.time) != 0) continue;
    ++counted;
    const Meeting found = find_meeting(known.motion, is_edges, {.tolerance = 0});
    ASSERT_NE(found.status, MeetingStatus::kApart) << i;
    ASSERT_LE(found.time, known.time) << i;
  }
  EXPECT_GT(counted, unless_slow(3000, 600));
}

// --- random motions against the least distance that a slow search finds

FeatureMotion random_feature_motion(Random& random) {
  FeatureMotion m;
  const std::uint32_t kind = random.below(8);
  const Vec3 common = random.in_unit_ball() * (kind % 2 == 0 ? 3.0 : 0.0);
  const double own = kind < 4 ? 1 : 0.1;
  for (std::size_t i = 0; i < 4; ++i) {
    m.at_t0[i] = random.in_unit_ball();
    m.at_t1[i] = m.at_t0[i] + common + random.in_unit_ball() * own;
  }
  if (kind == 5) m.at_t0[3] = m.at_t0[2] + (m.at_t0[1] - m.at_t0[0]);  // parallel
  if (kind == 6)                                                       // a thin face, a short edge
    m.at_t0[3] = m.at_t0[2] + random.in_unit_ball() * 1e-6,
    m.at_t1[3] = m.at_t1[2] + random.in_unit_ball() * 1e-6;
  if (kind == 7)  // in one plane
    for (std::size_t i = 0; i < 4; ++i) m.at_t0[i].z = m.at_t1[i].z = 0;
  return m;
}

void expect_right(const FeatureMotion& m, bool is_edges, const MeetingSettings& s,
                  const LeastDistance& least, const Meeting& found, double slack) {
  const Real tolerance = s.tolerance * slack + 1e-13;
  if (found.status == MeetingStatus::kApart) {
    ASSERT_GT(least.distance, s.separation);
    return;
  }
  for (int k = 0; k < 16 && found.time > 0; ++k)  // before the time told, they are apart
    ASSERT_GT(feature_oracle::distance(m, is_edges, found.time * k / 16 * (1 - 1e-15)),
              s.separation - 1e-14);
  if (least.distance <= s.separation) {
    ASSERT_LE(found.time, least.time);
  }
  if (found.status == MeetingStatus::kMeet) {
    ASSERT_LE(feature_oracle::distance(m, is_edges, found.time), s.separation * slack + tolerance);
  }
}

TEST(ContinuousFeatures, AgreesWithSlowSearches) {
  Random random(903);
  const int count = unless_slow(6000, 800);
  int met = 0, gave_up = 0, inclusion_met = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const bool is_edges = i % 2 == 0;
    const FeatureMotion m = random_feature_motion(random);
    const LeastDistance least = find_approach(m, is_edges);
    const MeetingSettings s{.separation = i % 3 == 0 ? 0 : random.uniform(0, 0.3),
                            .tolerance = i % 5 == 0 ? 1e-3 : 1e-6};
    const Meeting found = find_meeting(m, is_edges, s);
    ASSERT_NO_FATAL_FAILURE(expect_right(m, is_edges, s, least, found, 1));
    met += found.status == MeetingStatus::kMeet;
    gave_up += found.status == MeetingStatus::kGaveUp;
    if (i % 10 > 1) continue;
    const Meeting slow = find_meeting_by_inclusion(
        m, is_edges, {.separation = s.separation, .tolerance = 1e-3, .max_steps = 20000});
    inclusion_met += slow.status != MeetingStatus::kApart;
    ASSERT_NO_FATAL_FAILURE(expect_right(m, is_edges, {s.separation, 1e-3, 0}, least, slow, 1.8));
  }
  EXPECT_GT(met, count / 8);
  EXPECT_LT(met, count * 4 / 5);
  EXPECT_GT(inclusion_met, count / 50);
  EXPECT_LT(gave_up, count / 100);
}

// With a separation a hair wider than the least distance they meet, however short the moment; with
// one a hair narrower, nearly all are proved apart.
TEST(ContinuousFeatures, GrazesAreSeen) {
  Random random(904);
  const int count = unless_slow(3000, 400);
  int tested = 0, proved = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const bool is_edges = i % 2 == 0;
    const FeatureMotion m = random_feature_motion(random);
    const LeastDistance least = find_approach(m, is_edges, 256);
    if (least.distance < 1e-3) continue;
    ++tested;
    const auto d = static_cast<double>(least.distance);
    const Meeting wide = find_meeting(m, is_edges, {.separation = d * (1 + 1e-12), .tolerance = 0});
    ASSERT_NE(wide.status, MeetingStatus::kApart);
    ASSERT_LE(wide.time, least.time);
    const Meeting narrow = find_meeting(
        m, is_edges, {.separation = d * (1 - 1e-5), .tolerance = d * 1e-7, .max_steps = 4096});
    proved += narrow.status == MeetingStatus::kApart;
    ASSERT_NE(narrow.status, MeetingStatus::kMeet);  // they are further apart than that
  }
  EXPECT_GT(tested, count / 4);
  EXPECT_GT(proved, tested * 95 / 100);
}

TEST(ContinuousFeatures, RestingFeatures) {
  FeatureMotion m{{{{0.25, 0.25, 0.5}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}, {}};
  m.at_t1 = m.at_t0;
  EXPECT_EQ(find_meeting_vertex_face(m).status, MeetingStatus::kApart);
  EXPECT_EQ(find_meeting_vertex_face(m, {.separation = 0.5}).status, MeetingStatus::kMeet);
  EXPECT_EQ(find_meeting_vertex_face(m, {.separation = 0.5}).time, 0);
  EXPECT_EQ(find_meeting_vertex_face(m, {.separation = 0.4999}).status, MeetingStatus::kApart);
  m.at_t1[0].z = 1;  // on the face, and away from it
  m.at_t0[0].z = 0;
  EXPECT_EQ(find_meeting_vertex_face(m).time, 0);
  EXPECT_EQ(find_meeting_vertex_face(m).status, MeetingStatus::kMeet);
  m.at_t0[0].z = 1e-9;  // within the tolerance, but leaving
  EXPECT_EQ(find_meeting_vertex_face(m).status, MeetingStatus::kApart);
  std::swap(m.at_t0, m.at_t1);  // arriving at a distance of 1e-9, not at the face
  EXPECT_EQ(find_meeting_vertex_face(m).status, MeetingStatus::kApart);
}

TEST(ContinuousFeatures, WhatIsNoNumberIsNeverApart) {
  Random random(905);
  int gave_up = 0, apart = 0;
  const double odd[] = {kNoNumber, kInfinite, -kInfinite, 1e308, -1e308, 1e200, 5e-324, 1e-200};
  for (int i = 0; i < unless_slow(4000, 800); ++i) {
    const bool is_edges = i % 2 == 0;
    KnownMeeting known = make_known_meeting(random, is_edges);
    for (std::uint32_t n = random.below(4) + 1; n > 0; --n) {
      auto& points = random.below(2) == 0 ? known.motion.at_t0 : known.motion.at_t1;
      points[random.below(4)][random.below(3)] = odd[random.below(8)];
    }
    const Meeting found = find_meeting(known.motion, is_edges, {});
    const Meeting slow = find_meeting_by_inclusion(known.motion, is_edges, {.max_steps = 300});
    for (const Meeting& m : {found, slow}) {
      ASSERT_GE(m.time, 0);
      ASSERT_LE(m.time, 1);
    }
    gave_up += found.status == MeetingStatus::kGaveUp;
    apart += found.status == MeetingStatus::kApart;
  }
  EXPECT_GT(gave_up, 400);
  EXPECT_GT(apart, 40);
  FeatureMotion nan;
  for (Vec3& p : nan.at_t1) p = {kNoNumber, kNoNumber, kNoNumber};
  for (const bool is_edges : {false, true}) {
    EXPECT_EQ(find_meeting(nan, is_edges, {}).status, MeetingStatus::kGaveUp);
    EXPECT_EQ(find_meeting(nan, is_edges, {}).time, 0);
    const FeatureMotion one_point{};
    EXPECT_EQ(find_meeting(one_point, is_edges, {}).status, MeetingStatus::kMeet);
    for (const MeetingSettings& s :
         {MeetingSettings{.separation = -1}, MeetingSettings{.separation = kNoNumber},
          MeetingSettings{.tolerance = -1}, MeetingSettings{.tolerance = kNoNumber}})
      EXPECT_EQ(find_meeting(one_point, is_edges, s).status, MeetingStatus::kGaveUp);
  }
}

// An early end is a time before the meeting, and no "no".
TEST(ContinuousFeatures, GivingUpIsEarly) {
  Random random(906);
  int gave_up = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool is_edges = i % 2 == 0;
    const KnownMeeting known = make_known_meeting(random, is_edges);
    const auto steps = static_cast<int>(random.below(4));
    for (const Meeting& m :
         {find_meeting(known.motion, is_edges, {.max_steps = steps}),
          find_meeting_by_inclusion(known.motion, is_edges, {.max_steps = steps * 10})}) {
      ASSERT_NE(m.status, MeetingStatus::kApart);
      ASSERT_LE(m.time, known.time);
      gave_up += m.status == MeetingStatus::kGaveUp;
    }
  }
  EXPECT_GT(gave_up, 1000);
}

TEST(ContinuousFeatures, DoNotAllocate) {
  Random random(907);
  std::vector<FeatureMotion> motions;
  for (int i = 0; i < 200; ++i) motions.push_back(random_feature_motion(random));
  const std::size_t before = allocation_count();
  int met = 0;
  for (const FeatureMotion& m : motions)
    met += (find_meeting_vertex_face(m).status == MeetingStatus::kMeet) +
           (find_meeting_edge_edge(m).status == MeetingStatus::kMeet);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(met, 20);
}

}  // namespace
}  // namespace isotact
