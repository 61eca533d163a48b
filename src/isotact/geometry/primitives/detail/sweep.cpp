#include "isotact/geometry/primitives/detail/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isotact::detail {
namespace {

Vec3 any_normal(const Vec3& tangent) {
  const Vec3 a{std::abs(tangent.x), std::abs(tangent.y), std::abs(tangent.z)};
  const Vec3 least = a.y <= a.x && a.y <= a.z ? Vec3{0, 1, 0}
                     : a.x <= a.z             ? Vec3{1, 0, 0}
                                              : Vec3{0, 0, 1};
  return normalized(least - tangent * dot(least, tangent));
}

Vec3 reflect(const Vec3& v, const Vec3& across) {
  const double l = length_sq(across);
  return l > 0 ? v - across * (2 * dot(across, v) / l) : v;
}

// The normal of frame `from`, carried to another point and tangent of the curve.
Vec3 carry_normal(const Frame& from, const Vec3& center, const Vec3& tangent) {
  const Vec3 step = center - from.center;
  const Vec3 normal = reflect(from.normal, step), old_tangent = reflect(from.tangent, step);
  const Vec3 carried = reflect(normal, tangent - old_tangent);
  return normalized(carried - tangent * dot(carried, tangent));
}

}  // namespace

std::vector<Frame> make_frames(const std::vector<Vec3>& centers, const std::vector<Vec3>& tangents,
                               bool closed) {
  std::vector<Frame> frames;
  frames.reserve(centers.size());
  for (std::size_t i = 0; i < centers.size(); ++i) {
    const Vec3& t = tangents[i];
    const Vec3 normal = i == 0 ? any_normal(t) : carry_normal(frames.back(), centers[i], t);
    frames.push_back({centers[i], t, normal, cross(t, normal)});
  }
  if (!closed) return frames;
  const Frame first = frames.front();
  const Vec3 arrived = carry_normal(frames.back(), first.center, first.tangent);
  const double left = angle_of(dot(arrived, first.binormal), dot(arrived, first.normal));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const SinCos turn =
        sin_cos(-left * static_cast<double>(i) / static_cast<double>(frames.size()));
    Frame& f = frames[i];
    const Vec3 normal = f.normal * turn.cos + f.binormal * turn.sin;
    f.binormal = f.binormal * turn.cos - f.normal * turn.sin;
    f.normal = normal;
  }
  return frames;
}

Ring add_circle(SurfaceBuilder& builder, const Frame& frame, double radius,
                const std::vector<SinCos>& turn) {
  Ring ring;
  ring.reserve(turn.size());
  for (const SinCos& t : turn)
    ring.push_back(
        builder.add(frame.center + (frame.normal * t.cos + frame.binormal * t.sin) * radius));
  return ring;
}

double largest_tube_radius(const std::vector<Vec3>& centers, bool closed) {
  const std::size_t step = centers.size() / 1000 + 1;
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < centers.size(); i += step) points.push_back(centers[i]);
  const std::size_t n = points.size();
  double radius = std::numeric_limits<double>::infinity();
  std::vector<double> along(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    along[i + 1] = along[i] + length(points[(i + 1) % n] - points[i]);
  for (std::size_t i = closed ? 0 : 1; i < (closed ? n : n - 1); ++i) {
    // The circle through three neighbours.
    const Vec3 a = points[i] - points[(i + n - 1) % n], b = points[(i + 1) % n] - points[i];
    const double twice_area = length(cross(a, b));
    if (twice_area > 0)
      radius = std::min(radius, length(a) * length(b) * length(a + b) / (2 * twice_area));
  }
  const double total = closed ? along[n] : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const double forward = along[j] - along[i], apart = std::min(forward, total - forward);
      const double distance = length(points[j] - points[i]);
      // Two points on one bend of the radius r are at least 2/pi of the way along it apart.
      if (distance < apart * (2 / kPi)) radius = std::min(radius, distance / 2);
    }
  return radius;
}

}  // namespace isotact::detail
