// How a mesh becomes masses and springs.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/dynamics/soft/detail/soft_body.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact::detail {

namespace {

[[noreturn]] void refuse(const SoftBodySettings& s, const std::string& why) {
  throw Error(fmt::format("soft body '{}': {}", s.name, why));
}

void check_number(const SoftBodySettings& s, const char* name, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    refuse(s, fmt::format("{} is {}, which should be finite and not negative", name, value));
}

void check_material(const SoftBodySettings& s) {
  const SoftMaterial& m = s.material;
  check_number(s, "the stiffness", m.stiffness);
  check_number(s, "the damping", m.damping);
  check_number(s, "the stiffness of bending", m.bending);
  check_number(s, "the stiffness of struts", m.struts);
  check_number(s, "the stiffness of areas", m.area);
  check_number(s, "the stiffness of volume", m.volume);
  check_number(s, "the friction of air", m.air_friction);
  check_number(s, "the yield strain", m.yield);
  check_number(s, "the creep", m.creep);
  check_number(s, "the friction", m.friction);
  if (!(m.max_strain >= 0 && m.max_strain < 1))
    refuse(s, fmt::format("the largest strain is {}, which should be from 0 (any) to below 1",
                          m.max_strain));
}

void check_mesh(const SoftBodySettings& s) {
  if (s.mesh.triangles.empty()) refuse(s, "its mesh has no triangles");
  if (const auto flaw = find_flaw(s.mesh)) refuse(s, *flaw);
  std::vector<bool> used(s.mesh.positions.size());
  for (const Triangle& t : s.mesh.triangles)
    for (const std::uint32_t i : t) used[i] = true;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!is_finite(s.mesh.positions[i]))
      refuse(s, fmt::format("vertex {} of its mesh is not finite", i));
    if (!used[i])
      refuse(s, fmt::format("vertex {} of its mesh belongs to no triangle; take it out", i));
  }
}

void check_settings(const SoftBodySettings& s) {
  if (!(s.mass > 0 && std::isfinite(s.mass)))
    refuse(s, fmt::format("a mass of {} kg, which should be positive", s.mass));
  check_number(s, "the margin", s.margin);
  if (!is_finite(s.velocity) || !is_finite(s.angular_velocity) || !is_finite(s.pose.translation))
    refuse(s, "its pose or velocity is not finite");
  if (!(std::abs(length_sq(s.pose.rotation) - 1) < 1e-5))
    refuse(s, "its rotation is no unit quaternion");
  for (const std::uint32_t p : s.pinned)
    if (p >= s.mesh.positions.size())
      refuse(s, fmt::format("vertex {} is pinned, and there are {}", p, s.mesh.positions.size()));
  if (!s.steering) return;
  if (s.deformer) refuse(s, "it is steered and has a deformer: it can have one of them");
  const Steering& steer = *s.steering;
  check_number(s, "the speed of steering", steer.speed);
  check_number(s, "the wobble of steering", steer.wobble);
  if (!(steer.period > 0)) refuse(s, "the period of steering should be positive");
  if (steer.velocity && !is_finite(*steer.velocity)) refuse(s, "its steering is not finite");
  if (steer.velocity && !steer.keys.empty())
    refuse(s, "it is steered by one velocity and by a script: it can have one of them");
  double last = -std::numeric_limits<double>::infinity();
  for (const SteeringKey& key : steer.keys) {
    if (!std::isfinite(key.time) || !is_finite(key.velocity))
      refuse(s, "a time or velocity of its steering is not finite");
    if (!(key.time > last)) refuse(s, "the times of its steering do not rise");
    last = key.time;
  }
}

Vec3 area_vector(const SoftBody& b, const Triangle& t) {  // twice the area
  return cross(b.x[t[1]] - b.x[t[0]], b.x[t[2]] - b.x[t[0]]);
}

void spread_mass(SoftBody& b) {
  const std::size_t n = b.x.size();
  b.mass.assign(n, 0);
  double all = 0;
  for (const Triangle& t : b.topology.triangles) {
    const double area = length(area_vector(b, t)) / 2;
    all += area;
    for (const std::uint32_t i : t) b.mass[i] += area / 3;
  }
  if (!(all > 0)) refuse(b.settings, "its mesh has no area");
  const double least = 0.05 * all / static_cast<double>(n);
  all = 0;
  for (double& m : b.mass) all += m = std::max(m, least);
  b.total_mass = 0;
  for (double& m : b.mass) b.total_mass += m *= b.settings.mass / all;
  b.inverse_mass.resize(n);
  for (std::size_t i = 0; i < n; ++i) b.inverse_mass[i] = b.driven ? 0 : 1 / b.mass[i];
  for (const std::uint32_t p : b.settings.pinned) b.inverse_mass[p] = 0;
}

struct HalfEdge {
  std::uint32_t low = 0, high = 0, opposite = 0;
  bool forward = false;  // from low to high
};

