// From a mesh to a BrickField.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/build/surface.h"

namespace isotact {

struct FieldSettings {
  // Cells along the longest side of the mesh's padded box. At most one of the two may be set;
  // neither means 128.
  std::optional<int> resolution{};
  std::optional<double> voxel_size{};  // metres
  // Cells between the mesh and the box. Less than band + 2 counts as that, so that the field is as
  // good on the box's sides as inside.
  double padding = 6;
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double shell_offset = 0;  // metres, for unsigned; 0: one voxel
  // Nearer to the surface than this, in cells, all samples are exact and near_error holds; at least
  // 4.
  double band = 4;
  // Coarse cells further away get bricks too, where their interpolant is estimated to be off by
  // more than this part of the distance. 0 refines everything, 1 nothing.
  double tolerance = 0.15;
  std::uint64_t max_memory = 0;  // bytes for the field and for building it; 0: no limit
  Threads threads{};
  Monitor monitor{};
};

struct FieldReport {
  SignReport sign;
  Lattice lattice{};        // fine cells
  std::uint64_t bytes = 0;  // of the field
  std::size_t bricks = 0;
  std::size_t bricks_in_band = 0;
  double near_error = 0, far_error = 0;  // metres, bounds
  double seconds = 0;
  std::vector<std::string> warnings;  // the sign's too
};

struct FieldResult {
  BrickField field;
  FieldReport report;
};

// Throws Error for settings that cannot be met, a mesh without usable triangles, and a memory limit
// that would not suffice (before allocating, with the figure that would). Throws Cancelled when the
// monitor says so. The same bytes for any number of threads.
FieldResult build_field(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The second half: from a prepared surface, on a lattice of the caller's choice, whose cells must
// be a multiple of 8 along each axis, and whose box must reach at least band + 2 cells beyond the
// surface (and beyond its shell). The settings' resolution, voxel size and padding do not count.
FieldResult build_field(const Surface& surface, const Lattice& lattice,
                        const FieldSettings& settings);

}  // namespace isotact
