// Hexagon bolt and nut.
#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/detail/thread_wall.h"

namespace isotact {
namespace {

using detail::number_text;
using detail::Ring;
using detail::SurfaceBuilder;
using detail::throw_parameter;

constexpr double kThreadDepth = 0.54126587736527416;   // 5/8 of the height of the sharp triangle
constexpr double kChamferSlope = 0.57735026918962576;  // tan of 30 degrees

// Distance from the axis to the side of a hexagon, for a direction; corners at whole sixths.
double hexagon_radius(double apothem, int k, int segments) {
  const int sixth = segments / 6;
  return apothem / sin_cos(2 * kPi * (k % sixth - sixth / 2.0) / segments).cos;
}

// The rim of a hexagon prism: where the sides meet the chamfer at its end. y_end: height of the
// end face; inward: +1 where the prism is above it, -1 where below.
Ring add_chamfer_edge(SurfaceBuilder& builder, double apothem, double circle, double y_end,
                      double inward, const std::vector<SinCos>& turn) {
  Ring ring;
  for (std::size_t k = 0; k < turn.size(); ++k) {
    const double r = hexagon_radius(apothem, static_cast<int>(k), static_cast<int>(turn.size()));
    const double y = y_end + inward * (r - circle) * kChamferSlope;
    ring.push_back(builder.add(detail::around_y(r, turn[k], y)));
  }
  return ring;
}

// Rings between two others with the same number of vertices, and the bands between them all.
void add_between(SurfaceBuilder& builder, const Ring& from, const Ring& to, int bands) {
  Ring previous = from;
  for (int i = 1; i <= bands; ++i) {
    Ring next = to;
    if (i < bands)
      for (std::size_t k = 0; k < from.size(); ++k)
        next[k] = builder.add(
            lerp(builder.point(from[k]), builder.point(to[k]), static_cast<double>(i) / bands));
    builder.stitch(previous, next);
    previous = std::move(next);
  }
}

int bands_for(double length, double edge) {
  return static_cast<int>(std::clamp(length / edge + 0.5, 1.0, 1000.0));
}

template <typename Shape>
void check_thread(const char* name, const Shape& shape) {
  if (shape.segments % 48 != 0)
    throw_parameter(name, "segments", shape.segments, "a multiple of 48");
  if (shape.flank_rows > 5 * shape.segments / 16)
    throw_parameter(name, "flank_rows", shape.flank_rows,
                    "at most 5/16 of segments (" + std::to_string(5 * shape.segments / 16) + ")");
  if (!(shape.pitch <= 0.4 * shape.diameter))
    throw_parameter(name, "pitch", shape.pitch,
                    "at most 0.4 of the diameter, " + number_text(0.4 * shape.diameter));
}

void check_bolt(const BoltShape& shape) {
  detail::check(shape);
  check_thread("bolt", shape);
  if (!(shape.length >= 4 * shape.pitch))
    throw_parameter("bolt", "length", shape.length,
                    "at least 4 pitches, " + number_text(4 * shape.pitch));
  if (!(shape.thread_length >= 3.5 * shape.pitch &&
        shape.thread_length <= shape.length - 0.25 * shape.pitch))
    throw_parameter("bolt", "thread_length", shape.thread_length,
                    "from 3.5 pitches to length less a quarter of a pitch, " +
                        number_text(3.5 * shape.pitch) + " to " +
                        number_text(shape.length - 0.25 * shape.pitch));
  if (!(shape.head_width >= 1.1 * shape.diameter))
    throw_parameter("bolt", "head_width", shape.head_width,
                    "at least 1.1 diameters, " + number_text(1.1 * shape.diameter));
  if (!(shape.head_height >= 0.2 * shape.head_width))
    throw_parameter("bolt", "head_height", shape.head_height,
                    "at least 0.2 of head_width, " + number_text(0.2 * shape.head_width));
  const double rows = shape.length / shape.pitch * (2.0 * shape.flank_rows + 2) + 50;
  detail::check_triangles("bolt", "segments", shape.segments, 2 * rows * shape.segments);
}

// From the middle of the head's outer face to the shank's first ring, which is returned.
Ring add_bolt_head(SurfaceBuilder& builder, const BoltShape& shape,
                   const std::vector<SinCos>& turn) {
  const double apothem = shape.head_width / 2, circle = 0.95 * apothem;
  const double edge = 2 * kPi * shape.diameter / 2 / shape.segments;
  const Ring end = builder.add_ring(circle, -shape.head_height, turn);
  builder.fill_disc(end, {0, -shape.head_height, 0}, false);
  const Ring rim = add_chamfer_edge(builder, apothem, circle, -shape.head_height, 1, turn);
  builder.stitch(end, rim);
  Ring seat;
  for (std::size_t k = 0; k < turn.size(); ++k)
    seat.push_back(builder.add(detail::around_y(
        hexagon_radius(apothem, static_cast<int>(k), shape.segments), turn[k], 0)));
  add_between(builder, rim, seat, bands_for(shape.head_height, 2 * edge));
  Ring shank = builder.add_ring(shape.diameter / 2, 0, turn);
  add_between(builder, seat, shank, bands_for(apothem - shape.diameter / 2, 2 * edge));
  return shank;
}

void check_nut(const NutShape& shape) {
  detail::check(shape);
  check_thread("nut", shape);
  if (!(shape.height >= 2 * shape.pitch))
    throw_parameter("nut", "height", shape.height,
                    "at least 2 pitches, " + number_text(2 * shape.pitch));
  if (!(shape.clearance <= 0.1 * shape.pitch))
    throw_parameter("nut", "clearance", shape.clearance,
                    "at most 0.1 pitches, " + number_text(0.1 * shape.pitch));
  const double least = 1.1 * (shape.diameter + 5 * shape.clearance);
  if (!(shape.width >= least))
    throw_parameter("nut", "width", shape.width,
                    "at least 1.1 diameters of the hole, " + number_text(least));
  const double corner = (0.16 * shape.width) * kChamferSlope;
  if (!(shape.height >= 3 * corner))
    throw_parameter("nut", "height", shape.height,
                    "at least " + number_text(3 * corner) + " for the chamfers of this width");
  const double rows = shape.height / shape.pitch * (2.0 * shape.flank_rows + 2) + 50;
  detail::check_triangles("nut", "segments", shape.segments, 2 * rows * shape.segments);
}

}  // namespace

TriangleMesh make_bolt(const BoltShape& shape) {
  check_bolt(shape);
  SurfaceBuilder builder;
  const auto turn = detail::full_turn(shape.segments);
  const double crest = shape.diameter / 2, root = crest - kThreadDepth * shape.pitch;
  const double unit = shape.pitch / shape.segments, edge = 2 * kPi * crest / shape.segments;
  const double start = shape.length - shape.thread_length;
  const double tip = root - 0.1 * shape.pitch;

  const Ring shank = add_bolt_head(builder, shape, turn);
  const Ring runout = builder.add_ring(crest, start, turn);
  add_between(builder, shank, runout, bands_for(start, edge));
  const Ring end = builder.add_ring(tip, shape.length, turn);

  detail::ThreadWall wall{
      .columns = shape.segments, .flank_rows = shape.flank_rows, .pitch = shape.pitch};
  wall.first = static_cast<std::int64_t>(std::ceil(start / unit));
  wall.last = static_cast<std::int64_t>(std::floor(shape.length / unit));
  wall.radius = [&](double pitches, double y) {
    const double full = crest + shape.pitch * detail::thread_depth(pitches);
    const double shallow =
        crest - kThreadDepth / 2 * (y - start);  // the depth grows over 2 pitches
    const double chamfer = tip + (shape.length - y);
    return std::min(std::max(full, shallow), chamfer);
  };
  add_thread_wall(builder, wall, runout, end);
  builder.fill_disc(end, {0, shape.length, 0}, true);
  return builder.finish({"bolt", "pitch", shape.pitch});
}

TriangleMesh make_nut(const NutShape& shape) {
  check_nut(shape);
  SurfaceBuilder builder;
  const auto turn = detail::full_turn(shape.segments);
  const double half = shape.height / 2, apothem = shape.width / 2, circle = 0.95 * apothem;
  const double unit = shape.pitch / shape.segments;
  const double edge = kPi * shape.diameter / shape.segments;
  // Facets touch the true thread in their middle instead of at their ends.
  const double outside = 1 / sin_cos(kPi / shape.segments).cos;
  // Moving the whole profile out by 2 c moves flanks at 30 degrees to the radius apart by c.
  const double crest = shape.diameter / 2 + 2 * shape.clearance;
  const double mouth = (crest + 0.05 * shape.pitch) * outside;

  const Ring low_mouth = builder.add_ring(mouth, -half, turn);
  const Ring low_circle = builder.add_ring(circle, -half, turn);
  const Ring low_rim = add_chamfer_edge(builder, apothem, circle, -half, 1, turn);
  const Ring high_rim = add_chamfer_edge(builder, apothem, circle, half, -1, turn);
  const Ring high_circle = builder.add_ring(circle, half, turn);
  const Ring high_mouth = builder.add_ring(mouth, half, turn);
  const int face_bands = bands_for(circle - mouth, edge);
  add_between(builder, low_mouth, low_circle, face_bands);
  builder.stitch(low_circle, low_rim);
  add_between(builder, low_rim, high_rim, bands_for(shape.height, 2 * edge));
  builder.stitch(high_rim, high_circle);
  add_between(builder, high_circle, high_mouth, face_bands);

  detail::ThreadWall wall{
      .columns = shape.segments, .flank_rows = shape.flank_rows, .pitch = shape.pitch};
  wall.outside = false;
  wall.last = static_cast<std::int64_t>(std::floor(half / unit));
  wall.first = -wall.last;
  wall.radius = [&](double pitches, double y) {
    const double full = (crest + shape.pitch * detail::thread_depth(pitches)) * outside;
    return std::max(full, mouth - (half - std::abs(y)));  // countersunk at 45 degrees
  };
  add_thread_wall(builder, wall, low_mouth, high_mouth);
  return builder.finish({"nut", "pitch", shape.pitch});
}

Pose bolt_from_nut(double pitch, double y) {
  const SinCos half = sin_cos(kPi * y / pitch);
  return {{half.cos, 0, half.sin, 0}, {0, y, 0}};
}

}  // namespace isotact
