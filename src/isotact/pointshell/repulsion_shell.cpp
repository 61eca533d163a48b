// XB14 section 5 names particle repulsion without saying how ([BJ08]); this is ours. Particles push
// each other apart along the surface, with a force that ends at kReach spacings, and are brought
// back onto it by exact search of the triangles. All move at once, so the result does not depend on
// threads.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/measure.h"
#include "isotact/pointshell/detail/nearest_points.h"
#include "isotact/pointshell/detail/projection.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {
namespace {

constexpr double kReach = 1.6;         // spacings: the first ring of neighbours, not the second
constexpr double kLongestMove = 0.35;  // spacings a round
constexpr double kForce = 0.9;         // spacings of move a unit of force

void check_settings(const RepulsionShellSettings& s) {
  if ((s.count > 0) == (s.spacing > 0))
    throw Error("pointshell: either a number of points or a spacing must be given");
  if (!(s.spacing >= 0 && std::isfinite(s.spacing)))
    throw Error("pointshell: the spacing must be positive and finite");
  if (s.rounds < 0 || s.rounds > 1000)
    throw Error(fmt::format("pointshell: {} rounds of repulsion, expected 0 to 1000", s.rounds));
}

struct Particles {
  std::vector<Vec3f> points, normals;
  std::vector<ClosestPoint> found;  // of those that move
  std::size_t fixed = 0;            // the first ones
};

// In proportion to area: the i-th at (i + 1/2) / count of the sum over triangles, and inside of its
// triangle by a sequence that fills the square evenly (additive recurrence with the plastic
// number).
void start_particles(Particles& p, const detail::ShellSurface& surface, std::size_t count) {
  constexpr double kPlastic = 1.32471795724474602596;
  std::size_t t = 0;
  double before = 0;
  const std::size_t last = surface.triangle_areas.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i);
    const double target = (n + 0.5) / static_cast<double>(count) * surface.area;
    while (t < last && before + surface.triangle_areas[t] < target)
      before += surface.triangle_areas[t++];
    double u = n / kPlastic, v = n / (kPlastic * kPlastic);
    u -= std::floor(u);
    v -= std::floor(v);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const auto c = corners(surface.mesh, t);
    const Vec3 a = to_double(c[0]);
    const Vec3f at = to_float(a + (to_double(c[1]) - a) * u + (to_double(c[2]) - a) * v);
    p.points.push_back(at);
    p.normals.push_back(surface.face_normals[t]);
    p.found.push_back({.triangle = static_cast<std::uint32_t>(t), .point = at, .distance = 0});
  }
}

Vec3 find_move(const Particles& p, const detail::NearestPoints& search, std::size_t i,
               double spacing) {
  const Vec3 at = to_double(p.points[i]), normal = to_double(p.normals[i]);
  const double reach = kReach * spacing;
  Vec3 push{};
  search.for_each_within(at, reach, [&](std::uint32_t j, double distance_sq) {
    if (j == i || distance_sq == 0) return;
    // The other side of a sheet is no neighbour.
    if (dot(to_double(p.normals[j]), normal) < -0.2) return;
    const double distance = std::sqrt(distance_sq);
    const double strength = 1 - distance / reach;
    push += (at - to_double(p.points[j])) * (strength * strength / distance);
  });
  push = (push - normal * dot(push, normal)) * (kForce * spacing);
  const double l = length(push), longest = kLongestMove * spacing;
  return l > longest ? push * (longest / l) : push;
}

void run_round(Particles& p, const detail::ShellSurface& surface, const Bvh& bvh, double spacing,
               Threads threads) {
  const detail::NearestPoints search(p.points, threads);
  std::vector<Vec3f> moved(p.points.size() - p.fixed);
  parallel_for(moved.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      moved[i] =
          to_float(to_double(p.points[p.fixed + i]) + find_move(p, search, p.fixed + i, spacing));
  });
  std::vector<ClosestPoint> found(moved.size());
  // It was on the surface before, up to rounding.
  find_closest_points(bvh, moved, found, threads, static_cast<float>(spacing * kLongestMove * 1.5));
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (found[i].triangle == kNoTriangle) continue;
    p.found[i] = found[i];
    p.points[p.fixed + i] = found[i].point;
    p.normals[p.fixed + i] = surface.face_normals[found[i].triangle];
  }
}

}  // namespace

PointShell sample_by_repulsion(const TriangleMesh& mesh, const RepulsionShellSettings& settings) {
  check_settings(settings);
  const ShellSettings& common = settings.common;
  const detail::ShellSurface surface = detail::prepare_shell_surface(mesh, common);
  const double wanted =
      settings.count > 0
          ? settings.count
          : std::max(1.0, std::ceil(detail::points_for(surface.area, settings.spacing)));
  detail::check_point_count(wanted, common);
  const auto count = static_cast<std::size_t>(wanted);
  PointShell shell;
  shell.spacing =
      settings.spacing > 0 ? settings.spacing : detail::spacing_for(surface.area, wanted);
  shell.how = fmt::format("repulsion, {} rounds", settings.rounds);
  Particles particles;
  if (common.sample_edges && count > 1) {
    detail::EdgeSamples edges =
        detail::sample_edges_for_shell(surface, common.sharp_degrees, shell.spacing, count / 2);
    particles.fixed = edges.points.size();
    particles.points = std::move(edges.points);
    particles.normals = std::move(edges.normals);
  }
  shell.edge_points = particles.fixed;
  start_particles(particles, surface, count - particles.fixed);
  const Bvh bvh(surface.mesh, {.threads = common.threads, .monitor = common.monitor});
  for (int round = 0; round < settings.rounds; ++round) {
    common.monitor.check();
    common.monitor.report({.task = "spreading points",
                           .done = static_cast<std::uint64_t>(round),
                           .total = static_cast<std::uint64_t>(settings.rounds)});
    run_round(particles, surface, bvh, shell.spacing, common.threads);
  }
  const detail::EdgeNormals edge_normals(surface);
  for (std::size_t i = 0; i < particles.found.size(); ++i)
    particles.normals[particles.fixed + i] =
        detail::normal_at(surface, edge_normals, particles.found[i]);
  shell.points = std::move(particles.points);
  shell.normals = std::move(particles.normals);
  detail::measure_shell(surface, shell, common);
  return shell;
}

}  // namespace isotact
