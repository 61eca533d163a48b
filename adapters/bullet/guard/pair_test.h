// Follows two shapes along their paths, and finds how far they may move. Private to the plug-in.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "gather.h"
#include "pair.h"
#include "path.h"

namespace isotact::bullet_detail {

// Memory of all pairs of a world: one thread at a time.
struct GuardScratch {
  ShellScratch points{};
  std::vector<FeatureEdge> edges{};
  std::vector<FeatureHit> edge_hits{};
  std::vector<ShellHit> triangle_hits{};
  Triangles triangles{};
  std::unordered_map<const btCollisionShape*, OtherSolid> solids{};
  std::unordered_map<const btCollisionShape*, ThicknessScratch> thickness{};
  std::uint32_t tests = 0;
};

// A shape on its path. `until`: from this time on its body stands still.
struct MovingShape {
  const btCollisionShape* shape = nullptr;
  Pose body_from_shape{};  // of a child of a compound
  const Path* path = nullptr;
  double until = 1;

  Pose at(double time) const { return path->at(std::min(time, until)) * body_from_shape; }
  // Metres per step.
  double fastest() const;
};

// Returns whether the two shapes are of a kind that is guarded.
bool is_guarded(const btCollisionShape& a, const btCollisionShape& b);

// The place where two shapes stop each other, in the world.
struct Stop {
  double time = 1;  // They may move until then; 1 if nothing stops them.
  Vec3 place{};
  Vec3 normal{};  // Unit vector, from b to a.
};
Stop compute_stop(const MovingShape& a, const MovingShape& b, GuardScratch& scratch);

}  // namespace isotact::bullet_detail
