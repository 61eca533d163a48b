#include "isotact/field/models/analytic_solid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {

// How the solid was put together, to find boxes of its level sets.
struct AnalyticSolid::Node {
  enum class Kind { kLeaf, kUnion, kIntersection, kOffset, kPlaced };
  Kind kind = Kind::kLeaf;
  // A leaf: the box of its body, and by how much the box grows per metre of level. Infinite: not
  // known.
  Aabb leaf{};
  double growth = 1;
  std::shared_ptr<const Node> a{}, b{};
  double amount = 0;  // of kOffset
  Pose world_from_a{};
  double scale = 1;

  // Holds all places whose value is at most `level`. An offset of a combination is a level set of
  // its formula, and reaches further than the same offset of the body: the corners of an
  // intersection stay sharp. Hence levels go down to the leaves.
  Aabb box(double level) const {
    switch (kind) {
      case Kind::kLeaf: {
        if (!std::isfinite(growth)) return level > 0 ? all_of_space() : leaf;
        const Vec3 grown = Vec3{1, 1, 1} * (level * growth);
        const Aabb box{leaf.lower - grown, leaf.upper + grown};
        return is_empty(box) ? Aabb{} : box;
      }
      case Kind::kUnion: {
        Aabb box = a->box(level);
        extend(box, b->box(level));
        return box;
      }
      case Kind::kIntersection: {
        const Aabb of_a = a->box(level), of_b = b ? b->box(level) : all_of_space();
        const Aabb common{max(of_a.lower, of_b.lower), min(of_a.upper, of_b.upper)};
        return is_empty(common) ? Aabb{} : common;
      }
      case Kind::kOffset:
        return a->box(level + amount);
      case Kind::kPlaced:
        return placed(a->box(level / scale));
    }
    return {};
  }

 private:
  // Axes stay axes where the turn is about one by right angles: terms of zero times infinity do not
  // count.
  Aabb placed(const Aabb& box) const {
    if (is_empty(box)) return {};
    const Mat3 turn = to_matrix(world_from_a.rotation);
    Aabb result;
    for (std::size_t row = 0; row < 3; ++row) {
      double lower = 0, upper = 0, size = std::abs(world_from_a.translation[row]);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double f = turn.rows[row][axis] * scale;
        if (f == 0) continue;
        lower += std::min(f * box.lower[axis], f * box.upper[axis]);
        upper += std::max(f * box.lower[axis], f * box.upper[axis]);
        const double far = std::max(std::abs(box.lower[axis]), std::abs(box.upper[axis]));
        if (std::isfinite(far)) size += std::abs(f) * far;
      }
      const double slack = 1e-14 * size;  // some twenty roundings
      result.lower[row] = lower + world_from_a.translation[row] - slack;
      result.upper[row] = upper + world_from_a.translation[row] + slack;
    }
    return result;
  }
};

namespace {

template <typename F>
const F& checked(const F& field, const char* name) {
  if (const auto flaw = find_flaw(field)) throw Error(fmt::format("{}: {}", name, *flaw));
  return field;
}

Aabb around(const Vec3& middle, const Vec3& half) { return {middle - half, middle + half}; }

// Half of space where the normal is an axis, all of it otherwise.
Aabb box_of(const PlaneField& plane) {
  Aabb box = all_of_space();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (plane.normal[axis] == 1) box.upper[axis] = plane.offset;
    if (plane.normal[axis] == -1) box.lower[axis] = -plane.offset;
  }
  return box;
}
Aabb box_of(const SphereField& s) { return around(s.center, Vec3{1, 1, 1} * s.radius); }
Aabb box_of(const BoxField& b) { return around(b.center, b.half_size); }
Aabb box_of(const CapsuleField& c) {
  const Vec3 reach = Vec3{1, 1, 1} * c.radius;
  return {min(c.a, c.b) - reach, max(c.a, c.b) + reach};
}
Aabb box_of(const CylinderField& c) { return around(c.center, {c.radius, c.height / 2, c.radius}); }
Aabb box_of(const ConeField& c) { return around(c.center, {c.radius, c.height / 2, c.radius}); }
Aabb box_of(const TorusField& t) {
  const double reach = t.radius + t.tube_radius;
  return around(t.center, {reach, t.tube_radius, reach});
}
Aabb box_of(const TerrainField& t) {
  Aabb box = all_of_space();
  const std::vector<float>& heights = t.terrain().heights;
  box.upper.y = static_cast<double>(*std::max_element(heights.begin(), heights.end()));
  return box;
}

double smallest(const Vec3& v) { return std::min({v.x, v.y, v.z}); }

}  // namespace

AnalyticSolid::AnalyticSolid(AnyField field, std::shared_ptr<const Node> node, double detail)
    : field_(std::move(field)), node_(std::move(node)), body_(node_->box(0)), detail_(detail) {}

