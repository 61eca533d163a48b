// Small meshes for tests of spatial search: smooth, flat, scattered, broken, far away, tiny.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::search_test {

// A closed sphere, counter-clockwise seen from outside, of 8 * 4^levels triangles.
inline TriangleMesh make_sphere(int levels, float radius = 1, Vec3f center = {}) {
  TriangleMesh mesh;
  mesh.positions = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [place, added] =
          middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(mesh.positions.size()));
      if (added) mesh.positions.push_back(normalized(mesh.positions[a] + mesh.positions[b]));
      return place->second;
    };
    std::vector<Triangle> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    mesh.triangles = finer;
  }
  for (Vec3f& p : mesh.positions) p = p * radius + center;
  return mesh;
}

// A flat square of 2 * n * n triangles in the plane z = 0, all coordinates exact.
inline TriangleMesh make_grid(std::uint32_t n) {
  TriangleMesh mesh;
  for (std::uint32_t j = 0; j <= n; ++j)
    for (std::uint32_t i = 0; i <= n; ++i)
      mesh.positions.push_back({static_cast<float>(i), static_cast<float>(j), 0});
  for (std::uint32_t j = 0; j < n; ++j)
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t k = j * (n + 1) + i;
      mesh.triangles.push_back({k, k + 1, k + n + 2});
      mesh.triangles.push_back({k, k + n + 2, k + n + 1});
    }
  return mesh;
}

// Unconnected triangles of mixed sizes in the unit cube.
inline TriangleMesh make_soup(Random& random, std::uint32_t triangles) {
  TriangleMesh mesh;
  for (std::uint32_t i = 0; i < triangles; ++i) {
    const Vec3 c = random.in_box({0, 0, 0}, {1, 1, 1});
    const double size = random.below(8) == 0 ? 0.5 : 0.05;
    for (int k = 0; k < 3; ++k)
      mesh.positions.push_back(to_float(c + random.in_unit_ball() * size));
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return mesh;
}

// A soup in which many triangles are points, segments, slivers, copies or not finite.
inline TriangleMesh make_broken(Random& random, std::uint32_t triangles) {
  TriangleMesh mesh = make_soup(random, triangles);
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::uint32_t i = 0; i < triangles; ++i) {
    Vec3f* p = &mesh.positions[std::size_t{3} * i];
    switch (random.below(8)) {
      case 0:
        p[1] = p[2] = p[0];
        break;
      case 1:
        p[2] = p[1];
        break;
      case 2:
        p[2] = p[0];
        break;
      case 3:
        p[2] = lerp(p[0], p[1], static_cast<float>(random.uniform(-1, 2)));
        break;
      case 4:
        mesh.triangles[i] = mesh.triangles[random.below(i + 1)];
        break;
      case 5:
        if (random.below(4) == 0) p[random.below(3)].y = random.below(2) == 0 ? nan : inf;
        break;
      default:
        break;
    }
  }
  return mesh;
}

inline TriangleMesh transformed(TriangleMesh mesh, float scale, Vec3f offset) {
  for (Vec3f& p : mesh.positions) p = p * scale + offset;
  return mesh;
}

struct NamedMesh {
  std::string name;
  TriangleMesh mesh;
};

inline std::vector<NamedMesh> make_search_meshes() {
  Random random(20140901);
  std::vector<NamedMesh> meshes;
  meshes.push_back({"empty", {}});
  meshes.push_back({"one", make_soup(random, 1)});
  meshes.push_back({"three", make_soup(random, 3)});
  meshes.push_back({"soup", make_soup(random, 700)});
  meshes.push_back({"broken", make_broken(random, 700)});
  meshes.push_back({"sphere", make_sphere(3)});
  meshes.push_back({"fine sphere", make_sphere(5)});
  meshes.push_back({"grid", make_grid(16)});
  meshes.push_back({"far", transformed(make_sphere(2), 3, {1e6F, -1e6F, 1e6F})});
  meshes.push_back({"tiny", transformed(make_soup(random, 300), 1e-6F, {})});
  meshes.push_back({"tiny and far", transformed(make_soup(random, 300), 1e-3F, {1e3F, 0, 0})});
  meshes.push_back({"huge", transformed(make_soup(random, 300), 1e30F, {})});
  meshes.push_back({"extreme", transformed(make_soup(random, 300), 2.5e38F, {-1e38F, 0, 0})});
  meshes.push_back({"denormal", transformed(make_soup(random, 300), 1e-40F, {})});
  return meshes;
}

}  // namespace isotact::search_test
