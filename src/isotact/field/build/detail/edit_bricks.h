// The part of a local edit that knows the field: what must be computed anew, and doing so.
#pragma once

#include <optional>
#include <span>

#include "isotact/field/build/detail/edit_triangles.h"
#include "isotact/field/build/detail/marking.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/build/edit_field.h"

namespace isotact::detail {

// What is kept between edits, beside the field.
struct EditMarks {
  CellBits band, creased;            // coarse cells that have bricks
  std::optional<RowCrossings> rows;  // none for a shell
};

struct EditWork {
  const BrickField& before;
  const FieldSettings& settings;
  double shell_offset;  // metres
  const SurfaceChange& change;
  const EditTriangles& triangles;  // as they are now
  EditMarks& marks;                // rows as they are now; cells are updated
};

// The field after the edit. Fills in what it built.
BrickField rebuild_changed(const EditWork& work, EditReport& report);

}  // namespace isotact::detail
