#include "isotact/geometry/primitives/detail/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/base/aabb.h"

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

double least_gap(const std::vector<Vec3>& centers, bool closed, double radius) {
  return GapSearch(thin_out(centers, radius / 8), closed, 2.2 * radius).find();
}

}  // namespace isotact::detail
