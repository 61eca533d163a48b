#include "isotact/asset/build_asset.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "isotact/asset/asset_field.h"
#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact {
namespace {

constexpr double kPointCells = 2;  // between points, if nothing else is asked for

bool has_samples(const AssetSettings& s) {
  return s.stored_field == StoredField::kDense || s.first_order || s.voxmap;
}

void check_settings(const AssetSettings& s) {
  const FieldSettings& f = s.field;
  if (f.keep_thin == KeepThin::kOffset &&
      (s.stored_field != StoredField::kBrick || s.first_order || s.voxmap))
    throw Error(
        "keep_thin offset grows brick fields only: store a brick field and no other, or "
        "choose keep_thin refine");
  if (f.shell_offset > 0 && f.sign != SignMethod::kAuto && f.sign != SignMethod::kUnsigned)
    throw Error(fmt::format("shell_offset is for unsigned surfaces, not for sign {}: leave one out",
                            name(f.sign)));
  if (!(s.points.spacing >= 0) || !std::isfinite(s.points.spacing))
    throw Error(fmt::format("the spacing of points is {}, must be finite and not negative",
                            s.points.spacing));
  if (s.points.count > 0 && s.points.spacing > 0)
    throw Error("points have a count or a spacing, not both");
  if (s.points.count > 0 && s.points.method != PointMethod::kRepulsion)
    throw Error(fmt::format("a count of points goes with the method repulsion, not with {}",
                            name(s.points.method)));
  if (s.segment_index && s.stored_field != StoredField::kBrick)
    throw Error("an index for segments needs a brick field in the asset");
  if (s.points.method != PointMethod::kNone && s.points.normals_from_field &&
      s.stored_field != StoredField::kBrick)
    throw Error("normals from the field need a brick field in the asset");
}

// What is sampled at every node takes memory by the lattice alone. All sections are held at once,
// so their sum counts.
struct SampledBytes {
  double dense = 0, first_order = 0, voxmap = 0;

