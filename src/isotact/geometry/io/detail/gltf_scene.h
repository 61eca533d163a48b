// The node tree of a glTF file: which meshes it shows, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/geometry/io/detail/gltf_affine.h"
#include "isotact/geometry/io/detail/gltf_document.h"

namespace isotact::detail {

struct MeshInstance {
  std::uint32_t mesh = 0;  // in GltfDocument::meshes
  Affine scene_from_mesh;
};

struct GltfScene {
  std::vector<MeshInstance> instances;    // in the order of the tree, parents first
  std::uint64_t skinned_count = 0;        // instances that a skin would move
  std::uint64_t gpu_instanced_count = 0;  // nodes that EXT_mesh_gpu_instancing would repeat
  bool has_nodes = true;                  // else every mesh once, as it is
};

// The default scene; scene 0 where none is named; all roots where there is no scene. A node with
// two parents, a cycle and a scene that lists a child are errors. `scale` applies to the whole
// scene.
GltfScene find_instances(const GltfDocument& document, double scale);

}  // namespace isotact::detail
