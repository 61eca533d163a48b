// From a mesh to fields that keep a sample at every node of a lattice: the same distances that
// build_field stores in bricks, found by the same passes.
#pragma once

#include "isotact/field/build/build_field.h"
#include "isotact/field/dense_grid.h"
#include "isotact/field/field_texels.h"
#include "isotact/field/first_order_field.h"

namespace isotact {

struct DenseGridResult {
  DenseGrid grid;
  SignReport sign;
  double seconds = 0;
};

// Of the settings, band and tolerance only count for the room around the mesh, and thin walls are
// not looked for; max_memory is for the samples, beside the mesh and its hierarchy. Throws as
// build_field does. The same bytes for any number of threads. Cost on one thread: 0.1 to 0.4
// microseconds a node.
DenseGridResult build_dense_grid(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The second half: from a prepared surface, on any lattice whose box holds it (and its shell), else
// Error. Samples are those of ExactField but for rounding, and for the sign of samples within
// a thousandth of a cell of zero; the grid's sample_error covers both.
DenseGrid build_dense_grid(const Surface& surface, const Lattice& lattice,
                           const FieldSettings& settings = {});

// The same as sample_first_order of an ExactField of the surface, byte for byte, at half of
// its cost: the passes' distances tell the sign, and how far to look for the nearest triangle. From
// a device: the same but for rounding, and for nodes within a thousandth of a cell of the surface,
// whose gradient is the normal of a triangle there.
// Needs a box that holds the surface, and memory of build_first_order_field_bytes; with a device 12
// bytes a node more.
FirstOrderField build_first_order_field(const Surface& surface, const Lattice& lattice,
                                        const FirstOrderSettings& settings = {});
double build_first_order_field_bytes(const Lattice& lattice, FirstOrderStorage storage);

struct TexelSettings {
  int cells = 64;  // along the longest side of the mesh, 8 to kMaxFirstOrderCells
  TexelOrder order = TexelOrder::kFirst;
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  SignReport* report = nullptr;  // gets how inside was told from outside, and warnings
  Threads threads{};
};

// From a mesh to what intersection queries read (queries/intersection_field.h), with two cells
// around the body. Throws Error as prepare_surface does, and for settings out of range.
FieldTexels build_texels(const TriangleMesh& mesh, const TexelSettings& settings = {});

}  // namespace isotact
