#include <cstddef>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isotact/base/error.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"

#include "arrays.h"
#include "long_work.h"
#include "module.h"
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

Accuracy to_accuracy(const std::string& word) {
  return static_cast<Accuracy>(find_word(word, "accuracy", {"best", "field", "exact"}));
}

// The truth of a status, or an Error for one that is neither yes nor no.
bool is_contact(const char* status) {
  const std::string word = status;
  if (word != "free" && word != "contact")
    throw Error("the bodies may touch or not: the status is '" + word + "'");
  return word == "contact";
}

// ---- one pair -----------------------------------------------------------------------------------

struct CollideWords {
  std::string accuracy, mode, method;
  double margin;
  std::uint32_t max_contacts;
  bool want_distance, want_force;
  double stiffness;
  std::uint64_t max_tests;

  CollideRequest request() const {
    CollideRequest r{.accuracy = to_accuracy(accuracy), .margin = margin};
    r.mode = find_word(mode, "mode", {"all", "any"}) == 0 ? Mode::kAll : Mode::kAny;
    r.method = static_cast<Method>(
        find_word(method, "method", {"auto", "points", "idf", "depth", "swept"}));
    r.max_contacts = max_contacts;
    r.want_distance = want_distance;
    r.want_force = want_force;
    if (stiffness > 0) r.force.stiffness = stiffness;
    r.max_tests = max_tests;
    return r;
  }
};

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

// Of the distance between the bodies with respect to small motions of one of them: a translation,
// and a rotation vector about the body's origin, both in the world's frame. By the envelope theorem
// the nearest points may be held fixed on their bodies.
void write_gradient(const Vec3& normal, const Vec3& point, const Vec3& origin, double sign,
                    double* to) {
  const Vec3 turn = cross(point - origin, normal);
  for (std::size_t k = 0; k < 3; ++k) {
    to[k] = sign * normal[k];
    to[3 + k] = sign * turn[k];
  }
}

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

// ---- structured arrays --------------------------------------------------------------------------

struct ContactRow {
  std::uint8_t status, exact;
  std::uint16_t unused;
  std::uint32_t pair;
  double distance, lower_bound;
  double position[3], point_on_a[3], point_on_b[3], normal[3];
  double depth;
};

struct DistanceRow {
  std::uint8_t status, exact, touching, contained;
  std::uint32_t unused;
  double distance, lower_bound, upper_bound;
  double point_on_a[3], point_on_b[3], normal[3];
  double gradient_a[6], gradient_b[6];
};

struct Column {
  const char* name;
  const char* format;
  std::size_t offset;
};

py::dtype make_dtype(std::initializer_list<Column> columns, std::size_t size) {
  py::list names, formats, offsets;
  for (const Column& c : columns) {
    names.append(c.name);
    formats.append(c.format);
    offsets.append(c.offset);
  }
  return py::dtype(names, formats, offsets, static_cast<py::ssize_t>(size));
}

py::dtype contact_dtype() {
  using R = ContactRow;
  return make_dtype({{"status", "u1", offsetof(R, status)},
                     {"exact", "?", offsetof(R, exact)},
                     {"pair", "u4", offsetof(R, pair)},
                     {"distance", "f8", offsetof(R, distance)},
                     {"lower_bound", "f8", offsetof(R, lower_bound)},
                     {"position", "3f8", offsetof(R, position)},
                     {"point_on_a", "3f8", offsetof(R, point_on_a)},
                     {"point_on_b", "3f8", offsetof(R, point_on_b)},
                     {"normal", "3f8", offsetof(R, normal)},
                     {"depth", "f8", offsetof(R, depth)}},
                    sizeof(R));
}

py::dtype distance_dtype() {
  using R = DistanceRow;
  return make_dtype({{"status", "u1", offsetof(R, status)},
                     {"exact", "?", offsetof(R, exact)},
                     {"touching", "?", offsetof(R, touching)},
                     {"contained", "?", offsetof(R, contained)},
                     {"distance", "f8", offsetof(R, distance)},
                     {"lower_bound", "f8", offsetof(R, lower_bound)},
                     {"upper_bound", "f8", offsetof(R, upper_bound)},
                     {"point_on_a", "3f8", offsetof(R, point_on_a)},
                     {"point_on_b", "3f8", offsetof(R, point_on_b)},
                     {"normal", "3f8", offsetof(R, normal)},
                     {"gradient_a", "6f8", offsetof(R, gradient_a)},
                     {"gradient_b", "6f8", offsetof(R, gradient_b)}},
                    sizeof(R));
}

