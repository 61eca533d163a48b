// The yes-or-no check of two bodies. Each step settles most of the pairs that are left:
//   * the boxes of both bodies;
//   * the triangles that touched in the last call;
//   * a plane between the convex hulls, by the method of Gilbert, Johnson and Keerthi (A Fast
//     Procedure for Computing the Distance Between Complex Objects in Three-Dimensional Space,
//     1988). Some corners of each hull, its outline, guide the search. A plane counts only if the
//     highest corner of all, from the hierarchy, is below it;
//   * both hierarchies, until a pair of triangles touches;
//   * a point of each part, for bodies inside of each other.
#include "isotact/queries/detail/exact_touch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/base/detail/lanes.h"

namespace isotact::detail {
namespace {

// ---- hulls --------------------------------------------------------------------------------------

// The corner of the outline that is highest along a direction.
std::size_t find_on_outline(const ExactBody& body, const Vec3& along) {
  using F = Lanes<float, 4>;
  const F x(static_cast<float>(along.x)), y(static_cast<float>(along.y)),
      z(static_cast<float>(along.z));
  F best(-std::numeric_limits<float>::infinity()), at(0.0F), here(0.0F);
  const std::size_t count = body.outline[0].size();
  for (std::size_t i = 0; i < count; i += 4) {
    const F height = load<F>(body.outline[0].data() + i) * x +
                     load<F>(body.outline[1].data() + i) * y +
                     load<F>(body.outline[2].data() + i) * z;
    const auto higher = height > best;
    best = select(higher, height, best);
    at = select(higher, here, at);
    here = here + F(1.0F);
  }
  float heights[4], places[4];
  store(best, heights);
  store(at, places);
  std::size_t lane = 0;
  for (std::size_t i = 1; i < 4; ++i)
    if (heights[i] > heights[lane]) lane = i;
  return static_cast<std::size_t>(places[lane]) * 4 + lane;
}

Vec3 outline_at(const ExactBody& body, std::size_t i) {
  return {double{body.outline[0][i]}, double{body.outline[1][i]}, double{body.outline[2][i]}};
}

// TouchCorners of the difference of both hulls, one to four.
struct Simplex {
  Vec3 corner[4]{};
  int count = 0;

  void set(std::initializer_list<Vec3> corners) {
    count = 0;
    for (const Vec3& c : corners) corner[count++] = c;
  }
};

// The point of a segment or triangle that is nearest to the origin (Ericson, Real-Time Collision
// Detection, 5.1.2 and 5.1.5). TouchCorners that it does not depend on are dropped.
Vec3 find_nearest_of_two(Simplex& s, const Vec3& a, const Vec3& b) {
  const Vec3 ab = b - a;
  const double along = -dot(a, ab), all = length_sq(ab);
  if (!(along > 0)) {
    s.set({a});
    return a;
  }
  if (along >= all) {
    s.set({b});
    return b;
  }
  s.set({a, b});
  return a + ab * (along / all);
}

Vec3 find_nearest_of_three(Simplex& s, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a;
  const double d1 = -dot(ab, a), d2 = -dot(ac, a);
  if (d1 <= 0 && d2 <= 0) return find_nearest_of_two(s, a, a);
  const double d3 = -dot(ab, b), d4 = -dot(ac, b);
  if (d3 >= 0 && d4 <= d3) return find_nearest_of_two(s, b, b);
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return find_nearest_of_two(s, a, b);
  const double d5 = -dot(ab, c), d6 = -dot(ac, c);
  if (d6 >= 0 && d5 <= d6) return find_nearest_of_two(s, c, c);
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return find_nearest_of_two(s, a, c);
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return find_nearest_of_two(s, b, c);
  s.set({a, b, c});
  const double sum = va + vb + vc;
  return sum > 0 ? a + ab * (vb / sum) + ac * (vc / sum) : a;
}

// The zero vector if the origin is inside of four corners.
Vec3 find_nearest(Simplex& s) {
  const Simplex all = s;
  const Vec3* c = all.corner;
  if (all.count == 1) return c[0];
  if (all.count == 2) return find_nearest_of_two(s, c[0], c[1]);
  if (all.count == 3) return find_nearest_of_three(s, c[0], c[1], c[2]);
  constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
  double least_sq = std::numeric_limits<double>::infinity();
  Vec3 best{};
  for (const auto& f : kFaces) {
    const Vec3 normal = cross(c[f[1]] - c[f[0]], c[f[2]] - c[f[0]]);
    const double of_origin = -dot(normal, c[f[0]]), of_rest = dot(normal, c[f[3]] - c[f[0]]);
    if (of_origin * of_rest > 0) continue;  // on the inner side
    Simplex face;
    const Vec3 near = find_nearest_of_three(face, c[f[0]], c[f[1]], c[f[2]]);
    if (length_sq(near) >= least_sq) continue;
    least_sq = length_sq(near);
    best = near;
    s = face;
  }
  return best;
}

// A search for a plane between two hulls, in A's frame.
class HullSearch {
 public:
  HullSearch(const ExactBody& a, const ExactBody& b, const Pose& a_from_b)
      : a_(a),
        b_(b),
        rotation_(to_matrix(a_from_b.rotation)),
        back_(transpose(rotation_)),
        offset_(a_from_b.translation) {}

