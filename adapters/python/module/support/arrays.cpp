#include "arrays.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace isotact::python {
namespace {

std::string describe(const py::array& a) {
  std::string shape;
  for (py::ssize_t i = 0; i < a.ndim(); ++i)
    shape += fmt::format("{}{}", i == 0 ? "" : ", ", a.shape(i));
  if (a.ndim() == 1) shape += ",";
  return fmt::format("({}) of {}", shape, std::string(py::str(a.dtype())));
}

bool has_numbers(const py::array& a) {
  const char kind = a.dtype().kind();
  return kind == 'f' || kind == 'i' || kind == 'u';
}

[[noreturn]] void refuse(const char* name, const char* expected, const py::array& found) {
  throw py::value_error(
      fmt::format("{}: expected an array of {}, found {}", name, expected, describe(found)));
}

void require_numbers(const py::array& a, const char* name, const char* expected) {
  if (!has_numbers(a))
    throw py::type_error(
        fmt::format("{}: expected an array of {}, found {}", name, expected, describe(a)));
}

template <typename T>
py::array_t<T> in_c_order(const py::array& a) {
  return py::array_t<T, py::array::c_style | py::array::forcecast>::ensure(a);
}

template <typename V>
void require_finite(std::span<const V> points, const char* name) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!is_finite(points[i]))
      throw py::value_error(fmt::format("{}: row {} is ({}, {}, {}), expected finite numbers", name,
                                        i, points[i].x, points[i].y, points[i].z));
}

static_assert(sizeof(Vec3) == 3 * sizeof(double) && sizeof(Vec3f) == 3 * sizeof(float));

}  // namespace

py::array to_array(const py::handle& object, const char* name) {
  if (py::isinstance<py::array>(object)) return py::reinterpret_borrow<py::array>(object);
  const py::module_ numpy = py::module_::import("numpy");
  try {
    if (!py::hasattr(object, "__array__") && !py::hasattr(object, "__array_interface__") &&
        py::hasattr(object, "__dlpack__")) {
      constexpr int kProcessor = 1;
      if (py::hasattr(object, "__dlpack_device__") &&
          object.attr("__dlpack_device__")().cast<py::tuple>()[0].cast<int>() != kProcessor)
        throw py::value_error(fmt::format(
            "{}: the array is in the memory of another device: copy it to the processor", name));
      return numpy.attr("from_dlpack")(object);
    }
    return numpy.attr("asarray")(object);
  } catch (py::error_already_set& error) {
    throw py::type_error(fmt::format("{}: expected an array, found {} ({})", name,
                                     std::string(py::str(py::type::of(object).attr("__name__"))),
                                     std::string(py::str(error.value()))));
  }
}

PointArray::PointArray(const py::handle& object, const char* name) {
  const char* const expected = "shape (N, 3) of numbers";
  py::array a = to_array(object, name);
  if (a.ndim() != 2 || a.shape(1) != 3) {
    // An empty list has no second dimension.
    if (a.size() == 0 && a.ndim() == 1) {
      keep_ = py::array_t<double>(std::vector<py::ssize_t>{0, 3});
      return;
    }
    refuse(name, expected, a);
  }
  require_numbers(a, name, expected);
  size_ = static_cast<std::size_t>(a.shape(0));
  single_ = a.dtype().kind() == 'f' && a.itemsize() == 4;
  if (single_) {
    keep_ = in_c_order<float>(a);
    require_finite(as_single(), name);
  } else {
    keep_ = in_c_order<double>(a);
    require_finite(as_double(), name);
  }
}

std::span<const Vec3> PointArray::as_double() {
  if (!single_) return {static_cast<const Vec3*>(keep_.data()), size_};
  if (doubles_.size() != size_) {
    doubles_.reserve(size_);
    for (const Vec3f& p : as_single()) doubles_.push_back(isotact::to_double(p));
  }
  return doubles_;
}

