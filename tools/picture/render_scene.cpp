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
// corner's own, weighted by their angles (Thuermer and Wuethrich 1998). A cosine a triangle.
std::vector<std::array<Vec3f, 3>> make_normals(const TriangleMesh& mesh,
                                               const std::vector<double>& least_cosines) {
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
        if (dot(faces[around[j].triangle], faces[i]) >= least_cosines[i])
          sum += faces[around[j].triangle] * around[j].angle;
      normals[i][k] = to_float(length_sq(sum) > 0 ? normalized(sum) : faces[i]);
    }
  return normals;
}

void add_mesh(RenderScene& scene, const RenderItem& item, std::uint32_t number) {
  if (const auto flaw = find_flaw(item.mesh)) throw Error("render: " + *flaw);
  const std::size_t base = scene.mesh.positions.size();
  if (base + item.mesh.positions.size() > 0xffffffffULL)
    throw Error("render: the items have more vertices than 32-bit indices can name");
  for (const Vec3f& p : item.mesh.positions)
    scene.mesh.positions.push_back(to_float(transform_point(item.world_from_mesh, to_double(p))));
  for (Triangle t : item.mesh.triangles) {
    for (std::uint32_t& v : t) v += static_cast<std::uint32_t>(base);
    // Triangles without a finite place cannot be seen.
    const auto is_placed = [&](std::uint32_t v) { return is_finite(scene.mesh.positions[v]); };
    if (!std::all_of(t.begin(), t.end(), is_placed)) continue;
    scene.mesh.triangles.push_back(t);
    scene.items.push_back(number);
    for (const std::uint32_t v : t) scene.outline.push_back(to_double(scene.mesh.positions[v]));
  }
}

void add_field(RenderScene& scene, const RenderItem& item, std::uint32_t number) {
  if (const auto flaw = find_flaw(item.mesh)) throw Error("render: " + *flaw);
  const RenderField& f = *item.field;
  for (const Vec3f& p : item.mesh.positions)
    scene.outline.push_back(transform_point(item.world_from_mesh, to_double(p)));
  scene.fields.push_back({.item = number,
                          .field = f.field,
                          .voxel_size = f.voxel_size,
                          .field_from_world = inverse(item.world_from_mesh),
                          .settings = {.level = f.level,
                                       .shortest_step = 0.1 * f.voxel_size,
                                       .box = compute_surface_box(f.field, f.level)}});
}

FieldRay in_frame(const FieldInScene& item, const Vec3& origin, const Vec3& direction) {
  return {.origin = transform_point(item.field_from_world, origin),
          .direction = transform_vector(item.field_from_world, direction)};
}

// From differences over two cells, since the gradient of the interpolant itself jumps from cell to
// cell; or over what is seen of a few pixels, so that the facets of a coarse mesh do not glitter.
Vec3 smooth_normal(const RenderScene& scene, const FieldInScene& item, const Vec3& p) {
  const double h = std::max(item.voxel_size, scene.size / 400);
  const auto difference = [&](const Vec3& by) {
    return item.field.value(p + by) - item.field.value(p - by);
  };
  return normalized(Vec3{difference({h, 0, 0}), difference({0, h, 0}), difference({0, 0, h})});
}

void find_mesh_hit(const RenderScene& scene, const Vec3& origin, const Vec3& direction,
                   SurfaceHit& nearest) {
  const RayHit hit = find_first_hit(scene.bvh, {to_float(origin), to_float(direction)});
  if (hit.triangle == kNoTriangle) return;
  const auto [a, b, c] = corners(scene.mesh, hit.triangle);
  const auto& n = scene.normals[hit.triangle];
  nearest = {
      .item = static_cast<std::int32_t>(scene.items[hit.triangle]),
      .t = static_cast<double>(hit.t),
      .normal = normalized(to_double(n[0] * (1 - hit.u - hit.v) + n[1] * hit.u + n[2] * hit.v)),
      .face = normalized(cross(to_double(b - a), to_double(c - a))),
      .lift = 2e-4 * scene.size};
  if (dot(nearest.face, direction) > 0)
    nearest.face = -nearest.face, nearest.normal = -nearest.normal;
}

void find_field_hit(const RenderScene& scene, const FieldInScene& item, const Vec3& origin,
                    const Vec3& direction, SurfaceHit& nearest) {
  FieldRay ray = in_frame(item, origin, direction);
  ray.t_max = nearest.t;
  const TraceHit hit = trace_ray(item.field, ray, item.settings);
  if (hit.status != TraceStatus::kHit) return;
  const Vec3 normal =
      transform_vector(inverse(item.field_from_world),
                       smooth_normal(scene, item, ray.origin + ray.direction * hit.t));
  nearest = {.item = static_cast<std::int32_t>(item.item),
             .t = hit.t,
             .normal = normal,
             .face = normal,
             .lift = std::max(2e-4 * scene.size, 0.75 * item.voxel_size)};
}

}  // namespace

std::vector<Vec3> corners_of(const Aabb& box) {
  std::vector<Vec3> corners;
  for (const double x : {box.lower.x, box.upper.x})
    for (const double y : {box.lower.y, box.upper.y})
      for (const double z : {box.lower.z, box.upper.z}) corners.push_back({x, y, z});
  return corners;
}

RenderScene make_scene(const std::vector<RenderItem>& items, const RenderSettings& settings) {
  RenderScene scene;
  for (std::uint32_t item = 0; item < items.size(); ++item) {
    if (items[item].field)
      add_field(scene, items[item], item);
    else
      add_mesh(scene, items[item], item);
  }
  if (scene.outline.empty()) throw Error("render: there is no triangle to show");
  if (settings.frame) scene.outline = corners_of(*settings.frame);
  for (const Vec3& p : scene.outline) extend(scene.bounds, p);
  scene.size = std::max(length(extent(scene.bounds)), 1e-6);
  if (scene.mesh.triangles.empty()) return scene;
  std::vector<double> least_cosines;
  for (const std::uint32_t item : scene.items) {
    const double crease = items[item].crease_degrees.value_or(settings.crease_degrees);
    least_cosines.push_back(sin_cos(crease * (kPi / 180)).cos);
  }
  scene.normals = make_normals(scene.mesh, least_cosines);
  scene.bvh = Bvh(scene.mesh, {.threads = settings.threads});
  return scene;
}

SurfaceHit find_hit(const RenderScene& scene, const Vec3& origin, const Vec3& direction) {
  SurfaceHit nearest;
  if (!scene.mesh.triangles.empty()) find_mesh_hit(scene, origin, direction, nearest);
  for (const FieldInScene& item : scene.fields)
    find_field_hit(scene, item, origin, direction, nearest);
  return nearest;
}

bool is_hidden(const RenderScene& scene, const Vec3& origin, const Vec3& direction) {
  if (!scene.mesh.triangles.empty() &&
      is_occluded(scene.bvh, {to_float(origin), to_float(direction)}))
    return true;
  return std::any_of(scene.fields.begin(), scene.fields.end(), [&](const FieldInScene& item) {
    // Light is soft: it does not notice what is thinner than half a cell.
    TraceSettings settings = item.settings;
    settings.shortest_step = 0.5 * item.voxel_size;
    return is_blocked(item.field, in_frame(item, origin, direction), settings);
  });
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
  for (const Vec3& point : scene.outline) {
    const Vec3 p = point - middle;
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
