// A search goes from the roots down to pairs of parts, fits these parts, and goes on in each pair
// of them. So nothing is asked whether it is fitted on the way down, and threads share nothing.
#include <array>
#include <utility>

#include "isotact/base/thread_scratch.h"
#include "isotact/queries/deformable/detail/object_tree_leaves.h"
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

  // What `find` finds below pairs of parts, in the order of the pairs.
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