std::span<const Vec3f> PointArray::as_single() {
  if (single_) return {static_cast<const Vec3f*>(keep_.data()), size_};
  if (singles_.size() != size_) {
    singles_.reserve(size_);
    for (const Vec3& p : as_double()) singles_.push_back(to_float(p));
  }
  return singles_;
}

py::array_t<double> to_numbers(const py::handle& object, const char* name, std::size_t count,
                               const char* expected) {
  const py::array a = to_array(object, name);
  if (static_cast<std::size_t>(a.size()) != count) refuse(name, expected, a);
  require_numbers(a, name, expected);
  py::array_t<double> numbers = in_c_order<double>(a);
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(numbers.data()[i]))
      throw py::value_error(
          fmt::format("{}: number {} is {}, expected finite numbers", name, i, numbers.data()[i]));
  return numbers;
}

Vec3 to_vec3(const py::handle& object, const char* name) {
  const py::array_t<double> n = to_numbers(object, name, 3, "three numbers");
  return {n.data()[0], n.data()[1], n.data()[2]};
}

std::vector<std::uint32_t> to_indices(const py::handle& object, const char* name,
                                      std::size_t columns, std::size_t below) {
  const std::string expected = fmt::format("shape (N, {}) of whole numbers", columns);
  py::array a = to_array(object, name);
  if (a.size() == 0 && a.ndim() <= 2) return {};
  if (a.ndim() != 2 || static_cast<std::size_t>(a.shape(1)) != columns)
    refuse(name, expected.c_str(), a);
  if (a.dtype().kind() != 'i' && a.dtype().kind() != 'u')
    throw py::type_error(
        fmt::format("{}: expected an array of {}, found {}", name, expected, describe(a)));
  if (a.dtype().kind() == 'u' && a.itemsize() == 8)
    a = a.attr("clip")(0, std::int64_t{1} << 62U);  // Larger ones would turn negative.
  const py::array_t<std::int64_t> whole = in_c_order<std::int64_t>(a);
  std::vector<std::uint32_t> indices(static_cast<std::size_t>(whole.size()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t value = whole.data()[i];
    if (value < 0 || static_cast<std::uint64_t>(value) >= below)
      throw py::value_error(fmt::format("{}: row {} has {}, expected numbers from 0 to below {}",
                                        name, i / columns, value, below));
    indices[i] = static_cast<std::uint32_t>(value);
  }
  return indices;
}

Pose pose_of_matrix(const double* rows, const std::string& name) {
  const double* const m = rows;
  constexpr double kRounding = 1e-6;
  const Mat3 rotation{{Vec3{m[0], m[1], m[2]}, Vec3{m[4], m[5], m[6]}, Vec3{m[8], m[9], m[10]}}};
  const Mat3 square = transpose(rotation) * rotation;
  double off = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      off = std::max(off, std::abs(square.rows[i][k] - (i == k ? 1.0 : 0.0)));
  const double turn = dot(rotation.rows[0], cross(rotation.rows[1], rotation.rows[2]));
  const bool affine = m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1;
  if (!affine || !(off < kRounding) || !(turn > 0))
    throw py::value_error(fmt::format(
        "{}: expected a rigid pose (a rotation, a translation, and a last row of 0 0 0 1), found a "
        "matrix that {}",
        name,
        !affine    ? "has another last row"
        : turn < 0 ? "mirrors"
                   : fmt::format("scales or shears by {:.3g}", off)));
  return {to_quat(rotation), {m[3], m[7], m[11]}};
}

namespace {

// x y z qw qx qy qz.
Pose pose_of_numbers(const double* n, const std::string& name) {
  constexpr double kRounding = 1e-6;
  const Quat q{n[3], n[4], n[5], n[6]};
  if (!(std::abs(length_sq(q) - 1) < kRounding))
    throw py::value_error(
        fmt::format("{}: expected x y z qw qx qy qz with a unit quaternion, found one of length "
                    "{:.6g}",
                    name, std::sqrt(length_sq(q))));
  return {normalized(q), {n[0], n[1], n[2]}};
}

}  // namespace

Pose to_pose(const py::handle& object, const char* name) {
  if (object.is_none()) return {};
  if (py::isinstance<Pose>(object)) return object.cast<const Pose&>();
  const char* const expected = "shape (4, 4), or seven numbers x y z qw qx qy qz";
  const py::array a = to_array(object, name);
  if (a.size() == 7) return pose_of_numbers(to_numbers(a, name, 7, expected).data(), name);
  if (a.ndim() != 2 || a.shape(0) != 4 || a.shape(1) != 4) refuse(name, expected, a);
  return pose_of_matrix(to_numbers(a, name, 16, expected).data(), name);
}

std::vector<Pose> to_poses(const py::handle& object, const char* name) {
  const char* const expected = "shape (N, 4, 4) or (N, 7)";
  std::vector<Pose> poses;
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    const auto items = py::reinterpret_borrow<py::sequence>(object);
    bool all = true;
    for (const py::handle item : items) all = all && py::isinstance<Pose>(item);
    if (all) {
      for (const py::handle item : items) poses.push_back(item.cast<const Pose&>());
      return poses;
    }
  }
  const py::array a = to_array(object, name);
  const bool matrices = a.ndim() == 3 && a.shape(1) == 4 && a.shape(2) == 4;
  if (!matrices && !(a.ndim() == 2 && a.shape(1) == 7)) refuse(name, expected, a);
  const auto size = static_cast<std::size_t>(a.size());
  const py::array_t<double> numbers = to_numbers(a, name, size, expected);
  const std::size_t width = matrices ? 16 : 7;
  poses.reserve(size / width);
  for (std::size_t i = 0; i < size / width; ++i) {
    const double* const row = numbers.data() + i * width;
    const auto at = [&] { return fmt::format("{}[{}]", name, i); };
    try {
      poses.push_back(matrices ? pose_of_matrix(row, name) : pose_of_numbers(row, name));
    } catch (const py::value_error&) {
      poses.push_back(matrices ? pose_of_matrix(row, at()) : pose_of_numbers(row, at()));
    }
  }
  return poses;
}

