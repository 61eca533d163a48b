// Conversion of a mesh to fields that keep a sample at every node of a lattice. The distances are
// those that build_field stores in bricks, found by the same passes.
#pragma once

#include "isotact/export.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/first_order_field.h"
#include "isotact/field/texels/field_texels.h"

namespace ISOTACT_PUBLIC isotact {

struct DenseGridResult {
  DenseGrid grid;
  SignReport sign;
  double seconds = 0;
};

// Band and tolerance of the settings affect only the space around the mesh. Thin walls are not
// searched for. The limit max_memory is for the samples, beside the mesh and its hierarchy. Throws
// as build_field does. The result has the same bytes for any number of threads. Cost on one thread:
// 0.1 to 0.4 microseconds per node.
DenseGridResult build_dense_grid(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The second half: from a prepared surface, on any lattice whose box contains it (and its shell);
// otherwise throws Error. Samples are those of ExactField except for rounding, and for the sign of
// samples within a thousandth of a cell of zero. The grid's sample_error covers both.
DenseGrid build_dense_grid(const Surface& surface, const Lattice& lattice,
                           const FieldSettings& settings = {});

// Returns the same as sample_first_order of an ExactField of the surface, byte for byte, at half of
// its cost. The passes' distances give the sign, and the search radius for the nearest triangle.
// With a device the result is the same except for rounding. Nodes within a thousandth of a cell of
// the surface have the normal of a triangle there as their gradient. Needs a box that contains the
// surface, and memory of build_first_order_field_bytes; with a device 12 bytes per node more.
FirstOrderField build_first_order_field(const Surface& surface, const Lattice& lattice,
                                        const FirstOrderSettings& settings = {});
double build_first_order_field_bytes(const Lattice& lattice, FirstOrderStorage storage);

struct TexelSettings {
  int cells = 64;  // Along the longest side of the mesh, 8 to kMaxFirstOrderCells.
  TexelOrder order = TexelOrder::kFirst;
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  SignReport* report = nullptr;  // Receives the method that found the sign, and warnings.
  Threads threads{};
};

// Converts a mesh to the input of intersection queries (queries/intersection/intersection_field.h),
// with two cells around the body. Throws Error as prepare_surface does, and for settings out of
// range.
FieldTexels build_texels(const TriangleMesh& mesh, const TexelSettings& settings = {});

}  // namespace isotact
