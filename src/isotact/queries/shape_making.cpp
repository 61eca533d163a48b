#include <algorithm>
#include <cmath>
#include <numbers>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/field/surface/surface.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/detail/shape_data.h"
#include "isotact/queries/swept/detail/nearest_point.h"

namespace isotact::detail {
namespace {

constexpr double kSpacing = 2;                        // cells
constexpr double kHalfDiagonal = 0.8660254037844387;  // of a cube of side 1

// ---- fields
// --------------------------------------------------------------------------------------

double size_of(const Interval& error) {
  const double most = std::max(std::abs(error.lower), std::abs(error.upper));
  return std::isfinite(most) ? most : 0;
}

// Between its nodes an interpolant of distances differs from the distance by half a diagonal of a
// cell at most, since both change no faster than space; that of first order by half as much again.
BrickField bake(const DenseGrid& grid, Threads threads) {
  const double h = grid.lattice().spacing;
  return bake_field(AnyField{grid},
                    {.lattice = make_brick_lattice(grid.bounds(), h),
                     .sample_error = kHalfDiagonal * h + size_of(grid.parts().sample_error),
                     .threads = threads})
      .field;
}
BrickField bake(const FirstOrderField& field, Threads threads) {
  const double h = field.lattice().spacing;
  return bake_field(AnyField{field},
                    {.lattice = make_brick_lattice(field.bounds(), h),
                     .sample_error = 1.5 * kHalfDiagonal * h + field.header().near_error,
                     .threads = threads})
      .field;
}

// On nodes that are centres of voxels, so that nothing is interpolated. Distances by SSL14's walk
// have no bound; next to the surface they are good to a voxel's diagonal.
BrickField bake(const Voxmap& map, Threads threads) {
  constexpr std::int32_t kAround = 8;  // cells, on each side
  const DenseGrid grid = to_dense_grid(map, threads);
  Lattice lattice = grid.lattice();
  const double before = kAround * lattice.spacing;
  lattice.origin -= Vec3{before, before, before};
  for (std::int32_t& n : lattice.cells) n = (n + 2 * kAround + 7) / 8 * 8;
  const Interval error = grid.parts().sample_error;
  const bool known = std::isfinite(error.upper);
  return bake_field(AnyField{grid},
                    {.lattice = lattice,
                     .sample_error = known ? size_of(error) : 2 * kHalfDiagonal * lattice.spacing,
                     .threads = threads})
      .field;
}

BrickField bake(const AnalyticSolid& solid, const FieldSettings& settings) {
  constexpr int kResolution = 128;
  const Aabb& body = solid.body();
  const Vec3 side = extent(body);
  const double longest = std::max({side.x, side.y, side.z});
  const double cells = settings.resolution.value_or(kResolution) - 2 * settings.padding;
  if (!settings.voxel_size && !(cells >= 1))
    throw Error("the resolution leaves no cells for the solid after padding on each side");
  const double cell = settings.voxel_size.value_or(longest / cells);
  return bake_field(solid.field(), {.lattice = make_brick_lattice(body, cell, settings.padding),
                                    .max_memory = settings.max_memory,
                                    .threads = settings.threads})
      .field;
}

// ---- meshes of solids
// ----------------------------------------------------------------------------

// Around a circle, so that chords are half as long as the spacing.
int segments_of(double radius, double spacing) {
  return static_cast<int>(
      std::clamp(std::ceil(4 * std::numbers::pi * radius / spacing), 24., 720.));
}

void move_to(TriangleMesh& mesh, const Pose& pose) {
  for (Vec3f& p : mesh.positions) p = to_float(transform_point(pose, to_double(p)));
}

TriangleMesh mesh_of(const SphereField& f, double spacing) {
  const double frequency = std::clamp(std::ceil(2.2 * f.radius / spacing), 4., 256.);
  TriangleMesh mesh = make_sphere({.radius = f.radius, .frequency = static_cast<int>(frequency)});
  move_to(mesh, {.translation = f.center});
  return mesh;
}
TriangleMesh mesh_of(const BoxField& f, double) {
  const Vec3 size = f.half_size * 2;
  TriangleMesh mesh = make_box({.size_x = size.x, .size_y = size.y, .size_z = size.z});
  move_to(mesh, {.translation = f.center});
  return mesh;
}
TriangleMesh mesh_of(const CapsuleField& f, double spacing) {
  const double l = length(f.b - f.a);
  const Vec3 middle = (f.a + f.b) * 0.5;
  if (l == 0) return mesh_of(SphereField{middle, f.radius}, spacing);
  TriangleMesh mesh =
      make_capsule({.radius = f.radius, .length = l, .segments = segments_of(f.radius, spacing)});
  // Turns y onto the axis, whichever of its two directions is nearer.
  Vec3 axis = (f.b - f.a) / l;
  if (axis.y < 0) axis = -axis;
  const Vec3 turn = cross(Vec3{0, 1, 0}, axis);
  move_to(mesh, {normalized(Quat{1 + axis.y, turn.x, turn.y, turn.z}), middle});
  return mesh;
}
TriangleMesh mesh_of(const CylinderField& f, double spacing) {
  TriangleMesh mesh = make_cylinder(
      {.radius = f.radius, .height = f.height, .segments = segments_of(f.radius, spacing)});
  move_to(mesh, {.translation = f.center});
  return mesh;
}
TriangleMesh mesh_of(const ConeField& f, double spacing) {
  const auto n = static_cast<std::uint32_t>(segments_of(f.radius, spacing));
  const Vec3 base = f.center - Vec3{0, f.height / 2, 0}, apex = f.center + Vec3{0, f.height / 2, 0};
  TriangleMesh mesh{.positions = {to_float(base), to_float(apex)}, .triangles = {}};
  for (std::uint32_t i = 0; i < n; ++i) {
    const SinCos turn = sin_cos(2 * std::numbers::pi * i / n);
    mesh.positions.push_back(to_float(base + f.radius * Vec3{turn.cos, 0, turn.sin}));
    const std::uint32_t here = 2 + i, next = 2 + (i + 1) % n;
    mesh.triangles.push_back({0, here, next});
    mesh.triangles.push_back({1, next, here});
  }
  return mesh;
}
TriangleMesh mesh_of(const TorusField& f, double spacing) {
  TriangleMesh mesh = make_torus({.radius = f.radius,
                                  .tube_radius = f.tube_radius,
                                  .segments = segments_of(f.radius + f.tube_radius, spacing),
                                  .tube_segments = segments_of(f.tube_radius, spacing)});
  move_to(mesh, {.translation = f.center});
  return mesh;
}

TriangleMesh march(const AnalyticSolid& solid, double spacing, Threads threads) {
  const double cell = spacing / 2;
  // Off the nodes: faces of boxes often lie at round numbers.
  const Vec3 around = Vec3{2.137, 2.171, 2.193} * cell;
  Lattice lattice{.origin = solid.body().lower - around, .spacing = cell};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] =
        static_cast<std::int32_t>(std::ceil(extent(solid.body())[axis] / cell)) + 5;
  TriangleMesh mesh = extract_surface(solid, lattice, {.threads = threads});
  if (mesh.triangles.empty())
    throw Error(
        "the solid has no part as thick as the distance of its points: choose a smaller "
        "ShapeSettings::spacing");
  return mesh;
}

// ---- points of solids
// ----------------------------------------------------------------------------

// Onto the formula's surface. Next to edges of combinations steps may go back and forth: the best
// place counts.
Vec3 project(const AnalyticSolid& solid, const Vec3& from, double enough) {
  Vec3 x = from, best = from;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 8 && least > enough; ++i) {
    const FieldSample s = solid.sample(x);
    if (std::abs(s.distance) < least) least = std::abs(s.distance), best = x;
    x = x - normalized(s.gradient) * s.distance;
  }
  return best;
}