  // Whether a plane leaves a gap of more than this. `apart`: a direction from A to B to begin with,
  // and the plane's in the end.
  bool are_apart(double gap, Vec3& apart) const {
    constexpr int kMostSteps = 20;
    Simplex simplex;
    Vec3 nearest = -apart;  // of A - B to the origin
    double last_sq = std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostSteps; ++step) {
      const double size = length(nearest);
      if (!(size > 0)) return false;
      const Vec3 along = nearest * (-1 / size);  // from A to B
      Vec3 corner = corner_on_outlines(along);
      if (-dot(along, corner) > gap) {  // or else the corner is one that the search needs anyway
        corner = corner_of_hulls(along);
        if (-dot(along, corner) > gap) {
          apart = along;
          return true;
        }
      }
      for (int i = 0; i < simplex.count; ++i)
        if (simplex.corner[i] == corner) return false;
      simplex.corner[simplex.count++] = corner;
      nearest = find_nearest(simplex);
      const double now_sq = length_sq(nearest);
      if (simplex.count == 4 || !(now_sq < last_sq * (1 - 1e-9))) return false;
      if (now_sq <= gap * gap) return false;  // the hulls are as near as that
      last_sq = now_sq;
    }
    return false;
  }

  // How far A's hull must move along a direction until it is past B's; by the outlines, at least.
  double overlap_of_outlines(const Vec3& along) const {
    return -dot(along, corner_on_outlines(-along));
  }
  double overlap_of_hulls(const Vec3& along) const { return -dot(along, corner_of_hulls(-along)); }

  Vec3 place(const Vec3& of_b) const { return rotation_ * of_b + offset_; }

 private:
  Vec3 corner_on_outlines(const Vec3& along) const {
    const Vec3 on_a = outline_at(a_, find_on_outline(a_, along));
    const Vec3 on_b = outline_at(b_, find_on_outline(b_, -(back_ * along)));
    return on_a - place(on_b);
  }
  Vec3 corner_of_hulls(const Vec3& along) const {
    const Vec3 in_b = -(back_ * along);
    const Vec3 on_a = find_highest(a_.triangles, along, outline_at(a_, find_on_outline(a_, along)));
    const Vec3 on_b = find_highest(b_.triangles, in_b, outline_at(b_, find_on_outline(b_, in_b)));
    return on_a - place(on_b);
  }

