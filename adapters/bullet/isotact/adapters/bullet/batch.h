// All our pairs of a step in one query, by KGM's intersection fields, on the GPU or on the CPU.
//
//   btDefaultCollisionConfiguration configuration;
//   isotact::BatchDispatcher dispatcher(&configuration);  // Instead of btCollisionDispatcher.
//   btDiscreteDynamicsWorld world(&dispatcher, ...);
//
// It includes the plug-in of install.h. The batch contains pairs of our shapes, and of one of ours
// with Bullet's plane, sphere, box, capsule and cylinder, including children of compounds. Ours
// must have a field; points are not needed. All other pairs are processed as usual, within the same
// step. Filters, callbacks, sleep and materials are Bullet's, as without a batch.
//
// The batch tests bodies at the poses that they will have at the end of the step if nothing stops
// them (shifted, not rotated). It reports the current gap to the solver: bodies stop at first
// contact and do not sink in first. Bodies that move further in a step than half of their smallest
// side may be missed, and so may bodies that rotate fast. The points of install.h search along the
// path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>

#include "isotact/queries/intersection/intersection_field.h"

namespace isotact {

namespace bullet_detail {
class Batch;
}

// The query of a step. All data is valid only during the call.
struct BatchStep {
  std::span<const IdfShape> shapes{};
  std::uint64_t shapes_version = 0;  // Version of `shapes`: changes if they change.
  std::span<const IdfBody> bodies{};
  std::span<const IdfPair> pairs{};
  IdfSettings settings{};
};

// The function that finds contacts: intersect_fields, GpuBatchQuery (gpu_batch.h), or any other
// with the same results.
using BatchQuery = std::function<void(const BatchStep&, IdfResult&, IdfScratch&)>;
BatchQuery cpu_batch_query();

// Receives every batch and its result: for measuring, drawing or recording.
using BatchObserver = std::function<void(const BatchStep&, const IdfResult&)>;

struct BatchSettings {
  // The manifold of each pair keeps four contacts. keep_seeds is ignored: the contacts of the step
  // before are always tested again.
  IdfSettings query{.samples = 10, .max_contacts = 8};
  BatchQuery backend{};  // None: cpu_batch_query.
  BatchObserver observer{};
  // First-order texels along the longest side of a shape; 16 to 1024. 0: as fine as its field, at
  // most 256. Made at the first use of a shape, and kept for all shapes that share cooked data.
  int cells = 0;
  // m/s: overlapping bodies are separated no faster.
  double recovery_speed = 0.25;
};

// Report of the last batch.
struct BatchReport {
  std::size_t pairs = 0, contacts = 0;  // Contacts as returned by the query.
  double query_seconds = 0, all_seconds = 0;
};

// Used like btCollisionDispatcher. Throws Error for settings out of range. Exceptions of the
// backend leave stepSimulation. A GPU backend needs all steps on the thread of its context.
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
