#include "ccd_vertex_face.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/mesh/predicates.h"
#include "isotact/geometry/mesh/triangle.h"
#include "isotact/queries/segments/segment.h"

namespace isotact::bench {
namespace {

constexpr double kClosestError = 1e-6;  // of find_least_distance, in triangle sizes

// Seven integers: three fractions and the truth.
class RowReader {
 public:
  RowReader(const std::filesystem::path& file, std::size_t& rounded)
      : file_(file), in_(file), rounded_(rounded) {
    if (!in_) throw Error({.file = file.string()}, "cannot be read");
  }

  bool next(Vec3& point, bool& truth) {
    std::string row;
    if (!std::getline(in_, row)) return false;
    ++line_;
    const char* at = row.c_str();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bool is_exact = true;
      const long double above = integer(at, ',', is_exact), below = integer(at, ',', is_exact);
      if (below == 0) fail("a denominator is zero");
      const long double quotient = above / below;
      point[axis] = static_cast<double>(quotient);
      if (!is_exact || std::fma(quotient, below, -above) != 0 ||
          static_cast<long double>(point[axis]) != quotient)
        ++rounded_;
    }
    bool is_exact = true;
    const long double last = integer(at, '\0', is_exact);
    if (last != 0 && last != 1) fail("the truth is neither 0 nor 1");
    truth = last == 1;
    return true;
  }

  [[noreturn]] void fail(const char* what) const {
    throw Error({.file = file_.string(), .line = line_}, what);
  }

 private:
  // Written out again, a number that was not rounded has the same digits.
  long double integer(const char*& at, char end, bool& is_exact) {
    char* stop = nullptr;
    const long double value = std::strtold(at, &stop);
    if (stop == at || !std::isfinite(value) || (*stop != end && *stop != '\r'))
      fail("seven integers, parted by commas, were expected");
    const std::string_view given(at, static_cast<std::size_t>(stop - at));
    is_exact = is_exact && given == fmt::format("{:.0f}", value);
    at = *stop == ',' ? stop + 1 : stop;
    return value;
  }

  std::filesystem::path file_;
  std::ifstream in_;
  std::size_t& rounded_;
  std::size_t line_ = 0;
};

struct PointAndTriangle {
  Segment path;
  std::array<Vec3f, 3> corner;
  double slack = 0;  // metres of the frame, in which neither is quite where it should be
};

struct Frame {
  double scale = 1;
  double deviation = 0;  // of corners from their common motion, in the frame's unit
  double largest = 0;    // coordinate as it came, in the frame's unit
  bool rests = false;
  Vec3 motion{};  // common, as it came
};

Frame compute_frame(const VertexFaceQuery& q) {
  const auto& [v0, a0, b0, c0] = q.at_t0;
  const double size = std::max({length(b0 - a0), length(c0 - b0), length(a0 - c0)});
  Frame frame;
  if (size > 0) frame.scale = std::ldexp(1.0, -std::ilogb(size));
  Vec3 by[3];
  frame.rests = true;
  for (std::size_t i = 0; i < 3; ++i) {
    by[i] = q.at_t1[i + 1] - q.at_t0[i + 1];
    frame.motion += by[i] / 3.0;
    frame.rests = frame.rests && by[i] == Vec3{};
  }
  for (const Vec3& b : by)
    frame.deviation = std::max(frame.deviation, length(b - frame.motion) * frame.scale);
  for (const auto* points : {&q.at_t0, &q.at_t1})
    for (const Vec3& p : *points) frame.largest = std::max(frame.largest, length(p) * frame.scale);
  return frame;
}

PointAndTriangle pose(const VertexFaceQuery& q, const Frame& frame, double begin, double end) {
  const auto place = [&](std::size_t i, double t) {
    return (lerp(q.at_t0[i], q.at_t1[i], t) - frame.motion * t - q.at_t0[1]) * frame.scale;
  };
  PointAndTriangle p;
  p.path = {to_float(place(0, begin)), to_float(place(0, end))};
  double largest = std::max(length(place(0, begin)), length(place(0, end)));
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 corner = place(i + 1, 0.5 * (begin + end));
    p.corner[i] = to_float(corner);
    largest = std::max(largest, length(corner));
  }
  // Both are rounded to float once (2^-24 a coordinate), after some operations in double.
  p.slack = frame.deviation * 0.5 * (end - begin) + 0x1p-22 * largest + 0x1p-46 * frame.largest;
  return p;
}

double distance_at(const PointAndTriangle& p, double t) {
  const Vec3 at = lerp(to_double(p.path.from), to_double(p.path.to), t);
  return std::sqrt(
      find_closest_point_on_triangle(to_float(at), p.corner[0], p.corner[1], p.corner[2])
          .distance_sq);
}

// The distance from a convex set along a straight line is convex: thirds close in on the least.
double find_least_distance(const PointAndTriangle& p) {
  double begin = 0, end = 1;
  double least = std::min(distance_at(p, 0), distance_at(p, 1));
  for (int i = 0; i < 60; ++i) {
    const double a = begin + (end - begin) / 3, b = end - (end - begin) / 3;
    const double at_a = distance_at(p, a), at_b = distance_at(p, b);
    least = std::min({least, at_a, at_b});
    (at_a < at_b ? end : begin) = at_a < at_b ? b : a;
  }
  return least;
}

