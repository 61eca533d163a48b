#include <cmath>
#include <utility>

#include "isotact/pointshell/detail/shell_passes.h"

namespace isotact::detail {
namespace {

constexpr std::uint32_t kAbsent = 0xffffffffU;

// A cosine: beyond it, the next triangle is the other side of a sheet.
constexpr float kOtherSide = -0.2F;

// Returns the only other triangle at an edge of `from`, or kAbsent if there is none or more.
std::uint32_t find_across(const ShellSurface& surface, std::uint32_t from, std::uint32_t a,
                          std::uint32_t b) {
  if (surface.triangles_at(b).size() < surface.triangles_at(a).size()) std::swap(a, b);
  std::uint32_t other = kAbsent;
  for (const std::uint32_t t : surface.triangles_at(a)) {
    const Triangle& v = surface.mesh.triangles[t];
    if (t == from || (v[0] != b && v[1] != b && v[2] != b)) continue;
    if (other != kAbsent) return kAbsent;
    other = t;
  }
  return other;
}

}  // namespace

WalkResult walk_on_surface(const ShellSurface& surface, std::uint32_t triangle, const Vec3& from,
                           const Vec3& move) {
  WalkResult walk{.triangle = triangle, .point = from};
  Vec3 left = move;
  std::uint32_t entered[2] = {kAbsent, kAbsent};  // The ends of the edge behind.
  for (int crossings = 0;; ++crossings) {
    const Triangle& v = surface.mesh.triangles[walk.triangle];
    const Vec3 c[3] = {to_double(surface.mesh.positions[v[0]]),
                       to_double(surface.mesh.positions[v[1]]),
                       to_double(surface.mesh.positions[v[2]])};
    const Vec3 normal = cross(c[1] - c[0], c[2] - c[0]);  // Its length cancels below.
    double least = 1;                                     // Fraction of what is left to walk.
    std::size_t exit = 3;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t p = v[k], q = v[(k + 1) % 3];
      if ((p == entered[0] && q == entered[1]) || (p == entered[1] && q == entered[0])) continue;
      const Vec3 inward = cross(normal, c[(k + 1) % 3] - c[k]);
      const double rate = dot(left, inward);
      const double height = dot(walk.point - c[k], inward);
      // Past the edge by less than the whole rest. A point that is outside by rounding crosses at
      // once.
      if (!(rate < 0) || !(height < -rate * least)) continue;
      least = height > 0 ? height / -rate : 0;
      exit = k;
    }
    if (exit == 3) {
      walk.point += left;
      return walk;
    }
    const std::uint32_t p = v[exit], q = v[(exit + 1) % 3];
    const std::uint32_t next = find_across(surface, walk.triangle, p, q);
    if (next == kAbsent || crossings == kMostCrossings ||
        dot(surface.face_normals[walk.triangle], surface.face_normals[next]) < kOtherSide) {
      walk.status = WalkStatus::kBlocked;
      return walk;
    }
    walk.point += left * least;
    left = left * (1 - least);
    // Unfolds: the part along the edge stays, and the part across it points into the next triangle.
    const Triangle& w = surface.mesh.triangles[next];
    const std::uint32_t apex = w[0] != p && w[0] != q ? w[0] : w[1] != p && w[1] != q ? w[1] : w[2];
    const Vec3 edge = c[(exit + 1) % 3] - c[exit];
    const Vec3 up = to_double(surface.mesh.positions[apex]) - c[exit];
    const double edge_sq = length_sq(edge);
    const Vec3 along = edge * (dot(left, edge) / edge_sq);
    const Vec3 into = up - edge * (dot(up, edge) / edge_sq);
    const Vec3 turned = along + into * std::sqrt(length_sq(left - along) / length_sq(into));
    // A sliver may have no height after rounding, and then has no direction either.
    if (!std::isfinite(length_sq(turned))) {
      walk.status = WalkStatus::kBlocked;
      return walk;
    }
    left = turned;
    walk.triangle = next;
    entered[0] = p;
    entered[1] = q;
  }
}

}  // namespace isotact::detail
