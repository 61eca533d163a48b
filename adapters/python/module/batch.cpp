#include "isotact/queries/batch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "long_work.h"
#include "module.h"
#include "query_words.h"
#include "shape_object.h"

namespace isotact::python {
namespace {

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
  if (!std::isfinite(r.distance)) {  // Beyond max_distance: there are no nearest points.
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (auto* part : {&row.point_on_a, &row.point_on_b, &row.normal})
      std::fill(std::begin(*part), std::end(*part), kNone);
    for (auto* part : {&row.gradient_a, &row.gradient_b})
      std::fill(std::begin(*part), std::end(*part), kNone);
    return row;
  }
  write_gradient(r.contact.normal, r.contact.point_on_a, a.translation, 1, row.gradient_a);
  write_gradient(r.contact.normal, r.contact.point_on_b, b.translation, -1, row.gradient_b);
  return row;
}

// ---- batches ------------------------------------------------------------------------------------

constexpr std::size_t kPiece = 4096;  // States between two looks at signals.

// Poses of `bodies` in each of many states: an array of (S, B, 4, 4) or (S, B, 7), or for one body
// of (S, 4, 4) or (S, 7).
std::vector<Pose> to_states(const py::object& object, std::size_t bodies, const char* name) {
  const py::array a = to_array(object, name);
  if (bodies == 1 && (a.ndim() == 2 || (a.ndim() == 3 && a.shape(1) == 4)))
    return to_poses(a, name);
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

}  // namespace

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

}  // namespace isotact::python
