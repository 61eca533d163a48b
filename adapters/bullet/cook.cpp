#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "isotact/adapters/bullet/body.h"
#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/adapters/bullet/shape.h"
#include "isotact/base/error.h"
#include "isotact/geometry/repair/repair.h"

#include "smooth/smooth_surface.h"

namespace isotact {
namespace {

void check(const BulletShapeSettings& s) {
  const auto need = [](double value, const char* name) {
    if (!(value >= 0) || !std::isfinite(value))
      throw Error(fmt::format("{} is {}, must be finite and not negative", name, value));
  };
  need(s.margin, "margin");
  need(s.contact_margin, "contact_margin");
  need(s.max_approach, "max_approach");
  need(s.meshes.thickness, "meshes.thickness");
  need(s.bounce_speed, "bounce_speed");
  need(s.fast_motion, "fast_motion");
  need(s.crease_angle, "crease_angle");
  need(s.penalty.stiffness, "penalty.stiffness");
  need(s.penalty.damping, "penalty.damping");
  if (s.points_per_manifold > kManifoldSize)
    throw Error(fmt::format("points_per_manifold is {}, must be 0 to 4", s.points_per_manifold));
  if (s.patches == 0) throw Error("patches is 0, must be 1 or more");
  if (s.wide_patches == 0) throw Error("wide_patches is 0, must be 1 or more");
}

Aabb compute_box(const bullet_detail::BulletBody& body) {
  if (body.mesh) return to_double(bounds(*body.mesh));
  Aabb box;
  if (body.tree) {
    for (std::uint32_t i = 0; i < body.tree->point_count(); ++i)
      extend(box, to_double(body.tree->point(i)));
    const double c = body.tree->covering_radius();
    return {box.lower - Vec3{c, c, c}, box.upper + Vec3{c, c, c}};
  }
  return body.field ? body.field->bounds() : bounds(body.voxmap->lattice());
}

ShellPatches cut(const PointSphereTree& tree, const BulletShapeSettings& settings) {
  return settings.patch_level >= 0 ? patches_of_level(tree, settings.patch_level)
                                   : choose_patches(tree, settings.patches);
}

ShellPatches cut_wide(const PointSphereTree& tree, const BulletShapeSettings& settings) {
  const bool cut_already = settings.patches > 1 || settings.patch_level > 0;
  if (cut_already || settings.wide_patches == 1) return {};
  return choose_patches(tree, settings.wide_patches);
}

// What a user would choose (CookSettings::shape).
ShapeSettings fill_in(ShapeSettings s, const TriangleMesh& mesh) {
  const Aabb box = to_double(bounds(mesh));
  if (is_empty(box)) return s;
  const Vec3 side = extent(box);
  const double longest = std::max({side.x, side.y, side.z});
  const double least = std::min({side.x, side.y, side.z});
  if (!s.field.resolution && !s.field.voxel_size && !s.field.accuracy && least > 0)
    s.field.resolution = static_cast<int>(std::clamp(std::ceil(4 * longest / least), 128.0, 256.0));
  if (s.spacing == 0 && s.points == 0 && s.field.resolution && *s.field.resolution > 128)
    s.spacing = longest / 64;
  if (s.spacing == 0 && s.points == 0 && s.field.voxel_size)
    s.spacing = std::max(longest / 64, 2 * *s.field.voxel_size);
  return s;
}

// Sets the defaults of settings that are 0.
void fill_in(BulletShapeSettings& s, const bullet_detail::BulletBody& body) {
  const double radius = body.ball.radius;
  if (s.contact_margin == 0) s.contact_margin = 0.0005 * radius;
  if (s.max_approach == 0) s.max_approach = std::max(0.01 * radius, body.cell);
  s.max_approach = std::max(s.max_approach, s.contact_margin);
  if (s.meshes.thickness == 0) s.meshes.thickness = body.smallest_side / 4;
  if (s.fast_motion == 0) s.fast_motion = body.smallest_side / 2;
  const bool cut = s.patches > 1 || s.patch_level > 0;
  if (s.points_per_manifold == 0) s.points_per_manifold = cut ? 1 : kManifoldSize;
}

}  // namespace

const bullet_detail::BulletBody::Points& bullet_detail::BulletBody::made_points() const {
  return points_.get([this]() -> Points {
    if (!shape.can_have_points()) return {};
    try {
      const PointSphereTree& made = shape.points();
      return {&made, cut(made, settings), cut_wide(made, settings)};
    } catch (const std::exception& error) {  // Bullet's steps pass none on.
      report_bullet_error(
          fmt::format("a shape has no points, and none can be made: {}", error.what()));
      return {};
    }
  });
}

const bullet_detail::SmoothSurface* bullet_detail::BulletBody::smooth() const {
  if (mesh == nullptr || settings.crease_angle == 0) return nullptr;
  return smooth_
      .get([this] {
        auto made = std::make_shared<SmoothSurface>(*surface().mesh, settings.crease_angle);
        if (tree) made->count_samples(tree->point_count());
        return std::shared_ptr<const SmoothSurface>(std::move(made));
      })
      .get();
}

namespace {

std::unique_ptr<IsotactShape> cook(const Shape& shape, const ShapeSettings& shape_settings,
                                   BulletShapeSettings settings) {
  check(settings);
  // One contact of all the pressure would let a body rock.
  constexpr std::uint32_t kPressurePatches = 15;  // As in SSL14 2.4.
  if (settings.response == PatchResponse::kPressure && settings.patch_level < 0)
    settings.patches = settings.patches == 1 ? kPressurePatches : settings.patches;
  if (!shape.is_bounded())
    throw Error("a shape without end is none of Bullet's bodies: use btStaticPlaneShape");
  auto body = std::make_shared<bullet_detail::BulletBody>(shape);
  const ShapeParts& parts = shape.parts();
  // A voxelmap alone is read as it is.
  const bool only_voxmap = parts.voxmap && !parts.solid && !parts.dense && !parts.first_order;
  body->tree = parts.tree;
  body->field = parts.field;
  if (!body->field && !only_voxmap && shape.can_have_field()) body->field = shape.brick_field();
  if (!body->tree && parts.solid) body->tree = shape.points();
  if (!body->field) body->voxmap = parts.voxmap;
  body->mesh = parts.mesh;
  body->box = compute_box(*body);
  if (is_empty(body->box)) throw Error("the mesh of a shape has no triangles");
  body->ball = {center(body->box), length(extent(body->box)) / 2};
  const Vec3 side = extent(body->box);
  body->smallest_side = std::min({side.x, side.y, side.z});
  if (body->field) body->cell = body->field->voxel_size();
  if (body->voxmap) body->cell = body->voxmap->voxel_size();
  body->settings = body->wished = settings;
  body->shape_settings = shape_settings;
  fill_in(body->settings, *body);

  // Room for margins of both bodies: that of the other is not known, but rarely larger than ours.
  const double max_margin = body->settings.max_approach + 2 * settings.margin;
  if (shape.can_have_field()) body->target = shape.shell_target(max_margin);
  if (body->tree) {
    body->patches = cut(*body->tree, settings);
    body->wide_patches = cut_wide(*body->tree, settings);
  }
  // Baking a voxelmap for its inertia would take too long.
  body->mass = body->field || parts.mesh ? shape.mass() : parts.mass;
  body->warnings = shape.warnings();
  return std::make_unique<IsotactShape>(std::move(body));
}

}  // namespace

std::unique_ptr<IsotactShape> cook_bullet_shape(const Shape& shape,
                                                const BulletShapeSettings& settings) {
  return cook(shape, {}, settings);
}

std::unique_ptr<IsotactShape> cook_bullet_shape(const Asset& asset,
                                                const BulletShapeSettings& settings) {
  return cook_bullet_shape(Shape::from_asset(asset), settings);
}

std::unique_ptr<IsotactShape> cook_bullet_shape(const TriangleMesh& mesh,
                                                const CookSettings& settings) {
  auto shape =
      cook(Shape::from_mesh(mesh, fill_in(settings.shape, mesh)), settings.shape, settings.bullet);
  shape->body().smooth();  // Otherwise the step of the first contact would make it.
  return shape;
}

std::unique_ptr<IsotactShape> cook_scaled(const bullet_detail::BulletBody& body,
                                          const Pose& bullet_from_shape, const Vec3& scaling) {
  if (body.mesh == nullptr && !body.shape.can_have_field())
    throw Error("a pointshell alone has no mesh to scale");
  TriangleMesh mesh = body.mesh != nullptr ? *body.mesh : body.shape.surface();
  for (Vec3f& p : mesh.positions) {
    const Vec3 at = transform_point(bullet_from_shape, to_double(p));
    p = to_float(Vec3{at.x * scaling.x, at.y * scaling.y, at.z * scaling.z});
  }
  // A mirrored mesh would be inside out.
  if (scaling.x * scaling.y * scaling.z < 0)
    for (auto& t : mesh.triangles) std::swap(t[1], t[2]);
  // Lengths scale with the body.
  const double factor = std::cbrt(std::abs(scaling.x) * std::abs(scaling.y) * std::abs(scaling.z));
  CookSettings settings{.shape = body.shape_settings, .bullet = body.wished};
  if (settings.shape.field.voxel_size) *settings.shape.field.voxel_size *= factor;
  settings.shape.spacing *= factor;
  settings.bullet.margin *= factor;
  settings.bullet.contact_margin *= factor;
  settings.bullet.max_approach *= factor;
  settings.bullet.fast_motion *= factor;
  settings.bullet.meshes.thickness *= factor;
  return cook_bullet_shape(mesh, settings);
}

namespace {

// Bullet passes triangles one by one, scaled.
class Collector final : public btInternalTriangleIndexCallback {
 public:
  void internalProcessTriangleIndex(btVector3* corner, int, int) override {
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (std::size_t i = 0; i < 3; ++i) mesh.positions.push_back(to_float(from_bullet(corner[i])));
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  TriangleMesh mesh;
};

}  // namespace

TriangleMesh from_bullet(const btStridingMeshInterface& mesh) {
  Collector collector;
  constexpr btScalar kAll = BT_LARGE_FLOAT;
  mesh.InternalProcessAllTriangles(&collector, {-kAll, -kAll, -kAll}, {kAll, kAll, kAll});
  return weld(collector.mesh).mesh;
}

std::unique_ptr<IsotactShape> cook_bullet_shape(const btStridingMeshInterface& mesh,
                                                const CookSettings& settings) {
  return cook_bullet_shape(from_bullet(mesh), settings);
}

btTransform BodyInfo::center_of_mass_offset() const { return to_bullet(inverse(mesh_from_body)); }

btTransform BodyInfo::world_from_body(const Pose& world_from_mesh) const {
  return to_bullet(world_from_mesh * mesh_from_body);
}

Pose BodyInfo::world_from_mesh(const btTransform& world_from_body) const {
  return isotact::from_bullet(world_from_body) * inverse(mesh_from_body);
}

BodyInfo make_body_info(const IsotactShape& shape, const MassSettings& settings) {
  if (!shape.body().mass || !(shape.body().mass->volume > 0))
    throw Error("the shape has no volume: give it mass properties, a field or a closed mesh");
  const MassProperties unit = *shape.body().mass;
  const Vec3& moments = unit.principal_moments;  // Ascending.
  if (!(moments.x > 0) || moments.z > 1.001 * (moments.x + moments.y))
    throw Error(
        "the shape's inertia is that of no body: its mesh is open, or faces both sides; cook it "
        "with "
        "a field, or give mass properties");
  const double s = shape.scale();
  // In the cooked frame, scaled; the shape's own frame is ignored.
  const Pose shape_from_body{unit.mesh_from_principal, unit.center};
  BodyInfo info;
  info.shape = std::make_unique<IsotactShape>(shape.shared_body(), inverse(shape_from_body));
  info.shape->setLocalScaling(shape.getLocalScaling());
  info.shape->setMargin(shape.getMargin());
  const double mass = settings.mass.value_or(settings.density * unit.volume * s * s * s);
  if (!(mass > 0) || !std::isfinite(mass))
    throw Error(fmt::format("a mass of {} kg: must be positive and finite", mass));
  info.mass = static_cast<btScalar>(mass);
  info.inertia = to_bullet(unit.principal_moments * (mass / unit.mass * s * s));
  info.mesh_from_body = {shape_from_body.rotation, shape_from_body.translation * s};
  return info;
}

}  // namespace isotact
