#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isotact/asset/build_asset.h"
#include "isotact/asset/load_shape.h"
#include "isotact/base/error.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/segments/segment.h"
#include "isotact/queries/segments/segment_index.h"

#include "arrays.h"
#include "field_settings.h"
#include "long_work.h"
#include "module.h"
#include "shape_object.h"
#include "solids.h"

namespace isotact::python {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18U;  // Points between two looks at signals.

LoadSettings load_settings(const FieldArguments& arguments, const py::object& points,
                           double spacing, bool on_demand) {
  const FieldSettings field = arguments.settings();
  if (field.accuracy || field.range != 0)
    throw py::value_error(
        "accuracy and range are for Field.build: a shape takes resolution or "
        "voxel_size");
  LoadSettings s{.resolution = field.resolution,
                 .voxel_size = field.voxel_size,
                 .sign = field.sign,
                 .keep_thin = field.keep_thin,
                 .on_demand = on_demand,
                 .spacing = spacing,
                 .threads = field.threads};
  if (!points.is_none())
    s.points = static_cast<std::uint32_t>(to_whole(points, "points", 0, 100'000'000));
  return s;
}

ShapeObject shape_of_mesh(const py::object& object, const LoadSettings& given,
                          const py::object& progress) {
  const auto mesh = to_mesh(object, "mesh");
  LoadSettings settings = given;
  LoadReport report;
  settings.report = &report;
  std::optional<Shape> shape;
  run_long(progress, [&](const Monitor& monitor) {
    settings.monitor = monitor;
    shape = cook_shape(*mesh, settings);
  });
  warn(report.warnings);
  return {std::move(*shape)};
}

ShapeObject load(const std::filesystem::path& path, const std::string& unit,
                 const LoadSettings& given, bool cache, const py::object& progress) {
  LoadSettings settings = given;
  LoadReport report;
  settings.report = &report;
  settings.unit = unit;
  if (cache) settings.cache.emplace();
  std::optional<Shape> shape;
  run_long(progress, [&](const Monitor& monitor) {
    settings.monitor = monitor;
    shape = load_shape(path, settings);
  });
  warn(report.warnings);
  return {std::move(*shape)};
}

const ExactField& exact_field(const ShapeObject& s) {
  return s.exact->get([&] {
    const Shape& shape = s.shape;
    if (shape.parts().prepared) return ExactField(*shape.parts().prepared);
    const TriangleMesh& mesh = shape.surface();
    SurfaceSettings settings;
    if (const auto& rule = shape.parts().sign_rule) {
      settings.sign = rule->is_unsigned ? SignMethod::kUnsigned : SignMethod::kAuto;
      settings.nested = rule->nested;
    }
    settings.voxel_size = shape.parts().field ? shape.cell() : plan_lattice(mesh).spacing;
    return ExactField(prepare_surface(mesh, settings));
  });
}

bool has_triangles(const Shape& shape) {
  return shape.parts().flat_mesh || (shape.parts().mesh && !shape.parts().mesh->triangles.empty());
}

// Which source answers.
enum class Source { kFormula, kTriangles, kField };

Source choose_source(const Shape& shape, const std::string& accuracy) {
  const std::size_t word = find_word(accuracy, "accuracy", {"best", "field", "exact"});
  if (shape.solid()) {
    if (word == 2 && std::holds_alternative<std::monostate>(shape.solid()->primitive()))
      throw Error(
          "combinations and terrain have bounds of distances, not exact ones: ask for "
          "accuracy='best'");
    return Source::kFormula;
  }
  if (word == 2 && !has_triangles(shape))
    throw Error("a shape without triangles has no exact distances: ask for accuracy='field'");
  return word != 1 && has_triangles(shape) ? Source::kTriangles : Source::kField;
}

// The field of a mesh that was built already, if its bounds are those of the triangles' distance:
// not of a shell, and not grown. A search that knows a bound and the side takes a fraction.
const BrickField* guide_of(const Shape& shape) {
  const auto& field = shape.parts().field;
  if (!field) return nullptr;
  const BrickFieldHeader& h = field->header();
  return h.shell_offset == 0 && h.sparse_from > 0 ? &*field : nullptr;
}

FieldSample sample_triangles(const ExactField& exact, const BrickField* guide, const Vec3& point) {
  if (guide == nullptr) return exact.sample(point);
  const Interval bounds = guide->distance_bounds(point);
  ExactField::Known known{.most_distance = std::max(-bounds.lower, bounds.upper)};
  if (bounds.lower > 0 || bounds.upper < 0) known.inside = bounds.upper < 0;
  return exact.sample(point, known);
}

py::object signed_distance(const ShapeObject& s, const py::object& given, bool want_gradient,
                           const std::string& accuracy, int thread_count) {
  const Source source = choose_source(s.shape, accuracy);
  PointArray points(given, "points");
  const Threads threads = to_threads(thread_count);
  {
    const py::gil_scoped_release unlocked;  // What the query needs may have to be made.
    if (source == Source::kTriangles) exact_field(s);
    if (source == Source::kField) s.shape.any_field();
  }
  const auto rows = static_cast<py::ssize_t>(points.size());
  py::array_t<double> distances(rows);
  py::array_t<double> gradients({want_gradient ? rows : py::ssize_t{0}, py::ssize_t{3}});
  const std::span<const Vec3> from = points.as_double();
  double* const values = distances.mutable_data();
  auto* const slopes = reinterpret_cast<Vec3*>(gradients.mutable_data());
  const BrickField* const guide = guide_of(s.shape);
  const auto evaluate = [&](std::size_t i) {
    if (source != Source::kTriangles && !want_gradient)
      return FieldSample{s.shape.any_field().value(from[i]), {}};
    return source == Source::kTriangles ? sample_triangles(exact_field(s), guide, from[i])
                                        : s.shape.any_field().sample(from[i]);
  };
  for (std::size_t first = 0; first < from.size(); first += kPiece) {
    {
      const py::gil_scoped_release unlocked;
      const std::size_t count = std::min(kPiece, from.size() - first);
      parallel_for(count, 256, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = first + begin; i < first + end; ++i) {
          const FieldSample sample = evaluate(i);
          values[i] = sample.distance;
          if (want_gradient) slopes[i] = sample.gradient;
        }
      });
    }
    handle_signals();
  }
  if (!want_gradient) return distances;
  return py::make_tuple(distances, gradients);
}

