// A bounding volume hierarchy over the triangles of a mesh: closest points, rays and boxes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

inline constexpr std::uint32_t kNoTriangle = 0xffffffffU;

// The part of a triangle on which a closest point lies.
enum class TriangleFeature : std::uint8_t {
  kFace,
  kEdge0,
  kEdge1,
  kEdge2,
  kVertex0,
  kVertex1,
  kVertex2
};

struct ClosestPoint {
  std::uint32_t triangle = kNoTriangle;  // none within reach
  TriangleFeature feature = TriangleFeature::kFace;
  Vec3f point{};
  float distance = std::numeric_limits<float>::infinity();
};

struct Ray {
  Vec3f origin{};
  Vec3f direction{};  // need not be a unit vector: t counts in its lengths
  float t_min = 0;
  float t_max = std::numeric_limits<float>::infinity();
};

struct RayHit {
  std::uint32_t triangle = kNoTriangle;
  float t = std::numeric_limits<float>::infinity();
  float u = 0, v = 0;  // barycentric weights of corners 1 and 2
};

class Bvh;  // built once from a mesh, immutable, safe to query from many threads

}  // namespace isotact
