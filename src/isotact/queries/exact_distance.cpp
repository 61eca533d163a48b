// Exact distances: the triangles decide. Where bodies overlap, the deepest point of either surface
// inside of the other body is searched for.
#include "isotact/queries/detail/exact_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_depth.h"
#include "isotact/queries/detail/exact_touch.h"

namespace isotact::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- results ------------------------------------------------------------------------------------

void set_witnesses(DistanceResult& result, const Vec3& on_a, const Vec3& on_b, const Vec3& b_to_a) {
  Contact& c = result.contact;
  c.point_on_a = on_a;
  c.point_on_b = on_b;
  c.position = (on_a + on_b) * 0.5;
  c.normal = length_sq(b_to_a) > 0 ? normalized(b_to_a) : Vec3{0, 1, 0};
  c.depth = -result.distance;
}

struct Lowest {
  double value = kInfinity, error = 0;  // No corner is lower than the value by more than the error.
  Vec3 point{};
  std::uint64_t tests = 0;
};

// The lowest corner of a body's triangles over a half-space, to rounding. A box is left out unless
// its lowest corner is below what was found by more than rounding: of a face that lies flat over
// the plane, one corner is read. `tests` counts boxes and blocks of triangles.
Lowest find_lowest(const Bvh& triangles, const Pose& plane_from_body, const PlaneField& plane) {
  Lowest lowest;
  if (triangles.nodes().empty()) return lowest;
  const Vec3 down = rotate(conjugate(plane_from_body.rotation), plane.normal);
  const double height = dot(plane.normal, plane_from_body.translation) - plane.offset;
  const Aabb box = to_double(triangles.bounds());
  const double rounding = 0x1p-44 * (length(max(box.lower * -1.0, box.upper)) +
                                     length(plane_from_body.translation) + std::abs(plane.offset));
  // Bounds and values are both rounded.
  lowest.error = 2 * rounding;
  struct Step {
    double value;
    std::uint32_t child;
  };
  std::array<Step, kStackSize> stack;
  std::size_t size = 0;
  stack[size++] = {-kInfinity, 0};
  while (size > 0) {
    const Step step = stack[--size];
    if (step.value >= lowest.value - rounding) continue;
    ++lowest.tests;
    if ((step.child & kBlockBit) != 0) {
      const TriangleBlock& block = triangles.blocks()[step.child & ~kBlockBit];
      for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
        for (const auto& corner : block.corner) {
          const Vec3 x = transform_point(
              plane_from_body,
              {double{corner[0][lane]}, double{corner[1][lane]}, double{corner[2][lane]}});
          if (const double value = plane.value(x); value < lowest.value) {
            lowest.value = value;
            lowest.point = x;
          }
        }
      continue;
    }
    const BvhNode& node = triangles.nodes()[step.child];
    const std::size_t first = size;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      double value = height;
      for (std::size_t k = 0; k < 3; ++k)
        value += std::min(down[k] * double{node.lower[k][i]}, down[k] * double{node.upper[k][i]});
      if (value >= lowest.value - rounding) continue;
      std::size_t at = size++;
      for (; at > first && stack[at - 1].value < value; --at) stack[at] = stack[at - 1];
      stack[at] = {value, node.child[i]};
    }
  }
  return lowest;
}

// A half-space and a body with triangles.
DistanceResult compute_to_plane(const ExactSide& plane, const ExactSide& body, bool plane_is_a,
                                const DistanceRequest& request) {
  const Pose plane_from_body = inverse(plane.world_from_body) * body.world_from_body;
  const PlaneField& p = *plane.body.half_space;
  const Lowest found = find_lowest(body.body.triangles, plane_from_body, p);
  const double least = found.value;
  const Vec3 lowest = found.point;
  DistanceResult result;
  result.exact = true;
  result.work.tests = found.tests;
  result.distance = result.upper_bound = least - body.body.radius;
  result.lower_bound = result.distance - found.error;
  result.touching = result.distance <= 0;
  const Vec3 on_body = transform_point(plane.world_from_body, lowest - p.normal * body.body.radius);
  const Vec3 on_plane = transform_point(plane.world_from_body, lowest - p.normal * least);
  const Vec3 up = rotate(plane.world_from_body.rotation, p.normal);
  set_witnesses(result, plane_is_a ? on_plane : on_body, plane_is_a ? on_body : on_plane,
                plane_is_a ? -up : up);
  if (request.want_separation && result.touching) {
    const std::optional<Vec3> separation = find_separation(
        plane_is_a ? plane : body, plane_is_a ? body : plane, plane_is_a ? -up : up);
    result.has_separation = separation.has_value();
    if (separation) result.separation = *separation;
  }
  return result;
}

