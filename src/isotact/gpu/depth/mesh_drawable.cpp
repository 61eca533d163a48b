#include "isotact/gpu/depth/mesh_drawable.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/detail/shader_text.h"
#include "isotact/gpu/depth/detail/depth_layout.h"
#include "isotact/gpu/depth/detail/mesh_state.h"
#include "isotact/queries/shape_views.h"

namespace isotact {
namespace {

struct ClusterItem {
  Vec3f middle;
  std::uint32_t primitive;
};

void check_element_pose(const Pose& pose, std::size_t number) {
  if (!is_finite(pose.translation) || !(std::abs(length_sq(pose.rotation) - 1) < 1e-6))
    throw Error(fmt::format("element {}: its pose must be finite, with a unit quaternion", number));
}

// Parts of at most a bundle, each half of the one above, along its longest side. On the path down
// there are parts of at most a leaf, and of at most a cluster. `enter` gets the items of a part and
// returns its number. `leave` gets the number after its halves, and the items, now sorted.
template <typename Enter, typename Leave>
void split_items(std::span<ClusterItem> items, const Enter& enter, const Leave& leave) {
  const std::size_t node = enter(items);
  if (items.size() > detail::kBundleSize) {
    const std::size_t limit = items.size() > detail::kClusterSize ? detail::kClusterSize
                              : items.size() > detail::kLeafSize  ? detail::kLeafSize
                                                                  : detail::kBundleSize;
    Aabbf box;
    for (const ClusterItem& i : items) extend(box, i.middle);
    const Vec3f size = extent(box);
    const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    // Whole parts on the left, so that few are half empty.
    const std::size_t left = (items.size() + limit - 1) / limit / 2 * limit;
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(left), items.end(),
                     [&](const ClusterItem& a, const ClusterItem& b) {
                       return a.middle[axis] != b.middle[axis] ? a.middle[axis] < b.middle[axis]
                                                               : a.primitive < b.primitive;
                     });
    split_items(items.first(left), enter, leave);
    split_items(items.subspan(left), enter, leave);
  }
  leave(node, items);
}

class ClusterBuilder {
 public:
  void add(const MeshElement& element, std::size_t number) {
    const std::size_t corners = detail::kMeshCorners[static_cast<std::size_t>(element.primitive)];
    check(element, number, corners);
    const std::size_t count = element.indices.size() / corners;
    const auto at = [&](std::size_t primitive, std::size_t corner) {
      return element.positions[element.indices[primitive * corners + corner]];
    };
    std::vector<ClusterItem> items(count);
    for (std::size_t p = 0; p < count; ++p) {
      Vec3f sum{};
      for (std::size_t c = 0; c < corners; ++c) sum += at(p, c);
      items[p] = {sum, static_cast<std::uint32_t>(p)};
    }
    if (count == 0) return;
    std::uint32_t cluster_first = 0;
    const auto add_corners = [&](std::span<ClusterItem> part) {
      for (const ClusterItem& item : part)
        for (std::size_t c = 0; c < corners; ++c) {
          corners_.push_back(at(item.primitive, c));
          const Vec3 edge =
              to_double(corners_.back()) - to_double(at(item.primitive, (c + 1) % corners));
          longest_ = std::max(longest_, length(edge));
        }
    };
    const auto add_cluster = [&](const Aabbf& box) {
      add_leaves(cluster_first, corners);
      const std::uint32_t flags =
          (element.closed ? detail::kPassClosed : 0U) |
          (element.primitive != DepthPrimitive::kTriangles ? detail::kPassThin : 0U);
      clusters_.push_back(
          {.lower = {box.lower.x, box.lower.y, box.lower.z},
           .element = static_cast<std::uint32_t>(number),
           .upper = {box.upper.x, box.upper.y, box.upper.z},
           .count = static_cast<std::uint32_t>((corners_.size() - cluster_first) / corners),
           .first = cluster_first,
           .kind = static_cast<std::uint32_t>(element.primitive),
           .flags = flags,
           .empty = 0});
    };
    // Children follow their parents: the first directly, the other at its end. The first part on
    // the path down that fits is a cluster, and contains everything below it.
    bool in_cluster = false;
    split_items(
        items,
        [&](std::span<ClusterItem> part) {
          nodes_.push_back({});
          boxes_.push_back({});
          if (!in_cluster && part.size() <= detail::kClusterSize) {
            in_cluster = true;
            cluster_first = static_cast<std::uint32_t>(corners_.size());
            nodes_.back().cluster = static_cast<std::uint32_t>(clusters_.size());
          }
          return nodes_.size() - 1;
        },
        [&](std::size_t node, std::span<ClusterItem> part) {
          detail::ClusterNode& n = nodes_[node];
          Aabbf& box = boxes_[node];
          n.end = static_cast<std::uint32_t>(nodes_.size());
          if (part.size() <= detail::kBundleSize) {
            n.first = static_cast<std::uint32_t>(corners_.size());
            n.count = static_cast<std::uint32_t>(part.size());
            add_corners(part);
            for (std::size_t c = n.first; c < corners_.size(); ++c) extend(box, corners_[c]);
          } else {
            box = boxes_[node + 1];
            extend(box, boxes_[nodes_[node + 1].end]);
          }
          n.middle = center(box);
          n.half = 0.5F * extent(box);
          if (n.cluster == detail::ClusterNode::kNoCluster) return;
          add_cluster(box);
          in_cluster = false;
        });
  }

