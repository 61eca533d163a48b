#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isotact/base/error.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"

#include "arrays.h"
#include "module.h"
#include "query_words.h"
#include "shape_object.h"

namespace isotact::python {
namespace {

constexpr const char* kCollideNames[] = {"free", "contact", "gave-up", "uncertain"};
constexpr const char* kDistanceNames[] = {"done", "gave-up", "near-enough"};
constexpr const char* kContinuousNames[] = {"free", "contact", "gave-up"};
constexpr const char* kMethodNames[] = {"auto", "points", "idf", "depth", "swept"};

template <std::size_t N, typename Enum>
const char* word_of(const char* const (&words)[N], Enum value) {
  return words[static_cast<std::size_t>(value)];
}

// The truth of a status, or an Error for one that is neither yes nor no.
bool is_contact(const char* status) {
  const std::string word = status;
  if (word != "free" && word != "contact")
    throw Error("the bodies may touch or not: the status is '" + word + "'");
  return word == "contact";
}

// ---- one pair -----------------------------------------------------------------------------------

// Most calls have these alone: comparing them is cheaper than parsing words.
const CollideRequest kUsual{};

CollideResult collide_pair(const ShapeObject& a, const ShapeObject& b, const py::object& pose_a,
                           const py::object& pose_b, const CollideRequest& request) {
  const Pose of_a = to_pose(pose_a, "pose_a"), of_b = to_pose(pose_b, "pose_b");
  const py::gil_scoped_release unlocked;
  thread_local CollideScratch scratch;
  return collide(a.shape, of_a, b.shape, of_b, request, scratch);
}

// ---- gradients ----------------------------------------------------------------------------------

py::tuple gradients_of(const DistanceResult& r, const Pose& a, const Pose& b) {
  py::array_t<double> of_a(6), of_b(6);
  write_gradient(r.contact.normal, r.contact.point_on_a, a.translation, 1, of_a.mutable_data());
  write_gradient(r.contact.normal, r.contact.point_on_b, b.translation, -1, of_b.mutable_data());
  return py::make_tuple(of_a, of_b);
}

struct PythonDistance {
  DistanceResult result;
  Pose a, b;
};

// ---- classes ------------------------------------------------------------------------------------

void add_contact(py::module_& m) {
  py::class_<Contact>(m, "Contact", "A contact, in the world's frame, metres.")
      .def_property_readonly("position", [](const Contact& c) { return to_python(c.position); })
      .def_property_readonly("point_on_a", [](const Contact& c) { return to_python(c.point_on_a); })
      .def_property_readonly("point_on_b", [](const Contact& c) { return to_python(c.point_on_b); })
      .def_property_readonly(
          "normal", [](const Contact& c) { return to_python(c.normal); },
          "Unit, from B towards A. (FCL's has the opposite direction.)")
      .def_readonly("depth", &Contact::depth,
                    "Positive where bodies overlap, negative across a gap.")
      .def("__repr__", [](const Contact& c) {
        return fmt::format("<isotact.Contact at ({:.6g}, {:.6g}, {:.6g}), depth {:.6g} m>",
                           c.position.x, c.position.y, c.position.z, c.depth);
      });
}

void add_collide_result(py::module_& m) {
  using R = CollideResult;
  py::class_<R>(m, "CollideResult", "Result of collide. Lengths are in metres.")
      .def_property_readonly(
          "status", [](const R& r) { return word_of(kCollideNames, r.status); },
          "'free', 'contact', 'gave-up' (a limit ended the search) or 'uncertain' "
          "(with accuracy='field' only).")
      .def_property_readonly(
          "in_contact", [](const R& r) { return is_contact(word_of(kCollideNames, r.status)); },
          "Whether the bodies touch; raises Error if that is not known.")
      .def_readonly("exact", &R::exact, "Whether the triangles decided.")
      .def_readonly("touching", &R::touching, "If exact: the surfaces share a point.")
      .def_readonly(
          "contained", &R::contained,
          "If exact: a part of one body is inside of the other, and surfaces do not touch.")
      .def_property_readonly("method", [](const R& r) { return word_of(kMethodNames, r.method); })
      .def_readonly("contacts", &R::contacts,
                    "A list of Contact, the deepest first. Samples lead to them; if exact, points, "
                    "normals and depths are those of the surfaces.")
      .def_property_readonly(
          "distance",
          [](const R& r) -> py::object {
            if (!r.has_distance) return py::none();
            return py::float_(r.distance);
          },
          "The least distance found, negative if bodies overlap; None if it is not "
          "known (want_distance=True).")
      .def_readonly("lower_bound", &R::lower_bound)
      .def_property_readonly(
          "force",
          [](const R& r) -> py::object {
            if (!r.has_force) return py::none();
            return to_python(r.force);
          },
          "On A, N, in the world; None unless want_force=True.")
      .def_property_readonly(
          "torque",
          [](const R& r) -> py::object {
            if (!r.has_force) return py::none();
            return to_python(r.torque);
          },
          "On A about its origin, N m; None unless want_force=True.")
      .def_readonly("blind_depth", &R::blind_depth,
                    "No part of a surface goes deeper into the other body unseen; 0 if exact.")
      .def("__repr__", [](const R& r) {
        return fmt::format("<isotact.CollideResult: {}{}, {} contacts>",
                           word_of(kCollideNames, r.status), r.exact ? ", exact" : "",
                           r.contacts.size());
      });
}

// Bodies further apart than max_distance have no nearest points.
py::object if_measured(const PythonDistance& d, const py::object& value) {
  return std::isfinite(d.result.distance) ? value : py::none();
}

void add_distance_result(py::module_& m) {
  using R = PythonDistance;
  py::class_<R>(m, "DistanceResult", "Result of distance. Lengths are in metres.")
      .def_property_readonly(
          "status", [](const R& r) { return word_of(kDistanceNames, r.result.status); },
          "'done', 'gave-up' (between the bounds), or 'near-enough'.")
      .def_property_readonly("exact", [](const R& r) { return r.result.exact; })
      .def_property_readonly(
          "distance", [](const R& r) { return r.result.distance; },
          "Between the nearest points; infinite beyond max_distance. For bodies that overlap, it "
          "is minus the depth of the deepest point of either surface, which may be small if they "
          "coincide.")
      .def_property_readonly("lower_bound", [](const R& r) { return r.result.lower_bound; })
      .def_property_readonly("upper_bound", [](const R& r) { return r.result.upper_bound; })
      .def_property_readonly("touching", [](const R& r) { return r.result.touching; })
      .def_property_readonly("contained", [](const R& r) { return r.result.contained; })
      .def_property_readonly(
          "point_on_a",
          [](const R& r) { return if_measured(r, to_python(r.result.contact.point_on_a)); })
      .def_property_readonly(
          "point_on_b",
          [](const R& r) { return if_measured(r, to_python(r.result.contact.point_on_b)); })
      .def_property_readonly(
          "normal", [](const R& r) { return if_measured(r, to_python(r.result.contact.normal)); },
          "Unit, from B towards A. Like the points, None beyond max_distance.")
      .def_property_readonly(
          "separation",
          [](const R& r) -> py::object {
            if (!r.result.has_separation) return py::none();
            return to_python(r.result.separation);
          },
          "Moving A by this separates the bodies; None unless "
          "want_separation=True and bodies overlap.")
      .def_property_readonly(
          "gradients", [](const R& r) { return if_measured(r, gradients_of(r.result, r.a, r.b)); },
          "(of_a, of_b): how the distance changes with the pose of each body: by "
          "a translation (x, y, z), and by a rotation vector about the body's "
          "origin, in the world's frame.")
      .def("__float__", [](const R& r) { return r.result.distance; })
      .def("__repr__", [](const R& r) {
        return fmt::format("<isotact.DistanceResult: {:.9g} m{}, {}>", r.result.distance,
                           r.result.exact ? ", exact" : "",
                           word_of(kDistanceNames, r.result.status));
      });
}

void add_continuous_result(py::module_& m) {
  using R = ContinuousResult;
  py::class_<R>(m, "ContinuousResult", "Result of continuous_collide. Times are from 0 to 1.")
      .def_property_readonly("status",
                             [](const R& r) { return word_of(kContinuousNames, r.status); })
      .def_property_readonly(
          "in_contact", [](const R& r) { return is_contact(word_of(kContinuousNames, r.status)); },
          "Whether the bodies ever touch; raises Error if that is not known.")
      .def_readonly("exact", &R::exact)
      .def_readonly("time", &R::time_of_contact,
                    "Of the first contact; infinite where bodies stay free.")
      .def_readonly("latest_time", &R::latest_time,
                    "If exact: they touch at this time or before, and not before `time`.")
      .def_property_readonly(
          "contact",
          [](const R& r) -> py::object {
            if (r.status != ContinuousStatus::kContact) return py::none();
            return py::cast(r.contact);
          },
          "At `time`; None if the bodies stay free.")
      .def_readonly("contained", &R::contained)
      .def_readonly("blind_depth", &R::blind_depth)
      .def_property_readonly(
          "distance",
          [](const R& r) -> py::object {
            if (!r.has_distance) return py::none();
            return py::float_(r.distance);
          },
          "The least over the motion; None unless want_distance=True.")
      .def_readonly("lower_bound", &R::lower_bound)
      .def_property_readonly("time_of_distance",
                             [](const R& r) -> py::object {
                               if (!r.has_distance) return py::none();
                               return py::float_(r.time_of_distance);
                             })
      .def_property_readonly(
          "nearest",
          [](const R& r) -> py::object {
            if (!r.has_distance) return py::none();
            return py::cast(r.nearest);
          },
          "The nearest points over the motion; None unless want_distance=True.")
      .def("__repr__", [](const R& r) {
        return fmt::format("<isotact.ContinuousResult: {}{}, time {:.6g}>",
                           word_of(kContinuousNames, r.status), r.exact ? ", exact" : "",
                           r.time_of_contact);
      });
}

void add_pairs(py::module_& m) {
  m.def(
      "collide",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& pose_a,
         const py::object& pose_b) { return collide_pair(a, b, pose_a, pose_b, kUsual); },
      py::arg("a"), py::arg("b"), py::arg("pose_a") = py::none(), py::arg("pose_b") = py::none(),
      "Do two bodies touch, where and how deep? Further keywords: see the second signature.");
  m.def(
      "collide",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& pose_a,
         const py::object& pose_b, const std::string& accuracy, const std::string& mode,
         const std::string& method, double margin, std::uint32_t max_contacts, bool want_distance,
         bool want_force, double stiffness, std::uint64_t max_tests) {
        const CollideWords words{accuracy,      mode,       method,    margin,   max_contacts,
                                 want_distance, want_force, stiffness, max_tests};
        return collide_pair(a, b, pose_a, pose_b, words.request());
      },
      py::arg("a"), py::arg("b"), py::arg("pose_a") = py::none(), py::arg("pose_b") = py::none(),
      py::kw_only(), py::arg("accuracy") = "best", py::arg("mode") = "all",
      py::arg("method") = "auto", py::arg("margin") = 0.0, py::arg("max_contacts") = 4U,
      py::arg("want_distance") = false, py::arg("want_force") = false, py::arg("stiffness") = 0.0,
      py::arg("max_tests") = 0U,
      "accuracy: 'exact' (the triangles decide), 'field', or 'best'. mode: 'all' contacts, or "
      "'any': "
      "yes or no, and a witness. margin: bodies as near as this touch. method: 'auto', 'points', "
      "'idf' or 'depth'.");
  m.def(
      "distance",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& pose_a,
         const py::object& pose_b, const std::string& accuracy, double max_distance,
         bool want_depth, bool want_separation, double relative, double absolute,
         double near_enough, std::uint64_t max_tests) {
        PythonDistance d{{}, to_pose(pose_a, "pose_a"), to_pose(pose_b, "pose_b")};
        const DistanceRequest request =
            distance_request(accuracy, max_distance, want_depth, want_separation, relative,
                             absolute, near_enough, max_tests);
        const py::gil_scoped_release unlocked;
        thread_local DistanceScratch scratch;
        d.result = distance(a.shape, d.a, b.shape, d.b, request, scratch);
        return d;
      },
      py::arg("a"), py::arg("b"), py::arg("pose_a") = py::none(), py::arg("pose_b") = py::none(),
      py::kw_only(), py::arg("accuracy") = "best", py::arg("max_distance") = kFar,
      py::arg("want_depth") = true, py::arg("want_separation") = false,
      py::arg("relative_tolerance") = 0.0, py::arg("absolute_tolerance") = 0.0,
      py::arg("near_enough") = 0.0, py::arg("max_tests") = 0U,
      "How far apart are two bodies? Negative, with the depth of the deepest point, if they "
      "overlap. "
      "max_distance: pairs further apart are not measured. near_enough: the search ends at the "
      "first "
      "points as near as this.");
  m.def(
      "continuous_collide",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& from_a,
         const py::object& to_a, const py::object& from_b, const py::object& to_b,
         const std::string& motion, int degree, const std::string& accuracy, double margin,
         double time_tolerance, bool want_distance, std::uint64_t max_tests) {
        const BodyMotion of_a = to_motion(from_a, to_a, "from_a", "to_a");
        const BodyMotion of_b = to_motion(from_b, to_b, "from_b", "to_b");
        const ContinuousRequest request{.accuracy = to_accuracy(accuracy),
                                        .margin = margin,
                                        .model = to_motion_model(motion),
                                        .degree = degree,
                                        .time_tolerance = time_tolerance,
                                        .want_distance = want_distance,
                                        .max_tests = max_tests};
        const py::gil_scoped_release unlocked;
        thread_local ContinuousScratch scratch;
        return ContinuousResult(continuous_collide(a.shape, of_a, b.shape, of_b, request, scratch));
      },
      py::arg("a"), py::arg("b"), py::kw_only(), py::arg("from_a") = py::none(),
      py::arg("to_a") = py::none(), py::arg("from_b") = py::none(), py::arg("to_b") = py::none(),
      py::arg("motion") = "rates", py::arg("degree") = 3, py::arg("accuracy") = "best",
      py::arg("margin") = 0.0, py::arg("time_tolerance") = 1e-6, py::arg("want_distance") = false,
      py::arg("max_tests") = 0U,
      "When do two moving bodies first touch? A body without a `to` pose rests. motion: 'rates' "
      "(constant rates of each body), 'straight' (points of A on straight lines in B's frame, so "
      "that A and B are not alike), 'screw' or 'polynomial'. "
      "A "
      "turn is the smaller one between the two rotations.");
}

}  // namespace

void add_queries(py::module_& m) {
  add_contact(m);
  add_collide_result(m);
  add_distance_result(m);
  add_continuous_result(m);
  add_pairs(m);
}

}  // namespace isotact::python
