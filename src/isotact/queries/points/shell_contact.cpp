#include "isotact/queries/points/shell_contact.h"

#include <algorithm>
#include <cmath>

namespace isotact {
namespace {

// Sums over hits, weighted by depth and area: normals, and their moments about the origin.
struct Sums {
  Vec3 normal{}, moment{};
  double area = 0, depth_area = 0;
};

// With the points' own normals, everything can be summed in the shell's frame, and rotated once.
Sums sum_in_shell(const PointSphereTree& tree, std::span<const ShellHit> hits) {
  Sums sums;
  const float *x = tree.x().data(), *y = tree.y().data(), *z = tree.z().data();
  const Vec3f* normals = tree.normals().data();
  for (const ShellHit& hit : hits) {
    if (!(hit.distance < 0)) continue;
    const double area = static_cast<double>(hit.area);
    const double weight = -static_cast<double>(hit.distance) * area;
    const Vec3 normal = to_double(normals[hit.point]) * weight;
    const Vec3 place = to_double(Vec3f{x[hit.point], y[hit.point], z[hit.point]});
    sums.normal = sums.normal + normal;
    sums.moment = sums.moment + cross(place, normal);
    sums.area += area;
    sums.depth_area += weight;
  }
  return sums;
}

Sums sum_in_field(const PointSphereTree& tree, const ShellTarget& target,
                  const ShellPlacement& placement, std::span<const ShellHit> hits) {
  Sums sums;
  for (const ShellHit& hit : hits) {
    if (!(hit.distance < 0)) continue;
    const double area = static_cast<double>(hit.area);
    const double weight = -static_cast<double>(hit.distance) * area;
    const Vec3 push = direction_at(tree, target, placement, hit.point) * weight;
    sums.normal = sums.normal + push;
    sums.moment = sums.moment + cross(place_of(tree, placement, hit.point), push);
    sums.area += area;
    sums.depth_area += weight;
  }
  return sums;
}

}  // namespace

ShellForce compute_force(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, std::span<const ShellHit> hits,
                         const ShellForceSettings& settings) {
  Sums sums;
  if (settings.normal == ShellForceNormal::kField) {
    sums = sum_in_field(tree, target, placement, hits);
  } else {
    sums = sum_in_shell(tree, hits);
    // A position of the shell is at R (s p) + t. Its outward normal points into the other body: the
    // push is in the opposite direction.
    const Pose& pose = placement.field_from_shell;
    sums.normal = -rotate(pose.rotation, sums.normal);
    sums.moment = rotate(pose.rotation, sums.moment) * -placement.shell_scale +
                  cross(pose.translation, sums.normal);
  }
  ShellForce result;
  if (!(sums.area > 0)) return result;
  const double scale = settings.scale == ShellForceScale::kMeanDepth
                           ? settings.stiffness / sums.area
                           : settings.stiffness;
  result.force = sums.normal * scale;
  result.torque = (sums.moment - cross(settings.center, sums.normal)) * scale;
  result.area = sums.area;
  result.mean_depth = sums.depth_area / sums.area;
  return result;
}

Manifold choose_manifold(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, std::span<const ShellHit> hits,
                         std::uint32_t max_count) {
  Manifold chosen;
  if (hits.empty() || max_count == 0) return chosen;
  std::uint32_t deepest = 0;
  for (std::uint32_t i = 1; i < hits.size(); ++i)
    if (hits[i].distance < hits[deepest].distance) deepest = i;
  chosen.count = 1;
  chosen.hit[0] = deepest;
  if (max_count == 1 || hits.size() == 1) return chosen;
  // In the shell's frame, so that points need not be transformed.
  const Vec3f normal = to_float(rotate(conjugate(placement.field_from_shell.rotation),
                                       direction_at(tree, target, placement, hits[deepest].point)));
  const float *x = tree.x().data(), *y = tree.y().data(), *z = tree.z().data();
  const SpreadChoice choice = choose_spread(
      hits.size(), deepest, normal, max_count,
      [&](std::size_t i) {
        const std::uint32_t p = hits[i].point;
        return Vec3f{x[p], y[p], z[p]};
      },
      {}, [&](std::size_t i) { return -hits[i].distance; });
  for (; chosen.count < choice.count; ++chosen.count)
    chosen.hit[chosen.count] = static_cast<std::uint32_t>(choice.index[chosen.count]);
  return chosen;
}

ShellPatches patches_of_level(const PointSphereTree& tree, int level) {
  ShellPatches result;
  result.level = std::clamp(level, 0, tree.level_count() - 1);
  for (const ShellNode& node : tree.level(result.level).nodes)
    if (node.child_count > 0) result.first_point.push_back(node.first_point);
  result.first_point.push_back(tree.point_count());
  return result;
}

ShellPatches choose_patches(const PointSphereTree& tree, std::uint32_t m) {
  const double wanted = std::max(1.0, static_cast<double>(m));
  const auto off_by = [&](int level) {
    const double ratio = tree.header().levels[level].node_count / wanted;
    return std::max(ratio, 1 / ratio);
  };
  int best = 0;
  for (int level = 1; level < tree.level_count(); ++level)
    if (off_by(level) < off_by(best)) best = level;
  return patches_of_level(tree, best);
}

std::span<const ShellHit> hits_of_patch(const ShellPatches& patches, std::uint32_t i,
                                        std::span<const ShellHit> hits) {
  const auto before = [](const ShellHit& hit, std::uint32_t point) { return hit.point < point; };
  const auto first = std::lower_bound(hits.begin(), hits.end(), patches.first_point[i], before);
  const auto last = std::lower_bound(first, hits.end(), patches.first_point[i + 1], before);
  return {first, last};
}

}  // namespace isotact