  double total() const { return dense + first_order + voxmap; }
};

SampledBytes compute_sampled_bytes(const Lattice& lattice, const AssetSettings& settings) {
  SampledBytes bytes;
  if (settings.stored_field == StoredField::kDense) bytes.dense = dense_grid_bytes(lattice);
  if (settings.first_order)
    bytes.first_order =
        build_first_order_field_bytes(lattice, FirstOrderSettings{}.storage) +
        (settings.field.device != nullptr ? 3 * dense_grid_bytes(lattice) : 0);  // gradients
  if (settings.voxmap) bytes.voxmap = voxmap_build_bytes(lattice, settings.voxmap->encoding);
  return bytes;
}

// Of the sections that are there already.
struct BuiltBytes {
  double bricks = 0, mesh = 0;
};

BuiltBytes built_bytes(const Asset& asset) {
  return {asset.field ? static_cast<double>(asset.field->buffer().size()) : 0,
          asset.mesh ? static_cast<double>(asset.mesh->buffer().size()) : 0};
}

void check_sections(const BuiltBytes& built, const SampledBytes& sampled, std::uint64_t limit) {
  if (sampled.total() + built.mesh == 0) return;  // the field's own build checks
  std::string parts;
  const auto add = [&](const char* part, double size) {
    if (size > 0)
      parts += fmt::format("{}{} {:.1f} MB", parts.empty() ? "" : ", ", part, size / 1e6);
  };
  add("bricks", built.bricks);
  add("mesh", built.mesh);
  add("dense", sampled.dense);
  add("first order", sampled.first_order);
  add("voxmap", sampled.voxmap);
  check_memory(built.bricks + built.mesh + sampled.total(), limit,
               fmt::format("what is asked for ({})", parts));
}

// From exact distances to the surface that the field was built of.
void add_sampled_sections(Asset& asset, const Surface& surface, const Lattice& lattice,
                          const AssetSettings& settings) {
  const FieldSettings& f = settings.field;
  const SampledBytes bytes = compute_sampled_bytes(lattice, settings);
  const BuiltBytes built = built_bytes(asset);
  // What the others leave of the limit.
  const auto left_for = [&](double own) -> std::uint64_t {
    if (f.max_memory == 0) return 0;
    return f.max_memory -
           static_cast<std::uint64_t>(built.bricks + built.mesh + bytes.total() - own);
  };
  if (settings.stored_field == StoredField::kDense) {
    FieldSettings own = f;
    own.max_memory = left_for(bytes.dense);
    asset.dense = build_dense_grid(surface, lattice, own);
  }
  if (settings.first_order)
    asset.first_order = build_first_order_field(surface, lattice,
                                                {.max_memory = left_for(bytes.first_order),
                                                 .threads = f.threads,
                                                 .monitor = f.monitor,
                                                 .device = f.device});
  if (!settings.voxmap) return;
  VoxmapSettings voxmap = *settings.voxmap;
  voxmap.max_memory = left_for(bytes.voxmap);
  voxmap.threads = f.threads;
  voxmap.monitor = f.monitor;
  asset.voxmap = build_voxmap(surface, lattice, voxmap).voxmap;
}

// Bricks are built if they are stored, or to search for thin walls.
FieldResult build_bricks(const TriangleMesh& mesh, const AssetSettings& settings) {
  const FieldSettings& f = settings.field;
  if (settings.stored_field != StoredField::kNone || f.keep_thin == KeepThin::kRefine)
    return build_field(mesh, f);
  FieldResult nothing;
  nothing.report.lattice = plan_lattice(mesh, f);
  nothing.surface = std::make_shared<const Surface>(
      prepare_surface(mesh, {.sign = f.sign,
                             .nested = f.nested,
                             .voxel_size = nothing.report.lattice.spacing,
                             .shell_offset = f.shell_offset,
                             .threads = f.threads,
                             .monitor = f.monitor}));
  nothing.report.sign = nothing.surface->report;
  nothing.report.warnings = nothing.report.sign.warnings;
  if (f.device != nullptr && settings.first_order) nothing.report.device = f.device->name();
  return nothing;
}

// True if the sum of the mesh's parts is not the body that the field has: overlaps count twice or
// not at all in it, and an open mesh has no volume.
bool is_mesh_no_measure(const FieldReport& report) {
  return report.overlap_volume > 0 || report.sign.holes > 0;
}

// Of the field's own surface. Many cells are taken every second node or so, which changes the
// result by no more than a cell's share.
MassProperties compute_mass_of(const BrickField& field, const FieldSettings& settings) {
  constexpr int kEnough = 384;
  const int stride = (resolution_of(field.lattice()) + kEnough - 1) / kEnough;
  const TriangleMesh surface = extract_surface(
      field, {.stride = stride, .threads = settings.threads, .monitor = settings.monitor});
  return compute_mass_properties(surface, {.density = 1, .threads = settings.threads});
}

void add_mass(AssetResult& result, const TriangleMesh& mesh, const FieldResult& built,
              const AssetSettings& settings) {
  if (!settings.mass) return;
  const bool by_field =
      is_mesh_no_measure(built.report) && settings.stored_field != StoredField::kNone;
  MassProperties mass =
      by_field ? compute_mass_of(built.field, settings.field)
               : compute_mass_properties(mesh, {.density = 1, .threads = settings.field.threads});
  if (mass.status != MassStatus::kSolid) return;
  mass.warnings.clear();
  result.report.mass_from = by_field ? "field" : "mesh";
  result.asset.mass = std::move(mass);
}

AssetResult build(const TriangleMesh& mesh, const AssetSettings& settings) {
  const FieldSettings& f = settings.field;
  if (!mesh.triangles.empty())  // else the build says what is wrong with the mesh
    check_sections({}, compute_sampled_bytes(plan_lattice(mesh, f), settings), f.max_memory);
  AssetResult result;
  FieldResult built = build_bricks(mesh, settings);
  add_mass(result, mesh, built, settings);
  const Lattice lattice = built.report.lattice;
  result.report.field = std::move(built.report);
  result.asset.source = {.mesh_hash = hash_mesh(mesh),
                         .settings = describe(f),
                         .sign_report = encode_report(result.report)};
  if (settings.stored_field == StoredField::kBrick) result.asset.field = built.field;
  if (settings.segment_index)
    set_segment_index(result.asset, build_segment_index(built.field, {.threads = f.threads}));
  const std::shared_ptr<const Surface> surface = std::move(built.surface);
  built.field = {};  // memory for what follows
  if (settings.mesh)
    result.asset.mesh = FlatMesh::build(mesh, {.threads = f.threads, .monitor = f.monitor});
  const bool wants_points = settings.points.method != PointMethod::kNone;
  check_sections(built_bytes(result.asset), compute_sampled_bytes(lattice, settings), f.max_memory);
  if (!has_samples(settings) && !wants_points) return result;
  add_sampled_sections(result.asset, *surface, lattice, settings);
  if (wants_points)
    set_point_sphere_tree(result.asset, build_points(*surface, lattice.spacing, result.asset.field,
                                                     settings.points, f));
  return result;
}

AssetResult find_or_build(const TriangleMesh& mesh, const AssetSettings& settings) {
  if (!settings.cache) return build(mesh, settings);
  const CacheKey key = make_cache_key(mesh, describe(settings));
  CacheLookup found = find_in_cache(key, *settings.cache);
  if (found.asset)
    if (std::optional<AssetReport> report = parse_report(*found.asset)) {
      AssetResult result{.asset = std::move(*found.asset), .report = std::move(*report)};
      result.from_cache = true;
      return result;
    }
  AssetResult result = build(mesh, settings);
  if (!found.note.empty()) result.warnings.push_back(found.note);
  const CacheStore stored = store_in_cache(key, result.asset, *settings.cache);
  if (!stored.stored && !stored.note.empty()) result.warnings.push_back(stored.note);
  return result;
}

PointShell sample(const Surface& surface, double cell, const PointSettings& points,
                  const FieldSettings& settings) {
  const ShellSettings common{.sharp_degrees = points.sharp_degrees,
                             .max_memory = settings.max_memory,
                             .threads = settings.threads,
                             .monitor = settings.monitor};
  if (points.method == PointMethod::kVertices)
    return sample_vertices(surface.mesh, {.common = common, .edge_spacing = points.spacing});
  const double spacing =
      points.spacing > 0 || points.count > 0 ? points.spacing : kPointCells * cell;
  if (points.method == PointMethod::kRepulsion)
    return sample_by_repulsion(surface.mesh,
                               {.common = common, .count = points.count, .spacing = spacing});
  const ProjectionShellSettings projection{.common = common};
  const Lattice lattice =
      voxmap_lattice(to_double(bounds(surface.mesh)), spacing / projection.alpha);
  const Voxmap map = build_voxmap(surface, lattice,
                                  {.max_memory = settings.max_memory,
                                   .threads = settings.threads,
                                   .monitor = settings.monitor})
                         .voxmap;
  return sample_surface_voxels(surface.mesh, map, projection);
}

}  // namespace

