#include "isotact/geometry/self_intersection.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "isotact/geometry/bvh_visit.h"

namespace isotact {
namespace {

constexpr std::size_t kBlocksPerTask = 1024;

void count(SelfIntersections& found, const TrianglePair& pair) {
  if (pair.contact == TriangleContact::kCross) ++found.crossing;
  if (pair.contact == TriangleContact::kOverlap) ++found.overlapping;
  if (pair.contact == TriangleContact::kTouch) ++found.touching;
}

// Only the lowest ones are asked for, so a part need not remember more.
void keep_first_pairs(std::vector<TrianglePair>& pairs, std::size_t max_pairs) {
  const auto before = [](const TrianglePair& x, const TrianglePair& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  };
  std::sort(pairs.begin(), pairs.end(), before);
  if (pairs.size() > max_pairs) pairs.resize(max_pairs);
}

// The same now and then, so that memory stays bounded and the whole at O(n log n).
void trim(std::vector<TrianglePair>& pairs, std::size_t max_pairs) {
  if (pairs.size() / 2 > max_pairs + 1024) keep_first_pairs(pairs, max_pairs);
}

void test_pair(const TriangleMesh& mesh, std::uint32_t a, std::uint32_t b,
               const SelfIntersectionSettings& settings, SelfIntersections& found) {
  const TrianglePair pair{a, b, find_contact_triangle_triangle(corners(mesh, a), corners(mesh, b))};
  if (pair.contact == TriangleContact::kNone) return;
  if (pair.contact == TriangleContact::kTouch && !settings.touching) return;
  count(found, pair);
  found.pairs.push_back(pair);
  trim(found.pairs, settings.max_pairs);
}

SelfIntersections join(SelfIntersections all, SelfIntersections part, std::size_t max_pairs) {
  all.crossing += part.crossing;
  all.overlapping += part.overlapping;
  all.touching += part.touching;
  all.pairs.insert(all.pairs.end(), part.pairs.begin(), part.pairs.end());
  trim(all.pairs, max_pairs);
  return all;
}

}  // namespace

SelfIntersections find_self_intersections(const TriangleMesh& mesh,
                                          const SelfIntersectionSettings& settings) {
  const Bvh bvh(mesh, {.threads = settings.threads});
  SelfIntersections all = parallel_reduce(
      bvh.blocks().size(), kBlocksPerTask, settings.threads, SelfIntersections{},
      [&](std::size_t begin, std::size_t end) {
        SelfIntersections part;
        for_each_overlapping_pair(bvh, begin, end, [&](std::uint32_t a, std::uint32_t b) {
          test_pair(mesh, a, b, settings, part);
        });
        keep_first_pairs(part.pairs, settings.max_pairs);
        return part;
      },
      [&](SelfIntersections sum, SelfIntersections part) {
        return join(std::move(sum), std::move(part), settings.max_pairs);
      });
  keep_first_pairs(all.pairs, settings.max_pairs);
  return all;
}

SelfIntersections find_self_intersections_brute_force(const TriangleMesh& mesh,
                                                      const SelfIntersectionSettings& settings) {
  SelfIntersections all;
  for (std::uint32_t a = 0; a < mesh.triangles.size(); ++a)
    for (std::uint32_t b = a + 1; b < mesh.triangles.size(); ++b)
      test_pair(mesh, a, b, settings, all);
  keep_first_pairs(all.pairs, settings.max_pairs);
  return all;
}

}  // namespace isotact
