#include "shape_input.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/isosurface.h"
#include "isotact/pointshell/asset_section.h"

#include "asset_input.h"
#include "field_file.h"
#include "mesh_input.h"

namespace isotact::tool {
namespace {

ShapeSettings settings_of(const TriangleMesh& mesh, const ShapeInputOptions& options) {
  ShapeSettings settings;
  FieldSettings& f = settings.field;
  f.resolution = options.resolution;
  f.threads = options.threads;
  for (const SignMethod sign :
       {SignMethod::kPseudonormal, SignMethod::kWinding, SignMethod::kUnsigned})
    if (options.sign == name(sign)) f.sign = sign;
  for (const KeepThin keep :
       {KeepThin::kIgnore, KeepThin::kReport, KeepThin::kRefine, KeepThin::kOffset})
    if (options.keep_thin == name(keep)) f.keep_thin = keep;
  // So that distances up to the margin are distances: cells as large as without, and more of them.
  const Vec3f size = extent(bounds(mesh));
  const double longest = static_cast<double>(std::max({size.x, size.y, size.z}));
  if (options.margin > 0 && longest > 0) {
    const double cell = longest / (options.resolution - 2 * f.padding);
    f.resolution.reset();
    f.voxel_size = cell;
    f.padding += std::min(std::ceil(options.margin / cell), 1.5 * options.resolution);
  }
  settings.points = options.points;
  return settings;
}

Shape shape_of_field(const AssetField& field, std::optional<PointSphereTree> tree,
                     const ShapeInputOptions& options) {
  const double cell = field.lattice.spacing;
  const std::optional<BrickField> bricks =
      field.brick
          ? field.brick
          : bake_field(field.field, {.lattice = make_brick_lattice(field.field.bounds(), cell),
                                     .threads = options.threads})
                .field;
  if (tree) return Shape::from_parts(bricks, std::move(tree));
  RepulsionShellSettings sampling{.common = {.threads = options.threads}, .count = options.points};
  if (sampling.count == 0) sampling.spacing = 2 * cell;
  const TriangleMesh surface = extract_surface(*bricks, {.threads = options.threads});
  return Shape::from_parts(bricks, build_point_sphere_tree(sample_by_repulsion(surface, sampling),
                                                           {.threads = options.threads}));
}

// The least value on the sides of its box.
double box_distance(const BrickField& field) {
  const Index3 n = node_counts(field.coarse_lattice());
  float least = std::numeric_limits<float>::infinity();
  for (std::int32_t z = 0; z < n[2]; ++z)
    for (std::int32_t y = 0; y < n[1]; ++y)
      for (std::int32_t x = 0; x < n[0]; ++x) {
        const bool on_side =
            x == 0 || y == 0 || z == 0 || x == n[0] - 1 || y == n[1] - 1 || z == n[2] - 1;
        if (on_side) least = std::min(least, field.coarse_values()[flat_index(n, x, y, z)]);
      }
  return static_cast<double>(least);
}

constexpr std::size_t kMostDrawn = 250'000;  // a page draws them smoothly
constexpr std::int32_t kSurfaceCells = 112;  // along the longest side

TriangleMesh surface_of(const BrickField& field, Threads threads) {
  const Index3 n = field.lattice().cells;
  const int stride = std::max(1, std::max({n[0], n[1], n[2]}) / kSurfaceCells);
  return extract_surface(field, {.stride = stride, .threads = threads});
}

// Around the voxels that the surface touches, and all within.
TriangleMesh surface_of(const Voxmap& map, Threads threads) {
  const Index3 n = map.lattice().cells;
  const int stride = std::max(1, std::max({n[0], n[1], n[2]}) / kSurfaceCells);
  const double half = map.voxel_size() / 2;
  DenseGridParts parts{.lattice = {.origin = map.lattice().origin + Vec3{half, half, half},
                                   .spacing = map.voxel_size() * stride}};
  Index3& cells = parts.lattice.cells;
  for (std::size_t axis = 0; axis < 3; ++axis) cells[axis] = (n[axis] - 1) / stride;
  if (std::min({cells[0], cells[1], cells[2]}) < 1) return {};
  for (std::int32_t z = 0; z <= cells[2]; ++z)
    for (std::int32_t y = 0; y <= cells[1]; ++y)
      for (std::int32_t x = 0; x <= cells[0]; ++x)
        parts.samples.push_back(
            static_cast<float>(map.distance_of_voxel({x * stride, y * stride, z * stride})));
  const DenseGrid grid(std::move(parts), threads);
  return extract_surface(grid, grid.lattice(), {.iso = half, .threads = threads});
}

}  // namespace

LoadedShape load_shape(const std::string& file, const ShapeInputOptions& options) {
  const auto finish = [&](LoadedShape loaded) {
    const auto& field = loaded.shape.field();
    if (field && field->header().shell_offset > 0)
      loaded.warnings.push_back(
          fmt::format("the field is that of a shell, {:.3g} m thick on all sides of the surface",
                      static_cast<double>(field->header().shell_offset)));
    if (field && options.margin > box_distance(*field))
      loaded.warnings.push_back(fmt::format(
          "the margin of {:.3g} m is wider than the field's box, {:.3g} m off the body: outside of "
          "it "
          "distances are lower bounds, and contact may be told too soon; build with more --padding",
          options.margin, box_distance(*field)));
    if (options.keep_surface && field && loaded.surface.triangles.empty())
      loaded.surface = surface_of(*field, options.threads);
    if (const auto& map = loaded.shape.voxmap(); options.keep_surface && !field && map)
      loaded.surface = surface_of(*map, options.threads);
    print_warnings(file, loaded.warnings);
    return loaded;
  };
  if (is_asset(file)) {
    Asset asset = read_asset_input(file);
    const bool has_field = asset.field || asset.dense || asset.first_order;
    // Only where nothing else will do are its layers worth their memory.
    if (!has_field && !asset.voxmap) asset = read_asset(file);
    auto tree = find_point_sphere_tree(asset);
    std::vector<std::string> warnings;
    const Json sign = sign_report_of(asset);
    if (sign.is_object() && sign.contains("warnings") && sign["warnings"].is_array())
      for (const Json& warning : sign["warnings"])
        if (warning.is_string())
          warnings.push_back(without_control_codes(warning.get<std::string>()));
    if (!has_field && !asset.voxmap && !tree)
      throw Error({.file = file}, "has neither a field, a voxelmap nor points");
    if (!has_field) return finish({Shape::from_asset(asset), std::move(warnings)});
    return finish({shape_of_field(field_of(asset), std::move(tree), options), std::move(warnings)});
  }
  if (is_field_file(file)) return finish({shape_of_field(load_field(file), std::nullopt, options)});
  LoadedMesh loaded = read_input({file, options.unit});
  if (loaded.mesh.triangles.empty()) throw Error({.file = file}, "has no triangles");
  Shape shape = Shape::from_mesh(loaded.mesh, settings_of(loaded.mesh, options));
  std::vector<std::string> warnings = std::move(loaded.warnings);
  warnings.insert(warnings.end(), shape.warnings().begin(), shape.warnings().end());
  LoadedShape made{std::move(shape), std::move(warnings)};
  const bool can_be_drawn = loaded.mesh.triangles.size() <= kMostDrawn &&
                            std::all_of(loaded.mesh.positions.begin(), loaded.mesh.positions.end(),
                                        [](const Vec3f& p) { return is_finite(p); });
  if (options.keep_surface && can_be_drawn) made.surface = std::move(loaded.mesh);
  return finish(std::move(made));
}

}  // namespace isotact::tool
