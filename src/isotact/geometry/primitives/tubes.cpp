// Knot, chain link and pipe.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/detail/sweep.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using detail::Frame;
using detail::Ring;
using detail::SurfaceBuilder;

struct Curve {
  std::vector<Vec3> centers, tangents;
};

TriangleMesh make_closed_tube(const std::vector<Frame>& frames, double radius, int segments,
                              const detail::FinestParameter& finest) {
  SurfaceBuilder builder;
  const auto turn = detail::full_turn(segments);
  std::vector<Ring> rings;
  rings.reserve(frames.size());
  for (const Frame& frame : frames) rings.push_back(add_circle(builder, frame, radius, turn));
  builder.skin(rings, true);
  return builder.finish(finest);
}

Curve knot_curve(const KnotShape& shape) {
  Curve curve;
  for (int i = 0; i < shape.segments; ++i) {
    const double t = 2 * kPi * i / shape.segments;
    const SinCos p = sin_cos(shape.p * t), q = sin_cos(shape.q * t);
    const double radius = shape.ring_radius + shape.winding_radius * q.cos;
    curve.centers.push_back(detail::around_y(radius, p, shape.winding_radius * q.sin));
    const double outward = -shape.winding_radius * q.sin * shape.q;
    const double around = radius * shape.p;
    curve.tangents.push_back(
        normalized(Vec3{outward * p.cos - around * p.sin, shape.winding_radius * q.cos * shape.q,
                        -outward * p.sin - around * p.cos}));
  }
  return curve;
}

// Points at equal distances along a stadium, counter-clockwise in x-y, from the middle of the right
// side.
std::vector<Frame> stadium_frames(const LinkShape& shape) {
  const double bend = kPi * shape.bend_radius, straight = shape.straight;
  // Segments are dealt to the four parts so that the joints are vertices.
  // An even number a bend, so that its apex is one too.
  const double share = bend / (4 * (bend + straight));
  const int on_bend = 2 * std::max(2, static_cast<int>(shape.segments * share + 0.5));
  const int on_straight = std::max(1, shape.segments / 2 - on_bend);
  std::vector<Frame> frames;
  for (const double side : {1.0, -1.0}) {
    for (int i = 0; i < on_straight; ++i) {
      const Vec3 outward{side, 0, 0};
      const double y = side * straight * (static_cast<double>(i) / on_straight - 0.5);
      frames.push_back({{side * shape.bend_radius, y, 0}, {0, side, 0}, outward, {0, 0, -1}});
    }
    for (int i = 0; i < on_bend; ++i) {
      const SinCos t = sin_cos(kPi * i / on_bend);
      const Vec3 outward = Vec3{t.cos, t.sin, 0} * side, tangent = Vec3{-t.sin, t.cos, 0} * side;
      const Vec3 middle{0, side * straight / 2, 0};
      frames.push_back({middle + outward * shape.bend_radius, tangent, outward, {0, 0, -1}});
    }
  }
  return frames;
}

struct Winding {
  double angle_per_t, phase, height;
};

// The windings fade in and out, so that the ends point along x.
Curve pipe_curve(const PipeShape& shape) {
  Random random(shape.seed);
  const double pace = 2 * kPi * shape.windings;
  const double phase = random.uniform(0, 2 * kPi);
  const Winding first{pace, phase, 0.75 + 0.1 * random.uniform()};
  const Winding second{pace * random.uniform(0.4, 0.6), random.uniform(0, 2 * kPi),
                       1 - first.height};
  Curve curve;
  for (int i = 0; i <= shape.segments; ++i) {
    const double t = static_cast<double>(i) / shape.segments;
    // 16 t^2 (1 - t)^2 and its derivative.
    const double bump = 4 * t * (1 - t), fade = bump * bump, fade_dt = 8 * bump * (1 - 2 * t);
    double z = 0, z_dt = 0;
    for (const Winding& w : {first, second}) {
      const SinCos s = sin_cos(w.angle_per_t * t + w.phase);
      z += w.height * s.sin;
      z_dt += w.height * w.angle_per_t * s.cos;
    }
    curve.centers.push_back({shape.span * (t - 0.5), shape.drop * (1 - t), shape.sway * fade * z});
    curve.tangents.push_back(
        normalized(Vec3{shape.span, -shape.drop, shape.sway * (fade_dt * z + fade * z_dt)}));
  }
  return curve;
}

// The tube of a shape, as far as it must fit between its own windings.
struct TubeFit {
  const char *shape, *radius_name;
  double radius;   // the parameter of that name
  double outside;  // radius of the tube
  int segments;
};

