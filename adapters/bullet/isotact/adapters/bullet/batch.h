// All our pairs of a step in one query, by KGM's intersection fields, on the GPU or on the CPU.
//
//   btDefaultCollisionConfiguration configuration;
//   isotact::BatchDispatcher dispatcher(&configuration);  // in place of btCollisionDispatcher
//   btDiscreteDynamicsWorld world(&dispatcher, ...);
//
// It has the plug-in of install.h in it. What goes into the batch: pairs of our shapes, and of one
// of ours with Bullet's plane, sphere, box, capsule and cylinder; children of compounds, too. Ours
// must have a field; points are not needed. All other pairs go their usual way, within the same
// step. Filters, callbacks, sleep and materials are Bullet's, as without a batch.
//
// The batch looks at bodies where they will be at the end of the step if nothing holds them
// (shifted, not turned), and tells the solver what the gap is now: so bodies stop where they touch,
// and do not sink in first. What moves further in a step than half of its smallest side may be
// missed, and so may what turns fast; the points of install.h search along the way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>

#include "isotact/queries/intersection_field.h"

namespace isotact {

namespace bullet_detail {
class Batch;
}

// What a step asks. All of it is valid during the call only.
struct BatchStep {
  std::span<const IdfShape> shapes{};
  std::uint64_t shapes_version = 0;  // of `shapes`: another one where they are others
  std::span<const IdfBody> bodies{};
  std::span<const IdfPair> pairs{};
  IdfSettings settings{};
};

// What finds the contacts: intersect_fields, GpuBatchQuery (gpu_batch.h), or anything else that
// gives the same.
using BatchQuery = std::function<void(const BatchStep&, IdfState&, IdfResult&)>;
BatchQuery cpu_batch_query();

// Sees every batch and what came of it: to measure, to draw, to record.
using BatchObserver = std::function<void(const BatchStep&, const IdfResult&)>;

struct BatchSettings {
  // Four contacts of each pair survive in its manifold. keep_seeds does not count: the contacts of
  // the step before are looked at again in any case.
  IdfSettings query{.samples = 10, .max_contacts = 8};
  BatchQuery backend{};  // none: cpu_batch_query
  BatchObserver observer{};
  // Of first-order texels along the longest side of a shape; 16 to 1024. 0: as fine as its field,
  // 256 at most. Made when a shape first comes, and kept for all that share what was cooked.
  int cells = 0;
  // m/s: bodies that are found in overlap are driven out no faster.
  double recovery_speed = 0.25;
};

// Of the last batch.
struct BatchReport {
  std::size_t pairs = 0, contacts = 0;  // contacts: as the query gave them
  double query_seconds = 0, all_seconds = 0;
};

// Used as btCollisionDispatcher is. Throws Error for settings out of range; what the backend throws
// comes out of stepSimulation. A GPU's backend wants all steps on the thread of its context.
class BatchDispatcher final : public btCollisionDispatcher {
 public:
  explicit BatchDispatcher(btCollisionConfiguration* configuration, BatchSettings settings = {});
  BatchDispatcher(const BatchDispatcher&) = delete;
  BatchDispatcher& operator=(const BatchDispatcher&) = delete;
  ~BatchDispatcher() override;

  void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, const btDispatcherInfo& info,
                                 btDispatcher* dispatcher) override;
  const BatchReport& report() const;

 private:
  struct Functions;
  void register_pairs();

  std::unique_ptr<bullet_detail::Batch> batch_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace isotact