std::string_view name(StoredField field) {
  switch (field) {
    case StoredField::kBrick:
      return "brick";
    case StoredField::kDense:
      return "dense";
    case StoredField::kNone:
      break;
  }
  return "none";
}

std::string_view name(PointMethod method) {
  switch (method) {
    case PointMethod::kRepulsion:
      return "repulsion";
    case PointMethod::kVoxels:
      return "voxels";
    case PointMethod::kVertices:
      return "vertices";
    case PointMethod::kNone:
      break;
  }
  return "none";
}

std::string describe(const AssetSettings& settings) {
  // All members by name: one that is added later does not compile before it was thought of here.
  const auto& [field, stored, first_order, voxmap, points, mass, keeps_mesh, index, cache] =
      settings;
  static_cast<void>(cache);
  const auto& [method, count, spacing, normals_from_field, sharp, cluster, spheres] = points;
  std::string text = fmt::format(
      "{} stored={} first-order={} device={} mass={} mesh={}", describe(field), name(stored),
      first_order, field.device != nullptr ? field.device->name() : "cpu", mass, keeps_mesh);
  if (voxmap)
    text += fmt::format(" voxmap={}:{}:{}", static_cast<int>(voxmap->encoding), voxmap->precision,
                        static_cast<int>(voxmap->closest));
  if (index) text += " segment-index";
  text += fmt::format(" points={}", name(method));
  if (method != PointMethod::kNone)
    text += fmt::format(":{}:{} normals={} sharp={} cluster={} spheres={}", count, spacing,
                        normals_from_field ? "field" : "mesh", sharp, cluster,
                        static_cast<int>(spheres));
  return text;
}

