// collide() by intersection fields, depth maps and swept points.
#include "isotact/queries/detail/collide_methods.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/base/error.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/queries/shape_views.h"

namespace isotact::detail {

void finish_patch(const CollideRequest& request, CollideResult& result, std::uint32_t keep) {
  if (keep > 0) {
    std::stable_sort(result.contacts.begin(), result.contacts.end(),
                     [](const Contact& x, const Contact& y) { return x.depth > y.depth; });
    result.contacts.resize(std::min<std::size_t>(result.contacts.size(), keep));
  } else {
    choose_contacts(result.contacts, request.max_contacts);
  }
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
  const IntersectionRequest& wanted = request.intersection;
  if (wanted.keep > kMostIdfContacts) throw Error("intersection fields keep 64 contacts at most");
  IdfSettings settings{.samples = wanted.samples,
                       .max_contacts = wanted.keep > 0 ? wanted.keep : kMostIdfContacts,
                       .threads = request.threads};
  // The default margin is a hundredth of the smaller body; a margin may need more.
  const auto longest = [](const IdfShape& shape) {
    const Vec3 side = extent(shape.body());
    return std::max({side.x, side.y, side.z});
  };
  const double smaller = std::min(longest(shapes[0]), longest(shapes[1]));
  if (request.margin > 0.01 * smaller) settings.margin = request.margin;
  // Overlaps as small as this are found. Where bodies are apart, cells are cut until they are.
  settings.resolution = wanted.resolution == 0          ? 0.01 * smaller
                        : std::isinf(wanted.resolution) ? 0
                                                        : wanted.resolution;
  if (wanted.backend != nullptr)
    wanted.backend->intersect(shapes, bodies, pairs, settings, state.intersected,
                              state.intersection);
  else
    intersect_fields(shapes, bodies, pairs, settings, state.intersected, state.intersection);
  const IdfResult& found = state.intersected;
  CollideResult& result = state.result;
  result.blind_depth = static_cast<double>(found.resolution[0]);
  result.particles = found.particles;
  result.arrived = found.arrived[0];
  for (const Contact& c : found.contacts)
    if (c.depth >= -request.margin) result.contacts.push_back(c);
  if (!result.contacts.empty()) result.touching_points = found.arrived[0];
  finish_patch(request, result, wanted.keep);
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

// What is drawn: the object into its map, the other as the environment.
struct DepthPair {
  const Shape& object;
  const Pose& world_from_object;
  const Shape& other;
  const Pose& world_from_other;
};

// Half-spaces show all of their surface along their normal, and none across it. Directions are
// rounded to about a degree, so that a body that barely turns keeps its map.
std::optional<Vec3> compute_direction(const DepthPair& pair) {
  if (pair.other.is_bounded()) return {};
  const auto* plane = std::get_if<PlaneField>(&pair.other.solid()->primitive());
  if (plane == nullptr) return {};
  const Vec3 n = rotate(conjugate(pair.world_from_object.rotation),
                        rotate(pair.world_from_other.rotation, plane->normal));
  constexpr double kSteps = 64;
  const double most = std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)});
  const auto rounded = [&](double x) { return std::round(x / most * kSteps) + 0.0; };
  return Vec3{rounded(n.x), rounded(n.y), rounded(n.z)};
}

