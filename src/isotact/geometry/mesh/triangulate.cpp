#include "isotact/geometry/mesh/triangulate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "isotact/geometry/mesh/predicates.h"

namespace isotact {
namespace {

using Polygon = std::span<const std::uint32_t>;

// What an ear search may spend on a corner, in points tested. It keeps a hostile file of huge faces
// from costing more than linear time.
constexpr std::size_t kPointTestsPerCorner = 1024;
// And on a polygon, however many corners it has: a file of one face must not take minutes.
constexpr std::size_t kPointTestsPerPolygon = std::size_t{1} << 26U;
// An orientation that doubles cannot decide takes as long as so many points tested.
constexpr std::size_t kExactCost = 32;

void append_fan(Polygon polygon, std::vector<Triangle>& triangles) {
  for (std::size_t i = 2; i < polygon.size(); ++i)
    triangles.push_back({polygon[0], polygon[i - 1], polygon[i]});
}

Vec3 triangle_normal(const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  return cross(to_double(b) - to_double(a), to_double(c) - to_double(a));
}

// Of its two diagonals a quad gets the first unless that folds or flattens a half and the second
// does not.
void append_quad(std::span<const Vec3f> positions, Polygon q, std::vector<Triangle>& triangles) {
  const Vec3f &p0 = positions[q[0]], &p1 = positions[q[1]];
  const Vec3f &p2 = positions[q[2]], &p3 = positions[q[3]];
  const auto agree = [](const Vec3& a, const Vec3& b) { return dot(a, b) > 0; };
  const bool second = !agree(triangle_normal(p0, p1, p2), triangle_normal(p0, p2, p3)) &&
                      agree(triangle_normal(p1, p2, p3), triangle_normal(p1, p3, p0));
  if (second) {
    triangles.push_back({q[1], q[2], q[3]});
    triangles.push_back({q[1], q[3], q[0]});
  } else {
    append_fan(q, triangles);
  }
}

// Newell's sum: twice the polygon's area along each axis.
Vec3 newell_normal(std::span<const Vec3f> positions, Polygon polygon) {
  Vec3 sum;
  const Vec3 origin = to_double(positions[polygon[0]]);
  Vec3 last{};
  for (std::size_t i = 1; i < polygon.size(); ++i) {
    const Vec3 p = to_double(positions[polygon[i]]) - origin;
    sum += cross(last, p);
    last = p;
  }
  return sum;
}

// The polygon seen along the axis that its plane faces most, turned so that it runs
// counter-clockwise. Dropping a coordinate rounds nothing, so the orientation tests stay exact.
struct View {
  int axis = 2;
  bool mirrored = false;

  Point2f operator()(const Vec3f& p) const {
    const Point2f q = drop_axis(p, axis);
    return mirrored ? Point2f{q.y, q.x} : q;
  }
};

View choose_view(const Vec3& normal) {
  const Vec3 size{std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)};
  const int axis = size.x > size.y && size.x > size.z ? 0 : size.y > size.z ? 1 : 2;
  return {axis, normal[static_cast<std::size_t>(axis)] < 0};
}

bool sees_all_from_first(std::span<const Vec3f> positions, Polygon polygon, const View& view) {
  const Point2f first = view(positions[polygon[0]]);
  Point2f last = view(positions[polygon[1]]);
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    const Point2f p = view(positions[polygon[i]]);
    if (orient2d(first, last, p) <= 0) return false;
    last = p;
  }
  return true;
}

// Ear clipping (G. H. Meisters 1975) over a ring of corners. A cut makes new ears only of its two
// neighbours (what lies inside the rest lay inside the whole), so a corner that failed waits until
// a neighbour is cut: at most 3 n tries of at most n points.
class EarClipper {
 public:
  EarClipper(std::span<const Vec3f> positions, Polygon polygon, const View& view)
      : polygon_(polygon),
        corners_(polygon.size()),
        left_(polygon.size()),
        budget_(std::min(kPointTestsPerPolygon, kPointTestsPerCorner * polygon.size())) {
    const auto count = static_cast<std::uint32_t>(polygon.size());
    for (std::uint32_t i = 0; i < count; ++i)
      corners_[i] = {view(positions[polygon[i]]), i == 0 ? count - 1 : i - 1,
                     i + 1 == count ? 0 : i + 1};
    for (std::uint32_t i = 0; i < count; ++i)
      if (turn(i) <= 0) blockers_.push_back({corners_[i].point.x, i});
    std::sort(blockers_.begin(), blockers_.end());
  }

