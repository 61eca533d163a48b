// The checker's claim for a cell and an interval: all triangles of the cell stay apart from all of
// the fixed body. It descends two trees of boxes and drops a pair if the boxes, or in the end the
// triangles, stay apart.
//
// Why a dropped pair of triangles stays apart. Take nearest points of both at the middle time, and
// the unit vector n between them. At a single time, the distance is at least the gap along n: the
// least n . x of one triangle's corners less the greatest of the other one's. (At the middle time
// this is their exact distance.) A corner's path is at most bend T^2 / 8 away from its chord, on
// which n . x is linear in time. So over the interval the gap is at least the smaller one of those
// at both ends, less that bound. It holds for any n: near points that are rounded give a smaller
// gap, never a wrong one. Where rounding spoils the direction, normals and cross products of edges
// are tried. Boxes are told apart in the same manner, along the three axes and one more line.
//
// Rounding. With u = 2^-53, e the error of a position (certificate_path.cpp), R the distance of the
// furthest moved corner from the fixed frame's origin and F that of the fixed body's, dot products
// with a unit vector are off by 3u R and 3u F, the vector's length by 4u, differences by u. A box's
// middle and half sizes, and their sums with magnitudes of a row, are off by less than 16u R.
// Weights of near points are off by less than 16u of the triangles' sizes. In all, less than
// e + 32u (R + F) per gap or distance: this is rounding().
#include "isotact/queries/certificate/detail/certificate_proof.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "isotact/base/disjoint_sets.h"

namespace isotact::detail {
namespace {

constexpr double kDown = 1 - 16 * kRoundoff, kUp = 1 + 16 * kRoundoff;

ProofCorners corners_in_double(const TriangleMesh& mesh, std::uint32_t triangle) {
  const auto c = corners(mesh, triangle);
  return {to_double(c[0]), to_double(c[1]), to_double(c[2])};
}

Aabb box_around(const ProofCorners& c) {
  return {min(c[0], min(c[1], c[2])), max(c[0], max(c[1], c[2]))};
}

// The furthest that a point of a box can be from the origin.
double reach_of(const Aabb& box) { return length(max(box.lower * -1.0, max(box.upper, {}))) * kUp; }

ProofCorners placed(const AffineMap& map, const ProofCorners& c) {
  return {map * c[0], map * c[1], map * c[2]};
}

// A box's image lies in one whose half sizes are the sums of the magnitudes of rows.
Aabb placed(const AffineMap& map, const Aabb& box) {
  const Vec3 middle = map * center(box), half = extent(box) * 0.5;
  Vec3 reach{};
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3& row = map.linear.rows[i];
    reach[i] = std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
  }
  return {middle - reach, middle + reach};
}

double gap_between(const Aabb& a, const Aabb& b) {
  return length(max(max(a.lower - b.upper, b.lower - a.upper), {}));
}

double least_along(const Vec3& n, const ProofCorners& c) {
  return std::min({dot(n, c[0]), dot(n, c[1]), dot(n, c[2])});
}

// ---- near points --------------------------------------------------------------------------------

struct PairOfPoints {
  double distance_sq = std::numeric_limits<double>::infinity();
  NearPoints points{};

  void take(const Vec3& a, const Vec3& b) {
    const double d = length_sq(a - b);
    if (d < distance_sq) *this = {d, {a, b}};
  }
};

double share_of(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
}

Vec3 near_point_on_segment(const Vec3& p, const Vec3& from, const Vec3& to) {
  const Vec3 d = to - from;
  return from + d * share_of(dot(p - from, d), length_sq(d));
}

// The foot of the perpendicular if it is inside, else the nearest point of an edge.
Vec3 near_point_on_triangle(const Vec3& p, const ProofCorners& t) {
  const Vec3 n = cross(t[1] - t[0], t[2] - t[0]);
  double weight[3];
  bool is_inside = length_sq(n) > 0;
  for (std::size_t i = 0; i < 3 && is_inside; ++i) {
    const Vec3 &from = t[(i + 1) % 3], &to = t[(i + 2) % 3];
    weight[i] = dot(n, cross(to - from, p - from));
    is_inside = weight[i] >= 0;
  }
  if (is_inside) {
    const double sum = weight[0] + weight[1] + weight[2];
    const double v = share_of(weight[1], sum), w = std::min(share_of(weight[2], sum), 1 - v);
    return t[0] + (t[1] - t[0]) * v + (t[2] - t[0]) * w;
  }
  PairOfPoints best;
  for (std::size_t i = 0; i < 3; ++i) best.take(p, near_point_on_segment(p, t[i], t[(i + 1) % 3]));
  return best.points.on_b;
}

void take_edges(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1,
                PairOfPoints& best) {
  const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = length_sq(u), vv = length_sq(v), uv = dot(u, v);
  const double s = share_of(uv * dot(v, w) - vv * dot(u, w), uu * vv - uv * uv);
  const Vec3 on_b = near_point_on_segment(a0 + u * s, b0, b1);
  best.take(near_point_on_segment(on_b, a0, a1), on_b);
}

// Where an edge passes through the plane of the other triangle.
void take_crossing(const Vec3& from, const Vec3& to, const ProofCorners& face, bool edge_is_of_a,
                   PairOfPoints& best) {
  const Vec3 n = cross(face[1] - face[0], face[2] - face[0]);
  const double start = dot(n, from - face[0]), end = dot(n, to - face[0]);
  if (!((start <= 0) != (end <= 0))) return;
  const Vec3 on_edge =
      from + (to - from) * share_of(std::abs(start), std::abs(start) + std::abs(end));
  const Vec3 on_face = near_point_on_triangle(on_edge, face);
  edge_is_of_a ? best.take(on_edge, on_face) : best.take(on_face, on_edge);
}

}  // namespace

