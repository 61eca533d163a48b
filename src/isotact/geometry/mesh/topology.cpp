#include "isotact/geometry/mesh/detail/topology.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"

namespace isotact::detail {
namespace {

constexpr std::size_t kTopologyGrain = 1 << 14;

// The elements [0, keys.size()) gathered by key: those of key k are
// members[first[k], first[k + 1]), in ascending order.
struct Buckets {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> members;
};

Buckets gather_by_key(std::span<const std::uint32_t> keys, std::size_t key_count) {
  Buckets b{std::vector<std::uint32_t>(key_count + 1), std::vector<std::uint32_t>(keys.size())};
  for (const std::uint32_t key : keys) ++b.first[key];
  std::exclusive_scan(b.first.begin(), b.first.end(), b.first.begin(), 0U);
  std::vector<std::uint32_t> next(b.first.begin(), b.first.end() - 1);
  for (std::uint32_t i = 0; i < keys.size(); ++i) b.members[next[keys[i]]++] = i;
  return b;
}

auto as_tuple(const Vec3f& p) { return std::tuple(p.x, p.y, p.z); }

}  // namespace

std::vector<std::uint32_t> merge_equal_positions(std::span<const Vec3f> positions,
                                                 Threads threads) {
  const std::size_t bucket_count = std::bit_ceil(positions.size() + 1);
  std::vector<std::uint32_t> keys(positions.size());
  parallel_for(positions.size(), kTopologyGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      keys[i] = static_cast<std::uint32_t>(hash_position(positions[i]) & (bucket_count - 1));
  });
  Buckets buckets = gather_by_key(keys, bucket_count);
  std::vector<std::uint32_t> names(positions.size());
  std::iota(names.begin(), names.end(), 0U);
  parallel_for(bucket_count, kTopologyGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto lower = buckets.members.begin() + buckets.first[k];
      const auto non_finite = [&](std::uint32_t i) { return !is_finite(positions[i]); };
      const auto upper =
          std::remove_if(lower, buckets.members.begin() + buckets.first[k + 1], non_finite);
      if (upper - lower < 2) continue;
      std::sort(lower, upper, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(as_tuple(positions[a]), a) < std::tuple(as_tuple(positions[b]), b);
      });
      for (auto i = lower + 1; i != upper; ++i)
        if (positions[*i] == positions[*(i - 1)]) names[*i] = names[*(i - 1)];
    }
  });
  return names;
}

Topology build_topology(const TriangleMesh& mesh, std::span<const std::uint32_t> names,
                        Threads threads) {
  const std::size_t count = mesh.triangles.size();
  if (count > std::numeric_limits<std::uint32_t>::max() / 3)
    throw Error(fmt::format("{} triangles are more than edge tables can hold", count));
  Topology t;
  t.triangles = mesh.triangles;
  t.collapsed.resize(count);
  for (std::uint32_t i = 0; i < names.size(); ++i) t.merged_vertices += names[i] != i ? 1U : 0U;

  t.first_use.assign(mesh.positions.size() + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    Triangle& c = t.triangles[i];
    if (!names.empty())
      for (std::uint32_t& v : c) v = names[v];
    t.collapsed[i] = c[0] == c[1] || c[1] == c[2] || c[2] == c[0];
    if (t.collapsed[i]) continue;
    for (std::size_t k = 0; k < 3; ++k) ++t.first_use[std::min(c[k], c[(k + 1) % 3])];
  }
  std::exclusive_scan(t.first_use.begin(), t.first_use.end(), t.first_use.begin(), 0U);
  t.uses.resize(t.first_use.back());
  std::vector<std::uint32_t> next(t.first_use.begin(), t.first_use.end() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (t.collapsed[i]) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(t.triangles[i][k], t.triangles[i][(k + 1) % 3]);
      t.uses[next[low]++] = {high, static_cast<HalfEdge>(3 * i + k)};
    }
  }
  parallel_for(
      mesh.positions.size(), kTopologyGrain, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t v = begin; v < end; ++v)
          std::sort(t.uses.begin() + t.first_use[v], t.uses.begin() + t.first_use[v + 1],
                    [](const EdgeUse& a, const EdgeUse& b) {
                      return std::tuple(a.high, a.half_edge) < std::tuple(b.high, b.half_edge);
                    });
      });
  return t;
}

std::size_t count_forward(const Topology& t, std::uint32_t low, std::span<const EdgeUse> uses) {
  std::size_t forward = 0;
  for (const EdgeUse& use : uses) forward += from_vertex(t, use.half_edge) == low ? 1U : 0U;
  return forward;
}

}  // namespace isotact::detail