// Whether a part of a lies inside of b. They do not touch: one point tells of all others.
bool is_part_inside(const ExactSide& a, const ExactSide& b) {
  // What is inside of a ball, or of a capsule, is as near to its middle as touches already.
  if (b.body.radius > 0) return false;
  const Pose b_from_a = inverse(b.world_from_body) * a.world_from_body;
  const Aabb box = to_double(b.body.triangles.bounds());
  return std::any_of(a.body.parts.begin(), a.body.parts.end(), [&](const Vec3& part) {
    const Vec3 x = transform_point(b_from_a, part);
    if (!contains(box, x)) return false;
    const ClosestPoint near = find_closest_point(b.body.triangles, to_float(x));
    return is_inside(b.shape, x, length(to_double(near.point) - x));
  });
}

Containment find_containment(const ExactSide& a, const ExactSide& b) {
  const bool a_in_b = is_part_inside(a, b), b_in_a = is_part_inside(b, a);
  if ((a_in_b && is_closed(b.shape)) || (b_in_a && is_closed(a.shape)))
    return Containment::kInClosed;
  return a_in_b || b_in_a ? Containment::kInOpen : Containment::kNone;
}

// No point of one body is deeper inside of the other one.
double most_depth(const ExactSide& a, const ExactSide& b) {
  const auto half_least_side = [](const ExactSide& side) {
    const Vec3 size = extent(to_double(side.body.triangles.bounds()));
    return 0.5 * std::min({size.x, size.y, size.z}) + side.body.radius;
  };
  return std::max(half_least_side(a), half_least_side(b)) + a.body.radius + b.body.radius;
}

std::uint64_t tests_left(const DistanceRequest& request, const DistanceResult& so_far) {
  if (request.max_tests == 0) return 0;
  return std::max<std::uint64_t>(
      1, request.max_tests - std::min(request.max_tests, so_far.work.tests));
}

// The deepest point of either surface inside of the other body. An open mesh has no inside: only
// the other body has one, in which points of its surface may be deep.
void set_depth(DistanceResult& result, const ExactSide& a, const ExactSide& b,
               const DistanceRequest& request, std::shared_ptr<void>* memory) {
  DepthSettings settings{.relative_tolerance = request.relative_tolerance,
                         .absolute_tolerance = request.absolute_tolerance,
                         .memory = memory};
  const auto search = [&](const ExactSide& surface, const ExactSide& other) {
    if (!is_closed(other.shape))
      return Deepest{.depth = settings.at_least, .bound = settings.at_least};
    settings.max_tests = tests_left(request, result);
    const Deepest found = find_deepest(surface, other, settings);
    result.work.tests += found.tests;
    if (found.gave_up) result.status = DistanceStatus::kGaveUp;
    return found;
  };
  const Deepest guess = is_closed(a.shape) ? guess_deepest(b, a) : Deepest{};
  settings.at_least = guess.depth;
  const Deepest of_a = search(a, b);
  settings.at_least = of_a.depth;
  const Deepest of_b = search(b, a);
  const bool b_improved = of_b.depth > of_a.depth;
  const bool a_is_deeper = !b_improved && of_a.depth > guess.depth;
  const Deepest& deepest = b_improved ? of_b : a_is_deeper ? of_a : guess;
  const Pose& frame = (a_is_deeper ? b : a).world_from_body;
  result.distance = result.upper_bound = -deepest.depth;
  result.lower_bound = -std::max(of_a.bound, of_b.bound);
  const Vec3 inside = transform_point(frame, deepest.point),
             surface = transform_point(frame, deepest.nearest);
  if (deepest.depth > 0)  // else the point that both share, as it was found
    set_witnesses(result, a_is_deeper ? inside : surface, a_is_deeper ? surface : inside,
                  a_is_deeper ? surface - inside : inside - surface);
}