  const ExactBody &a_, &b_;
  Mat3 rotation_, back_;
  Vec3 offset_;
};

// ---- insides ------------------------------------------------------------------------------------

// Whether a part of one body lies inside of the other. Their surfaces share no point: one point
// tells of all others.
bool find_part_inside(const TouchBody& of, const TouchBody& in, const Pose& in_from_of,
                      Touch& found) {
  // What is inside of a ball, or of a capsule, is as near to its middle as touches already. What is
  // inside of an open mesh does not count as contact.
  if (in.body->radius > 0 || !is_closed(*in.shape)) return false;
  const Aabb box = to_double(in.body->triangles.bounds());
  for (const Vec3& part : of.body->parts) {
    const Vec3 x = transform_point(in_from_of, part);
    if (!contains(box, x)) continue;
    const ClosestPoint near = find_closest_point(in.body->triangles, to_float(x));
    const double distance = length(to_double(near.point) - x);
    if (!is_inside(*in.shape, x, distance)) continue;
    found = {.kind = TouchKind::kContained,
             .point_on_a = x,
             .point_on_b = to_double(near.point),
             .normal = {0, 1, 0},
             .depth = distance};
    if (distance > 0) found.normal = (found.point_on_b - x) * (1 / distance);
    // So near to the surface, rounding moves that direction.
    if (distance > 0x1p-16 * (in.body->size + length(x))) return true;
    const auto t = corners(*in.body->mesh, near.triangle);
    const Vec3 out = cross(to_double(t[1]) - to_double(t[0]), to_double(t[2]) - to_double(t[0]));
    if (!(length_sq(out) > 0)) return true;
    // Triangles may face inwards, and the surface may be that of a cavity.
    found.normal = normalized(out);
    const double step = 0x1p-15 * (in.body->size + length(x));
    const Vec3 beyond = to_double(near.point) + found.normal * step;
    const ClosestPoint next = find_closest_point(in.body->triangles, to_float(beyond));
    if (is_inside(*in.shape, beyond, length(to_double(next.point) - beyond)))
      found.normal = -found.normal;
    return true;
  }
  return false;
}

bool find_inside(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, Touch& found) {
  if (find_part_inside(b, a, a_from_b, found)) {  // its point is B's
    std::swap(found.point_on_a, found.point_on_b);
    found.normal = -found.normal;
    return true;
  }
  if (!find_part_inside(a, b, inverse(a_from_b), found)) return false;
  found.point_on_a = transform_point(a_from_b, found.point_on_a);
  found.point_on_b = transform_point(a_from_b, found.point_on_b);
  found.normal = transform_vector(a_from_b, found.normal);
  return true;
}

// Triangles that touch, or are as near as the margin.
Touch touch_of(const TouchBody& a, const TouchBody& b, const Pose& a_from_b,
               const MeshDistance& found) {
  const Vec3 apart = found.point_on_a - found.point_on_b;
  Touch touch{.kind = TouchKind::kSurfaces,
              .point_on_a = found.point_on_a,
              .point_on_b = found.point_on_b,
              .normal = choose_touch_normal(*a.body, *b.body, a_from_b, found).normal,
              .depth = 0};
  if (const double gap = length(apart); gap > 0) {
    touch.point_on_a -= touch.normal * a.body->radius;
    touch.point_on_b += touch.normal * b.body->radius;
    touch.depth = a.body->radius + b.body->radius - gap;
  }
  return touch;
}

// ---- normals where surfaces touch ---------------------------------------------------------------

using TouchCorners = std::array<Vec3, 3>;

// Directions along which two triangles may touch: the line of centres, both normals, the common
// normals of their edges, and the normals of edges in the planes of their triangles. The last ones
// serve where only the edges of two walls meet.
class TouchAxes {
 public:
  TouchAxes(const Vec3& centers, const TouchCorners& a, const TouchCorners& b) {
    add(centers);
    const Vec3 of_b = cross(b[1] - b[0], b[2] - b[0]), of_a = cross(a[1] - a[0], a[2] - a[0]);
    add(of_b);
    add(of_a);
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 edge = a[(i + 1) % 3] - a[i];
      for (std::size_t k = 0; k < 3; ++k) add(cross(edge, b[(k + 1) % 3] - b[k]));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      add(cross(of_a, a[(i + 1) % 3] - a[i]));
      add(cross(of_b, b[(i + 1) % 3] - b[i]));
    }
  }

  const Vec3* begin() const { return axes_.data(); }
  const Vec3* end() const { return axes_.data() + count_; }

  static constexpr std::size_t kMost = 1 + 2 + 9 + 6;

 private:
  void add(const Vec3& v) {
    if (const double size = length(v); size > 0) axes_[count_++] = v * (1 / size);
  }

  std::array<Vec3, kMost> axes_{};
  std::size_t count_ = 0;
};

std::pair<double, double> find_extent(const TouchCorners& t, const Vec3& along) {
  const double x = dot(along, t[0]), y = dot(along, t[1]), z = dot(along, t[2]);
  return {std::min({x, y, z}), std::max({x, y, z})};
}

}  // namespace

