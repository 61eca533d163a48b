// Shapes of a scene, ready for the world and for pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/mass_properties.h"
#include "isotact/geometry/mesh.h"
#include "isotact/queries/shape.h"
#include "isotact/scene/scene.h"

namespace isotact::detail {

struct LoadedShape {
  std::optional<Shape> shape{};
  std::optional<AnyField> field{};
  double field_cell = 1e-3;              // metres
  std::optional<MassProperties> mass{};  // of density 1
  TriangleMesh look{};                   // for pictures; empty for planes
  bool is_endless = false;               // a plane
  std::vector<std::string> warnings{};
};

// Reads files and cooks. Throws Error.
LoadedShape load_shape(const SceneShape& shape, Threads threads);

// Of a body that bends: its mesh alone. Throws Error.
TriangleMesh load_soft_mesh(const SceneSoftBody& body, std::vector<std::string>& warnings);

// A square of it, about its point that is nearest to the body's origin.
TriangleMesh draw_plane(const PlaneField& plane, double half_size);

}  // namespace isotact::detail