// Places and, where the surface is smooth, normals from the formula. On edges the mesh's normals
// are means of both sides.
void fit_to(const AnalyticSolid& solid, double size, PointShell& shell) {
  constexpr double kSmooth = 0.94;  // cosine
  for (std::size_t i = 0; i < shell.points.size(); ++i) {
    const Vec3 x = project(solid, to_double(shell.points[i]), 1e-9 * size);
    shell.points[i] = to_float(x);
    const Vec3 normal = normalized(solid.sample(x).gradient);
    if (dot(normal, to_double(shell.normals[i])) > kSmooth) shell.normals[i] = to_float(normal);
  }
}

// No point of the solid's surface is further from the points of the tree than the result.
//
// Branch and bound over boxes that may hold a part of the surface, by the formula's range: no point
// of a box is further from the tree than its middle is, and half the diagonal. Boxes are dropped
// where that is no more than kSlack times the largest distance found so far, which is at least
// `least`. Where a formula is zero inside of a body (parts of a union that share a face), boxes
// stay as small as they get without an outside: those have no surface.
double find_covering_radius(const AnalyticSolid& solid, const PointSphereTree& tree, double least) {
  constexpr double kSlack = 1.1, kSmallest = 0.02;
  NearestOnShell nearest(tree);
  double largest = least;
  std::vector<Aabb> left{solid.body()};
  const auto has_outside = [&](const Aabb& box) {
    for (int i = 0; i < 27; ++i) {
      const Vec3 part{i % 3 * 0.5, i / 3 % 3 * 0.5, i / 9 * 0.5};
      const Vec3 e = extent(box);
      if (solid.value(box.lower + Vec3{part.x * e.x, part.y * e.y, part.z * e.z}) > 0) return true;
    }
    return false;
  };
  while (!left.empty()) {
    const Aabb box = left.back();
    left.pop_back();
    const Interval range = solid.range(box);
    if (range.lower > 0 || range.upper <= 0) continue;
    const Vec3 middle = center(box), size = extent(box);
    const double half = length(size) / 2, away = nearest.distance(middle);
    if (away + half <= kSlack * largest) continue;
    if (half <= kSmallest * least) {
      if (has_outside(box)) largest = std::max(largest, (away + half) / kSlack);
      continue;
    }
    const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    Aabb lower = box, upper = box;
    lower.upper[axis] = upper.lower[axis] = middle[axis];
    left.push_back(lower);
    left.push_back(upper);
  }
  return kSlack * largest;
}

