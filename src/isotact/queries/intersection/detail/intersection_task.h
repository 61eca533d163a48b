// Input and output of the kernels of intersection queries. It is plain memory, since they are
// compiled for several processors and must share no templates of the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "isotact/base/machine.h"
#include "isotact/base/vec.h"
#include "isotact/field/texels/detail/texel_kernel.h"
#include "isotact/queries/intersection/intersection_plan.h"

namespace isotact::detail {

enum class IdfKind : std::uint8_t {
  kPlane,
  kSphere,
  kBox,
  kCapsule,
  kCylinder,
  kTorus,
  kTexels,
  kBricks
};

// A shape in floats. `number` has
//   plane: normal, offset;  sphere: centre, radius;  box: centre, half size;
//   capsule: a, b - a, 1 / |b - a|^2, radius, a direction across;
//   cylinder: centre, radius, half the height;  torus: centre, radius, tube's radius.
struct IdfEvaluator {
  IdfKind kind = IdfKind::kSphere;
  float number[11] = {};
  TexelGrid grid{};
  const BrickField* bricks = nullptr;
};
IdfEvaluator make_evaluator(const IdfShape& shape);

// Both shapes of a pair.
struct IdfFields {
  const IdfPairRecord* record = nullptr;
  const IdfEvaluator* a = nullptr;
  const IdfEvaluator* b = nullptr;
};

struct IdfTask {
  IdfFields fields{};
  std::uint32_t pair = 0;
  int max_steps = 1;
  float relaxation = 1;
  bool paper_normal = false;
  // Particles further from their start than this, squared, and not inside both, stop.
  float reach_sq = std::numeric_limits<float>::infinity();
  std::size_t count = 0;
  const float* at[3] = {};  // x, y, z
  const std::uint32_t* particle = nullptr;
  IdfHit* hits = nullptr;  // Capacity for count; in any order.
  // Capacity for count: those that moved, but did not arrive; in any order.
  std::uint32_t* left = nullptr;
};

struct IdfWork {
  std::size_t hits = 0, left = 0;
  std::uint64_t evaluations = 0;
};

// From the whole grid down: the cells that may contain a contact, and all blocks that contain them.
// A node of level m is a block of 2^m cells per axis, cut off at the end of the grid.
struct IdfDescent {
  // Cells per axis are at most 1.5 times kMostIdfSamples^3.
  static constexpr int kMostLevels = 16;

  IdfFields fields{};
  int top = 0;                       // Level of the one block that contains the grid.
  float most[kMostLevels + 1] = {};  // Per level: blocks whose floor is above this contain none.
  // Coordinates of blocks, 16 bits each, x lowest; capacity for all cells.
  std::uint64_t* blocks[2] = {};
  // Results; capacity for all cells and 8 more.
  float* at[3] = {};
  std::uint32_t* particle = nullptr;
};

struct IdfDescentWork {
  std::size_t cells = 0;
  std::uint64_t evaluations = 0;
};

// The same for some cells.
struct IdfFilter {
  IdfFields fields{};
  float most = 0;
  std::size_t count = 0;
  float* at[3] = {};  // The cells that are left, afterwards.
  std::uint32_t* particle = nullptr;
};

struct IdfKernels {
  IdfWork (*project)(const IdfTask& task);
  IdfDescentWork (*filter)(const IdfFilter& filter);
  IdfDescentWork (*descend)(const IdfDescent& descent);
};
extern const IdfKernels kAvx2IdfKernels;
IdfKernels choose_idf_kernels(SimdLevel level);

}  // namespace isotact::detail
