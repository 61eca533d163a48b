// A solid given by a formula, or by a combination of such solids: the analytic counterpart of a
// mesh. Nothing is sampled or baked.
//
//   const AnalyticSolid ground = PlaneField{};
//   const AnalyticSolid plate = Difference{BoxField{.half_size = {1, 0.1, 1}},
//                                          CylinderField{.radius = 0.3}};
//   AnalyticSolid body = SphereField{};
//   body = Union{body, place(plate, world_from_plate)};  // combined again at run time
//
// Every field of analytic.h, a TerrainField, and every combination of them by csg.h converts to an
// AnalyticSolid. It is a Field itself, exact where csg.h says so.
#pragma once

#include <memory>
#include <variant>

#include "isotact/base/aabb.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/csg.h"
#include "isotact/field/models/terrain_field.h"

namespace ISOTACT_PUBLIC isotact {

// Immutable; copies share everything. Any number of threads may use it. Constructors throw Error
// for numbers that find_flaw names, for offsets that are not finite, and as place() does.
class AnalyticSolid {
 public:
  // The formula, for code that has a fast path for it.
  using Primitive = std::variant<std::monostate, PlaneField, SphereField, BoxField, CapsuleField,
                                 CylinderField, ConeField, TorusField>;

  AnalyticSolid(const PlaneField& plane);
  AnalyticSolid(const SphereField& sphere);
  AnalyticSolid(const BoxField& box);
  AnalyticSolid(const CapsuleField& capsule);
  AnalyticSolid(const CylinderField& cylinder);
  AnalyticSolid(const ConeField& cone);
  AnalyticSolid(const TorusField& torus);
  AnalyticSolid(const TerrainField& terrain);
  // A field of the caller's own. `body` must hold all places with a value of zero or below;
  // `detail` is about the smallest length of the solid. Values should be distances, or bounds of
  // them.
  AnalyticSolid(AnyField field, const Aabb& body, double detail);
  template <typename A, typename B>
  AnalyticSolid(const Union<A, B>& u) : AnalyticSolid(unite(u.a, u.b)) {}
  template <typename A, typename B>
  AnalyticSolid(const Intersection<A, B>& i) : AnalyticSolid(intersect(i.a, i.b)) {}
  template <typename A, typename B>
  AnalyticSolid(const Difference<A, B>& d) : AnalyticSolid(subtract(d.a, d.b)) {}
  template <typename A>
  AnalyticSolid(const Offset<A>& o) : AnalyticSolid(grow(o.field, o.amount)) {}
  template <typename A>
  AnalyticSolid(const Placed<A>& p) : AnalyticSolid(move(p.field, p.world_from_field, p.scale)) {}

  // The Field concept.
  double value(const Vec3& point) const { return field_.value(point); }
  FieldSample sample(const Vec3& point) const { return field_.sample(point); }
  Aabb bounds() const { return field_.bounds(); }
  double lipschitz() const { return field_.lipschitz(); }
  Interval range(const Aabb& box) const { return field_.range(box); }
  Interval distance_bounds(const Vec3& point) const { return field_.distance_bounds(point); }

  const AnyField& field() const { return field_; }
  const Primitive& primitive() const { return primitive_; }  // monostate: a terrain, or combined

  // A box that holds the body, metres: infinite along axes where the body has no end, empty if no
  // body is left. It need not be tight for combinations.
  const Aabb& body() const { return body_; }
  bool is_bounded() const;
  // Metres: about the smallest length of the solid or of one of its parts. 1 for a plane, the
  // spacing of a terrain.
  double detail() const { return detail_; }

 private:
  struct Node;

  AnalyticSolid(AnyField field, std::shared_ptr<const Node> node, double detail);
  static AnalyticSolid unite(const AnalyticSolid& a, const AnalyticSolid& b);
  static AnalyticSolid intersect(const AnalyticSolid& a, const AnalyticSolid& b);
  static AnalyticSolid subtract(const AnalyticSolid& a, const AnalyticSolid& b);
  static AnalyticSolid grow(const AnalyticSolid& a, double amount);
  static AnalyticSolid move(const AnalyticSolid& a, const Pose& world_from_a, double scale);

  AnyField field_;
  Primitive primitive_{};
  std::shared_ptr<const Node> node_;
  Aabb body_{};
  double detail_ = 1;
};

}  // namespace isotact