RepulsionShellSettings sampling_of(const ShapeSettings& settings, double spacing,
                                   const Monitor& monitor) {
  const FieldSettings& f = settings.field;
  RepulsionShellSettings sampling{
      .common = {.max_memory = f.max_memory, .threads = f.threads, .monitor = monitor},
      .count = settings.points,
      .spacing = settings.spacing};
  if (settings.points == 0 && settings.spacing == 0) sampling.spacing = spacing;
  return sampling;
}

PointSphereTreeSettings tree_settings_of(const ShapeSettings& settings) {
  PointSphereTreeSettings tree = settings.tree;
  tree.threads = settings.field.threads;
  return tree;
}

// Metres between points. By default it is fine enough for the longest side and for the smallest
// part, but makes no more than about 20,000 points.
double spacing_of(const AnalyticSolid& solid, const ShapeSettings& settings) {
  if (settings.spacing > 0) return settings.spacing;
  const Vec3 side = extent(solid.body());
  const double longest = std::max({side.x, side.y, side.z});
  const double area = 2 * half_area(solid.body());
  const double fine = std::min(longest / 40, solid.detail() / 2);
  return std::max(fine, std::sqrt(area / 17000));
}

TriangleMesh make_solid_mesh(const AnalyticSolid& solid, double spacing, Threads threads) {
  return std::visit(
      [&](const auto& f) {
        if constexpr (requires { mesh_of(f, spacing); })
          return mesh_of(f, spacing);
        else
          return march(solid, spacing, threads);
      },
      solid.primitive());
}

