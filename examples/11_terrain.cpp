// Ground from a height map: a ball rolls down a slope into the hollow at its foot.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/terrain_field.h"
#include "isotact/geometry/primitives/primitives.h"

using namespace isotact;

namespace {

// Heights every 5 cm over 2 m * 2 m: a bowl, 25 cm deep.
TerrainField make_hollow() {
  TerrainHeights map{.origin_x = -1, .origin_z = -1, .spacing = 0.05, .cells_x = 40, .cells_z = 40};
  for (int z = 0; z <= map.cells_z; ++z)
    for (int x = 0; x <= map.cells_x; ++x) {
      const double px = map.origin_x + map.spacing * x, pz = map.origin_z + map.spacing * z;
      map.heights.push_back(static_cast<float>(0.25 * (px * px + pz * pz)));
    }
  return TerrainField(map);
}

}  // namespace

int main() {
  const TerrainField ground = make_hollow();
  const Interval bounds = ground.distance_bounds({0.5, 0.5, 0.5});
  std::printf("the ground at (0.5, 0.5) is %.3f m high; from 0.5 m it is %.3f to %.3f m away\n",
              ground.height(0.5, 0.5), bounds.lower, bounds.upper);

  World world({.step = 2e-3});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(ground)});
  const TriangleMesh ball = make_sphere({.radius = 0.1});
  const BodyId id = world.add_body(
      {.name = "ball",
       .shape = Shape::from_mesh(ball, {.field = {.resolution = 32}, .points = 1000}),
       .mass = make_body_mass(compute_mass_properties(ball), 1000),
       .pose = {.translation = {0.7, 0.3, 0}}});
  double lowest = 1;
  while (world.time() < 1.5 && !world.trouble()) {
    world.step();
    lowest = std::min(lowest, std::abs(world.body(id).state.center.x));
  }
  const Vec3 at = world.body(id).state.center;
  std::printf("after %.1f s the ball is at (%.3f, %.3f, %.3f), %.1f mm above the ground\n",
              world.time(), at.x, at.y, at.z, 1000 * (at.y - 0.1 - ground.height(at.x, at.z)));
  // It has rolled through the hollow, and neither sunk in nor left.
  const double gap = ground.value(at);
  return lowest < 0.02 && gap > 0.08 && gap < 0.12 && !world.trouble() ? 0 : 1;
}
