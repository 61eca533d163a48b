// Meshes that are culled give what they give when all of them is drawn.
#include "isotact/gpu/depth/mesh_drawable.h"

#include <algorithm>
#include <cmath>

#include <epoxy/gl.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuMeshesTest = GpuTest;

struct Scenery {
  TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 10});
  TriangleMesh ring =
      make_torus({.radius = 0.5, .tube_radius = 0.2, .segments = 40, .tube_segments = 20});
  TriangleMesh room = make_box({.size_x = 9, .size_y = 9, .size_z = 9, .segments = 6});
  std::vector<Vec3f> dust;
  std::vector<std::uint32_t> dust_points, dust_lines;
  std::vector<MeshElement> elements;

  Scenery() {
    Random random(3);
    const auto next = [&] { return random.uniform(-1, 1); };
    for (std::uint32_t i = 0; i < 2000; ++i) {
      dust.push_back(to_float(Vec3{next(), next(), next()} * 2.0));
      dust_points.push_back(i);
      if (i % 2 == 1 && i < 400) dust_lines.insert(dust_lines.end(), {i - 1, i});
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Pose pose{normalized(Quat{next(), next(), next(), next()}),
                      Vec3{next(), next(), next()} * 1.8};
      elements.push_back(make_mesh_element(i % 2 == 0 ? ball : ring, pose, 50 - i, i != 3));
    }
    elements.push_back(make_mesh_element(room, {}, 7, false));
    elements.push_back({.positions = dust,
                        .indices = dust_points,
                        .world_from_element = {.translation = {4, 0, 0}},
                        .id = 60,
                        .primitive = DepthPrimitive::kPoints});
    elements.push_back({.positions = dust,
                        .indices = dust_lines,
                        .world_from_element = {.translation = {0, 4, 0}},
                        .id = 61,
                        .primitive = DepthPrimitive::kLines});
  }
};

void expect_close(const DepthResult& a, const DepthResult& b, const std::string& where) {
  EXPECT_EQ(a.colliding, b.colliding) << where;
  EXPECT_EQ(a.inside, b.inside) << where;
  EXPECT_EQ(a.ids, b.ids) << where;
  // The products of matrices round in other ways.
  EXPECT_NEAR(static_cast<double>(a.pixels), static_cast<double>(b.pixels), 2 + 0.01 * a.pixels)
      << where;
  EXPECT_NEAR(a.depth, b.depth, 1e-3) << where;
  EXPECT_NEAR(static_cast<double>(a.contacts.size()), static_cast<double>(b.contacts.size()), 1)
      << where;
}

TEST_F(GpuMeshesTest, CulledMeshesAreAsWholeOnes) {
  const Scenery scenery;
  const GpuMeshes meshes(scenery.elements);
  const MeshElement objects[] = {make_mesh_element(scenery.ball, {}, 0, true),
                                 make_mesh_element(scenery.ring, {}, 0, true)};
  EXPECT_EQ(meshes.size(), 9U);
  EXPECT_EQ(meshes.primitives(), 3 * scenery.ball.triangles.size() +
                                     3 * scenery.ring.triangles.size() +
                                     scenery.room.triangles.size() + 2000 + 200);
  const std::vector<GpuDrawable> drawables = meshes.drawables();
  const GpuMeshes* const all[] = {&meshes};
  for (const DepthMethod method :
       {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments})
    for (const bool two_sided : {false, true}) {
      // Intervals have no sides: the second time they are found by compute shaders.
      const GpuRaster raster = two_sided ? GpuRaster::kCompute : GpuRaster::kGraphics;
      GpuDepthDetector detector(
          gpu(),
          {.method = method, .width = 96, .height = 80, .two_sided = two_sided, .max_contacts = 8},
          {.slots = 2, .queries = 12, .raster = raster, .one_pass = false});
      for (int slot = 0; slot < 2; ++slot) {
        const GpuMeshes object({&objects[slot], 1});
        detector.draw_map(
            slot, object,
            make_depth_view({{-0.7, -0.7, -0.7}, {0.7, 0.7, 0.7}}, {1, 0.3, slot + 0.1}));
      }
      std::vector<GpuDepthQuery> queries;
      Random random(21);
      for (int i = 0; i < 12; ++i) {
        const auto next = [&] { return random.uniform(-1, 1); };
        const Vec3 where = i % 4 == 3   ? Vec3{4, 0, 0}
                           : i % 4 == 2 ? Vec3{0, 4, 0}
                                        : Vec3{next(), next(), next()} * 1.6;
        queries.push_back({i % 2, {normalized(Quat{next(), next(), next(), next()}), where}});
      }
      std::vector<DepthResult> culled, whole;
      detector.fetch(detector.submit(queries, {.meshes = all}), culled);
      detector.fetch(detector.submit(queries, {.drawables = drawables}), whole);
      std::size_t colliding = 0;
      for (std::size_t i = 0; i < queries.size(); ++i) {
        expect_close(culled[i], whole[i],
                     std::to_string(i) + " " + std::to_string(static_cast<int>(method)));
        colliding += whole[i].colliding ? 1U : 0U;
      }
      EXPECT_GT(colliding, 4U);
    }
}