void put(double (&to)[3], const Vec3& v) {
  for (std::size_t k = 0; k < 3; ++k) to[k] = v[k];
}

ContactRow row_of(const CollideRow& r) {
  ContactRow row{};
  row.status = static_cast<std::uint8_t>(r.status);
  row.exact = r.exact;
  row.pair = r.pair;
  row.distance = r.distance;
  row.lower_bound = r.lower_bound;
  put(row.position, r.contact.position);
  put(row.point_on_a, r.contact.point_on_a);
  put(row.point_on_b, r.contact.point_on_b);
  put(row.normal, r.contact.normal);
  row.depth = r.contact.depth;
  return row;
}

DistanceRow row_of(const DistanceResult& r, const Pose& a, const Pose& b) {
  DistanceRow row{};
  row.status = static_cast<std::uint8_t>(r.status);
  row.exact = r.exact;
  row.touching = r.touching;
  row.contained = r.contained;
  row.distance = r.distance;
  row.lower_bound = r.lower_bound;
  row.upper_bound = r.upper_bound;
  put(row.point_on_a, r.contact.point_on_a);
  put(row.point_on_b, r.contact.point_on_b);
  put(row.normal, r.contact.normal);
  write_gradient(r.contact.normal, r.contact.point_on_a, a.translation, 1, row.gradient_a);
  write_gradient(r.contact.normal, r.contact.point_on_b, b.translation, -1, row.gradient_b);
  return row;
}

// ---- batches ------------------------------------------------------------------------------------

constexpr std::size_t kPiece = 4096;  // States between two looks at signals.

// Poses of `bodies` in each of many states: an array of (S, B, 4, 4) or (S, B, 7), or for one body
// of (S, 4, 4) or (S, 7).
std::vector<Pose> to_states(const py::object& object, std::size_t bodies, const char* name) {
  if (bodies == 1) return to_poses(object, name);
  const py::array a = to_array(object, name);
  const bool matrices = a.ndim() == 4 && a.shape(2) == 4 && a.shape(3) == 4;
  if ((!matrices && !(a.ndim() == 3 && a.shape(2) == 7)) ||
      static_cast<std::size_t>(a.shape(1)) != bodies)
    throw py::value_error(
        fmt::format("{}: expected an array of shape (states, {}, 4, 4) or (states, {}, 7)", name,
                    bodies, bodies));
  std::vector<py::ssize_t> flat{a.shape(0) * a.shape(1),
                                matrices ? py::ssize_t{4} : py::ssize_t{7}};
  if (matrices) flat.push_back(4);
  return to_poses(a.attr("reshape")(flat), name);
}

py::array collide_many(const ShapeObject& a, const ShapeObject& b, const py::object& poses_b,
                       const py::object& pose_a, const CollideRequest& request, int threads) {
  const Pose of_a = to_pose(pose_a, "pose_a");
  const std::vector<Pose> poses = to_poses(poses_b, "poses_b");
  const CollideBatchRequest batch{.collide = request, .threads = to_threads(threads)};
  py::array rows(contact_dtype(), static_cast<py::ssize_t>(poses.size()));
  auto* const to = static_cast<ContactRow*>(rows.mutable_data());
  BatchScratch scratch;
  for (std::size_t i = 0; i < poses.size(); i += kPiece) {
    {
      const py::gil_scoped_release unlocked;
      const auto piece = std::span(poses).subspan(i, std::min(kPiece, poses.size() - i));
      std::size_t k = i;
      for (const CollideRow& r : collide_poses(a.shape, of_a, b.shape, piece, batch, scratch))
        to[k++] = row_of(r);
    }
    handle_signals();
  }
  return rows;
}