// `inside` is the deepest point, on A's surface or on B's, and `surface` is nearest to it on the
// other one. In the world's frame.
void set_deepest(DistanceResult& result, bool is_on_a, const Vec3& inside, const Vec3& surface) {
  set_witnesses(result, is_on_a ? inside : surface, is_on_a ? surface : inside,
                is_on_a ? surface - inside : inside - surface);
}

// Two round solids; the core of one enters the other body.
void set_round_pair_depth(DistanceResult& result, const ExactSide& a, const ExactSide& b,
                          const MeshDistance& cores) {
  const RoundPairDepth found = compute_depth_of_round_pair(a, b, cores);
  result.distance = result.upper_bound = -found.deepest.depth;
  result.lower_bound = -found.deepest.bound;
  set_deepest(result, found.is_on_a, found.deepest.point, found.deepest.nearest);
}

// A sphere, capsule or torus whose core is inside of a body, or crosses its surface.
void set_round_depth(DistanceResult& result, const ExactSide& a, const ExactSide& b,
                     const MeshDistance& found, const DistanceRequest& request) {
  const bool round_is_a = a.body.radius > 0;
  const ExactSide &round = round_is_a ? a : b, &other = round_is_a ? b : a;
  // The other surface's points inside of the round body: the nearest to its core is the deepest.
  // An open mesh has no inside for the round surface's points.
  result.distance = result.upper_bound = -std::max(0.0, round.body.radius - found.distance);
  result.lower_bound = -std::max(0.0, round.body.radius - found.lower_bound);
  result.contact.depth = -result.distance;
  if (!is_closed(other.shape)) return;
  const Deepest deepest = find_deepest_round(round, other,
                                             {.at_least = -result.distance,
                                              .relative_tolerance = request.relative_tolerance,
                                              .absolute_tolerance = request.absolute_tolerance,
                                              .max_tests = tests_left(request, result)});
  result.work.tests += deepest.tests;
  if (deepest.gave_up) result.status = DistanceStatus::kGaveUp;
  result.lower_bound = std::min(result.lower_bound, -deepest.bound);
  if (!(deepest.depth > -result.distance)) return;
  result.distance = result.upper_bound = -deepest.depth;
  set_deepest(result, round_is_a, transform_point(other.world_from_body, deepest.point),
              transform_point(other.world_from_body, deepest.nearest));
}

// Round solids are polygons here: the bounds hold for the solids.
DistanceResult widened(DistanceResult result, const ExactSide& a, const ExactSide& b) {
  const double error = a.body.error + b.body.error;
  result.lower_bound -= error;
  result.upper_bound += error;
  return result;
}

DistanceResult measure_bodies(const ExactSide& a, const ExactSide& b,
                              const DistanceRequest& request, std::shared_ptr<void>* memory);

}  // namespace

DistanceResult compute_exact_distance(const Shape& shape_a, const Pose& world_from_a,
                                      const Shape& shape_b, const Pose& world_from_b,
                                      const DistanceRequest& request,
                                      std::shared_ptr<void>* memory) {
  const ExactSide a{shape_a, exact_body(shape_a), world_from_a};
  const ExactSide b{shape_b, exact_body(shape_b), world_from_b};
  return widened(measure_bodies(a, b, request, memory), a, b);
}

