// Choice of view directions for image-space detection (depth_map.h), with a report of the surface
// that they do not see. FAB chooses by hand, and names this as future work.
//
//   const DepthCompliance found = choose_depth_directions(mesh, {.max_directions = 3});
//   found.directions[0].direction;  // Object frame: for make_depth_view.
//   found.seen;                     // Fraction of the surface that at least one of them sees well.
//
// The meaning of "seen" depends on the method:
//   * kTwoMaps and kFragments treat everything as solid between the object's outermost surface and
//     the view's front (with two sides: between its two outermost surfaces). A surface position is
//     seen if the space directly before it is free by that rule. The ray from there along the
//     direction (or, with two sides, against it) then leaves the object. If no direction sees a
//     position, objects in front of it are reported as collisions without touching. An environment
//     whose nearest surface is such an object can hide a real collision (kTwoMaps).
//   * kIntervals has each part of the object along each ray, so concavities do not matter. A
//     position is seen under two conditions. The surface is not steeper than `grazing_degrees` to
//     the view: steeper ones have few pixels, and thin objects that pass through them are found
//     late. And the ray meets no more parts than there are layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/depth/depth_map.h"

namespace ISOTACT_PUBLIC isotact {

struct DepthDirectionSettings {
  DepthMethod method = DepthMethod::kIntervals;
  bool two_sided = true;        // For kTwoMaps and kFragments.
  int layers = 4;               // For kIntervals.
  double wanted_share = 0.99;   // Stop if this fraction of the surface is seen.
  int max_directions = 6;       // Stop with so many directions.
  double least_gain = 0.001;    // Stop if the best further one adds less than this fraction.
  double grazing_degrees = 80;  // Between the surface's normal and the view's axis.
  // Samples of the surface; fractions are accurate to about 1 / sqrt(samples).
  std::int32_t samples = 4096;
  // Spread over the sphere, in addition to 13 axes of the frame and diagonals.
  std::int32_t candidates = 64;
  Threads threads{};
};

struct DepthDirectionShare {
  Vec3 direction{};    // Unit vector, object frame.
  double seen = 0;     // Fraction of the area that this one sees.
  double gained = 0;   // Fraction that the ones before did not see.
  double grazing = 0;  // Fraction that is steeper than grazing_degrees to it.
  // From the object's map of 128 x 128 pixels with `layers`: see DepthMap. kIntervals only.
  std::uint32_t covered = 0, overfull = 0, open = 0;
};

struct DepthCompliance {
  std::vector<DepthDirectionShare> directions;  // In the order of choice.
  double seen = 0;                              // Fraction of the area that at least one sees.
  double unseen = 1;   // The remaining fraction, which a user should check.
  double grazing = 0;  // Fraction that is grazing in all of them.
  Vec3 worst{};        // A position that none sees, object frame; the last one sampled.
};

// Greedy: takes the direction that adds most, then the next. Equal ones are ordered by the smaller
// fraction of grazing surface, then by their index (frame axes, face diagonals, space diagonals,
// the rest). Throws Error for a mesh without area, with flaws or positions that are not finite, and
// for invalid settings. Returns the same result for any number of threads. Cost: samples x
// candidates rays, about 100 ms for a mesh of 10,000 triangles on one core.
DepthCompliance choose_depth_directions(const TriangleMesh& mesh,
                                        const DepthDirectionSettings& settings);
// Returns the same report for given directions.
DepthCompliance check_depth_directions(const TriangleMesh& mesh, std::span<const Vec3> directions,
                                       const DepthDirectionSettings& settings);

// A zone of particles with maps from one position in it. By FAB, "Particle system", six directions
// of a cube are valid for zones that are convex or star-convex.
struct StarZone {
  bool is_star_convex = false;  // The centre sees the whole zone; decided exactly.
  double visible_share = 0;     // Fraction of its boundary's area, by samples.
};
// `zone` must be closed and oriented outwards. `centre` must lie in it; otherwise nothing is
// visible.
StarZone check_star_zone(const TriangleMesh& zone, const Vec3& centre, std::int32_t samples = 4096,
                         Threads threads = {});
// Returns the fraction of points that are visible from the centre past `walls`.
double compute_visible_share(const TriangleMesh& walls, const Vec3& centre,
                             std::span<const Vec3> points, Threads threads = {});

}  // namespace isotact
