#include "isotact/queries/swept/motion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/queries/swept/detail/motion_curve.h"

#include "motions.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

void expect_near(const Vec3& a, const Vec3& b, double tolerance) {
  EXPECT_LE(length(a - b), tolerance)
      << a.x << " " << a.y << " " << a.z << " against " << b.x << " " << b.y << " " << b.z;
}

TEST(Motion, EndsAreThePosesGiven) {
  Random random(1);
  for (int i = 0; i < 200; ++i)
    for (const MotionModel model : kAllModels) {
      ShellMotion motion = random_motion(random, 3);
      motion.model = model;
      const Vec3 p = random.in_unit_ball();
      expect_near(compute_map(motion, 0) * p,
                  transform_point(inverse(motion.field.from) * motion.shell.from, p), 1e-12);
      expect_near(compute_map(motion, 1) * p,
                  transform_point(inverse(motion.field.to) * motion.shell.to, p), 1e-12);
    }
}

TEST(Motion, ConstantRatesTurnThePivotStraight) {
  const ShellMotion motion{
      .shell = {.from = {.translation = {1, 0, 0}},
                .to = {.rotation = rotation_about({0, 0, 1}, kPi / 2), .translation = {2, 2, 0}},
                .pivot = {1, 0, 0}},
      .model = MotionModel::kConstantRates};
  const AffineMap half = compute_map(motion, 0.5);
  expect_near(half * Vec3{1, 0, 0}, {2, 1.5, 0}, 1e-12);  // from (2, 0, 0) to (2, 3, 0)
  const double c = std::sqrt(0.5);
  expect_near(half.linear * Vec3{1, 0, 0}, {c, c, 0}, 1e-12);
}

// A field that moves is a shell that moves the other way.
TEST(Motion, OnlyTheRelativeMotionMatters) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    ShellMotion motion = random_motion(random, 3);
    for (const MotionModel model : {MotionModel::kStraight, MotionModel::kScrew}) {
      motion.model = model;
      ShellMotion moved = motion;
      const Pose shift = random_pose(random, 5);
      moved.shell.to = shift * motion.shell.to;
      moved.field.to = shift * motion.field.to;
      const Vec3 p = random.in_unit_ball();
      for (const double t : {0.0, 0.3, 0.8, 1.0})
        expect_near(compute_map(motion, t) * p, compute_map(moved, t) * p, 1e-11);
    }
  }
}

TEST(Motion, AScrewAdvancesEvenly) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    ShellMotion motion = random_motion(random, 3);
    if (i % 4 == 0)  // next to no turn
      motion.shell.to.rotation =
          normalized(motion.field.to.rotation * conjugate(motion.field.from.rotation) *
                     motion.shell.from.rotation *
                     rotation_about(random.unit_vector(), 1e-7 * random.uniform()));
    motion.model = MotionModel::kScrew;
    // The same map takes each place to that a quarter later.
    const Vec3 p = random.in_unit_ball(), q = random.in_unit_ball();
    const auto place = [&](double t, const Vec3& x) { return compute_map(motion, t) * x; };
    const double step = length(place(0.25, p) - place(0, p));
    EXPECT_NEAR(length(place(0.5, p) - place(0.25, p)), step, 1e-9);
    EXPECT_NEAR(length(place(1, p) - place(0.75, p)), step, 1e-9);
    EXPECT_NEAR(length(place(0.4, p) - place(0.4, q)), length(p - q), 1e-9);
  }
}

TEST(Motion, APolynomialGoesThroughItsPoses) {
  Random random(4);
  for (std::size_t n = 2; n <= 9; ++n) {
    std::vector<Pose> poses;
    for (std::size_t k = 0; k < n; ++k) poses.push_back(random_pose(random, 2));
    const ShellMotion motion{.model = MotionModel::kPolynomial, .through = poses};
    ASSERT_FALSE(find_flaw(motion));
    const Vec3 p = random.in_unit_ball();
    for (std::size_t k = 0; k < n; ++k)
      expect_near(compute_map(motion, static_cast<double>(k) / static_cast<double>(n - 1)) * p,
                  transform_point(poses[k], p), 1e-11);
  }
}

TEST(Motion, ChainsKeepToTheirBounds) {
  Random random(5);
  double tightest = 0;
  for (int i = 0; i < 400; ++i)
    for (const MotionModel model : kAllModels) {
      ShellMotion motion = random_motion(random, i % 2 == 0 ? 0.3 : 4);
      motion.model = model;
      motion.degree = 1 + static_cast<int>(random.below(8));
      const Sphere ball{random.in_unit_ball(), 0.2 + random.uniform()};
      const double tolerance = 1e-3;
      ShellPath path;
      compute_shell_path(motion, ball, tolerance, path);
      if (path.piece_count() < kMostPieces) {
        ASSERT_LE(path.error, tolerance);
      }
      for (int k = 0; k < 20; ++k) {
        const Vec3 p = ball.center + random.in_unit_ball() * ball.radius;
        const Vec3 q = ball.center + random.in_unit_ball() * ball.radius;
        const double at = random.uniform() * path.piece_count();
        const auto piece = static_cast<std::size_t>(at);
        const double u = at - static_cast<double>(piece);
        const auto on_chain = [&](const Vec3& x) {
          return lerp(path.maps[piece] * x, path.maps[piece + 1] * x, u);
        };
        const double off = length(on_chain(p) - compute_map(motion, at / path.piece_count()) * p);
        ASSERT_LE(off, path.error + 1e-11) << name(model);
        if (path.error > 1e-6) tightest = std::max(tightest, off / path.error);
        ASSERT_LE(length(on_chain(p) - on_chain(q)), path.stretch * length(p - q) * (1 + 1e-9));
      }
    }
  EXPECT_GT(tightest, 0.9);  // bounds are worth something
}