// No surface of the other body shows in the object, so that pictures have no contacts: the object
// lies within it. The deepest position of the object in the other's field counts, in each of 8 x 8
// parts of the picture.
void add_inner_contacts(const DepthPair& pair, const DepthMap& map, const Vec3& known,
                        Body sampled_by, CollideResult& result) {
  constexpr std::int32_t kTiles = 8, kSamples = 8;  // per side of the picture; of a tile
  const Pose other_from_world = inverse(pair.world_from_other);
  const Pose other_from_view =
      other_from_world * pair.world_from_object * map.view.object_from_view;
  const AnyField& field = pair.other.any_field();
  struct Deepest {
    double value = 0;
    Vec3 at{};
  };
  const auto add = [&](const Deepest& deepest) {
    Vec3 out = normalized(field.sample(deepest.at).gradient);
    if (length_sq(out) == 0) out = {0, 1, 0};
    result.contacts.push_back(
        make_contact({sampled_by, 0, deepest.at, out, deepest.value}, pair.world_from_other));
  };
  Deepest tiles[kTiles][kTiles];
  const std::size_t stride = static_cast<std::size_t>(map.width) * std::size_t(map.height);
  for (std::int32_t i = 0; i < kTiles * kSamples; ++i)
    for (std::int32_t j = 0; j < kTiles * kSamples; ++j) {
      const std::int32_t row = (2 * i + 1) * map.height / (2 * kTiles * kSamples);
      const std::int32_t column = (2 * j + 1) * map.width / (2 * kTiles * kSamples);
      const std::size_t pixel =
          static_cast<std::size_t>(row) * std::size_t(map.width) + static_cast<std::size_t>(column);
      bool touches = false;
      for (int layer = 0; layer < map.layers; ++layer) {
        const DepthMap::Interval& part = map.intervals[std::size_t(layer) * stride + pixel];
        if (part.near > part.far) break;
        for (const float z : {part.near, part.far}) {
          const Vec3 at = transform_point(
              other_from_view, {((2 * column + 1) / double(map.width) - 1) * map.view.half_size.x,
                                ((2 * row + 1) / double(map.height) - 1) * map.view.half_size.y,
                                double(z) - map.view.half_size.z});
          const double value = field.value(at);
          touches = touches || value < 0;
          Deepest& deepest = tiles[i / kSamples][j / kSamples];
          if (value < deepest.value) deepest = {value, at};
        }
      }
      result.touching_points += touches ? 1 : 0;
    }
  for (const auto& row : tiles)
    for (const Deepest& deepest : row)
      if (deepest.value < 0) add(deepest);
  if (!result.contacts.empty()) return;
  // Parts too thin for these samples, or less deep than the field's error.
  const Vec3 at = transform_point(other_from_world, known);
  add({std::min(field.value(at), 0.0), at});
}

DepthSettings settings_of(const CollideRequest& request) {
  const DepthRequest& wanted = request.depth;
  const bool is_paper = wanted.maps != DepthMethod::kIntervals;
  if (wanted.two_sided && !is_paper)
    throw Error("two-sided maps are the height maps of the paper: intervals have both sides");
  if (is_paper && wanted.layers != DepthRequest{}.layers)
    throw Error("layers are of interval maps: height maps know one part along a ray");
  if (wanted.keep > kMostDepthContacts) throw Error("depth maps keep 64 contacts at most");
  if (wanted.max_directions < 1) throw Error("depth maps need one direction at least");
  if (!is_finite(wanted.direction)) throw Error("the direction of a depth map is not finite");
  const DepthSettings settings{.method = wanted.maps,
                               .width = wanted.pixels,
                               .height = wanted.pixels,
                               .layers = wanted.layers,
                               .two_sided = wanted.two_sided,
                               .conservative = wanted.conservative,
                               .max_contacts = wanted.keep > 0 ? wanted.keep : kMostDepthContacts,
                               .threads = request.threads};
  check_depth_settings(settings);
  return settings;
}

