// One pair at one time: the common data of the ordinary search and that for fast bodies. Private to
// the plug-in.
#pragma once

#include <memory>
#include <optional>

#include "algorithm.h"
#include "budget/step_budget.h"
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
  ShellPairScratch points_0{}, points_1{};
  ThicknessScratch thickness{};  // Of the other, if it is a mesh.
  WideState wide{};
  // Of the thread, during the pair's turn (ScratchLease).
  GatherScratch* scratch = nullptr;
  std::vector<Candidate>& candidates() { return scratch->candidates; }
  OtherSolid solid{};
  const btCollisionShape* solid_of = nullptr;
  // Null without a budget.
  std::shared_ptr<BudgetState> budget{};
  BudgetPair* in_budget = nullptr;
};

// Lends a pair the scratch of its thread. Callbacks of contacts may ask for other pairs meanwhile:
// those get one of their own.
class ScratchLease {
 public:
  explicit ScratchLease(PairState& state);
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  ~ScratchLease();

 private:
  PairState& state_;
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

// Uses the given poses of the shapes: of wrappers, or of a time within the step.
PairNow pair_at(const PairState& state, const btCollisionObjectWrapper& wrap_0,
                const btTransform& world_from_0, const btCollisionObjectWrapper& wrap_1,
                const btTransform& world_from_1);

// Returns the other as a target for points of ours. The target is null if it has none.
Placed placed_solid(const PairState& state, const PairNow& now);
Placed placed(const Ours& ours);

// Writes to state.candidates(). The pair must have a lease.
void gather(const PairNow& now, const GatherRequest& request, PairState& state);

// Returns the largest approach of points of one to the other in a step, metres.
double motion_bound(const PairNow& now, double time_step);
// Returns the part of gravity in it.
double fall_of(const PairNow& now, double time_step);

// For bodies that move further in this step than their shapes allow (docs/bullet.md). Returns
// candidates at the positions of their first contact, with the current gap between them. Returns
// nothing if they will not touch.
void gather_fast(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                 const PairNow& now, double time_step, PairState& state);
// The same for touching bodies that may hit something else in this step. Adds to the candidates.
void gather_ahead(const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
                  const PairNow& now, double time_step, PairState& state);
// For candidates across a gap that a fast body closes in this step: the plane of the one that it
// runs into most holds all of the body.
void hold_whole_body(const PairNow& now, double time_step, PairState& state);

}  // namespace isotact::bullet_detail
