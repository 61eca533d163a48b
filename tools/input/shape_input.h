// A body for a query out of a file of any kind that the tool reads.
#pragma once

#include <string>

#include "isotact/asset/load_shape.h"

#include "commands/command.h"

namespace isotact::tool {

struct ShapeInputOptions {
  std::string sign = "auto", keep_thin = "offset";  // of meshes, as build takes them
  double margin = 0;                                // metres
  std::string unit;                                 // of meshes
  int resolution = 128;                             // of meshes
  std::uint32_t points = 0;                         // of bodies without; 0: two cells apart
  bool needs_points = true;                         // false: bodies without points get none
  Threads threads{};
  bool keep_surface = false;  // for a page
};

struct LoadedBody {
  Shape shape;
  std::vector<std::string> warnings{};
  // If it was asked for: the mesh, or the surface of the field if there is none or if the mesh has
  // too many triangles for a page. Empty if there is neither.
  TriangleMesh surface{};
};

// load_shape, and fields of other programs (field_file.h). Warnings go to stderr as well.
LoadedBody load_body(const std::string& file, const ShapeInputOptions& options);

}  // namespace isotact::tool
