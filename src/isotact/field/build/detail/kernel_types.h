// Data of the distance kernels. Nothing here has code: kernels compiled for different processors
// share it. Lengths are fine cells unless a name says metres.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isotact/field/surface/triangle_frame.h"

namespace isotact::detail {

struct OrientedNode;

// The same as seen from a block of nodes: its anchor is the block's centre in the plane's
// coordinates (along, across, height). Beside it, what the corners of a unit cube add to these.
struct alignas(32) NearTriangle {
  float corner[3][8];
  TriangleFrame frame;
  float unused[4];
};
static_assert(sizeof(NearTriangle) == 192);

// Eight points in the plane's coordinates.
struct alignas(32) EightInPlane {
  float at[3][8];
};

// One float for each of 2^3 points: bit 0 of the place is x, bit 1 y, bit 2 z.
struct alignas(32) Eight {
  float d[8];
};

// ---- 2^3 nodes anywhere -----------------------------------------------------------------------

struct PacketWork {
  const OrientedNode* nodes;    // of the Bvh, in metres
  const TriangleFrame* frames;  // four a block of the Bvh
  float center[3];              // of the points, in cells
  double origin[3];             // of the lattice, metres
  double voxel_size;            // metres
  double spacing;               // of the points, cells
  float slack;                  // cells: more than rounding can make of any distance here
  std::uint32_t seed;  // a frame to begin with, and on return the last one that was nearest
  Eight distance;      // results
};

// ---- the 16^3 nodes of up to eight bricks -----------------------------------------------------

inline constexpr int kRefineLists = 3;  // of all triangles, and for points 8 and 4 cells apart

struct RefineWork {
  const TriangleFrame* frames;  // of all triangles
  std::uint32_t* triangles;     // numbers of those that may be nearest to some node
  std::size_t triangle_count;
  float center[3];  // of the block of nodes
  unsigned bricks;  // bit b: the nodes of this eighth are wanted
  unsigned whole;   // bit b: all of them; else only those in cubes of 4^3 that come near enough
  float wanted_from, wanted_to;  // distances of nodes
  // Scratch for triangle_count elements each.
  NearTriangle* near;
  Eight* squares;
  EightInPlane* in_plane;
  std::uint8_t* masks;
  std::uint32_t* lists[kRefineLists];
  float slack;             // cells: more than rounding can make of any distance here
  float (*distance)[512];  // results: of brick b, node 64 z + 8 y + x
  std::uint8_t* exact;     // results: bit c of brick b: cube c has its distances
  // For refine_by_search, which does not get the triangles: the capacity of the scratch, and one
  // search per hierarchy.
  std::size_t room;
  PacketWork* searches;
  std::size_t search_count;
};

struct DistanceKernels {
  void (*refine)(const RefineWork& work);
  void (*refine_by_search)(const RefineWork& work);  // the same results
  void (*find_packet)(PacketWork& work);
};

extern const DistanceKernels kBaselineDistanceKernels;
extern const DistanceKernels kAvx2DistanceKernels;  // only where the processor has AVX2

}  // namespace isotact::detail
