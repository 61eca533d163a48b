#include "isotact/scene/detail/shape_load.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/isosurface.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives.h"
#include "isotact/geometry/units.h"
#include "isotact/scene/figures.h"

namespace isotact::detail {
namespace {

constexpr int kResolution = 64;
constexpr int kLookCells = 128;  // of what is drawn of an asset, along its longest side

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

LoadedShape cook(TriangleMesh mesh, const SceneShape& s, Threads threads) {
  LoadedShape loaded;
  ShapeSettings settings;
  settings.field.voxel_size = s.voxel_size;
  if (!s.voxel_size) settings.field.resolution = s.resolution.value_or(kResolution);
  settings.field.threads = threads;
  settings.points = s.points.value_or(0);
  settings.spacing = s.spacing.value_or(0);
  settings.tree.threads = threads;
  if (s.points == 0U) {
    FieldResult built = build_field(mesh, settings.field);
    loaded.warnings = std::move(built.report.warnings);
    loaded.shape = Shape::from_parts(std::move(built.field), std::nullopt);
  } else {
    loaded.shape = Shape::from_mesh(mesh, settings);
    loaded.warnings = loaded.shape->warnings();
  }
  loaded.mass = find_mass_properties(mesh, {.density = 1, .threads = threads});
  loaded.look = std::move(mesh);
  return loaded;
}

TriangleMesh make_mesh(const MadeShape& made) {
  TriangleMesh mesh = make_shape(made.name, made.parameters);
  if (made.size) scale_to(mesh, *made.size);
  return mesh;
}

TriangleMesh read_file_mesh(const MeshFile& file, std::vector<std::string>& warnings) {
  LoadedMesh read = read_mesh(file.path, {.scale = metres_per_unit(file.unit)});
  warnings.insert(warnings.begin(), read.warnings.begin(), read.warnings.end());
  return std::move(read.mesh);
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

// With warnings that its mesh brought along, after those of cooking.
template <typename Source>
LoadedShape cook_read(const Source& source, const SceneShape& shape, Threads threads,
                      TriangleMesh (*read)(const Source&, std::vector<std::string>&)) {
  std::vector<std::string> warnings;
  LoadedShape loaded = cook(read(source, warnings), shape, threads);
  loaded.warnings.insert(loaded.warnings.end(), warnings.begin(), warnings.end());
  return loaded;
}

LoadedShape load_asset(const AssetFile& file, Threads threads) {
  LoadedShape loaded;
  const Asset asset = read_asset(file.path);
  loaded.shape = Shape::from_asset(asset);
  if (const auto& field = loaded.shape->field()) {
    const auto& cells = field->lattice().cells;
    const int longest = static_cast<int>(std::max({cells[0], cells[1], cells[2]}));
    loaded.look =
        extract_surface(*field, {.stride = std::max(1, longest / kLookCells), .threads = threads});
  }
  if (asset.mass)
    loaded.mass = asset.mass;
  else if (!loaded.look.triangles.empty())
    loaded.mass = find_mass_properties(loaded.look, {.density = 1, .threads = threads});
  return loaded;
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
            }},
      field);
}

// How fine the marching through a formula has to be: small against what is smallest about it.
double cell_of(const SceneField& field) {
  const double detail = std::visit(
      Cases{[](const PlaneField&) { return 1.0; }, [](const SphereField& f) { return f.radius; },
            [](const BoxField& f) {
              return std::min({f.half_size.x, f.half_size.y, f.half_size.z});
            },
            [](const CapsuleField& f) { return f.radius; },
            [](const CylinderField& f) { return std::min(f.radius, f.height / 2); },
            [](const TorusField& f) { return f.tube_radius; }},
      field);
  return std::min(1e-3, detail * 0.02);
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
            [&](const MeshFile& file) { return cook_read(file, shape, threads, read_file_mesh); },
            [&](const AssetFile& file) { return load_asset(file, threads); },
            [&](const DataFile& file) { return cook_read(file, shape, threads, read_data_mesh); },
            [&](const SceneField& field) {
              LoadedShape loaded;
              std::visit([&](const auto& f) { loaded.field = AnyField{f}; }, field);
              loaded.field_cell = cell_of(field);
              loaded.look = draw_field(field);
              loaded.is_endless = std::holds_alternative<PlaneField>(field);
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
