#include "other_solid.h"

#include <cmath>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <LinearMath/btConvexHullComputer.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/base/trig.h"

namespace isotact::bullet_detail {
namespace {

constexpr int kRimSegments = 32;
constexpr int kDirections = 192;

void add_edge(OtherSolid& solid, const Vec3& a, const Vec3& b) {
  solid.edges.push_back(
      {transform_point(solid.shape_from_target, a), transform_point(solid.shape_from_target, b)});
}

void add_rim(OtherSolid& solid, double radius, double y) {
  Vec3 last{radius, y, 0};
  for (int i = 1; i <= kRimSegments; ++i) {
    const SinCos turn = sin_cos(2 * kPi * (i % kRimSegments) / kRimSegments);
    const Vec3 next{radius * turn.cos, y, radius * turn.sin};
    add_edge(solid, last, next);
    last = next;
  }
}

void make_box(const btBoxShape& box, OtherSolid& solid) {
  const Vec3 h = from_bullet(box.getHalfExtentsWithMargin());
  solid.target.emplace(BoxField{{}, h});
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (unsigned i = 0; i < 4; ++i) {
      Vec3 a = h;
      if ((i & 1U) != 0) a[(axis + 1) % 3] = -a[(axis + 1) % 3];
      if ((i & 2U) != 0) a[(axis + 2) % 3] = -a[(axis + 2) % 3];
      Vec3 b = a;
      b[axis] = -b[axis];
      add_edge(solid, a, b);
    }
}

void make_capsule(const btCapsuleShape& capsule, OtherSolid& solid) {
  const double half = static_cast<double>(capsule.getHalfHeight());
  solid.radius = static_cast<double>(capsule.getRadius());
  solid.shape_from_target = turn_from_y(capsule.getUpAxis());
  solid.target.emplace(CapsuleField{{0, -half, 0}, {0, half, 0}, solid.radius});
  add_edge(solid, {0, -half, 0}, {0, half, 0});
}

void make_cylinder(const btCylinderShape& cylinder, OtherSolid& solid) {
  const int axis = cylinder.getUpAxis();
  const double half = static_cast<double>(cylinder.getHalfExtentsWithMargin()[axis]);
  const double radius = static_cast<double>(cylinder.getRadius());
  solid.shape_from_target = turn_from_y(axis);
  solid.target.emplace(CylinderField{{}, radius, 2 * half});
  add_rim(solid, radius, half);
  add_rim(solid, radius, -half);
}

void make_cone(const btConeShape& cone, OtherSolid& solid) {
  const double radius = static_cast<double>(cone.getRadius());
  const double height = static_cast<double>(cone.getHeight());
  solid.radius = static_cast<double>(cone.getMargin());
  solid.shape_from_target = turn_from_y(cone.getConeUpIndex());
  solid.target.emplace(ConeField{.radius = radius, .height = height}, solid.radius);
  add_rim(solid, radius, -height / 2);
  add_edge(solid, {0, height / 2, 0}, {0, height / 2, 0});
}

// Returns evenly spread directions, by the golden angle.
Vec3 direction(int i) {
  const double y = 1 - (2 * i + 1.0) / kDirections, r = std::sqrt(1 - y * y);
  const SinCos turn = sin_cos(2.399963229728653 * i);
  return {r * turn.cos, y, r * turn.sin};
}

std::vector<btVector3> support_points(const btConvexShape& shape) {
  std::vector<btVector3> points;
  if (shape.getShapeType() == CONVEX_HULL_SHAPE_PROXYTYPE) {
    const auto& hull = static_cast<const btConvexHullShape&>(shape);
    for (int i = 0; i < hull.getNumPoints(); ++i) points.push_back(hull.getScaledPoint(i));
    return points;
  }
  if (shape.isPolyhedral()) {
    const auto& hull = static_cast<const btPolyhedralConvexShape&>(shape);
    for (int i = 0; i < hull.getNumVertices(); ++i) hull.getVertex(i, points.emplace_back());
    if (!points.empty()) return points;
  }
  for (int i = 0; i < kDirections; ++i)
    points.push_back(shape.localGetSupportVertexWithoutMarginNonVirtual(to_bullet(direction(i))));
  return points;
}

// Flat faces become fans of triangles.
void add_face(const btConvexHullComputer& computer, int face, HullSolid& hull) {
  const btConvexHullComputer::Edge* first = &computer.edges[face];
  const auto corner = [](int i) { return static_cast<std::uint32_t>(i); };
  const std::uint32_t a = corner(first->getSourceVertex());
  Vec3 normal{};
  for (const auto* e = first->getNextEdgeOfFace(); e->getTargetVertex() != first->getSourceVertex();
       e = e->getNextEdgeOfFace()) {
    const std::uint32_t b = corner(e->getSourceVertex()), c = corner(e->getTargetVertex());
    hull.triangles.insert(hull.triangles.end(), {a, b, c});
    normal += cross(hull.corners[b] - hull.corners[a], hull.corners[c] - hull.corners[a]);
  }
  normal = normalized(normal);
  if (length_sq(normal) > 0.5) hull.planes.push_back({normal, dot(normal, hull.corners[a])});
}

bool make_hull(const btConvexShape& shape, OtherSolid& solid) {
  const std::vector<btVector3> points = support_points(shape);
  if (points.empty()) return false;
  btConvexHullComputer computer;
  computer.compute(&points[0].m_floats[0], static_cast<int>(sizeof(btVector3)),
                   static_cast<int>(points.size()), 0, 0);
  solid.radius = static_cast<double>(shape.getMarginNonVirtual());
  const auto hull = std::make_shared<HullSolid>();
  hull->radius = solid.radius;
  for (int i = 0; i < computer.vertices.size(); ++i)
    hull->corners.push_back(from_bullet(computer.vertices[i]));
  for (int i = 0; i < computer.faces.size(); ++i) add_face(computer, computer.faces[i], *hull);
  for (int i = 0; i < computer.edges.size(); ++i) {
    const int a = computer.edges[i].getSourceVertex(), b = computer.edges[i].getTargetVertex();
    if (a < b)
      add_edge(solid, hull->corners[static_cast<std::size_t>(a)],
               hull->corners[static_cast<std::size_t>(b)]);
  }
  if (hull->planes.size() < 4) {
    // Flat, a line, or a point: no solid for our points, but its edges still meet our field.
    report_bullet_error(
        "a convex shape of Bullet's without volume (a triangle, a flat hull): bodies of Isotact's "
        "meet its edges only, not its face; give it some thickness");
    if (solid.edges.empty() && !hull->corners.empty())
      add_edge(solid, hull->corners[0], hull->corners[0]);
    return true;
  }
  solid.target.emplace(std::shared_ptr<const HullSolid>(hull));
  return true;
}

int corner_count_of(const btCollisionShape& shape) {
  if (shape.getShapeType() != CONVEX_HULL_SHAPE_PROXYTYPE) return 0;
  return static_cast<const btConvexHullShape&>(shape).getNumPoints();
}

}  // namespace

Pose turn_from_y(int axis) {
  const double q = std::sqrt(0.5);
  if (axis == 0) return {Quat{q, 0, 0, -q}, {}};  // y to x: minus a quarter rotation about z.
  if (axis == 2) return {Quat{q, q, 0, 0}, {}};   // y to z: a quarter rotation about x.
  return {};
}

bool is_up_to_date(const btCollisionShape& shape, const OtherSolid& solid) {
  if (solid.scaling != shape.getLocalScaling() || solid.margin != shape.getMargin() ||
      solid.type != shape.getShapeType() || solid.corner_count != corner_count_of(shape))
    return false;
  // A plane has no box; others of another size have another one.
  if (shape.getShapeType() == STATIC_PLANE_PROXYTYPE) return true;
  btVector3 lower, upper;
  shape.getAabb(btTransform::getIdentity(), lower, upper);
  return lower == solid.lower && upper == solid.upper;
}

bool make_other_solid(const btCollisionShape& shape, OtherSolid& solid) {
  solid = {};
  solid.scaling = shape.getLocalScaling();
  solid.margin = shape.getMargin();
  solid.type = shape.getShapeType();
  solid.corner_count = corner_count_of(shape);
  shape.getAabb(btTransform::getIdentity(), solid.lower, solid.upper);
  switch (shape.getShapeType()) {
    case STATIC_PLANE_PROXYTYPE: {
      const auto& plane = static_cast<const btStaticPlaneShape&>(shape);
      solid.target.emplace(PlaneField{normalized(from_bullet(plane.getPlaneNormal())),
                                      static_cast<double>(plane.getPlaneConstant())});
      return true;
    }
    case BOX_SHAPE_PROXYTYPE:
      make_box(static_cast<const btBoxShape&>(shape), solid);
      return true;
    case SPHERE_SHAPE_PROXYTYPE:
      solid.radius = static_cast<double>(static_cast<const btSphereShape&>(shape).getRadius());
      solid.target.emplace(SphereField{{}, solid.radius});
      add_edge(solid, {}, {});
      return true;
    case CAPSULE_SHAPE_PROXYTYPE:
      make_capsule(static_cast<const btCapsuleShape&>(shape), solid);
      return true;
    case CYLINDER_SHAPE_PROXYTYPE:
      make_cylinder(static_cast<const btCylinderShape&>(shape), solid);
      return true;
    case CONE_SHAPE_PROXYTYPE:
      make_cone(static_cast<const btConeShape&>(shape), solid);
      return true;
    default:
      if (!shape.isConvex()) return false;
      return make_hull(static_cast<const btConvexShape&>(shape), solid);
  }
}

}  // namespace isotact::bullet_detail