// Without room for tiles triangles are finished where they are found: the same bits.
TEST_F(GpuMeshesTest, TilesWithoutRoomAreNotLost) {
  const Scenery scenery;
  const GpuMeshes meshes(scenery.elements);
  const MeshElement ball[] = {make_mesh_element(scenery.ring, {}, 0, true)};
  const GpuMeshes object(ball);
  const GpuMeshes* const all[] = {&meshes};
  std::vector<DepthResult> reports;
  for (const std::uint32_t tiles : {0U, 3U}) {
    GpuDepthDetector detector(gpu(), {.width = 96, .height = 96, .max_contacts = 8},
                              {.raster = GpuRaster::kCompute, .one_pass = false, .tiles = tiles});
    detector.draw_map(0, object, make_depth_view({{-0.7, -0.7, -0.7}, {0.7, 0.7, 0.7}}, {1, 0, 1}));
    const Vec3 near_a_ball =
        scenery.elements[0].world_from_element.translation + Vec3{0.4, 0.1, 0.3};
    for (const Vec3& at : {near_a_ball, Vec3{0, 0, 4.4}})  // the other: in the room's wall
      reports.push_back(detector.detect({.translation = at}, {.meshes = all}));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(reports[i].pixels, 20U);
    EXPECT_EQ(reports[i].pixels, reports[i + 2].pixels);
    EXPECT_EQ(reports[i].depth, reports[i + 2].depth);
    EXPECT_EQ(reports[i].ids, reports[i + 2].ids);
    EXPECT_EQ(reports[i].contacts.size(), reports[i + 2].contacts.size());
  }
}

