#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "isotact/base/hash.h"
#include "isotact/field/surface/detail/surface_passes.h"
#include "isotact/geometry/repair/repair.h"

namespace isotact::surface_detail {
namespace {

constexpr std::uint32_t kNoVertex = 0xffffffffU;

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

StitchResult stitch(const TriangleMesh& mesh, std::span<const NetEdge> net, double tolerance) {
  std::vector<std::uint32_t> vertices;
  for (const NetEdge& e : net) vertices.insert(vertices.end(), {e.from, e.to});
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  TriangleMesh rim;
  for (const std::uint32_t v : vertices) rim.positions.push_back(mesh.positions[v]);
  const WeldResult welded = weld(rim, {.tolerance = tolerance});

  // Vertices take the position of the one they are merged with; cleaning does the rest.
  TriangleMesh moved = mesh;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    moved.positions[vertices[i]] = welded.mesh.positions[welded.map[i]];
  CleanMesh cleaned = clean(moved);
  return {.mesh = std::move(cleaned.mesh),
          .merged = welded.merged,
          .longest_move = welded.longest_move,
          .collapsed = cleaned.collapsed};
}

}  // namespace isotact::surface_detail
