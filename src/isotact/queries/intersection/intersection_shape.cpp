// Properties of a shape for intersection queries.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/intersection/detail/body_box.h"
#include "isotact/queries/intersection/detail/intersection_kernel.h"
#include "isotact/queries/intersection/intersection_field.h"

namespace isotact {
namespace {

template <typename F>
void check_formula(const F& field, const char* name) {
  if (const auto flaw = find_flaw(field)) throw Error(fmt::format("{}: {}", name, *flaw));
}

void check_box(const Aabb& body) {
  if (is_empty(body) || !is_finite(body.lower) || !is_finite(body.upper))
    throw Error("the box of a body must be finite, and not empty");
}

Aabb around(const Vec3& middle, const Vec3& half) { return {middle - half, middle + half}; }

// Returns half of space if the normal is an axis; all of it otherwise.
Aabb box_of_plane(const PlaneField& plane) {
  Aabb box = all_of_space();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (plane.normal[axis] == 1) box.upper[axis] = plane.offset;
    if (plane.normal[axis] == -1) box.lower[axis] = -plane.offset;
  }
  return box;
}

bool is_inside(const Aabb& inner, const Aabb& outer) {
  return contains(outer, inner.lower) && contains(outer, inner.upper);
}

// Throws Error where there is no inside.
Aabb body_of(const BrickField& field) {
  if (field.buffer().empty()) throw Error("the brick field of a body is empty");
  const Aabb box = detail::compute_body_box(field);
  if (is_empty(box)) throw Error("the field has no inside: nothing can touch its body");
  return box;
}

}  // namespace

IdfShape::IdfShape(const PlaneField& plane) : solid_(plane), body_(box_of_plane(plane)) {
  check_formula(plane, "plane");
}

IdfShape::IdfShape(const SphereField& sphere)
    : solid_(sphere), body_(around(sphere.center, Vec3{1, 1, 1} * sphere.radius)) {
  check_formula(sphere, "sphere");
}

IdfShape::IdfShape(const BoxField& box) : solid_(box), body_(around(box.center, box.half_size)) {
  check_formula(box, "box");
}

IdfShape::IdfShape(const CapsuleField& capsule)
    : solid_(capsule),
      body_{min(capsule.a, capsule.b) - Vec3{1, 1, 1} * capsule.radius,
            max(capsule.a, capsule.b) + Vec3{1, 1, 1} * capsule.radius} {
  check_formula(capsule, "capsule");
}

IdfShape::IdfShape(const CylinderField& cylinder)
    : solid_(cylinder),
      body_(around(cylinder.center, {cylinder.radius, cylinder.height / 2, cylinder.radius})) {
  check_formula(cylinder, "cylinder");
}

IdfShape::IdfShape(const TorusField& torus) : solid_(torus) {
  check_formula(torus, "torus");
  const double reach = torus.radius + torus.tube_radius;
  body_ = around(torus.center, {reach, torus.tube_radius, reach});
}

// Floors outside the lattice need a box that contains the body.
IdfShape::IdfShape(FieldTexels texels)
    : body_(texels.body),
      lipschitz_(texels.lipschitz),
      error_(is_inside(texels.body, bounds(texels.lattice))
                 ? texels.node_error
                 : std::numeric_limits<double>::infinity()),
      cell_(texels.lattice.spacing) {
  check_box(body_);
  const std::size_t nodes = count(node_counts(texels.lattice));
  const bool complete = texels.order == TexelOrder::kFirst ? texels.first.size() == 4 * nodes
                                                           : texels.zeroth.size() == nodes;
  if (!complete) throw Error("texels: their number is not that of the lattice");
  solid_ = std::make_shared<const FieldTexels>(std::move(texels));
}

IdfShape::IdfShape(const BrickField& field) : IdfShape(field, body_of(field)) {}

IdfShape::IdfShape(const BrickField& field, const Aabb& body) : body_(body) {
  if (field.buffer().empty()) throw Error("the brick field of a body is empty");
  check_box(body_);
  const BrickFieldHeader& header = field.header();
  const auto near = static_cast<double>(header.near_error);
  const auto far = static_cast<double>(header.far_error);
  const auto sparse = static_cast<double>(header.sparse_error);
  lipschitz_ = field.lipschitz();
  error_ =
      header.open != 0 ? std::numeric_limits<double>::infinity() : std::max({near, far, sparse});
  cell_ = field.voxel_size();
  solid_ = std::make_shared<const BrickField>(field);
}

}  // namespace isotact

namespace isotact::detail {
namespace {

void put(float* to, const Vec3& v) {
  to[0] = static_cast<float>(v.x);
  to[1] = static_cast<float>(v.y);
  to[2] = static_cast<float>(v.z);
}

// Returns any direction perpendicular to another one.
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
  return {Kernel::project, Kernel::filter, Kernel::descend};
}

}  // namespace isotact::detail
