// Shapes that are made for each other: nut and bolt, gear and gear.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/trig.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/self_intersection.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

TriangleMesh moved(TriangleMesh mesh, const Pose& pose) {
  for (Vec3f& p : mesh.positions) p = to_float(transform_point(pose, to_double(p)));
  return mesh;
}

Pose turned_about_y(double angle, const Vec3& translation) {
  const SinCos half = sin_cos(angle / 2);
  return {{half.cos, 0, half.sin, 0}, translation};
}

// Crossings between two meshes that do not cross themselves.
std::size_t count_crossings(const TriangleMesh& a, const TriangleMesh& b) {
  TriangleMesh both = a;
  const auto base = static_cast<std::uint32_t>(a.positions.size());
  both.positions.insert(both.positions.end(), b.positions.begin(), b.positions.end());
  for (const Triangle& t : b.triangles)
    both.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  return find_self_intersections(both).crossing;
}

// The least distance from a vertex of either to the other's surface.
double vertex_distance(const TriangleMesh& a, const TriangleMesh& b) {
  float least = std::numeric_limits<float>::infinity();
  const Bvh of_a(a), of_b(b);
  for (const Vec3f& p : a.positions)
    least = std::min(least, find_closest_point(of_b, p, least).distance);
  for (const Vec3f& p : b.positions)
    least = std::min(least, find_closest_point(of_a, p, least).distance);
  return static_cast<double>(least);
}

constexpr double kPitch = 0.002;

TEST(NutOnBolt, KeepsItsClearanceAtMatchingPhase) {
  const TriangleMesh bolt = make_bolt({.segments = 48});
  for (const double clearance :
       unless_slow<std::vector<double>>({0.00005, 0.0001, 0.0002}, {0.00005})) {
    const TriangleMesh nut = make_nut({.clearance = clearance, .segments = 48});
    // The facets of 48 segments lie up to 8 mm * (1 - cos(pi / 48)) = 17 micrometres off the true
    // thread, half of that square to the flanks, on either side.
    constexpr double kFacets = 17e-6;
    for (const double y : {0.025, 0.025 + kPitch / 4, 0.0317, 0.035}) {
      const TriangleMesh placed = moved(nut, bolt_from_nut(kPitch, y));
      EXPECT_EQ(count_crossings(bolt, placed), 0U) << clearance << " at " << y;
      const double distance = vertex_distance(bolt, placed);
      EXPECT_GE(distance, clearance) << "at " << y;
      EXPECT_LE(distance, clearance + kFacets) << "at " << y;
    }
  }
}

TEST(NutOnBolt, ClearanceConvergesToTheStatedOne) {
  const TriangleMesh bolt = make_bolt({.segments = 192});
  const TriangleMesh nut = moved(make_nut({.segments = 192}), bolt_from_nut(kPitch, 0.0301));
  EXPECT_NEAR(vertex_distance(bolt, nut), 0.0001, 1.1e-6);
}

TEST(NutOnBolt, CanMoveAsFarAsStatedAtAnyPhase) {
  const TriangleMesh bolt = make_bolt({.segments = 48});
  const double clearance = 0.0001;
  const TriangleMesh nut = make_nut({.clearance = clearance, .segments = 48});
  for (const double y : unless_slow<std::vector<double>>({0.0253, 0.0301}, {0.0301}))
    for (const double share : {-0.95, 0.95}) {
      Pose axial = bolt_from_nut(kPitch, y), radial = axial;
      axial.translation.y += share * 1.15 * clearance;
      radial.translation.x += share * 2 * clearance;
      EXPECT_EQ(count_crossings(bolt, moved(nut, axial)), 0U);
      EXPECT_EQ(count_crossings(bolt, moved(nut, radial)), 0U);
      axial.translation.y += share * 0.4 * clearance;
      radial.translation.x += share * 0.8 * clearance;
      EXPECT_GT(count_crossings(bolt, moved(nut, axial)), 0U);
      EXPECT_GT(count_crossings(bolt, moved(nut, radial)), 0U);
    }
}

TEST(NutOnBolt, CrossesAtAnyOtherPhaseAndHandedness) {
  const TriangleMesh bolt = make_bolt({.segments = 48}), nut = make_nut({.segments = 48});
  const double y = 0.03 + kPitch / 4;
  EXPECT_GT(count_crossings(bolt, moved(nut, {{}, {0, y, 0}})), 0U);
  const double left_handed = -2 * kPi * y / kPitch;
  EXPECT_GT(count_crossings(bolt, moved(nut, turned_about_y(left_handed, {0, y, 0}))), 0U);
}

struct GearPair {
  int teeth_a, teeth_b;
};

class GearPairs : public testing::TestWithParam<GearPair> {};

TEST_P(GearPairs, MeshAtEveryAngleWithoutCrossing) {
  const auto [teeth_a, teeth_b] = GetParam();
  // Different widths, so that the faces are not in one plane.
  const auto make = [](int teeth, double width) {
    return make_gear({.teeth = teeth,
                      .width = width,
                      .bore_radius = 0.004,
                      .flank_segments = 16,
                      .tip_segments = 1,
                      .root_segments = 3,
                      .width_segments = 1});
  };
  const TriangleMesh a = make(teeth_a, 0.02), b = make(teeth_b, 0.018);
  const double distance = gear_center_distance(0.005, teeth_a, teeth_b);
  const int steps = unless_slow(5, 2);
  for (int step = 0; step < steps; ++step) {
    const double angle = 2 * kPi / teeth_a * step / steps;
    const TriangleMesh placed_a = moved(a, turned_about_y(angle, {}));
    const double angle_b = gear_mesh_angle(teeth_a, teeth_b, angle);
    const auto placed_b = [&](double x, double turn) {
      return moved(b, turned_about_y(angle_b + turn, {x, 0, 0}));
    };
    EXPECT_EQ(count_crossings(placed_a, placed_b(distance, 0)), 0U) << "step " << step;
    // Neither nearer, nor turned by more than the backlash, is there room.
    EXPECT_GT(count_crossings(placed_a, placed_b(distance - 0.002, 0)), 0U) << "step " << step;
    const double play = 0.0001 / (0.005 * teeth_b / 2);
    for (const double sense : {-3.0, 3.0})
      EXPECT_GT(count_crossings(placed_a, placed_b(distance, sense * play)), 0U) << "step " << step;
  }
}

// With few teeth the fillets are undercut, which the mating teeth need.
INSTANTIATE_TEST_SUITE_P(Teeth, GearPairs,
                         testing::Values(GearPair{24, 24}, GearPair{24, 12}, GearPair{9, 40},
                                         GearPair{7, 17}));

}  // namespace
}  // namespace isotact
