// Shapes of a scene, ready for the world and for pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/shape.h"
#include "isotact/scene/parse/scene.h"

namespace isotact::detail {

struct LoadedShape {
  std::optional<Shape> shape{};
  std::optional<MassProperties> mass{};  // For density 1.
  TriangleMesh look{};                   // For pictures. Empty for planes.
  bool is_endless = false;               // The shape is a plane.
  std::vector<std::string> warnings{};
};

// Reads files and cooks meshes. Throws Error.
LoadedShape load_shape(const SceneShape& shape, Threads threads);

// Returns the mesh of a soft body. Throws Error.
TriangleMesh load_soft_mesh(const SceneSoftBody& body, std::vector<std::string>& warnings);

// Returns a square of the plane, centred at its point nearest to the body's origin.
TriangleMesh draw_plane(const PlaneField& plane, double half_size);

}  // namespace isotact::detail
