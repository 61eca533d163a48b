// Contact patches against every point, and areas that count once on edges.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/dynamics/rigid/contact_force.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/swept.h"

#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

struct Case {
  BodyStep shell{}, field{};
  double step = 1e-3;
};

BodyStep make_step(const Pose& from, const Vec3& velocity, const Vec3& turn, double step) {
  BodyStep s;
  const double angle = length(turn) * step;
  const Quat rotation =
      angle > 0 ? rotation_about(normalized(turn), angle) * from.rotation : from.rotation;
  s.motion = {from, {normalized(rotation), from.translation + velocity * step}, {}};
  s.center_from = from.translation;
  s.center_to = s.motion.to.translation;
  s.velocity = velocity;
  s.angular_velocity = turn;
  return s;
}

RoleImpulse compute(const Shape& shell, const Shape& field, const Case& c,
                    const ForceSettings& forces, std::vector<PointStick>& sticks) {
  const ShellMotion motion{.shell = c.shell.motion, .field = c.field.motion};
  SweptResults swept;
  field.swept_tracer({})->trace(*shell.tree(), motion, swept);
  ShellPath path;
  compute_shell_path(motion, ball_of(*shell.tree()), field.cell() / 32, path);
  const RoleInput input{*shell.tree(), path,    swept.hits, swept.intervals,
                        c.shell,       c.field, c.step,     c.shell.center_to};
  return field.solid() ? compute_role_impulse(field.any_field(), input, forces, sticks)
                       : compute_role_impulse(field.brick_field(), input, forces, sticks);
}

Shape make_part(const char* name, std::uint32_t points) {
  return Shape::from_mesh(make_shape(name), {.field = {.resolution = 48}, .points = points});
}

double size_of(const SpatialMatrix& m) {
  double sum = 0;
  for (const Vec3& row : m.ll.rows) sum += length_sq(row);
  return std::sqrt(sum);
}

// A body is pressed into another from a random side until a few per cent of its points are inside.
TEST(ContactPatches, AreEveryPointWithinAPerCent) {
  const Shape shells[] = {make_part("box", 3000), make_part("gear", 3000), make_part("knot", 3000),
                          make_part("torus", 3000)};
  const Shape ground = Shape::from_analytic(PlaneField{});
  const Shape others[] = {ground, shells[0], shells[2]};
  Random random(test_seed(91));
  int cases = 0, near = 0, stated = 0;
  double samples = 0, fine_samples = 0;
  for (int i = 0; i < test_cases(unless_slow(240, 90)); ++i) {
    const Shape& shell = shells[i % 4];
    const Shape& field = others[i % 3];
    const double radius = static_cast<double>(shell.tree()->bounding_sphere().radius);
    Case c;
    const Quat turn = i % 3 == 0 && i % 2 == 0 ? Quat{} : random.rotation();
    const Vec3 side = i % 3 == 0 ? Vec3{0, 1, 0} : rotate(random.rotation(), Vec3{1, 0, 0});
    // Down until it touches, then a little further.
    std::vector<PointStick> sticks;
    ForceSettings forces{.material = {.stiffness = 1e7, .damping = 1e3, .friction = 0.4}};
    double far = 0, close = 4 * radius;
    const auto place = [&](double at) {
      const Vec3 velocity = side * random.uniform(-0.05, 0.02);
      c.shell = make_step({turn, side * at}, velocity, {}, c.step);
    };
    std::swap(far, close);
    for (int k = 0; k < 20; ++k) {
      const double middle = 0.5 * (far + close);
      place(middle);
      (compute(shell, field, c, forces, sticks).points > 0 ? close : far) = middle;
    }
    c.shell = make_step({turn, side * (far - random.uniform(0.004, 0.04) * radius)},
                        side * random.uniform(-0.1, 0.05) +
                            rotate(random.rotation(), Vec3{random.uniform(0, 0.3), 0, 0}) * radius,
                        rotate(random.rotation(), Vec3{random.uniform(0, 2), 0, 0}), c.step);
    sticks.clear();
    forces.points = PointRule::kEvery;
    const RoleImpulse fine = compute(shell, field, c, forces, sticks);
    std::vector<PointStick> patch_sticks;
    forces.points = PointRule::kPatches;
    const RoleImpulse patches = compute(shell, field, c, forces, patch_sticks);
    if (fine.points < 10) continue;
    ++cases;
    const double size = length(fine.impulse), off = length(patches.impulse - fine.impulse);
    const double bound = 0.01 * size;
    near += off <= bound && length(patches.angular_impulse - fine.angular_impulse) <= bound * radius
                ? 1
                : 0;
    stated += off <= patches.error + 0.005 * size ? 1 : 0;
    samples += static_cast<double>(patches.samples);
    fine_samples += static_cast<double>(fine.samples);
    EXPECT_LT(off, 0.1 * size) << i;
    EXPECT_NEAR(patches.points, fine.points, 0.02 * fine.points + 1) << i;
    EXPECT_NEAR(patches.area, fine.area, 0.03 * fine.area) << i;
    EXPECT_NEAR(patches.depth, fine.depth, 0.05 * fine.depth) << i;
    EXPECT_NEAR(patches.energy, fine.energy, 0.05 * fine.energy) << i;
    EXPECT_NEAR(patches.response.stiffness, fine.response.stiffness,
                0.03 * fine.response.stiffness);
    EXPECT_NEAR(size_of(patches.response.spring), size_of(fine.response.spring),
                0.03 * size_of(fine.response.spring))
        << i;
    // The same points stick, but for those at the limit and at the rim.
    EXPECT_NEAR(static_cast<double>(patch_sticks.size()), static_cast<double>(sticks.size()),
                0.03 * static_cast<double>(sticks.size()) + 1)
        << i;
  }
  EXPECT_GT(cases, test_cases(unless_slow(100, 30)));
  EXPECT_GT(near, 0.9 * cases);
  EXPECT_GT(stated, 0.9 * cases);
  EXPECT_GT(fine_samples / samples, 4.5);
}

