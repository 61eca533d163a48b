#include <filesystem>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/repair.h"

#include "arrays.h"
#include "long_work.h"
#include "module.h"

namespace isotact::python {
namespace {

using MeshPointer = std::shared_ptr<TriangleMesh>;

MeshPointer share(TriangleMesh mesh) { return std::make_shared<TriangleMesh>(std::move(mesh)); }

// Vertices are float32: far from the origin that is coarse beside the mesh.
void warn_of_rounding(const py::array& given,
                      const py::array_t<float, py::array::c_style | py::array::forcecast>& rows) {
  if (given.dtype().kind() != 'f' || given.itemsize() <= 4) return;
  Aabbf box;
  const auto* from = reinterpret_cast<const Vec3f*>(rows.data());
  for (py::ssize_t i = 0; i < rows.shape(0); ++i)
    if (is_finite(from[i])) extend(box, from[i]);
  if (is_empty(box)) return;
  const Vec3 size = extent(to_double(box));
  const double far =
      std::max(length(isotact::to_double(box.lower)), length(isotact::to_double(box.upper)));
  constexpr double kCoarse = 1e4;  // Steps of float32 along the longest side.
  if (std::max({size.x, size.y, size.z}) < kCoarse * 0x1p-23 * far)
    warn(
        {fmt::format("vertices are kept as float32, with steps of {:.2g} m at {:.3g} m from the "
                     "origin, coarse beside the mesh's size of {:.3g} m: move it to the origin",
                     0x1p-23 * far, far, length(size))});
}

MeshPointer mesh_of_arrays(const py::handle& vertices, const py::handle& faces) {
  TriangleMesh mesh;
  const py::array given = to_array(vertices, "vertices");
  if (given.size() > 0) {
    // Meshes may have vertices that are not finite: readers keep them, and flaws names them.
    if (given.ndim() != 2 || given.shape(1) != 3)
      PointArray(vertices, "vertices");  // Says what is wrong.
    const char kind = given.dtype().kind();
    if (kind != 'f' && kind != 'i' && kind != 'u') PointArray(vertices, "vertices");
    const auto rows = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(given);
    warn_of_rounding(given, rows);
    const auto* from = reinterpret_cast<const Vec3f*>(rows.data());
    mesh.positions.assign(from, from + rows.shape(0));
  }
  const std::vector<std::uint32_t> corners = to_indices(faces, "faces", 3, mesh.positions.size());
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3)
    mesh.triangles.push_back({corners[i], corners[i + 1], corners[i + 2]});
  return share(std::move(mesh));
}

MeshPointer read(const std::filesystem::path& path, const std::string& unit,
                 const py::object& progress) {
  LoadedMesh loaded;
  const double scale = metres_per_unit(unit);
  run_long(progress, [&](const Monitor& monitor) {
    loaded = read_mesh(path, {.scale = scale, .monitor = monitor});
  });
  if (unit == "m")
    if (const auto odd = find_implausible_size(bounds(loaded.mesh)))
      loaded.warnings.push_back(*odd);
  warn(loaded.warnings);
  return share(std::move(loaded.mesh));
}

py::dict describe_mass(const MassProperties& p) {
  py::dict d;
  d["volume"] = p.volume;
  d["area"] = p.area;
  d["mass"] = p.mass;
  d["density"] = p.density;
  d["center"] = to_python(p.center);
  d["inertia"] = to_python(p.inertia);
  d["principal_moments"] = to_python(p.principal_moments);
  d["closed"] = p.status == MassStatus::kSolid;
  d["inward"] = p.inward;
  d["warnings"] = p.warnings;
  return d;
}

py::dict describe_flaws(const MeshFlaws& f) {
  py::dict d;
  d["watertight"] = f.watertight;
  d["manifold"] = f.manifold;
  d["oriented"] = f.oriented;
  d["balanced"] = f.balanced;
  d["inward"] = f.inward;
  d["vertices"] = f.vertices;
  d["triangles"] = f.triangles;
  d["components"] = f.components;
  d["degenerate"] = f.degenerate;
  d["boundary_edges"] = f.boundary_edges.count;
  d["boundary_loops"] = f.boundary_loops.count;
  d["non_manifold_edges"] = f.non_manifold_edges.count;
  d["duplicate_triangles"] = f.duplicate_triangles.count;
  d["area"] = f.area;
  d["volume"] = f.volume ? py::object(py::float_(*f.volume)) : py::none();
  if (f.self_intersections) {
    const SelfIntersections& s = *f.self_intersections;
    d["self_intersections"] = s.crossing + s.overlapping + s.touching;
    d["self_intersections_complete"] = s.complete;
  }
  d["in_words"] = describe(f);
  return d;
}

// One step after the other, each on its switch.
py::tuple repair(const TriangleMesh& given, double weld_tolerance, bool degenerate, bool duplicates,
                 bool holes, std::size_t keep_largest, const std::string& outward) {
  const std::size_t turn = find_word(outward, "outward", {"leave", "all", "by-nesting"});
  TriangleMesh mesh = given;
  py::dict report;
  {
    WeldResult welded = weld(mesh, {.tolerance = weld_tolerance});
    report["merged_vertices"] = welded.merged;
    mesh = std::move(welded.mesh);
  }
  if (degenerate) {
    RemoveResult r = remove_degenerate(mesh);
    report["removed_degenerate"] = r.removed;
    mesh = std::move(r.mesh);
  }
  if (duplicates) {
    RemoveResult r = remove_duplicates(mesh);
    report["removed_duplicates"] = r.removed;
    mesh = std::move(r.mesh);
  }
  if (keep_largest > 0) {
    RemoveResult r = keep_largest_components(mesh, keep_largest);
    report["removed_components"] = r.removed;
    mesh = std::move(r.mesh);
  }
  OrientResult oriented = orient(mesh, {.outward = static_cast<Outward>(turn)});
  report["made_consistent"] = oriented.made_consistent;
  report["turned"] = oriented.turned;
  mesh = std::move(oriented.mesh);
  if (holes) {
    FillResult r = fill_holes(mesh);
    report["filled_holes"] = r.filled;
    report["left_open"] = r.left_open;
    mesh = std::move(r.mesh);
  }
  mesh = remove_unreferenced(mesh).mesh;
  return py::make_tuple(share(std::move(mesh)), report);
}

MeshPointer transformed(const TriangleMesh& mesh, const py::object& pose, double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw py::value_error(fmt::format("scale: expected a positive number, found {}", scale));
  const Pose to = to_pose(pose, "pose");
  TriangleMesh moved = mesh;
  for (Vec3f& p : moved.positions) p = to_float(transform_point(to, isotact::to_double(p) * scale));
  return share(std::move(moved));
}

MeshPointer make(const std::string& name, const py::kwargs& parameters) {
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : parameters)
    numbers[key.cast<std::string>()] = value.cast<double>();
  const py::gil_scoped_release unlocked;
  return share(make_shape(name, numbers));
}

}  // namespace

