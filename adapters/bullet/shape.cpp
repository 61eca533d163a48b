#include "isotact/adapters/bullet/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <BulletCollision/CollisionShapes/btConvexShape.h>
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

const bullet_detail::BulletBody::HalfThickness& bullet_detail::BulletBody::half_thickness() const {
  return half_thickness_.get([this] {
    const double most = smallest_side / 2, least = cell > 0 ? std::min(cell, most) : most;
    if (mesh == nullptr || mesh->triangles.empty()) return HalfThickness{least, least};
    const Surface& s = surface();
    constexpr std::size_t kPlaces = 2000;
    const std::size_t stride = s.mesh->triangles.size() / kPlaces + 1;
    std::vector<double> halves;
    for (std::size_t t = 0; t < s.mesh->triangles.size(); t += stride) {
      Vec3 corner[3];
      for (std::size_t i = 0; i < 3; ++i)
        corner[i] = to_double(s.mesh->positions[s.mesh->triangles[t][i]]);
      const Vec3 normal = normalized(cross(corner[1] - corner[0], corner[2] - corner[0]));
      if (length_sq(normal) < 0.5) continue;
      // Inward, from a little below the face.
      const Vec3 from = (corner[0] + corner[1] + corner[2]) / 3.0 - normal * (0.01 * least);
      const RayHit hit = find_first_hit(s.bvh, {.origin = to_float(from),
                                                .direction = to_float(-normal),
                                                .t_max = static_cast<float>(2 * most)});
      halves.push_back(hit.triangle == kNoTriangle ? most : static_cast<double>(hit.t) / 2);
    }
    if (halves.empty()) return HalfThickness{least, least};
    std::sort(halves.begin(), halves.end());
    return HalfThickness{std::max(halves.front(), least),
                         std::max(halves[halves.size() / 10], least)};
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
  const Vec3 s = from_bullet(scaling);
  const double tolerance = 1e-5 * std::abs(s.x);
  const auto refuse = [&](const std::string& why) {
    report_bullet_error(fmt::format("setLocalScaling({}, {}, {}) refused: {}", s.x, s.y, s.z, why));
  };
  if (!is_finite(s) || s.x == 0 || s.y == 0 || s.z == 0)
    return refuse("factors must be finite and not 0");
  const bool is_uniform =
      s.x > 0 && std::abs(s.x - s.y) <= tolerance && std::abs(s.x - s.z) <= tolerance;
  if (is_uniform) {
    body_ = cooked_;
    bullet_from_shape_ = bullet_from_cooked_;
    scale_ = s.x;
  } else if (!(scaling_ == scaling)) {
    try {
      // Distances only scale by one positive factor for all axes.
      body_ = cook_scaled(*cooked_, bullet_from_cooked_, s)->shared_body();
    } catch (const std::exception& error) {  // Bullet passes none on.
      return refuse(fmt::format("the scaled mesh was not cooked: {}", error.what()));
    }
    bullet_from_shape_ = {};
    scale_ = 1;
  }
  scaling_ = scaling;
  update_box();
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

// Finds which triangle is hit first. Bullet's own callback tests every triangle to the path's end.
class FirstHit final : public btTriangleConvexcastCallback {
 public:
  explicit FirstHit(const btTriangleConvexcastCallback& other)
      : btTriangleConvexcastCallback(other.m_convexShape, other.m_convexShapeFrom,
                                     other.m_convexShapeTo, other.m_triangleToWorld,
                                     other.m_triangleCollisionMargin) {
    m_hitFraction = other.m_hitFraction;
    m_allowedPenetration = other.m_allowedPenetration;
  }
  btScalar reportHit(const btVector3&, const btVector3&, btScalar fraction, int,
                     int index) override {
    if (fraction < m_hitFraction) m_hitFraction = fraction, triangle = index;
    return m_hitFraction;
  }
  int triangle = -1;
};

// A convex shape on its way: parts of the path one after the other, until it has hit. Each triangle
// is tested once; those of later parts can only be hit later. Parts that are far from the surface,
// by the field, are left out. The first triangle that is hit is sent, and no other.
void send_sweep_hit(const IsotactShape& shape, Sender& sender,
                    const btTriangleConvexcastCallback& callback) {
  const btTransform local = callback.m_triangleToWorld.inverse();
  const btTransform from = local * callback.m_convexShapeFrom,
                    to = local * callback.m_convexShapeTo;
  // The box of the convex shape about its origin, in both rotations.
  btVector3 lower, upper, other_lower, other_upper;
  callback.m_convexShape->getAabb(btTransform(from.getBasis()), lower, upper);
  callback.m_convexShape->getAabb(btTransform(to.getBasis()), other_lower, other_upper);
  lower.setMin(other_lower), upper.setMax(other_upper);
  const btScalar grow = callback.m_triangleCollisionMargin + btScalar(1e-6);
  lower -= btVector3(grow, grow, grow), upper += btVector3(grow, grow, grow);
  const Vec3 half = from_bullet(upper - lower) * 0.5;
  const Vec3 path = from_bullet(to.getOrigin() - from.getOrigin());
  constexpr double kMostParts = 256;
  const double size = std::max(length(half), 1e-9);
  const int parts =
      static_cast<int>(std::clamp(std::ceil(length(path) / (0.25 * size)), 1.0, kMostParts));
  const bullet_detail::BulletBody& body = shape.body();
  FirstHit first(callback);
  Sender tester(shape, first);
  thread_local std::vector<std::uint32_t> sent;
  sent.clear();
  const Vec3 middle = from_bullet(from.getOrigin()) + from_bullet(upper + lower) * 0.5;
  for (int part = 0; part < parts; ++part) {
    const double t0 = static_cast<double>(part) / parts, t1 = static_cast<double>(part + 1) / parts;
    // A hit within earlier parts cannot be earlier by a triangle of this one.
    if (static_cast<double>(first.m_hitFraction) < t0) break;
    const Vec3 center = middle + path * ((t0 + t1) / 2);
    if (body.target && body.target->lipschitz() <= 1.01) {
      const double reach = length(half) + length(path) / (2 * parts);
      const double apart =
          body.target
              ->sample(transform_point(inverse(shape.bullet_from_shape()), center / shape.scale()),
                       {})
              .distance *
          shape.scale();
      // Inside as well: it touches the surface only near it.
      if (std::abs(apart) > 1.02 * reach + 2 * body.cell * shape.scale() && apart > 0) continue;
    }
    const Vec3 reach =
        half + Vec3{std::abs(path.x), std::abs(path.y), std::abs(path.z)} * (0.5 / parts);
    Aabbf box;
    for (unsigned i = 0; i < 8; ++i)
      extend(box, sender.to_shape(to_bullet(center + Vec3{(i & 1U) != 0 ? reach.x : -reach.x,
                                                          (i & 2U) != 0 ? reach.y : -reach.y,
                                                          (i & 4U) != 0 ? reach.z : -reach.z})));
    const std::size_t before = sent.size();
    visit_triangles_in_box(body.surface().bvh, box, [&](std::uint32_t triangle) {
      if (!std::binary_search(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(before),
                              triangle)) {
        sent.push_back(triangle);
        tester.send(triangle);
      }
    });
    std::sort(sent.begin() + static_cast<std::ptrdiff_t>(before), sent.end());
    std::inplace_merge(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(before),
                       sent.end());
  }
  if (first.triangle >= 0) sender.send(static_cast<std::uint32_t>(first.triangle));
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
  // A few triangles are tested as fast as a path is followed.
  constexpr std::size_t kFew = 64;
  const auto* sweep = dynamic_cast<const btTriangleConvexcastCallback*>(callback);
  if (sweep != nullptr && body_->surface().mesh->triangles.size() > kFew) {
    send_sweep_hit(*this, sender, *sweep);
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