void check_tube(const TubeFit& tube, const Curve& curve, bool closed) {
  const double bend = detail::largest_bend_radius(curve.centers, curve.tangents, closed);
  if (!(bend > 0))
    detail::throw_parameter(tube.shape, "segments", tube.segments,
                            "larger, so that they follow the windings");
  const double largest =
      tube.outside < bend
          ? std::min(bend, detail::least_gap(curve.centers, closed, tube.outside) / 2)
          : bend;
  // A polygonal tube along a sampled curve needs a little more room than the true one.
  if (!(tube.outside < 0.97 * largest))
    detail::throw_parameter(tube.shape, tube.radius_name, tube.radius,
                            "smaller: the tube's outside radius (" +
                                detail::number_text(tube.outside) + ") must stay below " +
                                detail::number_text(0.97 * largest) +
                                " so that the tube does not touch itself");
}

// What is left between windings, or of a wall, must survive the rounding to float32: 1e-5 of the
// coordinates are about 100 roundings, and the windings may leave 6 % of the tube's radius.
void check_resolved(const char* shape, const char* parameter, double value, double reach) {
  const double least = 1e-5 * reach;
  if (!(value >= least))
    detail::throw_parameter(shape, parameter, value,
                            "at least " + detail::number_text(least) +
                                ", 1e-5 of the shape's reach, to be more than float32 rounds off");
}

}  // namespace

TriangleMesh make_knot(const KnotShape& shape) {
  detail::check(shape);
  if (std::gcd(shape.p, shape.q) != 1)
    detail::throw_parameter("knot", "q", shape.q,
                            "without a common divisor with p (" + std::to_string(shape.p) + ")");
  if (!(shape.winding_radius < shape.ring_radius))
    detail::throw_parameter(
        "knot", "winding_radius", shape.winding_radius,
        "less than ring_radius (" + detail::number_text(shape.ring_radius) + ")");
  const int least = 12 * std::max(shape.p, shape.q);
  if (shape.segments < least)
    detail::throw_parameter("knot", "segments", shape.segments,
                            "at least " + std::to_string(least) + " for these p and q");
  detail::check_triangles("knot", "segments", shape.segments,
                          2.0 * shape.segments * shape.tube_segments);
  const double reach = shape.ring_radius + shape.winding_radius + shape.tube_radius;
  check_resolved("knot", "tube_radius", shape.tube_radius, reach);
  const Curve curve = knot_curve(shape);
  check_tube({.shape = "knot",
              .radius_name = "tube_radius",
              .radius = shape.tube_radius,
              .outside = shape.tube_radius,
              .segments = shape.segments},
             curve, true);
  return make_closed_tube(detail::make_frames(curve.centers, curve.tangents, true),
                          shape.tube_radius, shape.tube_segments,
                          {"knot", "tube_radius", shape.tube_radius});
}

TriangleMesh make_link(const LinkShape& shape) {
  detail::check(shape);
  if (!(shape.wire_radius < shape.bend_radius))
    detail::throw_parameter(
        "link", "wire_radius", shape.wire_radius,
        "less than bend_radius (" + detail::number_text(shape.bend_radius) + ")");
  detail::check_triangles("link", "segments", shape.segments,
                          2.0 * shape.segments * shape.wire_segments);
  return make_closed_tube(stadium_frames(shape), shape.wire_radius, shape.wire_segments,
                          {"link", "wire_radius", shape.wire_radius});
}

TriangleMesh make_pipe(const PipeShape& shape) {
  detail::check(shape);
  detail::check_triangles("pipe", "segments", shape.segments,
                          4.0 * (shape.segments + 1.0) * shape.tube_segments);
  const double outside = shape.inner_radius + shape.wall;
  const double reach = std::max({shape.span / 2, shape.drop, shape.sway}) + outside;
  check_resolved("pipe", "inner_radius", shape.inner_radius, reach);
  check_resolved("pipe", "wall", shape.wall, reach);
  const Curve curve = pipe_curve(shape);
  check_tube({.shape = "pipe",
              .radius_name = "inner_radius",
              .radius = shape.inner_radius,
              .outside = outside,
              .segments = shape.segments},
             curve, false);
  SurfaceBuilder builder;
  const auto turn = detail::full_turn(shape.tube_segments);
  const auto frames = detail::make_frames(curve.centers, curve.tangents, false);
  std::vector<Ring> rings;  // out along the outside, back along the inside
  for (const Frame& frame : frames) rings.push_back(add_circle(builder, frame, outside, turn));
  for (std::size_t i = frames.size(); i-- > 0;)
    rings.push_back(add_circle(builder, frames[i], shape.inner_radius, turn));
  builder.skin(rings, true);
  return builder.finish({"pipe", "wall", shape.wall});
}

}  // namespace isotact