std::vector<HalfEdge> list_half_edges(std::span<const Triangle> triangles) {
  std::vector<HalfEdge> edges;
  for (const Triangle& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b), c, a < b});
    }
  std::stable_sort(edges.begin(), edges.end(), [](const HalfEdge& p, const HalfEdge& q) {
    return p.low != q.low ? p.low < q.low : p.high < q.high;
  });
  return edges;
}

void add_springs(SoftBody& b) {
  const std::vector<HalfEdge> halves = list_half_edges(b.topology.triangles);
  const auto spring = [&](std::uint32_t i, std::uint32_t j, double stiffness) {
    return SoftSpring{i, j, length(b.x[j] - b.x[i]), stiffness};
  };
  std::vector<SoftSpring> bending;
  b.closed = !halves.empty();
  for (std::size_t i = 0, end = 0; i < halves.size(); i = end) {
    const HalfEdge& e = halves[i];
    for (end = i; end < halves.size() && halves[end].low == e.low && halves[end].high == e.high;)
      ++end;
    b.springs.push_back(spring(e.low, e.high, b.settings.material.stiffness));
    b.mean_edge += b.springs.back().rest;
    if (end - i != 2 || e.forward == halves[i + 1].forward) b.closed = false;
    for (std::size_t k = i; k + 1 < end; ++k)
      if (halves[k].opposite != halves[k + 1].opposite)
        bending.push_back(
            spring(halves[k].opposite, halves[k + 1].opposite, b.settings.material.bending));
  }
  b.edge_springs = b.springs.size();
  b.mean_edge /= static_cast<double>(std::max<std::size_t>(b.edge_springs, 1));
  if (b.settings.material.bending > 0)
    b.springs.insert(b.springs.end(), bending.begin(), bending.end());
}

// The largest stable step of leapfrog with dampers that lag by a step: for one mode of frequency w
// and damping rate c it is stable while (h w)^2 / 4 + h c / 2 <= 1. Both are bounded by
// Gershgorin's circles (a row of a spring's matrix sums to twice its stiffness at most, whatever
// its direction), areas by the product of their gradients, and the volume, which is of rank one,
// exactly.
double compute_stable_step(const SoftBody& b) {
  const std::size_t n = b.x.size();
  const SoftMaterial& m = b.settings.material;
  std::vector<double> stiff(n), damp(n);
  for (const SoftSpring& s : b.springs)
    for (const std::uint32_t i : {s.a, s.b}) {
      stiff[i] += 2 * s.stiffness;
      damp[i] += 2 * m.damping;
    }
  std::vector<Vec3> volume_gradient(n);
  for (const Triangle& t : b.topology.triangles) {
    double sum = 0;
    std::array<double, 3> gradient{};
    for (std::size_t k = 0; k < 3; ++k) {
      gradient[k] = length(b.x[t[(k + 2) % 3]] - b.x[t[(k + 1) % 3]]) / 2;
      sum += gradient[k];
      volume_gradient[t[k]] += area_vector(b, t) / 6.0;
    }
    for (std::size_t k = 0; k < 3; ++k) stiff[t[k]] += m.area * gradient[k] * sum;
  }
  double frequency_sq = 0, rate = 0, volume = 0;
  for (std::size_t i = 0; i < n; ++i) {
    frequency_sq = std::max(frequency_sq, stiff[i] * b.inverse_mass[i]);
    rate = std::max(rate, damp[i] * b.inverse_mass[i]);
    volume += length_sq(volume_gradient[i]) * b.inverse_mass[i];
  }
  rate += m.air_friction;
  if (m.volume > 0) frequency_sq += m.volume / std::abs(b.rest_volume) * volume;
  if (!(frequency_sq > 0 || rate > 0)) return std::numeric_limits<double>::infinity();
  // The positive root of h^2 w^2 / 4 + h c / 2 = 1, without cancellation.
  return 2 / (rate / 2 + std::sqrt(rate * rate / 4 + frequency_sq));
}

// Rest shapes are what the bound is made of; bent ones may be a little stiffer.
constexpr double kStableShare = 0.8;
constexpr double kMostMargin = 4;  // mean edges

void choose_substeps(SoftBody& b, const SoftWorldSettings& world) {
  b.stable_step = compute_stable_step(b);
  if (world.integrator != SoftIntegrator::kVerlet || b.driven) return;
  const double parts = std::ceil(world.step / (kStableShare * b.stable_step));
  if (!(parts <= world.max_substeps))
    refuse(b.settings,
           fmt::format(
               "its springs or dampers are too stiff for Verlet at a step of {:.3g} s: the largest "
               "stable one is {:.3g} s, and {} parts of a step are allowed. Use a step of "
               "{:.2g} s, more mass, softer springs or less damping, or backward Euler",
               world.step, b.stable_step, world.max_substeps,
               kStableShare * b.stable_step * world.max_substeps));
  b.substeps = std::max(1, static_cast<int>(parts));
}