// Points on the formula's surface. The covering radius is proved for that surface, not for a mesh.
PointSphereTree sample_solid(const AnalyticSolid& solid, const ShapeSettings& settings) {
  const double spacing = spacing_of(solid, settings);
  const TriangleMesh mesh = make_solid_mesh(solid, spacing, settings.field.threads);
  PointShell shell = sample_by_repulsion(mesh, sampling_of(settings, spacing, {}));
  fit_to(solid, length(extent(solid.body())), shell);
  const PointSphereTree tree = build_point_sphere_tree(shell, tree_settings_of(settings));
  shell.covering_radius = find_covering_radius(solid, tree, shell.covering_radius);
  return build_point_sphere_tree(shell, tree_settings_of(settings));
}

}  // namespace

BrickField make_bricks(const ShapeParts& parts, const ShapeSettings& settings) {
  const FieldSettings& f = settings.field;
  if (parts.solid) return bake(*parts.solid, f);
  if (parts.dense) return bake(*parts.dense, f.threads);
  if (parts.first_order) return bake(*parts.first_order, f.threads);
  return bake(*parts.voxmap, f.threads);
}

FieldResult build_from_mesh(const Shape& shape, const ShapeSettings& settings) {
  return build_field(shape.surface(), settings.field);
}

TriangleMesh make_surface(const Shape& shape, const ShapeSettings& settings) {
  const Threads threads = settings.field.threads;
  if (shape.parts().flat_mesh) return shape.parts().flat_mesh->mesh();
  if (const auto& solid = shape.solid())
    return make_solid_mesh(*solid, spacing_of(*solid, {}), threads);
  return extract_surface(shape.brick_field(), {.threads = threads});
}

PointSphereTree make_points(const Shape& shape, const ShapeSettings& settings) {
  if (shape.solid()) return sample_solid(*shape.solid(), settings);
  const BrickField& field = shape.brick_field();
  // Without what was left out as broken, as from_mesh has it.
  if (const FieldResult* built = ShapeAccess::data(shape).built.find())
    return sample_mesh(built->surface->mesh, field.voxel_size(), settings, {});
  // Points of a shell lie on the shell, not on the triangles in it.
  if (has_mesh(shape.parts()) && field.header().shell_offset == 0) {
    const FieldSettings& f = settings.field;
    const Surface surface = prepare_surface(shape.surface(), {.sign = f.sign,
                                                              .nested = f.nested,
                                                              .voxel_size = field.voxel_size(),
                                                              .threads = f.threads});
    return sample_mesh(surface.mesh, field.voxel_size(), settings, {});
  }
  const TriangleMesh mesh = extract_surface(field, {.threads = settings.field.threads});
  if (mesh.triangles.empty()) throw Error("the field has no surface: nothing can touch its body");
  return sample_mesh(mesh, field.voxel_size(), settings, {});
}

// An open or wrongly turned mesh has no inertia to speak of; its field's surface is closed.
MassProperties make_mass(const Shape& shape, const ShapeSettings& settings) {
  const MassSettings of{.density = 1, .threads = settings.field.threads};
  const bool has_mesh = shape.parts().mesh || shape.parts().flat_mesh;
  if (has_mesh && !shape.parts().mass) {
    MassProperties mass = compute_mass_properties(shape.surface(), of);
    if (mass.status == MassStatus::kSolid || !shape.can_have_field()) return mass;
  }
  if (has_mesh || shape.parts().mass)
    return compute_mass_properties(extract_surface(shape.brick_field(), {.threads = of.threads}),
                                   of);
  return compute_mass_properties(shape.surface(), of);
}

PointSphereTree sample_mesh(const TriangleMesh& mesh, double voxel_size,
                            const ShapeSettings& settings, const Monitor& monitor) {
  return build_point_sphere_tree(
      sample_by_repulsion(mesh, sampling_of(settings, kSpacing * voxel_size, monitor)),
      tree_settings_of(settings));
}

}  // namespace isotact::detail