// The deviation of paths from their chords, beside its bound. Each third of the cases has one body
// that hardly turns, or not, or that rests, so that each part of the bound is tight in some: w^2 r,
// 2 w v, and w^2 c.
TEST(Motion, BendsAreBounded) {
  Random random(test_seed(9));
  double worst[6] = {};
  for (int i = 0; i < test_cases(unless_slow(4000, 400)); ++i) {
    SCOPED_TRACE(i);
    ShellMotion motion = random_motion(random, 2);
    motion.degree = 1 + i / 6 % 8;
    constexpr MotionModel kModels[] = {MotionModel::kConstantRates, MotionModel::kConstantRates,
                                       MotionModel::kConstantRates, MotionModel::kConstantRates,
                                       MotionModel::kScrew,         MotionModel::kPolynomial};
    const int kind = i % 6;
    motion.model = kModels[kind];
    BodyMotion &shell = motion.shell, &field = motion.field;
    double radius = std::pow(10, random.uniform(-2, 1));
    if (kind == 1 || kind == 2) {
      // The field turns about its origin, and the shell goes through it, or rests apart.
      const Vec3 from = random.unit_vector() * random.uniform(1, 3), axis = random.unit_vector();
      shell.to.rotation = shell.from.rotation;
      shell.pivot = field.pivot = {};
      shell.from.translation = from;
      shell.to.translation = kind == 1 ? -from : from;
      field.from.translation = field.to.translation = {};
      field.to.rotation = field.from.rotation * rotation_about(axis, kind == 1 ? 0.01 : 0.5);
      radius = 1e-3;
    } else if (kind == 3) {
      // The shell turns about its own pivot, and the field rests.
      field = at_rest(field.from);
      shell.pivot = {};
      shell.to.translation = shell.from.translation;
    }
    const detail::MotionCurve curve(motion);
    const double from = random.uniform(0, 0.9), to = from + random.uniform(0.01, 1 - from);
    const double bound = curve.bend(radius) * (to - from) * (to - from) / 8;
    const Vec3 p = curve.pivot() + random.unit_vector() * (radius * (1 - 1e-12));
    const Vec3 begin = curve.at(from) * p, end = curve.at(to) * p;
    for (int k = 1; k < 8; ++k) {
      const double share = k / 8.0;
      const Vec3 off = curve.at(from + (to - from) * share) * p - lerp(begin, end, share);
      ASSERT_LE(length(off), bound * (1 + 1e-9) + 1e-12);
      if (bound > 1e-9) worst[kind] = std::max(worst[kind], length(off) / bound);
    }
  }
  // A bound that is a tenth too small fails; polynomials bend most at one of their ends.
  for (int kind = 1; kind < 4; ++kind) EXPECT_GT(worst[kind], 0.95) << kind;
  EXPECT_GT(worst[4], 0.9);
  EXPECT_GT(worst[5], 0.7);
}

TEST(Motion, NamesFlaws) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(find_flaw(ShellMotion{}));
  EXPECT_TRUE(find_flaw(ShellMotion{.shell = {.to = {.translation = {nan, 0, 0}}}}));
  EXPECT_TRUE(find_flaw(ShellMotion{.field = {.from = {.rotation = {2, 0, 0, 0}}}}));
  EXPECT_TRUE(find_flaw(ShellMotion{.shell = {.from = {.rotation = {0, 0, 0, 0}}}}));
  EXPECT_TRUE(find_flaw(ShellMotion{.shell = {.to = {.translation = {1e20, 0, 0}}}}));
  EXPECT_TRUE(find_flaw(ShellMotion{.model = MotionModel::kPolynomial, .degree = 0}));
  EXPECT_TRUE(find_flaw(ShellMotion{.model = MotionModel::kPolynomial, .degree = 9}));
  const std::vector<Pose> one(1), ten(10), two(2);
  EXPECT_TRUE(find_flaw(ShellMotion{.model = MotionModel::kPolynomial, .through = one}));
  EXPECT_TRUE(find_flaw(ShellMotion{.model = MotionModel::kPolynomial, .through = ten}));
  EXPECT_TRUE(find_flaw(ShellMotion{.through = two}));
  for (const MotionModel model : kAllModels) EXPECT_EQ(find_motion_model(name(model)), model);
  EXPECT_FALSE(find_motion_model("spline"));
}

}  // namespace
}  // namespace isotact
