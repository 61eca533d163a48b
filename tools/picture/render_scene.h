// The scene of the ray tracer: all meshes as one in the world, the fields, and a camera that frames
// them.
#pragma once

#include <array>

#include "isotact/field/extract/trace_ray.h"
#include "isotact/geometry/bvh/bvh.h"

#include "picture/render_mesh.h"

namespace isotact::tool {

struct FieldInScene {
  std::uint32_t item;
  AnyField field;
  double voxel_size;
  Pose field_from_world;
  TraceSettings settings;
};

struct RenderScene {
  TriangleMesh mesh;                          // May be empty.
  std::vector<std::uint32_t> items;           // Item of each triangle.
  std::vector<std::array<Vec3f, 3>> normals;  // Unit normals at each triangle's corners.
  Bvh bvh;
  std::vector<FieldInScene> fields;
  std::vector<Vec3> outline;  // Points that the picture must contain.
  Aabb bounds;
  double size = 1;  // Diagonal of the bounds.
};

std::vector<Vec3> corners_of(const Aabb& box);
RenderScene make_scene(const std::vector<RenderItem>& items, const RenderSettings& settings);

struct SurfaceHit {
  std::int32_t item = -1;  // -1: none.
  double t = std::numeric_limits<double>::infinity();
  Vec3 normal{};  // For shading, unit vector, towards the origin of the ray.
  Vec3 face{};    // Normal of the surface itself.
  double lift{};  // Offset along the face, for rays that start here.
};

// The direction must be a unit vector.
SurfaceHit find_hit(const RenderScene& scene, const Vec3& origin, const Vec3& direction);
bool is_hidden(const RenderScene& scene, const Vec3& origin, const Vec3& direction);

struct Camera {
  Vec3 position, right, up, back;  // The last three are unit vectors.
  double tan_x = 1, tan_y = 1;     // Half the sides of the picture at distance 1.

  // Returns the unit direction through a point of the picture: x and y from -1 to 1, y up.
  Vec3 direction(double x, double y) const {
    return normalized(right * (x * tan_x) + up * (y * tan_y) - back);
  }
};

Camera frame_scene(const RenderScene& scene, const RenderSettings& settings);

}  // namespace isotact::tool
