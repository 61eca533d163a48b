// A field on a grid, or a voxelmap, prepared for shell queries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/voxmap.h"
#include "isotact/queries/detail/brick_lanes.h"
#include "isotact/queries/detail/shell_view.h"

namespace isotact::detail {

struct GridTarget {
  std::optional<BrickField> field;
  std::optional<Voxmap> voxmap;
  double max_margin = 0;  // metres

  Vec3 origin{};     // of the blocks, metres
  double block = 1;  // metres
  std::vector<std::uint8_t> quarters;
  ClearanceView view{};
  BrickView bricks{};  // where there is a field
  // Blocks: where what counts leaves the box, it is no further than this from a marked block.
  double reach = 0;
};

GridTarget prepare_grid(const BrickField& field, double max_margin, Threads threads);
GridTarget prepare_grid(const Voxmap& voxmap, double max_margin, Threads threads);

}  // namespace isotact::detail
