#include "isotact/adapters/bullet/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <BulletCollision/CollisionShapes/btTriangleCallback.h>
#include <BulletCollision/NarrowPhaseCollision/btRaycastCallback.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/geometry/bvh/bvh_visit.h"

namespace isotact {
namespace {

constexpr std::size_t kHitsAtOnce = 32;

}  // namespace

const bullet_detail::BulletBody::Surface& bullet_detail::BulletBody::surface() const {
  static const TriangleMesh no_mesh;
  return surface_.get([this] {
    const bool has_surface = mesh != nullptr || shape.can_have_field();
    const TriangleMesh& triangles = has_surface ? shape.surface() : no_mesh;
    return Surface{&triangles, Bvh(triangles)};
  });
}

double bullet_detail::BulletBody::half_thickness() const {
  return half_thickness_.get([this] {
    const double most = smallest_side / 2, least = cell > 0 ? std::min(cell, most) : most;
    if (mesh == nullptr || mesh->triangles.empty()) return least;
    const Surface& s = surface();
    constexpr std::size_t kPlaces = 2000;
    const std::size_t stride = s.mesh->triangles.size() / kPlaces + 1;
    double half = most;
    for (std::size_t t = 0; t < s.mesh->triangles.size(); t += stride) {
      Vec3 corner[3];
      for (std::size_t i = 0; i < 3; ++i)
        corner[i] = to_double(s.mesh->positions[s.mesh->triangles[t][i]]);
      const Vec3 normal = normalized(cross(corner[1] - corner[0], corner[2] - corner[0]));
      if (length_sq(normal) < 0.5) continue;
      // Inward, from a little below the face.
      const Vec3 from = (corner[0] + corner[1] + corner[2]) / 3.0 - normal * (0.01 * least);
      const RayHit hit = find_first_hit(
          s.bvh, {.origin = to_float(from), .direction = to_float(-normal),
                  .t_max = static_cast<float>(2 * half)});
      if (hit.triangle != kNoTriangle) half = std::min(half, static_cast<double>(hit.t) / 2);
    }
    return std::max(half, least);
  });
}

IsotactShape::IsotactShape(std::shared_ptr<const bullet_detail::BulletBody> body,
                           const Pose& bullet_from_shape)
    : body_(std::move(body)), bullet_from_shape_(bullet_from_shape) {
  // CUSTOM_CONCAVE_SHAPE_TYPE would be the natural choice. But it is also the number of Bullet's
  // own signed distance fields, and is cast to those. Nothing in Bullet uses this one.
  m_shapeType = FAST_CONCAVE_MESH_PROXYTYPE;
  m_collisionMargin = static_cast<btScalar>(body_->settings.margin);
  update_box();
}

IsotactShape::~IsotactShape() = default;

void IsotactShape::update_box() {
  box_ = {};
  const auto add = [this](const Vec3& p) { extend(box_, transform_point(bullet_from_shape_, p)); };
  if (body_->mesh) {
    for (const Triangle& t : body_->mesh->triangles)
      for (const std::uint32_t corner : t) {
        const Vec3f& p = body_->mesh->positions[corner];
        if (is_finite(p)) add(to_double(p));
      }
  } else if (body_->tree) {
    for (std::uint32_t i = 0; i < body_->tree->point_count(); ++i)
      add(to_double(body_->tree->point(i)));
    const double c = body_->tree->covering_radius();
    box_ = {box_.lower - Vec3{c, c, c}, box_.upper + Vec3{c, c, c}};
  } else {
    for (unsigned i = 0; i < 8; ++i)
      add({(i & 1U) != 0 ? body_->box.upper.x : body_->box.lower.x,
           (i & 2U) != 0 ? body_->box.upper.y : body_->box.lower.y,
           (i & 4U) != 0 ? body_->box.upper.z : body_->box.lower.z});
  }
}

void IsotactShape::setLocalScaling(const btVector3& scaling) {
  const double x = scaling.x(), y = scaling.y(), z = scaling.z();
  const double tolerance = 1e-5 * std::abs(x);
  if (!(x > 0) || !std::isfinite(x) || !(std::abs(x - y) <= tolerance) ||
      !(std::abs(x - z) <= tolerance)) {
    report_bullet_error(fmt::format(
        "setLocalScaling({}, {}, {}) refused: distances only scale by one positive factor for all "
        "axes; scale the mesh and cook it again",
        x, y, z));
    return;
  }
  scale_ = x;
  scaling_ = scaling;
}

void IsotactShape::getAabb(const btTransform& t, btVector3& lower, btVector3& upper) const {
  const double m = static_cast<double>(m_collisionMargin);
  const Vec3 half = extent(box_) * (0.5 * scale_) + Vec3{m, m, m};
  const btVector3 middle = t(to_bullet(center(box_) * scale_));
  const btVector3 reach = to_bullet(half).dot3(
      t.getBasis()[0].absolute(), t.getBasis()[1].absolute(), t.getBasis()[2].absolute());
  lower = middle - reach;
  upper = middle + reach;
}

void IsotactShape::getBoundingSphere(btVector3& center, btScalar& radius) const {
  center = to_bullet(transform_point(bullet_from_shape_, body_->ball.center) * scale_);
  radius = static_cast<btScalar>(body_->ball.radius * scale_) + m_collisionMargin;
}

void IsotactShape::calculateLocalInertia(btScalar mass, btVector3& inertia) const {
  const double m = static_cast<double>(mass);
  if (!body_->mass || !(body_->mass->mass > 0)) {
    const Vec3 e = extent(box_) * scale_;
    inertia = to_bullet(Vec3{e.y * e.y + e.z * e.z, e.x * e.x + e.z * e.z, e.x * e.x + e.y * e.y} *
                        (m / 12));
    return;
  }
  const Mat3 r = to_matrix(bullet_from_shape_.rotation);
  const Mat3 turned = r * body_->mass->inertia * transpose(r);
  const double factor = m / body_->mass->mass * scale_ * scale_;
  inertia = to_bullet(Vec3{turned.rows[0].x, turned.rows[1].y, turned.rows[2].z} * factor);
}

namespace {

// Triangles in the form of Bullet's callbacks.
class Sender {
 public:
  Sender(const IsotactShape& shape, btTriangleCallback& callback)
      : mesh_(*shape.body().surface().mesh),
        frame_(shape.bullet_from_shape()),
        scale_(shape.scale()),
        callback_(callback) {}
  void send(std::uint32_t triangle) {
    btVector3 corner[3];
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 p = to_double(mesh_.positions[mesh_.triangles[triangle][i]]);
      corner[i] = to_bullet(transform_point(frame_, p) * scale_);
    }
    callback_.processTriangle(corner, 0, static_cast<int>(triangle));
  }
  Vec3f to_shape(const btVector3& p) const {
    return to_float(transform_point(inverse(frame_), from_bullet(p) / scale_));
  }

