// Image-space detection the slow way: a ray through each pixel's middle is held against each
// triangle, in double and without a grid. What it cannot decide, because a middle lies next to an
// edge or a surface next to the end of an interval, it says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "isotact/queries/depth/depth_map.h"

namespace isotact::test {

struct RayCrossing {
  double z = 0, doubt = 0;  // metres; how far off it may be on the snapped triangle
  int sign = 0;             // +1: looks at the view
  std::size_t element = 0;
};
struct RayCrossings {
  std::vector<RayCrossing> all;  // ascending
  bool sure = true;              // no edge within a 4096th of a pixel
};

// As the picture has it: pixels, pixels, metres.
struct RayTriangle {
  Vec3 p[3];
  Vec3 lower, upper;
  std::size_t element = 0;
};
inline std::vector<RayTriangle> project(std::span<const DepthElement> elements,
                                        const Pose& view_from_list, const DepthView& view,
                                        std::int32_t width, std::int32_t height) {
  std::vector<RayTriangle> triangles;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const Pose view_from_element = view_from_list * elements[e].world_from_element;
    const auto& indices = elements[e].indices;
    for (std::size_t t = 0; t + 2 < indices.size(); t += 3) {
      RayTriangle made{.p = {}, .lower = {}, .upper = {}, .element = e};
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 v = transform_point(view_from_element, elements[e].positions[indices[t + k]]);
        made.p[k] = {(v.x / view.half_size.x + 1) * width / 2,
                     (v.y / view.half_size.y + 1) * height / 2, v.z + view.half_size.z};
      }
      made.lower = min(min(made.p[0], made.p[1]), made.p[2]);
      made.upper = max(max(made.p[0], made.p[1]), made.p[2]);
      triangles.push_back(made);
    }
  }
  return triangles;
}

inline RayCrossings cast_ray(std::span<const RayTriangle> triangles, const DepthView& view,
                             std::int32_t column, std::int32_t row) {
  constexpr double kNear = 0x1p-12;
  RayCrossings result;
  const double px = column + 0.5, py = row + 0.5;
  for (const RayTriangle& triangle : triangles) {
    if (px < triangle.lower.x - kNear || px > triangle.upper.x + kNear ||
        py < triangle.lower.y - kNear || py > triangle.upper.y + kNear)
      continue;
    const auto& p = triangle.p;
    const Vec3 n = cross(p[1] - p[0], p[2] - p[0]);
    double weights[3];
    double least_distance = 1e300;
    bool inside = n.z != 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 &a = p[(k + 1) % 3], &b = p[(k + 2) % 3];
      const double dx = b.x - a.x, dy = b.y - a.y;
      const double e_k = dx * (py - a.y) - dy * (px - a.x);
      weights[k] = n.z != 0 ? e_k / n.z : 0;
      inside = inside && weights[k] >= 0;
      // Distance to the edge as a segment.
      const double length_sq = dx * dx + dy * dy;
      const double along = (px - a.x) * dx + (py - a.y) * dy;
      const double s = length_sq > 0 ? std::clamp(along / length_sq, 0.0, 1.0) : 0.0;
      least_distance = std::min(least_distance, std::hypot(px - a.x - s * dx, py - a.y - s * dy));
    }
    if (least_distance < kNear) result.sure = false;
    if (!inside) continue;
    const double slope = (std::abs(n.x) + std::abs(n.y)) / std::abs(n.z);
    result.all.push_back({weights[0] * p[0].z + weights[1] * p[1].z + weights[2] * p[2].z,
                          slope * 0x1p-15 + 1e-6 * view.half_size.z, n.z < 0 ? 1 : -1,
                          triangle.element});
  }
  std::sort(result.all.begin(), result.all.end(),
            [](const RayCrossing& a, const RayCrossing& b) { return a.z < b.z; });
  return result;
}

// Where the object is solid, by the nonzero rule; empty with sure = false where surfaces do not
// close.
struct RaySolid {
  std::vector<std::pair<RayCrossing, RayCrossing>> parts;
  bool sure = true;
};
inline RaySolid find_solid(const RayCrossings& crossings) {
  RaySolid solid{.parts = {}, .sure = crossings.sure};
  int winding = 0;
  RayCrossing start{};
  for (const RayCrossing& c : crossings.all) {
    const int before = winding;
    winding += c.sign;
    if (before == 0) start = c;
    if (winding == 0) solid.parts.emplace_back(start, c);
  }
  if (winding != 0) solid.sure = false;
  for (std::size_t i = 0; i + 1 < solid.parts.size(); ++i)
    if (solid.parts[i + 1].first.z - solid.parts[i].second.z <
        solid.parts[i + 1].first.doubt + solid.parts[i].second.doubt)
      solid.sure = false;
  return solid;
}

struct OracleReport {
  std::uint32_t pixels = 0, undecided = 0;  // hit for sure; could not be decided
  std::set<std::size_t> elements, undecided_elements;
  bool within = false;  // somewhere in an element, for sure
};

// kIntervals with as many layers as there are.
inline OracleReport detect_with_rays(std::span<const DepthElement> object, const DepthView& view,
                                     const Pose& world_from_object,
                                     std::span<const DepthElement> environment, std::int32_t width,
                                     std::int32_t height) {
  OracleReport report;
  const Pose view_from_object = inverse(view.object_from_view);
  const Pose view_from_world = view_from_object * inverse(world_from_object);
  const auto of_object = project(object, view_from_object, view, width, height);
  const auto of_environment = project(environment, view_from_world, view, width, height);
  for (std::int32_t row = 0; row < height; ++row)
    for (std::int32_t column = 0; column < width; ++column) {
      const RaySolid solid = find_solid(cast_ray(of_object, view, column, row));
      const RayCrossings hits = cast_ray(of_environment, view, column, row);
      bool hit = false, undecided = !solid.sure || !hits.sure;
      std::vector<int> winding(environment.size());
      std::size_t next = 0;
      for (const auto& [near, far] : solid.parts) {
        for (; next < hits.all.size() && hits.all[next].z < near.z; ++next)
          winding[hits.all[next].element] += hits.all[next].sign;
        for (std::size_t e = 0; e < environment.size(); ++e)
          if (environment[e].closed && winding[e] > 0 && !undecided) report.within = true;
        for (const RayCrossing& c : hits.all) {
          const bool near_end = std::abs(c.z - near.z) <= c.doubt + near.doubt ||
                                std::abs(c.z - far.z) <= c.doubt + far.doubt;
          const bool in = c.z >= near.z && c.z <= far.z;
          if (near_end) {
            undecided = true;
            report.undecided_elements.insert(c.element);
          }
          if (in && !near_end) {
            hit = true;
            (undecided ? report.undecided_elements : report.elements).insert(c.element);
          }
        }
      }
      if (undecided) {
        ++report.undecided;
        for (const RayCrossing& c : hits.all) report.undecided_elements.insert(c.element);
      } else if (hit) {
        ++report.pixels;
      }
    }
  return report;
}

}  // namespace isotact::test
