// Knot, chain link and pipe.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/random.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using detail::Ring;
using detail::SurfaceBuilder;

// ---- tubes along curves
// ---------------------------------------------------------------------------

// A point of a curve with its unit tangent, and two unit vectors square to it and to each other:
// cross(normal, binormal) = tangent.
struct Frame {
  Vec3 center, tangent, normal, binormal;
};

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

// Of the angle between a curve and its chord from one point to the next.
constexpr double kLeastCosine = 0.8;

// Leaves out points that are nearer than `spacing` to the last one kept.
std::vector<Vec3> thin_out(const std::vector<Vec3>& points, double spacing) {
  std::vector<Vec3> kept{points.front()};
  for (std::size_t i = 1; i < points.size(); ++i)
    if (i + 1 == points.size() || length_sq(points[i] - kept.back()) >= spacing * spacing)
      kept.push_back(points[i]);
  return kept;
}

// The nearest points of two segments, as shares of the way along each.
struct NearestShares {
  double a, b;
};

NearestShares nearest_on_segments(const Vec3& a, const Vec3& along_a, const Vec3& b,
                                  const Vec3& along_b) {
  const Vec3 between = b - a;
  const double aa = length_sq(along_a), bb = length_sq(along_b), ab = dot(along_a, along_b);
  const double da = dot(between, along_a), db = dot(between, along_b);
  const double determinant = aa * bb - ab * ab;
  // Parallel segments: any share of the first will do to begin with.
  double s =
      determinant > 1e-12 * aa * bb ? std::clamp((da * bb - db * ab) / determinant, 0.0, 1.0) : 0.0;
  const double t = std::clamp((s * ab - db) / bb, 0.0, 1.0);
  s = std::clamp((da + t * ab) / aa, 0.0, 1.0);
  return {s, t};
}

// Searches the pairs of segments of a polyline, by boxes around runs of them.
class GapSearch {
 public:
  GapSearch(std::vector<Vec3> points, bool closed, double limit)
      : points_(std::move(points)), limit_(limit) {
    if (closed) points_.push_back(points_.front());
    along_.push_back(0);
    for (std::size_t i = 0; i + 1 < points_.size(); ++i)
      along_.push_back(along_.back() + length(points_[i + 1] - points_[i]));
    total_ = closed ? along_.back() : std::numeric_limits<double>::infinity();
    add_run(0, points_.size() - 1);
  }

  double find() {
    visit(0, 0);
    return limit_;
  }

 private:
  struct Run {
    Aabb box;
    std::size_t begin, end;             // segments
    std::size_t first = 0, second = 0;  // halves; none where both are 0
  };

  std::size_t add_run(std::size_t begin, std::size_t end) {
    const std::size_t index = runs_.size();
    runs_.push_back({{}, begin, end});
    for (std::size_t i = begin; i <= end; ++i) extend(runs_[index].box, points_[i]);
    if (end - begin <= 4) return index;
    const std::size_t middle = begin + (end - begin) / 2;
    const std::size_t first = add_run(begin, middle), second = add_run(middle, end);
    runs_[index].first = first;
    runs_[index].second = second;
    return index;
  }

  bool is_far(const Run& a, const Run& b) const {
    double apart_sq = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double d = std::max(
          {a.box.lower[axis] - b.box.upper[axis], b.box.lower[axis] - a.box.upper[axis], 0.0});
      apart_sq += d * d;
    }
    return apart_sq >= limit_ * limit_;
  }

  void visit(std::size_t index_a, std::size_t index_b) {
    const Run &a = runs_[index_a], &b = runs_[index_b];
    if (is_far(a, b)) return;
    const bool a_whole = a.first == 0, b_whole = b.first == 0;
    if (index_a == index_b && !a_whole) {
      visit(a.first, a.first);
      visit(a.first, a.second);
      visit(a.second, a.second);
    } else if (a_whole && b_whole) {
      compare(a, b);
    } else if (b_whole || (!a_whole && a.end - a.begin >= b.end - b.begin)) {
      visit(a.first, index_b);
      visit(a.second, index_b);
    } else {
      visit(index_a, b.first);
      visit(index_a, b.second);
    }
  }

  void compare(const Run& a, const Run& b) {
    for (std::size_t i = a.begin; i < a.end; ++i)
      for (std::size_t j = std::max(i + 2, b.begin); j < b.end; ++j) {
        const Vec3 along_i = points_[i + 1] - points_[i], along_j = points_[j + 1] - points_[j];
        const NearestShares at = nearest_on_segments(points_[i], along_i, points_[j], along_j);
        const double distance = length(points_[i] + along_i * at.a - points_[j] - along_j * at.b);
        const double forward = along_[j] + (along_[j + 1] - along_[j]) * at.b - along_[i] -
                               (along_[i + 1] - along_[i]) * at.a;
        // Two points on one bend are at least 2 / pi of the way along it apart.
        if (distance < std::min(forward, total_ - forward) * (2 / kPi))
          limit_ = std::min(limit_, distance);
      }
  }

  std::vector<Vec3> points_;
  std::vector<double> along_;  // of each point: the way along the curve
  std::vector<Run> runs_;
  double total_ = 0, limit_;
};

