// One pair, as it is at one time: what the ordinary search and that for fast bodies share. Private
// to the plug-in.
#pragma once

#include <optional>

#include "algorithm.h"
#include "gather.h"

namespace isotact::bullet_detail {

struct PairState {
  PairState(btDispatcher& dispatcher, btPersistentManifold* shared, PairKind kind_in,
            bool ours_is_0_in)
      : kind(kind_in),
        ours_is_0(ours_is_0_in),
        is_shared(shared != nullptr),
        manifolds(dispatcher, shared) {}
  PairKind kind;
  bool ours_is_0, is_shared;
  Manifolds manifolds;
  GatherMemory memory{};
  OtherSolid solid{};
  const btCollisionShape* solid_of = nullptr;
};

// Ours (the first of two), and the other: a solid, a mesh, or ours as well.
struct PairNow {
  const btCollisionObject* body_0 = nullptr;
  const btCollisionObject* body_1 = nullptr;
  Ours ours{};
  std::optional<Ours> second{};
  const btCollisionShape* other_shape = nullptr;
  btTransform world_from_other{};
};

// With the poses of the shapes as they are given: of wrappers, or of a time within the step.
PairNow pair_at(const PairState& state, const btCollisionObjectWrapper& wrap_0,
                const btTransform& world_from_0, const btCollisionObjectWrapper& wrap_1,
                const btTransform& world_from_1);

// The other as a target for points of ours. Null target where it has none.
Placed placed_solid(const PairState& state, const PairNow& now);
Placed placed(const Ours& ours);

// Into state.memory.candidates.
void gather(const PairNow& now, const GatherRequest& request, PairState& state);

// Metres that points of one may come nearer to the other in a step, at most.
double motion_bound(const PairNow& now, double time_step);
// What gravity adds to it.
double fall_of(const PairNow& now, double time_step);

// Bodies that move further in this step than their shapes allow (docs/bullet.md): candidates where
// they will first touch, as they are now, across the gap. Nothing where they will not.
void gather_fast(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                 const PairNow& now, double time_step, PairState& state);
// The same for bodies that touch, and may run into something else in this step: adds to the
// candidates.
void gather_ahead(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                  const PairNow& now, double time_step, PairState& state);
// For candidates across a gap that is closed in this step by a body that is fast: the plane of the
// nearest holds all of it.
void hold_whole_body(const PairNow& now, PairState& state);

}  // namespace isotact::bullet_detail
