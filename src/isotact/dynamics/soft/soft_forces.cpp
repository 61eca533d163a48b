// Forces of masses on springs: MDL06, section 4.

#include <algorithm>
#include <cmath>

#include "isotact/dynamics/soft/detail/soft_body.h"

namespace isotact::detail {

namespace {

// Hooke with damping, equation 2. The paper's sign is that of the force on the end that d points
// to; the other end gets the opposite. Its d-dot must be the rate of the length: the relative
// velocity projected on the spring. The whole relative velocity, put along d, would brake turning
// bodies.
void add_spring_forces(const SoftBody& b, const Vec3* x, const Vec3* v, Vec3* force) {
  const double damping = b.settings.material.damping;
  for (const SoftSpring& s : b.springs) {
    const Vec3 d = x[s.b] - x[s.a];
    const double l = std::sqrt(length_sq(d));
    if (!(l > 0)) continue;  // no direction
    const double inverse = 1 / l;
    const double rate = dot(v[s.b] - v[s.a], d) * inverse;
    const Vec3 f = d * ((s.stiffness * (l - s.rest) + damping * rate) * inverse);
    force[s.a] += f;
    force[s.b] -= f;
  }
}

// Energies k/2 (A - A0)^2 a triangle, p/2 (V - V0)^2 / |V0| a body. The gradient of an area at a
// corner is half the opposite edge, turned by the normal; that of the volume of a closed surface is
// a third of the area vectors around a vertex.
void add_surface_forces(const SoftBody& b, const Vec3* x, Vec3* force) {
  const SoftMaterial& m = b.settings.material;
  double pressure = 0;
  if (m.volume > 0)
    pressure = -m.volume * (compute_volume(b, x) - b.rest_volume) / std::abs(b.rest_volume);
  for (std::size_t i = 0; i < b.topology.triangles.size(); ++i) {
    const Triangle& t = b.topology.triangles[i];
    const Vec3 ab = x[t[1]] - x[t[0]], ac = x[t[2]] - x[t[0]];
    const Vec3 normal = cross(ab, ac);
    const Vec3 push = normal * (pressure / 6);
    Vec3 f0 = push, f1 = push, f2 = push;
    if (!b.rest_area.empty()) {
      const double twice = length(normal);
      const double k = twice > 0 ? m.area * (b.rest_area[i] - twice / 2) / (2 * twice) : 0;
      f0 += cross(normal, ac - ab) * k;
      f1 -= cross(normal, ac) * k;
      f2 += cross(normal, ab) * k;
    }
    force[t[0]] += f0;
    force[t[1]] += f1;
    force[t[2]] += f2;
  }
}

}  // namespace

void add_forces(const SoftBody& b, const Vec3* x, const Vec3* v, Vec3* force) {
  add_spring_forces(b, x, v, force);
  if (b.settings.material.volume > 0 || !b.rest_area.empty()) add_surface_forces(b, x, force);
}

double compute_volume(const SoftBody& b, const Vec3* x) {
  const Vec3 origin = x[0];  // near by: less to cancel
  double six = 0;
  for (const Triangle& t : b.topology.triangles)
    six += dot(x[t[0]] - origin, cross(x[t[1]] - origin, x[t[2]] - origin));
  return six / 6;
}

double compute_elastic_energy(const SoftBody& b) {
  double energy = 0;
  for (const SoftSpring& s : b.springs) {
    const double stretch = std::sqrt(length_sq(b.x[s.b] - b.x[s.a])) - s.rest;
    energy += s.stiffness * stretch * stretch / 2;
  }
  const SoftMaterial& m = b.settings.material;
  for (std::size_t i = 0; i < b.rest_area.size(); ++i) {
    const Triangle& t = b.topology.triangles[i];
    const double area = length(cross(b.x[t[1]] - b.x[t[0]], b.x[t[2]] - b.x[t[0]])) / 2;
    energy += m.area * (area - b.rest_area[i]) * (area - b.rest_area[i]) / 2;
  }
  if (m.volume > 0) {
    const double lost = compute_volume(b, b.x.data()) - b.rest_volume;
    energy += m.volume * lost * lost / (2 * std::abs(b.rest_volume));
  }
  return energy;
}

namespace {

// What a rest value becomes where the relative change is beyond `yield`: it follows until only
// `yield` is left.
double follow(double rest, double now, double yield, double share) {
  const double beyond = std::abs(now - rest) - yield * std::abs(rest);
  return beyond > 0 ? rest + std::copysign(beyond * share, now - rest) : rest;
}

}  // namespace

void flow(SoftBody& b, double step) {
  const SoftMaterial& m = b.settings.material;
  if (!(m.yield > 0)) return;
  const double share = std::min(1.0, m.creep * step);
  for (SoftSpring& s : b.springs)
    s.rest = follow(s.rest, length(b.x[s.b] - b.x[s.a]), m.yield, share);
  // Lengths that change by a share change areas by twice and volumes by three times as much.
  for (std::size_t i = 0; i < b.rest_area.size(); ++i) {
    const Triangle& t = b.topology.triangles[i];
    const Vec3 normal = cross(b.x[t[1]] - b.x[t[0]], b.x[t[2]] - b.x[t[0]]);
    b.rest_area[i] = follow(b.rest_area[i], length(normal) / 2, 2 * m.yield, share);
  }
  if (m.volume > 0)
    b.rest_volume = follow(b.rest_volume, compute_volume(b, b.x.data()), 3 * m.yield, share);
}

bool limit_strain(SoftBody& b) {
  const double strain = b.settings.material.max_strain;
  if (!(strain > 0)) return false;
  constexpr int kSweeps = 32;  // a sheet that hangs needs as many as it has rows
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool beyond = false;
    for (std::size_t i = 0; i < b.edge_springs; ++i) {
      const SoftSpring& s = b.springs[i];
      const Vec3 d = b.x[s.b] - b.x[s.a];
      const double most = s.rest * (1 + strain), least = s.rest * (1 - strain);
      const double l_sq = length_sq(d);
      if (l_sq <= most * most && l_sq >= least * least) continue;
      const double wa = b.inverse_mass[s.a], wb = b.inverse_mass[s.b];
      if (!(wa + wb > 0) || !(l_sq > 0)) continue;
      beyond = true;
      const double l = std::sqrt(l_sq), too_long = l - (l > most ? most : least);
      const Vec3 shift = d * (too_long / (l * (wa + wb)));
      b.x[s.a] += shift * wa;
      b.x[s.b] -= shift * wb;
      // Only what goes on beyond the limit is stopped. Speeds made of shifts, as in position based
      // dynamics, would make energy of what sweeps left over.
      const double rate = dot(b.v[s.b] - b.v[s.a], d) / l;
      if (!(rate * too_long > 0)) continue;
      const Vec3 stop = d * (rate / (l * (wa + wb)));
      b.v[s.a] += stop * wa;
      b.v[s.b] -= stop * wb;
    }
    if (!beyond) return sweep > 0;
  }
  return true;
}

}  // namespace isotact::detail
