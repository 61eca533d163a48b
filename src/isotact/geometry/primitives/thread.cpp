// Hexagon bolt and nut.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact::detail {
namespace {

// The wall of a screw thread between two flat ends.

// The radius of the ISO 68-1 basic profile below (or above) that of the crest, over pitch, at a
// distance from the middle of the crest of so many pitches: 0 on the crest, -0.5413 on the root.
double thread_depth(double pitches);

// All vertices but those of the end rings lie on a lattice: column k at the angle k / columns of a
// turn, heights whole multiples of pitch / columns. The lines along the thread climb by one unit a
// column, so that they meet the ends exactly on lattice points and leave no slivers.
struct ThreadWall {
  int columns = 96;    // a multiple of 16
  int flank_rows = 2;  // at most 5 * columns / 16
  double pitch = 0.002;
  std::int64_t first = 0, last = 0;  // heights of the end rings, in units
  // Radius of a vertex, from its distance to the middle of the crest in pitches (-0.5 to 0.5) and
  // its height.
  std::function<double(double pitches, double y)> radius{};
  bool outside = true;  // of a bolt; false: of a hole
};

void add_thread_wall(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                     const Ring& last);

// A vertex of a column: its height in units, and its line along the thread (unused at the ends).
struct Knot {
  std::uint32_t vertex;
  std::int64_t height;
};

// Heights of the lines along the thread at column 0, within one pitch, from the middle of a crest.
std::vector<std::int64_t> thread_lines(int columns, int flank_rows) {
  const std::int64_t n = columns, crest = n / 16, root = 3 * n / 8, flank = root - crest;
  std::vector<std::int64_t> lines;
  for (int i = 0; i <= flank_rows; ++i) lines.push_back(crest + flank * i / flank_rows);
  for (int i = flank_rows; i >= 0; --i) lines.push_back(n - crest - flank * i / flank_rows);
  return lines;
}

class ThreadColumns {
 public:
  ThreadColumns(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                const Ring& last)
      : builder_(builder),
        wall_(wall),
        first_(first),
        last_(last),
        lines_(thread_lines(wall.columns, wall.flank_rows)),
        turn_(full_turn(wall.columns)) {}

  std::vector<Knot> column(int k) {
    const auto index = static_cast<std::size_t>(k);
    const std::int64_t n = wall_.columns;
    std::vector<Knot> knots{{first_[index], wall_.first}};
    std::int64_t turn = (wall_.first - k) / n - 2;
    for (;; ++turn)
      for (const std::int64_t line : lines_) {
        const std::int64_t height = k + turn * n + line;
        if (height <= wall_.first) continue;
        if (height >= wall_.last) {
          knots.push_back({last_[index], wall_.last});
          return knots;
        }
        const double y = static_cast<double>(height) * wall_.pitch / static_cast<double>(n);
        double pitches = static_cast<double>(line) / static_cast<double>(n);
        if (pitches > 0.5) pitches -= 1;
        knots.push_back(
            {builder_.add(around_y(wall_.radius(pitches, y), turn_[index], y)), height});
      }
  }

  // Every line is one unit higher in the right column; at the ends a line begins or ends in the
  // ring's vertex.
  void join(const std::vector<Knot>& left, const std::vector<Knot>& right) {
    std::size_t i = 0, j = 0;
    while (i + 1 < left.size() || j + 1 < right.size()) {
      const bool left_done = i + 1 == left.size(), right_done = j + 1 == right.size();
      const std::int64_t from = left_done ? wall_.last : left[i + 1].height;
      const std::int64_t to = right_done ? wall_.last : right[j + 1].height;
      const bool level =
          !left_done && !right_done && (from + 1 == to || (from == wall_.last && to == wall_.last));
      if (level) {
        quad(left[i].vertex, right[j].vertex, right[j + 1].vertex, left[i + 1].vertex);
        ++i, ++j;
      } else if (!right_done && (left_done || to < from + 1)) {
        triangle(left[i].vertex, right[j].vertex, right[j + 1].vertex);
        ++j;
      } else {
        triangle(left[i].vertex, right[j].vertex, left[i + 1].vertex);
        ++i;
      }
    }
  }

 private:
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (wall_.outside)
      builder_.triangle(a, b, c);
    else
      builder_.triangle(a, c, b);
  }
  void quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    if (wall_.outside)
      builder_.quad(a, b, c, d);
    else
      builder_.quad(a, d, c, b);
  }

  SurfaceBuilder& builder_;
  const ThreadWall& wall_;
  const Ring &first_, &last_;
  std::vector<std::int64_t> lines_;
  std::vector<SinCos> turn_;
};

double thread_depth(double pitches) {
  constexpr double kCrest = 1.0 / 16, kRoot = 3.0 / 8;
  const double flank = std::clamp(std::abs(pitches), kCrest, kRoot) - kCrest;
  return -flank * std::sqrt(3.0);
}

void add_thread_wall(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                     const Ring& last) {
  assert(wall.columns % 16 == 0 && wall.flank_rows <= 5 * wall.columns / 16);
  ThreadColumns columns(builder, wall, first, last);
  const std::vector<Knot> start = columns.column(0);
  std::vector<Knot> left = start;
  for (int k = 1; k < wall.columns; ++k) {
    std::vector<Knot> right = columns.column(k);
    columns.join(left, right);
    left = std::move(right);
  }
  // Around the seam the lines go on one pitch higher: column 0 is column n, whose heights are the
  // same, since the lines repeat every pitch.
  columns.join(left, start);
}

}  // namespace

}  // namespace isotact::detail

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