py::tuple trace(const ShapeObject& s, const py::object& starts, const py::object& ends,
                double margin, const std::string& mode, int thread_count) {
  constexpr Mode kModes[] = {Mode::kAll, Mode::kFirst, Mode::kAny};
  const Mode wanted = kModes[find_word(mode, "mode", {"all", "first", "any"})];
  const std::vector<Segment> segments = to_segments(starts, ends);
  const SegmentSettings settings{
      .margin = margin, .mode = wanted, .threads = to_threads(thread_count)};
  SegmentResults results;
  {
    const py::gil_scoped_release unlocked;
    const BrickField& field = s.shape.brick_field();
    const SegmentIndex* index = s.shape.segment_index().get();
    const SegmentTracer tracer = index != nullptr && index->serves(margin)
                                     ? SegmentTracer(field, s.shape.segment_index(), settings)
                                     : SegmentTracer(field, settings);
    tracer.trace(segments, results);
  }
  return py::make_tuple(take_rows<std::uint64_t, std::uint64_t>(std::move(results.first), 1),
                        take_rows<SegmentInterval, float>(std::move(results.intervals), 2));
}

py::array_t<float> points_of(const ShapeObject& s) {
  const PointSphereTree* tree = nullptr;
  {
    const py::gil_scoped_release unlocked;
    tree = &s.shape.points();
  }
  const std::uint32_t count = tree->point_count();
  py::array_t<float> rows({py::ssize_t{count}, py::ssize_t{3}});
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3f p = tree->point(i);
    for (std::size_t k = 0; k < 3; ++k) rows.mutable_data()[3 * i + k] = p[k];
  }
  return rows;
}

// All parts that queries need, as `isotact build` stores them.
Asset asset_of(const Shape& shape) {
  Asset asset;
  // Of a voxelmap alone a field would be made, and queries would then read that.
  if (shape.can_have_field() && (shape.field() || !shape.voxmap()))
    asset.field = shape.brick_field();
  if (shape.can_have_points()) {
    set_point_sphere_tree(asset, shape.points());
    asset.mass = shape.mass();
    asset.mass->warnings.clear();
  }
  asset.voxmap = shape.voxmap();
  if (shape.parts().flat_mesh)
    asset.mesh = *shape.parts().flat_mesh;
  else if (has_triangles(shape))
    asset.mesh = FlatMesh::build(*shape.parts().mesh);
  if (const auto& rule = shape.parts().sign_rule; rule && rule->nested == NestedRule::kEvenOdd)
    asset.source.settings = R"({"nested": "even-odd"})";
  return asset;
}

