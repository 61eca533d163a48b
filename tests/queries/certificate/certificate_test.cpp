// Certificates: all that are written check, falsified ones do not, and what they say is true.
#include "isotact/queries/certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "queries/certificate/certificate_cases.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact::certificate_cases {
namespace {

BodyMotion moving(const Vec3& from, const Vec3& to) {
  return {.from = {.translation = from}, .to = {.translation = to}};
}

// What it says, beside all pairs of triangles at many times.
void expect_true(const Case& c, const CertifyResult& r) {
  const Certificate& said = r.certificate;
  const bool is_free = said.claim == CertificateClaim::kFree;
  const double last = is_free ? 1 : said.free_until;
  for (int i = 0; i <= 24; ++i) {
    const double distance = nearest_at(c.a, c.b, said.motion, last * i / 24).distance;
    if (said.claim == CertificateClaim::kContained) break;
    if (is_free) {
      ASSERT_GE(distance, said.clearance);
    } else if (last > 0) {
      ASSERT_GT(distance, 0);
    }
  }
  if (said.claim == CertificateClaim::kContact) {
    EXPECT_LE(nearest_at(c.a, c.b, said.motion, said.contact_time).distance,
              said.distance_tolerance);
    EXPECT_LE(said.contact_time - said.free_until, said.time_tolerance);
  }
}

TEST(Certificates, AllThatAreWrittenCheckAndAreTrue) {
  Random random(test_seed(51));
  std::map<CertificateClaim, int> claims;
  int gave_up = 0;
  const int count = test_cases(unless_slow(150, 20));
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const Case c = random_case(random);
    const CertifyResult r = c.certify();
    ASSERT_NE(r.status, CertifyStatus::kCloser);
    if (r.status == CertifyStatus::kGaveUp) {
      ASSERT_FALSE(r.reason.empty());
      ++gave_up;
      continue;
    }
    ++claims[r.certificate.claim];
    const Certificate read = decode_certificate(encode_certificate(r.certificate), "test");
    ASSERT_EQ(encode_certificate(read), encode_certificate(r.certificate));
    const CertificateCheck check = check_certificate(read, c.a, c.b);
    ASSERT_TRUE(check.holds) << check.reason;
    ASSERT_LE(read.distance_tolerance, 4 * check.rounding + 1e-8 * c.size);
    if (i % 2 == 0) expect_true(c, r);
  }
  EXPECT_GT(claims[CertificateClaim::kFree], count / 5);
  EXPECT_GT(claims[CertificateClaim::kContact], count / 10);
  EXPECT_LT(gave_up, count / 10);
}

TEST(Certificates, FalsifiedOnesDoNot) {
  Random random(test_seed(52));
  std::map<Falsehood, int> tried;
  for (int i = 0; i < test_cases(unless_slow(120, 12)); ++i) {
    const Case c = random_case(random);
    const CertifyResult r = c.certify();
    if (r.status != CertifyStatus::kFree && r.status != CertifyStatus::kContact) continue;
    for (const Falsehood falsehood : kFalsehoods) {
      const std::optional<Falsified> f = falsify(falsehood, c, r, random);
      if (!f) continue;
      ++tried[falsehood];
      const CertificateCheck check = check_certificate(f->certificate, f->a, f->b);
      ASSERT_FALSE(check.holds) << name(falsehood) << ", case " << i;
      ASSERT_FALSE(check.reason.empty());
    }
  }
  for (const Falsehood falsehood : kFalsehoods)
    EXPECT_GT(tried[falsehood], unless_slow(9, -1)) << name(falsehood);
}

TEST(Certificates, NothingRestsOnTheHash) {
  // A falsehood with all hashes made right is found by the proof itself.
  const TriangleMesh box = make_box({});
  const CertifyResult r = isotact::certify(box, moving({-3, 1.1, 0}, {3, 1.1, 0}), box, {});
  ASSERT_EQ(r.status, CertifyStatus::kFree);
  EXPECT_NEAR(r.certificate.clearance, 0.09, 1e-4);
  Certificate c = r.certificate;
  c.motion.a.to.translation.y = 1.05;
  EXPECT_NE(check_certificate(c, box, box).reason.find("motion"), std::string::npos);
  c.motion_hash = hash_motion(c.motion);
  const CertificateCheck sealed = check_certificate(c, box, box);
  EXPECT_FALSE(sealed.holds);
  EXPECT_NE(sealed.reason.find("not proved"), std::string::npos) << sealed.reason;
  const TriangleMesh larger = make_box({.size_y = 1.1});
  c = r.certificate;
  EXPECT_NE(check_certificate(c, box, larger).reason.find("another"), std::string::npos);
  c.b.hash = hash_triangles(larger);
  EXPECT_FALSE(check_certificate(c, box, larger).holds);
}

