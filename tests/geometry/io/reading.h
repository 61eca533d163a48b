// Short ways to read a mesh from text in tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"

namespace isotact::test {

inline LoadedMesh read(std::string_view content, std::string_view name,
                       const MeshReadSettings& settings = {}) {
  return read_mesh(std::as_bytes(std::span(content)), name, settings);
}

// The message of the Error, or what was read instead.
inline std::string error_of(std::string_view content, std::string_view name) {
  try {
    const LoadedMesh loaded = read(content, name);
    return "no error; " + std::to_string(loaded.mesh.positions.size()) + " vertices, " +
           std::to_string(loaded.mesh.triangles.size()) + " triangles";
  } catch (const Error& error) {
    return error.what();
  }
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

inline const TriangleMesh& tetrahedron() {
  static const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
  return mesh;
}

}  // namespace isotact::test
