// What a SoftWorld keeps between steps with barriers.
#pragma once

#include <memory>
#include <vector>

#include "isotact/dynamics/soft/detail/barrier.h"

namespace isotact::detail {

struct BarrierState {
  BarrierSystem system{};
  std::size_t soft = 0, rigid = 0;  // Bodies that it was made for.
  double made_for = 0;              // Seconds: the length of the last part.
  std::vector<std::unique_ptr<SurfaceTopology>> topologies{};  // Of rigid bodies.
  std::vector<std::unique_ptr<ObjectTree>> trees{};
  std::vector<Vec3> center_end{};  // Where rigid bodies are at the end without contact.
  std::vector<Quat> turn_end{};
};

}  // namespace isotact::detail
