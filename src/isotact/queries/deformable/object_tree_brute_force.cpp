// All pairs: the oracle of the searches.
#include "isotact/queries/deformable/detail/object_tree_state.h"

namespace isotact {
namespace {

struct AllPairs {
  ObjectTree::State &a, &b;
  detail::TreeView view_a, view_b;
  detail::TreeTask task;
  TreeWork work{};

  AllPairs(ObjectTree& tree_a, ObjectTree& tree_b, const TreeSearch& search, bool is_self)
      : a(tree_a.state()),
        b(tree_b.state()),
        view_a(a.view()),
        view_b(b.view()),
        task(detail::make_task(view_a, view_b, search.margin, is_self)) {
    if (!a.has_spheres()) return;
    detail::fit_top(a, {1}, work);
    detail::fit_top(b, {1}, work);
  }
  AllPairs(const AllPairs&) = delete;
  AllPairs& operator=(const AllPairs&) = delete;
};

bool is_triangle_pair(const detail::TreeTask& task, std::size_t lane_a, std::size_t lane_b) {
  return detail::are_near(detail::compute_box(*task.a, lane_a, 1),
                          detail::compute_box(*task.b, lane_b, 1), task.margin);
}

TreeWork find_all_pairs(ObjectTree& a, ObjectTree& b, const TreeSearch& search, bool is_self,
                        std::vector<TrianglePair>& pairs) {
  AllPairs s(a, b, search, is_self);
  const std::size_t before = pairs.size();
  for (std::uint32_t i = 0; i < s.a.leaves.size(); ++i)
    for (std::uint32_t j = 0; j < s.b.leaves.size(); ++j) {
      if (s.a.has_spheres() && !detail::are_leaves_near(s.task, i, j)) continue;
      const std::size_t first_a = std::size_t{s.a.leaves[i].first_block} * detail::kTreeLanes,
                        first_b = std::size_t{s.b.leaves[j].first_block} * detail::kTreeLanes;
      for (std::size_t p = first_a; p < first_a + s.a.leaves[i].count; ++p)
        for (std::size_t q = first_b; q < first_b + s.b.leaves[j].count; ++q)
          if (!(is_self && s.a.triangles[p] >= s.b.triangles[q]) && is_triangle_pair(s.task, p, q))
            pairs.push_back({s.a.triangles[p], s.b.triangles[q]});
    }
  s.work.pairs = pairs.size() - before;
  return s.work;
}

}  // namespace

TreeWork find_triangle_pairs_brute_force(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                                         std::vector<TrianglePair>& pairs) {
  return find_all_pairs(a, b, search, false, pairs);
}

TreeWork find_self_pairs_brute_force(ObjectTree& tree, const TreeSearch& search,
                                     std::vector<TrianglePair>& pairs) {
  return find_all_pairs(tree, tree, search, true, pairs);
}

TreeWork find_contact_sets_brute_force(ObjectTree& a, ObjectTree& b, const TreeSearch& search,
                                       ContactSets& sets) {
  AllPairs s(a, b, search, false);
  detail::TreeLeafSet in_a(a), in_b(b);
  for (std::uint32_t i = 0; i < s.a.leaves.size(); ++i)
    for (std::uint32_t j = 0; j < s.b.leaves.size(); ++j)
      if (detail::are_leaves_near(s.task, i, j)) {
        in_a.add(i);
        in_b.add(j);
        ++s.work.pairs;
      }
  in_a.list(sets.vertices_a, sets.triangles_a);
  in_b.list(sets.vertices_b, sets.triangles_b);
  return s.work;
}

}  // namespace isotact