TouchBody::TouchBody(const Shape& of) : shape(&of), body(&exact_body(of)) {}

bool are_hulls_apart(const ExactBody& a, const ExactBody& b, const Pose& a_from_b) {
  if (a.triangles.nodes().empty() || b.triangles.nodes().empty()) return true;
  const double gap = PairTouch(a.triangles, b.triangles, a_from_b, 0).least_gap();
  Vec3 apart = transform_point(a_from_b, b.ball_center) - a.ball_center;
  return HullSearch(a, b, a_from_b).are_apart(gap, apart);
}

// Directions along which the two triangles do not overlap come first. There are none where they
// really cross: the least overlap decides then. Else that of the hulls decides. Along a plane
// between the bodies both are zero.
TouchNormal choose_touch_normal(const ExactBody& a, const ExactBody& b, const Pose& a_from_b,
                                const MeshDistance& found) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Vec3 apart = found.point_on_a - found.point_on_b;
  const double gap = length(apart), coordinates = a.size + b.size + length(a_from_b.translation) +
                                                  length(a.ball_center) + length(b.ball_center);
  const bool is_known = gap > 0x1p-36 * coordinates;  // else rounding moves the direction
  if (is_known) return {apart * (1 / gap), kInf};
  const double slack = 1e-7 * (a.size + b.size) + 0x1p-44 * coordinates;
  const HullSearch hulls(a, b, a_from_b);
  TouchCorners of_a, of_b;
  const auto a_at = corners(*a.mesh, found.triangle_a), b_at = corners(*b.mesh, found.triangle_b);
  for (std::size_t i = 0; i < 3; ++i) {
    of_a[i] = to_double(a_at[i]);
    of_b[i] = hulls.place(to_double(b_at[i]));
  }
  struct Candidate {
    Vec3 along{};
    double least = 0;  // overlap
  };
  std::array<Candidate, 2 * TouchAxes::kMost> candidates;
  std::size_t count = 0;
  TouchNormal best{gap > 0 ? apart * (1 / gap) : Vec3{0, 1, 0}, kInf};
  double least = kInf;
  for (const Vec3& axis : TouchAxes(a.ball_center - hulls.place(b.ball_center), of_a, of_b)) {
    const auto on_a = find_extent(of_a, axis), on_b = find_extent(of_b, axis);
    // How far A's triangle must move along the axis, or against it, until it is past B's.
    for (const auto& [along, overlap] :
         {std::pair{axis, on_b.second - on_a.first}, std::pair{-axis, on_a.second - on_b.first}}) {
      if (overlap <= slack) candidates[count++] = {along, 0};
      if (overlap >= least) continue;
      least = overlap;
      best.normal = along;
    }
  }
  if (count == 0) {
    // Triangles that cross overlap about as much against the direction as along it. The bodies do
    // not, unless one surrounds the other.
    if (hulls.overlap_of_outlines(-best.normal) < hulls.overlap_of_outlines(best.normal))
      best.normal = -best.normal;
    return best;
  }
  // The outlines are in the hulls.
  least = kInf;
  for (std::size_t i = 0; i < count; ++i) {
    Candidate& c = candidates[i];
    c.least = hulls.overlap_of_outlines(c.along);
    if (c.least >= least) continue;
    least = c.least;
    best.normal = c.along;
  }
  if (least > slack) return best;
  for (std::size_t i = 0; i < count; ++i) {
    Candidate& c = candidates[i];
    if (c.least > slack || c.least >= best.overlap - slack) continue;
    c.least = hulls.overlap_of_hulls(c.along);
    if (c.least < best.overlap - slack) best = {c.along, c.least};
  }
  return best;
}

namespace {

bool has_triangles(const TouchBody& body) { return !body.body->triangles.nodes().empty(); }

}  // namespace

TouchCheck::TouchCheck(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double margin,
                       TouchScratch& memory)
    : a_(a),
      b_(b),
      a_from_b_(a_from_b),
      memory_(memory),
      pair_(std::in_place, a.body->triangles, b.body->triangles, a_from_b,
            margin + a.body->radius + b.body->radius) {}