void save(const ShapeObject& s, const std::filesystem::path& path) {
  const py::gil_scoped_release unlocked;
  save_asset(path, asset_of(s.shape));
}

// ---- pickles ------------------------------------------------------------------------------------

// Solids travel as their recipe, all others as an asset.
py::tuple get_state(const ShapeObject& s) {
  if (s.recipe) return py::make_tuple("solid", encode_recipe(*s.recipe));
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release unlocked;
    bytes = encode_asset(asset_of(s.shape));
  }
  return py::make_tuple("asset",
                        py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

ShapeObject of_state(const py::tuple& state) {
  const bool fits = state.size() == 2 && py::isinstance<py::str>(state[0]);
  const std::string kind = fits ? py::cast<std::string>(state[0]) : "";
  if (kind == "solid") return shape_of_recipe(decode_recipe(state[1]));
  if (kind != "asset" || !py::isinstance<py::bytes>(state[1]))
    throw py::value_error("this pickle holds no shape of this version");
  const auto bytes = py::cast<std::string_view>(state[1]);
  const py::gil_scoped_release unlocked;
  // Copied, since the bytes of an asset are aligned.
  return {Shape::from_asset(decode_asset(std::as_bytes(std::span(bytes)), "a pickled shape"))};
}

// That of the triangles; the shape's own box may have some cells more.
Aabb tight_bounds(const Shape& shape) {
  return has_triangles(shape) ? isotact::to_double(isotact::bounds(shape.surface()))
                              : shape.bounds();
}

py::array_t<double> bounds_of(const Shape& shape) {
  const Aabb box = tight_bounds(shape);
  py::array_t<double> b({2, 3});
  for (std::size_t i = 0; i < 3; ++i) {
    b.mutable_data()[i] = box.lower[i];
    b.mutable_data()[3 + i] = box.upper[i];
  }
  return b;
}

std::string repr(const ShapeObject& s) {
  const Aabb b = tight_bounds(s.shape);
  const Vec3 size = extent(b);
  const char* const kind = s.shape.solid()          ? "a formula"
                           : has_triangles(s.shape) ? "a mesh"
                                                    : "a field";
  return fmt::format("<isotact.Shape of {}: {:.4g} x {:.4g} x {:.4g} m>", kind, size.x, size.y,
                     size.z);
}

}  // namespace

