#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/base/progress.h"
#include "isotact/version.h"

#include "arrays.h"
#include "module.h"

namespace isotact::python {
namespace {

struct Words {
  Hint hint;
  const char* words;
};

constexpr Words kWords[] = {
    {Hint::kUnit, "unit='mm'"},
    {Hint::kThinParts, "voxel_size=..., or keep_thin='refine' or 'offset'"},
    {Hint::kOpenings, "sign='unsigned'"},
    {Hint::kInnerParts, "nested='even-odd'"},
    {Hint::kFrameRate, "fewer frames_per_second"},
    {Hint::kResolution, "a smaller resolution"},
    {Hint::kField, "make the shape of its mesh"},
    {Hint::kBounds, "a flat box in place of a plane"},
    {Hint::kTriangles, "accuracy='field', or a shape of a mesh"},
};

std::string repr(const Pose& p) {
  return fmt::format(
      "isotact.Pose(({:.6g}, {:.6g}, {:.6g}), wxyz=({:.6g}, {:.6g}, {:.6g}, {:.6g}))",
      p.translation.x, p.translation.y, p.translation.z, p.rotation.w, p.rotation.x, p.rotation.y,
      p.rotation.z);
}

Quat to_unit(const py::handle& object) {
  const py::array_t<double> n = to_numbers(object, "wxyz", 4, "four numbers w x y z");
  const Quat q{n.data()[0], n.data()[1], n.data()[2], n.data()[3]};
  constexpr double kRounding = 1e-6;
  if (!(std::abs(length_sq(q) - 1) < kRounding))
    throw py::value_error(fmt::format(
        "wxyz: expected a unit quaternion, found one of length {:.6g}", std::sqrt(length_sq(q))));
  return normalized(q);
}

py::array_t<double> transform(const Pose& pose, const py::object& points, bool is_vector) {
  PointArray in(points, "points");
  py::array_t<double> out({static_cast<py::ssize_t>(in.size()), py::ssize_t{3}});
  auto* rows = reinterpret_cast<Vec3*>(out.mutable_data());
  const std::span<const Vec3> from = in.as_double();
  for (std::size_t i = 0; i < from.size(); ++i)
    rows[i] = is_vector ? transform_vector(pose, from[i]) : transform_point(pose, from[i]);
  return out;
}

void add_pose(py::module_& m) {
  py::class_<Pose>(m, "Pose",
                   "A rigid pose: it maps points of a body's frame into the world. Metres.\n\n"
                   "    Pose((0, 0, 1))                                # moved by z = 1\n"
                   "    Pose((0, 0, 1), axis=(0, 0, 1), degrees=90)    # turned, then moved\n"
                   "    Pose.parse('xyz=0,0,1 rpy=0,0,90')             # as the tool writes poses\n"
                   "    Pose.from_matrix(matrix)                       # 4 x 4\n\n"
                   "Wherever a pose is expected, a 4 x 4 matrix, seven numbers x y z qw qx qy qz, "
                   "and None (the identity) serve as well.")
      .def(py::init([](const py::object& translation, const py::object& wxyz,
                       const py::object& axis, double degrees) {
             Pose p;
             if (!translation.is_none()) p.translation = to_vec3(translation, "translation");
             if (!wxyz.is_none() && !axis.is_none())
               throw py::value_error("give wxyz or axis and degrees, not both");
             if (!wxyz.is_none()) p.rotation = to_unit(wxyz);
             if (!axis.is_none()) {
               const Vec3 a = to_vec3(axis, "axis");
               constexpr double kRadians = 3.14159265358979323846 / 180;
               if (!(length(a) > 0))
                 throw py::value_error("axis: expected a direction, found 0 0 0");
               if (!(std::abs(degrees) <= 1e6))
                 throw py::value_error("degrees: expected a number of at most a million");
               p.rotation = rotation_about(a, degrees * kRadians);
             } else if (degrees != 0) {
               throw py::value_error("degrees needs an axis");
             }
             return p;
           }),
           py::arg("translation") = py::none(), py::kw_only(), py::arg("wxyz") = py::none(),
           py::arg("axis") = py::none(), py::arg("degrees") = 0.0)
      .def_static(
          "parse", [](const std::string& text) { return parse_pose(text); }, py::arg("text"),
          "Reads 'xyz=0,0,1 wxyz=1,0,0,0', or with axis=X,Y,Z,DEGREES or rpy=R,P,Y (degrees).")
      .def_static(
          "from_matrix", [](const py::object& matrix) { return to_pose(matrix, "matrix"); },
          py::arg("matrix"), "From a rigid 4 x 4 matrix.")
      .def_property_readonly("translation", [](const Pose& p) { return to_python(p.translation); })
      .def_property_readonly(
          "wxyz",
          [](const Pose& p) {
            py::array_t<double> q(4);
            q.mutable_data()[0] = p.rotation.w;
            q.mutable_data()[1] = p.rotation.x;
            q.mutable_data()[2] = p.rotation.y;
            q.mutable_data()[3] = p.rotation.z;
            return q;
          },
          "The unit quaternion, w first.")
      .def(
          "matrix",
          [](const Pose& p) {
            py::array_t<double> m4({4, 4});
            write_matrix(p, m4.mutable_data());
            return m4;
          },
          "The 4 x 4 matrix.")
      .def("inverse", [](const Pose& p) { return inverse(p); })
      .def(
          "apply",
          [](const Pose& p, const py::object& points) { return transform(p, points, false); },
          py::arg("points"), "Maps points, an array of shape (N, 3).")
      .def(
          "rotate", [](const Pose& p, const py::object& v) { return transform(p, v, true); },
          py::arg("vectors"), "Rotates vectors, an array of shape (N, 3).")
      .def(
          "__mul__", [](const Pose& a, const Pose& b) { return a * b; }, py::is_operator())
      .def(
          "__matmul__", [](const Pose& a, const Pose& b) { return a * b; }, py::is_operator())
      .def(
          "__eq__", [](const Pose& a, const Pose& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Pose& p) { return py::hash(py::str(format_pose(p))); })
      .def("__copy__", [](const Pose& p) { return p; })
      .def(
          "__deepcopy__", [](const Pose& p, const py::object&) { return p; }, py::arg("memo"))
      .def("__str__", &format_pose)
      .def("__repr__", &repr)
      .def(py::pickle([](const Pose& p) { return py::str(format_pose(p)); },
                      [](const py::str& text) { return parse_pose(std::string(text)); }));
}

}  // namespace

std::string in_words_of_python(const std::string& message) {
  auto [text, hint] = split_hint(message);
  for (const Words& w : kWords)
    if (w.hint == hint) return text + " (" + w.words + ")";
  return text;
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& w : warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, in_words_of_python(w).c_str(), 1) != 0)
      throw py::error_already_set();
}

