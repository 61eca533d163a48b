// The inner loops of the queries, compiled once for the baseline processor and once for AVX2. All
// give the same bits. Nothing here has code: see lanes.h for why.
#pragma once

#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/geometry/mesh/detail/triangle_lanes.h"

namespace isotact::detail {

// ---- closest points -------------------------------------------------------------------------

struct ClosestSearch {
  const OrientedNode* nodes;
  const TriangleBlock* blocks;
  float point[3];
  double margin;        // see closest_kernel.h
  double stop_sq = -1;  // the search ends at a triangle as near as this
};

struct ClosestFound {
  double distance_sq;  // on entry: what must be reached or beaten
  std::uint32_t triangle;
  std::uint32_t block, lane;
};

// ---- rays -----------------------------------------------------------------------------------

// Times are counted along the axis in which the direction is longest, in metres.
struct RaySearch {
  const BvhNode* nodes;
  const TriangleBlock* blocks;
  ShearedRay<double> sheared;
  float origin[3];
  float inverse[3];  // of the direction, whose longest component is 1
  bool backwards[3];
  float padding[3];     // of boxes, against the direction: see ray_kernel.h
  double t_min, t_max;  // along a direction whose longest component is 1
  double unit;          // t / unit is what the caller sees: the given direction's longest component
};

struct RayFound {
  double t;  // on entry: what must be reached or beaten
  std::uint32_t triangle;
  double v, w;
};

using HitVisitor = void (*)(void* context, const RayFound& hit);

// ---- which --------------------------------------------------------------------------------

struct BvhKernels {
  void (*find_closest)(const ClosestSearch& search, ClosestFound& best);
  void (*find_first)(const RaySearch& search, RayFound& best);
  bool (*find_any)(const RaySearch& search);
  void (*find_all)(const RaySearch& search, HitVisitor visit, void* context);
};

extern const BvhKernels kBaselineKernels;
extern const BvhKernels kAvx2Kernels;  // only where the processor has AVX2

}  // namespace isotact::detail
