#include "triangles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <BulletCollision/CollisionShapes/btTriangleCallback.h>

#include "isotact/adapters/bullet/convert.h"

namespace isotact::bullet_detail {
namespace {

// In the mesh's frame, facing outward.
class Collector final : public btTriangleCallback {
 public:
  Collector(const btConcaveShape& mesh, std::vector<FlatTriangle>& triangles)
      : triangles_(triangles) {
    if (mesh.getShapeType() == TERRAIN_SHAPE_PROXYTYPE)
      up_axis_ = static_cast<const btHeightfieldTerrainShape&>(mesh).getUpAxis();
    // A mirrored mesh is inside out.
    const btVector3& scale = mesh.getLocalScaling();
    is_mirrored_ = scale.x() * scale.y() * scale.z() < 0;
  }
  void processTriangle(btVector3* corner, int part, int index) override {
    FlatTriangle t{.part = part, .index = index};
    for (std::size_t i = 0; i < 3; ++i) t.corner[i] = from_bullet(corner[i]);
    if (is_mirrored_) std::swap(t.corner[1], t.corner[2]);
    t.normal = normalized(cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]));
    // The orientation of a height field's triangles depends on its axis and flags.
    if (up_axis_ >= 0 && t.normal[static_cast<std::size_t>(up_axis_)] < 0) {
      std::swap(t.corner[1], t.corner[2]);
      t.normal = -t.normal;
    }
    if (!(length_sq(t.normal) > 0.5)) return;
    t.ball.center = (t.corner[0] + t.corner[1] + t.corner[2]) / 3.0;
    for (const Vec3& c : t.corner)
      t.ball.radius = std::max(t.ball.radius, length(c - t.ball.center));
    triangles_.push_back(t);
  }

 private:
  std::vector<FlatTriangle>& triangles_;
  int up_axis_ = -1;
  bool is_mirrored_ = false;
};

// The nearest triangle that a ray leaves the solid through.
class ExitFinder final : public btTriangleCallback {
 public:
  ExitFinder(const Vec3& from, const Vec3& way, double most, bool is_mirrored)
      : from_(from), way_(way), is_mirrored_(is_mirrored), nearest(most) {}
  void processTriangle(btVector3* corner, int, int) override {
    // Moeller and Trumbore 1997.
    const Vec3 a = isotact::from_bullet(corner[0]);
    const Vec3 u = isotact::from_bullet(corner[is_mirrored_ ? 2 : 1]) - a;
    const Vec3 v = isotact::from_bullet(corner[is_mirrored_ ? 1 : 2]) - a;
    const Vec3 p = cross(way_, v);
    const double volume = dot(u, p);
    if (!(volume < 0)) return;  // It faces the ray.
    const Vec3 s = from_ - a, q = cross(s, u);
    const double x = dot(s, p) / volume, y = dot(way_, q) / volume, t = dot(v, q) / volume;
    if (x < 0 || y < 0 || x + y > 1 || !(t > 0)) return;
    nearest = std::min(nearest, t);
  }

 private:
  Vec3 from_, way_;
  bool is_mirrored_;

 public:
  double nearest;
};

struct Side {
  Vec3 a{}, b{};  // a before b, so that both triangles of an edge agree.
  std::uint32_t triangle = 0;
};
auto ends(const Side& s) { return std::tie(s.a.x, s.a.y, s.a.z, s.b.x, s.b.y, s.b.z); }

constexpr double kFlat = 0.02;  // Sine of the angle below which an edge is not a ridge.

}  // namespace

double ThicknessScratch::find(const btConcaveShape& mesh, const FlatTriangle& triangle,
                              double most) {
  const Vec3& center = triangle.ball.center;
  const std::uint64_t key = (std::uint64_t{static_cast<std::uint32_t>(triangle.part)} << 32U) |
                            static_cast<std::uint32_t>(triangle.index);
  Entry& entry = entries_[key];
  if (entry.most == most && entry.center == center) return entry.thickness;
  const Vec3 end = center - triangle.normal * (2 * most);
  const btVector3& scale = mesh.getLocalScaling();
  ExitFinder finder(center, -triangle.normal, 2 * most, scale.x() * scale.y() * scale.z() < 0);
  btVector3 lower = to_bullet(center), upper = lower;
  lower.setMin(to_bullet(end)), upper.setMax(to_bullet(end));
  const btVector3 bit(btScalar(1e-6), btScalar(1e-6), btScalar(1e-6));
  mesh.processAllTriangles(&finder, lower - bit, upper + bit);
  entry = {center, finder.nearest / 2, most};
  return entry.thickness;
}

void collect_triangles(const btConcaveShape& mesh, const btVector3& lower, const btVector3& upper,
                       double thickness, double of_heights, ThicknessScratch& memory,
                       Triangles& triangles) {
  triangles.faces.clear();
  Collector collector(mesh, triangles.faces);
  mesh.processAllTriangles(&collector, lower, upper);
  triangles.thinnest = std::numeric_limits<double>::infinity();
  const bool is_terrain = mesh.getShapeType() == TERRAIN_SHAPE_PROXYTYPE;
  for (FlatTriangle& t : triangles.faces) {
    t.thickness = is_terrain ? std::max(thickness, of_heights) : memory.find(mesh, t, thickness);
    triangles.thinnest = std::min(triangles.thinnest, t.thickness);
  }
}

void find_ridges(Triangles& triangles) {
  std::vector<Side> sides;
  const std::vector<FlatTriangle>& faces = triangles.faces;
  for (std::uint32_t t = 0; t < faces.size(); ++t)
    for (std::size_t i = 0; i < 3; ++i) {
      Side side{faces[t].corner[i], faces[t].corner[(i + 1) % 3], t};
      if (std::tie(side.b.x, side.b.y, side.b.z) < std::tie(side.a.x, side.a.y, side.a.z))
        std::swap(side.a, side.b);
      sides.push_back(side);
    }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& s, const Side& t) { return ends(s) < ends(t); });
  triangles.ridges.clear(), triangles.edges.clear();
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && ends(sides[end]) == ends(sides[i])) ++end;
    const FlatTriangle& s = faces[sides[i].triangle];
    const std::uint32_t other = sides[end - 1].triangle;
    bool is_ridge = end - i != 2;
    if (!is_ridge) {
      const FlatTriangle& t = faces[other];
      // The centre of the other triangle lies below this one's plane if the edge is a ridge.
      const Vec3 middle = (t.corner[0] + t.corner[1] + t.corner[2]) / 3.0 - sides[i].a;
      is_ridge = dot(s.normal, middle) < -kFlat * length(middle) &&
                 length(cross(s.normal, t.normal)) > kFlat;
    }
    if (is_ridge) {
      triangles.ridges.push_back({{sides[i].a, sides[i].b}, sides[i].triangle, other});
      triangles.edges.push_back(triangles.ridges.back().edge);
    }
    i = end;
  }
}

}  // namespace isotact::bullet_detail
