// The pointshell section of asset files (field/io/asset.h), which stores it as bytes.
#pragma once

#include <optional>

#include "isotact/export.h"
#include "isotact/field/io/asset.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace ISOTACT_PUBLIC isotact {

// Returns the tree, or nothing if the asset has none. It shares the asset's memory, also that of a
// mapped file. Throws Error, with the file's name, for bytes that are not a tree. Check::kHeader is
// fast and suffices for queries to stay in the buffer (see AssetReadSettings::map).
std::optional<PointSphereTree> find_point_sphere_tree(const Asset& asset,
                                                      Check check = Check::kDeep);

// Adds the tree, or replaces an existing one.
void set_point_sphere_tree(Asset& asset, const PointSphereTree& tree);

}  // namespace isotact
