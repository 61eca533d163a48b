// What intersection queries know of a shape.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/intersection_field.h"

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

// Half of space, where the normal is an axis; all of it otherwise.
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

// Of the coarse cells that have a value of zero or below.
Aabb find_body_box(const BrickField& field) {
  if (field.buffer().empty()) throw Error("the brick field of a body is empty");
  const Lattice coarse = field.coarse_lattice();
  Aabb box;
  for (std::int32_t k = 0; k < coarse.cells[2]; ++k)
    for (std::int32_t j = 0; j < coarse.cells[1]; ++j)
      for (std::int32_t i = 0; i < coarse.cells[0]; ++i)
        if (field.cell_range({i, j, k}).min <= 0) {
          extend(box, node_position(coarse, i, j, k));
          extend(box, node_position(coarse, i + 1, j + 1, k + 1));
        }
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

// Floors outside of the lattice need a box that holds the body.
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

IdfShape::IdfShape(const BrickField& field) : IdfShape(field, find_body_box(field)) {}

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
