// Rays through fields by sphere tracing (Hart 1996), for pictures and picking.
//
// Soundness: a field changes no faster than its Lipschitz bound L. From a point with value v there
// is therefore no root within |v - level| / L: steps of that length pass none. Steps are also at
// least `shortest_step`, so that grazing rays come to an end. These steps may pass a body, but only
// one that the ray crosses for less than that.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isotact/export.h"
#include "isotact/field/field.h"

namespace ISOTACT_PUBLIC isotact {

struct FieldRay {
  Vec3 origin{};
  Vec3 direction{};  // Unit vector.
  double t_min = 0;
  double t_max = std::numeric_limits<double>::infinity();
};

struct TraceSettings {
  double level = 0;          // In metres: the value of the field on the surface.
  double shortest_step = 0;  // Metres, positive: about a tenth of a cell.
  // The field is above level outside of it (compute_surface_box); rays are cut to it.
  Aabb box{};
  int max_steps = 4096;
};

enum class TraceStatus : std::uint8_t {
  kMiss,
  kHit,
  kGaveUp,  // After max_steps, at t: nothing was found so far.
};

struct TraceHit {
  TraceStatus status = TraceStatus::kMiss;
  // Position of the hit, to within 2^-30 of a step; otherwise the end of the traced part.
  double t = 0;
  int steps = 0;    // Evaluated values, without those for the root.
  bool entering{};  // For a hit: from values above level to values below.
};

// Returns a box outside of which the field is above iso. Outside of its own box a field is at least
// the distance to it plus its lowest value there, if that is negative (field.h). Needs a field with
// a finite box.
template <Field F>
Aabb compute_surface_box(const F& field, double level) {
  Aabb box = field.bounds();
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const bool upper : {false, true}) {
      Aabb side = box;
      (upper ? side.lower : side.upper)[axis] = (upper ? side.upper : side.lower)[axis];
      lowest = std::min(lowest, field.range(side).lower);
    }
  if (lowest > level) return box;
  const double reach = level - std::min(lowest, 0.0);
  return {box.lower - Vec3{reach, reach, reach}, box.upper + Vec3{reach, reach, reach}};
}

// Computes a distance within which value - level has no root, from the difference v at a point.
// There are two bounds, and the better one is used. The first is |v| / lipschitz. The second is |v|
// - 2 e, for a field that is nowhere further than e from a true distance. A root lies within e of a
// surface of the true distance, which is at least |v| - e away. The first is better near the
// surface, the second far from it. A brick field's far values may have a larger error than those
// near its roots.
class SafeStep {
 public:
  template <Field F>
  SafeStep(const F& field, double level) : per_value_(1 / field.lipschitz()) {
    if constexpr (requires { field.header().far_error; })
      if (level <= 0) twice_error_ = 2 * static_cast<double>(field.header().far_error);
    if constexpr (requires { field.header().sparse_from; })
      if (const auto& h = field.header(); h.sparse_from > 0) {
        more_from_ = sparse_error_from(h) - std::abs(level);
        more_ = std::max(static_cast<double>(h.sparse_error - h.far_error), 0.0);
        if (more_from_ <= 0) more_ *= 2;  // Roots may also be among sparse nodes.
      }
  }
  double operator()(double v) const {
    const double a = std::abs(v);
    return std::max(a * per_value_, a - twice_error_ - (a >= more_from_ ? more_ : 0));
  }

 private:
  double per_value_;
  double twice_error_ = std::numeric_limits<double>::infinity();
  double more_from_ = std::numeric_limits<double>::infinity(), more_ = 0;
};

// Cuts [t_min, t_max] to the part of the ray in the box; returns false if there is none.
inline bool clip(FieldRay& ray, const Aabb& box) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double o = ray.origin[axis], d = ray.direction[axis];
    if (d == 0) {
      if (o < box.lower[axis] || o > box.upper[axis]) return false;
      continue;
    }
    const double a = (box.lower[axis] - o) / d, b = (box.upper[axis] - o) / d;
    ray.t_min = std::max(ray.t_min, std::min(a, b));
    ray.t_max = std::min(ray.t_max, std::max(a, b));
  }
  return ray.t_min <= ray.t_max;
}

// Finds the first point at which the field passes level along the ray, in either direction.
template <Field F>
TraceHit trace_ray(const F& field, FieldRay ray, const TraceSettings& settings) {
  assert(settings.shortest_step > 0);
  TraceHit result;
  if (!clip(ray, settings.box)) return result;
  const auto value_at = [&](double t) {
    return field.value(ray.origin + ray.direction * t) - settings.level;
  };
  const SafeStep safe_step(field, settings.level);
  double t = ray.t_min;
  double v = value_at(t);
  const bool starts_inside = v < 0;
  for (result.steps = 1; t < ray.t_max; ++result.steps) {
    if (result.steps > settings.max_steps) {
      result.status = TraceStatus::kGaveUp;
      break;
    }
    const double next = std::min(t + std::max(safe_step(v), settings.shortest_step), ray.t_max);
    const double v_next = value_at(next);
    if ((v_next < 0) != starts_inside) {
      double near = t, far = next;
      for (int i = 0; i < 30; ++i) {
        const double middle = near + (far - near) / 2;
        ((value_at(middle) < 0) == starts_inside ? near : far) = middle;
      }
      result.status = TraceStatus::kHit;
      result.entering = !starts_inside;
      result.t = far;
      return result;
    }
    t = next;
    v = v_next;
  }
  result.t = t;
  return result;
}

// Returns whether anything blocks the ray: trace_ray without the root. A ray that is given up after
// max_steps counts as blocked: false means that the ray was traced to its end.
template <Field F>
bool is_blocked(const F& field, FieldRay ray, const TraceSettings& settings) {
  assert(settings.shortest_step > 0);
  if (!clip(ray, settings.box)) return false;
  const SafeStep safe_step(field, settings.level);
  double t = ray.t_min;
  for (int step = 0; step < settings.max_steps; ++step) {
    const double v = field.value(ray.origin + ray.direction * t) - settings.level;
    if (v < 0) return true;
    if (t >= ray.t_max) return false;
    t = std::min(t + std::max(safe_step(v), settings.shortest_step), ray.t_max);
  }
  return true;
}

}  // namespace isotact
