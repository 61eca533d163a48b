// How a body goes through a step by itself: steering, Verlet, walls; its bounds come along.

#include <algorithm>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/dynamics/soft/detail/soft_body.h"

namespace isotact::detail {

namespace {

Vec3 compute_mean_velocity(const SoftBody& b) {
  Vec3 sum{};
  for (std::size_t i = 0; i < b.v.size(); ++i) sum += b.v[i] * b.mass[i];
  return sum / b.total_mass;
}

// How often a heading has been given until a time: its number, from 1 on; 0: none yet.
std::uint64_t heading_number(const Steering& s, double time) {
  if (s.keys.empty()) {
    constexpr double kMostDrawn = 1e15;  // of tiny periods: more would not fit a number
    return static_cast<std::uint64_t>(std::min(std::max(time, 0.0) / s.period, kMostDrawn)) + 1;
  }
  const auto after =
      std::upper_bound(s.keys.begin(), s.keys.end(), time,
                       [](double t, const SteeringKey& key) { return t < key.time; });
  return static_cast<std::uint64_t>(after - s.keys.begin());
}

struct Balance {
  Vec3 center{};
  Mat3 inertia{};  // about it

  explicit Balance(const SoftBody& b) {
    for (std::size_t i = 0; i < b.x0.size(); ++i) center += b.x0[i] * b.mass[i];
    center = center / b.total_mass;
    for (std::size_t i = 0; i < b.x0.size(); ++i) {
      const Vec3 r = b.x0[i] - center;
      for (std::size_t k = 0; k < 3; ++k) {
        inertia.rows[k] -= r * (r[k] * b.mass[i]);
        inertia.rows[k][k] += length_sq(r) * b.mass[i];
      }
    }
  }
  // How fast it turns with an angular momentum; not at all where that cannot be said.
  Vec3 turning(const Vec3& angular) const {
    const Vec3 *r = inertia.rows.data(), x = cross(r[1], r[2]), y = cross(r[2], r[0]);
    const double size = determinant(inertia);
    if (!(size > 0)) return {};
    return (x * angular.x + y * angular.y + cross(r[0], r[1]) * angular.z) / size;
  }
};

// Along one random axis it grows, along another it shrinks, about its centre of mass, without
// turning: neither momentum comes of it.
void stretch(SoftBody& b, double rate, Random& random) {
  const Balance balance(b);
  const Vec3 along = random.unit_vector();
  const Vec3 across = normalized(cross(along, random.unit_vector()));
  const auto grow = [&](const Vec3& r) {
    return (along * dot(along, r) - across * dot(across, r)) * rate;
  };
  Vec3 angular{};
  for (std::size_t i = 0; i < b.v.size(); ++i) {
    const Vec3 r = b.x0[i] - balance.center;
    angular += cross(r, grow(r)) * b.mass[i];
  }
  const Vec3 turning = balance.turning(angular);
  for (std::size_t i = 0; i < b.v.size(); ++i) {
    const Vec3 r = b.x0[i] - balance.center;
    if (b.inverse_mass[i] > 0) b.v[i] += grow(r) - cross(turning, r);
  }
}

// Leapfrog, that is Störmer's and Verlet's x'' = (x+ - 2 x + x-) / h^2 with the velocity of the
// last part, (x - x-) / h, as the state, which is what contacts change. The velocity that a body
// begins with is that of the beginning: the first kick is half as long.
void move_by_verlet(SoftBody& b, const SoftMotion& m) {
  const double h = m.step / b.substeps;
  const double air = 1 / (1 + b.settings.material.air_friction * h);
  const Vec3 gravity = b.steered ? Vec3{} : m.gravity;
  const std::size_t n = b.x.size();
  const Vec3* from = b.x0.data();
  BoundsNote note{.about = center(b.box0)};
  for (int part = 0; part < b.substeps; ++part) {
    std::fill(b.force.begin(), b.force.end(), Vec3{});
    add_forces(b, from, b.v.data(), b.force.data());
    const double kick = b.started ? h : h / 2;
    b.started = true;
    const bool last = part + 1 == b.substeps;
    for (std::size_t i = 0; i < n; ++i) {
      const double w = b.inverse_mass[i];
      const double keeps = w > 0 ? air : 0;
      b.v[i] = (b.v[i] + (b.force[i] * w + gravity) * kick) * keeps;
      b.x[i] = from[i] + b.v[i] * h;
      if (last) note.add(b.x0[i], b.x[i]);
    }
    from = b.x.data();
  }
  note.give(b);
}

// Vertices beyond a wall are put back, and go back; what is steered turns around.
bool reflect(SoftBody& b, const Aabb& cube) {
  if (contains(cube, b.box.lower) && contains(cube, b.box.upper)) return false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (b.box.lower[axis] < cube.lower[axis]) b.heading[axis] = std::abs(b.heading[axis]);
    if (b.box.upper[axis] > cube.upper[axis]) b.heading[axis] = -std::abs(b.heading[axis]);
  }
  for (std::size_t i = 0; i < b.x.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double &x = b.x[i][axis], &v = b.v[i][axis];
      if (b.inverse_mass[i] == 0) continue;
      if (x < cube.lower[axis]) {
        x = cube.lower[axis];
        v = std::abs(v);
      } else if (x > cube.upper[axis]) {
        x = cube.upper[axis];
        v = -std::abs(v);
      }
    }
  return true;
}

}  // namespace