  std::vector<Vec3f>& corners() { return corners_; }
  const std::vector<detail::MeshCluster>& clusters() const { return clusters_; }
  const std::vector<detail::MeshLeaf>& leaves() const { return leaves_; }
  std::vector<detail::ClusterNode>& nodes() { return nodes_; }
  double longest() const { return longest_; }

 private:
  // For the cluster whose corners begin at `first` and are the last ones.
  void add_leaves(std::size_t first, std::size_t corners) {
    for (std::size_t leaf = 0; leaf < detail::kClusterSize / detail::kLeafSize; ++leaf) {
      const std::size_t begin =
          std::min(first + leaf * detail::kLeafSize * corners, corners_.size());
      const std::size_t end = std::min(begin + detail::kLeafSize * corners, corners_.size());
      Aabbf box;
      for (std::size_t c = begin; c < end; ++c) extend(box, corners_[c]);
      leaves_.push_back({.lower = {box.lower.x, box.lower.y, box.lower.z},
                         .first = static_cast<std::uint32_t>(begin),
                         .upper = {box.upper.x, box.upper.y, box.upper.z},
                         .count = static_cast<std::uint32_t>((end - begin) / corners)});
    }
  }

  void check(const MeshElement& element, std::size_t number, std::size_t corners) const {
    if (element.indices.size() % corners != 0)
      throw Error(fmt::format("element {}: {} indices, which {} does not divide", number,
                              element.indices.size(), corners));
    for (const std::uint32_t i : element.indices) {
      if (i >= element.positions.size())
        throw Error(fmt::format("element {}: index {}, but it has {} positions", number, i,
                                element.positions.size()));
      const Vec3f& p = element.positions[i];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
        throw Error(fmt::format("element {}: position {} is not finite", number, i));
    }
    if (corners_.size() + element.indices.size() > std::numeric_limits<std::int32_t>::max() / 3)
      throw Error("more corners than shaders can number: make several GpuMeshes");
  }

  std::vector<Vec3f> corners_;
  std::vector<detail::MeshCluster> clusters_;
  std::vector<detail::MeshLeaf> leaves_;
  std::vector<detail::ClusterNode> nodes_;
  std::vector<Aabbf> boxes_;  // Per node.
  double longest_ = 0;
};

}  // namespace

void GpuMeshes::State::Element::compute_ball() {
  if (corners == 0) return;
  middle = transform_point(pose, center(bounds));
  radius = 0.5 * length(extent(bounds));
}

MeshElement make_mesh_element(const TriangleMesh& mesh, const Pose& world_from_mesh,
                              std::uint32_t id, bool closed) {
  static_assert(sizeof(Triangle) == 3 * sizeof(std::uint32_t));
  const std::uint32_t* first = mesh.triangles.empty() ? nullptr : mesh.triangles.front().data();
  return {.positions = mesh.positions,
          .indices = {first, 3 * mesh.triangles.size()},
          .world_from_element = world_from_mesh,
          .id = id,
          .closed = closed};
}

MeshElement make_mesh_element(const Shape& shape, const Pose& world_from_shape, std::uint32_t id) {
  const bool closed = depth_element(shape, world_from_shape, id).closed;
  return make_mesh_element(shape.surface(), world_from_shape, id, closed);
}

namespace {

// Returns six times the volume of a closed mesh: negative if it is oriented inwards.
double compute_volume(std::span<const Vec3f> positions, std::span<const std::uint32_t> indices) {
  double volume = 0;
  if (indices.empty()) return volume;
  const Vec3 origin = to_double(positions[indices[0]]);
  for (std::size_t i = 0; i + 2 < indices.size(); i += 3) {
    const Vec3 a = to_double(positions[indices[i]]) - origin;
    const Vec3 b = to_double(positions[indices[i + 1]]) - origin;
    const Vec3 c = to_double(positions[indices[i + 2]]) - origin;
    volume += dot(a, cross(b, c));
  }
  return volume;
}

}  // namespace