NearPoints find_near_points(const ProofCorners& a, const ProofCorners& b) {
  PairOfPoints best;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 &a0 = a[i], &a1 = a[(i + 1) % 3], &b0 = b[i], &b1 = b[(i + 1) % 3];
    best.take(a0, near_point_on_triangle(a0, b));
    best.take(near_point_on_triangle(b0, a), b0);
    take_crossing(a0, a1, b, true, best);
    take_crossing(b0, b1, a, false, best);
    for (std::size_t k = 0; k < 3; ++k) take_edges(a0, a1, b[k], b[(k + 1) % 3], best);
  }
  return best.points;
}

std::vector<std::uint32_t> finite_triangles(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (is_finite(c[0]) && is_finite(c[1]) && is_finite(c[2])) found.push_back(i);
  }
  return found;
}

// ---- trees --------------------------------------------------------------------------------------

ProofTree::ProofTree(const TriangleMesh& mesh, const std::vector<std::uint32_t>& triangles) {
  if (triangles.empty()) return;
  struct Item {
    Vec3 middle;
    std::uint32_t triangle;
  };
  std::vector<Item> items;
  items.reserve(triangles.size());
  for (const std::uint32_t t : triangles)
    items.push_back({center(box_around(corners_in_double(mesh, t))), t});
  constexpr std::uint32_t kMostInLeaf = 4;
  nodes_.push_back({.end = static_cast<std::uint32_t>(items.size())});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node node = nodes_[i];
    Aabb middles;
    for (std::uint32_t k = node.begin; k < node.end; ++k) {
      extend(node.box, box_around(corners_in_double(mesh, items[k].triangle)));
      extend(middles, items[k].middle);
    }
    if (node.end - node.begin > kMostInLeaf) {
      // By the middle of the list: both halves have triangles, and the depth is a logarithm.
      const Vec3 e = extent(middles);
      const std::size_t axis = e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
      const std::uint32_t half = (node.begin + node.end) / 2;
      const auto at = [&](std::uint32_t k) {
        return items.begin() + static_cast<std::ptrdiff_t>(k);
      };
      std::nth_element(at(node.begin), at(half), at(node.end), [&](const Item& s, const Item& t) {
        const double of_s = s.middle[axis], of_t = t.middle[axis];
        return of_s != of_t ? of_s < of_t : s.triangle < t.triangle;
      });
      node.first_child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({.begin = node.begin, .end = half});
      nodes_.push_back({.begin = half, .end = node.end});
    }
    nodes_[i] = node;
  }
  corners_.reserve(items.size());
  for (const Item& item : items) corners_.push_back(corners_in_double(mesh, item.triangle));
}

// ---- apart for an interval ----------------------------------------------------------------------

ApartProof::ApartProof(const TriangleMesh& fixed, const TriangleMesh& divided,
                       const CertificatePath& path)
    : fixed_mesh_(fixed),
      divided_mesh_(divided),
      path_(path),
      fixed_(fixed, finite_triangles(fixed)) {
  Aabb box;
  for (const std::uint32_t t : finite_triangles(divided))
    extend(box, box_around(corners_in_double(divided, t)));
  const double reach = is_empty(box) ? 0 : reach_of(box);
  const double reach_of_fixed = fixed_.is_empty() ? 0 : reach_of(fixed_.nodes()[0].box);
  // path.error(r) / kRoundoff is at least r plus what translations add: it bounds R as well.
  rounding_ = (path.error(reach) * (1 + 0x1p-3) + 32 * kRoundoff * reach_of_fixed) * kUp;
}

