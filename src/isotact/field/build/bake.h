// Conversion of any field to a BrickField: analytic shapes and their combinations, imported level
// sets, dense grids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/brick_field.h"

namespace ISOTACT_PUBLIC isotact {

struct BakeSettings {
  Lattice lattice{};        // Fine cells: a multiple of 8 along each axis.
  double band = 4;          // As in FieldSettings.
  double tolerance = 0.15;  // As in FieldSettings.
  // Metres by which the field's values may differ from the true distances. It enters near_error,
  // far_error and distance_bounds. 0: the field is trusted.
  double sample_error = 0;
  std::uint64_t max_memory = 0;  // Bytes of the result; 0: no limit.
  Threads threads{};
  Monitor monitor{};
};

struct BakeResult {
  BrickField field;
  // Samples are clamped if values change faster than space; a warning says so.
  std::vector<std::string> warnings;
};

// The lattice should reach 7 cells and more beyond the body. Otherwise the field outside of it is
// known no better than by the Lipschitz bound of 1, and distance_bounds says so. Evaluates the
// field at every sample, from many threads. Throws Error for an impossible lattice, values that are
// not finite, and a memory limit that would not suffice. Cost: as many values as samples, and one
// for each 4^3 cells near the surface.
BakeResult bake_field(const AnyField& field, const BakeSettings& settings);

// Returns a lattice for bake_field that contains the box with `padding` cells around it.
Lattice make_brick_lattice(const Aabb& box, double voxel_size, double padding = 6);

}  // namespace isotact
