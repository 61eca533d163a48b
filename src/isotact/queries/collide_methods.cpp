// collide() by intersection fields, depth maps and swept points.
#include "isotact/queries/detail/collide_methods.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/queries/shape_views.h"

namespace isotact::detail {

void finish_patch(const CollideRequest& request, CollideResult& result) {
  choose_contacts(result.contacts, request.max_contacts);
  const auto count = static_cast<std::uint32_t>(result.contacts.size());
  if (count > 0) {
    result.status = CollideStatus::kContact;
    result.first_contact.push_back(0);
    result.has_distance = true;
    result.distance = -result.contacts[0].depth;
  }
  result.first_contact.push_back(count);
}

// ---- intersection fields (KGM) ----

// Particles search for positions within a margin of both bodies, which finds gaps of up to twice
// that. Those that are wider than the margin are left out.
void collide_by_intersection(const CollidePair& pair, const CollideRequest& request,
                             CollideScratch::State& state) {
  const IdfShape shapes[] = {intersection_shape(pair.a), intersection_shape(pair.b)};
  const IdfBody bodies[] = {{.shape = 0, .world_from_body = pair.world_from_a},
                            {.shape = 1, .world_from_body = pair.world_from_b}};
  const IdfPair pairs[] = {{0, 1}};
  IdfSettings settings{.max_contacts = kMostIdfContacts};
  // The default margin is a hundredth of the smaller body; a margin may need more.
  const auto longest = [](const IdfShape& shape) {
    const Vec3 side = extent(shape.body());
    return std::max({side.x, side.y, side.z});
  };
  const double smaller = std::min(longest(shapes[0]), longest(shapes[1]));
  if (request.margin > 0.01 * smaller) settings.margin = request.margin;
  // Overlaps as small as this are found. Where bodies are apart, cells are cut until they are.
  settings.resolution = 0.01 * smaller;
  intersect_fields(shapes, bodies, pairs, settings, state.intersected, state.intersection);
  const IdfResult& found = state.intersected;
  CollideResult& result = state.result;
  result.blind_depth = static_cast<double>(found.resolution[0]);
  for (const Contact& c : found.contacts)
    if (c.depth >= -request.margin) result.contacts.push_back(c);
  if (!result.contacts.empty()) result.touching_points = found.arrived[0];
  finish_patch(request, result);
}

void prepare_intersection(const Shape& shape) { intersection_shape(shape); }

// ---- depth maps (FAB) ----

namespace {

// The part of a shape without end that the object can meet, as a closed mesh in the shape's frame.
struct CutShape {
  DepthMesh mesh{};
  double error = 0;  // metres: how far its surface may be from the shape's
};

// A prism under the plane that holds the ball, or as much of it as is behind the plane.
CutShape cut(const PlaneField& plane, const Sphere& ball) {
  const Vec3 n = plane.normal;
  const Vec3 u = normalized(cross(n, std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
  const Vec3 v = cross(n, u);
  const double height = dot(n, ball.center) - plane.offset, wide = 2 * ball.radius;
  const Vec3 top = ball.center - n * height;
  const Vec3 bottom = top + n * (std::min(height, 0.0) - wide);
  CutShape result;
  for (const Vec3& middle : {bottom, top})
    for (const auto& [s, t] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
      result.mesh.positions.push_back(middle + u * (s * wide) + v * (t * wide));
  result.mesh.indices = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7};  // bottom and top
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t next = (i + 1) % 4;
    const std::uint32_t side[] = {i, next, next + 4, i, next + 4, i + 4};
    result.mesh.indices.insert(result.mesh.indices.end(), std::begin(side), std::end(side));
  }
  return result;
}

CutShape cut(const AnyField& field, const Sphere& ball) {
  constexpr std::int32_t kCells = 96;
  const double half = 1.2 * ball.radius, cell = 2 * half / kCells;
  const Lattice lattice{.origin = ball.center - Vec3{half, half, half},
                        .spacing = cell,
                        .cells = {kCells, kCells, kCells}};
  return {make_depth_mesh(extract_surface(field, lattice)), std::sqrt(3.0) * cell};
}

CutShape cut(const Shape& shape, const Sphere& ball) {
  const auto* plane = std::get_if<PlaneField>(&shape.solid()->primitive());
  return plane != nullptr ? cut(*plane, ball) : cut(shape.any_field(), ball);
}

Contact exchange_bodies(const Contact& c) {
  Contact other = c;
  std::swap(other.point_on_a, other.point_on_b);
  other.normal = -c.normal;
  other.sampled_by = c.sampled_by == Body::kA ? Body::kB : Body::kA;
  return other;
}

}  // namespace

void collide_by_depth(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state) {
  const bool swapped = !pair.a.is_bounded();
  const Shape &object = swapped ? pair.b : pair.a, &other = swapped ? pair.a : pair.b;
  const Pose& world_from_object = swapped ? pair.world_from_b : pair.world_from_a;
  const Pose& world_from_other = swapped ? pair.world_from_a : pair.world_from_b;
  const DepthMap& map = depth_map(object);
  CutShape part;
  DepthElement environment;
  if (other.is_bounded()) {
    environment = depth_element(other, world_from_other, 0);
  } else {
    const Aabb box = to_double(bounds(object.surface()));
    const Pose other_from_object = inverse(world_from_other) * world_from_object;
    part = cut(other, {transform_point(other_from_object, center(box)), length(extent(box)) / 2});
    environment = make_depth_element(part.mesh, world_from_other, 0, true);
  }
  const DepthSettings settings{.max_contacts = kMostDepthContacts};
  DepthReport report;
  if (!environment.indices.empty())
    report = detect_by_depth(map, world_from_object, {&environment, 1}, settings);
  CollideResult& result = state.result;
  result.touching_points = report.pixels;
  result.blind_depth = compute_depth_miss(map.view, settings) + part.error;
  for (const Contact& c : report.contacts)
    result.contacts.push_back(swapped ? exchange_bodies(c) : c);
  finish_patch(request, result);
  // If the object lies within the other body, no surface shows that could make contacts.
  if (report.colliding) result.status = CollideStatus::kContact;
}

void prepare_depth(const Shape& shape) {
  if (shape.is_bounded()) depth_map(shape);
}

// ---- swept points (XB14)
// -------------------------------------------------------------------------

ContinuousRequest swept_request_of(const CollideRequest& request) {
  return {.margin = request.margin, .mode = Mode::kAll, .roles = request.roles, .max_contacts = 64};
}

void collide_by_sweep(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state) {
  continuous_collide(pair.a, at_rest(pair.world_from_a), pair.b, at_rest(pair.world_from_b),
                     swept_request_of(request), state.swept);
  CollideResult& result = state.result;
  result.touching_points = state.swept.points.size();
  result.blind_depth = state.swept.blind_depth;
  for (const TimedContact& c : state.swept.contacts) result.contacts.push_back(c.contact);
  finish_patch(request, result);
}

}  // namespace isotact::detail
