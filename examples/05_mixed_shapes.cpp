// Fields of every kind add up: a gear from a mesh, drilled by an analytic cylinder, standing on a
// plane; then baked into bricks of its own.
#include <cstdio>

#include "isotact/field/build/bake.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/csg.h"
#include "isotact/geometry/primitives/primitives.h"

int main() {
  using namespace isotact;
  const BrickField gear = build_field(make_shape("gear", {}), {.resolution = 128}).field;
  const Difference drilled{gear, CylinderField{.radius = 0.03, .height = 2}};
  const Union scene{drilled, PlaneField{.normal = {0, 1, 0}, .offset = -0.05}};
  std::printf("in the drilled hole: %.3f m; under the ground: %.3f m\n", scene.value({0, 0, 0}),
              scene.value({0, -1, 0}));

  const Lattice lattice = make_brick_lattice(gear.bounds(), gear.voxel_size());
  const BakeResult baked = bake_field(AnyField{drilled}, {.lattice = lattice});
  std::printf("baked: %zu bricks\n", baked.field.bricks().size());
  const bool hollow = baked.field.value({0, 0, 0}) > 0 && scene.value({0, -1, 0}) < 0;
  return hollow ? 0 : 1;
}
