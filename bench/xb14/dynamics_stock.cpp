#include <algorithm>
#include <system_error>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics_report.h"
#include "vertex_shell.h"

namespace isotact::bench {
namespace {

constexpr double kSize = 0.2;        // metres
constexpr double kDensity = 1000;    // kg/m^3
constexpr int kStabilityCells = 64;  // along the longest side

// To the size, standing on the ground, its middle on the y axis.
void place(TriangleMesh& mesh, const Aabbf& box) {
  const Vec3f e = extent(box), c = center(box);
  const auto scale = static_cast<float>(kSize / static_cast<double>(std::max({e.x, e.y, e.z})));
  for (Vec3f& p : mesh.positions) p = (p - Vec3f{c.x, box.lower.y, c.z}) * scale;
}

DropBody finish(DropBody body, const PointShell& shell, int resolution) {
  body.shape =
      Shape::from_parts(build_field(body.mesh, {.resolution = resolution, .threads = {1}}).field,
                        build_point_sphere_tree(shell));
  body.mass = make_body_mass(compute_mass_properties(body.mesh), kDensity);
  for (const float area : body.tree().areas()) body.area += static_cast<double>(area);
  return body;
}

PointShell repel(const TriangleMesh& mesh, std::uint32_t count) {
  return sample_by_repulsion(mesh, {.common = {.sample_edges = false}, .count = count});
}

struct Source {
  const char* name;
  const char* file;        // of the body
  const char* scan;        // whose vertices are the points, those of no triangle included; or none
  std::uint32_t repelled;  // points by repulsion; 0: vertices
};

Source source_of(DropModel model) {
  switch (model) {
    case DropModel::kBunnySmall:
      return {"bunny", "01_stanford/bunny_closed.obj", nullptr, 777};
    case DropModel::kBunny:
      return {"bunny", "01_stanford/bunny_closed.obj", "01_stanford/bunny_full_35947.ply", 0};
    case DropModel::kBowl:
      return {"bowl", "02_classic/bowl_blendertoolbox.obj", nullptr, 2072};
    case DropModel::kDragon:
      break;
  }
  return {"dragon", "01_stanford/dragon_vrip_binLE.ply", nullptr, 0};
}

DropBody make_from_data(const Source& source, int resolution) {
  DropBody body{.name = source.name};
  body.mesh = read_data_mesh(source.file);
  const Aabbf box = bounds(body.mesh);
  place(body.mesh, box);
  if (source.repelled > 0) {
    body.how = "repulsion";
    return finish(body, repel(body.mesh, source.repelled), resolution);
  }
  if (source.scan == nullptr) {
    body.how = "vertices";
    return finish(body, take_vertices(body.mesh), resolution);
  }
  body.how = "vertices of the scan";
  TriangleMesh scan = read_data_mesh(source.scan);
  place(scan, box);
  PointShell shell = take_vertices(scan);
  add_unused_vertices(scan, shell);
  return finish(body, shell, resolution);
}

DropBody make_stand_in(DropModel model, int resolution) {
  const Source source = source_of(model);
  DropBody body{.name = std::string(source.name) + "-like"};
  body.mesh = model == DropModel::kBunnySmall ? make_blob({.triangles = 8000})
                                              : read_data_mesh(source.file);
  place(body.mesh, bounds(body.mesh));
  body.how = source.repelled > 0 ? "repulsion" : "vertices";
  return finish(body,
                source.repelled > 0 ? repel(body.mesh, source.repelled) : take_vertices(body.mesh),
                resolution);
}

}  // namespace

DropBody make_drop_body(DropModel model, const Options& options) {
  return has_data() ? make_from_data(source_of(model), options.resolution())
                    : make_stand_in(model, options.resolution());
}

DropBody make_small_drop_body(DropModel model) {
  return has_data() ? make_from_data(source_of(model), kStabilityCells)
                    : make_stand_in(model, kStabilityCells);
}

DropBody make_blob_body(std::uint32_t points) {
  DropBody body{.name = "blob", .how = "repulsion"};
  body.mesh = make_blob({.triangles = 8000});
  return finish(body, repel(body.mesh, points), kStabilityCells);
}

DropBody make_box_body() {
  DropBody body{.name = "box", .how = "repulsion"};
  body.mesh = make_box({.size_x = 0.2, .size_y = 0.1, .size_z = 0.15, .segments = 4});
  place(body.mesh, bounds(body.mesh));
  return finish(body, repel(body.mesh, 600), kStabilityCells);
}

WorldSettings make_paper_world(double step, ContactRule contact, ForceLaw law) {
  WorldSettings settings{.step = step,
                         .contact = contact,
                         .solve = ForceSolve::kExplicit,
                         .impacts = ImpactRule::kOff,
                         .energy_factor = 1e12,
                         .threads = {1}};
  if (law == ForceLaw::kOurs) return settings;
  settings.forces.direction = ForceDirection::kPoint;
  settings.forces.damping = DampingRule::kFull;
  settings.forces.quadrature = Quadrature::kMidpoint;
  settings.turns = TurnRule::kEuler;
  return settings;
}

}  // namespace isotact::bench
