// Exact distances: the triangles decide. Where bodies overlap, the deepest point of either surface
// inside of the other body is searched for.
#include "isotact/queries/detail/exact_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/detail/exact_body.h"

namespace isotact::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Depths are found to this share of the bodies' size. Closest points are rounded to float, which
// moves them by less than 2^-22 of the coordinates.
constexpr double kDepthTolerance = 1e-6;

struct Side {
  const Shape& shape;
  const ExactBody& body;
  Pose world_from_body;
};

// ---- overlaps ---------------------------------------------------------------------------------

struct Deepest {
  double depth = 0;  // metres; 0 if no point is inside
  double bound = 0;  // metres; no point is deeper
  Vec3 point{};      // of the surface, and the nearest point of the other one, in the other's frame
  Vec3 nearest{};
};

// The deepest point of a surface inside of another body, by branch and bound. The boxes of the
// surface's hierarchy, its triangles, and halves of them are pieces with a middle c and a radius r.
// Let q be the point of the other surface that is nearest to c, D away.
//   * D > r: no point of the piece is on the other surface, and c tells on which side all are.
//     Outside, the piece is done.
//   * No point x of the piece is deeper than its distance from the triangle of q. That is a convex
//     function of x, so it is largest at a corner: a bound that comes nearer to the truth with the
//     square of the piece's size.
class DeepestSearch {
 public:
  // Only depths above `at_least` are searched for.
  DeepestSearch(const Side& surface, const Side& other, double at_least)
      : mesh_(surface.body.triangles),
        other_(other),
        other_from_surface_(inverse(other.world_from_body) * surface.world_from_body),
        tolerance_(kDepthTolerance * (surface.body.size + other.body.size)),
        // Of closest points, and of corners in the other's frame.
        slack_(0x1p-21 *
               (surface.body.size + length(center(to_double(mesh_.bounds()))) +
                length(other_from_surface_.translation) +
                length(center(to_double(other.body.triangles.bounds()))) + other.body.size)) {
    tolerance_ = std::max(tolerance_, 2 * slack_);  // so that it ends
    best_.depth = at_least;
  }

  // Points of the surface, in the world's frame, that are likely deep.
  void begin_at(const Vec3& in_world) {
    const Vec3 point = transform_point(inverse(other_.world_from_body), in_world);
    find_bound({&point, 1}, point, true);
  }

  Deepest run() {
    push_node(0);
    while (!pieces_.empty() && pieces_.top().bound > best_.depth + tolerance_) {
      const Piece piece = pieces_.top();
      pieces_.pop();
      if (piece.is_triangle)
        halve(piece);
      else if ((piece.child & kBlockBit) == 0)
        push_node(piece.child);
      else
        push_block(piece.child & ~kBlockBit);
    }
    best_.bound = best_.depth + tolerance_;
    return best_;
  }

 private:
  struct Piece {
    double bound;  // no point is deeper
    bool is_triangle;
    std::uint32_t child;
    Vec3 corner[3];

    bool operator<(const Piece& other) const { return bound < other.bound; }
  };

  Vec3 place(float x, float y, float z) const {
    return transform_point(other_from_surface_, {double{x}, double{y}, double{z}});
  }

  // Whether the piece may be deeper than what was found, and by how much. `corners` hold it.
  double find_bound(std::span<const Vec3> corners, const Vec3& c, bool is_on_surface) {
    double radius_sq = 0;
    for (const Vec3& v : corners) radius_sq = std::max(radius_sq, length_sq(v - c));
    const ClosestPoint near = find_closest_point(other_.body.triangles, to_float(c));
    const Vec3 q = to_double(near.point);
    const double distance = length(q - c);
    const bool is_apart = distance > std::sqrt(radius_sq) + slack_;
    double bound_sq = 0;
    const auto t = isotact::corners(*other_.body.mesh, near.triangle);
    for (const Vec3& v : corners)
      bound_sq = std::max(
          bound_sq, find_closest_point_on_triangle(to_float(v), t[0], t[1], t[2]).distance_sq);
    const double bound = std::sqrt(bound_sq) + slack_;
    if (bound <= best_.depth + tolerance_) return 0;
    if (!is_apart && !is_on_surface) return bound;
    if (!is_inside(other_.shape, c, distance)) return is_apart ? 0 : bound;
    if (is_on_surface && distance > best_.depth)
      best_ = {.depth = distance, .bound = 0, .point = c, .nearest = q};
    return bound;
  }

  void push(const Piece& piece) {
    if (piece.bound > best_.depth + tolerance_) pieces_.push(piece);
  }