std::optional<TouchKind> TouchCheck::at_once() {
  if (!has_triangles(a_) || !has_triangles(b_)) return TouchKind::kFree;
  if (pair_->are_boxes_apart()) {
    memory_.touched = false;
    return TouchKind::kFree;
  }
  if (!memory_.touched || !pair_->touches_at(memory_.last)) return {};
  found_.kind = TouchKind::kSurfaces;
  return found_.kind;
}

bool TouchCheck::are_hulls_apart() {
  apart_ = memory_.apart;
  if (length_sq(apart_) == 0)
    apart_ = transform_point(a_from_b_, b_.body->ball_center) - a_.body->ball_center;
  if (!HullSearch(*a_.body, *b_.body, a_from_b_).are_apart(pair_->least_gap(), apart_))
    return false;
  memory_.apart = apart_;
  memory_.touched = false;
  return true;
}

TouchKind TouchCheck::by_triangles() {
  memory_.touched = pair_->find(apart_);
  if (memory_.touched) {
    memory_.last = pair_->hint();
    found_.kind = TouchKind::kSurfaces;
  } else {
    find_inside(a_, b_, a_from_b_, found_);
  }
  return found_.kind;
}

Touch TouchCheck::describe() {
  if (found_.kind == TouchKind::kSurfaces) return touch_of(a_, b_, a_from_b_, pair_->found());
  return found_;
}

Touch find_touch(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double margin,
                 TouchScratch& memory) {
  TouchCheck check(a, b, a_from_b, margin, memory);
  std::optional<TouchKind> kind = check.at_once();
  if (!kind) kind = check.are_hulls_apart() ? TouchKind::kFree : check.by_triangles();
  return *kind == TouchKind::kFree ? Touch{} : check.describe();
}

// Plain fields have the sign of the body wherever they are further from zero than their error
// (bound_by_value). Bodies that are grown by a radius have none.
bool can_prove_crossing(const TouchBody& of, const TouchBody& in) {
  return of.body->radius == 0 && in.body->radius == 0 && has_sided_field(*in.shape) &&
         is_closed(*in.shape) && (of.body->parts.size() == 1 || !of.body->part_of.empty());
}

// A part of a surface is in one piece: a path on it leads from the point inside to the point
// outside. Somewhere it leaves the inside of the other body, which is closed: there is a triangle.
bool proves_crossing(const TouchBody& of, const Vec3& near_surface, const TouchBody& in,
                     const Pose& in_from_of) {
  const ExactBody& body = *of.body;
  const BrickField& field = in.shape->brick_field();
  const ClosestPoint on_triangle = find_closest_point(body.triangles, to_float(near_surface));
  // Points are rounded to float.
  const double rounding =
      0x1p-20 * (body.size + length(body.ball_center)) + 0x1p-44 * length(in_from_of.translation);
  const double error = static_cast<double>(field.header().near_error) + rounding;
  // Bounds are tighter near the surface, and wide far from it.
  const Vec3 point = transform_point(in_from_of, to_double(on_triangle.point));
  if (!(field.value(point) < -error) && !(field.distance_bounds(point).upper < -rounding))
    return false;
  const auto is_outside = [&](const Vec3& corner) {
    const Vec3 x = transform_point(in_from_of, corner);
    return field.value(x) > error || field.distance_bounds(x).lower > rounding;
  };
  if (!body.part_of.empty()) {
    const auto& corners_of_part = body.part_corners[body.part_of[on_triangle.triangle]];
    return std::any_of(corners_of_part.begin(), corners_of_part.end(),
                       [&](const Vec3f& corner) { return is_outside(to_double(corner)); });
  }
  // The corner furthest from the other body.
  const Vec3 to_other = transform_point(inverse(in_from_of), in.body->ball_center);
  return is_outside(outline_at(body, find_on_outline(body, body.ball_center - to_other)));
}

Contact to_contact(const Touch& touch, const Pose& world_from_a) {
  const Vec3 on_a = transform_point(world_from_a, touch.point_on_a),
             on_b = transform_point(world_from_a, touch.point_on_b);
  return {.position = (on_a + on_b) * 0.5,
          .point_on_a = on_a,
          .point_on_b = on_b,
          .normal = transform_vector(world_from_a, touch.normal),
          .depth = touch.depth};
}

}  // namespace isotact::detail
