#include <array>
#include <cmath>

#include "isotact/queries/detail/intersection_kernel.h"

namespace isotact::detail {

namespace {

void put(float* to, const Vec3& v) {
  to[0] = static_cast<float>(v.x);
  to[1] = static_cast<float>(v.y);
  to[2] = static_cast<float>(v.z);
}

// Any direction across another one.
Vec3 across(const Vec3& along) {
  const Vec3 other = std::abs(along.x) <= std::abs(along.y) ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 found = normalized(cross(along, other));
  return length_sq(found) > 0 ? found : Vec3{0, 1, 0};
}

struct EvaluatorOf {
  IdfEvaluator& e;

  void operator()(const PlaneField& f) const {
    e.kind = IdfKind::kPlane;
    put(e.number, f.normal);
    e.number[3] = static_cast<float>(f.offset);
  }
  void operator()(const SphereField& f) const {
    e.kind = IdfKind::kSphere;
    put(e.number, f.center);
    e.number[3] = static_cast<float>(f.radius);
  }
  void operator()(const BoxField& f) const {
    e.kind = IdfKind::kBox;
    put(e.number, f.center);
    put(e.number + 3, f.half_size);
  }
  void operator()(const CapsuleField& f) const {
    e.kind = IdfKind::kCapsule;
    const Vec3 along = f.b - f.a;
    const double size_sq = length_sq(along);
    put(e.number, f.a);
    put(e.number + 3, along);
    e.number[6] = static_cast<float>(size_sq > 0 ? 1 / size_sq : 0);
    e.number[7] = static_cast<float>(f.radius);
    put(e.number + 8, across(along));
  }
  void operator()(const CylinderField& f) const {
    e.kind = IdfKind::kCylinder;
    put(e.number, f.center);
    e.number[3] = static_cast<float>(f.radius);
    e.number[4] = static_cast<float>(f.height / 2);
  }
  void operator()(const TorusField& f) const {
    e.kind = IdfKind::kTorus;
    put(e.number, f.center);
    e.number[3] = static_cast<float>(f.radius);
    e.number[4] = static_cast<float>(f.tube_radius);
  }
  void operator()(const std::shared_ptr<const FieldTexels>& texels) const {
    e.kind = IdfKind::kTexels;
    e.grid = make_texel_grid(*texels);
  }
  void operator()(const std::shared_ptr<const BrickField>& bricks) const {
    e.kind = IdfKind::kBricks;
    e.bricks = bricks.get();
  }
};

}  // namespace

IdfEvaluator make_evaluator(const IdfShape& shape) {
  IdfEvaluator evaluator;
  std::visit(EvaluatorOf{evaluator}, shape.solid());
  return evaluator;
}

IdfKernels choose_idf_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2IdfKernels;
#endif
  using Kernel = IdfKernel<Lanes<float, 4>>;
  return {Kernel::project, Kernel::descend};
}

}  // namespace isotact::detail
