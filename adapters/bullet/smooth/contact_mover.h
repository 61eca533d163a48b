// Moves contacts from the samples of our points to our surface. Private to the plug-in.
#pragma once

#include <optional>
#include <span>

#include "isotact/queries/points/shell_query.h"

#include "../gather.h"
#include "smooth_surface.h"

namespace isotact::bullet_detail {

// The surface of one of our bodies near a place, in its own frame and unit: its formula, the curved
// surface of its mesh, or else its field.
class LocalSurface {
 public:
  // `may_use_field`: otherwise there is none without formula and curved mesh. `point`: the sample
  // of the body at the place, if it is one.
  LocalSurface(const BulletBody& body, const Vec3& place, bool may_use_field,
               std::uint32_t point = kNoHit);

  bool exists() const { return kind_ != Kind::kNone; }
  bool is_smooth() const { return kind_ == Kind::kFormula || kind_ == Kind::kPatch; }
  // The gradient is a unit vector, or zero where there is none.
  FieldSample sample(const Vec3& point) const;
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

// For the chosen hits of one pair and role, patch by patch.
class ContactMover {
 public:
  // `is_turning`: places are then more exact, and may be those of the field where there is no
  // smoother surface.
  ContactMover(const Ours& ours, const Placed& other, const ShellPlacement& placement,
               bool is_turning)
      : ours_(ours), other_(other), placement_(placement), is_turning_(is_turning) {}

  // Of another manifold.
  void begin();
  // Moves a contact to where our surface is nearest to the other body, or deepest in it, if that is
  // near. The first hit of a manifold must be the deepest. Returns false for a later hit that lies
  // on the same round part as the first: it says nothing more, and would brake a body that rolls.
  bool move(const ShellHit& hit, Candidate& c);

 private:
  struct SurfacePlace {
    Vec3 place{};    // In our own frame and unit.
    Vec3 on_other{};  // The same in the target's frame, metres.
    Vec3 out{};      // Of the target, unit.
    double distance = 0;
    bool is_smooth = false;
  };
  std::optional<SurfacePlace> find_place(const ShellHit& hit, bool is_first) const;
  bool is_on_same_round_part(const ShellHit& hit) const;

  const Ours& ours_;
  const Placed& other_;
  const ShellPlacement& placement_;
  bool is_turning_;
  bool is_first_ = true;
  std::optional<SurfacePlace> first_{};
  std::optional<LocalSurface> first_surface_{};
};

}  // namespace isotact::bullet_detail
