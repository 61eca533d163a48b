#include "isotact/geometry/mesh/mass_properties.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "support/small_meshes.h"

namespace isotact {
namespace {

void expect_near(const Vec3& a, const Vec3& b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

void expect_near(const Mat3& a, const Mat3& b, double tolerance) {
  for (std::size_t k = 0; k < 3; ++k) expect_near(a.rows[k], b.rows[k], tolerance);
}

TEST(MassProperties, BoxHasItsClosedForm) {
  const MassProperties p =
      compute_mass_properties(test::make_box({1, 2, 3}, {2, 4, 6}), {.density = 2});
  EXPECT_EQ(p.status, MassStatus::kSolid);
  EXPECT_TRUE(p.warnings.empty());
  EXPECT_NEAR(p.volume, 6, 1e-12);
  EXPECT_NEAR(p.area, 22, 1e-12);
  EXPECT_NEAR(p.mass, 12, 1e-12);
  expect_near(p.center, {1.5, 3, 4.5}, 1e-12);
  // m (b^2 + c^2) / 12 about each axis
  expect_near(p.inertia, diagonal3({13, 10, 5}), 1e-11);
  expect_near(p.principal_moments, {5, 10, 13}, 1e-11);
}

TEST(MassProperties, AxesOfADiagonalTensorInOrderAreTheIdentity) {
  const MassProperties p = compute_mass_properties(test::make_box({0, 0, 0}, {3, 2, 1}));
  EXPECT_EQ(p.mesh_from_principal, Quat{});
  EXPECT_EQ(compute_mass_properties(test::make_box()).mesh_from_principal, Quat{});
}

TEST(MassProperties, BallApproachesItsClosedForm) {
  const double r = 2;
  const MassProperties p = compute_mass_properties(test::make_ball(6, r), {.mass = 5});
  EXPECT_EQ(p.status, MassStatus::kSolid);
  EXPECT_NEAR(p.volume, 4.0 / 3 * 3.141592653589793 * r * r * r, 0.03);
  EXPECT_NEAR(p.area, 4 * 3.141592653589793 * r * r, 0.03);
  expect_near(p.inertia, identity3() * (0.4 * 5 * r * r), 0.02);
  EXPECT_NEAR(p.density * p.volume, 5, 1e-12);
}

TEST(MassProperties, TetrahedronHasItsClosedForm) {
  const TriangleMesh m{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                       {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  const MassProperties p = compute_mass_properties(m, {.density = 1});
  EXPECT_NEAR(p.volume, 1.0 / 6, 1e-15);
  expect_near(p.center, {0.25, 0.25, 0.25}, 1e-15);
  const double i = 1.0 / 80, j = 1.0 / 480;  // second moments 1/60, 1/120 less those of the centre
  expect_near(p.inertia, {{Vec3{i, j, j}, Vec3{j, i, j}, Vec3{j, j, i}}}, 1e-15);
}

TEST(MassProperties, FollowPoses) {
  Random random(61);
  TriangleMesh mesh = test::make_box({-1, -2, -3}, {1, 2, 3});
  test::append(mesh, test::make_box({2, 2, 2}, {3, 5, 4}));
  const MassProperties before = compute_mass_properties(mesh);
  for (int i = 0; i < 200; ++i) {
    const Pose pose{random.rotation(), random.in_box({-5, -5, -5}, {5, 5, 5})};
    const MassProperties after = compute_mass_properties(test::transformed(mesh, pose));
    EXPECT_EQ(after.status, MassStatus::kSolid);
    EXPECT_NEAR(after.volume, before.volume, 1e-4);
    expect_near(after.center, transform_point(pose, before.center), 1e-5);
    const Mat3 r = to_matrix(pose.rotation);
    expect_near(after.inertia, r * before.inertia * transpose(r), 1e-5 * before.inertia.rows[0].x);
    expect_near(after.principal_moments, before.principal_moments,
                1e-5 * before.principal_moments.z);
    // The axes carry the moments back into the tensor, and are a rotation.
    const Mat3 axes = to_matrix(after.mesh_from_principal);
    EXPECT_NEAR(determinant(axes), 1, 1e-12);
    expect_near(axes * diagonal3(after.principal_moments) * transpose(axes), after.inertia,
                1e-9 * after.principal_moments.z);
  }
}

TEST(MassProperties, FarFromTheOriginNothingIsLost) {
  // Steps of 2^-3 are exact as floats at 2^20.
  const float far = 0x1p20F;
  const MassProperties p = compute_mass_properties(
      test::make_box({far, far, far}, {far + 0.125F, far + 0.25F, far + 0.5F}), {.density = 1});
  EXPECT_NEAR(p.volume, 0x1p-6, 1e-15);
  EXPECT_NEAR(p.principal_moments.x, p.mass * (0x1p-6 + 0x1p-4) / 12, 1e-15);
}

TEST(MassProperties, InwardMeshesAreTurnedOutAndSaySo) {
  const TriangleMesh box = test::make_box({0, 0, 0}, {1, 2, 3});
  const MassProperties out = compute_mass_properties(box),
                       in = compute_mass_properties(test::flipped(box));
  EXPECT_FALSE(out.inward);
  EXPECT_TRUE(in.inward);
  EXPECT_EQ(in.warnings.size(), 1U);
  EXPECT_NEAR(in.volume, out.volume, 1e-12);
  expect_near(in.inertia, out.inertia, 1e-9);
  expect_near(in.center, out.center, 1e-12);
}

TEST(MassProperties, CavitiesAreSubtracted) {
  TriangleMesh m = test::make_box({0, 0, 0}, {3, 3, 3});
  test::append(m, test::flipped(test::make_box({1, 1, 1}, {2, 2, 2})));
  EXPECT_NEAR(compute_mass_properties(m).volume, 26, 1e-12);
}

TEST(MassProperties, OpenAndTwistedMeshesWarn) {
  TriangleMesh open = test::make_box();
  open.triangles.pop_back();
  const MassProperties p = compute_mass_properties(open);
  EXPECT_EQ(p.status, MassStatus::kOpen);
  ASSERT_EQ(p.warnings.size(), 1U);
  EXPECT_NE(p.warnings[0].find("3 boundary edges"), std::string::npos) << p.warnings[0];
  TriangleMesh twisted = test::make_box();
  test::flip(twisted.triangles[0]);
  EXPECT_EQ(compute_mass_properties(twisted).status, MassStatus::kOpen);
  EXPECT_EQ(compute_mass_properties(twisted).warnings.size(), 1U);
}

TEST(MassProperties, ExplodedMeshesAreClosed) {
  EXPECT_EQ(compute_mass_properties(test::exploded(test::make_box())).status, MassStatus::kSolid);
}

TEST(MassProperties, WithoutVolumeOnlyAreaAndItsCentreCount) {
  const TriangleMesh flat{{{0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}}, {{0, 1, 2}, {0, 2, 3}}};
  const MassProperties p = compute_mass_properties(flat);
  EXPECT_EQ(p.status, MassStatus::kNoVolume);
  EXPECT_EQ(p.volume, 0);
  EXPECT_NEAR(p.area, 4, 1e-12);
  expect_near(p.center, {1, 1, 1}, 1e-12);
  EXPECT_EQ(p.inertia, Mat3{});
  EXPECT_EQ(compute_mass_properties(TriangleMesh{}).status, MassStatus::kNoVolume);
}

TEST(MassProperties, NonFiniteTrianglesAreLeftOut) {
  TriangleMesh m = test::make_box();
  m.positions[7].x = std::numeric_limits<float>::quiet_NaN();
  const MassProperties p = compute_mass_properties(m);
  EXPECT_EQ(p.status, MassStatus::kOpen);
  EXPECT_TRUE(std::isfinite(p.volume) && is_finite(p.center) && is_finite(p.principal_moments));
  EXPECT_FALSE(p.warnings.empty());
}

TEST(MassProperties, BadDensityAndMassAreErrors) {
  EXPECT_THROW(compute_mass_properties(test::make_box(), {.density = 0}), Error);
  EXPECT_THROW(compute_mass_properties(test::make_box(), {.mass = -1}), Error);
  EXPECT_THROW(compute_mass_properties(test::make_box(),
                                       {.density = std::numeric_limits<double>::quiet_NaN()}),
               Error);
}

TEST(MassProperties, SameBytesOnAnyNumberOfThreads) {
  const TriangleMesh ball = test::make_ball(6, 1.3);
  const SurfaceIntegrals one = integrate_surface(ball, {1});
  for (const int threads : {2, 7}) {
    const SurfaceIntegrals many = integrate_surface(ball, {threads});
    EXPECT_EQ(std::memcmp(&one, &many, sizeof one), 0);
  }
}

}  // namespace
}  // namespace isotact
