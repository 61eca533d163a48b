// Which directions to look along for image-space detection (depth_map.h), and what they leave
// unseen. FAB chooses by hand, and names this as future work.
//
//   const DepthCompliance found = choose_depth_directions(mesh, {.max_directions = 3});
//   found.directions[0].direction;  // the object's frame: for make_depth_view
//   found.seen;                     // share of the surface that one of them sees well
//
// What "seen" is depends on the method:
//   * kTwoMaps and kFragments take all for solid that lies between the object's outermost surface
//     and the view's front (with two sides: between its two outermost surfaces). A place of the
//     surface is seen where the space right before it is free by that rule: the ray from there
//     along the direction (or, with two sides, against it) leaves the object. Where no direction
//     sees a place, things in front of it are said to collide that do not; and an environment whose
//     nearest surface is such a thing can hide what does (kTwoMaps).
//   * kIntervals knows each part of the object along each ray, so concavities do not matter. A
//   place
//     is seen where the surface is not steeper than `grazing_degrees` to the view (steeper ones
//     have few pixels, and thin things that pass through them are found late), and where the ray
//     meets no more parts than there are layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/mesh.h"
#include "isotact/queries/depth_map.h"

namespace isotact {

struct DepthDirectionSettings {
  DepthMethod method = DepthMethod::kIntervals;
  bool two_sided = true;        // of kTwoMaps and kFragments
  int layers = 4;               // of kIntervals
  double wanted_share = 0.99;   // stop when so much of the surface is seen,
  int max_directions = 6;       // or with so many directions,
  double least_gain = 0.001;    // or when the best further one adds less than this share
  double grazing_degrees = 80;  // between the surface's normal and the view's axis
  std::int32_t samples = 4096;  // of the surface; shares are good to about 1 / sqrt(samples)
  std::int32_t candidates =
      64;  // spread over the sphere, beside 13 axes of the frame and diagonals
  Threads threads{};
};

struct DepthDirectionShare {
  Vec3 direction{};    // unit, the object's frame
  double seen = 0;     // share of the area that this one sees
  double gained = 0;   // of what the ones before did not see
  double grazing = 0;  // share that is steeper than grazing_degrees to it
  // Of the object's map of 128 x 128 pixels with `layers`: see DepthMap. kIntervals only.
  std::uint32_t covered = 0, overfull = 0, open = 0;
};

struct DepthCompliance {
  std::vector<DepthDirectionShare> directions;  // in the order of choice
  double seen = 0;                              // share of the area that at least one sees
  double unseen = 1;                            // the rest: what a user must know about
  double grazing = 0;                           // share that is grazing in all of them
  Vec3 worst{};  // a place that none sees, the object's frame; the last one sampled
};

// Greedy: the direction that adds most, then the next. Of equals the one with the smaller share of
// grazing surface, then the first (frame axes, face diagonals, space diagonals, the rest). Throws
// Error for a mesh without area, with flaws or positions that are not finite, and for settings
// without sense. Same result for any number of threads. Cost: samples x candidates rays, some
// 100 ms for a mesh of 10,000 triangles on one core.
DepthCompliance choose_depth_directions(const TriangleMesh& mesh,
                                        const DepthDirectionSettings& settings);
// The same report for directions of the caller's.
DepthCompliance check_depth_directions(const TriangleMesh& mesh, std::span<const Vec3> directions,
                                       const DepthDirectionSettings& settings);

// A zone of particles with maps from one place in it (FAB, "Particle system": six directions of a
// cube are valid for zones that are convex or star-convex).
struct StarZone {
  bool is_star_convex = false;  // all of the zone is seen from the centre; decided exactly
  double visible_share = 0;     // of its boundary's area, by samples
};
// `zone` is closed and turned outwards; `centre` lies in it, else nothing is visible.
StarZone check_star_zone(const TriangleMesh& zone, const Vec3& centre, std::int32_t samples = 4096,
                         Threads threads = {});
// The share of points that the centre sees past `walls`.
double find_visible_share(const TriangleMesh& walls, const Vec3& centre,
                          std::span<const Vec3> points, Threads threads = {});

}  // namespace isotact
