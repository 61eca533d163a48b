// The state of GpuMeshes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/detail/gl_names.h"
#include "isotact/gpu/depth/detail/depth_layout.h"
#include "isotact/gpu/depth/draw_program.h"
#include "isotact/gpu/depth/mesh_drawable.h"

namespace isotact {
namespace detail {

inline constexpr std::size_t kClusterSize = glsl::kClusterSize;
inline constexpr std::size_t kLeafSize = glsl::kLeafSize;
inline constexpr std::size_t kBundleSize = 8;  // Primitives; a leaf has four.

// A node of an element's tree over its clusters, and their content down to bundles, in depth-first
// order.
struct ClusterNode {
  Vec3f middle{}, half{};  // Its box.
  std::uint32_t end = 0;   // The next node that is not below this one.
  std::uint32_t cluster = kNoCluster;
  std::uint32_t first = 0, count = 0;  // Corner, primitives; 0 except for bundles.
  static constexpr std::uint32_t kNoCluster = 0xffffffff;
};

inline constexpr std::array<std::uint32_t, 3> kMeshCorners{3, 2, 1};  // By DepthPrimitive.

}  // namespace detail

struct GpuMeshes::State {
  struct Element {
    Pose pose{};
    std::uint32_t id = 0;
    DepthPrimitive primitive = DepthPrimitive::kTriangles;
    bool closed = false;
    std::uint32_t first_corner = 0, corners = 0;
    Aabb bounds{};          // Own frame.
    bool surrounds = true;  // False: a hollow oriented inwards, whose solid surrounds nothing.
    std::uint32_t first_node = 0, end_node = 0;
    Vec3 middle{};  // Centre of a ball around it, world frame.
    double radius = 0;
    void compute_ball();
  };
  std::vector<Element> elements;
  GpuBuffer corners;   // Three floats each.
  GpuBuffer clusters;  // Array of MeshCluster.
  GpuBuffer leaves;    // Array of MeshLeaf, four per cluster.
  std::vector<detail::ClusterNode> nodes;
  std::vector<Vec3f> corners_here;  // The same on the CPU.
  std::uint32_t cluster_count = 0;
  double longest = 0;                    // Longest edge of triangles.
  std::array<std::uint32_t, 3> kinds{};  // Primitives of each kind.
  bool any_closed = false;
  detail::GlVertexArray no_vertices;
  mutable std::optional<GpuDrawProgram> program;  // For callbacks.
};

}  // namespace isotact

namespace isotact::detail {

// Returns the winding number of a closed mesh around a position, on the CPU. `place` is in the
// element's frame. Returns nothing if rounding may have decided, in every
// direction that was tried.
std::optional<int> compute_winding(const GpuMeshes::State& meshes,
                                   const GpuMeshes::State::Element& element, const Vec3& place);

}  // namespace isotact::detail
