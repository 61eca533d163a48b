#include "isotact/asset/load_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/pointshell/asset_section.h"

namespace isotact {
namespace {

FieldSettings field_settings(const TriangleMesh& mesh, const LoadSettings& settings) {
  FieldSettings f{.resolution = settings.resolution,
                  .voxel_size = settings.voxel_size,
                  .sign = settings.sign,
                  .keep_thin = settings.keep_thin,
                  .max_memory = settings.max_memory,
                  .threads = settings.threads,
                  .monitor = settings.monitor};
  if (!(settings.margin > 0)) return f;
  // Distances up to the margin are then exact: cells are as large as without it, and more of them.
  const Vec3f size = extent(bounds(mesh));
  const double longest = static_cast<double>(std::max({size.x, size.y, size.z}));
  if (!(longest > 0)) return f;
  const int resolution = settings.resolution.value_or(128);
  const double cell = settings.voxel_size.value_or(longest / (resolution - 2 * f.padding));
  const double cells = longest / cell + 2 * f.padding;
  f.resolution.reset();
  f.voxel_size = cell;
  f.padding += std::min(std::ceil(settings.margin / cell), 1.5 * std::round(cells));
  return f;
}

bool wants_points(const LoadSettings& settings) { return settings.points != 0U; }

// Errors of a mesh or a field name the file that it is of.
template <typename Work>
auto with_file(const std::filesystem::path& path, const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(FileSpot{.file = path.string()}, error.what());
  }
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

ShapeSettings shape_settings(const FieldSettings& field, const LoadSettings& settings) {
  ShapeSettings build{
      .field = field, .spacing = settings.spacing, .points = settings.points.value_or(0)};
  build.tree.threads = settings.threads;
  return build;
}

Shape build_cached(const TriangleMesh& mesh, const LoadSettings& settings) {
  AssetSettings build{.field = field_settings(mesh, settings), .cache = settings.cache};
  build.points.count = settings.points.value_or(0);
  build.points.spacing = settings.spacing;
  if (!wants_points(settings)) build.points.method = PointMethod::kNone;
  const AssetResult built = build_asset(mesh, build);
  if (LoadReport* const report = settings.report) {
    report->from_cache = built.from_cache;
    report->mass = built.asset.mass;
    append(report->warnings, built.warnings);
  }
  return Shape::from_asset(built.asset, shape_settings(build.field, settings));
}

// The same body with these warnings, in place of its own.
Shape with_warnings(const Shape& shape, std::vector<std::string> warnings,
                    const ShapeSettings& settings) {
  ShapeParts parts = shape.parts();
  parts.warnings = std::move(warnings);
  return Shape::from_parts(std::move(parts), settings);
}

// `settings` have a report.
Shape load_mesh_shape(const std::filesystem::path& path, const LoadSettings& settings) {
  LoadedMesh loaded = load_mesh(path, settings.unit, settings.monitor);
  if (loaded.mesh.triangles.empty()) throw Error({.file = path.string()}, "has no triangles");
  append(settings.report->warnings, loaded.warnings);
  Shape shape = with_file(path, [&] { return cook_shape(loaded.mesh, settings); });
  if (!loaded.warnings.empty()) {
    std::vector<std::string> warnings = std::move(loaded.warnings);
    append(warnings, shape.warnings());
    shape = with_warnings(shape, std::move(warnings),
                          shape_settings(field_settings(loaded.mesh, settings), settings));
  }
  settings.report->mesh = std::move(loaded.mesh);
  return shape;
}

bool builds_field_of_mesh(const Asset& asset) {
  return asset.mesh && !has_field(asset) && !asset.voxmap;
}

// Settings that the asset leaves nothing to do.
std::vector<std::string> list_idle_settings(const Asset& asset, const LoadSettings& settings) {
  std::vector<std::string> idle;
  const LoadSettings usual;
  if (!settings.unit.empty())
    idle.emplace_back("the unit does nothing: lengths of an asset are in metres");
  if (!builds_field_of_mesh(asset))
    for (const auto& [given, name] :
         {std::pair{settings.resolution.has_value(), "resolution"},
          std::pair{settings.voxel_size.has_value(), "voxel_size"},
          std::pair{settings.sign != usual.sign, "sign"},
          std::pair{settings.keep_thin != usual.keep_thin, "keep_thin"}})
      if (given)
        idle.push_back(fmt::format("{} does nothing: it is for building a field of a mesh, and {}",
                                   name, asset.mesh ? "the asset has a field" : "there is none"));
  if ((settings.points.value_or(0) > 0 || settings.spacing > 0) &&
      find_raw(asset, SectionKind::kPointshell) != nullptr)
    idle.emplace_back("number and spacing of points do nothing: the asset has its own points");
  return idle;
}

// `settings` have a report.
Shape load_asset_shape(const std::filesystem::path& path, const LoadSettings& settings) {
  const Asset asset = load_asset(path);
  LoadReport& report = *settings.report;
  const FieldSettings field =
      builds_field_of_mesh(asset)
          ? field_settings(asset.mesh->mesh(), settings)
          : FieldSettings{.max_memory = settings.max_memory, .threads = settings.threads};
  const ShapeSettings later = shape_settings(field, settings);
  const Shape shape = Shape::from_asset(asset, later);
  report.warnings = shape.warnings();
  report.mass = asset.mass;
  append(report.warnings, list_idle_settings(asset, settings));
  append(report.warnings, describe_gaps(asset));
  return with_warnings(shape, report.warnings, later);
}

// The least value on the sides of the field's box.
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

// Nothing has to be built of a mesh or a voxelmap to have it.
bool has_grid(const Shape& shape) {
  const ShapeParts& p = shape.parts();
  return p.field || p.dense || p.first_order;
}

int stride_for(const Lattice& lattice, int cells) {
  return std::max(1, resolution_of(lattice) / cells);
}

// Around the voxels that the surface touches, and all inside.
TriangleMesh extract_display_mesh(const Voxmap& map, int look_cells, Threads threads) {
  const Index3 n = map.lattice().cells;
  const int stride = stride_for(map.lattice(), look_cells);
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
  return extract_surface(grid, grid.lattice(), {.level = half, .threads = threads});
}

}  // namespace

Shape cook_shape(const TriangleMesh& mesh, const LoadSettings& settings) {
  const ShapeSettings build = shape_settings(field_settings(mesh, settings), settings);
  if (settings.on_demand) {
    if (settings.cache) throw Error("a shape that is built on demand is not cached: leave one out");
    return Shape::from_parts(ShapeParts{.mesh = std::make_shared<const TriangleMesh>(mesh)}, build);
  }
  if (settings.cache) return build_cached(mesh, settings);
  const auto warn = [&](const std::vector<std::string>& warnings) {
    if (settings.report != nullptr) append(settings.report->warnings, warnings);
  };
  if (!wants_points(settings)) {
    FieldResult built = build_field(mesh, build.field);
    warn(built.report.warnings);
    return Shape::from_parts(ShapeParts{.field = std::move(built.field),
                                        .mesh = std::make_shared<const TriangleMesh>(mesh),
                                        .warnings = std::move(built.report.warnings)},
                             build);
  }
  Shape shape = Shape::from_mesh(mesh, build);
  warn(shape.warnings());
  return shape;
}

Shape cook_shape(const AssetField& field, const LoadSettings& settings) {
  const FieldSettings limits{
      .max_memory = settings.max_memory, .threads = settings.threads, .monitor = settings.monitor};
  ShapeParts parts{.field = field.brick};
  if (field.brick)
    parts.segment_index = field.index;
  else
    parts.field =
        bake_field(field.field,
                   {.lattice = make_brick_lattice(field.field.bounds(), field.lattice.spacing),
                    .max_memory = limits.max_memory,
                    .threads = limits.threads,
                    .monitor = limits.monitor})
            .field;
  return Shape::from_parts(std::move(parts), shape_settings(limits, settings));
}

Shape load_shape(const std::filesystem::path& path, const LoadSettings& settings) {
  for (const auto& [value, name] :
       {std::pair{settings.spacing, "spacing"}, std::pair{settings.margin, "margin"}})
    if (!(value >= 0) || !std::isfinite(value))
      throw Error(fmt::format("{} is {}, must be finite and not negative", name, value));
  LoadReport own;
  LoadSettings reporting = settings;
  if (reporting.report == nullptr) reporting.report = &own;
  *reporting.report = {};
  Shape shape =
      is_asset(path) ? load_asset_shape(path, reporting) : load_mesh_shape(path, reporting);
  append(reporting.report->warnings, describe_limits(shape, settings.margin));
  return shape;
}

bool is_asset(const std::filesystem::path& path) {
  try {
    constexpr std::array<char, 8> kMagic{'I', 'S', 'O', 'T', 'A', 'C', 'T', '\x1a'};
    std::array<std::byte, 8> start{};
    FileStream stream(path);
    return stream.size() > 0 && stream.read(start) == start.size() &&
           std::memcmp(start.data(), kMagic.data(), start.size()) == 0;
  } catch (const Error&) {
    return false;
  }
}

LoadedMesh load_mesh(const std::filesystem::path& path, std::string_view unit,
                     const Monitor& monitor) {
  const double scale = unit.empty() ? 1.0 : metres_per_unit(unit);
  if (is_asset(path))
    throw Error({.file = path.string()},
                "is an asset, which has been built already; a mesh is expected here");
  LoadedMesh loaded = read_mesh(path, {.scale = scale, .monitor = monitor});
  if (unit.empty())
    if (auto odd = find_implausible_size(bounds(loaded.mesh))) loaded.warnings.push_back(*odd);
  return loaded;
}

Asset load_asset(const std::filesystem::path& path) {
  Asset asset = read_asset(path, {.unpack_layers = false});
  const bool is_packed = find_raw(asset, SectionKind::kVoxmap) != nullptr;
  if (is_packed && !has_field(asset)) return read_asset(path);
  return asset;
}

std::vector<std::string> describe_limits(const Shape& shape, double margin) {
  std::vector<std::string> limits;
  if (!has_grid(shape)) return limits;
  const BrickField& field = shape.brick_field();
  if (field.header().shell_offset > 0)
    limits.push_back(
        fmt::format("the field is that of a shell, {:.3g} m thick on all sides of the surface",
                    static_cast<double>(field.header().shell_offset)));
  if (margin > 0)
    if (const double room = box_distance(field); margin > room)
      limits.push_back(fmt::format(
          "the margin of {:.3g} m is wider than the field's box, {:.3g} m off the body: outside of "
          "it distances are lower bounds, and contact may be reported too soon; build with more "
          "padding",
          margin, room));
  return limits;
}

TriangleMesh extract_display_mesh(const Shape& shape, int cells, Threads threads) {
  if (has_grid(shape)) {
    const BrickField& field = shape.brick_field();
    return extract_surface(field,
                           {.stride = stride_for(field.lattice(), cells), .threads = threads});
  }
  if (const auto& map = shape.voxmap()) return extract_display_mesh(*map, cells, threads);
  return {};
}

}  // namespace isotact
