// The first check on the CPU finds the same as the detection on the GPU.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/detail/mesh_state.h"
#include "isotact/gpu/depth/detail/solid_tiles.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "gpu/gpu_fixture.h"
#include "once_scenery.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using GpuDepthFirstCheckTest = GpuTest;

TEST_F(GpuDepthFirstCheckTest, SameAsTheFullDetection) {
  const std::vector<TriangleMesh> objects = make_once_objects();
  struct Case {
    DepthSettings settings;
    Vec3 direction;
  };
  const Case cases[] = {
      {{.width = 64, .height = 80, .max_contacts = 12}, {0.3, 0.2, 1}},
      {{.width = 75, .height = 52}, {1, 0, 0}},
      {{.width = 32, .height = 40, .layers = 2, .find_inside = false}, {0, -1, 0}},
  };
  const std::size_t rounds = 3;
  const std::size_t poses = unless_slow<std::size_t>(80, 20);
  std::size_t colliding = 0, inside = 0, all = 0;
  GpuDepthDetector::Submissions done{};
  for (std::size_t c = 0; c < std::size(cases); ++c) {
    const DepthSettings& settings = cases[c].settings;
    const GpuDepthSettings options{.queries = 2, .raster = GpuRaster::kCompute};
    GpuDepthSettings plain = options;
    plain.first_check = false;
    GpuDepthDetector fast(gpu(), settings, options), slow(gpu(), settings, plain);
    Random random(90 + c);
    for (std::size_t round = 0; round < rounds; ++round) {
      const TriangleMesh& object = objects[round % objects.size()];
      const DepthView view = make_depth_view(to_double(bounds(object)), cases[c].direction);
      const MeshElement part[] = {make_mesh_element(object, {}, 0, true)};
      const GpuMeshes drawn(part);
      fast.draw_map(0, drawn, view);
      slow.draw_map(0, drawn, view);
      const OnceScenery scenery(100 * c + round);
      const GpuMeshes environment(scenery.gpu);
      const GpuMeshes* const around[] = {&environment};
      std::vector<DepthResult> quick, thorough;
      for (std::size_t i = 0; i < poses; ++i) {
        std::vector<GpuDepthQuery> queries(1 + i % 2);
        for (std::size_t q = 0; q < queries.size(); ++q) {
          // Some far ones after each other: who was not free is not looked at.
          queries[q].world_from_object = next_once_pose(random, i / 5 % 2 == 0 ? 12 : 2.5);
          if (i % 7 == 0)
            queries[q].world_from_object.translation =
                scenery.inside + 0.3 * queries[q].world_from_object.translation;
        }
        fast.detect(queries, {.meshes = around}, quick);
        slow.detect(queries, {.meshes = around}, thorough);
        ASSERT_EQ(quick.size(), queries.size());
        for (std::size_t q = 0; q < queries.size(); ++q) {
          expect_same(quick[q], thorough[q], gpu().info().software,
                      fmt::format("{} {} {} {}", c, round, i, q));
          ++all;
          colliding += thorough[q].colliding ? 1U : 0U;
          inside += thorough[q].inside ? 1U : 0U;
        }
      }
    }
    EXPECT_EQ(slow.submissions().proved_free, 0U);
    done.proved_free += fast.submissions().proved_free;
  }
  const std::size_t calls = std::size(cases) * rounds * poses;
  RecordProperty("proved_free", std::to_string(done.proved_free));
  EXPECT_GT(done.proved_free, calls / 10);
  EXPECT_LT(done.proved_free, calls / 2);
  EXPECT_GT(colliding, all / 4);
  EXPECT_LT(colliding, all * 3 / 4);
  EXPECT_GT(inside, all / 100);
}

// An object that deforms: what was known of its last map does not count.
TEST_F(GpuDepthFirstCheckTest, MapsThatAreDrawnAnew) {
  const TriangleMesh small = make_sphere({.radius = 0.2, .frequency = 6});
  const TriangleMesh large = make_sphere({.radius = 0.9, .frequency = 6});
  const TriangleMesh post = make_box({.size_x = 0.2, .size_y = 3, .size_z = 0.2});
  const MeshElement parts[] = {make_mesh_element(small, {}, 0, true)};
  const MeshElement wide[] = {make_mesh_element(large, {}, 0, true)};
  const MeshElement posts[] = {make_mesh_element(post, {.translation = {0.7, 0, 0}}, 3, true)};
  const GpuMeshes thin(parts), thick(wide), environment(posts);
  const GpuMeshes* const around[] = {&environment};
  const DepthView view = make_depth_view(to_double(bounds(large)), {0, 0, 1});
  GpuDepthDetector detector(gpu(), {.width = 64, .height = 64}, {.raster = GpuRaster::kCompute});
  for (int i = 0; i < 12; ++i) {
    const bool is_thick = i % 4 >= 2;
    if (i % 2 == 0) detector.draw_map(0, is_thick ? thick : thin, view);
    EXPECT_EQ(detector.detect({}, {.meshes = around}).colliding, is_thick) << i;
  }
  EXPECT_GT(detector.submissions().proved_free, 1U);
}

