#include "isotact/field/extract/detail/cube_table.h"

#include <cassert>
#include <limits>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::detail {
namespace {

using Loop = std::vector<std::uint8_t>;  // of edges

std::uint8_t edge_between(std::uint32_t a, std::uint32_t b) {
  for (std::uint32_t e = 0; e < 12; ++e) {
    const CubeEdge edge = cube_edge(e);
    if ((edge.lower == a && edge.upper == b) || (edge.lower == b && edge.upper == a))
      return static_cast<std::uint8_t>(e);
  }
  assert(false);
  return 0;
}

// The corners of a face, counter-clockwise as seen from outside.
std::array<std::uint32_t, 4> face_corners(std::uint32_t face) {
  const std::uint32_t axis = face / 2, high = face % 2;
  const std::uint32_t u = 1U << ((axis + 1) % 3), v = 1U << ((axis + 2) % 3);
  const std::uint32_t at = high << axis;
  if (high == 1) return {at, at | u, at | u | v, at | v};
  return {at, at | v, at | u | v, at | u};
}

// Around each face, from the cut where a run of inner corners begins to the cut where it ends. Each
// cut edge begins a run on one of its faces and ends one on the other: the steps close to loops.
std::vector<Loop> find_loops(std::uint32_t inner) {
  constexpr std::uint8_t kNone = 255;
  std::array<std::uint8_t, 12> next{};
  next.fill(kNone);
  const auto is_inner = [&](std::uint32_t corner) { return ((inner >> corner) & 1U) != 0; };
  for (std::uint32_t face = 0; face < 6; ++face) {
    const auto c = face_corners(face);
    for (std::size_t i = 0; i < 4; ++i) {
      if (is_inner(c[i]) || !is_inner(c[(i + 1) % 4])) continue;
      std::size_t end = i + 1;
      while (is_inner(c[(end + 1) % 4])) ++end;
      next[edge_between(c[i], c[(i + 1) % 4])] = edge_between(c[end % 4], c[(end + 1) % 4]);
    }
  }
  std::vector<Loop> loops;
  for (std::uint8_t start = 0; start < 12; ++start) {
    Loop loop;
    for (std::uint8_t e = start; next[e] != kNone;) {
      loop.push_back(e);
      const std::uint8_t following = next[e];
      next[e] = kNone;
      e = following;
    }
    if (!loop.empty()) loops.push_back(std::move(loop));
  }
  return loops;
}

Vec3 middle(std::uint8_t e) {
  const CubeEdge edge = cube_edge(e);
  Vec3 p{static_cast<double>(edge.lower & 1U), static_cast<double>((edge.lower >> 1U) & 1U),
         static_cast<double>((edge.lower >> 2U) & 1U)};
  p[edge.axis] = 0.5;
  return p;
}

bool share_a_face(std::uint8_t a, std::uint8_t b) {
  const Vec3 p = middle(a), q = middle(b);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (p[axis] == q[axis] && p[axis] != 0.5) return true;
  return false;
}

// The loop's triangulation with the shortest sides inside of the cube, none of them across a face;
// by the usual dynamic programme over stretches of the loop. One exists for every loop: the
// assertion sees all of them.
void triangulate(const Loop& loop, CubeCase& result) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t n = loop.size();
  std::array<std::array<double, 12>, 12> cost{};
  std::array<std::array<std::size_t, 12>, 12> apex{};
  const auto side_cost = [&](std::size_t i, std::size_t j) {
    if (j == i + 1 || (i == 0 && j == n - 1)) return 0.0;
    return share_a_face(loop[i], loop[j]) ? kNever : length_sq(middle(loop[i]) - middle(loop[j]));
  };
  for (std::size_t span = 2; span < n; ++span)
    for (std::size_t i = 0; i + span < n; ++i) {
      const std::size_t j = i + span;
      cost[i][j] = kNever;
      for (std::size_t k = i + 1; k < j; ++k) {
        const double c = cost[i][k] + cost[k][j] + side_cost(i, k) + side_cost(k, j);
        if (c < cost[i][j]) cost[i][j] = c, apex[i][j] = k;
      }
    }
  assert(cost[0][n - 1] < kNever);
  std::vector<std::array<std::size_t, 2>> open{{0, n - 1}};
  while (!open.empty()) {
    const auto [i, j] = open.back();
    open.pop_back();
    if (j < i + 2) continue;
    const std::size_t k = apex[i][j];
    result.triangles[result.triangle_count++] = {loop[i], loop[k], loop[j]};
    open.push_back({i, k});
    open.push_back({k, j});
  }
}

std::array<CubeCase, 256> make_cases() {
  std::array<CubeCase, 256> cases{};
  for (std::uint32_t inner = 0; inner < 256; ++inner)
    for (const Loop& loop : find_loops(inner)) {
      for (const std::uint8_t e : loop)
        cases[inner].edges = static_cast<std::uint16_t>(cases[inner].edges | (1U << e));
      triangulate(loop, cases[inner]);
    }
  return cases;
}

}  // namespace

const std::array<CubeCase, 256>& cube_cases() {
  static const std::array<CubeCase, 256> cases = make_cases();
  return cases;
}

}  // namespace isotact::detail
