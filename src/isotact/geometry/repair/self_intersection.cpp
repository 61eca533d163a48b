#include "isotact/geometry/repair/self_intersection.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tuple>

#include "isotact/geometry/bvh/bvh_visit.h"
#include "isotact/geometry/mesh/detail/topology.h"
#include "isotact/geometry/mesh/predicates.h"

namespace isotact {
namespace {

constexpr std::size_t kBlocksPerTask = 64;
constexpr std::size_t kPairsPerTask = 4096;     // kept by a task before it hands them over
constexpr std::uint64_t kTestsPerCheck = 4096;  // between looks at the clock, so to speak

void count(SelfIntersections& found, const TrianglesInContact& pair) {
  if (pair.contact == TriangleContact::kCross) ++found.crossing;
  if (pair.contact == TriangleContact::kOverlap) ++found.overlapping;
  if (pair.contact == TriangleContact::kTouch) ++found.touching;
}

// Only the lowest ones are asked for.
void keep_first_pairs(std::vector<TrianglesInContact>& pairs, std::size_t max_pairs) {
  const auto before = [](const TrianglesInContact& x, const TrianglesInContact& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  };
  std::sort(pairs.begin(), pairs.end(), before);
  if (pairs.size() > max_pairs) pairs.resize(max_pairs);
}

// The same now and then, so that memory stays bounded and the whole at O(n log n).
void trim(std::vector<TrianglesInContact>& pairs, std::size_t max_pairs) {
  if (pairs.size() > kPairsPerTask && pairs.size() / 2 > max_pairs)
    keep_first_pairs(pairs, max_pairs);
}

void test_pair(const TriangleMesh& mesh, std::uint32_t a, std::uint32_t b, bool touching,
               SelfIntersections& found) {
  const TrianglesInContact pair{a, b,
                                find_contact_triangle_triangle(corners(mesh, a), corners(mesh, b))};
  if (pair.contact == TriangleContact::kNone) return;
  if (pair.contact == TriangleContact::kTouch && !touching) return;
  count(found, pair);
  found.pairs.push_back(pair);
}

// Empties the part.
void move_into(SelfIntersections& all, SelfIntersections& part, std::size_t max_pairs) {
  all.crossing += part.crossing;
  all.overlapping += part.overlapping;
  all.touching += part.touching;
  all.pairs.insert(all.pairs.end(), part.pairs.begin(), part.pairs.end());
  trim(all.pairs, max_pairs);
  part.crossing = part.overlapping = part.touching = 0;
  part.pairs.clear();
}

// The triangles that can have contact: with an area, and the first on their three positions.
// Thousands of copies of one triangle would otherwise be tested in all pairs, for nothing.
std::vector<std::uint32_t> find_candidates(const TriangleMesh& mesh, Threads threads) {
  const std::vector<std::uint32_t> names = detail::merge_equal_positions(mesh.positions, threads);
  std::vector<std::pair<Triangle, std::uint32_t>> named;
  named.reserve(mesh.triangles.size());
  for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    Triangle t = mesh.triangles[i];
    for (std::uint32_t& v : t) v = names[v];
    std::sort(t.begin(), t.end());
    if (t[0] != t[1] && t[1] != t[2]) named.emplace_back(t, i);
  }
  std::sort(named.begin(), named.end());
  const auto equal = [](const auto& x, const auto& y) { return x.first == y.first; };
  named.erase(std::unique(named.begin(), named.end(), equal), named.end());
  std::vector<std::uint32_t> candidates;
  candidates.reserve(named.size());
  for (const auto& [t, i] : named) {
    const auto [a, b, c] = corners(mesh, i);
    if (is_finite(a) && is_finite(b) && is_finite(c) && !are_collinear(a, b, c))
      candidates.push_back(i);
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

// Goes through the hierarchy in waves of blocks. A wave that would exceed the tests that are left
// counts for nothing, and is the last one: whether it does, and what the waves before found, does
// not depend on who was faster.
class Search {
 public:
  Search(const TriangleMesh& mesh, const SelfIntersectionSettings& settings)
      : mesh_(mesh), settings_(settings), names_(find_candidates(mesh, settings.threads)) {
    TriangleMesh candidates{mesh.positions, {}};
    candidates.triangles.reserve(names_.size());
    for (const std::uint32_t i : names_) candidates.triangles.push_back(mesh.triangles[i]);
    bvh_ = Bvh(candidates, {.threads = settings.threads, .monitor = settings.monitor});
  }

  SelfIntersections run() {
    const std::size_t count = bvh_.blocks().size();
    std::uint64_t left = settings_.max_tests;
    std::size_t wave = kBlocksPerTask;
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t end = begin + std::min(wave, count - begin);
      if (!search(begin, end, left)) {
        all_.complete = false;
        break;
      }
      begin = end;
      left -= tests_;
      // Twice as much the next time, unless that would take a large part of what is left.
      const bool grow = tests_ < left / 16;
      wave = grow ? 2 * wave : std::max(kBlocksPerTask, wave / 2);
    }
    keep_first_pairs(all_.pairs, settings_.max_pairs);
    return std::move(all_);
  }

 private:
  // False, and nothing new in all_, if there are more pairs than tests are left.
  bool search(std::size_t begin, std::size_t end, std::uint64_t left) {
    tests_ = 0;
    found_ = {};
    parallel_for(end - begin, kBlocksPerTask, settings_.threads,
                 [&](std::size_t first, std::size_t last) {
                   search_task(begin + first, begin + last, left);
                 });
    if (tests_ > left) return false;
    move_into(all_, found_, settings_.max_pairs);
    return true;
  }

  void search_task(std::size_t begin, std::size_t end, std::uint64_t left) {
    SelfIntersections part;
    std::uint64_t tests = 0;
    bool go_on = tests_ <= left;
    const auto pay = [&] {
      settings_.monitor.check();
      go_on = (tests_ += tests) <= left;
      tests = 0;
    };
    for (std::size_t i = begin; i < end && go_on; ++i) {
      for_each_overlapping_pair(bvh_, i, i + 1, [&](std::uint32_t a, std::uint32_t b) {
        test_pair(mesh_, names_[a], names_[b], settings_.touching, part);
        if (part.pairs.size() >= kPairsPerTask) hand_over(part, 0);
        if (++tests >= kTestsPerCheck) pay();
        return go_on;
      });
      settings_.monitor.check();
    }
    pay();
    hand_over(part, end - begin);
  }

  void hand_over(SelfIntersections& part, std::size_t blocks) {
    const std::scoped_lock lock(mutex_);
    move_into(found_, part, settings_.max_pairs);
    blocks_done_ += blocks;
    if (blocks > 0)
      settings_.monitor.report({.task = "searching self-intersections",
                                .done = blocks_done_,
                                .total = bvh_.blocks().size()});
  }

  const TriangleMesh& mesh_;
  const SelfIntersectionSettings& settings_;
  std::vector<std::uint32_t> names_;  // in the mesh, of the triangles in the hierarchy; ascending
  Bvh bvh_;
  SelfIntersections all_;
  std::atomic<std::uint64_t> tests_ = 0;  // in this wave
  std::mutex mutex_;
  SelfIntersections found_;  // in this wave; guarded by the mutex
  std::size_t blocks_done_ = 0;
};

bool same_positions(TriangleCorners a, TriangleCorners b) {
  return std::is_permutation(a.begin(), a.end(), b.begin());
}

}  // namespace

SelfIntersections find_self_intersections(const TriangleMesh& mesh,
                                          const SelfIntersectionSettings& settings) {
  return Search(mesh, settings).run();
}

SelfIntersections find_self_intersections_brute_force(const TriangleMesh& mesh,
                                                      const SelfIntersectionSettings& settings) {
  SelfIntersections all;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t b = 0; b < mesh.triangles.size(); ++b) {
    const auto repeats = [&](std::uint32_t a) {
      return same_positions(corners(mesh, a), corners(mesh, b));
    };
    if (std::any_of(firsts.begin(), firsts.end(), repeats)) continue;
    for (const std::uint32_t a : firsts) test_pair(mesh, a, b, settings.touching, all);
    trim(all.pairs, settings.max_pairs);
    firsts.push_back(b);
  }
  keep_first_pairs(all.pairs, settings.max_pairs);
  return all;
}

}  // namespace isotact