PointSphereTree build_points(const Surface& surface, double cell,
                             const std::optional<BrickField>& field, const PointSettings& points,
                             const FieldSettings& settings) {
  PointShell shell = sample(surface, cell, points, settings);
  if (points.normals_from_field && field) take_normals(shell, *field, settings.threads);
  return build_point_sphere_tree(shell, {.cluster_size = points.cluster_size,
                                         .spheres = points.spheres,
                                         .max_memory = settings.max_memory,
                                         .threads = settings.threads,
                                         .monitor = settings.monitor});
}

AssetResult build_asset(const TriangleMesh& mesh, const AssetSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  check_settings(settings);
  AssetResult result = find_or_build(mesh, settings);
  const FieldReport& report = result.report.field;
  if (settings.points.method != PointMethod::kNone && report.sign.method == SignMethod::kUnsigned)
    result.warnings.emplace_back(
        "the points lie on the triangles, not on the shell around them that the field has");
  result.warnings.insert(result.warnings.end(), report.warnings.begin(), report.warnings.end());
  if (settings.field.shell_offset > 0 && report.sign.method != SignMethod::kUnsigned)
    result.warnings.push_back(fmt::format("the shell offset has no effect: the sign is found by {}",
                                          name(report.sign.method)));
  for (std::string& gap : describe_gaps(result.asset)) result.warnings.push_back(std::move(gap));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

namespace {

// The least resolution that a build takes has 3.6 cells along the body, and is wanted.
std::optional<std::string> describe_coarse_cells(const Asset& asset) {
  if (!asset.mesh || !has_field(asset)) return std::nullopt;
  const Vec3f size = extent(asset.mesh->bvh().bounds());
  const double longest = static_cast<double>(std::max({size.x, size.y, size.z}));
  const double cell = field_of(asset).lattice.spacing;
  if (!(cell > 0.28 * longest)) return std::nullopt;
  return fmt::format(
      "cells of {:.3g} m are larger than a quarter of the body, which is {:.3g} m long: its field "
      "does not tell its shape; build it with smaller ones",
      cell, longest);
}

}  // namespace

std::vector<std::string> describe_gaps(const Asset& asset) {
  if (auto coarse = describe_coarse_cells(asset)) return {std::move(*coarse)};
  // A shape makes everything else from any of these.
  if (has_field(asset) || asset.mesh || asset.voxmap ||
      find_raw(asset, SectionKind::kVoxmap) != nullptr)
    return {};
  if (find_point_sphere_tree(asset, Check::kHeader))
    return {
        "has points alone: every query needs a field of the other body then, and intersection "
        "fields and depth maps need one of this body; build it again with a field"};
  return {
      "has neither a field, a mesh, a voxelmap nor points: collide needs one of them; build it "
      "again with a field"};
}

void save_asset(const std::filesystem::path& path, const Asset& asset) { write_asset(path, asset); }

}  // namespace isotact
