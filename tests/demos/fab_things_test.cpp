// The things of FAB's scenes, on the pipeline: found where they are, and drawn in colour.
#include <gtest/gtest.h>

#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/core/context.h"

#include "fire.h"
#include "painter.h"
#include "things.h"

namespace isotact::demo {
namespace {

class FabThings : public testing::Test {
 protected:
  static const GpuContext& gpu() {
    static const GpuContext context = GpuContext::create();
    return context;
  }
  void SetUp() override { gpu().make_current(); }

  // Which of the drawables a box meets.
  std::vector<std::uint32_t> find_ids(const Vec3& center, const Vec3& half_size,
                                      std::span<const GpuDrawable> around) {
    const TriangleMesh mesh =
        make_box({.size_x = 2 * half_size.x, .size_y = 2 * half_size.y, .size_z = 2 * half_size.z});
    MeshThing box(mesh, {});
    GpuDepthDetector detector(gpu(), {.width = 96, .height = 96});
    detector.draw_map(0, {box.drawable(0, true)},
                      make_depth_view(to_double(bounds(mesh)), {1, 0, 0}));
    return detector.detect({{}, center}, GpuDepthScene{around}).ids;
  }
};

using Ids = std::vector<std::uint32_t>;

TEST_F(FabThings, AreFoundWhereTheyAre) {
  const CityPlaces places = find_city_places();
  FlagThing flag(places.flag_pole, places.flag_width, places.flag_height);
  PlantsThing plants(places);
  FireworkThing firework(places);
  firework.update(1.3F);
  const std::vector<GpuDrawable> around = {flag.drawable(1), plants.drawable(2),
                                           firework.drawable(3)};
  const Vec3 middle = places.flag_pole + Vec3{0, -3, 4.5};
  EXPECT_EQ(find_ids(middle, {2, 1, 1}, around), Ids{1});
  EXPECT_EQ(find_ids(middle + Vec3{4, 0, 0}, {2, 1, 1}, around), Ids{});
  EXPECT_EQ(find_ids(places.meadow + Vec3{0, 1, 0}, {2, 0.5, 2}, around), Ids{2});
  EXPECT_EQ(find_ids(places.meadow + Vec3{0, 5, 0}, {2, 0.5, 2}, around), Ids{});
  EXPECT_EQ(find_ids(places.firework, {12, 8, 8}, around), Ids{3});
  EXPECT_EQ(find_ids(places.firework + Vec3{0, 60, 0}, {12, 8, 8}, around), Ids{});
}

TEST_F(FabThings, TheFlagMoves) {
  const CityPlaces places = find_city_places();
  FlagThing flag(places.flag_pole, places.flag_width, places.flag_height);
  const std::vector<GpuDrawable> around = {flag.drawable(1)};
  // A place that the outer part of the flag passes now and then.
  int met = 0;
  for (int i = 0; i < 12; ++i) {
    flag.seconds = 0.15F * static_cast<float>(i);
    const Vec3 place = places.flag_pole + Vec3{0.7, -3, 7.5};
    met += find_ids(place, {0.2, 0.2, 0.2}, around).empty() ? 0 : 1;
  }
  EXPECT_GT(met, 0);
  EXPECT_LT(met, 12);
}

TEST_F(FabThings, ElementsMoveAndHaveTheirIds) {
  const FabScene city = make_city();
  MeshThing solid(city.elements);
  std::vector<GpuDrawable> around;
  for (std::size_t i = 0; i < 6; ++i)
    around.push_back(solid.element_drawable(i, city.elements[i].id));
  for (const int frame : {0, 200}) {
    const Pose pose = compute_airship_pose(frame);
    solid.move(kAirshipId - 1, pose);
    EXPECT_EQ(find_ids(pose.translation, {6, 6, 6}, around), Ids{kAirshipId}) << frame;
  }
  EXPECT_EQ(find_ids({48, 7, 0}, {1, 1, 1}, around), Ids{4});
}

TEST_F(FabThings, PicturesShowThings) {
  MeshThing ball(make_sphere({.radius = 1, .frequency = 12}), {0.8F, 0.02F, 0.02F});
  Painter painter(40, 30, 2);
  Light light;
  light.shadow_radius = 3;
  const std::vector<Thing*> things = {&ball};
  const Painting painting = painter.paint({.eye = {0, 0, 5}}, light, things);
  ASSERT_EQ(painting.pixels.size(), 1200U);
  const Vec3f middle = painting.pixels[15 * 40 + 20], corner = painting.pixels[0];
  EXPECT_GT(middle.x, 2 * middle.z);  // the ball
  EXPECT_LT(corner.x, corner.z);      // the sky
  // The sun comes from the upper right.
  EXPECT_GT(painting.pixels[10 * 40 + 23].x, 1.5F * painting.pixels[20 * 40 + 17].x);
}

TEST_F(FabThings, FireGoesAroundTheSkillet) {
  Fire fire(gpu(), 256, 4000);
  for (int i = 0; i < 120; ++i) fire.step();
  const ParticleCounts counts = fire.particles().read_counts();
  EXPECT_GT(counts.collisions, 3000U);
  EXPECT_GT(counts.born, 4000U);
  // None got into the pan through its bottom: what is right above it came around the rim.
  const Pose skillet_from_world = inverse(fire.skillet_pose());
  int above = 0, below = 0;
  for (const Particle& particle : fire.particles().read()) {
    const Vec3 p = transform_point(skillet_from_world, to_double(particle.position));
    if (p.x * p.x + p.z * p.z > 0.09 * 0.09) continue;
    above += p.y > 0.003 && p.y < 0.04 ? 1 : 0;
    below += p.y < 0 && p.y > -0.04 ? 1 : 0;
  }
  EXPECT_GT(below, 100);
  EXPECT_LT(above, below / 20);
}

}  // namespace
}  // namespace isotact::demo
