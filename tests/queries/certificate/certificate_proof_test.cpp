// The bounds that a certificate's checker rests on, each beside sampled truth. They are tight
// enough that a bound that is a tenth too small fails.
#include "isotact/queries/certificate/detail/certificate_proof.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "isotact/geometry/bvh/mesh_distance.h"

#include "queries/certificate/certificate_cases.h"
#include "queries/swept/motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact::certificate_cases {
namespace {

using isotact::detail::ApartProof;
using isotact::detail::CertificatePath;
using isotact::detail::finite_triangles;
using isotact::detail::ProofSolid;
using isotact::detail::ProofTree;

// ---- the motion in long double ------------------------------------------------------------------

using Real = long double;
using Real3 = Vector3<Real>;
struct RealQuat {
  Real w, x, y, z;
};

Real3 real(const Vec3& v) { return {v.x, v.y, v.z}; }
RealQuat unit(const Quat& q) {
  const Real w = q.w, x = q.x, y = q.y, z = q.z, l = std::sqrt(w * w + x * x + y * y + z * z);
  return {w / l, x / l, y / l, z / l};
}
RealQuat back(const RealQuat& q) { return {q.w, -q.x, -q.y, -q.z}; }
RealQuat times(const RealQuat& a, const RealQuat& b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
Real3 turned(const RealQuat& q, const Real3& v) {
  const Real3 u{q.x, q.y, q.z}, t = cross(u, v) * Real{2};
  return v + t * q.w + cross(u, t);
}
Real3 log_of(RealQuat q, bool flip) {
  if (flip) q = {-q.w, -q.x, -q.y, -q.z};
  const Real3 v{q.x, q.y, q.z};
  const Real sine = length(v);
  return sine > 0 ? v * (2 * std::atan2(sine, q.w) / sine) : Real3{};
}
RealQuat exp_of(const Real3& turn) {
  const Real a = length(turn);
  if (!(a > 0)) return {1, 0, 0, 0};
  const Real3 u = turn * (std::sin(a / 2) / a);
  return {std::cos(a / 2), u.x, u.y, u.z};
}
// Which way round half a turn is made is decided in double, as everywhere in the library.
bool is_flipped(const Quat& from, const Quat& to) {
  return (conjugate(normalized(from)) * normalized(to)).w < 0;
}

struct RealPose {
  RealQuat rotation;
  Real3 offset;
};
RealPose inverse(const RealPose& p) {
  return {back(p.rotation), turned(back(p.rotation), p.offset) * Real{-1}};
}
RealPose operator*(const RealPose& a, const RealPose& b) {
  return {times(a.rotation, b.rotation), turned(a.rotation, b.offset) + a.offset};
}
RealPose pose_of(const Pose& p) { return {unit(p.rotation), real(p.translation)}; }

RealPose body_at(const BodyMotion& m, Real time) {
  const RealPose from = pose_of(m.from), to = pose_of(m.to);
  const Real3 turn =
      log_of(times(back(from.rotation), to.rotation), is_flipped(m.from.rotation, m.to.rotation));
  const RealQuat q = times(from.rotation, exp_of(turn * time));
  const Real3 pivot = real(m.pivot);
  const Real3 first = turned(from.rotation, pivot) + from.offset,
              last = turned(to.rotation, pivot) + to.offset;
  return {q, first * (1 - time) + last * time - turned(q, pivot)};
}

// Of a point of the divided body, in the fixed one's frame.
Real3 place_at(const CertificateMotion& m, Body divided, const Vec3& point, Real time) {
  const BodyMotion &d = divided == Body::kA ? m.a : m.b, &f = divided == Body::kA ? m.b : m.a;
  const auto place = [&](const RealPose& pose) {
    return turned(pose.rotation, real(point)) + pose.offset;
  };
  const auto ends = [&](const Pose& of_f, const Pose& of_d) {
    return inverse(pose_of(of_f)) * pose_of(of_d);
  };
  const RealPose first = ends(f.from, d.from), last = ends(f.to, d.to);
  switch (m.model) {
    case MotionModel::kStraight:
      return place(first) * (1 - time) + place(last) * time;
    case MotionModel::kConstantRates:
      return place(inverse(body_at(f, time)) * body_at(d, time));
    case MotionModel::kScrew: {
      const Quat q = conjugate(normalized(f.from.rotation)) * normalized(d.from.rotation),
                 p = conjugate(normalized(f.to.rotation)) * normalized(d.to.rotation);
      const RealPose whole = last * inverse(first);
      const Real3 w = log_of(whole.rotation, (p * conjugate(q)).w < 0);
      const Real a = length(w);
      if (a < Real{0.01}) {  // series: the axis may be too far away for its place to be exact
        const Real z = a * a, b = z * time * time;
        const Real3 once = cross(w, whole.offset);
        const Real3 shift = whole.offset - once * Real{0.5} +
                            cross(w, once) * (Real{1} / 12 + z / 720 + z * z / 30240);
        const Real3 turn = w * time, go = shift * time, aside = cross(turn, go);
        return turned(exp_of(turn), place(first)) + go +
               aside * (Real{0.5} - b / 24 + b * b / 720) +
               cross(turn, aside) * (Real{1} / 6 - b / 120 + b * b / 5040);
      }
      // The point that the rotation keeps, and the shift along the axis.
      const Real3 axis = w * (1 / a), along = axis * dot(axis, whole.offset);
      const Real3 across = whole.offset - along;
      const Real3 center =
          (across + cross(axis, across) * (std::cos(a / 2) / std::sin(a / 2))) * Real{0.5};
      return turned(exp_of(w * time), place(first) - center) + center + along * time;
    }
    case MotionModel::kPolynomial: {
      Real3 sum{};
      for (int k = 0; k <= m.degree; ++k) {
        Real weight = 1;
        for (int i = 0; i <= m.degree; ++i)
          if (i != k) weight *= (time * m.degree - i) / (k - i);
        const Real at = static_cast<Real>(k) / m.degree;
        sum += place(inverse(body_at(f, at)) * body_at(d, at)) * weight;
      }
      return sum;
    }
  }
  return {};
}

CertificateMotion random_certificate_motion(Random& random, MotionModel model) {
  const double furthest = std::pow(10, random.uniform(-3, 6));
  const ShellMotion m = random_motion(random, furthest);
  CertificateMotion motion{
      .a = m.shell, .b = m.field, .model = model, .degree = 1 + static_cast<int>(random.below(8))};
  if (random.below(3) == 0) motion.a.to.rotation = motion.a.from.rotation * Quat{0, 0, 1, 0};
  if (random.below(3) == 0) motion.b = at_rest(motion.b.from);
  if (random.below(4) == 0) {  // hardly any rotation
    motion.a.to.rotation = motion.a.from.rotation * rotation_about({1, 2, 3}, 1e-7);
    motion.b.to.rotation = motion.b.from.rotation;
  }
  return motion;
}

Body random_divided(Random& random, MotionModel model) {
  return model == MotionModel::kConstantRates && random.below(2) == 0 ? Body::kB : Body::kA;
}

TEST(CertificatePath, PositionsAreAsExactAsDerived) {
  static_assert(sizeof(Real) > 8, "the truth needs more digits than double has");
  Random random(test_seed(61));
  double worst[4] = {};
  for (int i = 0; i < test_cases(unless_slow(4000, 300)); ++i) {
    const MotionModel model = kAllModels[i % 4];
    const CertificateMotion motion = random_certificate_motion(random, model);
    const Body divided = random_divided(random, model);
    const CertificatePath path(motion, divided);
    const double reach = std::pow(10, random.uniform(-3, 3));
    for (int k = 0; k < 5; ++k) {
      const Vec3 p = random.unit_vector() * reach;
      const double time = k == 0 ? 0 : k == 1 ? 1 : random.uniform();
      const Real3 off = real(path.at(time) * p) - place_at(motion, divided, p, time);
      const double share = static_cast<double>(length(off)) / path.error(reach);
      worst[i % 4] = std::max(worst[i % 4], share);
      ASSERT_LE(share, 1) << i << " " << name(model);
    }
  }
  // A bound that nothing comes near would be no test of it. Worst cases add up, samples do not.
  for (const double share : worst) EXPECT_GT(share, 1e-4);
}

// The greatest second derivative of a path's samples, beside its bound.
TEST(CertificatePath, BendsAreBounded) {
  Random random(test_seed(62));
  double worst[4] = {};
  for (int i = 0; i < test_cases(unless_slow(2000, 200)); ++i) {
    const MotionModel model = kAllModels[i % 4];
    CertificateMotion motion = random_certificate_motion(random, model);
    if (i % 3 == 0) {  // one body turns about its pivot, which is where the bound is tight
      motion.b = {};
      motion.a.pivot = {};
      motion.a.to.translation = motion.a.from.translation;
    }
    const Body divided = i % 3 == 0 ? Body::kA : random_divided(random, model);
    const CertificatePath path(motion, divided);
    const double radius = std::pow(10, random.uniform(-2, 2));
    const Vec3 p = path.pivot() + random.unit_vector() * radius;
    const double bend = path.bend(radius * (1 + 1e-12));
    for (int k = 0; k < 8; ++k) {
      const Real middle = random.uniform(0.01, 0.99), step = 1e-3L;
      const Real3 second = place_at(motion, divided, p, middle - step) +
                           place_at(motion, divided, p, middle + step) -
                           place_at(motion, divided, p, middle) * Real{2};
      const double rate = static_cast<double>(length(second) / (step * step));
      // Long double's own rounding, and the fourth derivative.
      const double noise = 1e-11 * path.error(length(p)) / 0x1p-53 + 1e-3 * bend;
      ASSERT_LE(rate, bend + noise) << i << " " << name(model);
      if (bend > 10 * noise) worst[i % 4] = std::max(worst[i % 4], rate / bend);
    }
  }
  // Some come nearly as far: a bound of nine tenths fails.
  EXPECT_GT(worst[1], 0.95);
  EXPECT_GT(worst[2], 0.95);
  EXPECT_GT(worst[3], 0.9);
}

TEST(ApartProof, NeverProvesMoreThanIsTrue) {
  Random random(test_seed(63));
  int proved = 0, refused = 0;
  for (int i = 0; i < test_cases(unless_slow(80, 20)); ++i) {
    SCOPED_TRACE(i);
    const Case c = random_case(random);
    const CertificateMotion motion{c.motion_of_a, c.motion_of_b, c.request.model, c.request.degree};
    const CertificatePath path(motion, Body::kA);
    ApartProof proof(c.b, c.a, path);
    const ProofTree all(c.a, finite_triangles(c.a));
    const double middle = random.uniform(), half = std::pow(2, -random.uniform(1, 7));
    const CertificateInterval time{std::max(0.0, middle - half), std::min(1.0, middle + half)};
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= 24; ++k)
      least = std::min(
          least, nearest_at(c.a, c.b, motion, time.from + (time.to - time.from) * k / 24).distance);
    // Whatever is proved must be below the truth: halving finds the largest clearance.
    double low = 0, high = 2 * least + 1e-3 * c.size;
    ASSERT_FALSE(proof.holds(all, time, high));
    if (!proof.holds(all, time, 0)) {
      ++refused;
      continue;
    }
    for (int k = 0; k < 30; ++k) {
      const double clearance = (low + high) / 2;
      (proof.holds(all, time, clearance) ? low : high) = clearance;
    }
    ASSERT_LE(low, least);
    ++proved;
  }
  EXPECT_GT(proved, unless_slow(25, 4));
  EXPECT_GT(refused, unless_slow(4, -1));
}

// At rest, the clearance that is proved is the exact distance but for rounding.
TEST(ApartProof, IsExactAtRest) {
  Random random(test_seed(64));
  int apart = 0;
  for (int i = 0; i < test_cases(unless_slow(300, 30)); ++i) {
    SCOPED_TRACE(i);
    Case c = random_case(random);
    c.motion_of_a.to = c.motion_of_a.from;
    c.motion_of_b.to = c.motion_of_b.from;
    const CertificateMotion motion{c.motion_of_a, c.motion_of_b, MotionModel::kStraight, 1};
    const CertificatePath path(motion, Body::kA);
    ApartProof proof(c.b, c.a, path);
    const ProofTree all(c.a, finite_triangles(c.a));
    const double distance = nearest_at(c.a, c.b, motion, 0).distance;
    ASSERT_FALSE(proof.holds(all, {0, 1}, distance * (1 + 1e-12)));
    const double below = distance * (1 - 1e-7) - 4 * proof.rounding();
    if (!(below > 1e-6 * c.size)) continue;
    ++apart;
    ASSERT_TRUE(proof.holds(all, {0, 1}, below));
  }
  EXPECT_GT(apart, unless_slow(100, 10));
}

// A chord's bound along the line between the bodies must not be left out: a rod's end swings out
// between two poses at which it is far away.
TEST(ApartProof, SeesWhatHappensBetweenTheEnds) {
  const TriangleMesh rod = make_box({.size_x = 0.01, .size_y = 2, .size_z = 0.01});
  const TriangleMesh wall = make_box({.size_x = 0.01, .size_y = 1, .size_z = 1});
  CertificateMotion motion;
  motion.a.from.rotation = rotation_about({0, 0, 1}, 0.5 * kPi - 0.6);
  motion.a.to.rotation = rotation_about({0, 0, 1}, 0.5 * kPi + 0.6);
  motion.b = at_rest({.translation = {0.98, 0, 0}});
  const CertificatePath path(motion, Body::kA);
  ApartProof kept(wall, rod, path);
  const ProofTree all(rod, finite_triangles(rod));
  EXPECT_FALSE(kept.holds(all, {0, 1}, 0));
  EXPECT_TRUE(kept.holds(all, {0, 0x1p-6}, 0));
  EXPECT_TRUE(kept.holds(all, {1 - 0x1p-6, 1}, 0));
  EXPECT_FALSE(kept.holds(all, {0.4, 0.6}, 0));
}

// The largest clearance that is proved for an interval.
double find_proved(ApartProof& proof, const ProofTree& tree, const CertificateInterval& time) {
  double low = 0, high = 10;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (proof.holds(tree, time, middle) ? low : high) = middle;
  }
  return low;
}

