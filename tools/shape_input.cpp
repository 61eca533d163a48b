#include "shape_input.h"

#include "isotact/field/build/bake.h"
#include "isotact/pointshell/asset_section.h"

#include "asset_input.h"
#include "field_file.h"
#include "mesh_input.h"

namespace isotact::tool {
namespace {

ShapeSettings settings_of(const ShapeInputOptions& options) {
  ShapeSettings settings;
  settings.field.resolution = options.resolution;
  settings.field.threads = options.threads;
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

}  // namespace

Shape load_shape(const std::string& file, const ShapeInputOptions& options) {
  if (is_asset(file)) {
    const Asset asset = read_asset_input(file);
    auto tree = find_point_sphere_tree(asset);
    if (!asset.field && !asset.dense && !asset.first_order)
      return Shape::from_parts(std::nullopt, std::move(tree));
    return shape_of_field(field_of(asset), std::move(tree), options);
  }
  if (is_field_file(file)) return shape_of_field(load_field(file), std::nullopt, options);
  LoadedMesh loaded = read_input({file, options.unit});
  print_warnings(file, loaded.warnings);
  Shape shape = Shape::from_mesh(loaded.mesh, settings_of(options));
  print_warnings(file, shape.warnings());
  return shape;
}

}  // namespace isotact::tool
