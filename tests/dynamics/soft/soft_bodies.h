// Meshes and sums for tests of soft bodies.
#pragma once

#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact {

// A sheet of cells x cells squares in the plane y = 0, about the origin.
inline TriangleMesh make_sheet(double size, int cells) {
  TriangleMesh m;
  const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(j * (cells + 1) + i); };
  for (int j = 0; j <= cells; ++j)
    for (int i = 0; i <= cells; ++i)
      m.positions.push_back(
          to_float({size * (1.0 * i / cells - 0.5), 0, size * (1.0 * j / cells - 0.5)}));
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i) {
      const bool turned = (i + j) % 2 == 1;
      const std::uint32_t a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
      if (turned) {
        m.triangles.push_back({a, c, b});
        m.triangles.push_back({a, d, c});
      } else {
        m.triangles.push_back({a, d, b});
        m.triangles.push_back({b, d, c});
      }
    }
  return m;
}

inline Vec3 momentum(const SoftWorld& world, SoftId id) {
  Vec3 sum{};
  for (std::size_t i = 0; i < world.masses(id).size(); ++i)
    sum += world.velocities(id)[i] * world.masses(id)[i];
  return sum;
}

inline Vec3 center_of_mass(const SoftWorld& world, SoftId id) {
  Vec3 sum{};
  double mass = 0;
  for (std::size_t i = 0; i < world.masses(id).size(); ++i) {
    sum += world.positions(id)[i] * world.masses(id)[i];
    mass += world.masses(id)[i];
  }
  return sum / mass;
}

inline Vec3 angular_momentum(const SoftWorld& world, SoftId id) {
  Vec3 sum{};
  for (std::size_t i = 0; i < world.masses(id).size(); ++i)
    sum += cross(world.positions(id)[i], world.velocities(id)[i] * world.masses(id)[i]);
  return sum;
}

}  // namespace isotact