std::int64_t to_whole(const py::handle& object, const char* name, std::int64_t least,
                      std::int64_t most) {
  const py::object whole = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!whole) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{}: expected a whole number, found {}", name,
                                     printable(std::string(py::str(py::repr(object))))));
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0 || value < least || value > most)
    throw py::value_error(fmt::format("{}: expected {} to {}, found {}", name, least, most,
                                      printable(std::string(py::str(whole)))));
  return value;
}

double to_number(const py::handle& object, const char* name) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{}: expected a number, found {}", name,
                                     printable(std::string(py::str(py::repr(object))))));
  }
  return value;
}

std::size_t find_word(const std::string& given, const char* name,
                      std::initializer_list<const char*> words) {
  std::size_t i = 0;
  std::string all;
  for (const char* word : words) {
    if (given == word) return i;
    all += fmt::format("{}'{}'", i == 0 ? "" : ", ", word);
    ++i;
  }
  throw py::value_error(
      fmt::format("{}: expected one of {}, found '{}'", name, all, printable(given)));
}

void add_base(py::module_& m) {
  // Lives as long as the process: nothing may be released after the interpreter has ended.
  static PyObject* const error = PyErr_NewExceptionWithDoc(
      "isotact.Error", "The reason why the library cannot do something, and what would help.",
      nullptr, nullptr);
  m.attr("Error") = py::reinterpret_borrow<py::object>(error);
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11's interface
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Cancelled&) {
      PyErr_SetString(PyExc_KeyboardInterrupt, "cancelled");
    } catch (const Error& e) {
      PyErr_SetString(error, in_words_of_python(e.what()).c_str());
    }
  });
  m.attr("__version__") = ISOTACT_VERSION_STRING;
  add_pose(m);
}

}  // namespace isotact::python
