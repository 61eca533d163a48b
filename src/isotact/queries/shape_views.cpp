#include "isotact/queries/shape_views.h"

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/queries/depth/depth_directions.h"
#include "isotact/queries/detail/shape_data.h"

namespace isotact {

const IdfShape& intersection_shape(const Shape& shape) {
  return ShapeAccess::data(shape).intersection.get([&] {
    if (!shape.solid()) return IdfShape(shape.brick_field());
    return std::visit(
        [&](const auto& f) {
          if constexpr (std::constructible_from<IdfShape, decltype(f)>) return IdfShape(f);
          if (!shape.is_bounded())
            throw Error(
                "intersection fields know no shape without end but a plane: test it by points "
                "(Method::kPoints), or cut it by an Intersection with a BoxField");
          return IdfShape(shape.brick_field(), shape.bounds());
        },
        shape.solid()->primitive());
  });
}

std::vector<IdfShape> intersection_shapes(std::span<const Shape> shapes) {
  std::vector<IdfShape> views;
  for (const Shape& shape : shapes) views.push_back(intersection_shape(shape));
  return views;
}

void intersect_fields(std::span<const Shape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings,
                      IdfResult& result, IdfScratch& scratch) {
  intersect_fields(intersection_shapes(shapes), bodies, pairs, settings, result, scratch);
}

namespace {

const detail::DepthSurface& depth_surface(const Shape& shape) {
  return ShapeAccess::data(shape).depth_surface.get([&] {
    const TriangleMesh& mesh = shape.surface();
    if (const auto flaw = find_flaw(mesh)) throw Error(*flaw);
    const Threads threads = ShapeAccess::data(shape).settings.field.threads;
    const bool balanced = is_balanced(mesh, threads);
    const std::size_t not_finite =
        balanced ? 0 : find_flaws(mesh, {.threads = threads}).non_finite_triangles;
    if (not_finite > 0)
      throw Error(
          fmt::format("{} triangles of the mesh are not finite: drop them before a shape "
                      "is made of it",
                      not_finite));
    return detail::DepthSurface{make_depth_mesh(mesh), balanced};
  });
}

DepthMap draw_along(const Shape& shape, const Vec3& direction, DepthSettings settings) {
  const DepthElement object[] = {depth_element(shape, {}, 0)};
  const DepthView view = make_depth_view(to_double(bounds(shape.surface())), direction);
  if (settings.threads.count == 0)
    settings.threads = ShapeAccess::data(shape).settings.field.threads;
  return draw_depth_map(object, view, settings);
}

}  // namespace

std::vector<std::string> describe_depth_limits(const Shape& shape, bool is_environment) {
  const ShapeParts& parts = shape.parts();
  if (parts.solid) return {};
  const bool closed = depth_surface(shape).closed;
  if (!parts.mesh && !parts.flat_mesh)
    return {"is drawn as the surface of its field, not as the mesh that this is of"};
  if (!is_environment) return {};
  if (!closed) return {"is not closed: whether a body lies within it is not known"};
  const SurfaceIntegrals sums = integrate_surface(shape.surface());
  if (sums.volume < -1e-12 * sums.volume_size)
    return {"is turned inwards: its inside counts as free"};
  return {};
}

DepthElement depth_element(const Shape& shape, const Pose& world_from_shape, std::uint32_t id) {
  const detail::DepthSurface& surface = depth_surface(shape);
  return make_depth_element(surface.mesh, world_from_shape, id, surface.closed);
}

const DepthMap& depth_map(const Shape& shape) {
  return ShapeAccess::data(shape).depth_map.get([&] {
    const Threads threads = ShapeAccess::data(shape).settings.field.threads;
    const DepthCompliance seen =
        choose_depth_directions(shape.surface(), {.max_directions = 1, .threads = threads});
    return draw_along(shape, seen.directions.at(0).direction, {});
  });
}

std::shared_ptr<const DepthMap> depth_map(const Shape& shape, const Vec3& direction,
                                          const DepthSettings& settings) {
  if (!is_finite(direction)) throw Error("the direction of a depth map is not finite");
  return ShapeAccess::data(shape).directed_maps.get({direction, settings}, [&] {
    return std::make_shared<const DepthMap>(draw_along(shape, direction, settings));
  });
}

}  // namespace isotact
