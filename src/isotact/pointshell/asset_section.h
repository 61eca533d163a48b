// The pointshell section of asset files (field/io/asset.h), which keeps it as bytes.
#pragma once

#include <optional>

#include "isotact/field/io/asset.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace isotact {

// The tree, or nothing where the asset has none. It shares the asset's memory, also a mapped
// file's. Throws Error, with the file's name, for bytes that are not a tree. Check::kHeader is
// quick and enough for queries to stay in the buffer (see AssetReadSettings::map).
std::optional<PointSphereTree> find_point_sphere_tree(const Asset& asset,
                                                      Check check = Check::kDeep);

// Adds it, or replaces the one there.
void set_point_sphere_tree(Asset& asset, const PointSphereTree& tree);

}  // namespace isotact
