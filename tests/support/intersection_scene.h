// Bodies of all kinds beside each other, for tests of intersection queries on both sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/models/first_order_field.h"
#include "isotact/queries/intersection/intersection_field.h"

namespace isotact {

inline Pose placed(const Vec3& where, const Quat& turn = {}) { return {turn, where}; }

template <Field F>
FieldTexels texels_of(const F& field, const Aabb& body, std::int32_t cells,
                      TexelOrder order = TexelOrder::kFirst) {
  const Vec3 size = extent(body);
  const double spacing = std::max({size.x, size.y, size.z}) / (cells - 6);
  Lattice lattice{.spacing = spacing};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lattice.cells[axis] = static_cast<std::int32_t>(std::ceil(size[axis] / spacing)) + 6;
    lattice.origin[axis] = center(body)[axis] - 0.5 * spacing * lattice.cells[axis];
  }
  const FirstOrderField sampled = sample_first_order(field, lattice);
  return order == TexelOrder::kFirst ? make_first_order_texels(sampled, body)
                                     : make_zeroth_order_texels(sampled, body);
}

inline IdfShape bricks_of(const TorusField& torus) {
  const Aabb body = IdfShape{torus}.body();
  const Lattice lattice = make_brick_lattice(body, 1.0 / 40);
  return {bake_field(AnyField{torus}, {.lattice = lattice}).field, body};
}

// One of each kind, all about a metre across; a plane is the last.
inline const std::vector<IdfShape>& all_kinds() {
  const TorusField torus{};
  const BoxField box{.half_size = {0.5, 0.2, 0.35}};
  static const std::vector<IdfShape> kinds = {
      IdfShape{SphereField{}},
      IdfShape{box},
      IdfShape{torus},
      IdfShape{CapsuleField{}},
      IdfShape{CylinderField{.radius = 0.4, .height = 0.7}},
      IdfShape{texels_of(torus, IdfShape{torus}.body(), 32)},
      IdfShape{texels_of(box, IdfShape{box}.body(), 24)},
      IdfShape{texels_of(torus, IdfShape{torus}.body(), 24, TexelOrder::kZeroth)},
      bricks_of(torus),
      IdfShape{PlaneField{}}};
  return kinds;
}

struct IntersectionScene {
  explicit IntersectionScene(std::vector<IdfShape> some) : shapes(std::move(some)) {}

  std::vector<IdfShape> shapes;
  std::vector<IdfBody> bodies{};
  std::vector<IdfPair> pairs{};
};

// Pairs of bodies beside each other, of which about half touch.
inline IntersectionScene random_scene(std::uint64_t seed, std::uint32_t pairs,
                                      const std::vector<IdfShape>& shapes = all_kinds()) {
  Random random(seed);
  IntersectionScene scene(shapes);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const Vec3 where = random.in_box({-50, -50, -50}, {50, 50, 50});
    const auto kinds = static_cast<std::uint32_t>(scene.shapes.size());
    const std::uint32_t a = random.below(kinds), b = random.below(kinds - 1);
    const double scale = random.below(2) == 0 ? 1 : random.uniform(0.5, 2);
    scene.bodies.push_back({a, placed(where, random.rotation()), scale});
    const Vec3 away = random.unit_vector() * random.uniform(0.3, 0.9) * scale;
    scene.bodies.push_back({b, placed(where + away, random.rotation()), scale});
    scene.pairs.push_back({2 * i, 2 * i + 1});
  }
  return scene;
}

inline bool same(const Contact& a, const Contact& b) {
  return a.position == b.position && a.point_on_a == b.point_on_a && a.point_on_b == b.point_on_b &&
         a.normal == b.normal && a.depth == b.depth && a.sampled_by == b.sampled_by &&
         a.point == b.point;
}

}  // namespace isotact