 private:
  const TriangleMesh& mesh_;
  Pose frame_;
  double scale_;
  btTriangleCallback& callback_;
};

// In the order of hits, until the callback ends: it may filter by side.
void send_ray_hits(const Bvh& bvh, Sender& sender, const btTriangleRaycastCallback& callback) {
  Ray ray{.origin = sender.to_shape(callback.m_from), .t_max = 1};
  ray.direction = sender.to_shape(callback.m_to) - ray.origin;
  std::array<RayHit, kHitsAtOnce> buffer;
  for (;;) {
    ray.t_max = std::min(1.0F, static_cast<float>(callback.m_hitFraction) * 1.0001F);
    const AllHits hits = find_all_hits(bvh, ray, buffer);
    for (const RayHit& hit : hits.hits)
      if (hit.t <= static_cast<float>(callback.m_hitFraction) * 1.0001F) sender.send(hit.triangle);
    if (hits.status == AllHitsStatus::kComplete) return;
    // Those at the last t may come again, unless all are at it: then no more could be
    // distinguished.
    const float last = hits.hits.back().t;
    ray.t_min = last > ray.t_min ? last : std::nextafter(last, 2.0F);
  }
}

}  // namespace

void IsotactShape::processAllTriangles(btTriangleCallback* callback, const btVector3& lower,
                                       const btVector3& upper) const {
  const Bvh& bvh = body_->surface().bvh;
  Sender sender(*this, *callback);
  if (const auto* ray = dynamic_cast<const btTriangleRaycastCallback*>(callback)) {
    send_ray_hits(bvh, sender, *ray);
    return;
  }
  Aabbf box;
  for (unsigned i = 0; i < 8; ++i) {
    const auto clamp = [](btScalar x) {
      return std::min(std::max(x, btScalar(-1e18)), btScalar(1e18));
    };
    extend(box, sender.to_shape({clamp((i & 1U) != 0 ? upper.x() : lower.x()),
                                 clamp((i & 2U) != 0 ? upper.y() : lower.y()),
                                 clamp((i & 4U) != 0 ? upper.z() : lower.z())}));
  }
  visit_triangles_in_box(bvh, box, [&](std::uint32_t triangle) { sender.send(triangle); });
}

}  // namespace isotact