void add_shape(py::module_& m) {
  py::class_<ShapeObject> c(
      m, "Shape",
      "A body for all queries. Immutable; any number of threads may use it.\n\n"
      "    Shape(mesh)                     # a Mesh, (vertices, faces), a trimesh or Open3D mesh\n"
      "    Shape.load('part.stl', unit='mm')    # a mesh file, or an asset of Shape.save\n"
      "    Shape.plane(), Shape.box((1, 2, 3)), Shape.sphere(0.5), ...   # nothing is sampled\n"
      "    Shape.box((1, 1, 1)) - Shape.cylinder(0.2, 2)                 # combined: | & -");
  c.def(py::init([](const py::object& mesh, const py::object& resolution,
                    const py::object& voxel_size, const std::string& sign,
                    const std::string& keep_thin, const py::object& points, double spacing,
                    bool on_demand, int threads, const py::object& progress) {
          return shape_of_mesh(mesh,
                               load_settings({.resolution = resolution,
                                              .voxel_size = voxel_size,
                                              .sign = sign,
                                              .keep_thin = keep_thin,
                                              .threads = threads},
                                             points, spacing, on_demand),
                               progress);
        }),
        py::arg("mesh"), py::kw_only(), py::arg("resolution") = py::none(),
        py::arg("voxel_size") = py::none(), py::arg("sign") = "auto",
        py::arg("keep_thin") = "offset", py::arg("points") = py::none(), py::arg("spacing") = 0.0,
        py::arg("on_demand") = false, py::arg("threads") = 0, py::arg("progress") = py::none(),
        "Builds the field of a mesh and points on its surface, and keeps the triangles. on_demand: "
        "field and points are made when a query first needs them; exact queries seldom do.")
      .def_static(
          "load",
          [](const std::filesystem::path& path, const std::string& unit,
             const py::object& resolution, const py::object& voxel_size, const std::string& sign,
             const std::string& keep_thin, const py::object& points, double spacing, bool on_demand,
             bool cache, int threads, const py::object& progress) {
            return load(path, unit,
                        load_settings({.resolution = resolution,
                                       .voxel_size = voxel_size,
                                       .sign = sign,
                                       .keep_thin = keep_thin,
                                       .threads = threads},
                                      points, spacing, on_demand),
                        cache, progress);
          },
          py::arg("path"), py::kw_only(), py::arg("unit") = "", py::arg("resolution") = py::none(),
          py::arg("voxel_size") = py::none(), py::arg("sign") = "auto",
          py::arg("keep_thin") = "offset", py::arg("points") = py::none(), py::arg("spacing") = 0.0,
          py::arg("on_demand") = false, py::arg("cache") = false, py::arg("threads") = 0,
          py::arg("progress") = py::none(),
          "From a mesh file or an asset. cache: a mesh's build is kept for the next time.")
      .def_static(
          "of_field",
          [](const BrickField& field) { return ShapeObject{Shape::from_parts(field, {})}; },
          py::arg("field"), "A shape of a field alone: it has no triangles, so no exact answers.")
      .def("save", &save, py::arg("path"), "Writes an asset with field, points and triangles.")
      .def("signed_distance", &signed_distance, py::arg("points"), py::kw_only(),
           py::arg("gradient") = false, py::arg("accuracy") = "best", py::arg("threads") = 0,
           "Signed distances (N,) of points, negative inside, float64; with gradient=True "
           "(distances, "
           "gradients), where a gradient is the unit vector away from the nearest point of the "
           "surface. accuracy: 'exact' by the triangles, 'field' by the field (20 times faster), "
           "'best': exact if the shape keeps triangles. Holes are closed: distances to the closing "
           "surface count, too. Combinations of solids give lower bounds of the distance, with the "
           "right sign. Fields may be those of a grown body (keep_thin), and are lower bounds to "
           "within their error outside of their box.")
      .def("trace", &trace, py::arg("starts"), py::arg("ends"), py::kw_only(),
           py::arg("margin") = 0.0, py::arg("mode") = "all", py::arg("threads") = 0,
           "Intervals of segments inside the body: (first, intervals). Segment i has "
           "intervals[first[i]:first[i + 1]], each (enter, exit) from 0 to 1. mode: 'all', 'first' "
           "or "
           "'any'. By the field.")
      .def_property_readonly(
          "mesh",
          [](const ShapeObject& s) {
            const py::gil_scoped_release unlocked;
            return std::make_shared<TriangleMesh>(s.shape.surface());
          },
          "The mesh that the shape keeps, or the surface of its field or formula.")
      .def_property_readonly(
          "field",
          [](const ShapeObject& s) {
            const py::gil_scoped_release unlocked;
            return s.shape.brick_field();
          },
          "The field; built on first use. With keep_thin='offset' it may be that of a grown body, "
          "as a warning says; its bounds are then those of that body.")
      .def_property_readonly("points", &points_of, "Points on the surface, (N, 3) float32.")
      .def_property_readonly(
          "bounds", [](const ShapeObject& s) { return bounds_of(s.shape); },
          "(2, 3): the lower and the upper corner; infinite without end.")
      .def_property_readonly(
          "volume", [](const ShapeObject& s) { return s.shape.mass().volume; }, "m^3.")
      .def_property_readonly("warnings",
                             [](const ShapeObject& s) {
                               std::vector<std::string> all;
                               for (const std::string& w : s.shape.warnings())
                                 all.push_back(in_words_of_python(w));
                               return all;
                             })
      .def(py::pickle(&get_state, &of_state))
      .def("__copy__", [](const ShapeObject& s) { return s; })
      .def(
          "__deepcopy__", [](const ShapeObject& s, const py::object&) { return s; },
          py::arg("memo"), "Shapes are immutable: copies share everything.")
      .def("__repr__", &repr);
  add_solids(c);
}

}  // namespace isotact::python
