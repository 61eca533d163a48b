// A gear and a cup fall on the ground and come to rest; events tell who touches whom.
#include <cstdio>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

using namespace isotact;

namespace {

BodySettings make_part(const char* name, const TriangleMesh& mesh, const Pose& pose) {
  return {.name = name,
          .shape = Shape::from_mesh(mesh, {.field = {.resolution = 64}, .points = 800}),
          .mass = make_body_mass(compute_mass_properties(mesh), 7800),
          .pose = pose};
}

}  // namespace

int main() {
  World world({.step = 2e-3, .sleep_speed = 0.01});
  world.add_body(
      {.name = "ground", .kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  world.add_body(make_part("gear", make_shape("gear"), {.translation = {0, 0.1, 0}}));
  world.add_body(make_part(
      "cup", make_shape("bowl", {{"radius", 0.05}, {"thickness", 0.01}, {"foot_radius", 0.02}}),
      {rotation_about({1, 0, 0}, 2), {0.01, 0.3, 0}}));
  while (world.time() < 5 && world.report().asleep < 2 && !world.trouble()) {
    world.step();
    for (const PairContact& c : world.contacts())
      if (c.phase == ContactPhase::kBegin)
        std::printf("%.3f s: %s meets %s\n", world.time(),
                    world.body_settings(c.pair.b).name.c_str(),
                    world.body_settings(c.pair.a).name.c_str());
  }
  for (BodyId id = 1; id < world.body_count(); ++id) {
    const Vec3 at = world.body(id).state.center;
    std::printf("%s rests at %.3f, %.3f, %.3f m\n", world.body_settings(id).name.c_str(), at.x,
                at.y, at.z);
  }
  return world.report().asleep == 2 ? 0 : 1;
}
