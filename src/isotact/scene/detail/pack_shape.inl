// A shape of a pack: its surface, and what queries see of it.
#pragma once

#include <string>

#include "isotact/field/any_field.h"
#include "isotact/geometry/mesh.h"
#include "isotact/queries/shape.h"
#include "isotact/scene/detail/pack_arrays.inl"
#include "isotact/scene/replay_pack.h"

namespace isotact::detail {

// What is not there stays null: `shape`, or else the formula `field`, which has a box about its
// mesh. Either may be null.
struct PackShapeSource {
  const std::string& name;
  const TriangleMesh& mesh;
  const Shape* shape = nullptr;
  const AnyField* field = nullptr;
};
PackJson pack_shape(const PackShapeSource& source, const RunPackSettings& settings,
                    PackArrays& arrays);

}  // namespace isotact::detail