double ApartProof::slack_of(const Vec3& middle, double radius, const Moment& moment) const {
  const double furthest = (length(middle - path_.pivot()) + radius) * kUp;
  return (path_.bend(furthest) * moment.bend_time + rounding_) * kUp;
}

const ApartProof::SweptBox& ApartProof::swept_box(const ProofTree& cell, std::uint32_t node,
                                                  const Moment& moment) {
  SweptBox& swept = swept_[node];
  if (swept.stamp == stamp_) return swept;
  const Aabb& box = cell.nodes()[node].box;
  swept.box = placed(moment.from, box);
  extend(swept.box, placed(moment.to, box));
  swept.middle = placed(moment.middle, box);
  swept.slack = slack_of(center(box), length(extent(box)) * 0.5, moment);
  swept.stamp = stamp_;
  return swept;
}

bool ApartProof::holds(const ProofTree& cell, const CertificateInterval& time, double clearance,
                       std::uint64_t max_tests) {
  if (cell.is_empty() || fixed_.is_empty()) return true;
  const double duration = (time.to - time.from) * kUp;
  const Moment moment{path_.at(time.from), path_.at(time.to),
                      path_.at(time.from + (time.to - time.from) / 2),
                      duration * duration * (kUp / 8)};
  ++stamp_;
  if (swept_.size() < cell.nodes().size()) swept_.resize(cell.nodes().size());
  if (failed_ && failed_->of_divided < cell.size() &&
      !pair_holds(cell, failed_->of_divided, failed_->of_fixed, moment, clearance))
    return false;
  open_.assign(1, {0, 0});
  while (!open_.empty()) {
    const auto [of_cell, of_fixed] = open_.back();
    open_.pop_back();
    if (max_tests > 0 && tests_ >= max_tests) return false;
    ++tests_;
    const SweptBox& swept = swept_box(cell, of_cell, moment);
    const ProofTree::Node &c = cell.nodes()[of_cell], &f = fixed_.nodes()[of_fixed];
    const double needed = (clearance + swept.slack) * kUp;
    if (gap_between(swept.box, f.box) * kDown > needed ||
        boxes_hold(c.box, swept, f.box, moment, needed))
      continue;
    if (c.first_child == 0 && f.first_child == 0) {
      if (!leaves_hold(cell, of_cell, of_fixed, moment, clearance)) return false;
    } else if (f.first_child == 0 ||
               (c.first_child != 0 && length_sq(extent(c.box)) > length_sq(extent(f.box)))) {
      for (std::uint32_t i = 0; i < 2; ++i) open_.push_back({c.first_child + i, of_fixed});
    } else {
      for (std::uint32_t i = 0; i < 2; ++i) open_.push_back({of_cell, f.first_child + i});
    }
  }
  return true;
}

// Along the line between both boxes at the middle time, as corners of triangles below.
bool ApartProof::boxes_hold(const Aabb& of_cell, const SweptBox& swept, const Aabb& of_fixed,
                            const Moment& moment, double needed) {
  Vec3 line =
      max(swept.middle.lower - of_fixed.upper, {}) - max(of_fixed.lower - swept.middle.upper, {});
  if (length_sq(line) == 0) line = center(swept.middle) - center(of_fixed);
  const double size = length(line);
  if (!(size > 1e-150)) return false;
  const Vec3 n = line * (1 / size), half = extent(of_cell) * 0.5,
             half_fixed = extent(of_fixed) * 0.5;
  double least = std::numeric_limits<double>::infinity();
  for (const AffineMap* map : {&moment.from, &moment.to}) {
    const Vec3 turned = transpose(map->linear) * n;
    const double reach =
        std::abs(turned.x) * half.x + std::abs(turned.y) * half.y + std::abs(turned.z) * half.z;
    least = std::min(least, dot(n, *map * center(of_cell)) - reach);
  }
  const double most = dot(n, center(of_fixed)) + std::abs(n.x) * half_fixed.x +
                      std::abs(n.y) * half_fixed.y + std::abs(n.z) * half_fixed.z;
  return (least - most) * kDown > needed;
}

