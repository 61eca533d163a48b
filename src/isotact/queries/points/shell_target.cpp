#include "isotact/queries/points/shell_target.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/points/detail/target_access.h"

namespace isotact {
namespace detail {
namespace {

// The nearest point of a triangle: of its face, or else of an edge.
Vec3 find_nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 normal = cross(b - a, c - a);
  const Vec3 corner[3] = {a, b, c};
  Vec3 best = a;
  double best_sq = std::numeric_limits<double>::infinity();
  bool in_face = length_sq(normal) > 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 from = corner[i], along = corner[(i + 1) % 3] - from;
    in_face = in_face && dot(cross(normal, along), p - from) >= 0;
    const double square = length_sq(along);
    const double t = square > 0 ? std::clamp(dot(p - from, along) / square, 0.0, 1.0) : 0;
    const Vec3 on_edge = from + t * along;
    if (length_sq(p - on_edge) < best_sq) best_sq = length_sq(p - on_edge), best = on_edge;
  }
  if (in_face) return p - (dot(p - a, normal) / length_sq(normal)) * normal;
  return best;
}

struct HullSample {
  double distance;
  Vec3 direction;
};

HullSample sample_hull(const HullSolid& hull, const Vec3& point) {
  double most = -std::numeric_limits<double>::infinity();
  Vec3 direction{};
  for (const HullSolid::Plane& plane : hull.planes) {
    const double d = dot(plane.normal, point) - plane.offset;
    if (d > most) most = d, direction = plane.normal;
  }
  if (most > 0) {
    double least_sq = std::numeric_limits<double>::infinity();
    Vec3 nearest{};
    for (std::size_t i = 0; i + 2 < hull.triangles.size(); i += 3) {
      const Vec3 on = find_nearest_on_triangle(point, hull.corners[hull.triangles[i]],
                                               hull.corners[hull.triangles[i + 1]],
                                               hull.corners[hull.triangles[i + 2]]);
      if (length_sq(point - on) < least_sq) least_sq = length_sq(point - on), nearest = on;
    }
    // Rounded planes may put a point of a face a hair outside.
    if (const double d = std::sqrt(least_sq); d > 0 && std::isfinite(d))
      return {std::max(d, most) - hull.radius, normalized(point - nearest)};
  }
  return {most - hull.radius, direction};
}

}  // namespace

double compute_hull_distance(const HullSolid& hull, const Vec3& point) {
  return sample_hull(hull, point).distance;
}

}  // namespace detail

namespace {

using detail::GridTarget;

void check(const TargetSettings& settings) {
  if (!(settings.max_margin >= 0) || !std::isfinite(settings.max_margin))
    throw Error(
        fmt::format("max_margin is {}, must be finite and not negative", settings.max_margin));
}

FieldSample sample_voxmap(const Voxmap& map, const Vec3& point, const Vec3& outward_normal) {
  if (map.encoding() != VoxmapEncoding::kSupport)
    return {map.distance(point, -outward_normal), -outward_normal};
  // The voxel's own direction. That from its surface point to `point` would lean sideways, the more
  // the nearer the point is to the surface: that surface point is the nearest to the voxel's
  // centre.
  const Index3 at = map.voxel_at(point);
  const SupportVoxel& v = map.support()[flat_index(map.lattice().cells, at[0], at[1], at[2])];
  const Vec3 inward{v.gradient[0], v.gradient[1], v.gradient[2]};
  return {map.interpolated_distance(point), -normalized(inward)};
}

}  // namespace

ShellTarget::ShellTarget(const PlaneField& plane)
    : kind_(TargetKind::kPlane), axis_(plane.normal), sizes_{plane.offset} {}
ShellTarget::ShellTarget(const BoxField& box, double rounding)
    : kind_(TargetKind::kBox),
      center_(box.center),
      sizes_{box.half_size.x, box.half_size.y, box.half_size.z},
      rounding_(rounding) {}
ShellTarget::ShellTarget(const SphereField& sphere)
    : kind_(TargetKind::kSphere), center_(sphere.center), rounding_(sphere.radius) {}
ShellTarget::ShellTarget(const CapsuleField& capsule)
    : kind_(TargetKind::kCapsule),
      center_(capsule.a),
      axis_(capsule.b - capsule.a),
      rounding_(capsule.radius) {}
ShellTarget::ShellTarget(const CylinderField& cylinder, double rounding)
    : kind_(TargetKind::kCylinder),
      center_(cylinder.center),
      sizes_{cylinder.radius, cylinder.height / 2},
      rounding_(rounding) {}
// A cone of no size is a point, grown to a sphere.
ShellTarget::ShellTarget(const ConeField& cone, double rounding)
    : kind_(cone.radius > 0 || cone.height > 0 ? TargetKind::kCone : TargetKind::kSphere),
      center_(cone.center),
      sizes_{cone.radius, cone.height / 2},
      rounding_(rounding) {}

