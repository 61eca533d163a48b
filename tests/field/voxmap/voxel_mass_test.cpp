#include "kgm/voxel_mass.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/csg.h"

namespace isotact {
namespace {

constexpr double kPi = std::numbers::pi;

// Not aligned with the body, so that voxels do not end with it.
Lattice voxels_of(double half, std::int32_t cells) {
  return {.origin = Vec3{-half, -half, -half} * 1.013,
          .spacing = 2.029 * half / cells,
          .cells = {cells, cells, cells}};
}

struct Errors {
  double volume = 0, center = 0, inertia = 0;  // relative
};

template <Field F>
Errors compare_mass(const F& field, std::int32_t cells, double volume, const Vec3& center,
                    const Vec3& moments) {
  const MassProperties found = compute_voxel_mass(field, voxels_of(0.6, cells), {.density = 2});
  EXPECT_EQ(found.status, MassStatus::kSolid);
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_EQ(found.mass, 2 * found.volume);
  Errors errors;
  errors.volume = std::abs(found.volume / volume - 1);
  errors.center = length(found.center - center);
  for (std::size_t axis = 0; axis < 3; ++axis)
    errors.inertia =
        std::max(errors.inertia, std::abs(found.inertia.rows[axis][axis] / moments[axis] - 1));
  return errors;
}

TEST(VoxelMass, ConvergesToTheFormulas) {
  const SphereField sphere{.center = {0.05, -0.02, 0.01}, .radius = 0.5};
  const double ball = 4.0 / 3 * kPi * 0.125, ball_moment = 2 * 0.4 * ball * 0.25;
  const TorusField torus{};
  const double big = torus.radius, small = torus.tube_radius;
  const double ring = 2 * kPi * kPi * big * small * small;
  const double about = 2 * ring * (big * big + 0.75 * small * small);
  const double across = 2 * ring * (0.5 * big * big + 0.625 * small * small);
  double last = 1;
  for (const std::int32_t cells : {12, 24, 48, 96}) {
    const double bound = 4 * std::pow(cells, -1.4);
    const Errors of_ball =
        compare_mass(sphere, cells, ball, sphere.center, {ball_moment, ball_moment, ball_moment});
    EXPECT_LT(of_ball.volume, bound);
    EXPECT_LT(of_ball.center, bound);
    EXPECT_LT(of_ball.inertia, 2 * bound);
    const Errors of_ring = compare_mass(torus, cells, ring, {}, {across, about, across});
    EXPECT_LT(of_ring.volume, 3 * bound);
    EXPECT_LT(of_ring.inertia, 6 * bound);
    last = of_ring.inertia;
  }
  EXPECT_LT(last, 0.01);
}

// A cube that is made of whole voxels is exact, with the voxels' own inertia.
TEST(VoxelMass, WholeVoxelsAreExact) {
  const BoxField box{.center = {3, 0, 0}, .half_size = {0.5, 0.25, 0.75}};
  const Lattice lattice{.origin = {2, -1, -1}, .spacing = 0.25, .cells = {8, 8, 8}};
  const MassProperties found = compute_voxel_mass(box, lattice, {.mass = 12.0});
  EXPECT_NEAR(found.volume, 0.75, 1e-12);
  EXPECT_NEAR(found.density, 16, 1e-12);
  EXPECT_NEAR(length(found.center - box.center), 0, 1e-12);
  EXPECT_NEAR(found.inertia.rows[0].x, 0.25 + 2.25, 1e-12);
  EXPECT_NEAR(found.inertia.rows[1].y, 1 + 2.25, 1e-12);
  EXPECT_NEAR(found.inertia.rows[2].z, 1 + 0.25, 1e-12);
  EXPECT_NEAR(found.principal_moments.x, 1.25, 1e-12);
  EXPECT_NEAR(found.principal_moments.y, 2.5, 1e-12);
  EXPECT_NEAR(found.principal_moments.z, 3.25, 1e-12);
}

TEST(VoxelMass, PrincipalAxesOfATurnedBox) {
  const Quat turn = rotation_about({1, 2, 3}, 0.8);
  const Placed turned{BoxField{.half_size = {0.45, 0.1, 0.2}}, Pose{turn, {}}};
  const MassProperties found = compute_voxel_mass(AnyField{turned}, voxels_of(0.6, 64));
  // The least moment is about the longest side.
  const Vec3 axis = rotate(found.mesh_from_principal, {1, 0, 0});
  EXPECT_GT(std::abs(dot(axis, rotate(turn, {1, 0, 0}))), 0.999);
  EXPECT_NEAR(found.principal_moments.x / (found.mass / 3 * (0.01 + 0.04)), 1, 0.05);
}

TEST(VoxelMass, TexelsAreCountedLikeTheField) {
  const TorusField torus{};
  const Lattice lattice{.origin = {-0.6, -0.3, -0.6}, .spacing = 0.025, .cells = {48, 24, 48}};
  const FirstOrderField field = sample_first_order(torus, lattice);
  const FieldTexels texels =
      make_first_order_texels(field, {{-0.5, -0.125, -0.5}, {0.5, 0.125, 0.5}});
  const MassProperties of_texels = compute_voxel_mass(texels);
  const MassProperties of_field = compute_voxel_mass(torus, lattice);
  EXPECT_NEAR(of_texels.volume / of_field.volume, 1, 0.005);
  EXPECT_NEAR(of_texels.inertia.rows[1].y / of_field.inertia.rows[1].y, 1, 0.005);
}

TEST(VoxelMass, ThreadsDoNotMatter) {
  const TorusField torus{};
  const MassProperties one = compute_voxel_mass(torus, voxels_of(0.6, 40), {.threads = {1}});
  const MassProperties many = compute_voxel_mass(torus, voxels_of(0.6, 40), {.threads = {7}});
  EXPECT_EQ(one.inertia, many.inertia);
  EXPECT_EQ(one.center, many.center);
  EXPECT_EQ(one.volume, many.volume);
}

TEST(VoxelMass, SaysWhatIsWrong) {
  EXPECT_EQ(compute_voxel_mass(SphereField{.radius = 1e-6}, voxels_of(0.6, 8)).status,
            MassStatus::kNoVolume);
  EXPECT_FALSE(compute_voxel_mass(SphereField{.radius = 3}, voxels_of(0.6, 8)).warnings.empty());
  EXPECT_THROW(compute_voxel_mass(SphereField{}, Lattice{}), Error);
  EXPECT_THROW(compute_voxel_mass(SphereField{}, voxels_of(0.6, 8), {.density = -1}), Error);
  EXPECT_THROW(compute_voxel_mass(SphereField{}, voxels_of(0.6, 8), {.mass = 0.0}), Error);
}

}  // namespace
}  // namespace isotact