TEST_F(GpuMeshesTest, PosesMoveElements) {
  const Scenery scenery;
  const MeshElement parts[] = {
      make_mesh_element(scenery.ball, {}, 5, true),
      make_mesh_element(scenery.ring, {.translation = {0, 0, 5}}, 6, true)};
  GpuMeshes meshes(parts);
  GpuDepthDetector detector(gpu(), {.width = 64, .height = 64}, {.save_state = false});
  const GpuMeshes object({parts, 1});
  detector.draw_map(0, object, make_depth_view({{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, {0, 0, 1}));
  const GpuMeshes* const all[] = {&meshes};
  for (int step = 0; step < 12; ++step) {
    const double x = 0.25 * step - 1.5;
    meshes.set_pose(0, {.translation = {x, 0.1, 0.05}});
    EXPECT_EQ(detector.detect({}, {.meshes = all}).colliding, std::abs(x) < 0.99) << x;
  }
}

TEST_F(GpuMeshesTest, ABallInABallIsInside) {
  const Scenery scenery;
  const TriangleMesh large = make_sphere({.radius = 3, .frequency = 10});
  const MeshElement around[] = {make_mesh_element(large, {}, 5, true)};
  const MeshElement ball[] = {make_mesh_element(scenery.ball, {}, 0, true)};
  const GpuMeshes meshes(around), object(ball);
  const GpuMeshes* const all[] = {&meshes};
  GpuDepthDetector detector(gpu(), {.width = 64, .height = 64});
  detector.draw_map(0, object, make_depth_view({{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, {0, 1, 1}));
  const DepthResult report = detector.detect({.translation = {1, 1, 0}}, {.meshes = all});
  EXPECT_TRUE(report.inside);
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{5});
  EXPECT_FALSE(detector.detect({.translation = {1, 1, 9}}, {.meshes = all}).colliding);
  EXPECT_FALSE(detector.detect({.translation = {1, 1, -9}}, {.meshes = all}).colliding);
}

// Where elements lie around one another, each is named.
TEST_F(GpuMeshesTest, AllThatSurroundAreNamed) {
  const TriangleMesh small = make_sphere({.radius = 0.5, .frequency = 6});
  const TriangleMesh large = make_sphere({.radius = 3, .frequency = 6});
  const TriangleMesh larger = make_box({.size_x = 9, .size_y = 9, .size_z = 9});
  const MeshElement around[] = {make_mesh_element(larger, {}, 5, true),
                                make_mesh_element(small, {.translation = {0, 2, 2}}, 8, true),
                                make_mesh_element(large, {}, 3, true)};
  const MeshElement ball[] = {make_mesh_element(small, {}, 0, true)};
  const GpuMeshes meshes(around), object(ball);
  const GpuMeshes* const all[] = {&meshes};
  for (const GpuRaster raster : {GpuRaster::kGraphics, GpuRaster::kCompute}) {
    GpuDepthDetector detector(gpu(), {.width = 64, .height = 64}, {.raster = raster});
    detector.draw_map(0, object, make_depth_view({{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, {0, 1, 1}));
    const DepthResult report = detector.detect({}, {.meshes = all});
    EXPECT_TRUE(report.inside);
    EXPECT_EQ(report.ids, (std::vector<std::uint32_t>{3, 5}));
    EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  }
}

TEST_F(GpuMeshesTest, RefusesWhatCannotBeDrawn) {
  const std::vector<Vec3f> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const auto make = [&](std::vector<std::uint32_t> indices) {
    const MeshElement element{.positions = positions, .indices = indices};
    return GpuMeshes({&element, 1}).primitives();
  };
  EXPECT_EQ(make({0, 1, 2}), 1U);
  EXPECT_EQ(make({}), 0U);
  EXPECT_THROW((void)make({0, 1}), Error);
  EXPECT_THROW((void)make({0, 1, 3}), Error);
  // Nothing is ever met at a pose that is no place: that must not pass for "free".
  const std::vector<std::uint32_t> indices{0, 1, 2};
  MeshElement element{.positions = positions, .indices = indices};
  GpuMeshes meshes({&element, 1});
  const Pose nowhere{.translation = {0, std::nan(""), 0}}, no_rotation{.rotation = {0, 0, 0, 0}};
  for (const Pose& pose : {nowhere, no_rotation}) {
    EXPECT_THROW(meshes.set_pose(0, pose), Error);
    element.world_from_element = pose;
    EXPECT_THROW((void)GpuMeshes({&element, 1}), Error);
  }
}

// A room that is turned inwards has no solid inside: it does not hide that something else has.
TEST_F(GpuMeshesTest, RoomsDoNotCancelSolids) {
  const TriangleMesh small = make_box({.size_x = 0.2, .size_y = 0.2, .size_z = 0.2});
  const TriangleMesh solid = make_box({.size_x = 2, .size_y = 2, .size_z = 2});
  TriangleMesh room = make_box({.size_x = 6, .size_y = 6, .size_z = 6});
  for (Triangle& t : room.triangles) std::swap(t[1], t[2]);
  const MeshElement both[] = {make_mesh_element(room, {}, 1, true),
                              make_mesh_element(solid, {}, 2, true)};
  const GpuMeshes around{both}, alone{std::span(both, 1)};
  for (const GpuRaster raster : {GpuRaster::kGraphics, GpuRaster::kCompute}) {
    GpuDepthDetector detector(gpu(), {.width = 32, .height = 32}, {.raster = raster});
    const MeshElement object[] = {make_mesh_element(small, {}, 0, true)};
    detector.draw_map(0, GpuMeshes{object}, make_depth_view(to_double(bounds(small)), {0, 0, 1}));
    const GpuMeshes* const rooms[] = {&alone};
    EXPECT_FALSE(detector.detect({}, GpuDepthScene{{}, rooms}).colliding);
    const GpuMeshes* const all[] = {&around};
    const DepthResult report = detector.detect({}, GpuDepthScene{{}, all});
    EXPECT_TRUE(report.inside);
    EXPECT_EQ(report.ids, std::vector<std::uint32_t>{2});
  }
}

// More hits than there is room for: how deep and where is still known.
TEST_F(GpuMeshesTest, ManyPlatesAreAsDeepAsTheDeepest) {
  const TriangleMesh cube = make_box({.size_x = 1, .size_y = 1, .size_z = 1});
  TriangleMesh plates;
  for (int i = 0; i < 150; ++i) {
    const auto z = static_cast<float>(-0.49 + 0.98 * i / 149);
    const auto first = static_cast<std::uint32_t>(plates.positions.size());
    plates.positions.insert(plates.positions.end(),
                            {{-2, -2, z}, {2, -2, z}, {2, 2, z}, {-2, 2, z}});
    plates.triangles.push_back({first, first + 1, first + 2});
    plates.triangles.push_back({first, first + 2, first + 3});
  }
  const MeshElement object[] = {make_mesh_element(cube, {}, 0, true)};
  const MeshElement stack[] = {make_mesh_element(plates, {}, 5)};
  const GpuMeshes around{stack};
  const GpuMeshes* const all[] = {&around};
  GpuDepthDetector detector(gpu(), {.width = 64, .height = 64}, {.one_pass = false});
  detector.draw_map(0, GpuMeshes{object}, make_depth_view(to_double(bounds(cube)), {0, 0, 1}));
  const DepthResult report = detector.detect({}, GpuDepthScene{{}, all});
  EXPECT_NEAR(report.depth, 0.5, 0.01);
  EXPECT_EQ(report.deepest_id, 5U);
}

}  // namespace
}  // namespace isotact
