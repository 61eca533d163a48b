// From any field to a BrickField: analytic shapes and their combinations, imported level sets,
// dense grids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/any_field.h"
#include "isotact/field/brick_field.h"

namespace isotact {

struct BakeSettings {
  Lattice lattice{};        // fine cells: a multiple of 8 along each axis
  double band = 4;          // as in FieldSettings
  double tolerance = 0.15;  // as in FieldSettings
  // Metres by which the field's values may differ from the distances that they stand for: it enters
  // near_error, far_error and distance_bounds. 0: the field is taken at its word.
  double sample_error = 0;
  std::uint64_t max_memory = 0;  // bytes of the result; 0: no limit
  Threads threads{};
  Monitor monitor{};
};

struct BakeResult {
  BrickField field;
  std::vector<std::string> warnings;  // where values change faster than space, samples are cut
};

// The lattice should reach 7 cells and more beyond the body: else outside of it the field is known
// to no better than space, and says so in distance_bounds. Asks the field for its value at every
// sample, from many threads. Throws Error for a lattice that cannot be, values that are not finite,
// and a memory limit that would not suffice. Cost: as many values as samples, and one for each 4^3
// cells near the surface.
BakeResult bake_field(const AnyField& field, const BakeSettings& settings);

// A lattice for bake_field that holds the box with `padding` cells around it.
Lattice make_brick_lattice(const Aabb& box, double voxel_size, double padding = 6);

}  // namespace isotact