TEST(Certificates, KnownContacts) {
  const TriangleMesh box = make_box({});
  const CertifyResult falls = isotact::certify(box, moving({0, 3, 0}, {0, 0, 0}), box, {});
  ASSERT_EQ(falls.status, CertifyStatus::kContact);
  const Certificate& c = falls.certificate;
  EXPECT_EQ(c.claim, CertificateClaim::kContact);
  EXPECT_LT(c.free_until, 2.0 / 3);
  EXPECT_GE(c.contact_time, 2.0 / 3 - 1e-12);
  EXPECT_LE(c.contact_time - c.free_until, 1e-6);
  EXPECT_LT(c.distance_tolerance, 1e-11);
  EXPECT_TRUE(check_certificate(c, box, box).holds);
  // From the start; and asked to stay apart.
  const CertifyResult at_once = isotact::certify(box, moving({0, 0.9, 0}, {0, 3, 0}), box, {});
  EXPECT_EQ(at_once.certificate.contact_time, 0);
  EXPECT_TRUE(check_certificate(at_once.certificate, box, box).holds);
  EXPECT_EQ(isotact::certify(box, moving({0, 3, 0}, {}), box, {}, {.clearance = 0}).status,
            CertifyStatus::kCloser);
}

TEST(Certificates, WhatLiesInsideIsNotApart) {
  const TriangleMesh box = make_box({}),
                     small = make_box({.size_x = .1, .size_y = .1, .size_z = .1});
  for (const bool swapped : {false, true}) {
    const BodyMotion motion = moving({0.1, 0, 0}, {0.2, 0, 0});
    const TriangleMesh &a = swapped ? box : small, &b = swapped ? small : box;
    const CertifyResult r =
        swapped ? isotact::certify(a, {}, b, motion) : isotact::certify(a, motion, b, {});
    ASSERT_EQ(r.status, CertifyStatus::kContact);
    ASSERT_EQ(r.certificate.claim, CertificateClaim::kContained);
    EXPECT_EQ(r.certificate.inner, swapped ? Body::kB : Body::kA);
    EXPECT_TRUE(check_certificate(r.certificate, a, b).holds);
    // Its surfaces stay apart, but it is not free.
    Certificate free = r.certificate;
    free.claim = CertificateClaim::kFree;
    free.clearance = 0.1;
    free.cells = {{to_double(bounds(free.divided == Body::kA ? a : b)), {{0, 1}}}};
    const CertificateCheck check = check_certificate(free, a, b);
    EXPECT_FALSE(check.holds);
    EXPECT_NE(check.reason.find("inside"), std::string::npos) << check.reason;
    // The outer one is said to be the inner one.
    Certificate other = r.certificate;
    other.inner = swapped ? Body::kA : Body::kB;
    EXPECT_FALSE(check_certificate(other, a, b).holds);
  }
  // A box without a side has no inside.
  TriangleMesh open = box;
  open.triangles.pop_back();
  const CertifyResult r = isotact::certify(small, moving({0.1, 0, 0}, {0.2, 0, 0}), open, {});
  ASSERT_EQ(r.status, CertifyStatus::kFree);
  const CertificateCheck check = check_certificate(r.certificate, small, open);
  EXPECT_TRUE(check.holds && check.a_is_closed && !check.b_is_closed);
}

// A piston slides and turns in its bore: surfaces that are near everywhere.
TEST(Certificates, SlidingSurfacesNeedFewIntervals) {
  const TriangleMesh piston = make_cylinder({.radius = 0.0499, .height = 0.05, .segments = 24});
  TriangleMesh bore = make_cylinder({.radius = 0.05, .height = 0.3, .segments = 24});
  std::erase_if(bore.triangles, [&](const Triangle& t) {  // open at both ends
    const float y = bore.positions[t[0]].y;
    return bore.positions[t[1]].y == y && bore.positions[t[2]].y == y;
  });
  const CertifyResult r = isotact::certify(piston, moving({0, -0.1, 0}, {0, 0.1, 0}), bore, {});
  ASSERT_EQ(r.status, CertifyStatus::kFree) << r.reason;
  EXPECT_GT(r.certificate.clearance, 0.85 * 0.0001 * std::cos(kPi / 24));
  const CertificateCheck check = check_certificate(r.certificate, piston, bore);
  EXPECT_TRUE(check.holds) << check.reason;
  EXPECT_LE(check.intervals, 4);  // Nothing bends.
  EXPECT_FALSE(
      check_certificate(r.certificate, piston, bore, {.max_tests = 1000}).holds);  // a limit
}

