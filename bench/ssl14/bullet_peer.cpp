#include "bullet_peer.h"

#include <algorithm>

#include <BulletCollision/CollisionShapes/btShapeHull.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>
#include <hacdHACD.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/error.h"

namespace isotact::bench {
namespace {

struct GImpactParts {
  std::vector<Vec3f> positions;
  std::vector<int> corners;
  std::unique_ptr<btTriangleIndexVertexArray> array;
  std::unique_ptr<btGImpactMeshShape> shape;
};

struct CompoundParts {
  std::vector<std::unique_ptr<btConvexHullShape>> hulls;
  btCompoundShape shape;
};

std::unique_ptr<btConvexHullShape> make_hull(const std::vector<btVector3>& points) {
  auto hull = std::make_unique<btConvexHullShape>();
  for (const btVector3& p : points) hull->addPoint(p, false);
  hull->recalcLocalAabb();
  hull->setMargin(static_cast<btScalar>(kHullMargin));
  return hull;
}

// The vertices of each hull.
std::vector<std::vector<btVector3>> decompose(const TriangleMesh& mesh,
                                              const HacdSettings& settings) {
  std::vector<HACD::Vec3<HACD::Real>> points;
  std::vector<HACD::Vec3<long>> triangles;
  for (const Vec3f& p : mesh.positions)
    points.emplace_back(static_cast<double>(p.x), static_cast<double>(p.y),
                        static_cast<double>(p.z));
  for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  // What Bullet's own demo of it sets.
  HACD::HACD hacd;
  hacd.SetPoints(points.data());
  hacd.SetNPoints(points.size());
  hacd.SetTriangles(triangles.data());
  hacd.SetNTriangles(triangles.size());
  hacd.SetCompacityWeight(0.1);
  hacd.SetVolumeWeight(0);
  hacd.SetNClusters(settings.hulls);
  hacd.SetNVerticesPerCH(settings.vertices_per_hull);
  hacd.SetConcavity(1e9);  // as few hulls as were asked for
  hacd.SetAddExtraDistPoints(false);
  hacd.SetAddNeighboursDistPoints(false);
  hacd.SetAddFacesPoints(false);
  if (!hacd.Compute()) throw Error("HACD gave up");
  std::vector<std::vector<btVector3>> hulls;
  for (std::size_t h = 0; h < hacd.GetNClusters(); ++h) {
    std::vector<HACD::Vec3<HACD::Real>> corners(hacd.GetNPointsCH(h));
    std::vector<HACD::Vec3<long>> faces(hacd.GetNTrianglesCH(h));
    hacd.GetCH(h, corners.data(), faces.data());
    auto& hull = hulls.emplace_back();
    for (const auto& c : corners)
      hull.emplace_back(static_cast<btScalar>(c.X()), static_cast<btScalar>(c.Y()),
                        static_cast<btScalar>(c.Z()));
  }
  return hulls;
}

}  // namespace

OwnedShape own(std::string name, std::unique_ptr<btCollisionShape> shape) {
  return {.name = std::move(name), .shape = std::move(shape)};
}

OwnedShape make_gimpact(const TriangleMesh& mesh, double margin) {
  auto parts = std::make_shared<GImpactParts>();
  parts->positions = mesh.positions;
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t corner : t) parts->corners.push_back(static_cast<int>(corner));
  parts->array = std::make_unique<btTriangleIndexVertexArray>(
      static_cast<int>(mesh.triangles.size()), parts->corners.data(),
      static_cast<int>(3 * sizeof(int)), static_cast<int>(parts->positions.size()),
      &parts->positions[0].x, static_cast<int>(sizeof(Vec3f)));
  parts->shape = std::make_unique<btGImpactMeshShape>(parts->array.get());
  parts->shape->setMargin(static_cast<btScalar>(margin));
  parts->shape->updateBound();
  return {.name = fmt::format("GImpact, margin {:g} mm", margin * 1e3),
          .shape = {parts, parts->shape.get()},
          .is_gimpact = true};
}

OwnedShape make_hulls(const TriangleMesh& mesh, const HacdSettings& settings) {
  auto parts = std::make_shared<CompoundParts>();
  std::size_t most = 0;
  for (const auto& points : decompose(mesh, settings)) {
    most = std::max(most, points.size());
    parts->hulls.push_back(make_hull(points));
    parts->shape.addChildShape(btTransform::getIdentity(), parts->hulls.back().get());
  }
  return {.name = fmt::format("HACD, {} hulls of up to {}", parts->hulls.size(), most),
          .shape = {parts, &parts->shape}};
}

OwnedShape make_one_hull(const TriangleMesh& mesh) {
  std::vector<btVector3> points;
  for (const Vec3f& p : mesh.positions) points.push_back(to_bullet(to_double(p)));
  const auto full = make_hull(points);
  btShapeHull few(full.get());
  few.buildHull(0);
  auto hull = make_hull({few.getVertexPointer(), few.getVertexPointer() + few.numVertices()});
  return own(fmt::format("one hull of {}", few.numVertices()), std::move(hull));
}

}  // namespace isotact::bench