py::array distance_many(const ShapeObject& a, const ShapeObject& b, const py::object& poses_b,
                        const py::object& pose_a, const DistanceRequest& request, int threads) {
  const Pose of_a = to_pose(pose_a, "pose_a");
  const std::vector<Pose> poses = to_poses(poses_b, "poses_b");
  const DistanceBatchRequest batch{.distance = request, .threads = to_threads(threads)};
  py::array rows(distance_dtype(), static_cast<py::ssize_t>(poses.size()));
  auto* const to = static_cast<DistanceRow*>(rows.mutable_data());
  BatchScratch scratch;
  for (std::size_t i = 0; i < poses.size(); i += kPiece) {
    {
      const py::gil_scoped_release unlocked;
      const auto piece = std::span(poses).subspan(i, std::min(kPiece, poses.size() - i));
      std::size_t k = i;
      for (const DistanceResult& r :
           distance_poses(a.shape, of_a, b.shape, piece, batch, scratch)) {
        to[k] = row_of(r, of_a, poses[k]);
        ++k;
      }
    }
    handle_signals();
  }
  return rows;
}

struct Bodies {
  std::vector<Shape> shapes;
  std::vector<ShapePair> pairs;
  std::vector<Pose> poses;
  std::size_t states() const { return shapes.empty() ? 0 : poses.size() / shapes.size(); }
};

Bodies gather(const py::sequence& shapes, const py::object& pairs, const py::object& poses) {
  Bodies all;
  for (const py::handle shape : shapes) {
    if (!py::isinstance<ShapeObject>(shape))
      throw py::type_error(fmt::format("shapes: expected a sequence of Shape, found {}",
                                       std::string(py::str(py::type::of(shape).attr("__name__")))));
    all.shapes.push_back(shape.cast<const ShapeObject&>().shape);
  }
  const std::vector<std::uint32_t> ends = to_indices(pairs, "pairs", 2, all.shapes.size());
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) all.pairs.push_back({ends[i], ends[i + 1]});
  if (!all.shapes.empty()) all.poses = to_states(poses, all.shapes.size(), "poses");
  return all;
}

py::array collide_states(const py::sequence& shapes, const py::object& pairs,
                         const py::object& poses, const CollideRequest& request, bool stop_at_first,
                         int threads) {
  const Bodies all = gather(shapes, pairs, poses);
  const CollideBatchRequest batch{
      .collide = request, .stop_at_first = stop_at_first, .threads = to_threads(threads)};
  const std::size_t width = stop_at_first ? 1 : all.pairs.size(), states = all.states();
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(states)};
  if (!stop_at_first) shape.push_back(static_cast<py::ssize_t>(width));
  py::array rows(contact_dtype(), shape);
  auto* const to = static_cast<ContactRow*>(rows.mutable_data());
  BatchScratch scratch;
  const std::size_t bodies = all.shapes.size();
  for (std::size_t s = 0; s < states; s += kPiece) {
    {
      const py::gil_scoped_release unlocked;
      const std::size_t count = std::min(kPiece, states - s);
      const PoseBatch piece{
          .bodies = all.shapes,
          .pairs = all.pairs,
          .world_from_body = std::span(all.poses).subspan(s * bodies, count * bodies)};
      std::size_t k = s * width;
      for (const CollideRow& r : collide_batch(piece, batch, scratch)) to[k++] = row_of(r);
    }
    handle_signals();
  }
  return rows;
}

py::array distance_states(const py::sequence& shapes, const py::object& pairs,
                          const py::object& poses, const DistanceRequest& request, int threads) {
  const Bodies all = gather(shapes, pairs, poses);
  const DistanceBatchRequest batch{.distance = request, .threads = to_threads(threads)};
  const std::size_t width = all.pairs.size(), states = all.states(), bodies = all.shapes.size();
  py::array rows(distance_dtype(), std::vector<py::ssize_t>{static_cast<py::ssize_t>(states),
                                                            static_cast<py::ssize_t>(width)});
  auto* const to = static_cast<DistanceRow*>(rows.mutable_data());
  BatchScratch scratch;
  for (std::size_t s = 0; s < states; s += kPiece) {
    {
      const py::gil_scoped_release unlocked;
      const std::size_t count = std::min(kPiece, states - s);
      const PoseBatch piece{
          .bodies = all.shapes,
          .pairs = all.pairs,
          .world_from_body = std::span(all.poses).subspan(s * bodies, count * bodies)};
      std::size_t k = s * width;
      for (const DistanceResult& r : distance_batch(piece, batch, scratch)) {
        const ShapePair& pair = all.pairs[k % width];
        const Pose* const state = all.poses.data() + k / width * bodies;
        to[k++] = row_of(r, state[pair.a], state[pair.b]);
      }
    }
    handle_signals();
  }
  return rows;
}

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
      .def_readonly("contacts", &R::contacts, "A list of Contact, the deepest first.")
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