// A small object within a large closed thing, and within the hollow of one.
TEST_F(GpuDepthFirstCheckTest, WithinIsNotFree) {
  const TriangleMesh ball = make_sphere({.radius = 0.2, .frequency = 6});
  const TriangleMesh shell = join(make_sphere({.radius = 2, .frequency = 12}),
                                  turn_over(make_sphere({.radius = 1, .frequency = 12})), {});
  const MeshElement object[] = {make_mesh_element(ball, {}, 0, true)};
  const MeshElement hollow[] = {make_mesh_element(shell, {}, 8, true)};
  const GpuMeshes drawn(object), environment(hollow);
  const GpuMeshes* const around[] = {&environment};
  GpuDepthDetector detector(gpu(), {.width = 64, .height = 64}, {.raster = GpuRaster::kCompute});
  detector.draw_map(0, drawn, make_depth_view(to_double(bounds(ball)), {0.2, 0.1, 1}));
  for (int round = 0; round < 70; ++round) {
    EXPECT_FALSE(detector.detect({}, {.meshes = around}).colliding);
    EXPECT_FALSE(detector.detect({.translation = {0.1, 0, 0}}, {.meshes = around}).colliding);
    const DepthResult within = detector.detect({.translation = {1.5, 0, 0}}, {.meshes = around});
    EXPECT_TRUE(within.colliding && within.inside);
    EXPECT_EQ(within.ids, (std::vector<std::uint32_t>{8}));
    EXPECT_TRUE(detector.detect({.translation = {0, 0.9, 0}}, {.meshes = around}).pixels > 0);
  }
  EXPECT_GT(detector.submissions().proved_free, 60U);
}

TEST_F(GpuDepthFirstCheckTest, WindingsAreThoseOfTheMesh) {
  const TriangleMesh ring =
      make_torus({.radius = 0.6, .tube_radius = 0.25, .segments = 30, .tube_segments = 16});
  const TriangleMesh box = make_box({.size_x = 1.6, .size_y = 1.6, .size_z = 1.6, .segments = 4});
  for (const TriangleMesh& mesh : {ring, box, join(ring, box, {}), turn_over(box)}) {
    const MeshElement element[] = {make_mesh_element(mesh, {}, 0, true)};
    const GpuMeshes drawn(element);
    const WindingTree truth(mesh);
    Random random(5);
    std::size_t around = 0, unknown = 0;
    constexpr std::size_t kPlaces = 2000;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      Vec3 place = random.in_box({-1, -1, -1}, {1, 1, 1});
      // On planes of the meshes' edges, too.
      if (i % 4 == 0) place = {std::round(place.x * 10) / 10, place.y, 0};
      const auto winding =
          detail::compute_winding(drawn.state(), drawn.state().elements.front(), place);
      const double expected = compute_winding_number(truth, to_float(place));
      if (std::abs(expected - std::round(expected)) > 0.1) continue;  // on the surface
      unknown += winding ? 0U : 1U;
      around += winding && *winding != 0 ? 1U : 0U;
      if (winding) {
        EXPECT_EQ(*winding, std::lround(expected)) << place.x << " " << place.y;
      }
    }
    EXPECT_GT(around, kPlaces / 20);
    EXPECT_LT(unknown, kPlaces / 50);
  }
}

TEST(SolidTilesTest, OnePlaceInEachPart) {
  // A ring of tiles around an empty one, one tile at another depth beside it, one far away.
  std::vector<detail::CoveredTile> covered;
  for (const std::uint32_t number : {0U, 1U, 2U, 7U, 9U, 14U, 15U, 16U})
    covered.push_back({number, 0.25F, 0.5F, 0});
  covered.push_back({3, 0.75F, 0.875F, 0});
  covered.push_back({27, 0.25F, 0.5F, 0});
  detail::SolidTiles tiles;
  tiles.set(7, 4, covered);
  EXPECT_EQ(tiles.parts(), (std::vector<Vec3f>{
                               {0.5F, 0.5F, 0.375F}, {3.5F, 0.5F, 0.8125F}, {6.5F, 3.5F, 0.375F}}));
}

TEST(SolidTilesTest, BoxesAgainstAllTiles) {
  Random random(3);
  std::size_t met = 0, told = 0;
  constexpr std::size_t kBoxes = 20000;
  for (std::size_t round = 0; round < 20; ++round) {
    const int columns = 1 + static_cast<int>(random.below(40)),
              rows = 1 + static_cast<int>(random.below(40));
    std::vector<detail::CoveredTile> covered;
    for (int i = 0; i < columns * rows; ++i) {
      if (random.below(3) != 0) continue;
      const auto near = static_cast<float>(random.uniform(0, 0.8));
      covered.push_back({static_cast<std::uint32_t>(i), near,
                         near + static_cast<float>(random.uniform(0, 0.1)), 0});
    }
    detail::SolidTiles tiles;
    tiles.set(columns, rows, covered);
    for (std::size_t i = 0; i < kBoxes / 20; ++i) {
      const Vec3f middle =
          to_float(random.in_box({-3, -3, -0.2}, {columns + 3.0, rows + 3.0, 1.2}));
      const double size = std::pow(2, random.uniform(-5, 4));
      const Vec3f half = to_float(random.in_box({0, 0, 0}, {size, size, 0.1}));
      const Vec3f lower = middle - half, upper = middle + half;
      bool meets = false;
      for (const detail::CoveredTile& tile : covered) {
        const auto x = static_cast<float>(static_cast<int>(tile.number) % columns);
        const auto y = static_cast<float>(static_cast<int>(tile.number) / columns);
        meets = meets || (lower.x <= x + 1 && upper.x >= x && lower.y <= y + 1 && upper.y >= y &&
                          lower.z <= tile.far && upper.z >= tile.near);
      }
      const bool may_meet = tiles.may_meet(lower, upper);
      EXPECT_TRUE(may_meet || !meets);
      met += meets ? 1U : 0U;
      told += may_meet ? 1U : 0U;
    }
  }
  EXPECT_GT(met, kBoxes / 8);
  EXPECT_LT(told, met + kBoxes / 4);
}

}  // namespace
}  // namespace isotact
