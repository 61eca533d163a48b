// The energy of a step with contact inside of its solve.
#include <algorithm>
#include <cmath>

#include "isotact/dynamics/soft/detail/barrier.h"

namespace isotact::detail {

BarrierValue compute_barrier(double distance, double least, double reach, double stiffness) {
  const double t = distance - least, far = reach - least;
  if (t >= far) return {};
  const double off = t - far, log = std::log(t / far);
  return {-stiffness * off * off * log, -stiffness * (2 * off * log + off * off / t),
          stiffness * (-2 * log - 4 * off / t + off * off / (t * t))};
}

FrictionValue compute_friction(double slip, double soft) {
  if (slip >= soft) return {slip, 1 / slip};
  const double y = slip / soft;
  return {soft * (y * y * (1 - y / 3) + 1.0 / 3), (2 - y) / soft};
}

double compute_beyond(const SoftMaterial& m, double l, double rest) {
  if (!(m.max_strain > 0)) return 0;
  const double most = rest * (1 + m.max_strain), least = rest * (1 - m.max_strain);
  return l > most ? l - most : l < least ? l - least : 0;
}

BarrierValue compute_plane_barrier(const BarrierSurface& a, double d) {
  const double least = kLeastShare * a.margin, low = 1.05 * least;
  if (d >= low) return compute_barrier(d, least, a.margin, a.inertia);
  const BarrierValue edge = compute_barrier(low, least, a.margin, a.inertia);
  return {edge.energy + edge.slope * (d - low), edge.slope, edge.curvature};
}

Vec3 compute_slip(const BarrierSystem& s, const BarrierContact& c, const Vec3* x) {
  Vec3 u{};
  for (std::uint32_t k = 0; k < c.count; ++k) u += (x[c.v[k]] - s.x0[c.v[k]]) * c.w[k];
  return u - c.normal * dot(c.normal, u);
}

double compute_stored_energy(const BarrierSystem& s) {
  double energy = 0;
  for (const BarrierContact& c : s.contacts) energy += c.energy;
  return energy;
}

Vec3 rotation_between(const Quat& a, const Quat& b) {
  Quat q = a * conjugate(b);
  if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
  const Vec3 v{q.x, q.y, q.z};
  const double sine = length(v);
  return sine > 1e-12 ? v * (2 * std::atan2(sine, q.w) / sine) : v * 2.0;
}

namespace {

double energy_of_springs(const BarrierSystem& s, const SoftBody& b, const BarrierSurface& a,
                         const Vec3* x) {
  const SoftMaterial& m = b.settings.material;
  double energy = 0;
  const Vec3 *at = x + a.first, *from = s.x0.data() + a.first;
  const double damping = m.damping / s.step;
  for (std::size_t i = 0; i < b.springs.size(); ++i) {
    const SoftSpring& spring = b.springs[i];
    const double l = length(at[spring.b] - at[spring.a]);
    const double stretch = l - spring.rest;
    energy += 0.5 * spring.stiffness * stretch * stretch;
    if (damping > 0) {
      const Vec3 d0 = from[spring.b] - from[spring.a];
      const double rate = dot(normalized(d0), at[spring.b] - at[spring.a] - d0);
      energy += 0.5 * damping * rate * rate;
    }
    const double beyond = i < b.edge_springs ? compute_beyond(m, l, spring.rest) : 0;
    energy += 0.5 * kBeyondLimit * spring.stiffness * beyond * beyond;
  }
  return energy;
}

double energy_of_surface(const SoftBody& b, const BarrierSurface& a, const Vec3* x) {
  const SoftMaterial& m = b.settings.material;
  const Vec3* at = x + a.first;
  double energy = 0;
  for (std::size_t i = 0; i < b.rest_area.size(); ++i) {
    const Triangle& t = b.topology.triangles[i];
    const double area = length(cross(at[t[1]] - at[t[0]], at[t[2]] - at[t[0]])) / 2;
    energy += 0.5 * m.area * (area - b.rest_area[i]) * (area - b.rest_area[i]);
  }
  if (m.volume > 0) {
    const double lost = compute_volume(b, at) - b.rest_volume;
    energy += 0.5 * m.volume * lost * lost / std::abs(b.rest_volume);
  }
  return energy;
}

double energy_of_friction(const BarrierSystem& s, const Vec3* x) {
  double energy = 0;
  for (const BarrierContact& c : s.drags)
    energy += c.friction * compute_friction(length(compute_slip(s, c, x)), s.soft_slip).energy;
  return energy;
}

double energy_of_contacts(BarrierSystem& s, const Vec3* x, bool trial) {
  double energy = 0;
  if (!trial) {
    for (const BarrierContact& c : s.contacts) energy += c.energy;
    return energy + energy_of_friction(s, x);
  }
  s.energies.assign(s.pairs.size(), 0);
  parallel_for(s.pairs.size(), 2048, s.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const BarrierPair& pair = s.pairs[i];
      if (bound_on_trial(s, pair) > pair.reach || !may_reach(pair, x)) continue;
      const double d = compute_pair_distance(pair, x).distance - pair.radius;
      if (d < pair.reach)
        s.energies[i] = compute_barrier(d, pair.least, pair.reach, pair.stiffness).energy;
    }
  });
  // One after the other: candidates out of reach change no bit of it.
  for (const double e : s.energies) energy += e;
  for (const BarrierSurface& a : s.surfaces) {
    if (a.rigid >= 0 || a.tree == nullptr) continue;
    for (const BarrierPlane& plane : s.planes)
      for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
        const double d = dot(plane.normal, x[i]) - plane.offset;
        if (d < a.margin && s.inertia[i] > 0) energy += compute_plane_barrier(a, d).energy;
      }
  }
  return energy + energy_of_friction(s, x);
}

}  // namespace

double compute_step_energy(BarrierSystem& s, bool trial) {
  const Vec3* x = trial ? s.trial.data() : s.x.data();
  double energy = 0;
  for (std::uint32_t i = 0; i < s.soft_count; ++i)
    energy += 0.5 * s.inertia[i] * length_sq(x[i] - s.aim[i]);
  for (const BarrierRigid& body : s.rigid) {
    if (!body.dynamic) continue;
    const Vec3 off = (trial ? body.center_trial : body.center) - body.center_aim;
    const Vec3 turn = rotation_between(trial ? body.turn_trial : body.turn, body.turn_aim);
    energy +=
        0.5 * (body.mass * length_sq(off) + dot(turn, body.inertia * turn)) / (s.step * s.step);
  }
  for (std::size_t k = 0; k < s.bodies.size(); ++k) {
    energy += energy_of_springs(s, *s.bodies[k], s.surfaces[k], x);
    energy += energy_of_surface(*s.bodies[k], s.surfaces[k], x);
  }
  return energy + energy_of_contacts(s, x, trial);
}

}  // namespace isotact::detail
