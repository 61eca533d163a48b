// Bounds are fitted to where vertices are: those of parts and of all above in each first search,
// what is in a part when a search comes there.
#include "isotact/base/thread_scratch.h"
#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact::detail {
namespace {

constexpr std::size_t kPartBoxGrain = 64, kPartGrain = 16;

}  // namespace

Aabb find_box(const TreeView& tree, std::size_t first_lane, std::size_t count) {
  Aabb box;
  for (const double* positions : {tree.places.t0, tree.places.t1}) {
    if (positions == nullptr) continue;
    for (std::size_t i = 3 * first_lane; i < 3 * (first_lane + count); ++i) {
      const double* p = positions + std::size_t{3} * tree.corners[i];
      for (std::size_t k = 0; k < 3; ++k) {
        // A NaN is neither.
        if (p[k] < box.lower[k]) box.lower[k] = p[k];
        if (p[k] > box.upper[k]) box.upper[k] = p[k];
      }
    }
  }
  return box;
}

bool are_near(const Aabb& a, const Aabb& b, double margin) {
  for (std::size_t k = 0; k < 3; ++k)
    if (!(a.lower[k] <= b.upper[k] + margin && b.lower[k] <= a.upper[k] + margin)) return false;
  return true;
}

void fit_top(ObjectTree::State& state, Threads threads, TreeWork& work) {
  if (state.is_top_fitted) return;
  const TreeView view = state.view();
  const auto top_count = static_cast<std::uint32_t>(state.top.size());
  parallel_for(state.parts.size(), kPartBoxGrain, threads, [&](std::size_t begin, std::size_t end) {
    const auto fit = state.has_spheres() ? fit_leaf_spheres : state.kernels->fit_part_boxes;
    fit(view, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
  if (state.has_spheres())
    fit_node_spheres(view, state.top);
  else
    state.kernels->fit_top(view, state.top.data(), top_count);
  state.is_top_fitted = true;
  work.nodes_fitted += state.parts.size() + state.top.size();
  work.vertices_read += state.part_vertices.size() * (state.at_t1.empty() ? 1U : 2U);
}

void fit_parts(ObjectTree::State& state, std::span<const std::uint32_t> parts, Threads threads,
               TreeWork& work) {
  ThreadScratch<std::vector<std::uint32_t>> stale;
  stale->clear();
  for (const std::uint32_t part : parts) {
    if (state.is_part_fitted[part] != 0) continue;
    state.is_part_fitted[part] = 1;
    stale->push_back(part);
    const TreePart& p = state.parts[part];
    work.nodes_fitted += p.node_count + p.leaf_count;
    for (std::uint32_t i = 0; i < p.leaf_count; ++i)
      work.vertices_read +=
          std::uint64_t{3} * state.leaves[p.first_leaf + i].count * (state.at_t1.empty() ? 1U : 2U);
  }
  const TreeView view = state.view();
  parallel_for(stale->size(), kPartGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      state.kernels->fit_part(view, state.parts[(*stale)[i]]);
  });
}

}  // namespace isotact::detail
