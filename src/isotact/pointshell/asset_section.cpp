#include "isotact/pointshell/asset_section.h"

#include <algorithm>

#include "isotact/base/error.h"

namespace isotact {

std::optional<PointSphereTree> find_point_sphere_tree(const Asset& asset, Check check) {
  const RawSection* const raw = find_raw(asset, SectionKind::kPointshell);
  if (raw == nullptr) return std::nullopt;
  try {
    return PointSphereTree::from_buffer(raw->buffer.bytes, raw->buffer.owner, check);
  } catch (const Error& error) {
    if (asset.file_name.empty()) throw;
    throw Error(FileSpot{.file = asset.file_name}, error.what());
  }
}

void set_point_sphere_tree(Asset& asset, const PointSphereTree& tree) {
  std::erase_if(asset.raw, [](const RawSection& r) { return r.kind == SectionKind::kPointshell; });
  asset.raw.push_back({SectionKind::kPointshell, tree.flat_buffer()});
}

}  // namespace isotact