TEST(Certificates, SmallerClearancesAreShorter) {
  const TriangleMesh ring =
      make_torus({.radius = 0.4, .tube_radius = 0.1, .segments = 24, .tube_segments = 12});
  BodyMotion turn;
  turn.to.rotation = rotation_about({0, 0, 1}, 3);
  const BodyMotion beside = at_rest({.translation = {1.05, 0, 0}});
  const auto intervals = [&](double share) {
    const CertifyResult r = isotact::certify(ring, turn, ring, beside, {.share = share});
    EXPECT_EQ(r.status, CertifyStatus::kFree) << r.reason;
    const CertificateCheck check = check_certificate(r.certificate, ring, ring);
    EXPECT_TRUE(check.holds) << check.reason;
    return check.intervals;
  };
  const std::uint64_t few = intervals(0.1), many = intervals(0.999);
  EXPECT_GT(few, 0);
  EXPECT_LT(few, many);
}

TEST(Certificates, HashesSeeTrianglesOnly) {
  const TriangleMesh box = make_box({});
  TriangleMesh same;  // each corner on its own, a spare vertex, a triangle that is not finite
  for (std::size_t i = 0; i < box.triangles.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(same.positions.size());
    for (const Vec3f& p : corners(box, i)) same.positions.push_back(p);
    same.triangles.push_back({first, first + 1, first + 2});
  }
  same.positions.push_back({std::nanf(""), 0, 0});
  same.triangles.push_back({0, 1, static_cast<std::uint32_t>(same.positions.size() - 1)});
  EXPECT_EQ(hash_triangles(box), hash_triangles(same));
  std::swap(same.triangles[0], same.triangles[1]);
  EXPECT_NE(hash_triangles(box), hash_triangles(same));
  EXPECT_NE(hash_triangles(box)[0], hash_triangles(box)[1]);
}

TEST(Certificates, BadInputIsAnError) {
  const TriangleMesh box = make_box({});
  BodyMotion bad;
  bad.from.translation.x = std::nan("");
  EXPECT_THROW(isotact::certify(box, bad, box, {}), Error);
  EXPECT_THROW(isotact::certify({}, {}, box, {}), Error);
  EXPECT_THROW(isotact::certify(box, {}, box, {}, {.clearance = -1}), Error);
  EXPECT_THROW(isotact::certify(box, {}, box, {}, {.share = 1}), Error);
  EXPECT_THROW(isotact::certify(box, {}, box, {}, {.time_tolerance = 0}), Error);
  const BodyMotion away = moving({0, 3, 0}, {0, 4, 0});
  EXPECT_EQ(isotact::certify(box, moving({0, 3, 0}, {}), box, {}, {.max_tests = 3}).status,
            CertifyStatus::kGaveUp);
  Certificate c = isotact::certify(box, away, box, {}).certificate;
  ASSERT_TRUE(check_certificate(c, box, box).holds);
  EXPECT_FALSE(check_certificate(c, {}, box).holds);
  for (const double wrong : {std::nan(""), -0.1, 1.1}) {
    Certificate broken = c;
    broken.cells[0].intervals[0].from = wrong;
    EXPECT_FALSE(check_certificate(broken, box, box).holds);
    broken = c;
    broken.clearance = wrong == 1.1 ? 1e300 : wrong;
    EXPECT_FALSE(check_certificate(broken, box, box).holds);
  }
  c.motion.model = static_cast<MotionModel>(99);
  c.motion_hash = hash_motion(c.motion);
  EXPECT_FALSE(check_certificate(c, box, box).holds);
}

TEST(Certificates, TextOfOtherKindsIsAnError) {
  const TriangleMesh box = make_box({});
  const std::string text =
      encode_certificate(isotact::certify(box, moving({0, 3, 0}, {0, 4, 0}), box, {}).certificate);
  EXPECT_THROW(decode_certificate("", "x"), Error);
  EXPECT_THROW(decode_certificate("solid box", "x"), Error);
  EXPECT_THROW(decode_certificate("isotact-certificate 2\n", "x"), Error);
  EXPECT_THROW(decode_certificate(text + "more", "x"), Error);
  for (std::size_t cut = 0; cut < text.size() - 1; ++cut)
    EXPECT_THROW(decode_certificate(text.substr(0, cut), "x"), Error) << cut;
  // No count makes it take memory.
  std::string huge = text;
  const std::size_t cells = huge.find("divided a 1");
  ASSERT_NE(cells, std::string::npos);
  huge.replace(cells, 11, "divided a 4000000000");
  EXPECT_THROW(decode_certificate(huge, "x"), Error);
  Random random(test_seed(53));
  for (int i = 0; i < test_cases(unless_slow(2000, 200)); ++i) {
    std::string changed = text;
    changed[random.below(static_cast<std::uint32_t>(changed.size()))] =
        static_cast<char>(random.below(128));
    try {
      check_certificate(decode_certificate(changed, "x"), box, box);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace isotact::certificate_cases
