// Meshes for measuring. They are not part of the repository. If they are missing, procedural shapes
// replace them, and every report states it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::bench {

// Returns the folder in ISOTACT_DATA, or ../shared/data beside the checkout.
inline std::filesystem::path data_path() {
  const char* chosen = std::getenv("ISOTACT_DATA");
  return chosen != nullptr ? chosen : "../shared/data";
}
inline bool has_data() { return std::filesystem::is_directory(data_path()); }

// The same; throws Error if it does not exist.
inline std::filesystem::path data_folder() {
  if (!has_data())
    throw Error({.file = data_path().string()},
                "no such folder; set ISOTACT_DATA to the folder with the meshes for measuring");
  return data_path();
}

// Returns a mesh of that folder, by its path there ("01_stanford/bunny_closed.obj"). Without the
// folder, it returns a shape with about as many triangles: a blob for the bunny, a knot for the
// dragon, a bowl, a bolt or a nut for those, a gear for anything else.
TriangleMesh read_data_mesh(const std::filesystem::path& file);

// Returns a file of the repository's folder `scenes`, by its path there ("kgm/many.json"). It is
// searched in the working folder, beside the program and in all folders above it, and in the source
// folder that the program was compiled from. Nothing if it is in none of them.
std::optional<std::filesystem::path> find_scene(const std::filesystem::path& file);

}  // namespace isotact::bench
