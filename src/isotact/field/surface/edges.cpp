#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>

#include "isotact/field/surface/detail/rims.h"

namespace isotact::surface_detail {
namespace {

// A use of an edge, kept with the lower vertex: the upper vertex in the high half, then the
// triangle, then whether it runs upwards.
using EdgeUse = std::uint64_t;

EdgeUse make_use(std::uint32_t upper, std::size_t triangle, bool upwards) {
  return std::uint64_t{upper} << 32U | static_cast<std::uint64_t>(triangle) << 1U |
         (upwards ? 1U : 0U);
}
std::uint32_t upper_of(EdgeUse use) { return static_cast<std::uint32_t>(use >> 32U); }
std::uint32_t triangle_of(EdgeUse use) { return static_cast<std::uint32_t>(use) >> 1U; }

// Vertices begin to end, each with the edges whose lower end it is.
struct UsesByVertex {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> first;  // of each vertex
  std::vector<EdgeUse> uses;

  std::span<EdgeUse> of(std::uint32_t vertex) {
    const std::size_t i = vertex - begin;
    return {uses.data() + first[i], first[i + 1] - first[i]};
  }
};

// Of all triangles, since their vertices come in any order: what is looked up is little.
UsesByVertex gather_uses(const TriangleMesh& mesh, std::uint32_t begin, std::uint32_t end) {
  UsesByVertex by{begin, end, std::vector<std::uint32_t>(end - begin + 1), {}};
  const std::uint32_t span = end - begin;
  const auto count = [&](std::uint32_t a, std::uint32_t b) {
    if (const std::uint32_t i = std::min(a, b) - begin; i < span) ++by.first[i];
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    count(a, b);
    count(b, c);
    count(c, a);
  }
  std::exclusive_scan(by.first.begin(), by.first.end(), by.first.begin(), 0U);
  by.uses.resize(by.first.back());
  // Filling moves each start to the end of its range, which is the start of the next.
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Triangle& triangle = mesh.triangles[t];
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = triangle[k], b = triangle[k == 2 ? 0 : k + 1];
      if (const std::uint32_t i = std::min(a, b) - begin; i < span)
        by.uses[by.first[i]++] = make_use(std::max(a, b), t, a < b);
    }
  }
  std::rotate(by.first.begin(), by.first.end() - 1, by.first.end());
  by.first[0] = 0;
  return by;
}

// Most vertices have a handful.
void sort_uses(std::span<EdgeUse> uses) {
  constexpr std::size_t kFew = 24;
  if (uses.size() > kFew) {
    std::sort(uses.begin(), uses.end());
    return;
  }
  for (std::size_t i = 1; i < uses.size(); ++i) {
    const EdgeUse use = uses[i];
    std::size_t k = i;
    for (; k > 0 && uses[k - 1] > use; --k) uses[k] = uses[k - 1];
    uses[k] = use;
  }
}

// DisjointSets for several threads at once: parents only ever go down, so whoever comes first, in
// the end the lowest of a set is the parent of all.
class SharedSets {
 public:
  explicit SharedSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t i) {
    for (;;) {
      const std::uint32_t above = at(i).load(std::memory_order_relaxed);
      if (above == i) return i;
      const std::uint32_t next = at(above).load(std::memory_order_relaxed);
      // Others may have put a lower one there by now: this one is above it all the same.
      if (next != above) at(i).store(next, std::memory_order_relaxed);
      i = next;
    }
  }
  void join(std::uint32_t a, std::uint32_t b) {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      std::uint32_t expected = a;
      if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic_ref<std::uint32_t> at(std::uint32_t i) {
    return std::atomic_ref<std::uint32_t>(parent_[i]);
  }
  std::vector<std::uint32_t> parent_;
};

void number_parts(SharedSets& sets, EdgeReport& report) {
  for (std::uint32_t i = 0; i < report.part.size(); ++i) {
    const std::uint32_t root = sets.find(i);
    report.part[i] = root == i ? report.parts++ : report.part[root];
  }
}

// The edges with a lower end from `begin` to `end`.
EdgeReport look_at_edges(const TriangleMesh& mesh, std::uint32_t begin, std::uint32_t end,
                         SharedSets& sets) {
  UsesByVertex by = gather_uses(mesh, begin, end);
  EdgeReport report;
  for (std::uint32_t lower = begin; lower < end; ++lower) {
    const std::span<EdgeUse> uses = by.of(lower);
    sort_uses(uses);
    for (std::size_t i = 0; i < uses.size();) {
      const std::uint32_t upper = upper_of(uses[i]);
      std::size_t past = i;
      std::int64_t excess = 0;
      for (; past < uses.size() && upper_of(uses[past]) == upper; ++past) {
        excess += (uses[past] & 1U) != 0 ? 1 : -1;
        if (past > i) sets.join(triangle_of(uses[past - 1]), triangle_of(uses[past]));
      }
      ++report.edges;
      if (past - i != 2)
        ++report.not_two;
      else if (excess != 0)
        ++report.same_direction;
      if (excess > 0) report.net.push_back({lower, upper, static_cast<std::uint32_t>(excess)});
      if (excess < 0) report.net.push_back({upper, lower, static_cast<std::uint32_t>(-excess)});
      i = past;
    }
  }
  return report;
}

}  // namespace

EdgeReport find_edges(const TriangleMesh& mesh, Threads threads) {
  constexpr std::size_t kFewest = 4096;  // vertices of a thread: each looks at all triangles
  const std::size_t vertices = mesh.positions.size();
  const std::size_t share =
      std::max(kFewest, vertices / static_cast<std::size_t>(resolve(threads)) + 1);
  SharedSets sets(mesh.triangles.size());
  EdgeReport report = parallel_reduce(
      vertices, share, threads, EdgeReport{},
      [&](std::size_t begin, std::size_t end) {
        return look_at_edges(mesh, static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(end), sets);
      },
      [](EdgeReport all, const EdgeReport& more) {
        all.edges += more.edges;
        all.not_two += more.not_two;
        all.same_direction += more.same_direction;
        all.net.insert(all.net.end(), more.net.begin(), more.net.end());
        return all;
      });
  report.part.resize(mesh.triangles.size());
  number_parts(sets, report);
  return report;
}

}  // namespace isotact::surface_detail
