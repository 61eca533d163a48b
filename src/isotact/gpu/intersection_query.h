// Contacts of many pairs at once on the GPU: KGM. The meaning of everything is that of
// queries/intersection_field.h, whose intersect_fields is the CPU's side: same particles, same
// rules; arithmetic differs by rounding and by the hardware's filter (FieldTexels::rounding).
//
//   GpuIntersectionQuery query(gpu, shapes);      // uploads fields, once
//   query.run(bodies, pairs, settings, state, result);  // a step: one dispatch for all pairs
//
// Results are the same bits for each run on one device: contacts are sorted, and which one wins a
// part of the box is settled by depth and number, not by who came first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "isotact/gpu/context.h"
#include "isotact/queries/intersection_field.h"

namespace isotact {

struct GpuIntersectionOptions {
  // Textures by handles where the GPU has them; false: one atlas everywhere.
  bool allow_bindless = true;
  // KGM's Algorithm 3 to the letter: count, sum up, and do all again to store; each invocation
  // looks for its pair. For comparison: the same contacts, in twice the time. Only for
  // IdfSearch::kPaper with all contacts.
  bool two_passes = false;
  int group_size = 128;
  // Of one buffer, at most; more pairs than fit are taken in batches. 0: 1 GB, or what the GPU
  // allows.
  std::uint64_t most_bytes = 0;
};

struct GpuIntersectionTimes {
  double query = 0;    // milliseconds on the GPU, from records to contacts in its memory
  double compact = 0;  // closing gaps before contacts are read back, where all are asked for
  double wall = 0;     // of run(), with planning, uploads and reading back
};

struct GpuIntersectionCount {
  double milliseconds = 0;  // on the GPU
  std::uint64_t particles = 0, arrived = 0;
  std::size_t colliding = 0;  // pairs
};

class GpuIntersectionQuery {
 public:
  // The context must be current, and outlive this. Throws Error where the GPU cannot take the
  // shapes (detail in the message).
  GpuIntersectionQuery(const GpuContext& gpu, std::span<const IdfShape> shapes,
                       const GpuIntersectionOptions& options = {});
  GpuIntersectionQuery(GpuIntersectionQuery&&) noexcept;
  GpuIntersectionQuery& operator=(GpuIntersectionQuery&&) noexcept;
  ~GpuIntersectionQuery();

  // As intersect_fields. Evaluations are not counted; a pair's resolution is what was looked for,
  // where the CPU may know that nothing at all is left.
  void run(std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
           const IdfSettings& settings, IdfState& state, IdfResult& result);

  // The same, but contacts stay on the GPU: only how many there are is read back.
  GpuIntersectionCount count(std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
                             const IdfSettings& settings);

  // The GPU's part of the last run() once more, with nothing uploaded or read back: for timing.
  // Returns milliseconds.
  double repeat();

  const GpuIntersectionTimes& times() const;  // of the last run
  std::uint64_t texture_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
