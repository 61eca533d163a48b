#include "isotact/queries/detail/exact_body.h"

#include <cmath>

#include "isotact/base/disjoint_sets.h"
#include "isotact/base/error.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/repair.h"
#include "isotact/queries/detail/shape_data.h"

namespace isotact::detail {
namespace {

std::shared_ptr<const TriangleMesh> single(const Vec3& a, const Vec3& b) {
  return std::make_shared<const TriangleMesh>(
      TriangleMesh{.positions = {to_float(a), to_float(b)}, .triangles = {{0, 1, 1}}});
}

std::vector<Vec3> find_parts(const TriangleMesh& mesh, Threads threads) {
  const WeldResult welded = weld(mesh, {.threads = threads});
  DisjointSets sets(welded.mesh.positions.size());
  std::vector<bool> used(welded.mesh.positions.size(), false);
  for (std::size_t t = 0; t < welded.mesh.triangles.size(); ++t) {
    const Triangle& v = welded.mesh.triangles[t];
    bool finite = true;
    for (const Vec3f& c : corners(welded.mesh, t)) finite = finite && is_finite(c);
    if (!finite) continue;  // not in the hierarchy
    sets.join(v[0], v[1]);
    sets.join(v[0], v[2]);
    used[v[0]] = used[v[1]] = used[v[2]] = true;
  }
  std::vector<Vec3> parts;
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (used[i] && sets.find(i) == i) parts.push_back(to_double(welded.mesh.positions[i]));
  return parts;
}

ExactBody make_body(std::shared_ptr<const TriangleMesh> mesh, double radius, Threads threads) {
  ExactBody body;
  body.triangles = Bvh(*mesh, {.threads = threads});
  body.radius = radius;
  body.parts = find_parts(*mesh, threads);
  body.mesh = std::move(mesh);
  body.size = length(extent(to_double(body.triangles.bounds()))) + 2 * radius;
  return body;
}

struct MakePrimitive {
  Threads threads;

  ExactBody operator()(const PlaneField& plane) const {
    ExactBody body;
    body.half_space = plane;
    return body;
  }
  ExactBody operator()(const SphereField& s) const {
    return make_body(single(s.center, s.center), s.radius, threads);
  }
  ExactBody operator()(const CapsuleField& c) const {
    return make_body(single(c.a, c.b), c.radius, threads);
  }
  ExactBody operator()(const BoxField& box) const {
    const Vec3 size = box.half_size * 2;
    TriangleMesh mesh = make_box({.size_x = size.x, .size_y = size.y, .size_z = size.z});
    for (Vec3f& p : mesh.positions) p = to_float(to_double(p) + box.center);
    return make_body(std::make_shared<const TriangleMesh>(std::move(mesh)), 0, threads);
  }
  template <typename Other>
  ExactBody operator()(const Other&) const {
    throw Error("this analytic shape has no exact queries: set Accuracy::kField");
  }
};

bool is_exact_primitive(const AnalyticSolid& solid) {
  const AnalyticSolid::Primitive& p = solid.primitive();
  return std::holds_alternative<PlaneField>(p) || std::holds_alternative<SphereField>(p) ||
         std::holds_alternative<CapsuleField>(p) || std::holds_alternative<BoxField>(p);
}

}  // namespace

bool can_be_exact(const Shape& shape) {
  if (shape.solid()) return is_exact_primitive(*shape.solid());
  return shape.parts().mesh != nullptr && !shape.parts().mesh->triangles.empty();
}

const ExactBody& exact_body(const Shape& shape) {
  const auto& data = ShapeAccess::data(shape);
  return data.exact.get([&] {
    if (shape.solid())
      return std::visit(MakePrimitive{data.settings.field.threads}, shape.solid()->primitive());
    if (!can_be_exact(shape))
      throw Error("a shape without triangles has no exact queries", Hint::kTriangles);
    return make_body(shape.parts().mesh, 0, data.settings.field.threads);
  });
}

bool is_inside(const Shape& shape, const Vec3& point, double distance) {
  if (shape.solid()) return shape.solid()->value(point) < 0;
  constexpr double kUnsureCells = 2;  // a field may be grown by one to keep thin walls
  if (shape.can_have_field()) {
    const Interval bounds = shape.any_field().distance_bounds(point);
    if (distance > kUnsureCells * shape.cell() && (bounds.lower > 0 || bounds.upper < 0))
      return bounds.upper < 0;
  }
  const auto& data = ShapeAccess::data(shape);
  const WindingTree& tree =
      data.winding.get([&] { return WindingTree(Bvh(exact_body(shape).triangles)); });
  return compute_winding_number(tree, to_float(point)) > 0.5;
}

}  // namespace isotact::detail
