// The primitives of glTF meshes, and their triangles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isotact/geometry/io/detail/gltf_accessor.h"
#include "isotact/geometry/io/detail/gltf_affine.h"
#include "isotact/geometry/io/detail/gltf_document.h"
#include "isotact/geometry/mesh.h"

namespace isotact::detail {

enum class PrimitiveMode : std::uint8_t {
  kPoints,
  kLines,
  kLineLoop,
  kLineStrip,
  kTriangles,
  kTriangleStrip,
  kTriangleFan,
};

struct Primitive {
  PrimitiveMode mode{};
  std::uint32_t index_value = 0;  // JSON value of "indices"; 0: there is none
  const Accessor* positions = nullptr;
  const Accessor* indices = nullptr;  // null: positions in their order
};

struct MeshPrimitives {
  std::vector<Primitive> primitives;
  std::uint64_t vertex_count = 0;
  std::uint64_t triangle_count = 0;  // at most; stitches of strips are dropped later
};

// What was left out, to be told once and not for each of perhaps millions.
struct GltfOmissions {
  std::uint64_t points_and_lines = 0;  // primitives whose vertices were kept without triangles
  std::uint64_t without_positions = 0;
  std::uint64_t incomplete = 0;  // primitives whose last vertices make no triangle
  std::uint64_t morphed = 0;
};

// Primitives without positions are left out. Errors as for every accessor that is used.
MeshPrimitives parse_mesh(JsonValue mesh, GltfAccessors& accessors, GltfOmissions& omissions);

// Appends the primitive's vertices, and its triangles turned so that outside stays outside.
// Returns how many positions are not finite. `scratch` only saves allocations.
std::uint64_t append_primitive(const Primitive& primitive, const Affine& transform,
                               const JsonDocument& json, std::vector<std::uint32_t>& scratch,
                               TriangleMesh& out);

}  // namespace isotact::detail
