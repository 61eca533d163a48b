// The GPU as the backend of a BatchDispatcher. It is a header without sources, so that
// isotact::bullet does not need isotact::gpu: link both.
//
//   const GpuContext gpu = GpuContext::create();
//   BatchDispatcher dispatcher(&configuration, {.backend = GpuBatchQuery(gpu)});
#pragma once

#include <memory>
#include <optional>

#include "isotact/adapters/bullet/batch.h"
#include "isotact/gpu/intersection/intersection_query.h"

namespace isotact {

// Copies share the query. The context must outlive all of them without being moved. It must be
// current, or not current on any thread, when a thread steps the world.
class GpuBatchQuery {
 public:
  explicit GpuBatchQuery(const GpuContext& gpu, const GpuIntersectionSettings& gpu_settings = {})
      : state_(std::make_shared<State>(gpu, gpu_settings)) {}

  void operator()(const BatchStep& step, IdfResult& result, IdfScratch& scratch) const {
    state_->gpu->make_current();
    if (!state_->query || state_->version != step.shapes_version) {
      state_->query.reset();  // Destroys the old textures before the new ones are made.
      state_->query.emplace(*state_->gpu, step.shapes, state_->gpu_settings);
      state_->version = step.shapes_version;
    }
    state_->query->run(step.bodies, step.pairs, step.settings, result, scratch);
  }
  // Times of the last step; null before the first.
  const GpuIntersectionTimes* times() const {
    return state_->query ? &state_->query->times() : nullptr;
  }

 private:
  struct State {
    State(const GpuContext& context, const GpuIntersectionSettings& o)
        : gpu(&context), gpu_settings(o) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { gpu->make_current(); }  // Buffers and textures are destroyed in their own context.
    const GpuContext* gpu;
    GpuIntersectionSettings gpu_settings;
    std::uint64_t version = 0;
    std::optional<GpuIntersectionQuery> query{};
  };
  std::shared_ptr<State> state_;
};

}  // namespace isotact
