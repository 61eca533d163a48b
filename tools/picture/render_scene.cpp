#include "picture/render_scene.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"

namespace isotact::tool {
namespace {

// For each vertex the lowest one at the same position: files without shared vertices look smooth.
std::vector<std::uint32_t> merge_positions(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> order(mesh.positions.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const Vec3f& p = mesh.positions[i];
    return std::tuple(p.x, p.y, p.z);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  std::vector<std::uint32_t> merged(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(order[i]) == key(order[i - 1]);
    merged[order[i]] = same ? merged[order[i - 1]] : order[i];
  }
  return merged;
}

struct Corner {
  std::uint32_t triangle;
  double angle;
};

// Corner normals: the mean of the faces around the vertex that are within the crease angle of the
// corner's own, weighted by their angles (Thuermer and Wuethrich 1998).
std::vector<std::array<Vec3f, 3>> make_normals(const TriangleMesh& mesh, double crease_degrees) {
  const double least_cosine = sin_cos(crease_degrees * (kPi / 180)).cos;
  const std::vector<std::uint32_t> merged = merge_positions(mesh);
  std::vector<Vec3> faces(mesh.triangles.size());
  std::vector<std::uint32_t> starts(mesh.positions.size() + 1, 0);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    faces[i] = normalized(cross(to_double(b) - to_double(a), to_double(c) - to_double(a)));
    for (const std::uint32_t v : mesh.triangles[i]) ++starts[merged[v] + 1];
  }
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<Corner> around(mesh.triangles.size() * 3);
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto p = corners(mesh, i);
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 a = to_double(p[(k + 1) % 3] - p[k]), b = to_double(p[(k + 2) % 3] - p[k]);
      around[next[merged[mesh.triangles[i][k]]]++] = {i, angle_of(length(cross(a, b)), dot(a, b))};
    }
  }
  std::vector<std::array<Vec3f, 3>> normals(mesh.triangles.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t v = merged[mesh.triangles[i][k]];
      Vec3 sum;
      for (std::uint32_t j = starts[v]; j < starts[v + 1]; ++j)
        if (dot(faces[around[j].triangle], faces[i]) >= least_cosine)
          sum += faces[around[j].triangle] * around[j].angle;
      normals[i][k] = to_float(length_sq(sum) > 0 ? normalized(sum) : faces[i]);
    }
  return normals;
}

}  // namespace

RenderScene make_scene(const std::vector<RenderItem>& items, const RenderSettings& settings) {
  RenderScene scene;
  for (std::uint32_t item = 0; item < items.size(); ++item) {
    const TriangleMesh& mesh = items[item].mesh;
    if (const auto flaw = find_flaw(mesh)) throw Error("render: " + *flaw);
    const std::size_t base = scene.mesh.positions.size();
    if (base + mesh.positions.size() > 0xffffffffULL)
      throw Error("render: the items have more vertices than 32-bit indices can name");
    for (const Vec3f& p : mesh.positions)
      scene.mesh.positions.push_back(
          to_float(transform_point(items[item].world_from_mesh, to_double(p))));
    for (Triangle t : mesh.triangles) {
      for (std::uint32_t& v : t) v += static_cast<std::uint32_t>(base);
      scene.mesh.triangles.push_back(t);
      scene.items.push_back(item);
    }
  }
  // Triangles without a finite place cannot be seen.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < scene.mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(scene.mesh, i);
    if (!is_finite(a) || !is_finite(b) || !is_finite(c)) continue;
    scene.mesh.triangles[kept] = scene.mesh.triangles[i];
    scene.items[kept++] = scene.items[i];
  }
  scene.mesh.triangles.resize(kept);
  scene.items.resize(kept);
  if (kept == 0) throw Error("render: there is no triangle to show");
  scene.bounds = to_double(bounds(scene.mesh));
  scene.size = std::max(length(extent(scene.bounds)), 1e-6);
  scene.normals = make_normals(scene.mesh, settings.crease_degrees);
  scene.bvh = Bvh(scene.mesh, {.threads = settings.threads});
  return scene;
}

Camera frame_scene(const RenderScene& scene, const RenderSettings& settings) {
  const SinCos yaw = sin_cos(settings.yaw_degrees * (kPi / 180));
  const SinCos pitch = sin_cos(settings.pitch_degrees * (kPi / 180));
  Camera camera;
  camera.back = {yaw.sin * pitch.cos, pitch.sin, yaw.cos * pitch.cos};
  camera.right = {yaw.cos, 0, -yaw.sin};
  camera.up = cross(camera.back, camera.right);
  const SinCos half = sin_cos(settings.field_of_view_degrees * (kPi / 360));
  const double shorter = std::min(settings.width, settings.height);
  camera.tan_x = half.sin / half.cos * settings.width / shorter;
  camera.tan_y = half.sin / half.cos * settings.height / shorter;

  // The nearest position from which every vertex is inside the frame: each pair of opposite sides
  // of the view bounds x (or y) and the distance together. Planes touching the vertices:
  constexpr double kMargin = 0.86;
  std::array<double, 4> support{-1e300, -1e300, -1e300, -1e300};
  const std::array<double, 2> slope{camera.tan_x * kMargin * settings.zoom,
                                    camera.tan_y * kMargin * settings.zoom};
  const Vec3 middle = center(scene.bounds);
  for (const Triangle& t : scene.mesh.triangles)
    for (const std::uint32_t v : t) {
      const Vec3 p = to_double(scene.mesh.positions[v]) - middle;
      const double x = dot(p, camera.right), y = dot(p, camera.up), z = dot(p, camera.back);
      support[0] = std::max(support[0], x + z * slope[0]);
      support[1] = std::max(support[1], -x + z * slope[0]);
      support[2] = std::max(support[2], y + z * slope[1]);
      support[3] = std::max(support[3], -y + z * slope[1]);
    }
  // x <= slope (distance - z) on both sides: the middle of the two supports, and their half sum.
  const double x = (support[0] - support[1]) / 2, y = (support[2] - support[3]) / 2;
  const double distance = std::max((support[0] + support[1]) / (2 * slope[0]),
                                   (support[2] + support[3]) / (2 * slope[1]));
  camera.position = middle + camera.right * x + camera.up * y + camera.back * distance;
  return camera;
}

}  // namespace isotact::tool
