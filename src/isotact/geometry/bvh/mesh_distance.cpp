#include "isotact/geometry/bvh/mesh_distance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "isotact/base/machine.h"
#include "isotact/geometry/bvh/detail/bvh_query.h"
#include "isotact/geometry/bvh/detail/pair_kernel.h"

namespace isotact {
namespace {

using detail::PairFound;
using detail::PairPlace;
using detail::PairSearch;
using detail::PairTree;
using detail::Point3;
using PlacedTriangle = detail::TriangleLanes<double>;

Vec3 to_vec(const Point3<double>& p) { return {p.x, p.y, p.z}; }

// The pose as the kernel applies it, so that every part of a search sees the same corners.
class Placement {
 public:
  explicit Placement(const Pose& a_from_b) {
    const Mat3 m = to_matrix(a_from_b.rotation);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) rotation[i][k] = m.rows[i][k];
      translation[i] = a_from_b.translation[i];
    }
  }

  Point3<double> place(const Vec3f& p) const {
    const double x = double{p.x}, y = double{p.y}, z = double{p.z};
    const auto row = [&](int i) {
      return rotation[i][0] * x + rotation[i][1] * y + rotation[i][2] * z + translation[i];
    };
    return {row(0), row(1), row(2)};
  }
  PlacedTriangle place(const std::array<Vec3f, 3>& c) const {
    return {{place(c[0]), place(c[1]), place(c[2])}};
  }

  double rotation[3][3], translation[3];
};

PlacedTriangle widen(const std::array<Vec3f, 3>& c) {
  return {{detail::to_point3(c[0]), detail::to_point3(c[1]), detail::to_point3(c[2])}};
}

std::array<Vec3f, 3> corners_at(const Bvh& bvh, std::uint32_t block, std::uint32_t lane) {
  const auto& corner = bvh.blocks()[block].corner;
  const auto at = [&](int k) {
    return Vec3f{corner[k][0][lane], corner[k][1][lane], corner[k][2][lane]};
  };
  return {at(0), at(1), at(2)};
}

PairTree tree_of(const Bvh& bvh) {
  PairTree tree{.nodes = bvh.oriented_nodes().data(),
                .blocks = bvh.blocks().data(),
                .center = {},
                .half = {}};
  const Aabb box = to_double(bvh.bounds());
  for (std::size_t i = 0; i < 3; ++i) {
    tree.center[i] = static_cast<float>((box.lower[i] + box.upper[i]) / 2);
    const double c = double{tree.center[i]};
    tree.half[i] = static_cast<float>(std::max(box.upper[i] - c, c - box.lower[i]) * (1 + 0x1p-20));
  }
  return tree;
}

double furthest_of(const Aabb& box) {
  double furthest = 0;
  for (std::size_t i = 0; i < 3; ++i)
    furthest = std::max({furthest, std::abs(box.lower[i]), std::abs(box.upper[i])});
  return furthest;
}

// How far computed distances of triangles are off, in metres. PlacedTriangle are moved by seven
// operations that round by 2^-53 of the largest coordinate; differences, dot products, weights and
// squares of a distance add less than a hundred more.
double rounding_of(const Aabb& a, const Aabb& b, const Pose& a_from_b) {
  return 0x1p-44 * (furthest_of(a) + 2 * furthest_of(b) + length(a_from_b.translation));
}

struct WitnessPoints {
  double distance_sq = std::numeric_limits<double>::infinity();
  Vec3 on_a{}, on_b{};

  void take(double new_sq, const Vec3& a, const Vec3& b) {
    if (new_sq < distance_sq) *this = {new_sq, a, b};
  }
};

Vec3 point_of(const PlacedTriangle& t, const detail::Nearest<double>& n) {
  const Vec3 a = to_vec(t.corner[0]);
  return a + (to_vec(t.corner[1]) - a) * n.v + (to_vec(t.corner[2]) - a) * n.w;
}

// Where the edges of one triangle pass through the other.
void take_crossings(const PlacedTriangle& edges, const PlacedTriangle& face,
                    WitnessPoints& witness) {
  const Vec3 a = to_vec(face.corner[0]);
  const Vec3 normal = cross(to_vec(face.corner[1]) - a, to_vec(face.corner[2]) - a);
  for (int i = 0; i < 3; ++i) {
    const Point3<double>&from = edges.corner[i], &to = edges.corner[(i + 1) % 3];
    if (!detail::crosses(from, to, face)) continue;
    const Vec3 p = to_vec(from), q = to_vec(to);
    const double start = dot(normal, p - a), end = dot(normal, q - a);
    const Vec3 at = p + (q - p) * std::clamp(start / (start - end), 0.0, 1.0);
    witness.take(0, at, at);
  }
}

