#include "isotact/queries/deformable/object_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/deformable/detail/object_tree_descent.h"
#include "isotact/queries/deformable/detail/object_tree_fit.h"
#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact {
namespace {

constexpr std::size_t kMostTreeElements = std::size_t{1} << 28U;  // Three corners in 32 bits.

void check_settings(const ObjectTreeSettings& s) {
  if (s.arity != 2 && s.arity != 4 && s.arity != 8)
    throw Error(fmt::format("object tree: arity is {}; it must be 2, 4 or 8", s.arity));
  if (s.leaf_triangles < 1)
    throw Error(
        fmt::format("object tree: leaf_triangles is {}; it must be 1 or more", s.leaf_triangles));
  if (s.part_triangles < 1)
    throw Error(
        fmt::format("object tree: part_triangles is {}; it must be 1 or more", s.part_triangles));
  if (s.max_level < 0 || s.max_level > detail::kMostTreeLevels)
    throw Error(fmt::format("object tree: max_level is {}; it must be between 0 and {}",
                            s.max_level, detail::kMostTreeLevels));
}

void check_mesh(std::size_t vertex_count, std::span<const Triangle> triangles) {
  if (vertex_count > kMostTreeElements || triangles.size() > kMostTreeElements)
    throw Error(fmt::format("object tree: {} vertices and {} triangles; at most {} are possible",
                            vertex_count, triangles.size(), kMostTreeElements));
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (const std::uint32_t v : triangles[i])
      if (v >= vertex_count)
        throw Error(
            fmt::format("object tree: triangle {} names vertex {} of {}", i, v, vertex_count));
}

}  // namespace

ObjectTree::ObjectTree(std::span<const Vec3> positions, std::span<const Triangle> triangles,
                       const ObjectTreeSettings& settings)
    : state_(std::make_unique<State>()) {
  check_settings(settings);
  check_mesh(positions.size(), triangles);
  state_->settings = settings;
  state_->vertex_count = static_cast<std::uint32_t>(positions.size());
  state_->triangle_count = static_cast<std::uint32_t>(triangles.size());
  state_->kernels = &detail::choose_tree_kernels(simd_level());
  detail::build_tree(*state_, positions, triangles);
  set_positions(positions);
}
ObjectTree::~ObjectTree() = default;
ObjectTree::ObjectTree(ObjectTree&&) noexcept = default;
ObjectTree& ObjectTree::operator=(ObjectTree&&) noexcept = default;

void ObjectTree::set_positions(std::span<const Vec3> positions) { set_positions(positions, {}); }

void ObjectTree::set_positions(std::span<const Vec3> at_t0, std::span<const Vec3> at_t1) {
  State& s = *state_;
  const auto check = [&](std::size_t count) {
    if (count != s.vertex_count)
      throw Error(fmt::format("object tree: {} positions are given for {} vertices", count,
                              s.vertex_count));
  };
  check(at_t0.size());
  if (!at_t1.empty()) check(at_t1.size());
  s.at_t0 = at_t0;
  s.at_t1 = at_t1;
  s.is_top_fitted = false;
  s.is_part_fitted.assign(s.parts.size(), 0);
}

const ObjectTreeSettings& ObjectTree::settings() const { return state_->settings; }
std::size_t ObjectTree::vertex_count() const { return state_->vertex_count; }
std::size_t ObjectTree::triangle_count() const { return state_->triangle_count; }
std::size_t ObjectTree::leaf_count() const { return state_->leaves.size(); }

std::span<const std::uint32_t> ObjectTree::leaf(std::size_t index) const {
  const detail::TreeLeaf& leaf = state_->leaves[index];
  return std::span(state_->triangles)
      .subspan(std::size_t{leaf.first_block} * detail::kTreeLanes, leaf.count);
}

std::size_t ObjectTree::bytes() const {
  const auto size = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  const State& s = *state_;
  return sizeof(State) + size(s.nodes) + size(s.node_blocks) + size(s.node_volumes) + size(s.top) +
         size(s.leaves) + size(s.leaf_boxes) + size(s.leaf_blocks) + size(s.corners) +
         size(s.triangles) + size(s.parts) + size(s.part_volumes) + size(s.part_vertices) +
         size(s.is_part_fitted);
}

detail::TreeView ObjectTree::State::view() {
  // Vec3 is three doubles without gaps.
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  const auto numbers = [](std::span<const Vec3> p) {
    return p.empty() ? nullptr : reinterpret_cast<const double*>(p.data());
  };
  return {.places = {numbers(at_t0), numbers(at_t1), vertex_count - 1},
          .has_spheres = has_spheres(),
          .nodes = nodes.data(),
          .node_blocks = node_blocks.data(),
          .node_volumes = node_volumes.data(),
          .leaves = leaves.data(),
          .leaf_blocks = leaf_blocks.data(),
          .leaf_boxes = leaf_boxes.data(),
          .leaf_volumes = has_spheres() ? part_volumes.data() : leaf_boxes.data(),
          .corners = corners.data(),
          .triangles = triangles.data(),
          .parts = parts.data(),
          .part_volumes = part_volumes.data(),
          .part_vertices = part_vertices.data()};
}

namespace detail {

TreeTask make_task(const TreeView& a, const TreeView& b, double margin, bool is_self) {
  if (!(margin >= 0))
    throw Error(fmt::format("object tree: the margin is {}; it must be 0 or more", margin));
  if (a.has_spheres != b.has_spheres)
    throw Error("object tree: one tree has boxes, the other spheres; both must have the same");
  // Spheres also need a tolerance for the rounding of their distance.
  const double reach = margin * (1 + (a.has_spheres ? 0x1p-20 : 0x1p-23));
  const double most = static_cast<double>(kTreeLargest);
  return {
      &a, &b, margin,
      margin == 0 ? 0.0F : std::nextafter(static_cast<float>(std::min(reach, most)), kTreeLargest),
      is_self};
}

}  // namespace detail

}  // namespace isotact

