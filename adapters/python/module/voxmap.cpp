// Voxelmaps, as SSL14 builds and reads them.
#include "isotact/field/voxmap/voxmap.h"

#include <optional>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isotact/base/error.h"
#include "isotact/field/build/build_field.h"

#include "arrays.h"
#include "field_settings.h"
#include "long_work.h"
#include "module.h"
#include "shape_object.h"

namespace isotact::python {
namespace {

constexpr const char* kEncodings[] = {"layers", "scaled", "support"};

Voxmap build(const py::object& object, const py::object& resolution, const py::object& voxel_size,
             const std::string& encoding, int precision, const std::string& sign,
             const std::string& nested, int padding, int threads, const py::object& progress) {
  const auto mesh = to_mesh(object, "mesh");
  const FieldSettings field = FieldArguments{.resolution = resolution,
                                             .voxel_size = voxel_size,
                                             .sign = sign,
                                             .nested = nested,
                                             .threads = threads}
                                  .settings();
  VoxmapSettings settings{.encoding = static_cast<VoxmapEncoding>(
                              find_word(encoding, "encoding", {"layers", "scaled", "support"})),
                          .precision = precision,
                          .sign = field.sign,
                          .nested = field.nested,
                          .threads = field.threads};
  if (padding < 0 || padding > 1000)
    throw py::value_error(fmt::format("padding: expected 0 to 1000 voxels, found {}", padding));
  Voxmap map;
  run_long(progress, [&](const Monitor& monitor) {
    settings.monitor = monitor;
    const double size = plan_lattice(*mesh, field).spacing;
    const Aabb box = isotact::to_double(isotact::bounds(*mesh));
    map = build_voxmap(*mesh, voxmap_lattice(box, size, padding), settings).voxmap;
  });
  return map;
}

// Indexed [z, y, x]; views keep the map.
template <typename Number>
py::array view_voxels(const Voxmap& map, const void* data, const py::object& owner,
                      py::ssize_t stride = sizeof(Number)) {
  const Index3& n = map.lattice().cells;
  py::array_t<Number> view({py::ssize_t{n[2]}, py::ssize_t{n[1]}, py::ssize_t{n[0]}},
                           {stride * n[0] * n[1], stride * n[0], stride},
                           static_cast<const Number*>(data), owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

py::array values_of(const py::object& self) {
  const auto& map = py::cast<const Voxmap&>(self);
  switch (map.encoding()) {
    case VoxmapEncoding::kLayers:
      return view_voxels<std::int16_t>(map, map.layers().data(), self);
    case VoxmapEncoding::kScaled:
      return view_voxels<std::int32_t>(map, map.scaled().data(), self);
    case VoxmapEncoding::kSupport:
      return view_voxels<double>(map, &map.support().data()->penetration, self,
                                 sizeof(SupportVoxel));
  }
  throw Error("a voxelmap of an unknown encoding");
}

py::array_t<double> penetration(const Voxmap& map, const py::object& given,
                                const py::object& normals, int thread_count) {
  PointArray points(given, "points");
  const std::span<const Vec3> from = points.as_double();
  if (normals.is_none() && map.encoding() != VoxmapEncoding::kSupport)
    throw py::value_error(
        "inward_normals: maps of layers and scaled ones need the normals of the points "
        "(equation 4); those with encoding='support' do without (equation 5)");
  std::optional<PointArray> along;
  if (!normals.is_none()) along.emplace(normals, "inward_normals");
  if (along && along->size() != points.size())
    throw py::value_error(fmt::format("inward_normals: expected {} rows as points has, found {}",
                                      points.size(), along->size()));
  const std::span<const Vec3> inward = along ? along->as_double() : std::span<const Vec3>();
  py::array_t<double> depths(static_cast<py::ssize_t>(from.size()));
  double* const to = depths.mutable_data();
  const Threads threads = to_threads(thread_count);
  const py::gil_scoped_release unlocked;
  parallel_for(from.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      to[i] = inward.empty() ? map.interpolated_penetration(from[i])
                             : map.penetration(from[i], inward[i]);
  });
  return depths;
}

ShapeObject shape_of(const Voxmap& map) {
  return {Shape::from_parts(std::nullopt, std::nullopt, map)};
}

}  // namespace

void add_voxmap(py::module_& m) {
  py::class_<Voxmap>(m, "Voxmap",
                     "A voxelmap. Its numbers are POSITIVE INSIDE, as in the paper: all other "
                     "distances here are negative inside.")
      .def_static(
          "build", &build, py::arg("mesh"), py::kw_only(), py::arg("resolution") = py::none(),
          py::arg("voxel_size") = py::none(), py::arg("encoding") = "layers",
          py::arg("precision") = 4, py::arg("sign") = "auto", py::arg("nested") = "winding",
          py::arg("padding") = 2, py::arg("threads") = 0, py::arg("progress") = py::none(),
          "encoding: 'layers' (2 bytes per voxel: 0 at the surface, n in the n-th layer inside, -n "
          "outside), 'scaled' (4 bytes: the penetration in steps of 10^-precision m) or 'support' "
          "(24 bytes: penetration and gradient).")
      .def_property_readonly(
          "values", &values_of,
          "A view, [z, y, x]: layers as int16, scaled penetrations as int32, or penetrations of "
          "voxels' centres in metres as float64.")
      .def_property_readonly(
          "encoding",
          [](const Voxmap& v) { return kEncodings[static_cast<std::size_t>(v.encoding())]; })
      .def_property_readonly("voxel_size", &Voxmap::voxel_size, "Metres.")
      .def_property_readonly(
          "origin", [](const Voxmap& v) { return to_python(v.lattice().origin); },
          "The lower corner of the first voxel.")
      .def("penetration", &penetration, py::arg("points"), py::arg("inward_normals") = py::none(),
           py::kw_only(), py::arg("threads") = 0,
           "Metres by which points are inside, (N,). inward_normals: of the points' own body, for "
           "equation 4; without them equation 5, which needs encoding='support'.")
      .def_property_readonly("shape", &shape_of, "A shape of this map alone, for queries.")
      .def("__repr__", [](const Voxmap& v) {
        const Index3& n = v.lattice().cells;
        return fmt::format("<isotact.Voxmap of {}: {} x {} x {} voxels of {:.4g} m>",
                           kEncodings[static_cast<std::size_t>(v.encoding())], n[0], n[1], n[2],
                           v.voxel_size());
      });
}

}  // namespace isotact::python