// A rod's end swings out and back between two poses, as near to its chord's bound as can be: of the
// height of the arc over its chord, a bound that is a tenth too small would prove a tenth too much.
TEST(ApartProof, ArcsAreBoundedTightly) {
  const double angle = 0.1, length_of_rod = 1, width = 1e-4;
  const TriangleMesh rod =
      make_box({.size_x = 2 * length_of_rod, .size_y = width, .size_z = width});
  const TriangleMesh wall = make_box({.size_x = 0.1, .size_y = 1, .size_z = 1});
  const double wall_at = 1.2 - 0.05;
  // A corner passes the middle of the arc before the axis does.
  const double reach = std::sqrt(length_of_rod * length_of_rod + 0.25 * width * width);
  const double arc = reach * (1 - std::cos(angle));
  for (const MotionModel model : {MotionModel::kConstantRates, MotionModel::kScrew}) {
    CertificateMotion motion{.model = model};
    motion.a.from.rotation = rotation_about({0, 0, 1}, -angle);
    motion.a.to.rotation = rotation_about({0, 0, 1}, angle);
    motion.b = at_rest({.translation = {1.2, 0, 0}});
    const CertificatePath path(motion, Body::kA);
    ApartProof proof(wall, rod, path);
    const ProofTree all(rod, finite_triangles(rod));
    const double truth = wall_at - reach;
    const double proved = find_proved(proof, all, {0, 1});
    EXPECT_LE(proved, truth + 1e-7);  // the mesh is in float
    EXPECT_GE(proved, truth - 0.05 * arc);
  }
}

