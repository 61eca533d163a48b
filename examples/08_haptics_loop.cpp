// A haptics loop of 1 kHz: a hand (recorded, in scenes/haptics/peg_in_hole.csv) brings a peg to a
// hole. The peg follows the hand on a spring, the block stops it, and the spring is what the hand
// would feel. Each query has half a millisecond and answers with the best that it found.
#include <chrono>
#include <cstdio>
#include <thread>

#include "isotact/dynamics/haptics/tool_path.h"
#include "isotact/dynamics/haptics/virtual_coupling.h"
#include "isotact/field/models/csg.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/shape.h"

using namespace isotact;
using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: example_08_haptics_loop PATH.csv\n");
    return 2;
  }
  const ToolPath hand = read_tool_path(argv[1]);
  TriangleMesh mesh = make_cylinder({.radius = 0.004, .height = 0.03});  // its end at the origin
  for (Vec3f& p : mesh.positions) p.y += 0.015F;
  const Shape peg = Shape::from_mesh(mesh, {.points = 2000});
  const Shape block =
      Shape::from_field(AnyField{Difference{BoxField{{0, -0.0125, 0}, {0.015, 0.0125, 0.015}},
                                            CylinderField{{0, 0, 0}, 0.0041, 0.04}}},
                        {{-0.017, -0.027, -0.017}, {0.017, 0.002, 0.017}}, 0.0004);

  RigidBody tool{.mass = make_body_mass(compute_mass_properties(mesh), 8000)};
  Pose device = pose_at(hand, hand.start());
  set_pose(tool, device);
  const CouplingSettings coupling{.max_force = 15, .max_torque = 0.5};
  const CollideRequest request{
      .max_microseconds = 500, .want_force = true, .force = {.stiffness = 2e9}};
  CollideScratch scratch;
  collide(peg, device, block, {}, request, scratch);  // prepares: from here on nothing is allocated

  constexpr double kStep = 1e-3;  // seconds
  int histogram[12] = {}, steps = 0, touching = 0;
  double strongest = 0, deepest = 0;
  auto tick = Clock::now();
  for (double time = 0; time < hand.duration(); time += kStep, ++steps) {
    std::this_thread::sleep_until(tick += std::chrono::milliseconds(1));
    const auto start = Clock::now();
    const CollideResult& touch = collide(peg, world_from_body(tool), block, {}, request, scratch);
    const std::chrono::duration<double, std::micro> taken = Clock::now() - start;

    const Pose before = device;
    device = pose_at(hand, hand.start() + time + kStep);
    const ToolContact contact = make_tool_contact(touch, tool, request.force);
    const Load felt = step_tool(tool, {before, device}, contact, coupling, kStep);

    int bin = 0;
    for (double edge = 1; taken.count() >= edge && bin < 11; edge *= 2) ++bin;
    ++histogram[bin];
    if (touch.status == CollideStatus::kContact) ++touching;
    if (length(felt.force) > strongest) strongest = length(felt.force);
    if (touch.distance < deepest) deepest = touch.distance;
  }
  std::printf("%d steps, %d in contact; at most %.2f N and %.3f mm deep\n", steps, touching,
              strongest, -1000 * deepest);
  for (int i = 0; i < 12; ++i)
    if (histogram[i] > 0) std::printf("  below %4d us: %5d queries\n", 1 << i, histogram[i]);
  return touching > 0 && -deepest < 0.001 ? 0 : 1;
}
