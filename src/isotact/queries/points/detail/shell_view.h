// Plain data that shell kernels for different processors share.
#pragma once

#include <cstdint>

#include "isotact/base/machine.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact::detail {

// A tree as pointers.
struct ShellView {
  struct Level {
    const SphereGroup* groups;
    const ShellNode* nodes;
  };
  Level levels[kMaxShellLevels];
  int level_count;
  std::uint32_t point_count;
  const float *x, *y, *z;
};

// From the shell to a target: metres for formulas, blocks for grids.
struct ShellMap {
  float linear[3][3];
  float offset[3];
  float radius_scale;  // For spheres; rounded up.
  float cull;          // Added to each radius: the margin, and more than possible rounding.
  float margin;        // Points at most this far away are hits.
};

// Numbers of formulas, metres, about the centre that the map's offset includes.
//   plane     the map's first row is the normal in the shell's frame, its offset the plane's
//   box       half sizes
//   sphere    none
//   capsule   b - a, 1 / |b - a|^2
//   cylinder  radius, half height
//   cone      radius, half height, and of the side: its outward normal (r, y), the direction from
//             rim to apex (r, y), its length
// `rounding` is subtracted from each distance; it includes a sphere's radius.
struct FormulaNumbers {
  float number[8];
  float rounding;
  const float* planes;  // For a hull: x, y, z, offset of each.
  std::uint32_t plane_count;
};

// Distances between blocks, as in FreeSpace, with blocks of any size.
struct ClearanceView {
  const std::uint8_t* quarters;
  std::uint32_t blocks[3];
  float size[3];
};

struct BrickView;

struct ShellTask {
  const ShellView* view;
  const ShellMap* map;
  const FormulaNumbers* formula;
  const ClearanceView* clearance;
};

enum class SphereTest : std::uint8_t {
  kPlane,
  kBox,
  kSphere,
  kCapsule,
  kCylinder,
  kCone,
  kHull,
  kClearance
};

// Capacity: both fronts and points for as many entries as a level or the shell has, and kPushRoom
// more. Formulas except hulls write `distances`. The others leave candidates whose distances are
// still to be evaluated.
inline constexpr std::uint32_t kPushRoom = 16;
struct ShellBuffers {
  std::uint32_t* front[2];
  std::uint32_t* points;
  float* distances;
};
struct ShellCounts {
  std::uint32_t points = 0;  // Found.
  std::uint64_t spheres_seen = 0, points_seen = 0;
};

struct ShellKernels {
  // All levels, from the root.
  ShellCounts (*search)(SphereTest test, const ShellTask& task, const ShellBuffers& buffers);
  // The points of given clusters of the last level.
  ShellCounts (*search_clusters)(SphereTest test, const ShellTask& task,
                                 const std::uint32_t* clusters, std::uint32_t count,
                                 const ShellBuffers& buffers);
  // All clusters of the last level that may touch, into front[0]; their number is `points`.
  ShellCounts (*find_clusters)(SphereTest test, const ShellTask& task, const ShellBuffers& buffers);
  // Every point.
  ShellCounts (*search_linear)(SphereTest test, const ShellTask& task, const ShellBuffers& buffers);
  // Bits of the group's eight spheres that may touch.
  unsigned (*test_group)(SphereTest test, const ShellTask& task, const SphereGroup& group);
  // Distances of points, by number; at most eight. Not for hulls and clearances.
  void (*measure)(SphereTest test, const ShellTask& task, const std::uint32_t* points,
                  std::uint32_t count, float* distances);
  // Values of a brick field at points; the map takes them to fine cells (brick_lanes.h).
  void (*measure_bricks)(const BrickView& field, const ShellMap& map, const ShellView& shell,
                         const std::uint32_t* points, std::size_t count, float* distances);
};
const ShellKernels& shell_kernels_baseline();
const ShellKernels& shell_kernels_avx2();
const ShellKernels& choose_shell_kernels(SimdLevel level);

}  // namespace isotact::detail
