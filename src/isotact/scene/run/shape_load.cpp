#include "isotact/scene/run/detail/shape_load.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/asset/load_shape.h"
#include "isotact/base/error.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/scene/parse/detail/figures.h"

namespace isotact::detail {
namespace {

constexpr int kResolution = 64;
constexpr int kLookCells = 128;  // Cells of an asset's drawn mesh along its longest side.

template <typename... F>
struct Cases : F... {
  using F::operator()...;
};
template <typename... F>
Cases(F...) -> Cases<F...>;

void scale_to(TriangleMesh& mesh, double size) {
  const Vec3f e = extent(bounds(mesh));
  const auto factor = static_cast<float>(size / static_cast<double>(std::max({e.x, e.y, e.z})));
  for (Vec3f& p : mesh.positions) p = p * factor;
}

// Thin walls are reported; a scene keeps them by finer cells.
LoadSettings settings_of(const SceneShape& s, Threads threads, LoadReport& report) {
  LoadSettings settings{.voxel_size = s.voxel_size,
                        .sign = s.sign,
                        .keep_thin = KeepThin::kReport,
                        .points = s.points,
                        .spacing = s.spacing.value_or(0),
                        .threads = threads,
                        .report = &report};
  if (!s.voxel_size) settings.resolution = s.resolution.value_or(kResolution);
  return settings;
}

LoadedShape cook(TriangleMesh mesh, const SceneShape& s, Threads threads) {
  LoadReport report;
  LoadedShape loaded;
  loaded.shape = cook_shape(mesh, settings_of(s, threads, report));
  loaded.mass = compute_mass_properties(mesh, {.density = 1, .threads = threads});
  loaded.look = std::move(mesh);
  loaded.warnings = std::move(report.warnings);
  return loaded;
}

LoadedShape load_file(const std::filesystem::path& path, const LoadSettings& settings) {
  LoadedShape loaded;
  loaded.shape = isotact::load_shape(path, settings);
  LoadReport& report = *settings.report;
  const bool is_mesh = !report.mesh.triangles.empty();
  const ShapeParts& parts = loaded.shape->parts();
  if (is_mesh)
    loaded.look = std::move(report.mesh);
  else if (parts.field || parts.dense || parts.first_order)
    loaded.look = extract_display_mesh(*loaded.shape, kLookCells, settings.threads);
  if (report.mass && !is_mesh)
    loaded.mass = std::move(report.mass);
  else if (!loaded.look.triangles.empty())
    loaded.mass = compute_mass_properties(loaded.look, {.density = 1, .threads = settings.threads});
  loaded.warnings = std::move(report.warnings);
  return loaded;
}

// Nothing if the mesh keeps the size that it has.
void scale_mesh(const MeshFile& file, TriangleMesh& mesh) {
  if (file.size) {
    scale_to(mesh, *file.size);
    return;
  }
  if (file.scale == 1) return;
  for (Vec3f& p : mesh.positions) p = p * static_cast<float>(file.scale);
}

TriangleMesh read_file_mesh(const MeshFile& file, std::vector<std::string>& warnings) {
  LoadedMesh read = load_mesh(file.path, file.unit);
  warnings.insert(warnings.begin(), read.warnings.begin(), read.warnings.end());
  scale_mesh(file, read.mesh);
  return std::move(read.mesh);
}

// Appends the warnings of the mesh to those of cooking.
LoadedShape cook(TriangleMesh mesh, const SceneShape& shape, Threads threads,
                 const std::vector<std::string>& warnings) {
  LoadedShape loaded = cook(std::move(mesh), shape, threads);
  loaded.warnings.insert(loaded.warnings.end(), warnings.begin(), warnings.end());
  return loaded;
}

// A mesh of another size is scaled before cells and points are chosen.
LoadedShape load_mesh_file(const MeshFile& file, const SceneShape& s, Threads threads) {
  if ((file.size || file.scale != 1) && !is_asset(file.path)) {
    std::vector<std::string> warnings;
    return cook(read_file_mesh(file, warnings), s, threads, warnings);
  }
  if (file.size || file.scale != 1)
    throw Error({.file = file.path.string()}, "is an asset, which has its size: leave out 'size' "
                                              "and 'scale', or name the mesh");
  LoadReport report;
  LoadSettings settings = settings_of(s, threads, report);
  settings.unit = file.unit;
  return load_file(file.path, settings);
}

// An asset has the points that it has.
LoadedShape load_asset_file(const AssetFile& file, Threads threads) {
  LoadReport report;
  return load_file(file.path, {.points = 0, .threads = threads, .report = &report});
}

TriangleMesh make_mesh(const MadeShape& made) {
  TriangleMesh mesh = make_shape(made.name, made.parameters);
  if (made.size) scale_to(mesh, *made.size);
  return mesh;
}

TriangleMesh read_data_mesh(const DataFile& file, std::vector<std::string>& warnings) {
  const char* folder = std::getenv("ISOTACT_DATA");
  const std::filesystem::path path = std::filesystem::path(folder ? folder : "") / file.path;
  if (folder == nullptr || !std::filesystem::exists(path)) {
    warnings.push_back(
        fmt::format("{} stands in for {}, which is not in the folder that ISOTACT_DATA names",
                    file.stand_in.name, file.path));
    return make_mesh(file.stand_in);
  }
  TriangleMesh mesh = read_mesh(path).mesh;
  if (file.size) scale_to(mesh, *file.size);
  return mesh;
}

LoadedShape load_data(const DataFile& file, const SceneShape& shape, Threads threads) {
  std::vector<std::string> warnings;
  return cook(read_data_mesh(file, warnings), shape, threads, warnings);
}

TriangleMesh draw_field(const SceneField& field) {
  return std::visit(
      Cases{[](const PlaneField&) { return TriangleMesh{}; },
            [](const SphereField& f) { return make_sphere({.radius = f.radius}); },
            [](const BoxField& f) {
              return make_box({2 * f.half_size.x, 2 * f.half_size.y, 2 * f.half_size.z});
            },
            [](const CapsuleField& f) {
              return make_capsule({.radius = f.radius, .length = length(f.b - f.a)});
            },
            [](const CylinderField& f) {
              return make_cylinder({.radius = f.radius, .height = f.height});
            },
            [](const TorusField& f) {
              return make_torus({.radius = f.radius, .tube_radius = f.tube_radius});
            },
            [](const TerrainField& f) { return make_surface(f.terrain()); },
            [](const auto& f) { return Shape::from_analytic(f).surface(); }},
      field);
}

}  // namespace

TriangleMesh draw_plane(const PlaneField& plane, double half_size) {
  const Vec3 n = plane.normal, other = std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 u = normalized(cross(cross(n, other), n)) * half_size, v = cross(n, u);
  const Vec3 middle = n * plane.offset;
  TriangleMesh mesh;
  for (const Vec3& p : {middle - u - v, middle + u - v, middle + u + v, middle - u + v})
    mesh.positions.push_back(to_float(p));
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

LoadedShape load_shape(const SceneShape& shape, Threads threads) {
  return std::visit(
      Cases{[&](const MadeShape& made) { return cook(make_mesh(made), shape, threads); },
            [&](const MeshFile& file) { return load_mesh_file(file, shape, threads); },
            [&](const AssetFile& file) { return load_asset_file(file, threads); },
            [&](const DataFile& file) { return load_data(file, shape, threads); },
            [&](const SceneField& field) {
              LoadedShape loaded;
              const AnalyticSolid solid =
                  std::visit([](const auto& f) { return AnalyticSolid(f); }, field);
              loaded.shape = Shape::from_analytic(solid, {.field = {.threads = threads}});
              loaded.look = draw_field(field);
              loaded.is_endless = std::holds_alternative<PlaneField>(field);
              if (solid.is_bounded()) loaded.mass = loaded.shape->mass();
              return loaded;
            }},
      shape.source);
}

TriangleMesh load_soft_mesh(const SceneSoftBody& body, std::vector<std::string>& warnings) {
  return std::visit(Cases{[](const MadeShape& made) { return make_mesh(made); },
                          [&](const MeshFile& file) { return read_file_mesh(file, warnings); },
                          [&](const DataFile& file) { return read_data_mesh(file, warnings); },
                          [](const SheetShape& sheet) {
                            return make_sheet(sheet.width, sheet.depth, sheet.cells_x,
                                              sheet.cells_z);
                          },
                          [](const FigureShape& figure) {
                            TriangleMesh mesh = make_figure(figure.name);
                            if (figure.size) scale_to(mesh, *figure.size);
                            return mesh;
                          }},
                    body.source);
}

}  // namespace isotact::detail