  void push_node(std::uint32_t index) {
    const BvhNode& node = mesh_.nodes()[index];
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      Vec3 corners[8];
      for (unsigned k = 0; k < 8; ++k)
        corners[k] = place((k & 1U ? node.upper : node.lower)[0][i],
                           (k & 2U ? node.upper : node.lower)[1][i],
                           (k & 4U ? node.upper : node.lower)[2][i]);
      const double bound = find_bound(corners, (corners[0] + corners[7]) * 0.5, false);
      push({.bound = bound, .is_triangle = false, .child = node.child[i], .corner = {}});
    }
  }

  void push_block(std::uint32_t index) {
    const TriangleBlock& block = mesh_.blocks()[index];
    for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane) {
      Vec3 c[3];
      for (int k = 0; k < 3; ++k)
        c[k] = place(block.corner[k][0][lane], block.corner[k][1][lane], block.corner[k][2][lane]);
      push_triangle(c[0], c[1], c[2]);
    }
  }

  void push_triangle(const Vec3& a, const Vec3& b, const Vec3& c) {
    Piece piece{.bound = 0, .is_triangle = true, .child = 0, .corner = {a, b, c}};
    piece.bound = find_bound(piece.corner, (a + b + c) * (1.0 / 3), true);
    push(piece);
  }

  void halve(const Piece& p) {
    std::size_t longest = 0;
    double most = -1;
    for (std::size_t k = 0; k < 3; ++k)
      if (const double l = length_sq(p.corner[(k + 1) % 3] - p.corner[k]); l > most) {
        most = l;
        longest = k;
      }
    const Vec3 &a = p.corner[longest], &b = p.corner[(longest + 1) % 3],
               &c = p.corner[(longest + 2) % 3];
    const Vec3 middle = (a + b) * 0.5;
    push_triangle(a, middle, c);
    push_triangle(middle, b, c);
  }

  const Bvh& mesh_;
  const Side& other_;
  Pose other_from_surface_;
  double tolerance_, slack_;
  Deepest best_{};
  std::priority_queue<Piece> pieces_;
};

// ---- results ------------------------------------------------------------------------------------

void set_witnesses(DistanceResult& result, const Vec3& on_a, const Vec3& on_b, const Vec3& b_to_a) {
  Contact& c = result.contact;
  c.point_on_a = on_a;
  c.point_on_b = on_b;
  c.position = (on_a + on_b) * 0.5;
  c.normal = length_sq(b_to_a) > 0 ? normalized(b_to_a) : Vec3{0, 1, 0};
  c.depth = -result.distance;
}

// A half-space and a body with triangles.
DistanceResult compute_to_plane(const Side& plane, const Side& body, bool plane_is_a) {
  const Pose plane_from_body = inverse(plane.world_from_body) * body.world_from_body;
  const PlaneField& p = *plane.body.half_space;
  double least = kInfinity;
  Vec3 lowest{};
  for (const TriangleBlock& block : body.body.triangles.blocks())
    for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
      for (const auto& corner : block.corner) {
        const Vec3 x = transform_point(
            plane_from_body,
            {double{corner[0][lane]}, double{corner[1][lane]}, double{corner[2][lane]}});
        if (const double value = p.value(x); value < least) {
          least = value;
          lowest = x;
        }
      }
  DistanceResult result;
  result.exact = true;
  result.distance = result.lower_bound = result.upper_bound = least - body.body.radius;
  result.touching = result.distance <= 0;
  const Vec3 on_body = transform_point(plane.world_from_body, lowest - p.normal * body.body.radius);
  const Vec3 on_plane = transform_point(plane.world_from_body, lowest - p.normal * least);
  const Vec3 up = rotate(plane.world_from_body.rotation, p.normal);
  set_witnesses(result, plane_is_a ? on_plane : on_body, plane_is_a ? on_body : on_plane,
                plane_is_a ? -up : up);
  return result;
}

// Whether a part of a lies inside of b. They do not touch: one point tells of all others.
bool is_contained(const Side& a, const Side& b) {
  const Pose b_from_a = inverse(b.world_from_body) * a.world_from_body;
  const Aabb box = to_double(b.body.triangles.bounds());
  return std::any_of(a.body.parts.begin(), a.body.parts.end(), [&](const Vec3& part) {
    const Vec3 x = transform_point(b_from_a, part);
    const Vec3 around = Vec3{1, 1, 1} * b.body.radius;
    if (!contains(Aabb{box.lower - around, box.upper + around}, x)) return false;
    const ClosestPoint near = find_closest_point(b.body.triangles, to_float(x));
    return is_inside(b.shape, x, length(to_double(near.point) - x));
  });
}

