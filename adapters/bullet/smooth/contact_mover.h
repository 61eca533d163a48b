// Moves contacts from the samples of our points to our surface. Private to the plug-in.
#pragma once

#include <optional>

#include "isotact/queries/points/shell_query.h"

#include "../gather.h"

namespace isotact::bullet_detail {

// For the chosen hits of one pair and role, patch by patch.
class ContactMover {
 public:
  // `is_turning`: places are then more exact, and may be those of the field where there is no
  // smoother surface.
  ContactMover(const Ours& ours, const Placed& other, const ShellPlacement& placement,
               bool is_turning, std::vector<RoundPart>& round_parts)
      : ours_(ours),
        other_(other),
        placement_(placement),
        is_turning_(is_turning),
        round_parts_(round_parts) {}

  // Of another manifold.
  void begin();
  // Moves a contact to where our surface is nearest to the other body, or deepest in it, if that is
  // near. The first hit of a manifold must be the deepest. Returns false for a later hit that lies
  // on the same round part as the first: it says nothing more, and would brake a body that rolls.
  bool move(const ShellHit& hit, Candidate& c);
  // Whether a later hit lies on the same round part as the first.
  bool is_on_same_round_part(const ShellHit& hit) const;

 private:
  struct SurfacePlace {
    Vec3 place{};     // In our own frame and unit.
    Vec3 on_other{};  // The same in the target's frame, metres.
    Vec3 out{};       // Of the target, unit.
    double distance = 0;
    bool is_smooth = false;
  };
  std::optional<SurfacePlace> find_place(const ShellHit& hit, bool is_first) const;

  const Ours& ours_;
  const Placed& other_;
  const ShellPlacement& placement_;
  bool is_turning_;
  std::vector<RoundPart>& round_parts_;
  bool is_first_ = true;
  std::optional<SurfacePlace> first_{};
  std::optional<LocalSurface> first_surface_{};
};

// Drops contacts that points of the one body found on round parts of the other, if these touch
// already at their own deepest place.
void drop_repeated(std::vector<RoundPart>& round_parts, std::vector<Candidate>& candidates);

}  // namespace isotact::bullet_detail
