// What the kernels of intersection queries read and write: plain memory, since they are compiled
// for several processors and may share no templates of the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "isotact/base/cpu.h"
#include "isotact/base/vec.h"
#include "isotact/field/texel_kernel.h"
#include "isotact/queries/intersection_plan.h"

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

// A shape in floats. `number` holds
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
  // Particles whose first value is above this do not move.
  float most = std::numeric_limits<float>::infinity();
  std::size_t count = 0;
  const Vec3f* at = nullptr;
  const std::uint32_t* particle = nullptr;
  IdfHit* hits = nullptr;         // room for count; in any order
  std::uint32_t* left = nullptr;  // room for count: which moved, but did not arrive; in any order
};

struct IdfWork {
  std::size_t hits = 0, left = 0;
  std::uint64_t evaluations = 0;
};

struct IdfKernels {
  IdfWork (*project)(const IdfTask& task);
  // The larger one of both values at each point.
  void (*find_values)(const IdfFields& fields, std::size_t count, const Vec3f* at, float* values);
};
extern const IdfKernels kAvx2IdfKernels;
IdfKernels choose_idf_kernels(SimdLevel level);

}  // namespace isotact::detail
