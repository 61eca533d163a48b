// Parts of a shape that are made when a query first needs them.
#include <algorithm>
#include <cmath>

#include "isotact/base/error.h"
#include "isotact/queries/detail/shape_data.h"
#include "isotact/queries/intersection/detail/body_box.h"

namespace isotact {
namespace {

[[noreturn]] void refuse_endless(const char* what) {
  throw Error(std::string("a shape without end has no ") + what, Hint::kBounds);
}

[[noreturn]] void refuse_points_only(const char* what) {
  throw Error(std::string("a pointshell alone has no ") + what, Hint::kField);
}

Aabb compute_box(const PointSphereTree& tree) {
  Aabb box;
  for (std::uint32_t i = 0; i < tree.point_count(); ++i) extend(box, to_double(tree.point(i)));
  const Vec3 around = Vec3{1, 1, 1} * tree.covering_radius();
  return {box.lower - around, box.upper + around};
}

}  // namespace

const BrickField& Shape::brick_field() const {
  const ShapeParts& p = parts();
  if (p.field) return *p.field;
  if (!can_have_field()) refuse_points_only("field");
  if (!is_bounded()) refuse_endless("grid");
  if (!solid() && !detail::has_field(p))
    return data_->built.get([&] { return detail::build_from_mesh(*this, data_->settings); }).field;
  return data_->bricks.get([&] { return detail::make_bricks(p, data_->settings); });
}

const AnyField& Shape::any_field() const {
  if (solid()) return solid()->field();
  return data_->any.get([&] { return AnyField{brick_field()}; });
}

double Shape::cell() const {
  if (!solid()) return brick_field().voxel_size();
  constexpr double kMost = 1e-3, kShare = 0.02;
  if (data_->settings.cell > 0) return data_->settings.cell;
  return std::min(kMost, solid()->detail() * kShare);
}

const TriangleMesh& Shape::surface() const {
  if (parts().mesh) return *parts().mesh;
  if (!can_have_field() && !parts().flat_mesh) refuse_points_only("surface");
  if (!is_bounded()) refuse_endless("surface that could be drawn as a whole");
  return data_->surface.get([&] { return detail::make_surface(*this, data_->settings); });
}

const PointSphereTree& Shape::points() const {
  if (tree()) return *tree();
  if (!is_bounded()) refuse_endless("points");
  return data_->points.get([&] { return detail::make_points(*this, data_->settings); });
}

const MassProperties& Shape::mass() const {
  const ShapeParts& p = parts();
  const bool is_solid = p.mass && p.mass->status == MassStatus::kSolid;
  if (p.mass && (is_solid || !can_have_field())) return *p.mass;
  if (!is_bounded()) refuse_endless("mass");
  if (!can_have_field()) refuse_points_only("mass");
  return data_->mass.get([&] { return detail::make_mass(*this, data_->settings); });
}

const Aabb& Shape::bounds() const {
  if (solid()) return solid()->body();
  return data_->bounds.get([&] {
    return can_have_field() ? detail::compute_body_box(brick_field()) : compute_box(*tree());
  });
}

std::shared_ptr<const SweptTracer> Shape::swept_tracer(const SweptSettings& settings) const {
  return data_->tracers.get({settings}, [&] {
    if (solid()) return std::make_shared<const SweptTracer>(any_field(), cell(), settings);
    const bool near_zero = std::abs(settings.margin) <= kIndexReach * brick_field().voxel_size();
    const bool given = parts().segment_index && parts().segment_index->serves(settings.margin);
    return near_zero || given
               ? std::make_shared<const SweptTracer>(brick_field(), segment_index(), settings)
               : std::make_shared<const SweptTracer>(brick_field(), settings);
  });
}

const std::shared_ptr<const SegmentIndex>& Shape::segment_index() const {
  if (parts().segment_index) return parts().segment_index;
  return data_->segment_index.get(
      [&] { return std::make_shared<const SegmentIndex>(build_segment_index(brick_field())); });
}

std::shared_ptr<const ShellTarget> Shape::shell_target(double max_margin) const {
  if (solid())
    return data_->targets.get(0, [&] {
      return std::visit(
          [&](const auto& f) {
            using F = std::decay_t<decltype(f)>;
            if constexpr (std::constructible_from<ShellTarget, const F&>)
              return std::make_shared<const ShellTarget>(f);
            else
              return std::make_shared<const ShellTarget>(any_field());
          },
          solid()->primitive());
    });
  const ShapeParts& p = parts();
  // A voxelmap alone is read as it is.
  const bool by_voxmap = p.voxmap && !p.field && !p.dense && !p.first_order;
  return data_->targets.get(max_margin, [&] {
    const TargetSettings settings{.max_margin = max_margin};
    return by_voxmap ? std::make_shared<const ShellTarget>(*p.voxmap, settings)
                     : std::make_shared<const ShellTarget>(brick_field(), settings);
  });
}

}  // namespace isotact
