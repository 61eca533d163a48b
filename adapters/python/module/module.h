// The parts of the extension module isotact._core, each in a file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pybind11/pybind11.h>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/shape.h"

namespace isotact::python {

namespace py = pybind11;

void add_base(py::module_& m);          // Pose, Error, version
void add_mesh(py::module_& m);          // Mesh
void add_field(py::module_& m);         // Field
void add_shape(py::module_& m);         // Shape
void add_queries(py::module_& m);       // collide, distance, continuous_collide
void add_batches(py::module_& m);       // many poses, many pairs
void add_certificates(py::module_& m);  // certify
void add_gpu(py::module_& m);           // GpuTracer
void add_voxmap(py::module_& m);        // Voxmap
void add_world(py::module_& m);         // World
void add_scene(py::module_& m);         // Scene, Run

// Immutable. A Mesh, (vertices, faces), a path, or anything with `vertices` and `faces` or
// `triangles`, such as meshes of trimesh and Open3D.
std::shared_ptr<const TriangleMesh> to_mesh(const py::handle& object, const char* name);

// The word of a choice, or ValueError with the possible ones. The last word is nullptr.
std::size_t find_word(const std::string& given, const char* name,
                      std::initializer_list<const char*> words);

// A whole number in a range, or a number. Throws TypeError or ValueError with the argument's name.
std::int64_t to_whole(const py::handle& object, const char* name, std::int64_t least,
                      std::int64_t most);
double to_number(const py::handle& object, const char* name);

// A message of the library in Python's words: it names keyword arguments in place of settings in
// C++.
std::string in_words_of_python(const std::string& message);

// Shows messages as Python's UserWarning. Needs the lock.
void warn(const std::vector<std::string>& warnings);

}  // namespace isotact::python
