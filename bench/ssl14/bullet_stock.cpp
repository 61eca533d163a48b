#include <cmath>
#include <system_error>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

#include "bullet_report.h"
#include "xb14/vertex_shell.h"

namespace isotact::bench {
namespace {

// SSL14 4.2.2, kg m^2.
constexpr double kPaperMoments = (4.79e-3 + 4.46e-3 + 6.38e-3) / 3;
constexpr int kCells = 256;

// The meshes are of one frame, before and after.
void place(Bunny& bunny) {
  const MassProperties mass = compute_mass_properties(bunny.closed, {.mass = kBunnyMass});
  const Vec3 m = mass.principal_moments;
  const double scale = std::sqrt(kPaperMoments / ((m.x + m.y + m.z) / 3));
  const Pose body_from_mesh = inverse(Pose{mass.mesh_from_principal, mass.center});
  for (TriangleMesh* mesh : {&bunny.closed, &bunny.scan, &bunny.coarse})
    for (Vec3f& p : mesh->positions)
      p = to_float(transform_point(body_from_mesh, to_double(p)) * scale);
  bunny.inertia = to_bullet(m * (scale * scale));
}

}  // namespace

void judge(Report& report, const std::string& part, bool is_met, const std::string& what) {
  report.aim(is_met, what);
  report.json[part]["verdicts"].push_back({{"met", is_met}, {"what", what}});
}

const Bunny& Stock::bunny() {
  if (bunny_) return *bunny_;
  Bunny bunny{.name = has_data() ? "bunny" : "blob",
              .closed = read_data_mesh("01_stanford/bunny_closed.obj"),
              .scan = read_data_mesh("01_stanford/bunny_full_35947.ply"),
              .coarse = read_data_mesh("01_stanford/bun_zipper_res3.ply")};
  place(bunny);
  return bunny_.emplace(std::move(bunny));
}

const BrickField& Stock::bunny_field() {
  if (!field_) field_ = build_field(bunny().closed, {.resolution = kCells}).field;
  return *field_;
}

const PointSphereTree& Stock::bunny_vertices() {
  if (vertices_) return *vertices_;
  PointShell shell = take_vertices(bunny().scan);
  add_unused_vertices(bunny().scan, shell);
  return vertices_.emplace(build_point_sphere_tree(shell));
}

PointSphereTree Stock::bunny_points(std::uint32_t count, int cluster_size) {
  return build_point_sphere_tree(
      sample_by_repulsion(bunny().closed, {.common = {.sample_edges = false}, .count = count}),
      {.cluster_size = cluster_size});
}

const OwnedShape& Stock::gimpact(double margin) {
  auto& shape = margin == kGImpactMargin ? gimpact_ : thin_gimpact_;
  if (!shape) shape = make_gimpact(bunny().scan, margin);
  return *shape;
}
const OwnedShape& Stock::hulls_12() {
  if (!hulls_12_) hulls_12_ = make_hulls(bunny().coarse, {.hulls = 12});
  return *hulls_12_;
}
const OwnedShape& Stock::hulls_8() {
  if (!hulls_8_) hulls_8_ = make_hulls(bunny().coarse, {.hulls = 8});
  return *hulls_8_;
}
const OwnedShape& Stock::one_hull() {
  if (!one_hull_) one_hull_ = make_one_hull(bunny().coarse);
  return *one_hull_;
}

OwnedShape make_ours(std::string name, const PointSphereTree& tree, const BrickField& field,
                     const BulletShapeSettings& settings) {
  return own(std::move(name), cook_bullet_shape(Shape::from_parts(field, tree), settings));
}

}  // namespace isotact::bench