void add_distance_result(py::module_& m) {
  using R = PythonDistance;
  py::class_<R>(m, "DistanceResult", "Result of distance. Lengths are in metres.")
      .def_property_readonly(
          "status", [](const R& r) { return word_of(kDistanceNames, r.result.status); },
          "'done', 'gave-up' (between the bounds), or 'near-enough'.")
      .def_property_readonly("exact", [](const R& r) { return r.result.exact; })
      .def_property_readonly(
          "distance", [](const R& r) { return r.result.distance; },
          "Between the nearest points; minus the depth of the deepest point where "
          "bodies overlap.")
      .def_property_readonly("lower_bound", [](const R& r) { return r.result.lower_bound; })
      .def_property_readonly("upper_bound", [](const R& r) { return r.result.upper_bound; })
      .def_property_readonly("touching", [](const R& r) { return r.result.touching; })
      .def_property_readonly("contained", [](const R& r) { return r.result.contained; })
      .def_property_readonly("point_on_a",
                             [](const R& r) { return to_python(r.result.contact.point_on_a); })
      .def_property_readonly("point_on_b",
                             [](const R& r) { return to_python(r.result.contact.point_on_b); })
      .def_property_readonly(
          "normal", [](const R& r) { return to_python(r.result.contact.normal); },
          "Unit, from B towards A.")
      .def_property_readonly(
          "separation",
          [](const R& r) -> py::object {
            if (!r.result.has_separation) return py::none();
            return to_python(r.result.separation);
          },
          "Moving A by this separates the bodies; None unless "
          "want_separation=True and bodies overlap.")
      .def_property_readonly(
          "gradients", [](const R& r) { return gradients_of(r.result, r.a, r.b); },
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
      .def_readonly("contact", &R::contact)
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
      .def_readonly("time_of_distance", &R::time_of_distance)
      .def_readonly("nearest", &R::nearest)
      .def("__repr__", [](const R& r) {
        return fmt::format("<isotact.ContinuousResult: {}{}, time {:.6g}>",
                           word_of(kContinuousNames, r.status), r.exact ? ", exact" : "",
                           r.time_of_contact);
      });
}

DistanceRequest distance_request(const std::string& accuracy, double max_distance, bool want_depth,
                                 bool want_separation, double relative, double absolute,
                                 double near_enough, std::uint64_t max_tests) {
  return {.accuracy = to_accuracy(accuracy),
          .relative_tolerance = relative,
          .absolute_tolerance = absolute,
          .max_distance = max_distance,
          .max_tests = max_tests,
          .near_enough = near_enough,
          .want_depth = want_depth,
          .want_separation = want_separation};
}

constexpr double kFar = std::numeric_limits<double>::infinity();

void add_pairs(py::module_& m) {
  m.def(
      "collide",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& pose_a,
         const py::object& pose_b) { return collide_pair(a, b, pose_a, pose_b, kUsual); },
      py::arg("a"), py::arg("b"), py::arg("pose_a") = py::none(), py::arg("pose_b") = py::none(),
      "Do two bodies touch, where and how deep?");
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
        const auto motion_of = [](const py::object& from, const py::object& to,
                                  const char* from_name, const char* to_name) {
          const Pose start = to_pose(from, from_name);
          return to.is_none() ? at_rest(start) : BodyMotion{start, to_pose(to, to_name), {}};
        };
        const BodyMotion of_a = motion_of(from_a, to_a, "from_a", "to_a");
        const BodyMotion of_b = motion_of(from_b, to_b, "from_b", "to_b");
        const ContinuousRequest request{
            .accuracy = to_accuracy(accuracy),
            .margin = margin,
            .model = static_cast<MotionModel>(
                find_word(motion, "motion", {"straight", "rates", "screw", "polynomial"})),
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
      "(constant rates of each body), 'straight' (straight point paths), 'screw' or 'polynomial'. "
      "A "
      "turn is the smaller one between the two rotations.");
}

