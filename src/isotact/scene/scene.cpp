#include "isotact/scene/scene.h"

#include <algorithm>
#include <cmath>

namespace isotact {

std::string_view name(NarrowPhase narrow_phase) {
  switch (narrow_phase) {
    case NarrowPhase::kIdf:
      return "idf";
    case NarrowPhase::kGpu:
      return "gpu";
    default:
      return "points";
  }
}

std::uint64_t step_count(const Scene& scene) {
  if (!scene.seconds) return scene.steps;
  // As many as it takes; a whole number but for rounding is that number.
  const double steps = *scene.seconds / scene.world.step;
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(steps * (1 - 1e-12))));
}

}  // namespace isotact
