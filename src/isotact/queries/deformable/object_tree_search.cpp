// A search goes from the roots down to pairs of parts, fits these parts, and continues in each pair
// of them. No fit is checked during the descent, and threads share nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact {
namespace {

using detail::TreePairKey;
using detail::TreeSink;
using detail::TreeTask;
using detail::TreeView;
using FindBelow = void (*)(const TreeTask&, TreePairKey, TreeSink&);

constexpr std::size_t kPartPairGrain = 32;

template <typename Pair>
struct PairVectorSink : TreeSink {
  std::array<TreePairKey, 512> buffer;
  std::vector<Pair>* to;

  explicit PairVectorSink(std::vector<Pair>& the_to) : to(&the_to) {
    pairs = buffer.data();
    count = 0;
    capacity = buffer.size();
    tests = 0;
    flush = [](TreeSink& full) {
      auto& sink = static_cast<PairVectorSink&>(full);
      for (std::size_t i = 0; i < full.count; ++i)
        sink.to->push_back({sink.buffer[i].a, sink.buffer[i].b});
      full.count = 0;
    };
  }
};

struct PairSearchScratch {
  std::vector<TreePairKey> part_pairs;
  std::vector<std::uint32_t> parts;
};

struct PairSearch {
  ObjectTree::State &a, &b;
  TreeView view_a, view_b;
  TreeTask task;
  Threads threads;
  TreeWork work;

  PairSearch(ObjectTree& tree_a, ObjectTree& tree_b, const TreeSearch& search, bool is_self)
      : a(tree_a.state()),
        b(tree_b.state()),
        view_a(a.view()),
        view_b(b.view()),
        task(detail::make_task(view_a, view_b, search.margin, is_self)),
        threads(search.threads) {}
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  // Pairs of parts, fitted.
  void find_parts(PairSearchScratch& scratch) {
    scratch.part_pairs.clear();
    if (a.parts.empty() || b.parts.empty()) return;
    detail::fit_top(a, threads, work);
    detail::fit_top(b, threads, work);
    PairVectorSink<TreePairKey> sink(scratch.part_pairs);
    a.kernels->find_parts(task, {a.root, b.root}, sink);
    sink.flush(sink);
    work.node_tests += sink.tests;
    fit_side(a, &TreePairKey::a, scratch);
    fit_side(b, &TreePairKey::b, scratch);
  }

  void fit_side(ObjectTree::State& tree, std::uint32_t TreePairKey::*side,
                PairSearchScratch& scratch) {
    scratch.parts.clear();
    for (const TreePairKey& pair : scratch.part_pairs) scratch.parts.push_back(pair.*side);
    detail::fit_parts(tree, scratch.parts, threads, work);
  }

  // Results of `find` below pairs of parts, in the order of the pairs.
  template <typename Pair>
  void find_below(std::span<const TreePairKey> part_pairs, FindBelow find,
                  std::vector<Pair>& pairs) {
    const auto run = [&](std::size_t begin, std::size_t end, std::vector<Pair>& to) {
      PairVectorSink<Pair> sink(to);
      for (std::size_t i = begin; i < end; ++i)
        find(task, {a.parts[part_pairs[i].a].root, b.parts[part_pairs[i].b].root}, sink);
      sink.flush(sink);
      return sink.tests;
    };
    const std::size_t before = pairs.size();
    if (resolve(threads) == 1) {
      work.node_tests += run(0, part_pairs.size(), pairs);
    } else {
      std::vector<std::pair<std::vector<Pair>, std::uint64_t>> chunks(
          (part_pairs.size() + kPartPairGrain - 1) / kPartPairGrain);
      parallel_for(part_pairs.size(), kPartPairGrain, threads,
                   [&](std::size_t begin, std::size_t end) {
                     auto& [found, tests] = chunks[begin / kPartPairGrain];
                     tests = run(begin, end, found);
                   });
      for (const auto& [found, tests] : chunks) {
        pairs.insert(pairs.end(), found.begin(), found.end());
        work.node_tests += tests;
      }
    }
    work.pairs += pairs.size() - before;
  }
};

TreeWork find_pairs_of(ObjectTree& a, ObjectTree& b, const TreeSearch& search, bool is_self,
                       std::vector<TrianglePair>& pairs) {
  PairSearch s(a, b, search, is_self);
  ThreadScratch<PairSearchScratch> scratch;
  s.find_parts(*scratch);
  s.find_below(std::span<const TreePairKey>(scratch->part_pairs), s.a.kernels->find_triangles,
               pairs);
  return s.work;
}

}  // namespace

TreeWork find_triangle_pairs(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                             std::vector<TrianglePair>& pairs) {
  return find_pairs_of(a, b, search, false, pairs);
}

TreeWork find_self_pairs(ObjectTree& tree, const TreeSearch& search,
                         std::vector<TrianglePair>& pairs) {
  return find_pairs_of(tree, tree, search, true, pairs);
}

TreeWork find_contact_sets(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                           ContactSets& sets) {
  PairSearch s(a, b, search, false);
  ThreadScratch<PairSearchScratch> scratch;
  s.find_parts(*scratch);
  std::vector<TreePairKey> leaf_pairs;
  s.find_below(std::span<const TreePairKey>(scratch->part_pairs), s.a.kernels->find_leaves,
               leaf_pairs);
  detail::TreeLeafSet in_a(a), in_b(b);
  for (const TreePairKey& pair : leaf_pairs) {
    if ((in_a.has(pair.a) && in_b.has(pair.b)) || !detail::are_leaves_near(s.task, pair.a, pair.b))
      continue;
    in_a.add(pair.a);
    in_b.add(pair.b);
  }
  in_a.list(sets.vertices_a, sets.triangles_a);
  in_b.list(sets.vertices_b, sets.triangles_b);
  return s.work;
}

}  // namespace isotact

