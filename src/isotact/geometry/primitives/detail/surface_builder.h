// Closed surfaces put together from rings of vertices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/trig.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// Vertex indices around an axis, in the positive sense.
using Ring = std::vector<std::uint32_t>;

// The point at an angle about y, in the sense of primitives.h.
inline Vec3 around_y(double radius, const SinCos& angle, double y) {
  return {radius * angle.cos, y, -radius * angle.sin};
}

// sin_cos of k / count of a full turn, k = 0 .. count - 1, exact at the quarters.
std::vector<SinCos> full_turn(int count);

// The parameter of a shape that decides about its smallest triangles.
struct FinestParameter {
  const char* shape;
  const char* name;
  double value;
};

class SurfaceBuilder {
 public:
  std::uint32_t add(const Vec3& point) {
    points_.push_back(point);
    return static_cast<std::uint32_t>(points_.size() - 1);
  }
  const Vec3& point(std::uint32_t index) const { return points_[index]; }

  // A circle around y; `turn` is that of full_turn.
  Ring add_ring(double radius, double y, std::span<const SinCos> turn);

  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    triangles_.push_back({a, b, c});
  }
  // Cut along its shorter diagonal.
  void quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d);

  // The band between two rings, of the same size or one twice the other. Seen from outside, the
  // rings run from left to right and `above` is above `below`.
  void stitch(const Ring& below, const Ring& above);

  // Stitches each ring to the next, and the last to the first where closed.
  void skin(const std::vector<Ring>& rings, bool closed);

  // Closes a ring with one vertex, which is above it (in the sense of stitch), or below.
  void fan(const Ring& ring, std::uint32_t apex, bool above);

  // Closes a flat convex ring around `center` with ever coarser rings, so that no needles meet in
  // the middle.
  void fill_disc(Ring ring, const Vec3& center, bool above);

  // Throws Error, with the parameter that must be larger, if rounding to float32 would turn a
  // triangle noticeably. The triangle is then too small for its distance from the origin.
  TriangleMesh finish(const FinestParameter& finest) const;

 private:
  void stitch_halving(const Ring& fine, const Ring& coarse, bool coarse_above);

  std::vector<Vec3> points_;
  std::vector<Triangle> triangles_;
};

struct ProfilePoint {
  double radius, y;
};

// Revolves a profile around y. Outside is to the right of the profile as it goes (in a picture with
// the radius to the right and y up). Open profiles begin and end with radius 0; the others have
// positive radii. Rings near the axis have fewer segments. Throws as finish does.
TriangleMesh revolve(const std::vector<ProfilePoint>& profile, bool closed, int segments,
                     const FinestParameter& finest);

}  // namespace isotact::detail
