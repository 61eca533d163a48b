#include "isotact/field/build/detail/edges.h"

#include <algorithm>
#include <numeric>
#include <span>

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

struct UsesByVertex {
  std::vector<std::uint32_t> first;  // of each vertex
  std::vector<EdgeUse> uses;
};

UsesByVertex gather_uses(const TriangleMesh& mesh) {
  UsesByVertex by{std::vector<std::uint32_t>(mesh.positions.size() + 1),
                  std::vector<EdgeUse>(3 * mesh.triangles.size())};
  for (const auto& [a, b, c] : mesh.triangles) {
    ++by.first[std::min(a, b)];
    ++by.first[std::min(b, c)];
    ++by.first[std::min(c, a)];
  }
  std::exclusive_scan(by.first.begin(), by.first.end(), by.first.begin(), 0U);
  // Filling moves each start to the end of its range, which is the start of the next.
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const Triangle& t = mesh.triangles[i];
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[k == 2 ? 0 : k + 1];
      by.uses[by.first[std::min(a, b)]++] = make_use(std::max(a, b), i, a < b);
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

void number_parts(DisjointSets& sets, EdgeReport& report) {
  for (std::uint32_t i = 0; i < report.part.size(); ++i) {
    const std::uint32_t root = sets.find(i);
    report.part[i] = root == i ? report.parts++ : report.part[root];
  }
}

}  // namespace

DisjointSets::DisjointSets(std::size_t count) : parent_(count) {
  std::iota(parent_.begin(), parent_.end(), 0U);
}

EdgeReport find_edges(const TriangleMesh& mesh) {
  UsesByVertex by = gather_uses(mesh);
  EdgeReport report;
  report.part.resize(mesh.triangles.size());
  DisjointSets sets(mesh.triangles.size());
  for (std::uint32_t lower = 0; lower < mesh.positions.size(); ++lower) {
    const std::span uses(by.uses.data() + by.first[lower], by.first[lower + 1] - by.first[lower]);
    sort_uses(uses);
    for (std::size_t i = 0; i < uses.size();) {
      const std::uint32_t upper = upper_of(uses[i]);
      std::size_t end = i;
      std::int64_t excess = 0;
      for (; end < uses.size() && upper_of(uses[end]) == upper; ++end) {
        excess += (uses[end] & 1U) != 0 ? 1 : -1;
        if (end > i) sets.join(triangle_of(uses[end - 1]), triangle_of(uses[end]));
      }
      ++report.edges;
      if (end - i != 2)
        ++report.not_two;
      else if (excess != 0)
        ++report.same_way;
      if (excess > 0) report.net.push_back({lower, upper, static_cast<std::uint32_t>(excess)});
      if (excess < 0) report.net.push_back({upper, lower, static_cast<std::uint32_t>(-excess)});
      i = end;
    }
  }
  number_parts(sets, report);
  return report;
}

}  // namespace isotact::surface_detail