// Whether the triangle has points on both sides of the other's plane, or on it.
bool is_across(const PlacedTriangle& t, const PlacedTriangle& plane) {
  const Vec3 at = to_vec(plane.corner[0]);
  const Vec3 normal = cross(to_vec(plane.corner[1]) - at, to_vec(plane.corner[2]) - at);
  double lowest = 0, highest = 0;
  for (const Point3<double>& c : t.corner) {
    const double height = dot(normal, to_vec(c) - at);
    lowest = &c == t.corner ? height : std::min(lowest, height);
    highest = &c == t.corner ? height : std::max(highest, height);
  }
  return lowest <= 0 && highest >= 0;
}

// The points that compute_distances_sq is about.
WitnessPoints find_witness(const PlacedTriangle& a, const PlacedTriangle& b) {
  WitnessPoints witness;
  if (is_across(a, b) && is_across(b, a)) {
    take_crossings(a, b, witness);
    take_crossings(b, a, witness);
  }
  for (int i = 0; i < 3; ++i) {
    const auto on_b = detail::find_nearest(a.corner[i], b.corner[0], b.corner[1], b.corner[2]);
    witness.take(on_b.distance_sq, to_vec(a.corner[i]), point_of(b, on_b));
    const auto on_a = detail::find_nearest(b.corner[i], a.corner[0], a.corner[1], a.corner[2]);
    witness.take(on_a.distance_sq, point_of(a, on_a), to_vec(b.corner[i]));
    for (int k = 0; k < 3; ++k) {
      const Point3<double> u = a.corner[(i + 1) % 3] - a.corner[i],
                           v = b.corner[(k + 1) % 3] - b.corner[k];
      const auto near = detail::find_nearest_on_segments(a.corner[i], u, b.corner[k], v);
      witness.take(near.distance_sq, to_vec(a.corner[i]) + to_vec(u) * near.s,
                   to_vec(b.corner[k]) + to_vec(v) * near.t);
    }
  }
  return witness;
}

void set_witness(MeshDistance& result, const PlacedTriangle& a, const PlacedTriangle& b) {
  const WitnessPoints witness = find_witness(a, b);
  result.touching = witness.distance_sq == 0;
  result.distance = std::sqrt(witness.distance_sq);
  result.point_on_a = witness.on_a;
  result.point_on_b = witness.on_b;
}

// No point of one box is nearer to the other box than this: the larger one of the gaps along the
// axes of either, put together by Pythagoras. Rounding is taken off.
double compute_box_gap(const Aabb& a, const Aabb& b, const Placement& placement, double rounding) {
  const Vec3 half_a = extent(a) * 0.5, half_b = extent(b) * 0.5, middle_b = center(b);
  Vec3 between{};  // from A's middle to B's, in A's frame
  for (std::size_t i = 0; i < 3; ++i) {
    between[i] = placement.translation[i] - center(a)[i];
    for (std::size_t k = 0; k < 3; ++k) between[i] += placement.rotation[i][k] * middle_b[k];
  }
  double by_a = 0, by_b = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double reach_a = half_a[i], reach_b = half_b[i], along_b = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      reach_a += std::abs(placement.rotation[i][k]) * half_b[k];
      reach_b += std::abs(placement.rotation[k][i]) * half_a[k];
      along_b += placement.rotation[k][i] * between[k];
    }
    const double gap_a = std::max(0.0, std::abs(between[i]) - reach_a - rounding),
                 gap_b = std::max(0.0, std::abs(along_b) - reach_b - rounding);
    by_a += gap_a * gap_a;
    by_b += gap_b * gap_b;
  }
  return std::sqrt(std::max(by_a, by_b)) * (1 - 0x1p-40);
}

using BaselinePair = detail::PairKernel<detail::Lanes<float, 4>, detail::Lanes<double, 2>>;

detail::FindNearestPair kernel_for(SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return detail::find_nearest_pair_avx2();
#endif
  static_cast<void>(level);
  return &BaselinePair::find;
}