TEST(ContactPatches, ABoxIsAsStiffWithAnyNumberOfPoints) {
  const TriangleMesh mesh = make_shape("box", {{"size_x", 0.2}, {"size_y", 0.2}, {"size_z", 0.2}});
  const Shape ground = Shape::from_analytic(PlaneField{});
  for (const std::uint32_t points : {400U, 800U, 1600U}) {
    const Shape box = Shape::from_mesh(mesh, {.field = {.resolution = 24}, .points = points});
    Case c;
    c.shell = make_step({{}, {0, 0.1 - 1e-5, 0}}, {}, {}, c.step);
    for (const PointRule rule : {PointRule::kPatches, PointRule::kEvery}) {
      std::vector<PointStick> sticks;
      const ForceSettings forces{.material = {.stiffness = 1e9}, .points = rule};
      const RoleImpulse r = compute(box, ground, c, forces, sticks);
      EXPECT_NEAR(r.impulse.y, 1e9 * 0.04 * 1e-5 * c.step, 0.02 * 1e9 * 0.04 * 1e-5 * c.step)
          << points;
      EXPECT_NEAR(r.area, 0.04, 0.02 * 0.04) << points;
    }
  }
}

TEST(ContactPatches, AnAreaCountsWhatFacesTheContact) {
  const Vec3 up{0, 1, 0}, down{0, -1, 0};
  EXPECT_EQ(compute_area_share(down, up), 1);
  EXPECT_EQ(compute_area_share({}, up), 1);  // A point without a direction.
  EXPECT_NEAR(compute_area_share(normalized(Vec3{1, -1, 0}), up), 1.0 / 2, 1e-12);
  EXPECT_NEAR(compute_area_share(normalized(Vec3{1, -1, 1}), up), 1.0 / 3, 1e-12);
  EXPECT_EQ(compute_area_share(up, up), 0.1);
}

}  // namespace
}  // namespace isotact
