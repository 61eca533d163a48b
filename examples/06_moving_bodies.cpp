// Two moving bodies: a bar that turns a quarter and hits a ball on its way, though it touches it
// neither at the beginning nor at the end.
#include <cstdio>

#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/swept/closest_approach.h"

int main() {
  using namespace isotact;
  const Shape bar =
      Shape::from_mesh(make_shape("box", {{"size_x", 2}, {"size_y", 0.1}, {"size_z", 0.1}}));
  const Shape ball = Shape::from_field(AnyField{SphereField{.radius = 0.1}},
                                       {{-0.1, -0.1, -0.1}, {0.1, 0.1, 0.1}}, 0.005);
  const BodyMotion turn{.to = {.rotation = rotation_about({0, 0, 1}, kPi / 2)}};
  const BodyMotion rest = at_rest({.translation = {0.6, 0.6, 0}});

  for (const MotionModel model : {MotionModel::kStraight, MotionModel::kConstantRates}) {
    const ContinuousResult r =
        continuous_collide(bar, turn, ball, rest, {.model = model, .roles = Roles::kPointsOfA});
    std::printf("%-8s ", name(model).data());
    if (r.status == ContinuousStatus::kFree) {
      std::printf("misses the ball\n");  // straight paths cut the corner
      continue;
    }
    const Vec3& n = r.contact.normal;
    std::printf("hits it at %.3f of the way, normal (%.2f %.2f %.2f), unseen at most %.4f m\n",
                r.time_of_contact, n.x, n.y, n.z, r.blind_depth);
  }

  // How near did it come before?
  const ShellMotion early{.shell = {.to = {.rotation = rotation_about({0, 0, 1}, kPi / 8)}},
                          .field = rest,
                          .model = MotionModel::kConstantRates};
  const ApproachResult approach =
      find_closest_approach(*ball.field(), *bar.tree(), early, {.field_points = &*ball.tree()});
  std::printf("half of the way leaves %.3f m\n", approach.distance);
  return approach.distance > 0 ? 0 : 1;
}
