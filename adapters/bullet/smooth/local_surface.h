// The surface of one of our bodies near a contact. Private to the plug-in.
#pragma once

#include <cstdint>
#include <optional>

#include "isotact/adapters/bullet/shape.h"
#include "isotact/base/pose.h"
#include "isotact/queries/points/shell_query.h"

#include "smooth_surface.h"

namespace isotact::bullet_detail {

enum class SurfaceUse : std::uint8_t {
  kRound,         // A formula or the curved surface of the mesh.
  kRoundOrField,  // The field if there is neither.
  kRoundOrFlat,   // The plane of triangles as well.
};

// The surface of one of our bodies near a place, in its own frame and unit.
class LocalSurface {
 public:
  // `point`: the sample of the body at the place, if it is one; not for flat parts.
  LocalSurface(const BulletBody& body, const Vec3& place, SurfaceUse use,
               std::uint32_t point = kNoHit);

  bool exists() const { return kind_ != Kind::kNone; }
  bool is_smooth() const { return kind_ == Kind::kFormula || kind_ == Kind::kPatch; }
  // The gradient is a unit vector, or zero where there is none.
  FieldSample sample(const Vec3& point) const;
  // Whether the nearest place of the mesh lies below this one, not aside behind an edge.
  bool is_below(const Vec3& place) const;
  // Metres: an estimate of the smallest radius of curvature.
  double radius() const { return radius_; }

 private:
  std::optional<SmoothPatch> fit(const SmoothSurface& smooth, const Vec3& place) const;

  enum class Kind : std::uint8_t { kNone, kFormula, kPatch, kField };
  const BulletBody* body_;
  Kind kind_ = Kind::kNone;
  std::optional<SmoothPatch> patch_{};
  double radius_ = 0;
};

// Where a round part of one of our bodies touches the other body, or is deepest in it.
struct RoundPart {
  std::uint64_t key = 0;  // Of its own candidate.
  bool is_of_0 = true;    // Of Bullet's body 0.
  LocalSurface surface;   // In the shape's frame and unit, as the place.
  Pose world_from_shape{};
  double scale = 1;
  Vec3 place{};
  double margin = 0;    // Metres.
  double distance = 0;  // Metres, between the grown surfaces.
  double size = 0;      // Metres: the radius of the whole shape.
  double rough = 0;     // Metres: how far distances of the field may be off.

  // Whether a place on the other body, at this distance from the part, follows from the contact.
  bool explains(const Vec3& world_place, double its_distance) const;
};

}  // namespace isotact::bullet_detail