// The deepest point of either surface inside of the other body. The points of the shells tell where
// to begin.
void set_depth(DistanceResult& result, const Side& a, const Side& b) {
  std::vector<Vec3> of_a_first, of_b_first;
  const CollideResult near = collide(a.shape, a.world_from_body, b.shape, b.world_from_body);
  for (const Contact& c : near.contacts)
    (c.sampled_by == Body::kA ? of_a_first : of_b_first)
        .push_back(c.sampled_by == Body::kA ? c.point_on_a : c.point_on_b);
  const auto search = [](const Side& surface, const Side& other, std::span<const Vec3> first,
                         double at_least) {
    DeepestSearch deepest(surface, other, at_least);
    for (const Vec3& point : first) deepest.begin_at(point);
    return deepest.run();
  };
  const Deepest of_a = search(a, b, of_a_first, 0), of_b = search(b, a, of_b_first, of_a.depth);
  const bool a_is_deeper = of_a.depth >= of_b.depth;
  const Deepest& deepest = a_is_deeper ? of_a : of_b;
  const Pose& frame = (a_is_deeper ? b : a).world_from_body;
  result.distance = result.upper_bound = -deepest.depth;
  result.lower_bound = -std::max(of_a.bound, of_b.bound);
  const Vec3 inside = transform_point(frame, deepest.point),
             surface = transform_point(frame, deepest.nearest);
  if (deepest.depth > 0)  // else the point that both share, as it was found
    set_witnesses(result, a_is_deeper ? inside : surface, a_is_deeper ? surface : inside,
                  a_is_deeper ? surface - inside : inside - surface);
}

}  // namespace

DistanceResult compute_exact_distance(const Shape& shape_a, const Pose& world_from_a,
                                      const Shape& shape_b, const Pose& world_from_b,
                                      const DistanceRequest& request) {
  const Side a{shape_a, exact_body(shape_a), world_from_a};
  const Side b{shape_b, exact_body(shape_b), world_from_b};
  if (a.body.half_space) return compute_to_plane(a, b, true);
  if (b.body.half_space) return compute_to_plane(b, a, false);
  const double radii = a.body.radius + b.body.radius;
  const MeshDistance found = compute_mesh_distance(
      a.body.triangles, b.body.triangles, inverse(world_from_a) * world_from_b,
      {.relative_tolerance = request.relative_tolerance,
       .absolute_tolerance = request.absolute_tolerance,
       .max_distance = request.max_distance + radii,
       .max_tests = request.max_tests});
  DistanceResult result;
  result.exact = true;
  result.tests = found.tests;
  result.status = found.gave_up ? DistanceStatus::kGaveUp : DistanceStatus::kDone;
  result.distance = result.upper_bound = found.distance - radii;
  result.lower_bound = found.lower_bound - radii;
  const Vec3 on_a = transform_point(world_from_a, found.point_on_a),
             on_b = transform_point(world_from_a, found.point_on_b);
  const Vec3 apart = on_a - on_b;
  const Vec3 out = length_sq(apart) > 0 ? normalized(apart) : Vec3{0, 1, 0};
  if (std::isfinite(found.distance))
    set_witnesses(result, on_a - out * a.body.radius, on_b + out * b.body.radius, apart);
  result.touching = found.touching || result.distance <= 0;
  if (found.gave_up && !result.touching) return result;
  // What is inside of a ball, or of a capsule, is as near to its middle as touches already.
  const auto is_part_in = [](const Side& of, const Side& body) {
    return body.body.radius == 0 && is_contained(of, body);
  };
  result.contained = !found.touching && (is_part_in(a, b) || is_part_in(b, a));
  if (!result.touching && !result.contained) return result;
  // Of spheres and capsules the depth is known while their middle is outside of the other.
  if (radii > 0) {
    result.exact = !found.touching && !result.contained;
    return result;
  }
  if (request.want_depth) set_depth(result, a, b);
  return result;
}

bool is_contained(const Shape& shape_a, const Pose& world_from_a, const Shape& shape_b,
                  const Pose& world_from_b) {
  const Side a{shape_a, exact_body(shape_a), world_from_a};
  const Side b{shape_b, exact_body(shape_b), world_from_b};
  if (a.body.half_space || b.body.half_space) return false;
  // All that is inside a ball or a capsule is near its middle.
  return (b.body.radius == 0 && is_contained(a, b)) || (a.body.radius == 0 && is_contained(b, a));
}

}  // namespace isotact::detail
