#include "isotact/queries/shape.h"

#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/asset_report.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/detail/shape_data.h"

namespace isotact {
namespace {

// All other parts can be made from any of these.
bool has_body(const ShapeParts& p) {
  return p.solid || detail::has_field(p) || detail::has_mesh(p);
}

void check(const ShapeSettings& settings) {
  const auto need = [](double value, const char* name) {
    if (!(value >= 0) || !std::isfinite(value))
      throw Error(fmt::format("{} is {}, must be finite and not negative", name, value));
  };
  need(settings.spacing, "spacing");
  need(settings.cell, "cell");
}

void check(const ShapeParts& parts, const ShapeSettings& settings) {
  if (!has_body(parts) && !parts.tree)
    throw Error("a shape needs a formula, a field, a mesh or a pointshell");
  if (parts.solid && is_empty(parts.solid->body()))
    throw Error("the solid has no inside: nothing can touch it");
  check(settings);
}

// Layers stay compressed where the file was read so.
std::optional<Voxmap> find_voxmap(const Asset& asset, Threads threads) {
  if (asset.voxmap) return asset.voxmap;
  const RawSection* raw = find_raw(asset, SectionKind::kVoxmap);
  if (raw == nullptr) return {};
  return decompress_layers(raw->buffer.bytes, kMaxUnpackedLayers, threads);
}

bool has_area(const TriangleMesh& mesh) {
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    const Vec3 a = to_double(c[0]);
    if (length_sq(cross(to_double(c[1]) - a, to_double(c[2]) - a)) > 0) return true;
  }
  return false;
}

SignRule sign_rule_of(const Surface& surface) {
  return {.is_unsigned = surface.report.method == SignMethod::kUnsigned, .nested = surface.nested};
}

// Whether the triangles tell inside from outside as the prepared surface does. Warnings tell of
// vertices that were merged.
bool is_as_given(const Surface& surface) {
  const SignReport& r = surface.report;
  return r.method != SignMethod::kUnsigned && r.turned_components == 0 &&
         r.consistent_components == 0 && r.holes == 0 && r.dropped_triangles == 0 &&
         r.warnings.empty();
}

}  // namespace

Shape::Shape(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Shape Shape::from_parts(ShapeParts parts, const ShapeSettings& settings) {
  check(parts, settings);
  return Shape(std::make_shared<const Data>(std::move(parts), settings));
}

Shape Shape::from_parts(std::optional<BrickField> field, std::optional<PointSphereTree> tree,
                        std::optional<Voxmap> voxmap) {
  return from_parts(
      ShapeParts{.field = std::move(field), .voxmap = std::move(voxmap), .tree = std::move(tree)});
}

Shape Shape::from_mesh(const TriangleMesh& mesh, const ShapeSettings& settings) {
  check(settings);
  const FieldSettings& f = settings.field;
  FieldResult built = build_field(mesh, f);
  // Points lie on the surface that the field is of: without what was left out as broken.
  std::optional<PointSphereTree> tree;
  if (has_area(built.surface->mesh))
    tree = detail::sample_mesh(built.surface->mesh, built.field.voxel_size(), settings, f.monitor);
  else
    built.report.warnings.emplace_back(
        "no triangle has an area: there are no points, and only exact distances and Mode::kAny");
  return from_parts(ShapeParts{.field = std::move(built.field),
                               .tree = std::move(tree),
                               .mesh = std::make_shared<const TriangleMesh>(mesh),
                               .sign_rule = sign_rule_of(*built.surface),
                               .prepared = is_as_given(*built.surface) ? nullptr : built.surface,
                               .warnings = std::move(built.report.warnings)},
                    settings);
}

Shape Shape::from_field(const AnyField& field, const Aabb& box, double voxel_size,
                        const ShapeSettings& settings) {
  check(settings);
  const FieldSettings& f = settings.field;
  BakeResult baked = bake_field(field, {.lattice = make_brick_lattice(box, voxel_size),
                                        .max_memory = f.max_memory,
                                        .threads = f.threads,
                                        .monitor = f.monitor});
  const TriangleMesh surface =
      extract_surface(baked.field, {.threads = f.threads, .monitor = f.monitor});
  PointSphereTree tree = detail::sample_mesh(surface, voxel_size, settings, f.monitor);
  return from_parts(ShapeParts{.field = std::move(baked.field),
                               .tree = std::move(tree),
                               .warnings = std::move(baked.warnings)},
                    settings);
}

Shape Shape::from_analytic(const AnalyticSolid& solid, const ShapeSettings& settings) {
  return from_parts(ShapeParts{.solid = solid}, settings);
}

Shape Shape::from_asset(const Asset& asset, const ShapeSettings& settings) {
  ShapeParts parts{.field = asset.field,
                   .dense = asset.dense,
                   .first_order = asset.first_order,
                   .voxmap = asset.voxmap,
                   .tree = find_point_sphere_tree(asset),
                   .flat_mesh = asset.mesh,
                   .mass = asset.mass,
                   .sign_rule = parse_sign_rule(asset)};
  if (auto index = find_segment_index(asset))
    parts.segment_index = std::make_shared<const SegmentIndex>(std::move(*index));
  if (!detail::has_field(parts)) parts.voxmap = find_voxmap(asset, settings.field.threads);
  if (!has_body(parts) && !parts.tree)
    throw Error({.file = asset.file_name.empty() ? "the asset" : asset.file_name},
                "has neither a field, a mesh, a voxelmap nor points: build it again, with a field");
  parts.warnings = asset.notes;
  if (const auto built = parse_report(asset))
    for (const std::string& warning : built->field.warnings)
      parts.warnings.push_back(without_control_codes(warning));
  return from_parts(std::move(parts), settings);
}

const ShapeParts& Shape::parts() const { return data_->parts; }

bool Shape::can_have_field() const { return has_body(parts()); }
bool Shape::can_have_points() const { return tree() || (can_have_field() && is_bounded()); }

}  // namespace isotact