void add_batches(py::module_& m) {
  m.def(
      "collide_poses",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& poses_b,
         const py::object& pose_a, const std::string& accuracy, const std::string& mode,
         double margin, int threads) {
        const CollideWords words{accuracy, mode, "auto", margin, 4, false, false, 0, 0};
        return collide_many(a, b, poses_b, pose_a, words.request(), threads);
      },
      py::arg("a"), py::arg("b"), py::arg("poses_b"), py::kw_only(), py::arg("pose_a") = py::none(),
      py::arg("accuracy") = "best", py::arg("mode") = "any", py::arg("margin") = 0.0,
      py::arg("threads") = 0,
      "One pair at many poses of B, an array of (N, 4, 4) or (N, 7): a structured array with a row "
      "per pose. Its statuses are numbers: isotact.FREE, CONTACT, GAVE_UP, UNCERTAIN.");
  m.def(
      "distance_poses",
      [](const ShapeObject& a, const ShapeObject& b, const py::object& poses_b,
         const py::object& pose_a, const std::string& accuracy, double max_distance,
         bool want_depth, int threads) {
        return distance_many(
            a, b, poses_b, pose_a,
            distance_request(accuracy, max_distance, want_depth, false, 0, 0, 0, 0), threads);
      },
      py::arg("a"), py::arg("b"), py::arg("poses_b"), py::kw_only(), py::arg("pose_a") = py::none(),
      py::arg("accuracy") = "best", py::arg("max_distance") = kFar, py::arg("want_depth") = true,
      py::arg("threads") = 0,
      "Distances of one pair at many poses of B, with witness points and gradients per row.");
  m.def(
      "collide_states",
      [](const py::sequence& shapes, const py::object& pairs, const py::object& poses,
         const std::string& accuracy, const std::string& mode, double margin, bool stop_at_first,
         int threads) {
        const CollideWords words{accuracy, mode, "auto", margin, 4, false, false, 0, 0};
        return collide_states(shapes, pairs, poses, words.request(), stop_at_first, threads);
      },
      py::arg("shapes"), py::arg("pairs"), py::arg("poses"), py::kw_only(),
      py::arg("accuracy") = "best", py::arg("mode") = "any", py::arg("margin") = 0.0,
      py::arg("stop_at_first") = false, py::arg("threads") = 0,
      "M pairs of bodies in N states: poses of shape (N, bodies, 4, 4) or (N, bodies, 7), pairs of "
      "shape (M, 2). Returns rows of shape (N, M); with stop_at_first (N,), each with the first "
      "pair "
      "that was found to touch (isotact.NO_PAIR: none).");
  m.def(
      "distance_states",
      [](const py::sequence& shapes, const py::object& pairs, const py::object& poses,
         const std::string& accuracy, double max_distance, bool want_depth, int threads) {
        return distance_states(
            shapes, pairs, poses,
            distance_request(accuracy, max_distance, want_depth, false, 0, 0, 0, 0), threads);
      },
      py::arg("shapes"), py::arg("pairs"), py::arg("poses"), py::kw_only(),
      py::arg("accuracy") = "best", py::arg("max_distance") = kFar, py::arg("want_depth") = true,
      py::arg("threads") = 0, "Distances of M pairs of bodies in N states, rows of shape (N, M).");
  m.attr("FREE") = static_cast<int>(CollideStatus::kFree);
  m.attr("CONTACT") = static_cast<int>(CollideStatus::kContact);
  m.attr("GAVE_UP") = static_cast<int>(CollideStatus::kGaveUp);
  m.attr("UNCERTAIN") = static_cast<int>(CollideStatus::kUncertain);
  m.attr("NO_PAIR") = kNoPair;
}

}  // namespace

void add_queries(py::module_& m) {
  add_contact(m);
  add_collide_result(m);
  add_distance_result(m);
  add_continuous_result(m);
  add_pairs(m);
  add_batches(m);
}

}  // namespace isotact::python