namespace isotact::detail {

// Spheres of leaves, tight around their vertices, and of nodes, around their children's.

namespace {

constexpr float kTreeNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kTreeHugeRadius = 1e18;  // Its square is far from the largest float.

TreeVolume make_sphere(const Vec3f& middle, float radius) {
  return {{middle.x, middle.y, middle.z, 0}, {radius, 0, 0, 0}};
}
// Near every other valid sphere: for volumes that are too large to be squared.
TreeVolume make_whole_space() { return make_sphere({}, std::numeric_limits<float>::infinity()); }
// Near nothing.
TreeVolume make_no_sphere() { return make_sphere({kTreeNan, kTreeNan, kTreeNan}, kTreeNan); }

bool is_no_sphere(const TreeVolume& sphere) { return !(sphere.upper[0] >= 0); }

// Returns a distance along one axis; zero for NaN.
double gap(double from, double to) {
  const double d = to - from;
  return std::isnan(d) ? 0 : d;
}

TreeVolume fit_leaf_sphere(const TreeView& tree, std::uint32_t index) {
  const TreePart& part = tree.parts[index];
  const TreeLeaf& leaf = tree.leaves[index];
  const Aabb box = compute_box(tree, std::size_t{leaf.first_block} * kTreeLanes, leaf.count);
  if (is_empty(box)) return make_no_sphere();
  const Vec3 half = (box.upper - box.lower) * 0.5, middle = box.lower + half;
  if (!(length_sq(half) < kTreeHugeRadius * kTreeHugeRadius &&
        length_sq(middle) < kTreeHugeRadius * kTreeHugeRadius))
    return make_whole_space();
  const Vec3f rounded = to_float(middle);
  const Vec3 at = to_double(rounded);
  double most_sq = 0;
  for (const double* positions : {tree.places.t0, tree.places.t1}) {
    if (positions == nullptr) continue;
    for (std::uint32_t i = 0; i < part.vertex_count; ++i) {
      const double* p = positions + std::size_t{3} * tree.part_vertices[part.first_vertex + i];
      const Vec3 d{gap(at.x, p[0]), gap(at.y, p[1]), gap(at.z, p[2])};
      most_sq = std::max(most_sq, length_sq(d));
    }
  }
  // More than the roundings of the comparison, which are relative to the radii.
  const double radius = std::sqrt(most_sq) * (1 + 0x1p-20) + static_cast<double>(kTreeSlack);
  return make_sphere(rounded, static_cast<float>(radius));
}

TreeVolume sphere_around(const TreeView& tree, const TreeNode& node) {
  const auto child = [&](std::uint32_t lane) -> const TreeVolume& {
    const std::uint32_t c = node.children[lane];
    return (c & kTreeEnd) != 0 ? tree.part_volumes[c & ~kTreeEnd] : tree.node_volumes[c];
  };
  Aabb box;
  bool is_whole = false;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const TreeVolume& c = child(i);
    if (is_no_sphere(c)) continue;
    const auto r = static_cast<double>(c.upper[0]);
    is_whole = is_whole || !(r < kTreeHugeRadius);
    const Vec3 at{c.lower[0], c.lower[1], c.lower[2]};
    extend(box, Aabb{at - Vec3{r, r, r}, at + Vec3{r, r, r}});
  }
  if (is_whole) return make_whole_space();
  if (is_empty(box)) return make_no_sphere();
  const Vec3f rounded = to_float(center(box));
  const Vec3 at = to_double(rounded);
  double most = 0;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const TreeVolume& c = child(i);
    if (is_no_sphere(c)) continue;
    const Vec3 middle{c.lower[0], c.lower[1], c.lower[2]};
    most = std::max(most, length(middle - at) + static_cast<double>(c.upper[0]));
  }
  if (!(most < kTreeHugeRadius)) return make_whole_space();
  // Enlarged so that rounding of a comparison never separates nodes whose children it does not
  // separate.
  return make_sphere(rounded, static_cast<float>(most * (1 + 0x1p-17)));
}

}  // namespace

void fit_leaf_spheres(const TreeView& tree, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) tree.part_volumes[i] = fit_leaf_sphere(tree, i);
}

void fit_node_spheres(const TreeView& tree, std::span<const std::uint32_t> nodes) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::uint32_t index = nodes[i];
    const TreeNode& node = tree.nodes[index];
    TreeBlock& block = tree.node_blocks[index];
    for (std::uint32_t lane = 0; lane < node.count; ++lane) {
      const std::uint32_t c = node.children[lane];
      const TreeVolume& v =
          (c & kTreeEnd) != 0 ? tree.part_volumes[c & ~kTreeEnd] : tree.node_volumes[c];
      for (int k = 0; k < 3; ++k) {
        block.lower[k][lane] = v.lower[k];
        block.upper[k][lane] = v.upper[k];
      }
    }
    tree.node_volumes[index] = sphere_around(tree, node);
  }
}

bool are_spheres_near(const TreeVolume& a, const TreeVolume& b, float reach) {
  const float dx = a.lower[0] - b.lower[0], dy = a.lower[1] - b.lower[1],
              dz = a.lower[2] - b.lower[2], most = (a.upper[0] + b.upper[0]) + reach;
  return (dx * dx + dy * dy) + dz * dz <= most * most;
}

}  // namespace isotact::detail