AnalyticSolid::AnalyticSolid(const PlaneField& plane)
    : AnalyticSolid(AnyField{checked(plane, "plane")},
                    std::make_shared<Node>(Node{.leaf = box_of(plane)}), 1) {
  primitive_ = plane;
}
AnalyticSolid::AnalyticSolid(const SphereField& sphere)
    : AnalyticSolid(AnyField{checked(sphere, "sphere")},
                    std::make_shared<Node>(Node{.leaf = box_of(sphere)}), sphere.radius) {
  primitive_ = sphere;
}
AnalyticSolid::AnalyticSolid(const BoxField& box)
    : AnalyticSolid(AnyField{checked(box, "box")},
                    std::make_shared<Node>(Node{.leaf = box_of(box)}), smallest(box.half_size)) {
  primitive_ = box;
}
AnalyticSolid::AnalyticSolid(const CapsuleField& capsule)
    : AnalyticSolid(AnyField{checked(capsule, "capsule")},
                    std::make_shared<Node>(Node{.leaf = box_of(capsule)}), capsule.radius) {
  primitive_ = capsule;
}
AnalyticSolid::AnalyticSolid(const CylinderField& cylinder)
    : AnalyticSolid(AnyField{checked(cylinder, "cylinder")},
                    std::make_shared<Node>(Node{.leaf = box_of(cylinder)}),
                    std::min(cylinder.radius, cylinder.height / 2)) {
  primitive_ = cylinder;
}
AnalyticSolid::AnalyticSolid(const ConeField& cone)
    : AnalyticSolid(AnyField{checked(cone, "cone")},
                    std::make_shared<Node>(Node{.leaf = box_of(cone)}),
                    std::min(cone.radius, cone.height / 2)) {
  primitive_ = cone;
}
AnalyticSolid::AnalyticSolid(const TorusField& torus)
    : AnalyticSolid(AnyField{checked(torus, "torus")},
                    std::make_shared<Node>(Node{.leaf = box_of(torus)}), torus.tube_radius) {
  primitive_ = torus;
}
// The value is at least the height above the highest place, divided by sqrt(1 + slope^2).
AnalyticSolid::AnalyticSolid(const TerrainField& terrain)
    : AnalyticSolid(AnyField{terrain},
                    std::make_shared<Node>(
                        Node{.leaf = box_of(terrain),
                             .growth = std::sqrt(1 + terrain.max_slope() * terrain.max_slope())}),
                    terrain.terrain().spacing) {}

AnalyticSolid::AnalyticSolid(AnyField field, const Aabb& body, double detail)
    : AnalyticSolid(std::move(field),
                    std::make_shared<Node>(
                        Node{.leaf = body, .growth = std::numeric_limits<double>::infinity()}),
                    detail) {
  if (!(detail > 0 && std::isfinite(detail)))
    throw Error(fmt::format("solid: detail is {}, must be positive", detail));
}

AnalyticSolid AnalyticSolid::unite(const AnalyticSolid& a, const AnalyticSolid& b) {
  auto node = std::make_shared<Node>(Node{.kind = Node::Kind::kUnion, .a = a.node_, .b = b.node_});
  return {AnyField{Union{a.field_, b.field_}}, std::move(node), std::min(a.detail_, b.detail_)};
}

AnalyticSolid AnalyticSolid::intersect(const AnalyticSolid& a, const AnalyticSolid& b) {
  auto node =
      std::make_shared<Node>(Node{.kind = Node::Kind::kIntersection, .a = a.node_, .b = b.node_});
  return {AnyField{Intersection{a.field_, b.field_}}, std::move(node),
          std::min(a.detail_, b.detail_)};
}

// The box stays that of a: if max(a, -b) is at most the level, so is a.
AnalyticSolid AnalyticSolid::subtract(const AnalyticSolid& a, const AnalyticSolid& b) {
  auto node = std::make_shared<Node>(Node{.kind = Node::Kind::kIntersection, .a = a.node_});
  return {AnyField{Difference{a.field_, b.field_}}, std::move(node),
          std::min(a.detail_, b.detail_)};
}

AnalyticSolid AnalyticSolid::grow(const AnalyticSolid& a, double amount) {
  if (!std::isfinite(amount))
    throw Error(fmt::format("offset: amount is {}, must be finite", amount));
  auto node =
      std::make_shared<Node>(Node{.kind = Node::Kind::kOffset, .a = a.node_, .amount = amount});
  return {AnyField{Offset{a.field_, amount}}, std::move(node), a.detail_};
}

AnalyticSolid AnalyticSolid::move(const AnalyticSolid& a, const Pose& world_from_a, double scale) {
  const Placed<AnyField> placed = place(a.field_, world_from_a, scale);
  auto node = std::make_shared<Node>(Node{.kind = Node::Kind::kPlaced,
                                          .a = a.node_,
                                          .world_from_a = placed.world_from_field,
                                          .scale = scale});
  return {AnyField{placed}, std::move(node), a.detail_ * scale};
}

bool AnalyticSolid::is_bounded() const { return is_finite(body_.lower) && is_finite(body_.upper); }

}  // namespace isotact
