// What GpuMeshes keeps, as shaders/depth_cull.comp, depth_once.comp and depth_mesh.vert read it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/gpu/buffer.h"
#include "isotact/gpu/detail/gl_names.h"
#include "isotact/gpu/draw_program.h"
#include "isotact/gpu/mesh_drawable.h"

namespace isotact {
namespace detail {

inline constexpr std::size_t kClusterSize = 128;  // primitives; depth_cull.comp has as many lanes

struct MeshCluster {
  std::array<float, 3> lower;
  std::uint32_t element;
  std::array<float, 3> upper;
  std::uint32_t count;                      // primitives
  std::uint32_t first, kind, flags, empty;  // corner; DepthPrimitive; kPass...
};
static_assert(sizeof(MeshCluster) == 48);

inline constexpr std::size_t kLeafSize = 32;  // primitives; each cluster has four

struct MeshLeaf {
  std::array<float, 3> lower;
  std::uint32_t first;  // corner
  std::array<float, 3> upper;
  std::uint32_t count;  // primitives
};
static_assert(sizeof(MeshLeaf) == 32);

inline constexpr std::size_t kBundleSize = 8;  // primitives; a leaf has four

// Of an element's tree over its clusters, and what is in them down to bundles, in the order of a
// walk from left to right.
struct ClusterNode {
  Vec3f middle{}, half{};  // of its box
  std::uint32_t end = 0;   // the next node that is not below this one
  std::uint32_t cluster = kNoCluster;
  std::uint32_t first = 0, count = 0;  // corner, primitives; of bundles only, 0 elsewhere
  static constexpr std::uint32_t kNoCluster = 0xffffffff;
};

// An element in a query's picture.
struct DrawnInstance {
  std::array<float, 12> clip_from_element;  // rows
  std::uint32_t number, flags, query, empty;
};
static_assert(sizeof(DrawnInstance) == 64);

inline constexpr std::array<std::uint32_t, 3> kMeshCorners{3, 2, 1};  // by DepthPrimitive

}  // namespace detail

struct GpuMeshes::State {
  struct Element {
    Pose pose{};
    std::uint32_t id = 0;
    DepthPrimitive primitive = DepthPrimitive::kTriangles;
    bool closed = false;
    std::uint32_t first_corner = 0, corners = 0;
    Aabb bounds{};          // in its own frame
    bool surrounds = true;  // false: a room, turned inwards, whose solid is not around anything
    std::uint32_t first_node = 0, end_node = 0;
    Vec3 middle{};  // of a ball around it, in the world's frame
    double radius = 0;
    void find_ball();
  };
  std::vector<Element> elements;
  GpuBuffer corners;   // three floats each
  GpuBuffer clusters;  // MeshCluster
  GpuBuffer leaves;    // MeshLeaf, four a cluster
  std::vector<detail::ClusterNode> nodes;
  std::vector<Vec3f> corners_here;  // the same on the CPU
  std::uint32_t cluster_count = 0;
  double longest = 0;                    // of triangles' edges
  std::array<std::uint32_t, 3> kinds{};  // primitives of each kind
  bool any_closed = false;
  detail::GlVertexArray no_vertices;
  mutable std::optional<GpuDrawProgram> program;  // for callbacks
};

}  // namespace isotact
