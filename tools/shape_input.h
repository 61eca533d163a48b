// A body for a query out of a file: a mesh that is cooked on the spot, or an asset.
#pragma once

#include <string>

#include "isotact/queries/shape.h"

#include "command.h"

namespace isotact::tool {

struct ShapeInputOptions {
  // Of meshes, as build takes them. A wall that is lost is a contact that is missed.
  std::string sign = "auto", keep_thin = "offset";
  double margin = 0;         // metres: meshes get a box that holds it
  std::string unit;          // of meshes
  int resolution = 128;      // of meshes
  std::uint32_t points = 0;  // of bodies without; 0: as Shape has it
  Threads threads{};
  bool keep_surface = false;  // to be looked at
};

// Of meshes, and of assets without points, these are sampled; fields of another kind than bricks
// are sampled as such. Warnings go to stderr.
struct LoadedShape {
  Shape shape;
  std::vector<std::string> warnings{};  // of this build, or of that of the asset; printed, too
  // Where it was asked for: the mesh, or that of the field where there is none, or where it is too
  // fine to be drawn smoothly. Empty where there is neither.
  TriangleMesh surface{};
};
LoadedShape load_shape(const std::string& file, const ShapeInputOptions& options);

}  // namespace isotact::tool