// Steps no longer than the distance cannot jump over anything. Each is `reach` long at least.
bool advance_to_contact(const PointAndTriangle& p, double reach) {
  const double size = length(to_double(p.path.to) - to_double(p.path.from));
  for (double t = 0;; t = std::min(t, 1.0)) {
    const double d = distance_at(p, t);
    if (d <= p.slack + 2 * reach) return true;
    if (t >= 1 || size == 0) return false;
    t += (d - p.slack - reach) / size;
  }
}

// Adds what one piece of time has to say.
void answer_piece(const PointAndTriangle& p, int resolution, VertexFaceResult& answer) {
  answer.closest = std::min(answer.closest, find_least_distance(p));
  answer.slack = std::max(answer.slack, p.slack + kClosestError);
  if (are_collinear(p.corner[0], p.corner[1], p.corner[2])) {
    constexpr double kReach = 1e-3;
    answer.posing = Posing::kDegenerate;
    answer.found = answer.found || advance_to_contact(p, kReach);
    answer.allowed = std::max(answer.allowed, p.slack + 2 * kReach);
    answer.cell = kReach;
    return;
  }
  const TriangleMesh mesh{{p.corner[0], p.corner[1], p.corner[2]}, {{0, 1, 2}}};
  const BrickField field = build_field(mesh, {.resolution = resolution,
                                              .sign = SignMethod::kUnsigned,
                                              .keep_thin = KeepThin::kIgnore,
                                              .threads = {1}})
                               .field;
  const double margin = covering_margin(field, p.slack);
  const SegmentTracer tracer(field, {.margin = margin, .mode = Mode::kAny, .threads = {1}});
  SegmentInterval interval[1];
  answer.found = answer.found || tracer.trace(p.path, interval) > 0;
  // A value is below the distance less the offset by near_error at most; and the rounding that
  // covering_margin allows for counts once more.
  const double offset = static_cast<double>(field.header().shell_offset);
  answer.allowed = std::max(answer.allowed, 2 * (margin + offset) - p.slack + kClosestError);
  answer.cell = field.voxel_size();
}

}  // namespace

VertexFaceFile read_vertex_face(const std::filesystem::path& file) {
  VertexFaceFile result;
  RowReader reader(file, result.rounded);
  for (;;) {
    VertexFaceQuery q;
    bool truth = false;
    if (!reader.next(q.at_t0[0], q.meets)) return result;
    for (std::size_t i = 1; i < 8; ++i) {
      Vec3& point = i < 4 ? q.at_t0[i] : q.at_t1[i - 4];
      if (!reader.next(point, truth)) reader.fail("the last query has less than eight rows");
      if (truth != q.meets) reader.fail("rows of one query disagree about the truth");
    }
    result.queries.push_back(q);
  }
}

VertexFaceFile make_stand_in(std::size_t count, bool is_edges) {
  Random random(2021);
  const auto any = [&](int least, int most) {
    return (least + static_cast<int>(random.below(static_cast<std::uint32_t>(most - least + 1)))) /
           64.0;
  };
  const auto anywhere = [&] { return Vec3{any(-64, 64), any(-64, 64), any(-64, 64)}; };
  VertexFaceFile made;
  for (std::size_t i = 0; i < count; ++i) {
    VertexFaceQuery q{.meets = i % 2 == 0};
    if (q.meets) {
      // Placed at half time, then moved by as much before as after.
      std::array<Vec3, 4> half{anywhere(), anywhere(), anywhere(), anywhere()};
      if (is_edges)
        half[3] = half[0] + half[1] - half[2];  // both edges have the same middle
      else
        half[0] = (half[1] + half[2]) * 0.25 + half[3] * 0.5;
      for (std::size_t k = 0; k < 4; ++k) {
        const Vec3 move = anywhere();
        q.at_t0[k] = half[k] - move;
        q.at_t1[k] = half[k] + move;
      }
    } else {
      // A gap along one axis, all the while.
      const std::size_t axis = random.below(3);
      for (std::size_t k = 0; k < 4; ++k) {
        const bool is_above = is_edges ? k < 2 : k == 0;
        for (Vec3* at : {&q.at_t0[k], &q.at_t1[k]}) {
          *at = anywhere();
          (*at)[axis] = is_above ? any(8, 64) : any(-64, -8);
        }
      }
    }
    made.queries.push_back(q);
  }
  return made;
}

VertexFaceResult answer_by_field(const VertexFaceQuery& query, int resolution, int pieces) {
  const Frame frame = compute_frame(query);
  const bool translates = frame.deviation <= 0x1p-40 * (1 + frame.largest);
  VertexFaceResult answer;
  answer.posing = frame.rests  ? Posing::kResting
                  : translates ? Posing::kTranslating
                               : Posing::kDeforming;
  answer.closest = std::numeric_limits<double>::infinity();
  if (translates) pieces = 1;
  answer.is_point = true;
  for (int i = 0; i < pieces; ++i) {
    const PointAndTriangle p =
        pose(query, frame, static_cast<double>(i) / pieces, static_cast<double>(i + 1) / pieces);
    answer.is_point = answer.is_point && p.path.from == p.path.to;
    answer_piece(p, resolution, answer);
  }
  return answer;
}

}  // namespace isotact::bench