ShellTarget::ShellTarget(std::shared_ptr<const HullSolid> hull) : kind_(TargetKind::kHull) {
  assert(hull && !hull->planes.empty());
  auto target = std::make_shared<detail::HullTarget>();
  for (const HullSolid::Plane& plane : hull->planes)
    for (const double x : {plane.normal.x, plane.normal.y, plane.normal.z, plane.offset})
      target->planes.push_back(static_cast<float>(x));
  rounding_ = hull->radius;
  target->solid = std::move(hull);
  hull_ = std::move(target);
}

ShellTarget::ShellTarget(const BrickField& field, const TargetSettings& settings)
    : kind_(TargetKind::kBrickField) {
  check(settings);
  grid_ = std::make_shared<const GridTarget>(
      detail::prepare_grid(field, settings.max_margin, settings.threads));
}
ShellTarget::ShellTarget(const Voxmap& voxmap, const TargetSettings& settings)
    : kind_(TargetKind::kVoxmap) {
  check(settings);
  grid_ = std::make_shared<const GridTarget>(
      detail::prepare_grid(voxmap, settings.max_margin, settings.threads));
}
ShellTarget::ShellTarget(const AnyField& field)
    : kind_(TargetKind::kAnyField), any_(std::make_shared<const AnyField>(field)) {}

double ShellTarget::max_margin() const {
  return grid_ ? grid_->max_margin : std::numeric_limits<double>::infinity();
}
std::uint64_t ShellTarget::memory_bytes() const { return grid_ ? grid_->quarters.size() : 0; }
const BrickField* ShellTarget::field() const {
  return grid_ && grid_->field ? &*grid_->field : nullptr;
}
const Voxmap* ShellTarget::voxmap() const {
  return grid_ && grid_->voxmap ? &*grid_->voxmap : nullptr;
}

double ShellTarget::lipschitz() const {
  if (any_) return any_->lipschitz();
  if (kind_ == TargetKind::kBrickField) return grid_->field->lipschitz();
  // Outside of a map's box both the distance to the box and the value there may change.
  return kind_ == TargetKind::kVoxmap ? 2 : 1;
}

// The voxels of two points are at most their distance and a voxel's diagonal apart; a layer's value
// changes by 1 from voxel to voxel, diagonals included, an exact distance no faster than space. Add
// both local parts, half a diagonal each, and what scaled values lose by truncation.
double ShellTarget::jump() const {
  if (kind_ != TargetKind::kVoxmap) return 0;
  const Voxmap& map = *grid_->voxmap;
  const double diagonal = 1.001 * std::sqrt(3.0) * map.voxel_size();
  if (map.encoding() == VoxmapEncoding::kLayers) return diagonal + map.voxel_size();
  if (map.header().closest_method != static_cast<std::uint32_t>(ClosestPointMethod::kExact))
    return std::numeric_limits<double>::infinity();
  double lost = map.encoding() == VoxmapEncoding::kScaled ? 2.01 : 0;
  for (int p = map.header().precision; p > 0; --p) lost /= 10;
  for (int p = map.header().precision; p < 0; ++p) lost *= 10;
  return 2 * diagonal + lost;
}

FieldSample ShellTarget::sample(const Vec3& point, const Vec3& outward_normal) const {
  FieldSample s;
  switch (kind_) {
    case TargetKind::kPlane:
      return {dot(axis_, point) - sizes_[0], axis_};
    case TargetKind::kBox:
      s = BoxField{center_, {sizes_[0], sizes_[1], sizes_[2]}}.sample(point);
      break;
    case TargetKind::kSphere:
      return SphereField{center_, rounding_}.sample(point);
    case TargetKind::kCapsule:
      return CapsuleField{center_, center_ + axis_, rounding_}.sample(point);
    case TargetKind::kCylinder:
      s = CylinderField{center_, sizes_[0], 2 * sizes_[1]}.sample(point);
      break;
    case TargetKind::kCone:
      s = ConeField{center_, sizes_[0], 2 * sizes_[1]}.sample(point);
      break;
    case TargetKind::kHull: {
      const detail::HullSample h = detail::sample_hull(*hull_->solid, point);
      return {h.distance, h.direction};
    }
    case TargetKind::kBrickField:
      s = grid_->field->sample(point);
      s.gradient = normalized(s.gradient);
      break;
    case TargetKind::kVoxmap:
      s = sample_voxmap(*grid_->voxmap, point, outward_normal);
      break;
    case TargetKind::kAnyField:
      s = any_->sample(point);
      s.gradient = normalized(s.gradient);
      break;
  }
  s.distance -= rounding_;
  return s;
}

}  // namespace isotact
