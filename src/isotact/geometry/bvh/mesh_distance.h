// Exact distance between two meshes: the nearest pair of their triangles.
//
//   const MeshDistance d = compute_mesh_distance(gear, rack, pose_of_rack_in_gear);
//   if (d.touching) ...  else  ... d.distance, d.point_on_a ...
//
// Meshes are surfaces here: a mesh inside another one is as far from it as its triangles are.
// compute_mesh_distance_brute_force is the same without a hierarchy.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "isotact/base/machine.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/bvh/bvh.h"

namespace ISOTACT_PUBLIC isotact {

struct MeshDistanceSettings {
  // The result may be larger than the distance by a share of it, and by metres.
  double relative_tolerance = 0, absolute_tolerance = 0;
  // Metres. Triangles further apart than this are not searched for.
  double max_distance = std::numeric_limits<double>::infinity();
  // Metres. The search ends at the first pair that is as near as this.
  double near_enough = 0;
  std::uint64_t max_tests = 0;  // Boxes and triangles to test before giving up; 0: no limit.
};

struct MeshDistance {
  // Metres, between point_on_a and point_on_b. Infinite if no pair was found within max_distance.
  double distance = std::numeric_limits<double>::infinity();
  // Metres. The distance of the meshes is at least this. It is less than `distance` by the
  // tolerances, by rounding (2^-44 of the coordinates involved), and by what a limit left out. It
  // is max_distance if the meshes are further apart.
  double lower_bound = 0;
  bool touching = false;  // Triangles share a point: distance and lower_bound are 0.
  bool gave_up = false;   // Stopped by max_tests.
  std::uint32_t triangle_a = kNoTriangle, triangle_b = kNoTriangle;
  Vec3 point_on_a{}, point_on_b{};  // In A's frame.
  std::uint64_t tests = 0;          // Boxes of eight, and triangles against four.
};

// Needs a finite pose. Triangles with corners that are not finite are left out; degenerate ones act
// as the segments or points that they are. Corners of B are moved into A's frame in double, and so
// are all distances. Neither throws nor allocates. The answer does not depend on the processor.
MeshDistance compute_mesh_distance(const Bvh& a, const Bvh& b, const Pose& a_from_b,
                                   const MeshDistanceSettings& settings = {});

// All pairs, one by one.
MeshDistance compute_mesh_distance_brute_force(const TriangleMesh& a, const TriangleMesh& b,
                                               const Pose& a_from_b);

struct TriangleDistance {
  double distance = 0;  // metres; 0 if they share a point
  Vec3 point_on_a{}, point_on_b{};
};

// The same for two triangles, in one frame. Degenerate ones act as segments or points.
TriangleDistance compute_triangle_distance(const std::array<Vec3, 3>& a,
                                           const std::array<Vec3, 3>& b);

namespace detail {

struct PairHint {
  std::uint32_t block_a = 0, lane_a = 0, block_b = 0, lane_b = 0;
};

// Whether any two triangles of a pair are as near as `reach`, which is 0 or more. It ends at the
// first such pair. Both must have triangles.
class PairTouch {
 public:
  PairTouch(const Bvh& a, const Bvh& b, const Pose& a_from_b, double reach);

  // Metres: bodies with a gap of more than this do not touch, whatever is rounded.
  double least_gap() const { return reach_ + rounding_; }
  bool are_boxes_apart() const;

  // Whether these two triangles touch. A hint of other meshes is no harm.
  bool touches_at(const PairHint& hint);
  // Whether any do. `along`: a direction in A's frame along which bodies may be apart.
  bool find(const Vec3& along);

  // If they touch: the points, and where they were found.
  MeshDistance found() const;
  const PairHint& hint() const { return hint_; }

 private:
  const Bvh &a_, &b_;
  Pose a_from_b_;
  double reach_, rounding_ = 0;
  PairHint hint_{};
};

MeshDistance compute_mesh_distance(const Bvh& a, const Bvh& b, const Pose& a_from_b,
                                   const MeshDistanceSettings& settings, SimdLevel level);
}  // namespace detail

}  // namespace isotact