// A near pair to begin with: from the middle of B to A, to B, and to A again.
void find_first_pair(const Bvh& a, const Bvh& b, const Pose& a_from_b, const Placement& placement,
                     SimdLevel level, PairFound& found) {
  const detail::BvhKernels& kernels = detail::kernels_for(level);
  constexpr int kSteps = 3;
  const auto nearest = [&](const Bvh& bvh, const Vec3& to) {
    const Vec3f point = to_float(to);
    const Vec3 size = extent(to_double(bvh.bounds()));
    const detail::ClosestSearch search{.nodes = bvh.oriented_nodes().data(),
                                       .blocks = bvh.blocks().data(),
                                       .point = {point.x, point.y, point.z},
                                       .margin = std::max({size.x, size.y, size.z}) * 0x1p-44};
    detail::ClosestFound best{.distance_sq = std::numeric_limits<double>::infinity(),
                              .triangle = kNoTriangle,
                              .block = 0,
                              .lane = 0};
    kernels.find_closest(search, best);
    return best;
  };
  const Pose b_from_a = inverse(a_from_b);
  Vec3 in_a = transform_point(a_from_b, center(to_double(b.bounds())));
  for (int step = 0; step < kSteps; ++step) {
    const detail::ClosestFound on_a = nearest(a, in_a);
    if (on_a.triangle == kNoTriangle) return;
    const auto ca = corners_at(a, on_a.block, on_a.lane);
    const Vec3 point_on_a =
        find_closest_point_on_triangle(to_float(in_a), ca[0], ca[1], ca[2]).point;
    const Vec3 in_b = transform_point(b_from_a, point_on_a);
    const detail::ClosestFound on_b = nearest(b, in_b);
    if (on_b.triangle == kNoTriangle) return;
    const auto cb = corners_at(b, on_b.block, on_b.lane);
    const double distance_sq = detail::compute_distances_sq(widen(ca), placement.place(cb));
    if (!(distance_sq < found.distance_sq)) return;
    found.distance_sq = distance_sq;
    found.place = {on_a.block, on_a.lane, on_b.block, on_b.lane};
    found.found = true;
    in_a = transform_point(
        a_from_b, find_closest_point_on_triangle(to_float(in_b), cb[0], cb[1], cb[2]).point);
  }
}

void set_rows(PairSearch& search, const Placement& placement) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) search.rotation[i][k] = placement.rotation[i][k];
    search.translation[i] = placement.translation[i];
  }
}

// Rows of a frame whose first axis is that direction.
void set_rows(double (&frame)[3][3], const Vec3& along) {
  const Vec3 first = length_sq(along) > 0 ? normalized(along) : Vec3{1, 0, 0};
  const Vec3 aside = std::abs(first.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 second = normalized(cross(first, aside)), third = cross(first, second);
  const Vec3 rows[3] = {first, second, third};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) frame[i][k] = rows[i][k];
}

// The first axis goes from one body to the other at the pair found so far, or else from middle to
// middle.
void set_frame(PairSearch& search, const PairFound& found, const Bvh& a, const Bvh& b,
               const Placement& placement) {
  Vec3 between = to_vec(placement.place(to_float(center(to_double(b.bounds()))))) -
                 center(to_double(a.bounds()));
  if (found.found && found.distance_sq > 0) {
    const PairPlace& p = found.place;
    const WitnessPoints witness = find_witness(widen(corners_at(a, p.block_a, p.lane_a)),
                                               placement.place(corners_at(b, p.block_b, p.lane_b)));
    between = witness.on_b - witness.on_a;
  }
  set_rows(search.frame, between);
}

}  // namespace

MeshDistance detail::compute_mesh_distance(const Bvh& a, const Bvh& b, const Pose& a_from_b,
                                           const MeshDistanceSettings& settings, SimdLevel level) {
  MeshDistance result;
  result.lower_bound = settings.max_distance;
  if (a.nodes().empty() || b.nodes().empty()) return result;
  const Placement placement(a_from_b);
  const Aabb box_a = to_double(a.bounds()), box_b = to_double(b.bounds());
  const double rounding = rounding_of(box_a, box_b, a_from_b);
  if (std::isfinite(settings.max_distance) &&
      compute_box_gap(box_a, box_b, placement, rounding) > settings.max_distance)
    return result;
  PairSearch search{.a = tree_of(a),
                    .b = tree_of(b),
                    .rotation = {},
                    .translation = {},
                    .frame = {},
                    .stop_sq = settings.near_enough * settings.near_enough,
                    .rounding_sq = rounding * rounding,
                    .shrink = 1 / (1 + settings.relative_tolerance),
                    .less = settings.absolute_tolerance,
                    .max_tests = settings.max_tests};
  set_rows(search, placement);
  // Pairs just at max_distance count.
  const double reach = settings.max_distance * (1 + 0x1p-40);
  PairFound found{.distance_sq = reach * reach,
                  .place = {},
                  .found = false,
                  .gave_up = false,
                  .lowest_left = std::numeric_limits<double>::infinity(),
                  .tests = 0};
  find_first_pair(a, b, a_from_b, placement, level, found);
  set_frame(search, found, a, b, placement);
  if (!found.found || found.distance_sq > search.stop_sq)
    kernel_for(level)(search, found);
  else
    found.lowest_left = 0;
  result.tests = found.tests;
  result.gave_up = found.gave_up;
  if (found.found) {
    const PairPlace& p = found.place;
    set_witness(result, widen(corners_at(a, p.block_a, p.lane_a)),
                placement.place(corners_at(b, p.block_b, p.lane_b)));
    result.triangle_a = a.blocks()[p.block_a].triangle[p.lane_a];
    result.triangle_b = b.blocks()[p.block_b].triangle[p.lane_b];
  }
  result.lower_bound = std::max(
      0.0, std::min({result.distance, found.lowest_left, settings.max_distance}) - rounding);
  if (result.touching) result.lower_bound = 0;
  return result;
}