// MDL06, section 4, adds a random vector to every mass in every step, which would go on for ever;
// here the mean velocity is set, and what bends the body is left as it is.
void steer(SoftBody& b, const SoftMotion& m) {
  const Steering& s = *b.settings.steering;
  const std::uint64_t number = heading_number(s, m.time - m.step / 2);
  if (!s.velocity && number != b.drawn) {
    b.drawn = number;
    if (s.keys.empty()) {
      Random random(s.seed, number);
      b.heading = random.unit_vector() * s.speed;
      if (s.wobble > 0) stretch(b, s.wobble, random);
    } else {
      b.heading = number > 0 ? s.keys[number - 1].velocity : Vec3{};
    }
  }
  const Vec3 more = b.heading - compute_mean_velocity(b);
  for (std::size_t i = 0; i < b.v.size(); ++i)
    if (b.inverse_mass[i] > 0) b.v[i] += more;
}

void BoundsNote::give(SoftBody& b) const {
  b.box = box;
  // Rounding of the squares and of the root.
  b.ball = {about, std::sqrt(far_sq) * (1 + 1e-14)};
  b.reach = std::sqrt(way_sq) * (1 + 1e-14);
  constexpr double kFarthest = 1e14;  // metres, as for rigid bodies
  b.broken = !(is_finite(sum) && length_sq(box.lower) < kFarthest * kFarthest &&
               length_sq(box.upper) < kFarthest * kFarthest);
}

void update_bounds(SoftBody& b) {
  BoundsNote note{.about = is_empty(b.box) ? b.x[0] : center(b.box)};
  for (std::size_t i = 0; i < b.x.size(); ++i) note.add(b.x0.empty() ? b.x[i] : b.x0[i], b.x[i]);
  note.give(b);
}

void move(SoftBody& b, const SoftMotion& m) {
  if (b.driven) {
    for (std::size_t i = 0; i < b.x.size(); ++i) b.v[i] = (b.x[i] - b.x0[i]) / m.step;
    update_bounds(b);
    return;
  }
  if (b.steered) steer(b, m);
  if (m.integrator == SoftIntegrator::kVerlet)
    move_by_verlet(b, m);
  else
    move_implicitly(b, m);
  if (b.broken) return;
  flow(b, m.step);
  if (limit_strain(b)) update_bounds(b);
  if (m.cube && reflect(b, *m.cube)) update_bounds(b);
}

}  // namespace isotact::detail

// Forces of masses on springs: MDL06, section 4.

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
