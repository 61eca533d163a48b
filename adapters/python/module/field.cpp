#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isotact/asset/asset_field.h"
#include "isotact/base/error.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/field/io/asset.h"

#include "arrays.h"
#include "field_settings.h"
#include "long_work.h"
#include "module.h"

namespace isotact::python {
namespace {

// Points of a piece of a batch; between two of them signals are handled.
constexpr std::size_t kPiece = std::size_t{1} << 20U;

py::object sample(const BrickField& field, const py::object& given, bool want_gradient,
                  int threads) {
  PointArray points(given, "points");
  const Threads t = to_threads(threads);
  const auto rows = static_cast<py::ssize_t>(points.size());
  py::array_t<float> values(rows);
  py::array_t<float> gradients({want_gradient ? rows : py::ssize_t{0}, py::ssize_t{3}});
  const std::span<const Vec3f> from = points.as_single();
  auto* const slopes = reinterpret_cast<Vec3f*>(gradients.mutable_data());
  for (std::size_t i = 0; i < from.size(); i += kPiece) {
    const std::size_t n = std::min(kPiece, from.size() - i);
    {
      float* const to = values.mutable_data() + i;
      const py::gil_scoped_release unlocked;
      sample_field(field, from.subspan(i, n), {to, n},
                   want_gradient ? std::span(slopes + i, n) : std::span<Vec3f>(), t);
    }
    handle_signals();
  }
  if (!want_gradient) return values;
  return py::make_tuple(values, gradients);
}

py::array_t<double> bounds_at(const BrickField& field, const py::object& given, int threads) {
  PointArray points(given, "points");
  const Threads t = to_threads(threads);
  py::array_t<double> bounds({static_cast<py::ssize_t>(points.size()), py::ssize_t{2}});
  const std::span<const Vec3> from = points.as_double();
  auto* const to = reinterpret_cast<Interval*>(bounds.mutable_data());
  const py::gil_scoped_release unlocked;
  sample_bounds(field, from, {to, from.size()}, t);
  return bounds;
}

// Distances on a grid in a plane across an axis.
py::array_t<float> slice(const BrickField& field, const std::string& axis, double place,
                         int pixels) {
  const std::size_t across = find_word(axis, "axis", {"x", "y", "z"});
  if (pixels < 2 || pixels > 20000)
    throw py::value_error(fmt::format("pixels: expected 2 to 20000, found {}", pixels));
  const Aabb box = field.bounds();
  const std::size_t u = (across + 1) % 3, v = (across + 2) % 3;
  const double longest = std::max(box.upper[u] - box.lower[u], box.upper[v] - box.lower[v]);
  const double step = longest / (pixels - 1);
  const auto count = [&](std::size_t k) {
    return static_cast<std::size_t>(std::floor((box.upper[k] - box.lower[k]) / step + 1e-9)) + 1;
  };
  const std::size_t columns = count(u), rows = count(v);
  py::array_t<float> picture({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
  std::vector<Vec3f> points(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      Vec3 p;
      p[across] = place;
      p[u] = box.lower[u] + step * static_cast<double>(c);
      p[v] = box.lower[v] + step * static_cast<double>(r);
      points[r * columns + c] = to_float(p);
    }
  float* const to = picture.mutable_data();
  const py::gil_scoped_release unlocked;
  sample_field(field, points, {to, points.size()}, {});
  return picture;
}

// Values at the nodes: index [x, y, z].
py::array_t<float> nodes(const BrickField& field, int stride) {
  if (stride < 1)
    throw py::value_error(fmt::format("stride: expected 1 or more, found {}", stride));
  const Lattice& l = field.lattice();
  Index3 n{};
  for (std::size_t k = 0; k < 3; ++k) n[k] = l.cells[k] / stride + 1;
  py::array_t<float> values({py::ssize_t{n[0]}, py::ssize_t{n[1]}, py::ssize_t{n[2]}});
  float* to = values.mutable_data();
  const py::gil_scoped_release unlocked;
  for (std::int32_t i = 0; i < n[0]; ++i)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t k = 0; k < n[2]; ++k)
        *to++ = field.node_value(i * stride, j * stride, k * stride);
  return values;
}

BrickField build(const py::object& object, const FieldArguments& arguments,
                 const py::object& progress) {
  const auto mesh = to_mesh(object, "mesh");
  FieldSettings settings = arguments.settings();
  FieldResult built;
  run_long(progress, [&](const Monitor& monitor) {
    settings.monitor = monitor;
    built = build_field(*mesh, settings);
  });
  warn(built.report.warnings);
  return std::move(built.field);
}

BrickField load(const std::filesystem::path& path, bool map) {
  Asset asset;
  {
    const py::gil_scoped_release unlocked;
    asset = read_asset(path, {.map = map});
  }
  warn(asset.notes);
  if (!asset.field)
    throw Error({.file = path.string()},
                "has no brick field: build one with 'isotact build' or Field.build");
  return *asset.field;
}

std::shared_ptr<TriangleMesh> isosurface(const BrickField& field, double level, int stride,
                                         const py::object& progress) {
  auto mesh = std::make_shared<TriangleMesh>();
  run_long(progress, [&](const Monitor& monitor) {
    *mesh = extract_surface(field, {.level = level, .stride = stride, .monitor = monitor});
  });
  return mesh;
}

}  // namespace

void add_field(py::module_& m) {
  py::class_<BrickField>(
      m, "Field",
      "A signed distance field of a mesh on a sparse grid: metres, negative inside. Some 20 ns per "
      "value. Immutable; any number of threads may use it.")
      .def_static(
          "build",
          [](const py::object& mesh, const py::object& resolution, const py::object& voxel_size,
             const py::object& accuracy, double range, const std::string& sign,
             const std::string& nested, const std::string& keep_thin, double padding, int threads,
             const py::object& progress) {
            return build(mesh,
                         {.resolution = resolution,
                          .voxel_size = voxel_size,
                          .accuracy = accuracy,
                          .range = range,
                          .sign = sign,
                          .nested = nested,
                          .keep_thin = keep_thin,
                          .padding = padding,
                          .threads = threads},
                         progress);
          },
          py::arg("mesh"), py::kw_only(), py::arg("resolution") = py::none(),
          py::arg("voxel_size") = py::none(), py::arg("accuracy") = py::none(),
          py::arg("range") = 0.0, py::arg("sign") = "auto", py::arg("nested") = "winding",
          py::arg("keep_thin") = "report", py::arg("padding") = FieldSettings{}.padding,
          py::arg("threads") = 0, py::arg("progress") = py::none(),
          "Builds the field of a mesh, however dirty. At most one of resolution (cells along the "
          "longest side, 128 by default), voxel_size and accuracy (metres) is given. accuracy: the "
          "largest cells whose proved error near the surface, and up to range from it, is at most "
          "this. sign: 'auto', 'pseudonormal', 'winding' or 'unsigned'. nested: 'winding' or "
          "'even-odd'. keep_thin: 'ignore', 'report', 'refine' or 'offset'. Warnings say "
          "what was closed or lost.")
      .def_static("load", &load, py::arg("path"), py::kw_only(), py::arg("map") = true,
                  "The field of an asset. map: its pages are read when they are first touched.")
      .def(
          "save",
          [](const BrickField& field, const std::filesystem::path& path) {
            Asset asset;
            asset.field = field;
            write_asset(path, asset);
          },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(), "Writes an asset.")
      .def("sample", &sample, py::arg("points"), py::kw_only(), py::arg("gradient") = false,
           py::arg("threads") = 0,
           "Distances (N,) as float32; with gradient=True (distances, gradients). float32 points "
           "are "
           "taken without a copy. Outside of the box the value is a lower bound of the distance, "
           "to within "
           "far_error. distance_bounds is proved everywhere.")
      .def("distance_bounds", &bounds_at, py::arg("points"), py::kw_only(), py::arg("threads") = 0,
           "(N, 2): the true distance lies between the two.")
      .def("slice", &slice, py::arg("axis") = "z", py::arg("place") = 0.0, py::kw_only(),
           py::arg("pixels") = 256,
           "Distances on a grid in the plane across an axis; rows and columns are the next two "
           "axes.")
      .def("nodes", &nodes, py::kw_only(), py::arg("stride") = 1,
           "Values at the nodes of the fine grid, index [x, y, z], as float32.")
      .def("isosurface", &isosurface, py::arg("level") = 0.0, py::kw_only(), py::arg("stride") = 1,
           py::arg("progress") = py::none(), "The closed mesh on which the field has this value.")
      .def_property_readonly("voxel_size", [](const BrickField& f) { return f.voxel_size(); })
      .def_property_readonly("cells",
                             [](const BrickField& f) {
                               const Index3& n = f.lattice().cells;
                               return py::make_tuple(n[0], n[1], n[2]);
                             })
      .def_property_readonly("origin",
                             [](const BrickField& f) { return to_python(f.lattice().origin); })
      .def_property_readonly(
          "near_error", [](const BrickField& f) { return double{f.header().near_error}; },
          "Metres: the proved error nearer to the surface than near_reach.")
      .def_property_readonly(
          "near_reach",
          [](const BrickField& f) { return double{std::max(f.header().band, f.header().range)}; })
      .def_property_readonly(
          "far_error", [](const BrickField& f) { return double{f.header().far_error}; },
          "Metres: the proved error further away.")
      .def_property_readonly("nbytes", [](const BrickField& f) { return f.buffer().size(); })
      .def("__copy__", [](const BrickField& f) { return f; })
      .def(
          "__deepcopy__", [](const BrickField& f, const py::object&) { return f; }, py::arg("memo"))
      .def(py::pickle(
          [](const BrickField& f) {
            Asset asset;
            asset.field = f;
            const std::vector<std::byte> bytes = encode_asset(asset);
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          [](const py::bytes& state) {
            const std::string_view bytes = state;
            const Asset asset =
                decode_asset(std::as_bytes(std::span(bytes.data(), bytes.size())), "pickle");
            if (!asset.field) throw Error("the pickle has no field");
            return *asset.field;
          }))
      .def("__repr__", [](const BrickField& f) {
        const Index3& n = f.lattice().cells;
        return fmt::format("<isotact.Field: {} x {} x {} cells of {:.6g} m>", n[0], n[1], n[2],
                           f.voxel_size());
      });
}

}  // namespace isotact::python