// The directions to draw, with their shares if those are known.
const DepthCompliance& choose_directions(const DepthPair& pair, const CollideRequest& request,
                                         DepthChoice& choice) {
  DepthRequest wanted = request.depth;
  if (length_sq(wanted.direction) == 0)
    if (const auto normal = compute_direction(pair))
      // The paper's maps show surfaces that face the view.
      wanted.direction = wanted.maps == DepthMethod::kIntervals ? *normal : -*normal;
  if (choice.object && is_same(*choice.object, pair.object) && choice.request == wanted)
    return choice.found;
  const DepthDirectionSettings settings{.method = wanted.maps,
                                        .two_sided = wanted.two_sided,
                                        .layers = wanted.layers,
                                        .max_directions = wanted.max_directions,
                                        .threads = request.threads};
  const bool is_given = length_sq(wanted.direction) > 0;
  const TriangleMesh& surface = pair.object.surface();
  if (!is_given) {
    choice.found = choose_depth_directions(surface, settings);
  } else if (wanted.want_coverage) {
    choice.found = check_depth_directions(surface, {&wanted.direction, 1}, settings);
  } else {
    choice.found = {};
    choice.found.directions.push_back({.direction = wanted.direction});
  }
  choice.object = pair.object;
  choice.request = wanted;
  return choice.found;
}

// Draws the object and tests the other body, on the CPU or by the caller's device.
struct DepthDrawing {
  const DepthPair& pair;
  const DepthSettings& settings;
  DepthBackend* backend;
  DepthElement environment;

  std::shared_ptr<const DepthMap> draw(const Vec3& direction) const {
    if (backend == nullptr) return depth_map(pair.object, direction, settings);
    const DepthElement object[] = {depth_element(pair.object, {}, 0)};
    const DepthView view = make_depth_view(to_double(bounds(pair.object.surface())), direction);
    return std::make_shared<const DepthMap>(backend->draw(object, view, settings));
  }
  DepthResult detect(const DepthMap& map) const {
    if (environment.indices.empty()) return {};
    const std::span elements(&environment, 1);
    return backend == nullptr ? detect_by_depth(map, pair.world_from_object, elements, settings)
                              : backend->detect(map, pair.world_from_object, elements, settings);
  }
};

// Flat surfaces that views see edge-on hide from them. They show along one axis at least.
void look_along_axes(const DepthDrawing& drawing, CollideResult& result) {
  for (std::size_t axis = 0; axis < 3 && result.contacts.empty(); ++axis) {
    Vec3 along{};
    along[axis] = 1;
    const DepthResult report = drawing.detect(*drawing.draw(along));
    result.touching_points += report.pixels;
    result.contacts = report.contacts;
  }
}

// The other body as it is drawn; `part` keeps what is cut out of one without end.
DepthElement environment_of(const DepthPair& pair, CutShape& part) {
  if (pair.other.is_bounded()) return depth_element(pair.other, pair.world_from_other, 0);
  const Aabb box = to_double(bounds(pair.object.surface()));
  const Pose other_from_object = inverse(pair.world_from_other) * pair.world_from_object;
  part =
      cut(pair.other, {transform_point(other_from_object, center(box)), length(extent(box)) / 2});
  return make_depth_element(part.mesh, pair.world_from_other, 0, true);
}

// Without settings of its own, a shape has its map already.
bool is_usual(const DepthRequest& request) {
  DepthRequest usual;
  usual.keep = request.keep;
  return request == usual;
}

DepthViewResult result_of(const DepthDirectionShare& share, const DepthMap& map,
                          const DepthResult& report) {
  const bool is_unit = std::abs(length_sq(share.direction) - 1) < 1e-12;
  return {.direction = is_unit ? share.direction : normalized(share.direction),
          .seen = share.seen,
          .gained = share.gained,
          .grazing = share.grazing,
          .view = map.view,
          .covered = map.covered,
          .overfull = map.overfull,
          .open = map.open,
          .colliding = report.colliding,
          .pixels = report.pixels,
          .depth = report.depth,
          .deepest = report.deepest};
}

}  // namespace

