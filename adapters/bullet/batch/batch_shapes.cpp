#include "batch_shapes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <utility>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/base/error.h"
#include "isotact/field/models/csg.h"

#include "other_solid.h"

namespace isotact::bullet_detail {
namespace {

constexpr int kMostCells = 256;  // If no number is requested.
constexpr double kPadding = 3;   // Cells around the body.

// Padded on all sides, so that positions near the surface are in the box.
Lattice lattice_around(const Aabb& box, double spacing) {
  const double pad = kPadding * spacing;
  Lattice lattice{.origin = box.lower - Vec3{pad, pad, pad}, .spacing = spacing};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] =
        static_cast<std::int32_t>(std::ceil((extent(box)[axis] + 2 * pad) / spacing));
  return lattice;
}

// Slopes of bricks come from differences, and may be slightly above one, which slopes of distances
// never are: texels do not accept them.
struct GentleField {
  Offset<BrickField> field;

  double value(const Vec3& point) const { return field.value(point); }
  FieldSample sample(const Vec3& point) const {
    FieldSample s = field.sample(point);
    const double slope = length(s.gradient);
    if (slope > 1) s.gradient = s.gradient / slope;
    return s;
  }
  Aabb bounds() const { return field.bounds(); }
  double lipschitz() const { return field.lipschitz(); }
  Interval range(const Aabb& box) const { return field.range(box); }
  Interval distance_bounds(const Vec3& point) const { return field.distance_bounds(point); }
};

IdfShape make_texels(const BulletBody& body, double margin, int cells, Threads threads) {
  const Aabb box{body.box.lower - Vec3{margin, margin, margin},
                 body.box.upper + Vec3{margin, margin, margin}};
  const Vec3 side = extent(box);
  const double longest = std::max({side.x, side.y, side.z});
  const double spacing = cells > 0 ? longest / cells : std::max(longest / kMostCells, body.cell);
  const Lattice lattice = lattice_around(box, spacing);
  const FirstOrderSettings settings{.storage = FirstOrderStorage::kFloat32, .threads = threads};
  const FirstOrderField first =
      sample_first_order(GentleField{{*body.field, margin}}, lattice, settings);
  FieldTexels texels = make_first_order_texels(first, box, threads);
  texels.near = std::max(0.0, static_cast<double>(body.field->header().band) - margin);
  return IdfShape(std::move(texels));
}

double to_number(btScalar x) { return static_cast<double>(x); }

}  // namespace

std::uint32_t BatchShapes::add(IdfShape shape) {
  static std::atomic<std::uint64_t> versions = 0;
  version_ = ++versions;
  all_.push_back(std::move(shape));
  return static_cast<std::uint32_t>(all_.size() - 1);
}

template <typename Formula>
std::optional<BatchShape> BatchShapes::find_formula(const Key& key, const Formula& formula,
                                                    const Pose& frame) {
  const auto [at, is_new] = formulas_.try_emplace(key);
  if (is_new) {
    try {
      at->second = add(IdfShape(formula));
    } catch (const Error&) {  // Without a volume: its pairs use points.
    }
  }
  if (!at->second) return {};
  return BatchShape{*at->second, frame};
}

std::optional<BatchShape> BatchShapes::find_ours(const IsotactShape& shape) {
  if (!shape.body().field) return {};
  const double margin = to_number(shape.getMargin()) / shape.scale();
  Body& body = bodies_[&shape.body()];
  if (!body.body) body.body = shape.shared_body();
  const auto [at, is_new] = body.of_margin.try_emplace(margin);
  if (is_new) {
    try {
      at->second = add(make_texels(shape.body(), margin, cells_, threads_));
    } catch (const std::exception& error) {
      report_bullet_error(
          fmt::format("a shape is left out of batches, its pairs go by points: {}", error.what()));
    }
  }
  if (!at->second) return {};
  return BatchShape{*at->second, shape.scaled_frame(), shape.scale()};
}

// Bullet's shapes have their stated sizes, with their margins inside.
std::optional<BatchShape> BatchShapes::find(const btCollisionShape& shape) {
  const auto type = static_cast<double>(shape.getShapeType());
  switch (shape.getShapeType()) {
    case FAST_CONCAVE_MESH_PROXYTYPE:
      return find_ours(static_cast<const IsotactShape&>(shape));
    case STATIC_PLANE_PROXYTYPE: {
      const auto& plane = static_cast<const btStaticPlaneShape&>(shape);
      const Vec3 n = normalized(from_bullet(plane.getPlaneNormal()));
      const double offset = to_number(plane.getPlaneConstant());
      return find_formula({type, n.x, n.y, n.z, offset}, PlaneField{n, offset});
    }
    case SPHERE_SHAPE_PROXYTYPE: {
      const double r = to_number(static_cast<const btSphereShape&>(shape).getRadius());
      return find_formula({type, r}, SphereField{{}, r});
    }
    case BOX_SHAPE_PROXYTYPE: {
      const Vec3 h = from_bullet(static_cast<const btBoxShape&>(shape).getHalfExtentsWithMargin());
      return find_formula({type, h.x, h.y, h.z}, BoxField{{}, h});
    }
    case CAPSULE_SHAPE_PROXYTYPE: {
      const auto& capsule = static_cast<const btCapsuleShape&>(shape);
      const double half = to_number(capsule.getHalfHeight()), r = to_number(capsule.getRadius());
      const CapsuleField formula{{0, -half, 0}, {0, half, 0}, r};
      return find_formula({type, half, r}, formula, turn_from_y(capsule.getUpAxis()));
    }
    case CYLINDER_SHAPE_PROXYTYPE: {
      const auto& cylinder = static_cast<const btCylinderShape&>(shape);
      const int axis = cylinder.getUpAxis();
      const double height = 2 * to_number(cylinder.getHalfExtentsWithMargin()[axis]);
      const double r = to_number(cylinder.getRadius());
      return find_formula({type, height, r}, CylinderField{{}, r, height}, turn_from_y(axis));
    }
    default:
      return {};
  }
}

FieldSample sample_solid(const IdfShape& shape, const Vec3& point) {
  FieldSample s = std::visit(
      [&](const auto& solid) -> FieldSample {
        using Solid = std::decay_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, std::shared_ptr<const FieldTexels>>) {
          const TexelSample t = sample(*solid, to_float(point));
          return {static_cast<double>(t.distance), to_double(t.direction)};
        } else if constexpr (std::is_same_v<Solid, std::shared_ptr<const BrickField>>) {
          return solid->sample(point);
        } else {
          return solid.sample(point);
        }
      },
      shape.solid());
  const double l = length(s.gradient);
  s.gradient = l > 1e-6 ? s.gradient / l : Vec3{};
  return s;
}

}  // namespace isotact::bullet_detail
