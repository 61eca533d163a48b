// The box of the body of a field.
#pragma once

#include "isotact/field/models/brick_field.h"

namespace isotact::detail {

// Around the coarse cells that have a value of zero or below: tight to within a brick. Empty where
// nothing is inside.
inline Aabb compute_body_box(const BrickField& field) {
  const Lattice coarse = field.coarse_lattice();
  Aabb box;
  for (std::int32_t k = 0; k < coarse.cells[2]; ++k)
    for (std::int32_t j = 0; j < coarse.cells[1]; ++j)
      for (std::int32_t i = 0; i < coarse.cells[0]; ++i)
        if (field.cell_range({i, j, k}).min <= 0) {
          extend(box, node_position(coarse, i, j, k));
          extend(box, node_position(coarse, i + 1, j + 1, k + 1));
        }
  return box;
}

}  // namespace isotact::detail