void collide_by_depth(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state) {
  const DepthSettings settings = settings_of(request);
  const bool is_paper = settings.method != DepthMethod::kIntervals;
  const bool swapped = !pair.a.is_bounded();
  const DepthPair seen = swapped ? DepthPair{pair.b, pair.world_from_b, pair.a, pair.world_from_a}
                                 : DepthPair{pair.a, pair.world_from_a, pair.b, pair.world_from_b};
  CutShape part;
  const DepthDrawing drawing{seen, settings, request.depth.backend, environment_of(seen, part)};
  CollideResult& result = state.result;
  DepthCoverage& coverage = result.depth;
  // With the paper's maps, all views must report a collision, since each takes too much for solid.
  bool colliding = is_paper;
  Vec3 known{};
  std::shared_ptr<const DepthMap> map;
  result.blind_depth = std::numeric_limits<double>::infinity();
  const auto look = [&](const DepthDirectionShare& share, std::shared_ptr<const DepthMap> drawn) {
    map = std::move(drawn);
    const DepthResult report = drawing.detect(*map);
    coverage.views.push_back(result_of(share, *map, report));
    if (report.colliding) known = report.deepest;
    colliding = is_paper ? colliding && report.colliding : colliding || report.colliding;
    result.touching_points += report.pixels;
    result.contacts.insert(result.contacts.end(), report.contacts.begin(), report.contacts.end());
    // The paper's maps have no bound: parts within the other body, or behind another, are missed.
    if (!is_paper)
      result.blind_depth =
          std::min(result.blind_depth, compute_depth_miss(map->view, settings) + part.error);
  };
  const bool is_along_normal = length_sq(request.depth.direction) == 0 && compute_direction(seen);
  if (is_usual(request.depth) && !is_along_normal) {
    const std::shared_ptr<const DepthMap> usual(std::shared_ptr<void>(), &depth_map(seen.object));
    look({.direction = rotate(usual->view.object_from_view.rotation, Vec3{0, 0, 1})}, usual);
  } else {
    const DepthCompliance& chosen = choose_directions(seen, request, state.depth);
    if (request.depth.want_coverage) {
      coverage.seen = chosen.seen;
      coverage.unseen = chosen.unseen;
      coverage.grazing = chosen.grazing;
    }
    for (const DepthDirectionShare& share : chosen.directions)
      look(share, drawing.draw(share.direction));
  }
  const auto is_blank = [](const DepthViewResult& view) { return view.pixels == 0; };
  coverage.inside =
      colliding && std::all_of(coverage.views.begin(), coverage.views.end(), is_blank);
  if (!colliding) result.contacts.clear();
  if (colliding && !is_paper && !is_along_normal) look_along_axes(drawing, result);
  if (swapped)
    for (Contact& c : result.contacts) c = exchange_bodies(c);
  if (colliding && result.contacts.empty())
    add_inner_contacts(seen, *map, known, swapped ? Body::kB : Body::kA, result);
  finish_patch(request, result, request.depth.keep);
}

void prepare_depth(const Shape& shape, const CollideRequest& request) {
  const DepthSettings settings = settings_of(request);
  const Vec3& direction = request.depth.direction;
  if (shape.is_bounded() && length_sq(direction) > 0)
    depth_map(shape, direction, settings);
  else if (shape.is_bounded())
    is_usual(request.depth) ? void(depth_map(shape)) : void(shape.surface());
  shape.any_field();
}

// ---- swept points (XB14) ----

ContinuousRequest swept_request_of(const CollideRequest& request) {
  return {.accuracy = Accuracy::kField,
          .margin = request.margin,
          .mode = Mode::kAll,
          .roles = request.roles,
          .max_contacts = 64,
          .threads = request.threads};
}

void collide_by_sweep(const CollidePair& pair, const CollideRequest& request,
                      CollideScratch::State& state) {
  const ContinuousResult& swept =
      continuous_collide(pair.a, at_rest(pair.world_from_a), pair.b, at_rest(pair.world_from_b),
                         swept_request_of(request), state.swept);
  CollideResult& result = state.result;
  result.touching_points = swept.points.size();
  result.blind_depth = swept.blind_depth;
  for (const TimedContact& c : swept.contacts) result.contacts.push_back(c.contact);
  finish_patch(request, result);
}

}  // namespace isotact::detail