bool ApartProof::leaves_hold(const ProofTree& cell, std::uint32_t node, std::uint32_t of_fixed,
                             const Moment& moment, double clearance) {
  const ProofTree::Node &c = cell.nodes()[node], &f = fixed_.nodes()[of_fixed];
  for (std::uint32_t i = c.begin; i < c.end; ++i)
    for (std::uint32_t k = f.begin; k < f.end; ++k)
      if (!pair_holds(cell, i, k, moment, clearance)) {
        failed_ = {.of_fixed = k, .of_divided = i};
        return false;
      }
  return true;
}

bool ApartProof::pair_holds(const ProofTree& cell, std::uint32_t of_divided, std::uint32_t of_fixed,
                            const Moment& moment, double clearance) {
  ++tests_;
  const ProofCorners &d = cell.corners(of_divided), &f = fixed_.corners(of_fixed);
  const ProofCorners d0 = placed(moment.from, d), d1 = placed(moment.to, d);
  double radius = 0;
  for (const Vec3& c : d) radius = std::max(radius, length(c - path_.pivot()));
  const double needed = (clearance + slack_of(path_.pivot(), radius, moment)) * kUp;
  Aabb swept = box_around(d0);
  extend(swept, box_around(d1));
  if (gap_between(swept, box_around(f)) * kDown > needed) return true;
  // Along a direction, whatever its sign. It is made a unit one here.
  const auto is_apart_along = [&](const Vec3& direction) {
    const double size = length(direction);
    if (!(size > 1e-150)) return false;
    const Vec3 n = direction * (1 / size), back = -n;
    const double gap =
        std::max(std::min(least_along(n, d0), least_along(n, d1)) + least_along(back, f),
                 std::min(least_along(back, d0), least_along(back, d1)) + least_along(n, f));
    return gap * kDown > needed;
  };
  const Vec3 across_f = cross(f[1] - f[0], f[2] - f[0]);
  if (is_apart_along(across_f)) return true;
  const ProofCorners middle = placed(moment.middle, d);
  const NearPoints near = find_near_points(f, middle);
  if (is_apart_along(near.on_b - near.on_a)) return true;
  const Vec3 across_d = cross(middle[1] - middle[0], middle[2] - middle[0]);
  if (is_apart_along(across_d)) return true;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 of_f = f[(i + 1) % 3] - f[i], of_d = middle[(i + 1) % 3] - middle[i];
    if (is_apart_along(cross(across_f, of_f)) || is_apart_along(cross(across_d, of_d))) return true;
    for (std::size_t k = 0; k < 3; ++k)
      if (is_apart_along(cross(of_f, middle[(k + 1) % 3] - middle[k]))) return true;
  }
  return false;
}

double ApartProof::bound_distance(std::uint32_t of_fixed, std::uint32_t of_divided,
                                  double time) const {
  const NearPoints near =
      find_near_points(corners_in_double(fixed_mesh_, of_fixed),
                       placed(path_.at(time), corners_in_double(divided_mesh_, of_divided)));
  return (length(near.on_a - near.on_b) + rounding_) * kUp;
}

double ApartProof::touch_tolerance(const CertificateMotion& motion) const {
  double reach = 0;
  for (const BodyMotion* body : {&motion.a, &motion.b})
    reach += length(body->to.translation - body->from.translation);
  for (const TriangleMesh* mesh : {&fixed_mesh_, &divided_mesh_}) {
    Aabb box;
    for (const std::uint32_t t : finite_triangles(*mesh))
      for (const Vec3f& p : corners(*mesh, t)) extend(box, to_double(p));
    reach += length(extent(box));
  }
  return 0x1p-30 * reach + 4 * rounding_;
}

// ---- inside -------------------------------------------------------------------------------------

