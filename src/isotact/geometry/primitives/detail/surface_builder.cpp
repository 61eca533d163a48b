#include "isotact/geometry/primitives/detail/surface_builder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "isotact/geometry/primitives/detail/parameters.h"

namespace isotact::detail {
namespace {

// Cosine of the largest turn of a triangle by rounding, 8 degrees. Triangles of a smooth surface
// then keep their side of each other.
constexpr double kLeastAgreement = 0.99;

}  // namespace

std::vector<SinCos> full_turn(int count) {
  std::vector<SinCos> turn(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    // Whole quarters are counted apart so that opposite points are exact mirror images.
    const int quarter = static_cast<int>(std::int64_t{4} * k / count);
    const double rest = static_cast<double>(std::int64_t{4} * k - std::int64_t{quarter} * count);
    const SinCos t = sin_cos(rest / count * (kPi / 2));
    turn[static_cast<std::size_t>(k)] = quarter == 0   ? t
                                        : quarter == 1 ? SinCos{t.cos, -t.sin}
                                        : quarter == 2 ? SinCos{-t.sin, -t.cos}
                                                       : SinCos{-t.cos, t.sin};
  }
  return turn;
}

Ring SurfaceBuilder::add_ring(double radius, double y, std::span<const SinCos> turn) {
  Ring ring;
  ring.reserve(turn.size());
  for (const SinCos& angle : turn) ring.push_back(add(around_y(radius, angle, y)));
  return ring;
}

void SurfaceBuilder::quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  // The margin keeps ties of symmetric shapes from being decided by rounding.
  const double ac = length_sq(points_[c] - points_[a]), bd = length_sq(points_[d] - points_[b]);
  if (ac <= bd * (1 + 1e-9)) {
    triangle(a, b, c);
    triangle(a, c, d);
  } else {
    triangle(a, b, d);
    triangle(b, c, d);
  }
}

void SurfaceBuilder::stitch(const Ring& below, const Ring& above) {
  const std::size_t n = below.size();
  if (above.size() * 2 == n) return stitch_halving(below, above, true);
  if (above.size() == n * 2) return stitch_halving(above, below, false);
  assert(above.size() == n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t j = i + 1 == n ? 0 : i + 1;
    quad(below[i], below[j], above[j], above[i]);
  }
}

void SurfaceBuilder::stitch_halving(const Ring& fine, const Ring& coarse, bool coarse_above) {
  const std::size_t n = coarse.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t j = i + 1 == n ? 0 : i + 1;
    const std::uint32_t a = fine[2 * i], m = fine[2 * i + 1], b = fine[2 * j];
    if (coarse_above) {
      triangle(a, m, coarse[i]);
      triangle(m, coarse[j], coarse[i]);
      triangle(m, b, coarse[j]);
    } else {
      triangle(m, a, coarse[i]);
      triangle(coarse[j], m, coarse[i]);
      triangle(b, m, coarse[j]);
    }
  }
}

void SurfaceBuilder::skin(const std::vector<Ring>& rings, bool closed) {
  for (std::size_t i = 0; i + 1 < rings.size(); ++i) stitch(rings[i], rings[i + 1]);
  if (closed) stitch(rings.back(), rings.front());
}

void SurfaceBuilder::fan(const Ring& ring, std::uint32_t apex, bool above) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::uint32_t a = ring[i], b = ring[i + 1 == ring.size() ? 0 : i + 1];
    if (above)
      triangle(a, b, apex);
    else
      triangle(b, a, apex);
  }
}

void SurfaceBuilder::fill_disc(Ring ring, const Vec3& center, bool above) {
  constexpr double kHeight = 9;  // of a band: 1.5 edges of the fine ring, 2 pi r / n each
  while (ring.size() % 2 == 0 && ring.size() >= 16) {
    const double shrink = 1 - kHeight / static_cast<double>(ring.size());
    Ring inner;
    inner.reserve(ring.size() / 2);
    for (std::size_t i = 0; i < ring.size(); i += 2)
      inner.push_back(add(center + (points_[ring[i]] - center) * shrink));
    if (above)
      stitch(ring, inner);
    else
      stitch(inner, ring);
    ring = std::move(inner);
  }
  fan(ring, add(center), above);
}

TriangleMesh SurfaceBuilder::finish(const FinestParameter& finest) const {
  TriangleMesh mesh;
  mesh.positions.reserve(points_.size());
  for (const Vec3& p : points_) mesh.positions.push_back(to_float(p));
  mesh.triangles = triangles_;
  for (std::size_t i = 0; i < triangles_.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    const Vec3& origin = points_[triangles_[i][0]];
    const Vec3 meant =
        cross(points_[triangles_[i][1]] - origin, points_[triangles_[i][2]] - origin);
    const Vec3 rounded = cross(to_double(b) - to_double(a), to_double(c) - to_double(a));
    // Written so that a collapsed triangle fails.
    if (!(dot(meant, rounded) > kLeastAgreement * length(meant) * length(rounded)))
      throw_parameter(finest.shape, finest.name, finest.value,
                      "larger against the size of the shape, whose smallest triangles float32 "
                      "cannot hold otherwise");
  }
  return mesh;
}

namespace {

// How often the segments of each ring are halved: as far as its radius is halved against the
// largest, and by at most one between neighbours.
std::vector<int> choose_halvings(const std::vector<ProfilePoint>& profile, int segments) {
  double largest = 0;
  for (const auto& p : profile) largest = std::max(largest, p.radius);
  int limit = 0;
  for (int n = segments; n % 2 == 0 && n / 2 >= 8; n /= 2) ++limit;
  std::vector<int> halvings(profile.size(), limit);
  for (std::size_t i = 0; i < profile.size(); ++i) {
    int k = 0;
    for (double r = profile[i].radius * 2; r < largest && k < limit; r *= 2) ++k;
    halvings[i] = k;
  }
  for (std::size_t i = 1; i < profile.size(); ++i)
    halvings[i] = std::min(halvings[i], halvings[i - 1] + 1 + (profile[i - 1].radius == 0) * limit);
  for (std::size_t i = profile.size() - 1; i-- > 0;)
    halvings[i] = std::min(halvings[i], halvings[i + 1] + 1 + (profile[i + 1].radius == 0) * limit);
  return halvings;
}

}  // namespace

TriangleMesh revolve(const std::vector<ProfilePoint>& profile, bool closed, int segments,
                     const FinestParameter& finest) {
  SurfaceBuilder builder;
  const std::vector<int> halvings =
      closed ? std::vector<int>(profile.size(), 0) : choose_halvings(profile, segments);
  std::vector<Ring> rings;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    if (profile[i].radius == 0) continue;
    rings.push_back(
        builder.add_ring(profile[i].radius, profile[i].y, full_turn(segments >> halvings[i])));
  }
  builder.skin(rings, closed);
  if (!closed) {
    builder.fan(rings.front(), builder.add({0, profile.front().y, 0}), false);
    builder.fan(rings.back(), builder.add({0, profile.back().y, 0}), true);
  }
  return builder.finish(finest);
}

}  // namespace isotact::detail
