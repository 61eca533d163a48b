// A triangle as distances are measured to it, on processors and GPUs alike. Nothing here has code:
// kernels compiled for different processors share it, and shaders read the same bytes.
#pragma once

namespace isotact::detail {

// A triangle in a plane of its own: its longest edge from (0, 0) to (length, 0), its apex above
// that edge. The squared distance of a point is then the square of its height over the plane plus
// that of its distance in the plane, and no part of it loses digits to far corners. Lengths are
// cells of a lattice.
struct alignas(16) TriangleFrame {
  float anchor[3];  // where the plane's origin lies in the lattice
  float along[3];   // unit vectors: the longest edge,
  float across[3];  // towards the apex,
  float normal[3];  // and the height
  float length;     // negative in an unused place
  float apex;       // how far along it stands
  // The edges from both ends of the longest one to the apex; the right one as in a mirror, so that
  // both go up and to the right.
  float left_length, left_x, left_y;
  float right_length, right_x, right_y;
};
static_assert(sizeof(TriangleFrame) == 80);

}  // namespace isotact::detail