namespace isotact::detail {

const TreeKernels kBaselineTreeKernels = {
    TreeFitKernel<Lanes<float, 4>>::fit_part_boxes,
    TreeFitKernel<Lanes<float, 4>>::fit_part,
    TreeFitKernel<Lanes<float, 4>>::fit_top,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kParts>,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kLeaves>,
    TreeDescentKernel<Lanes<float, 4>>::find<TreeEnds::kTriangles>,
};

const TreeKernels& choose_tree_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2TreeKernels;
#endif
  return kBaselineTreeKernels;
}

}  // namespace isotact::detail

namespace isotact {
namespace {

using detail::kTreeEnd;
using detail::TreeView;
using detail::TreeVolume;

bool bounds_box(const TreeVolume& volume, const Aabb& box) {
  const auto most = static_cast<double>(detail::kTreeLargest);
  for (std::size_t k = 0; k < 3; ++k) {
    // Values beyond all floats are clamped.
    if (box.lower[k] > -most && static_cast<double>(volume.lower[k]) > box.lower[k]) return false;
    if (box.upper[k] < most && static_cast<double>(volume.upper[k]) < box.upper[k]) return false;
  }
  return true;
}

class FlawSearch {
 public:
  explicit FlawSearch(ObjectTree& tree) : tree_(tree), state_(tree.state()), view_(state_.view()) {
    TreeWork work;
    std::vector<std::uint32_t> all(state_.parts.size());
    std::iota(all.begin(), all.end(), 0U);
    detail::fit_top(state_, {1}, work);
    detail::fit_parts(state_, all, {1}, work);
  }

  std::optional<std::string> find() const {
    if (auto flaw = find_in_leaves()) return flaw;
    for (std::uint32_t i = 0; i < state_.nodes.size(); ++i) {
      const bool is_top = std::binary_search(state_.top.begin(), state_.top.end(), i);
      if (auto flaw = find_in_node(i, is_top)) return flaw;
    }
    return {};
  }

 private:
  std::optional<std::string> find_in_leaves() const {
    std::vector<std::uint8_t> seen(tree_.triangle_count(), 0);
    for (std::size_t i = 0; i < tree_.leaf_count(); ++i) {
      for (const std::uint32_t triangle : tree_.leaf(i))
        if (seen[triangle]++ != 0) return fmt::format("triangle {} is in two leaves", triangle);
      const detail::TreeLeaf& leaf = state_.leaves[i];
      const std::size_t first = std::size_t{leaf.first_block} * detail::kTreeLanes;
      for (std::size_t lane = first; lane < first + leaf.count; ++lane) {
        const Aabb box = detail::compute_box(view_, lane, 1);
        if (is_empty(box)) continue;
        TreeVolume own{};
        for (int k = 0; k < 3; ++k) {
          own.lower[k] = state_.leaf_blocks[lane / 8].lower[k][lane % 8];
          own.upper[k] = state_.leaf_blocks[lane / 8].upper[k][lane % 8];
        }
        if (!bounds_box(own, box) || !bounds_box(state_.leaf_boxes[i], box))
          return fmt::format("leaf {} does not bound triangle {}", i, state_.triangles[lane]);
      }
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] == 0) return fmt::format("triangle {} is in no leaf", i);
    return {};
  }

  std::optional<std::string> find_in_node(std::uint32_t index, bool is_top) const {
    const detail::TreeNode& node = state_.nodes[index];
    if (node.count < 1 || node.count > detail::kTreeLanes)
      return fmt::format("node {} has {} children", index, node.count);
    for (std::uint32_t lane = 0; lane < node.count; ++lane) {
      const std::uint32_t child = node.children[lane];
      const TreeVolume& own = (child & kTreeEnd) == 0 ? state_.node_volumes[child]
                              : is_top                ? state_.part_volumes[child & ~kTreeEnd]
                                                      : state_.leaf_boxes[child & ~kTreeEnd];
      const detail::TreeBlock& block = state_.node_blocks[index];
      for (int k = 0; k < 3; ++k)
        if (own.lower[k] < block.lower[k][lane] || own.upper[k] > block.upper[k][lane])
          return fmt::format("node {} has an old volume of child {}", index, lane);
      if (!bounds_child(state_.node_volumes[index], own))
        return fmt::format("node {} does not bound child {}", index, lane);
    }
    return {};
  }

  bool bounds_child(const TreeVolume& parent, const TreeVolume& child) const {
    if (!state_.has_spheres()) {
      for (int k = 0; k < 3; ++k)
        if (parent.lower[k] > child.lower[k] || parent.upper[k] < child.upper[k]) return false;
      return true;
    }
    if (!(child.upper[0] >= 0)) return true;  // It is not a sphere.
    const Vec3 a{parent.lower[0], parent.lower[1], parent.lower[2]},
        b{child.lower[0], child.lower[1], child.lower[2]};
    return length(a - b) + static_cast<double>(child.upper[0]) <=
           static_cast<double>(parent.upper[0]);
  }

  const ObjectTree& tree_;
  ObjectTree::State& state_;
  TreeView view_;
};

}  // namespace

std::optional<std::string> find_flaw(ObjectTree& tree) { return FlawSearch(tree).find(); }

}  // namespace isotact
