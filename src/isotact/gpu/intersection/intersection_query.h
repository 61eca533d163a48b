// Contacts of many pairs at once on the GPU: KGM. All terms are those of
// queries/intersection/intersection_field.h, whose intersect_fields is the CPU implementation.
// Particles and rules are the same. Arithmetic differs by rounding and by the hardware's filter
// (FieldTexels::rounding).
//
//   GpuIntersectionQuery query(gpu, shapes);              // Uploads fields, once.
//   query.run(bodies, pairs, settings, result, scratch);  // Per step: one dispatch for all pairs.
//
// Results are the same bits for each run on one device. Contacts are sorted, and the contact of a
// part of the box is decided by depth and number, not by the order of arrival.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "isotact/export.h"
#include "isotact/gpu/core/context.h"
#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/shape_views.h"

namespace ISOTACT_PUBLIC isotact {

struct GpuIntersectionSettings {
  // True: use texture handles if the GPU supports them. False: always use one atlas.
  bool allow_bindless = true;
  // KGM's Algorithm 3 exactly: count, sum up, and repeat everything to store; each invocation
  // searches for its pair. For comparison: the same contacts, in twice the time. Only for
  // IdfSearch::kPaper with all contacts.
  bool two_passes = false;
  int group_size = 128;
  // Limit of one buffer; more pairs than fit are processed in batches. 0: 1 GB, or the GPU's limit.
  std::uint64_t most_bytes = 0;
};

struct GpuIntersectionTimes {
  double query = 0;    // Milliseconds on the GPU, from records to contacts in its memory.
  double compact = 0;  // Compaction before contacts are read back, if all are requested.
  double wall = 0;     // Time of run(), with planning, uploads and reading back.
};

struct GpuIntersectionCount {
  double milliseconds = 0;  // On the GPU.
  std::uint64_t particles = 0, arrived = 0;
  std::size_t colliding = 0;  // Pairs.
};

class GpuIntersectionQuery {
 public:
  // The context must be current, and outlive this object. Throws Error if the GPU cannot store the
  // shapes (details in the message).
  GpuIntersectionQuery(const GpuContext& gpu, std::span<const IdfShape> shapes,
                       const GpuIntersectionSettings& gpu_settings = {});
  // Uploads intersection_shapes(shapes) (queries/shape_views.h). Throws Error as that does, too.
  GpuIntersectionQuery(const GpuContext& gpu, std::span<const Shape> shapes,
                       const GpuIntersectionSettings& gpu_settings = {});
  GpuIntersectionQuery(GpuIntersectionQuery&&) noexcept;
  GpuIntersectionQuery& operator=(GpuIntersectionQuery&&) noexcept;
  ~GpuIntersectionQuery();

  // As intersect_fields. Evaluations are not counted. A pair's resolution is the requested one,
  // even if the CPU could prove that no contact is left.
  void run(std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
           const IdfSettings& settings, IdfResult& result, IdfScratch& scratch);

  // The same, but contacts stay on the GPU: only their number is read back.
  GpuIntersectionCount count(std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
                             const IdfSettings& settings);

  // Repeats the GPU's part of the last run(), without uploads or reading back, for timing. Returns
  // milliseconds.
  double repeat();

  const GpuIntersectionTimes& times() const;  // Times of the last run.
  std::uint64_t texture_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
