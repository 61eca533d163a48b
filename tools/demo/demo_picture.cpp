#include "demo_picture.h"

#include "isotact/base/trig.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact::tool {
namespace {

void scale(TriangleMesh& mesh, double factor) {
  for (Vec3f& p : mesh.positions) p *= static_cast<float>(factor);
}

// Stands on the ground at (x, z), turned about y.
RenderItem standing(TriangleMesh mesh, double factor, double x, double z, double turn_degrees,
                    const Vec3& colour) {
  scale(mesh, factor);
  const double lift = -static_cast<double>(bounds(mesh).lower.y);
  const Quat turn = rotation_about({0, 1, 0}, turn_degrees * kPi / 180);
  return {.mesh = std::move(mesh), .world_from_mesh = {turn, {x, lift, z}}, .colour = colour};
}

void add_bolt_and_nut(std::vector<RenderItem>& items, double factor, double x, double z) {
  const BoltShape bolt;
  const Vec3 steel{0.46, 0.49, 0.53}, brass{0.72, 0.48, 0.16};
  items.push_back(standing(make_bolt(bolt), factor, x, z, 0, steel));
  TriangleMesh nut = make_nut({});
  scale(nut, factor);
  Pose bolt_from = bolt_from_nut(bolt.pitch, 0.03);
  bolt_from.translation *= factor;
  items.push_back({.mesh = std::move(nut),
                   .world_from_mesh = items.back().world_from_mesh * bolt_from,
                   .colour = brass});
}

void add_gears(std::vector<RenderItem>& items, double factor, double x, double z) {
  const GearShape large{.teeth = 24}, small{.teeth = 13};
  const Vec3 grey{0.38, 0.41, 0.46}, blue{0.16, 0.33, 0.55};
  items.push_back(standing(make_gear(large), factor, x, z, 0, grey));
  // The small one lies towards +x of the large one, its teeth in the gaps.
  const double apart = gear_center_distance(large.module, large.teeth, small.teeth) * factor;
  const double turn = gear_mesh_angle(large.teeth, small.teeth, 0) * 180 / kPi;
  items.push_back(standing(make_gear(small), factor, x + apart, z, turn, blue));
}

}  // namespace

std::vector<RenderItem> demo_still_life(bool coarse) {
  const Vec3 clay{0.66, 0.40, 0.27}, cream{0.76, 0.70, 0.58}, green{0.24, 0.42, 0.27},
      red{0.62, 0.15, 0.11}, white{0.74, 0.75, 0.77};
  BlobShape blob;
  ShipShape ship;
  if (coarse) blob.triangles = ship.triangles = 4000;
  std::vector<RenderItem> items;
  items.push_back(standing(make_blob(blob), 3.6, -0.60, -0.05, 20, cream));
  add_bolt_and_nut(items, 10, -0.04, -0.22);
  add_gears(items, 3.4, -0.02, 0.36);
  items.push_back(standing(make_knot({}), 0.62, 0.62, -0.30, 25, red));
  items.push_back(standing(make_bowl({}), 2.1, -0.66, 0.46, 0, clay));
  items.push_back(standing(make_ship(ship), 0.72, 0.92, 0.36, 30, white));
  items.push_back(standing(make_link({}), 4.4, 0.30, -0.62, -30, green));
  return items;
}

}  // namespace isotact::tool
