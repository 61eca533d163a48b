#include "fab_shapes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/queries/depth/depth_map.h"

namespace isotact {
namespace {

// Parts may run into each other, but each is closed and turned outwards.
void expect_closed(const TriangleMesh& mesh, const std::string& name) {
  const MeshFlaws flaws = find_flaws(mesh);
  EXPECT_TRUE(flaws.watertight_as_stored) << name;
  EXPECT_TRUE(flaws.oriented) << name;
  EXPECT_EQ(flaws.inward_shells, 0U) << name;
  EXPECT_EQ(flaws.degenerate, 0U) << name;
  EXPECT_EQ(flaws.unreferenced_vertices.count, 0U) << name;
}

// A mesh as the CPU's twin wants it.
class PlacedElement {
 public:
  PlacedElement(const TriangleMesh& mesh, const Pose& pose, std::uint32_t id)
      : pose_(pose), id_(id) {
    for (const Vec3f& p : mesh.positions) positions_.push_back(to_double(p));
    for (const Triangle& t : mesh.triangles) indices_.insert(indices_.end(), t.begin(), t.end());
  }
  DepthElement element() const {
    return {.positions = positions_,
            .indices = indices_,
            .world_from_element = pose_,
            .id = id_,
            .closed = true};
  }

 private:
  std::vector<Vec3> positions_;
  std::vector<std::uint32_t> indices_;
  Pose pose_;
  std::uint32_t id_;
};

TEST(FabShapes, FightersHaveThePapersTriangles) {
  for (const int triangles : {kFighterTriangles, kFineFighterTriangles, kLeastFighterTriangles})
    for (const double degrees : {0.0, 26.0}) {
      const TriangleMesh mesh = make_fighter({triangles, degrees});
      EXPECT_EQ(mesh.triangles.size(), static_cast<std::size_t>(triangles));
      expect_closed(mesh, "fighter");
    }
}

TEST(FabShapes, WingsOpen) {
  const auto high = [](double degrees) {
    return bounds(make_fighter({.wing_degrees = degrees})).upper.y;
  };
  EXPECT_LT(high(0), high(26));
  EXPECT_LT(high(26), high(60));
}

TEST(FabShapes, RefusesFightersThatCannotBe) {
  EXPECT_THROW((void)make_fighter({.triangles = 9717}), Error);
  EXPECT_THROW((void)make_fighter({.triangles = 100}), Error);
  EXPECT_THROW((void)make_fighter({.wing_degrees = -1}), Error);
}

TEST(FabShapes, SkilletHasThePapersTriangles) {
  const TriangleMesh mesh = make_skillet();
  EXPECT_EQ(mesh.triangles.size(), static_cast<std::size_t>(kSkilletTriangles));
  expect_closed(mesh, "skillet");
}

void expect_sound(const FabScene& scene, int triangles) {
  EXPECT_EQ(count_triangles(scene), static_cast<std::size_t>(triangles));
  for (std::size_t i = 0; i < scene.elements.size(); ++i) {
    const FabElement& element = scene.elements[i];
    EXPECT_EQ(element.id, i + 1);
    EXPECT_TRUE(element.closed);
    expect_closed(element.mesh, element.name + std::to_string(element.id));
  }
}

TEST(FabShapes, TunnelHasThePapersTriangles) {
  const FabScene scene = make_tunnel();
  expect_sound(scene, kTunnelTriangles);
  EXPECT_GE(scene.elements.size(), 40U);
  EXPECT_EQ(scene.elements.front().name, "wall");
}

TEST(FabShapes, CityHasThePapersTriangles) {
  const FabScene scene = make_city();
  expect_sound(scene, kCityTriangles);
  EXPECT_EQ(scene.elements[kAirshipId - 1].name, "airship");
}

TEST(FabShapes, JoinedElementsKeepTheirIds) {
  const FabScene scene = make_tunnel();
  const FabSurface surface = join_elements(scene.elements);
  ASSERT_EQ(surface.ids.size(), surface.mesh.triangles.size());
  EXPECT_EQ(surface.mesh.triangles.size(), static_cast<std::size_t>(kTunnelTriangles));
  EXPECT_TRUE(std::is_sorted(surface.ids.begin(), surface.ids.end()));
  EXPECT_EQ(surface.ids.back(), scene.elements.size());
  const FabElement& last = scene.elements.back();
  const Vec3 placed = transform_point(last.world_from_element, to_double(corners(last.mesh, 0)[0]));
  const std::size_t first = surface.ids.size() - last.mesh.triangles.size();
  EXPECT_LT(length(to_double(corners(surface.mesh, first)[0]) - placed), 1e-3);
}

// Nothing jumps: the fighter moves by about a metre a frame and turns slowly.
TEST(FabShapes, WaysAreSmooth) {
  const auto expect_smooth = [](auto compute_pose, int frames, double most) {
    for (int frame = 0; frame + 1 < frames; ++frame) {
      const Pose a = compute_pose(frame), b = compute_pose(frame + 1);
      ASSERT_LT(length(a.translation - b.translation), most) << frame;
      const Vec3 axis{0.6, 0, 0.8};
      ASSERT_LT(length(rotate(a.rotation, axis) - rotate(b.rotation, axis)), 0.05) << frame;
    }
  };
  expect_smooth(compute_tunnel_pose, kTunnelFrames, 1.2);
  expect_smooth(compute_city_pose, kCityFrames, 1.2);
  expect_smooth(compute_airship_pose, kCityFrames, 1.2);
}

// FAB: 515 of 800 frames collide. Here by pictures of the CPU's twin, every sixteenth frame.
TEST(FabShapes, TheWayThroughTheTunnelMeetsThingsInTwoThirdsOfAllFrames) {
  const DepthSettings settings{.width = 96, .height = 96};
  const TriangleMesh mesh = make_fighter();
  const PlacedElement fighter(mesh, {}, 0);
  const FabScene tunnel = make_tunnel();
  std::vector<PlacedElement> placed;
  for (const FabElement& e : tunnel.elements)
    placed.emplace_back(e.mesh, e.world_from_element, e.id);
  std::vector<DepthElement> around;
  for (const PlacedElement& p : placed) around.push_back(p.element());
  const DepthMap map =
      draw_depth_map(std::vector{fighter.element()},
                     make_depth_view(to_double(bounds(mesh)), {1, 0, 0}), settings);
  int colliding = 0, frames = 0;
  std::vector<std::uint32_t> met;
  for (int frame = 0; frame < kTunnelFrames; frame += 16, ++frames) {
    const DepthResult report = detect_by_depth(map, compute_tunnel_pose(frame), around, settings);
    colliding += report.colliding ? 1 : 0;
    met.insert(met.end(), report.ids.begin(), report.ids.end());
  }
  EXPECT_NEAR(colliding, frames * 0.64, frames * 0.12);
  std::sort(met.begin(), met.end());
  const auto last = std::unique(met.begin(), met.end());
  EXPECT_GT(last - met.begin(), 15);                     // different things
  EXPECT_EQ(std::count(met.begin(), met.end(), 1U), 0);  // never the wall
}

}  // namespace
}  // namespace isotact