std::shared_ptr<const TriangleMesh> to_mesh(const py::handle& object, const char* name) {
  if (py::isinstance<TriangleMesh>(object)) return object.cast<MeshPointer>();
  if (py::isinstance<py::str>(object) || py::hasattr(object, "__fspath__"))
    return read(object.cast<std::filesystem::path>(), "m", py::none());
  if (py::isinstance<py::tuple>(object) && py::len(object) == 2) {
    const auto pair = py::reinterpret_borrow<py::tuple>(object);
    return mesh_of_arrays(pair[0], pair[1]);
  }
  if (py::hasattr(object, "vertices"))
    for (const char* faces : {"faces", "triangles"})
      if (py::hasattr(object, faces))
        return mesh_of_arrays(object.attr("vertices"), object.attr(faces));
  throw py::type_error(fmt::format(
      "{}: expected a Mesh, (vertices, faces), a path, or an object with vertices and faces or "
      "triangles, found {}",
      name, std::string(py::str(py::type::of(object).attr("__name__")))));
}

void add_mesh(py::module_& m) {
  py::class_<TriangleMesh, MeshPointer>(
      m, "Mesh", py::buffer_protocol(),
      "A triangle mesh: vertices (float32, metres) and faces (uint32), counter-clockwise seen from "
      "outside. Immutable.\n\n"
      "    Mesh(vertices, faces)        # arrays of shape (N, 3) and (M, 3)\n"
      "    Mesh.read('part.stl', unit='mm')\n"
      "    Mesh.of(trimesh_or_open3d_mesh)")
      .def(py::init(&mesh_of_arrays), py::arg("vertices"), py::arg("faces"))
      .def_static("read", &read, py::arg("path"), py::kw_only(), py::arg("unit") = "m",
                  py::arg("progress") = py::none(),
                  "Reads OBJ, STL, PLY, OFF, glTF or GLB. unit: 'm', 'cm', 'mm' or 'in'.")
      .def_static(
          "of",
          [](const py::object& object) {
            return std::const_pointer_cast<TriangleMesh>(to_mesh(object, "mesh"));
          },
          py::arg("mesh"),
          "From a path, (vertices, faces), or anything with vertices and faces or triangles.")
      .def_static("make", &make, py::arg("name"),
                  "A procedural shape by its name, such as 'gear', 'box', 'torus', 'blob' or "
                  "'knot'; keywords are its parameters. Mesh.shapes() lists them.")
      .def_static(
          "shapes",
          [] {
            py::dict all;
            for (const ShapeInfo& info : shape_catalogue()) {
              py::dict parameters;
              for (const ShapeParameter& p : info.parameters) parameters[py::str(p.name)] = p.value;
              all[py::str(info.name)] = parameters;
            }
            return all;
          },
          "Names of the procedural shapes, with their parameters and defaults.")
      .def_property_readonly(
          "vertices",
          [](const MeshPointer& mesh) {
            return view_rows(reinterpret_cast<const float*>(mesh->positions.data()),
                             mesh->positions.size(), 3, py::cast(mesh));
          },
          "(N, 3) float32, read-only, without a copy.")
      .def_property_readonly(
          "faces",
          [](const MeshPointer& mesh) {
            return view_rows(reinterpret_cast<const std::uint32_t*>(mesh->triangles.data()),
                             mesh->triangles.size(), 3, py::cast(mesh));
          },
          "(M, 3) uint32, read-only, without a copy.")
      .def_property_readonly(
          "bounds",
          [](const TriangleMesh& mesh) {
            const Aabbf box = bounds(mesh);
            py::array_t<double> b({2, 3});
            for (std::size_t i = 0; i < 3; ++i) {
              b.mutable_data()[i] = double{box.lower[i]};
              b.mutable_data()[3 + i] = double{box.upper[i]};
            }
            return b;
          },
          "(2, 3): the lower and the upper corner, metres.")
      .def(
          "save",
          [](const TriangleMesh& mesh, const std::filesystem::path& path) {
            write_mesh(path, mesh);
          },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(),
          "Writes OBJ, STL, PLY or GLB, by the extension.")
      .def(
          "flaws",
          [](const TriangleMesh& mesh, bool self_intersections, int threads) {
            MeshFlaws flaws;
            const Threads t = to_threads(threads);
            run_long(py::none(), [&](const Monitor& monitor) {
              flaws = find_flaws(
                  mesh,
                  {.self_intersections = self_intersections, .threads = t, .monitor = monitor});
            });
            return describe_flaws(flaws);
          },
          py::kw_only(), py::arg("self_intersections") = false, py::arg("threads") = 0,
          "The faults of the mesh, as a dictionary; 'in_words' lists sentences, worst first.")
      .def("repair", &repair, py::kw_only(), py::arg("weld") = 0.0, py::arg("degenerate") = true,
           py::arg("duplicates") = true, py::arg("fill_holes") = false,
           py::arg("keep_largest") = std::size_t{0}, py::arg("outward") = "all",
           "Returns (mesh, report): welded, without degenerate and duplicate triangles, oriented.")
      .def(
          "mass_properties",
          [](const TriangleMesh& mesh, double density) {
            MassProperties p;
            {
              const py::gil_scoped_release unlocked;
              p = compute_mass_properties(mesh, {.density = density});
            }
            return describe_mass(p);
          },
          py::kw_only(), py::arg("density") = 1000.0,
          "Volume, area, mass, centre and inertia of the solid; density in kg/m^3.")
      .def("transformed", &transformed, py::arg("pose") = py::none(), py::kw_only(),
           py::arg("scale") = 1.0, "A copy, scaled about the origin, then moved.")
      .def(
          "__eq__", [](const TriangleMesh& a, const TriangleMesh& b) { return a == b; },
          py::is_operator())
      .def("__copy__", [](const MeshPointer& mesh) { return mesh; })
      .def(
          "__deepcopy__", [](const MeshPointer& mesh, const py::object&) { return mesh; },
          py::arg("memo"))
      .def("__repr__",
           [](const TriangleMesh& mesh) {
             return fmt::format("<isotact.Mesh: {} vertices, {} triangles>", mesh.positions.size(),
                                mesh.triangles.size());
           })
      .def(py::pickle(
          [](const MeshPointer& mesh) {
            const py::object self = py::cast(mesh);
            return py::make_tuple(py::array(self.attr("vertices")), py::array(self.attr("faces")));
          },
          [](const py::tuple& parts) { return mesh_of_arrays(parts[0], parts[1]); }));
}

}  // namespace isotact::python
