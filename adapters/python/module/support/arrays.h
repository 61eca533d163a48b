// Arrays of Python as spans of the library's vectors, without a copy if the layout allows it.
//
// Taken are NumPy arrays, lists of numbers, and anything that speaks the array interface, the
// buffer protocol or DLPack in the memory of the processor. Errors are ValueError or TypeError;
// they name the argument, what was expected, and what was found.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/base/vec.h"
#include "isotact/queries/segments/segment.h"

namespace isotact::python {

namespace py = pybind11;

// N points, each of three numbers, all finite. The span stays valid as long as this lives.
class PointArray {
 public:
  // `name` is that of the argument. Points of integers are converted to float64.
  PointArray(const py::handle& object, const char* name);

  std::size_t size() const { return size_; }
  bool is_single() const { return single_; }  // The type of the given array is float32.
  std::span<const Vec3> as_double();          // Converted on first use if it is float32.
  std::span<const Vec3f> as_single();

 private:
  py::array keep_;
  std::size_t size_ = 0;
  bool single_ = false;
  std::vector<Vec3> doubles_;
  std::vector<Vec3f> singles_;
};

// The array behind an object, of any type of numbers.
py::array to_array(const py::handle& object, const char* name);

// An array of float64 with that many numbers in all, in C order, all finite. `expected` is the
// shape in words, for the message.
py::array_t<double> to_numbers(const py::handle& object, const char* name, std::size_t count,
                               const char* expected);

Vec3 to_vec3(const py::handle& object, const char* name);

// One row per index: shape (N, columns).
std::vector<std::uint32_t> to_indices(const py::handle& object, const char* name,
                                      std::size_t columns, std::size_t below);

// None, a Pose, a matrix of 4 x 4, or seven numbers x y z qw qx qy qz.
Pose to_pose(const py::handle& object, const char* name);
// A sequence of poses, an array of (N, 4, 4), or of (N, 7).
std::vector<Pose> to_poses(const py::handle& object, const char* name);
// Throws ValueError for a matrix that is no rigid pose.
Pose pose_of_matrix(const double* rows, const std::string& name);
void write_matrix(const Pose& pose, double* rows);
py::array_t<double> matrices_of(std::span<const Pose> poses);

py::array_t<double> to_python(const Vec3& v);
py::array_t<double> to_python(const Mat3& m);

// Moves a vector into an array without a copy.
template <typename T, typename Number>
py::array_t<Number> take_rows(std::vector<T>&& rows, py::ssize_t columns) {
  static_assert(sizeof(T) % sizeof(Number) == 0);
  auto* kept = new std::vector<T>(std::move(rows));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  const auto count = static_cast<py::ssize_t>(kept->size());
  std::vector<py::ssize_t> shape{count};
  if (columns > 1) shape.push_back(columns);
  return py::array_t<Number>(shape, reinterpret_cast<const Number*>(kept->data()), owner);
}

// A view of memory that `owner` keeps: read-only.
template <typename Number>
py::array_t<Number> view_rows(const Number* data, std::size_t rows, py::ssize_t columns,
                              const py::object& owner) {
  py::array_t<Number> view({static_cast<py::ssize_t>(rows), columns}, data, owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

// Rows of two arrays of points.
std::vector<Segment> to_segments(const py::handle& starts, const py::handle& ends);

Threads to_threads(int count);

}  // namespace isotact::python
