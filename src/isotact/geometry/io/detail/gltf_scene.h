// The node tree of a glTF file: which meshes it shows, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "isotact/geometry/io/detail/gltf_affine.h"
#include "isotact/geometry/io/detail/gltf_document.h"

namespace isotact::detail {

struct MeshInstance {
  std::optional<JsonValue> node;  // nothing where the file has no nodes
  std::uint32_t mesh = 0;         // in GltfDocument::meshes
  Affine scene_from_mesh;
};

// The default scene; scene 0 where none is named; all roots where there is no scene. A node with
// two parents, a cycle and a scene that lists a child are errors.
class GltfScene {
 public:
  // `scale` applies to the whole scene. The document must outlive this.
  GltfScene(const GltfDocument& document, double scale);

  // In the order of the tree, parents first. Keeps no list: a file of nodes that show one mesh
  // would need many times its size for the transforms.
  void for_each_instance(const std::function<void(const MeshInstance&)>& visit) const;

  // Else every mesh is shown once, as it is.
  bool has_nodes() const { return document_.nodes.size() > 0; }

 private:
  const GltfDocument& document_;
  Affine world_;
  std::vector<std::uint32_t> roots_;
};

}  // namespace isotact::detail
