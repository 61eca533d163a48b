// A body for a query out of a file of any kind that the tool reads.
#pragma once

#include <optional>
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
  bool builds_field = true;   // false: of meshes, it is left to the queries that need it
};

struct LoadedBody {
  Shape shape;
  std::vector<std::string> warnings{};
  // The mesh, if it was requested. The surface of the field is in its place if there is no mesh, or
  // if the mesh has too many triangles for a page. Empty if there is neither.
  TriangleMesh surface{};
};

// A simple solid in place of a file, centred and upright, with sizes in metres. It is "plane" (the
// ground: solid below y = 0), "sphere:R", "box:X,Y,Z" (its sides) or "capsule:R,L" (radius, length
// of the straight part). It may also be "cylinder:R,H", "cone:R,H" or "torus:R,T" (radius of the
// ring, of the tube). Without sizes it is as `make` makes it. Nothing for other names; a file of
// such a name is "./plane". Throws UsageError for sizes that are none.
std::optional<AnalyticSolid> parse_solid(const std::string& word);

// Throws UsageError if a unit is given and neither body is a mesh file. Also throws if settings for
// fields of meshes are given and both bodies are assets or fields.
void refuse_unused_settings(const std::string& a, const std::string& b, const std::string& unit);
inline constexpr const char* kBodyHelp =
    "A mesh, an asset, or a simple solid: plane (solid below y = 0; its pose turns it), sphere:R, "
    "box:X,Y,Z, capsule:R,L, cylinder:R,H, cone:R,H, torus:R,T (metres; without sizes as make has "
    "them)";

// load_shape, fields of other programs (field_file.h), and solids. Warnings go to stderr as well.
LoadedBody load_body(const std::string& file, const ShapeInputOptions& options);

}  // namespace isotact::tool
