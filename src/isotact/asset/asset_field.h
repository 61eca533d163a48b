// The field of an asset, whatever its kind, and its surface as a mesh.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/segments/segment_index.h"

namespace ISOTACT_PUBLIC isotact {

// Shares the memory of the asset that it is of.
struct AssetField {
  AnyField field;
  Lattice lattice{};      // of its nodes
  std::string_view kind;  // "brick", "dense", "first-order" or "level set"
  std::optional<BrickField> brick{};
  std::shared_ptr<const SegmentIndex> index{};  // of `brick`, if the asset has one
};

// The brick field, else the dense grid, else the first-order field. Throws Error for an asset that
// has none of them.
AssetField field_of(const Asset& asset);
bool has_field(const Asset& asset);

// The number of cells along the longest side.
int resolution_of(const Lattice& lattice);

struct FieldSurfaceSettings {
  double level = 0;  // In metres: the value of the field on the surface.
  // Takes every n-th node, 1 to 1024. 0 chooses: `least_stride`, or a larger stride that keeps a
  // surface outside of the field's box at about `most_triangles`.
  int stride = 0;
  int least_stride = 1;
  double most_triangles = 4e6;
  Threads threads{};
  Monitor monitor{};
};

struct FieldSurfaceResult {
  TriangleMesh mesh{};
  int stride = 1;
  std::vector<std::string> notes{};  // in words: that a larger stride was chosen
  // In words: that the surface leaves the field's box. There it is not that of the body.
  std::vector<std::string> warnings{};
};

// A closed surface (field/extract/isosurface.h). Only brick fields continue outside of their box;
// the surfaces of others are cut off at the lattice. Throws Error if the field has no such surface,
// or if the surface would have too many triangles. `file` is named in errors.
FieldSurfaceResult extract_field_surface(const AssetField& field,
                                         const FieldSurfaceSettings& settings,
                                         const std::string& file = {});

}  // namespace isotact