// Frames that turn as little as possible along the curve: double reflection (Wang, Juettler, Zheng
// and Liu 2008). On a closed curve, whose first point is not repeated, the turn that is left after
// one round is spread over all frames, so that the last fits the first.
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

// A circle of `turn.size()` points around the frame's tangent.
Ring add_circle(SurfaceBuilder& builder, const Frame& frame, double radius,
                const std::vector<SinCos>& turn) {
  Ring ring;
  ring.reserve(turn.size());
  for (const SinCos& t : turn)
    ring.push_back(
        builder.add(frame.center + (frame.normal * t.cos + frame.binormal * t.sin) * radius));
  return ring;
}

// The largest radius at which each circle square to the curve lies wholly before the next one. Zero
// where the points are too few to follow the curve: where a chord turns from a tangent at its ends
// by more than 37 degrees, or a tangent from the next by more than 90.
double largest_bend_radius(const std::vector<Vec3>& centers, const std::vector<Vec3>& tangents,
                           bool closed) {
  const std::size_t n = centers.size();
  double largest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < (closed ? n : n - 1); ++i) {
    const std::size_t j = i + 1 == n ? 0 : i + 1;
    const Vec3 step = centers[j] - centers[i];
    const double ahead = std::min(dot(step, tangents[i]), dot(step, tangents[j]));
    // Written so that a step of no length fails.
    if (!(ahead > kLeastCosine * length(step)) || !(dot(tangents[i], tangents[j]) > 0)) return 0;
    const double turn = length(cross(tangents[i], tangents[j]));
    if (turn > 0) largest = std::min(largest, ahead / turn);
  }
  return largest;
}

// The least distance between parts of the polyline through the points that are apart along it (by
// more than pi / 2 times that distance), or 2.2 radii where that is less: a tube needs two radii.
// Parts shorter than an eighth of the radius are smoothed over. Cost: n log n, unless a large share
// of the curve runs within the radius.
double least_gap(const std::vector<Vec3>& centers, bool closed, double radius) {
  return GapSearch(thin_out(centers, radius / 8), closed, 2.2 * radius).find();
}

// ---- shapes -------------------------------------------------------------------------------------

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
  const double bend = largest_bend_radius(curve.centers, curve.tangents, closed);
  if (!(bend > 0))
    detail::throw_parameter(tube.shape, "segments", tube.segments,
                            "larger, so that they follow the windings");
  const double largest = tube.outside < bend
                             ? std::min(bend, least_gap(curve.centers, closed, tube.outside) / 2)
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
  return make_closed_tube(make_frames(curve.centers, curve.tangents, true), shape.tube_radius,
                          shape.tube_segments, {"knot", "tube_radius", shape.tube_radius});
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
  const auto frames = make_frames(curve.centers, curve.tangents, false);
  std::vector<Ring> rings;  // out along the outside, back along the inside
  for (const Frame& frame : frames) rings.push_back(add_circle(builder, frame, outside, turn));
  for (std::size_t i = frames.size(); i-- > 0;)
    rings.push_back(add_circle(builder, frames[i], shape.inner_radius, turn));
  builder.skin(rings, true);
  return builder.finish({"pipe", "wall", shape.wall});
}

}  // namespace isotact