GpuMeshes::GpuMeshes(std::span<const MeshElement> elements) : state_(std::make_unique<State>()) {
  ClusterBuilder builder;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const MeshElement& e = elements[i];
    check_element_pose(e.world_from_element, i);
    State::Element kept{e.world_from_element, e.id, e.primitive, e.closed};
    kept.first_corner = static_cast<std::uint32_t>(builder.corners().size());
    kept.corners = static_cast<std::uint32_t>(e.indices.size());
    kept.first_node = static_cast<std::uint32_t>(builder.nodes().size());
    builder.add(e, i);
    kept.end_node = static_cast<std::uint32_t>(builder.nodes().size());
    if (e.primitive == DepthPrimitive::kTriangles)
      kept.surrounds = compute_volume(e.positions, e.indices) > 0;
    for (const std::uint32_t corner : e.indices)
      extend(kept.bounds, to_double(e.positions[corner]));
    kept.compute_ball();
    state_->elements.push_back(kept);
    const auto kind = static_cast<std::size_t>(e.primitive);
    state_->kinds[kind] += kept.corners / detail::kMeshCorners[kind];
    state_->any_closed = state_->any_closed || e.closed;
  }
  constexpr std::size_t kMostClusters = 65535;  // Work-groups that every GPU supports.
  if (builder.clusters().size() > kMostClusters)
    throw Error(fmt::format("{} clusters of {} primitives are more than {}: make several GpuMeshes",
                            builder.clusters().size(), detail::kClusterSize, kMostClusters));
  state_->corners = GpuBuffer(std::span<const Vec3f>(builder.corners()));
  state_->clusters = GpuBuffer(std::span<const detail::MeshCluster>(builder.clusters()));
  state_->leaves = GpuBuffer(std::span<const detail::MeshLeaf>(builder.leaves()));
  state_->nodes = std::move(builder.nodes());
  state_->corners_here = std::move(builder.corners());
  state_->cluster_count = static_cast<std::uint32_t>(builder.clusters().size());
  state_->longest = builder.longest();
}
GpuMeshes::GpuMeshes(GpuMeshes&&) noexcept = default;
GpuMeshes& GpuMeshes::operator=(GpuMeshes&&) noexcept = default;
GpuMeshes::~GpuMeshes() = default;

std::size_t GpuMeshes::size() const { return state_->elements.size(); }
std::uint64_t GpuMeshes::primitives() const {
  return std::uint64_t{state_->kinds[0]} + state_->kinds[1] + state_->kinds[2];
}
std::uint64_t GpuMeshes::memory_bytes() const {
  return state_->corners.size() + state_->clusters.size() + state_->leaves.size();
}
const Pose& GpuMeshes::pose(std::size_t element) const { return state_->elements[element].pose; }
void GpuMeshes::set_pose(std::size_t element, const Pose& world_from_element) {
  check_element_pose(world_from_element, element);
  state_->elements[element].pose = world_from_element;
  state_->elements[element].compute_ball();
}

GpuDrawable GpuMeshes::drawable(std::size_t element) const {
  const State* state = state_.get();
  const State::Element& e = state->elements[element];
  const auto draw = [state, element](const DrawPass& pass) {
    if (!state->program)
      state->program.emplace(
          DrawStages{.vertex = detail::find_shader("mesh_corners.vert"), .name = "mesh"});
    const State::Element& now = state->elements[element];
    state->program->use(pass);
    const Mat3 turn = to_matrix(now.pose.rotation);
    std::array<float, 12> rows{};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) rows[4 * r + c] = static_cast<float>(turn.rows[r][c]);
      rows[4 * r + 3] = static_cast<float>(now.pose.translation[r]);
    }
    glUniform4fv(glsl::kMeshRowsLocation, 3, rows.data());
    state->corners.bind(glsl::kDepthCornersAt);
    glBindVertexArray(state->no_vertices.name());
    constexpr std::array<GLenum, 3> kModes{GL_TRIANGLES, GL_LINES, GL_POINTS};
    glDrawArrays(kModes[static_cast<std::size_t>(now.primitive)],
                 static_cast<GLint>(now.first_corner), static_cast<GLsizei>(now.corners));
  };
  return {.draw = draw, .id = e.id, .closed = e.closed, .primitive = e.primitive};
}

std::vector<GpuDrawable> GpuMeshes::drawables() const {
  std::vector<GpuDrawable> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(drawable(i));
  return all;
}

}  // namespace isotact
