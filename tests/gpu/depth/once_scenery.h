// Objects and surroundings for tests of image-space detection by several ways, which must agree to
// the last bit.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/depth/mesh_drawable.h"
#include "isotact/queries/depth/depth_map.h"

namespace isotact {

inline Pose next_once_pose(Random& random, double reach) {
  const auto next = [&] { return random.uniform(-1, 1); };
  return {normalized(Quat{next(), next(), next(), next()}), Vec3{next(), next(), next()} * reach};
}

// Turned inside out.
inline TriangleMesh turn_over(TriangleMesh mesh) {
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

inline TriangleMesh join(const TriangleMesh& a, const TriangleMesh& b, const Vec3f& offset) {
  TriangleMesh both = a;
  const auto first = static_cast<std::uint32_t>(a.positions.size());
  for (const Vec3f& p : b.positions) both.positions.push_back(p + offset);
  for (const Triangle& t : b.triangles)
    both.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return both;
}

// Small and large triangles, closed and open elements, one around most of the others, a room that
// is turned inwards, and walls of which each triangle is larger than the picture.
struct OnceScenery {
  std::vector<TriangleMesh> meshes;
  std::vector<DepthMesh> cpu_meshes;
  std::vector<MeshElement> gpu;
  std::vector<DepthElement> cpu;
  Vec3 inside{};  // of the solid

  explicit OnceScenery(std::uint64_t seed) {
    const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 8});
    const TriangleMesh ring =
        make_torus({.radius = 0.6, .tube_radius = 0.2, .segments = 30, .tube_segments = 16});
    const TriangleMesh plank = make_box({.size_x = 3, .size_y = 0.15, .size_z = 0.4});
    const TriangleMesh wall = make_box({.size_x = 12, .size_y = 0.2, .size_z = 12});
    const TriangleMesh solid = make_box({.size_x = 3.5, .size_y = 3.5, .size_z = 3.5});
    const TriangleMesh room =
        turn_over(make_box({.size_x = 9, .size_y = 9, .size_z = 9, .segments = 5}));
    const TriangleMesh fine = make_sphere({.radius = 0.3, .frequency = 10});
    meshes = {ball, fine, plank, ball, ring, wall, solid, room};
    Random random(seed);
    for (const TriangleMesh& m : meshes) cpu_meshes.push_back(make_depth_mesh(m));
    for (std::size_t i = 0; i < meshes.size(); ++i) {
      Pose pose = next_once_pose(random, 2);
      if (i >= 5) pose.translation = pose.translation + Vec3{0, i == 6 ? -4.0 : 2.5, 0};
      if (i == 6) inside = pose.translation;
      const auto id = static_cast<std::uint32_t>(40 - i);
      const bool closed = i != 3;
      gpu.push_back(make_mesh_element(meshes[i], pose, id, closed));
      cpu.push_back(make_depth_element(cpu_meshes[i], pose, id, closed));
    }
  }
};

inline std::vector<TriangleMesh> make_once_objects() {
  const TriangleMesh ball = make_sphere({.radius = 0.4, .frequency = 5});
  const TriangleMesh ring =
      make_torus({.radius = 0.5, .tube_radius = 0.15, .segments = 24, .tube_segments = 10});
  return {ring, join(ball, ball, {1.1F, 0.3F, 0.2F}),
          make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.7})};
}

// Bit for bit on software Mesa; places and depths on hardware, where compilers of shaders differ
// from program to program, to some parts in 10^7.
inline void expect_same(const DepthResult& a, const DepthResult& b, bool software,
                        const std::string& where) {
  EXPECT_EQ(a.colliding, b.colliding) << where;
  EXPECT_EQ(a.inside, b.inside) << where;
  EXPECT_EQ(a.pixels, b.pixels) << where;
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(a.first_pixel[k], b.first_pixel[k]) << where;
    EXPECT_EQ(a.last_pixel[k], b.last_pixel[k]) << where;
  }
  const double room = software ? 0 : 5e-7;
  EXPECT_LE(std::abs(a.depth - b.depth), room) << where;
  EXPECT_LE(length(a.deepest - b.deepest), room) << where;
  EXPECT_EQ(a.deepest_id, b.deepest_id) << where;
  EXPECT_EQ(a.ids, b.ids) << where;
  ASSERT_EQ(a.contacts.size(), b.contacts.size()) << where;
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    EXPECT_LE(length(a.contacts[i].point_on_a - b.contacts[i].point_on_a), room) << where;
    EXPECT_LE(length(a.contacts[i].normal - b.contacts[i].normal), room) << where;
    EXPECT_LE(std::abs(a.contacts[i].depth - b.contacts[i].depth), room) << where;
    EXPECT_EQ(a.contacts[i].point, b.contacts[i].point) << where;
  }
}

}  // namespace isotact