void set_start(SoftBody& b) {
  const SoftBodySettings& s = b.settings;
  Vec3 center{};
  for (std::size_t i = 0; i < b.x.size(); ++i) center += b.x[i] * b.mass[i];
  center = center / b.total_mass;
  b.v.resize(b.x.size());
  for (std::size_t i = 0; i < b.x.size(); ++i)
    if (b.inverse_mass[i] > 0) b.v[i] = s.velocity + cross(s.angular_velocity, b.x[i] - center);
  if (s.steering && s.steering->velocity) b.heading = *s.steering->velocity;
}

}  // namespace

SoftBody make_soft_body(const SoftBodySettings& settings, const SoftWorldSettings& world) {
  check_mesh(settings);
  check_material(settings);
  check_settings(settings);
  SoftBody b;
  b.settings = settings;
  b.steered = settings.steering.has_value();
  b.driven = static_cast<bool>(settings.deformer);
  b.topology = make_topology(settings.mesh.triangles, settings.mesh.positions.size());
  for (const Vec3f& p : settings.mesh.positions)
    b.x.push_back(transform_point(settings.pose, to_double(p)));
  spread_mass(b);
  add_springs(b);
  b.margin = settings.margin > 0 ? settings.margin : 0.1 * b.mean_edge;
  // All features within it are near each other: their number grows with its fourth power.
  if (b.margin > kMostMargin * b.mean_edge)
    refuse(settings,
           fmt::format("its margin is {:.4g} m, more than {} times its mean edge ({:.4g} m); a "
                       "coarser mesh or a smaller margin is needed",
                       b.margin, kMostMargin, b.mean_edge));
  if (b.closed) b.rest_volume = compute_volume(b, b.x.data());
  const SoftMaterial& m = settings.material;
  if (m.volume > 0 && !b.closed)
    refuse(settings, "its volume is to be kept, and its mesh is not closed or not oriented");
  if (m.volume > 0 && !(std::abs(b.rest_volume) > 0)) refuse(settings, "it has no volume to keep");
  if (m.struts > 0 && !b.closed) refuse(settings, "struts need a closed mesh");
  if (m.struts > 0) add_struts(b);
  if (m.area > 0)
    for (const Triangle& t : b.topology.triangles)
      b.rest_area.push_back(length(area_vector(b, t)) / 2);
  choose_substeps(b, world);
  set_start(b);
  b.x0 = b.x;
  b.force.resize(b.x.size());
  b.change.resize(b.x.size());
  update_bounds(b);
  b.box0 = b.box;
  if (world.cube && !(contains(*world.cube, b.box.lower) && contains(*world.cube, b.box.upper)))
    refuse(settings, "it begins outside of the cube");
  return b;
}

// From each vertex against its normal, and slanted by 35 degrees to three sides, to the nearest
// corner of what is hit on the other side. The straight ones bear pressure, the slanted ones shear.
void add_struts(SoftBody& b) {
  const std::size_t n = b.x.size();
  TriangleMesh mesh;
  for (const Vec3& p : b.x) mesh.positions.push_back(to_float(p));
  mesh.triangles = b.topology.triangles;
  const Bvh bvh(mesh, {.threads = {1}});
  std::vector<Vec3> normal(n);
  const double outward = b.rest_volume < 0 ? -1 : 1;
  for (const Triangle& t : b.topology.triangles)
    for (const std::uint32_t i : t) normal[i] += area_vector(b, t) * outward;
  std::vector<std::array<std::uint32_t, 2>> pairs;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Vec3 in = -normalized(normal[i]);
    const Vec3 side = normalized(cross(in, std::abs(in.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
    const Vec3 other = cross(in, side);
    constexpr double kSlant = 0.7;  // the tangent of 35 degrees
    const std::array<Vec3, 4> ways{in, in + kSlant * side,
                                   in + kSlant * (-0.5 * side + 0.866025 * other),
                                   in + kSlant * (-0.5 * side - 0.866025 * other)};
    for (const Vec3& way : ways) {
      const Vec3 from = b.x[i] + way * (1e-3 * b.mean_edge);
      const RayHit hit = find_first_hit(bvh, {to_float(from), to_float(way)});
      if (hit.triangle == kNoTriangle) continue;
      const Triangle& t = b.topology.triangles[hit.triangle];
      const std::array<float, 3> weight{1 - hit.u - hit.v, hit.u, hit.v};
      const std::uint32_t j = t[static_cast<std::size_t>(
          std::max_element(weight.begin(), weight.end()) - weight.begin())];
      // What is near is held by edges.
      if (j != i && length(b.x[i] - b.x[j]) > 1.5 * b.mean_edge)
        pairs.push_back({std::min(i, j), std::max(i, j)});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [i, j] : pairs)
    b.springs.push_back({i, j, length(b.x[j] - b.x[i]), b.settings.material.struts});
}

}  // namespace isotact::detail
