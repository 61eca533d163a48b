// From a place on a surface to where it is deepest in another body, nearby.
#pragma once

#include <algorithm>
#include <optional>

#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/field/field.h"

namespace ISOTACT_PUBLIC isotact {

struct SurfaceWalkSettings {
  int steps = 4;
  double radius = 0;   // metres: a first guess of how the surface and the other body's are curved
  double spacing = 0;  // metres: a step is at most twice as long, and so is the whole walk
  // Sines. The walk begins if the surfaces face each other by more than `facing`, and turn away
  // from each other by more than `flat`. It ends where they turn away by `enough`.
  double facing = 0.9, flat = 0.02, enough = 1e-3;
};

struct SurfacePlace {
  Vec3 place{};
  FieldSample other{};  // of the other body there; its gradient is about a unit vector
};

// A surface is deepest in another body where both face each other. Returns such a place
// near `start`, by some steps of the secant method along the surface. Each is put back onto the
// surface by its field. Returns none if the surface is an edge there, if nothing deeper is found,
// or if it is flat enough. `own(p)` and `other(p)` return a FieldSample of either body, in one
// frame. Cost: two samples per step.
template <typename Own, typename Other>
std::optional<SurfacePlace> walk_to_deepest(const Own& own, const Other& other, const Vec3& start,
                                            const SurfaceWalkSettings& settings) {
  const FieldSample first_own = own(start), first_other = other(start);
  if (!(length_sq(first_own.gradient) > 0.5)) return std::nullopt;
  // Against the other's direction, along our surface: how far it is from facing it.
  const auto slope_of = [](const FieldSample& there, const Vec3& normal) {
    return -(there.gradient - normal * dot(there.gradient, normal));
  };
  Vec3 normal = normalized(first_own.gradient);
  if (!(dot(first_other.gradient, normal) < -settings.facing)) return std::nullopt;
  SurfacePlace found{start, first_other};
  Vec3 slope = slope_of(first_other, normal);
  if (length(slope) < settings.flat) return std::nullopt;
  double radius = settings.radius;
  for (int i = 0; i < settings.steps && length(slope) > settings.enough; ++i) {
    const Vec3 step = slope * std::min(radius, 2 * settings.spacing / length(slope));
    Vec3 next = found.place + step;
    const FieldSample here = own(next);
    if (!(length_sq(here.gradient) > 0.5)) break;
    normal = normalized(here.gradient);
    next -= normal * here.distance;
    const FieldSample there = other(next);
    const Vec3 next_slope = slope_of(there, normal);
    // The slope falls along the step as on a circle of this radius.
    const double fell = dot(slope - next_slope, step);
    if (!(fell > 0)) break;
    radius = std::min(length_sq(step) / fell, 100 * settings.radius);
    found = {next, there};
    slope = next_slope;
  }
  if (length(found.place - start) > 2 * settings.spacing ||
      !(length_sq(found.other.gradient) > 0.5))
    return std::nullopt;
  return found;
}

}  // namespace isotact
