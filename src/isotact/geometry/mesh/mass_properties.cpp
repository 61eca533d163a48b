// The solid is the signed sum of tetrahedra between an origin and each triangle abc. With
// V = det(a, b, c) / 6 and s = a + b + c, the integrals over one tetrahedron are V, V s / 4 and
// V (a a^T + b b^T + c c^T + s s^T) / 20: barycentric coordinates average to 1/4, their products to
// 1/20, their squares to 1/10, and the fourth corner is the origin itself.
#include "isotact/geometry/mesh/mass_properties.h"

#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "isotact/base/convert_eigen.h"
#include "isotact/base/error.h"
#include "isotact/geometry/mesh/detail/topology.h"

namespace isotact {
namespace {

constexpr std::size_t kMassGrain = 1 << 13;
constexpr double kRounding = 1e-12;  // relative to the sizes of what was summed up

Mat3 outer(const Vec3& a, const Vec3& b) { return {{a.x * b, a.y * b, a.z * b}}; }

void add(SurfaceIntegrals& sum, const SurfaceIntegrals& part) {
  sum.area += part.area;
  sum.volume += part.volume;
  sum.volume_size += part.volume_size;
  sum.first += part.first;
  sum.second = sum.second + part.second;
  sum.area_first += part.area_first;
  sum.left_out += part.left_out;
}

void add_triangle(SurfaceIntegrals& sum, const Vec3& a, const Vec3& b, const Vec3& c) {
  const double area = length(cross(b - a, c - a)) / 2;
  const double volume = dot(a, cross(b, c)) / 6;
  const Vec3 s = a + b + c;
  sum.area += area;
  sum.area_first += s * (area / 3);
  sum.volume += volume;
  sum.volume_size += std::abs(volume);
  sum.first += s * (volume / 4);
  sum.second = sum.second + (outer(a, a) + outer(b, b) + outer(c, c) + outer(s, s)) * (volume / 20);
}

Mat3 inertia_from_second(const Mat3& m) {
  const double trace = m.rows[0].x + m.rows[1].y + m.rows[2].z;
  return identity3() * trace + m * -1;
}

// The direction of an axis is free: its largest component, the first of equals, is made positive.
// Rounding must not decide between equals, hence the margin.
Vec3 with_fixed_sign(const Vec3& v) {
  std::size_t largest = 0;
  for (const std::size_t axis : {1U, 2U})
    if (std::abs(v[axis]) > std::abs(v[largest]) * (1 + 1e-9)) largest = axis;
  return v[largest] < 0 ? -v : v;
}

void check(const MassSettings& settings) {
  const double value = settings.mass.value_or(settings.density);
  if (!(value > 0) || !std::isfinite(value))
    throw Error(fmt::format("{} is {}; it must be a positive number",
                            settings.mass ? "mass" : "density", value));
}

}  // namespace

PrincipalAxes compute_principal_axes(const Mat3& inertia) {
  Eigen::Matrix3d tensor = to_eigen(inertia);
  // Rounding beside the diagonal would turn the axes of a ball or a cube at will.
  const double negligible = kRounding * tensor.trace();
  for (const auto& [i, j] : {std::pair{0, 1}, {0, 2}, {1, 2}})
    if (std::abs(tensor(i, j)) <= negligible) tensor(i, j) = tensor(j, i) = 0;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(tensor);
  const Vec3 x = with_fixed_sign(from_eigen(Eigen::Vector3d(solver.eigenvectors().col(0))));
  const Vec3 y = with_fixed_sign(from_eigen(Eigen::Vector3d(solver.eigenvectors().col(1))));
  return {from_eigen(Eigen::Vector3d(solver.eigenvalues())),
          to_quat(transpose(Mat3{{x, y, cross(x, y)}}))};
}

SurfaceIntegrals integrate_surface(const TriangleMesh& mesh, Threads threads) {
  const Aabb box = to_double(bounds(mesh));
  SurfaceIntegrals identity;
  if (!is_empty(box)) identity.origin = center(box);
  const Vec3 origin = identity.origin;
  return parallel_reduce(
      mesh.triangles.size(), kMassGrain, threads, identity,
      [&](std::size_t begin, std::size_t end) {
        SurfaceIntegrals part;
        for (std::size_t i = begin; i < end; ++i) {
          const auto [a, b, c] = corners(mesh, i);
          if (is_finite(a) && is_finite(b) && is_finite(c))
            add_triangle(part, to_double(a) - origin, to_double(b) - origin, to_double(c) - origin);
          else
            ++part.left_out;
        }
        return part;
      },
      [](SurfaceIntegrals sum, const SurfaceIntegrals& part) {
        add(sum, part);
        return sum;
      });
}

MassProperties compute_mass_properties(const SurfaceIntegrals& integrals, bool closed,
                                       const MassSettings& settings) {
  check(settings);
  MassProperties p;
  p.area = integrals.area;
  p.center = integrals.origin;
  if (!(std::abs(integrals.volume) > kRounding * integrals.volume_size)) {
    p.status = MassStatus::kNoVolume;
    if (integrals.area > 0) p.center += integrals.area_first / integrals.area;
    p.mass = settings.mass.value_or(0);
    return p;
  }
  p.status = closed ? MassStatus::kSolid : MassStatus::kOpen;
  p.inward = integrals.volume < 0;
  p.volume = std::abs(integrals.volume);
  p.density = settings.mass ? *settings.mass / p.volume : settings.density;
  p.mass = settings.mass.value_or(settings.density * p.volume);
  const Vec3 center = integrals.first / integrals.volume;
  p.center += center;
  // Divided by the signed volume, an inward surface gives the moments of its solid.
  const Mat3 second = integrals.second * (1 / integrals.volume) + outer(center, center) * -1;
  p.inertia = inertia_from_second(second) * p.mass;
  const PrincipalAxes axes = compute_principal_axes(p.inertia);
  p.principal_moments = axes.moments;
  p.mesh_from_principal = axes.mesh_from_principal;
  return p;
}

MassProperties compute_mass_properties(const TriangleMesh& mesh, const MassSettings& settings) {
  check(settings);
  const auto names = detail::merge_equal_positions(mesh.positions, settings.threads);
  const auto topology = detail::build_topology(mesh, names, settings.threads);
  std::size_t boundary = 0, disagreeing = 0;
  detail::for_each_edge(topology, [&](std::uint32_t low, std::uint32_t, auto uses) {
    if (2 * detail::count_forward(topology, low, uses) == uses.size()) return;
    ++(uses.size() == 1 ? boundary : disagreeing);
  });
  const SurfaceIntegrals integrals = integrate_surface(mesh, settings.threads);
  const bool closed = boundary + disagreeing + integrals.left_out == 0;
  MassProperties p = compute_mass_properties(integrals, closed, settings);
  if (boundary > 0)
    p.warnings.push_back(fmt::format(
        "the mesh is open ({} boundary edges): its volume and inertia are guesses", boundary));
  if (disagreeing > 0)
    p.warnings.push_back(
        fmt::format("triangles disagree about the inside at {} edges: volume and inertia are "
                    "guesses",
                    disagreeing));
  if (integrals.left_out > 0)
    p.warnings.push_back(
        fmt::format("{} triangles with NaN or infinite corners are left out", integrals.left_out));
  if (p.status == MassStatus::kNoVolume)
    p.warnings.emplace_back("the mesh encloses no volume: it has no inertia");
  if (p.inward)
    p.warnings.emplace_back("the mesh faces inward: mass properties are those of it turned out");
  return p;
}

}  // namespace isotact
