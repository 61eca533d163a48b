#include "isotact/field/build/detail/clean.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

namespace isotact::surface_detail {
namespace {

constexpr std::uint32_t kNoVertex = 0xffffffffU;

std::uint64_t hash_position(const Vec3f& p) {
  // Adding +0 turns -0 into +0.
  const std::uint64_t x = std::bit_cast<std::uint32_t>(p.x + 0.0F);
  const std::uint64_t y = std::bit_cast<std::uint32_t>(p.y + 0.0F);
  const std::uint64_t z = std::bit_cast<std::uint32_t>(p.z + 0.0F);
  std::uint64_t h = (x | y << 32U) * 0x9e3779b97f4a7c15ULL;
  h = ((h ^ h >> 32U) + z) * 0xd6e8feb86659fd93ULL;
  return h ^ h >> 32U;
}

auto as_tuple(const Vec3f& p) { return std::tuple(p.x, p.y, p.z); }

// The lowest of the used vertices at the same position, for each used vertex, by sorting. Slower
// than the table below, whatever the input.
void name_by_sorting(const std::vector<Vec3f>& positions, std::vector<std::uint32_t>& names) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < names.size(); ++i)
    if (names[i] != kNoVertex) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(as_tuple(positions[a]), a) < std::tuple(as_tuple(positions[b]), b);
  });
  for (std::size_t i = 0; i < order.size(); ++i)
    names[order[i]] =
        i > 0 && positions[order[i]] == positions[order[i - 1]] ? names[order[i - 1]] : order[i];
}

// The same by a table with open addressing. False where an input made for that crowds it.
bool name_by_table(const std::vector<Vec3f>& positions, std::vector<std::uint32_t>& names) {
  std::vector<std::uint32_t> table(std::bit_ceil(2 * positions.size() + 1), kNoVertex);
  std::size_t steps_left = 64 * positions.size();
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (names[i] == kNoVertex) continue;
    std::size_t slot = hash_position(positions[i]) & (table.size() - 1);
    while (table[slot] != kNoVertex && !(positions[table[slot]] == positions[i])) {
      if (steps_left-- == 0) return false;
      slot = (slot + 1) & (table.size() - 1);
    }
    if (table[slot] == kNoVertex) table[slot] = i;
    names[i] = table[slot];
  }
  return true;
}

bool is_collapsed(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

}  // namespace

CleanMesh clean(const TriangleMesh& mesh) {
  CleanMesh result;
  std::vector<std::uint32_t> names(mesh.positions.size(), kNoVertex);
  const auto is_usable = [&](const Triangle& t) {
    return is_finite(mesh.positions[t[0]]) && is_finite(mesh.positions[t[1]]) &&
           is_finite(mesh.positions[t[2]]);
  };
  for (const Triangle& t : mesh.triangles) {
    if (!is_usable(t)) continue;
    for (const std::uint32_t v : t) names[v] = v;
  }
  std::vector<std::uint32_t> used = names;
  if (!name_by_table(mesh.positions, names)) {
    names = std::move(used);
    name_by_sorting(mesh.positions, names);
  }
  // The lowest vertex of a position comes first, so its new index is known when others need it.
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (names[i] == kNoVertex) continue;
    if (names[i] != i) {
      names[i] = names[names[i]];
      ++result.merged;
      continue;
    }
    names[i] = static_cast<std::uint32_t>(result.mesh.positions.size());
    result.mesh.positions.push_back(mesh.positions[i]);
  }
  result.mesh.triangles.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    if (!is_usable(t)) {
      ++result.not_finite;
      continue;
    }
    const Triangle named{names[t[0]], names[t[1]], names[t[2]]};
    if (is_collapsed(named))
      ++result.collapsed;
    else
      result.mesh.triangles.push_back(named);
  }
  return result;
}

std::vector<std::uint8_t> find_cancelling(const TriangleMesh& mesh, std::size_t count) {
  struct Named {
    Triangle corners;  // ascending
    std::uint32_t triangle;
    bool even;  // whether they are run in this order
  };
  std::vector<Named> named(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Triangle& t = mesh.triangles[i];
    Triangle sorted = t;
    std::sort(sorted.begin(), sorted.end());
    const auto first = std::find(t.begin(), t.end(), sorted[0]) - t.begin();
    named[i] = {sorted, i, t[(static_cast<std::size_t>(first) + 1) % 3] == sorted[1]};
  }
  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return std::tie(a.corners, a.triangle) < std::tie(b.corners, b.triangle);
  });
  std::vector<std::uint8_t> gone(count, 0);
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    std::size_t even = 0;
    for (end = begin; end < count && named[end].corners == named[begin].corners; ++end)
      even += named[end].even ? 1U : 0U;
    const std::size_t pairs = std::min(even, end - begin - even);
    std::size_t left[2] = {pairs, pairs};
    for (std::size_t i = begin; i < end && pairs > 0; ++i)
      if (std::size_t& more = left[named[i].even ? 1 : 0]; more > 0) {
        --more;
        gone[named[i].triangle] = 1;
      }
  }
  return gone;
}

}  // namespace isotact::surface_detail