void write_matrix(const Pose& pose, double* rows) {
  const Mat3 r = to_matrix(pose.rotation);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) rows[4 * i + k] = r.rows[i][k];
    rows[4 * i + 3] = pose.translation[i];
  }
  rows[12] = rows[13] = rows[14] = 0;
  rows[15] = 1;
}

py::array_t<double> matrices_of(std::span<const Pose> poses) {
  py::array_t<double> all({static_cast<py::ssize_t>(poses.size()), py::ssize_t{4}, py::ssize_t{4}});
  for (std::size_t i = 0; i < poses.size(); ++i)
    write_matrix(poses[i], all.mutable_data() + 16 * i);
  return all;
}

py::array_t<double> to_python(const Vec3& v) {
  py::array_t<double> a(3);
  for (std::size_t i = 0; i < 3; ++i) a.mutable_data()[i] = v[i];
  return a;
}

py::array_t<double> to_python(const Mat3& m) {
  py::array_t<double> a({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) a.mutable_data()[3 * i + k] = m.rows[i][k];
  return a;
}

std::vector<Segment> to_segments(const py::handle& starts, const py::handle& ends) {
  PointArray from(starts, "starts"), to(ends, "ends");
  if (from.size() != to.size())
    throw py::value_error(
        fmt::format("ends: expected {} rows as starts has, found {}", from.size(), to.size()));
  std::vector<Segment> segments(from.size());
  const std::span<const Vec3f> a = from.as_single(), b = to.as_single();
  for (std::size_t i = 0; i < segments.size(); ++i) segments[i] = {a[i], b[i]};
  return segments;
}

Threads to_threads(int count) {
  if (count < 0)
    throw py::value_error(fmt::format("threads: expected 0 (all) or more, found {}", count));
  return {count};
}

}  // namespace isotact::python
