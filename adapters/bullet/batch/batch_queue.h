// The pairs of a step, one query for all of them, and the use of its contacts. Private to the
// plug-in.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>

#include "isotact/adapters/bullet/batch.h"

#include "batch_pair.h"
#include "batch_shapes.h"
#include "candidate.h"

class btManifoldResult;

namespace isotact::bullet_detail {

class Batch {
 public:
  explicit Batch(BatchSettings settings);

  // Returns whether both have a field or a formula. Makes texels at their first use.
  bool can_take(const btCollisionShape& shape_0, const btCollisionShape& shape_1);

  // Pairs wait between open and run. They are tested at their expected poses after `time_step`.
  void open() {
    requests_.clear();  // Pairs of a step that an Error ended.
    is_open_ = true;
  }
  bool is_open() const { return is_open_; }
  void add(BatchPairState& pair, const btCollisionObjectWrapper& wrap_0,
           const btCollisionObjectWrapper& wrap_1);
  void forget(const BatchPairState& pair);
  // Writes manifolds, or passes contacts to `sink` if there is one.
  void run(double time_step, btManifoldResult* sink = nullptr);

  const BatchReport& report() const { return report_; }

 private:
  struct Side {
    const btCollisionObject* object = nullptr;
    const btCollisionShape* shape = nullptr;
    btTransform world_from_bullet{};
    int part = -1, index = -1;
    bool is_child = false;
    std::uint32_t body = 0;  // Index into bodies_.
    Vec3 shift{};            // Metres of expected motion until the end of the step.
  };
  struct Request {
    BatchPairState* pair = nullptr;  // Null: no longer there.
    Side side[2]{};
  };
  struct Found {
    Candidate candidate{};
    KeptContact kept{};
  };
  // A position near the surface of one of two bodies, at the end of the step.
  struct Place {
    Vec3 world{};
    bool on_0 = true;
    Vec3 normal{};  // Used if fields have no gradient.
  };

  void place(Side& side, double time_step);
  void find_contacts(std::size_t pair, double time_step);
  bool look_at(const Request& request, const Place& place, double most_gap, Found& found) const;
  double shell_of(const Request& request) const;
  void write(std::size_t pair, double time_step);
  void hand_over(std::size_t pair, btManifoldResult& sink);

  BatchSettings settings_;
  BatchShapes shapes_;
  bool is_open_ = false;
  std::vector<Request> requests_{};
  std::unordered_map<const btCollisionObject*, std::uint32_t> body_of_{};
  std::vector<IdfBody> bodies_{};
  std::vector<IdfPair> pairs_{};
  std::vector<std::size_t> request_of_{};    // Per pair.
  std::vector<std::vector<Found>> found_{};  // Per pair.
  std::vector<Candidate> candidates_{};      // Candidates of the pair that is being written.
  IdfScratch state_{};
  IdfResult result_{};
  BatchReport report_{};
};

}  // namespace isotact::bullet_detail