// Vertices at one place are one vertex; -0 is 0.
ProofSolid::ProofSolid(const TriangleMesh& mesh) : mesh_(mesh), finite_(finite_triangles(mesh)) {
  struct Place {
    std::array<float, 3> position;
    std::uint32_t corner;  // 3 times the place in finite_, and 0 to 2

    bool operator<(const Place& other) const { return position < other.position; }
  };
  std::vector<Place> places;
  places.reserve(3 * finite_.size());
  for (const std::uint32_t t : finite_)
    for (const Vec3f& p : isotact::corners(mesh, t)) {
      places.push_back(
          {{p.x + 0.0F, p.y + 0.0F, p.z + 0.0F}, static_cast<std::uint32_t>(places.size())});
      extend(box_, to_double(p));
    }
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> vertices(places.size());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && places[i].position != places[i - 1].position) ++count;
    vertices[places[i].corner] = count;
  }
  DisjointSets sets(std::size_t{count} + 1);
  std::vector<std::array<std::uint32_t, 3>> edges;  // lower vertex, higher one, direction
  edges.reserve(3 * finite_.size());
  for (std::size_t t = 0; t < finite_.size(); ++t) {
    const std::uint32_t* const v = &vertices[3 * t];
    sets.join(v[0], v[1]);
    sets.join(v[0], v[2]);
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t from = v[i], to = v[(i + 1) % 3];
      if (from != to)
        edges.push_back({std::min(from, to), std::max(from, to), from < to ? 1U : 0U});
    }
  }
  std::sort(edges.begin(), edges.end());
  is_closed_ = !edges.empty();
  for (std::size_t i = 0; i < edges.size();) {
    std::int64_t balance = 0;
    const std::size_t first = i;
    for (; i < edges.size() && edges[i][0] == edges[first][0] && edges[i][1] == edges[first][1];
         ++i)
      balance += edges[i][2] == 1 ? 1 : -1;
    is_closed_ = is_closed_ && balance == 0;
  }
  constexpr std::size_t kFew = 32;
  std::map<std::uint32_t, std::vector<std::uint32_t>> parts;
  for (std::size_t t = 0; t < finite_.size(); ++t) {
    auto& part = parts[sets.find(vertices[3 * t])];
    if (part.size() < kFew) part.push_back(finite_[t]);
  }
  for (auto& [root, part] : parts) parts_.push_back(std::move(part));
}

// The sum of solid angles (van Oosterom and Strackee 1983), each 2 atan2(det, den). A corner's
// vector from the point is off by s, so that both arguments are off by at most E = 4 s (|a||b| +
// |b||c| + |c||a|) + 32u |a||b||c|, and the angle by 2 * 2.3 E / |(det, den)|, if that is large
// beside E. Where den < 0, the angle jumps by 4 pi as det changes its sign: E must not allow this.
std::optional<bool> ProofSolid::is_inside(const Vec3& point, double error) const {
  if (distance_sq(box_, point) > error * error) return false;
  double sum = 0, off = 0;
  for (const std::uint32_t t : finite_) {
    ++tests_;
    const ProofCorners c = corners_in_double(mesh_, t);
    const Vec3 x = c[0] - point, y = c[1] - point, z = c[2] - point;
    const double a = length(x), b = length(y), l = length(z);
    const double s = error + kRoundoff * (a + b + l);
    const double det = dot(x, cross(y, z));
    const double den = a * b * l + dot(x, y) * l + dot(y, z) * a + dot(z, x) * b;
    const double e = 4 * s * (a * b + b * l + l * a) + 32 * kRoundoff * a * b * l;
    const double size = std::sqrt(det * det + den * den);
    if (!(size > 4 * e) || (den < 2 * e && std::abs(det) <= 2 * e)) return std::nullopt;
    sum += 2 * angle_of(det, den);
    off += 5 * e / size + 32 * kRoundoff;
  }
  const double winding = sum / (4 * kPi);
  const double nearest = std::round(winding);
  if (!(std::abs(winding - nearest) + off / (4 * kPi) < 0.5)) return std::nullopt;
  return nearest != 0;
}

// At the beginning all models have rigid poses, with rows orthonormal to 128u.
std::optional<bool> is_corner_inside(const ProofSolid& inner, const ProofSolid& outer,
                                     std::uint32_t triangle, const CertificatePath& path,
                                     bool inner_is_divided) {
  const AffineMap map = path.at(0);
  const Vec3 p = to_double(isotact::corners(inner.mesh(), triangle)[0]);
  const double error = 2 * path.error(length(p));
  return outer.is_inside(inner_is_divided ? map * p : transpose(map.linear) * (p - map.offset),
                         error);
}

ContainedResult find_contained(const ProofSolid& a, const ProofSolid& b,
                               const CertificatePath& path, Body divided) {
  ContainedResult answer;
  for (const Body body : {Body::kA, Body::kB}) {
    const ProofSolid &inner = body == Body::kA ? a : b, &outer = body == Body::kA ? b : a;
    if (!outer.is_closed()) continue;
    for (const std::vector<std::uint32_t>& part : inner.parts()) {
      std::optional<bool> is_inside;
      for (std::size_t i = 0; i < part.size() && !is_inside; ++i) {
        is_inside = is_corner_inside(inner, outer, part[i], path, body == divided);
        if (is_inside == true) answer.corner = {body, part[i]};
      }
      if (answer.corner) return answer;
      answer.is_clear = answer.is_clear && is_inside.has_value();
    }
  }
  return answer;
}

}  // namespace isotact::detail