// Both ends count, whichever is the nearer one.
TEST(ApartProof, StraightMotionsAreExact) {
  const TriangleMesh box = make_box({});
  for (const double direction : {-1.0, 1.0}) {
    CertificateMotion motion;
    motion.a.from.translation = {3 - direction, 0.1, 0.2};
    motion.a.to.translation = {3 + direction, 0.1, 0.2};
    const CertificatePath path(motion, Body::kA);
    ApartProof proof(box, box, path);
    const ProofTree all(box, finite_triangles(box));
    EXPECT_NEAR(find_proved(proof, all, {0, 1}), 1, 1e-12);
    EXPECT_NEAR(find_proved(proof, all, {0, 0.5}), direction > 0 ? 1 : 2, 1e-12);
    EXPECT_NEAR(find_proved(proof, all, {0.25, 0.5}), direction > 0 ? 1.5 : 2, 1e-12);
  }
}

TEST(ProofSolid, InsideIsWhereWindingIs) {
  Random random(test_seed(65));
  const TriangleMesh torus =
      make_torus({.radius = 0.4, .tube_radius = 0.1, .segments = 40, .tube_segments = 24});
  const ProofSolid solid(torus);
  EXPECT_TRUE(solid.is_closed());
  EXPECT_EQ(solid.parts().size(), 1U);
  int inside = 0, outside = 0;
  for (int i = 0; i < 400; ++i) {
    const Vec3 p = random.in_unit_ball() * 0.6;
    const double ring = std::sqrt(p.x * p.x + p.z * p.z) - 0.4;
    const double distance = std::sqrt(ring * ring + p.y * p.y) - 0.1;
    if (std::abs(distance) < 0.005) continue;
    ASSERT_EQ(solid.is_inside(p, 1e-9), distance < 0);
    ++(distance < 0 ? inside : outside);
  }
  EXPECT_GT(inside, 20);
  EXPECT_GT(outside, 100);
  // On the surface, rounding decides; an error as large as the tube hides the answer.
  EXPECT_EQ(solid.is_inside(to_double(torus.positions[0]), 0), std::nullopt);
  EXPECT_EQ(solid.is_inside({0.4, 0, 0}, 0.2), std::nullopt);
  TriangleMesh open = torus;
  open.triangles.pop_back();
  EXPECT_FALSE(ProofSolid(open).is_closed());
}

}  // namespace
}  // namespace isotact::certificate_cases
