// Triangles of Bullet's meshes and height fields near a body, with what is solid behind them.
// Private to the plug-in.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>

#include "isotact/base/aabb.h"
#include "isotact/base/vec.h"
#include "isotact/queries/points/feature_query.h"

namespace isotact::bullet_detail {

// In the mesh's frame, facing outward.
struct FlatTriangle {
  Vec3 corner[3]{};
  Vec3 normal{};
  Sphere ball{};         // Contains the corners.
  double thickness = 0;  // Metres: solid so far behind its face.
  int part = 0, index = 0;
};

// A ridge: two triangles that bend away from each other, or one without neighbour.
struct Ridge {
  FeatureEdge edge{};
  std::uint32_t left = 0, right = 0;  // Triangles; equal if there is only one.
};

// How thick the mesh is behind triangles that were seen before. An entry counts while the
// triangle's centre is the same.
class ThicknessScratch {
 public:
  // Returns half of the distance to the next face that looks away behind the triangle's centre, so
  // that the prisms of both sides of a wall share it; at most `most` metres.
  double find(const btConcaveShape& mesh, const FlatTriangle& triangle, double most);

 private:
  struct Entry {
    Vec3 center{};
    double thickness = 0, most = 0;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;
};

struct Triangles {
  std::vector<FlatTriangle> faces{};
  std::vector<Ridge> ridges{};
  std::vector<FeatureEdge> edges{};   // of the ridges
  double thinnest = 0;                // Metres: the least thickness.
  std::vector<std::uint32_t> near{};  // Scratch.
};

// Collects triangles that touch the box, in the mesh's frame. `thickness`: at most, metres; height
// fields have at least `of_heights`.
void collect_triangles(const btConcaveShape& mesh, const btVector3& lower, const btVector3& upper,
                       double thickness, double of_heights, ThicknessScratch& memory,
                       Triangles& triangles);
// Edges inside flat and hollow parts are left out: bodies must not catch on them.
void find_ridges(Triangles& triangles);

}  // namespace isotact::bullet_detail
