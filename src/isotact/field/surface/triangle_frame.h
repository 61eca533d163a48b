// A triangle in the form used for distances, on processors and GPUs alike. Nothing here has code:
// kernels compiled for different processors share it. C++ and GLSL read this file: see
// base/shader_types.h.
#pragma once

#ifdef __cplusplus
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {
namespace detail {
#endif

// A triangle in a plane of its own: its longest edge runs from (0, 0) to (length, 0), and its apex
// lies above that edge. The squared distance of a point is then the square of its height over the
// plane plus that of its distance in the plane. No part of it loses digits to far corners. Lengths
// are in cells of a lattice.
#ifdef __cplusplus
struct alignas(16) TriangleFrame {
#else
struct TriangleFrame {
#endif
  float anchor[3];  // Position of the plane's origin in the lattice.
  float along[3];   // Unit vectors: the longest edge,
  float across[3];  // towards the apex,
  float normal[3];  // and the height.
  float length;     // Negative in an unused entry.
  float apex;       // Its coordinate along the longest edge.
  // The edges from both ends of the longest one to the apex; the right one is mirrored, so both go
  // up and to the right.
  float left_length, left_x, left_y;
  float right_length, right_x, right_y;
};

#ifdef __cplusplus
static_assert(sizeof(TriangleFrame) == 80);

}  // namespace detail
}  // namespace isotact
#endif