  void run(std::vector<Triangle>& triangles) {
    std::uint32_t at = 0;
    std::size_t failures = 0;  // corners in a row that were no ears
    bool accept_flat = false;  // no ears are left: cut whatever does not turn right
    while (left_ > 3 && budget_ > 0) {
      if (failures > left_) {
        if (accept_flat) break;
        accept_flat = true;
        failures = 0;
      }
      if (accept_flat ? turn(at) >= 0 : is_ear(at)) {
        at = clip(at, triangles);  // the corner before: both that changed come next
        failures = 0;
        accept_flat = false;
      } else {
        ++failures;
        spend(1);
        at = corners_[at].next;
      }
    }
    append_rest(at, triangles);
  }

 private:
  struct Corner {
    Point2f point{};
    std::uint32_t previous = 0, next = 0;
    bool failed = false;  // was no ear, and its neighbours are still the same
    bool cut = false;
  };

  using Blocker = std::pair<float, std::uint32_t>;  // x, to be found by, and the corner

  int turn(std::uint32_t i) {
    const Corner& c = corners_[i];
    return side(corners_[c.previous].point, c.point, corners_[c.next].point);
  }

  // orient2d, paid for where it has to be exact: where doubles lose about all that they have.
  int side(const Point2f& a, const Point2f& b, const Point2f& c) {
    const double left = (double{a.x} - c.x) * (double{b.y} - c.y);
    const double right = (double{a.y} - c.y) * (double{b.x} - c.x);
    const double sum = std::abs(left) + std::abs(right);
    if (sum > 0 && std::abs(left - right) <= 0x1p-50 * sum) spend(kExactCost);
    return orient2d(a, b, c);
  }

  void spend(std::size_t tests) { budget_ -= std::min(budget_, tests); }

  // Only corners that do not turn left can be the first to lie in an ear. Points equal to a corner
  // of the ear do not count: polygons with bridges to their holes pass through a point twice.
  bool is_ear(std::uint32_t i) {
    if (corners_[i].failed) return false;
    corners_[i].failed = true;
    if (turn(i) <= 0) return false;
    const Point2f a = corners_[corners_[i].previous].point, b = corners_[i].point;
    const Point2f c = corners_[corners_[i].next].point;
    const float x_min = std::min({a.x, b.x, c.x}), x_max = std::max({a.x, b.x, c.x});
    const float y_min = std::min({a.y, b.y, c.y}), y_max = std::max({a.y, b.y, c.y});
    spend(1);
    auto it = std::lower_bound(blockers_.begin(), blockers_.end(), Blocker{x_min, 0});
    for (; it != blockers_.end() && it->first <= x_max; ++it) {
      spend(1);
      const Point2f p = corners_[it->second].point;
      if (p.y < y_min || p.y > y_max || corners_[it->second].cut) continue;
      if (p == a || p == b || p == c) continue;
      if (side(a, b, p) >= 0 && side(b, c, p) >= 0 && side(c, a, p) >= 0) return false;
      if (budget_ == 0) return false;
    }
    return true;
  }

  std::uint32_t clip(std::uint32_t i, std::vector<Triangle>& triangles) {
    Corner& c = corners_[i];
    triangles.push_back({polygon_[c.previous], polygon_[i], polygon_[c.next]});
    corners_[c.previous].next = c.next;
    corners_[c.next].previous = c.previous;
    corners_[c.previous].failed = corners_[c.next].failed = false;
    c.cut = true;
    --left_;
    // Halving the ring is the time to forget the blockers that are gone.
    if (left_ * 2 < left_at_purge_) {
      std::erase_if(blockers_, [&](const Blocker& j) { return corners_[j.second].cut; });
      left_at_purge_ = left_;
    }
    return c.previous;
  }

  void append_rest(std::uint32_t first, std::vector<Triangle>& triangles) const {
    std::uint32_t last = corners_[first].next;
    for (std::size_t k = 2; k < left_; ++k) {
      const std::uint32_t next = corners_[last].next;
      triangles.push_back({polygon_[first], polygon_[last], polygon_[next]});
      last = next;
    }
  }

  Polygon polygon_;
  std::vector<Corner> corners_;
  std::vector<Blocker> blockers_;  // ascending
  std::size_t left_;
  std::size_t left_at_purge_ = left_;
  std::size_t budget_;
};

}  // namespace

void triangulate_polygon(std::span<const Vec3f> positions, std::span<const std::uint32_t> polygon,
                         std::vector<Triangle>& triangles) {
  if (polygon.size() <= 3) return append_fan(polygon, triangles);
  if (polygon.size() == 4) return append_quad(positions, polygon, triangles);
  const Vec3 normal = newell_normal(positions, polygon);
  if (!is_finite(normal) || normal == Vec3{}) return append_fan(polygon, triangles);
  const View view = choose_view(normal);
  if (sees_all_from_first(positions, polygon, view)) return append_fan(polygon, triangles);
  EarClipper(positions, polygon, view).run(triangles);
}

}  // namespace isotact
