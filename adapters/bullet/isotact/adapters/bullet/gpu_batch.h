// The GPU as the backend of a BatchDispatcher. Header only, so that isotact::bullet does not need
// isotact::gpu: link both.
//
//   const GpuContext gpu = GpuContext::create();
//   BatchDispatcher dispatcher(&configuration, {.backend = GpuBatchQuery(gpu)});
#pragma once

#include <memory>
#include <optional>

#include "isotact/adapters/bullet/batch.h"
#include "isotact/gpu/intersection_query.h"

namespace isotact {

// Copies share the query. The context must outlive all of them where it is, and be current, or
// free, on the thread that steps the world.
class GpuBatchQuery {
 public:
  explicit GpuBatchQuery(const GpuContext& gpu, const GpuIntersectionOptions& options = {})
      : state_(std::make_shared<State>(gpu, options)) {}

  void operator()(const BatchStep& step, IdfState& state, IdfResult& result) const {
    state_->gpu->make_current();
    if (!state_->query || state_->version != step.shapes_version) {
      state_->query.reset();  // its textures go before the new ones come
      state_->query.emplace(*state_->gpu, step.shapes, state_->options);
      state_->version = step.shapes_version;
    }
    state_->query->run(step.bodies, step.pairs, step.settings, state, result);
  }
  // Of the last step; null before the first.
  const GpuIntersectionTimes* times() const {
    return state_->query ? &state_->query->times() : nullptr;
  }

 private:
  struct State {
    State(const GpuContext& context, const GpuIntersectionOptions& o) : gpu(&context), options(o) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { gpu->make_current(); }  // buffers and textures go in their own context
    const GpuContext* gpu;
    GpuIntersectionOptions options;
    std::uint64_t version = 0;
    std::optional<GpuIntersectionQuery> query{};
  };
  std::shared_ptr<State> state_;
};

}  // namespace isotact