detail::PairTouch::PairTouch(const Bvh& a, const Bvh& b, const Pose& a_from_b, double reach)
    : a_(a), b_(b), a_from_b_(a_from_b), reach_(reach) {
  rounding_ = 4 * rounding_of(to_double(a.bounds()), to_double(b.bounds()), a_from_b);
}

bool detail::PairTouch::are_boxes_apart() const {
  return compute_box_gap(to_double(a_.bounds()), to_double(b_.bounds()), Placement(a_from_b_),
                         rounding_) > reach_;
}

bool detail::PairTouch::touches_at(const PairHint& hint) {
  if (hint.block_a >= a_.blocks().size() || hint.block_b >= b_.blocks().size()) return false;
  const auto in_a = widen(corners_at(a_, hint.block_a, hint.lane_a));
  const auto in_b = Placement(a_from_b_).place(corners_at(b_, hint.block_b, hint.lane_b));
  if (!(compute_distances_sq(in_a, in_b) <= reach_ * reach_)) return false;  // NaN, too
  hint_ = hint;
  return true;
}

bool detail::PairTouch::find(const Vec3& along) {
  const Placement placement(a_from_b_);
  PairSearch search{.a = tree_of(a_),
                    .b = tree_of(b_),
                    .rotation = {},
                    .translation = {},
                    .frame = {},
                    .stop_sq = reach_ * reach_,
                    .rounding_sq = 0.25 * rounding_ * rounding_,
                    .shrink = 1,
                    .less = 0,
                    .max_tests = 0};
  set_rows(search, placement);
  set_rows(search.frame, along);
  // Pairs just at the reach count, whatever culling rounds.
  const double most = reach_ * (1 + 0x1p-40) + rounding_;
  PairFound found{.distance_sq = most * most,
                  .place = {},
                  .found = false,
                  .gave_up = false,
                  .lowest_left = std::numeric_limits<double>::infinity(),
                  .tests = 0};
  kernel_for(simd_level())(search, found);
  if (!found.found || !(found.distance_sq <= search.stop_sq)) return false;
  hint_ = {found.place.block_a, found.place.lane_a, found.place.block_b, found.place.lane_b};
  return true;
}

MeshDistance detail::PairTouch::found() const {
  MeshDistance result;
  set_witness(result, widen(corners_at(a_, hint_.block_a, hint_.lane_a)),
              Placement(a_from_b_).place(corners_at(b_, hint_.block_b, hint_.lane_b)));
  result.triangle_a = a_.blocks()[hint_.block_a].triangle[hint_.lane_a];
  result.triangle_b = b_.blocks()[hint_.block_b].triangle[hint_.lane_b];
  return result;
}

MeshDistance compute_mesh_distance(const Bvh& a, const Bvh& b, const Pose& a_from_b,
                                   const MeshDistanceSettings& settings) {
  return detail::compute_mesh_distance(a, b, a_from_b, settings, simd_level());
}

TriangleDistance compute_triangle_distance(const std::array<Vec3, 3>& a,
                                           const std::array<Vec3, 3>& b) {
  const auto lanes_of = [](const std::array<Vec3, 3>& t) {
    PlacedTriangle lanes;
    for (std::size_t i = 0; i < 3; ++i) lanes.corner[i] = {t[i].x, t[i].y, t[i].z};
    return lanes;
  };
  const WitnessPoints witness = find_witness(lanes_of(a), lanes_of(b));
  return {std::sqrt(witness.distance_sq), witness.on_a, witness.on_b};
}

MeshDistance compute_mesh_distance_brute_force(const TriangleMesh& a, const TriangleMesh& b,
                                               const Pose& a_from_b) {
  MeshDistance result;
  const Placement placement(a_from_b);
  double best_sq = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.triangles.size(); ++i) {
    const PlacedTriangle of_a = widen(corners(a, i));
    for (std::size_t k = 0; k < b.triangles.size(); ++k) {
      const double distance_sq = detail::compute_distances_sq(of_a, placement.place(corners(b, k)));
      if (!(distance_sq < best_sq)) continue;
      best_sq = distance_sq;
      result.triangle_a = static_cast<std::uint32_t>(i);
      result.triangle_b = static_cast<std::uint32_t>(k);
    }
  }
  result.lower_bound = result.distance;
  if (result.triangle_a == kNoTriangle) return result;
  set_witness(result, widen(corners(a, result.triangle_a)),
              placement.place(corners(b, result.triangle_b)));
  result.lower_bound = std::max(
      0.0, result.distance - rounding_of(to_double(bounds(a)), to_double(bounds(b)), a_from_b));
  return result;
}

}  // namespace isotact