namespace {

DistanceResult measure_bodies(const ExactSide& a, const ExactSide& b,
                              const DistanceRequest& request, std::shared_ptr<void>* memory) {
  if (a.body.half_space || b.body.half_space) {
    const bool plane_is_a = a.body.half_space.has_value();
    return compute_to_plane(plane_is_a ? a : b, plane_is_a ? b : a, plane_is_a, request);
  }
  const double radii = a.body.radius + b.body.radius;
  const MeshDistance found = compute_mesh_distance(
      a.body.triangles, b.body.triangles, inverse(a.world_from_body) * b.world_from_body,
      {.relative_tolerance = request.relative_tolerance,
       .absolute_tolerance = request.absolute_tolerance,
       .max_distance = request.max_distance + radii,
       .near_enough = request.near_enough > 0 ? request.near_enough + radii : 0,
       .max_tests = request.max_tests});
  DistanceResult result;
  result.exact = true;
  result.work.tests = found.tests;
  result.status = found.gave_up ? DistanceStatus::kGaveUp : DistanceStatus::kDone;
  result.distance = result.upper_bound = found.distance - radii;
  result.lower_bound = found.lower_bound - radii;
  const Vec3 on_a = transform_point(a.world_from_body, found.point_on_a),
             on_b = transform_point(a.world_from_body, found.point_on_b);
  TouchNormal across;
  if (std::isfinite(found.distance)) {
    across =
        choose_touch_normal(a.body, b.body, inverse(a.world_from_body) * b.world_from_body, found);
    const Vec3 out = transform_vector(a.world_from_body, across.normal);
    set_witnesses(result, on_a - out * a.body.radius, on_b + out * b.body.radius, out);
  }
  result.touching = found.touching || result.distance <= 0;
  // If the search was cut short, surfaces may touch: a part inside then tells that bodies overlap.
  // A plane between the hulls takes longer to find than the box of a body to rule out some points.
  constexpr std::size_t kFewParts = 16;
  const bool is_known =
      found.touching ||
      (a.body.parts.size() + b.body.parts.size() > kFewParts &&
       are_hulls_apart(a.body, b.body, inverse(a.world_from_body) * b.world_from_body));
  const Containment containment = is_known ? Containment::kNone : find_containment(a, b);
  result.contained = containment != Containment::kNone;
  // The inside of an open mesh ends in mid-air: it has no depth.
  const bool overlaps = result.touching || containment == Containment::kInClosed;
  const bool may_touch = found.gave_up && !result.touching && found.lower_bound <= radii;
  const bool wants_depth = request.want_depth && request.near_enough == 0;
  if (!overlaps) {
    if (may_touch && wants_depth) result.lower_bound = -most_depth(a, b);
    if (!found.gave_up && request.near_enough > 0 && result.distance <= request.near_enough)
      result.status = DistanceStatus::kNearEnough;
    return result;
  }
  // From a point inside, the line along the normal leaves the other body within the overlap.
  const double size = a.body.size + b.body.size;
  const bool is_flush =
      wants_depth && across.overlap <= 1e-6 * size && is_closed(a.shape) && is_closed(b.shape);
  if (radii > 0) {
    // The nearest points are the deepest until the core of one body enters the other one.
    const double least_radius = std::min(a.body.radius, b.body.radius);
    const bool is_deep =
        found.touching || containment == Containment::kInClosed || found.lower_bound < least_radius;
    if (!wants_depth && is_deep)
      result.distance = result.lower_bound = result.upper_bound = 0;
    else if (is_deep && least_radius > 0)
      set_round_pair_depth(result, a, b, found);
    else if (is_deep)
      set_round_depth(result, a, b, found, request);
    if (request.near_enough > 0) result.status = DistanceStatus::kNearEnough;
  } else if (is_flush) {
    result.distance = result.upper_bound = 0;
    result.lower_bound =
        -std::max(0.0, across.overlap) - 0x1p-44 * (size + length(on_a) + length(on_b));
  } else if (wants_depth) {
    set_depth(result, a, b, request, memory);
  } else {
    result.distance = result.lower_bound = result.upper_bound = 0;
    if (request.near_enough > 0) result.status = DistanceStatus::kNearEnough;
  }
  if (request.want_separation) {
    const Vec3 guess = result.contact.point_on_b - result.contact.point_on_a;
    const std::optional<Vec3> separation = find_separation(a, b, guess);
    result.has_separation = separation.has_value();
    if (separation) result.separation = *separation;
  }
  return result;
}

}  // namespace

Containment find_containment(const Shape& shape_a, const Pose& world_from_a, const Shape& shape_b,
                             const Pose& world_from_b) {
  const ExactSide a{shape_a, exact_body(shape_a), world_from_a};
  const ExactSide b{shape_b, exact_body(shape_b), world_from_b};
  if (a.body.half_space || b.body.half_space) return Containment::kNone;
  return find_containment(a, b);
}

}  // namespace isotact::detail
