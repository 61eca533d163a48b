#include "isotact/queries/intersection/intersection_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Squares of lengths must be floats.
constexpr double kLargest = 1e12;

void check_settings(const IdfSettings& s) {
  if (s.samples < 1 || s.samples > kMostIdfSamples)
    throw Error(fmt::format("samples is {}; 1 to {} are possible", s.samples, kMostIdfSamples));
  if (!(s.margin >= 0 && s.margin <= kLargest))
    throw Error(fmt::format("margin is {}; 0 to {} metres are possible", s.margin, kLargest));
  if (s.max_steps < 1 || s.max_steps > 1000)
    throw Error(fmt::format("max_steps is {}; 1 to 1000 are possible", s.max_steps));
  if (!(s.relaxation >= 1 && s.relaxation <= 2))
    throw Error(fmt::format("relaxation is {}; 1 to 2 are possible", s.relaxation));
  if (!(s.resolution >= 0) || !std::isfinite(s.resolution))
    throw Error(fmt::format("resolution is {}; it must be finite, and not negative", s.resolution));
  if (s.max_contacts > kMostIdfContacts)
    throw Error(
        fmt::format("max_contacts is {}; 0 to {} are possible", s.max_contacts, kMostIdfContacts));
  if (s.search == IdfSearch::kCells && s.sampling != IdfSampling::kGrid)
    throw Error("the search by cells needs the sampling grid");
}

void check_bodies(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const IdfBody& body = bodies[i];
    if (body.shape >= shapes.size())
      throw Error(fmt::format("body {} has shape {}, there are {}", i, body.shape, shapes.size()));
    if (!(body.scale >= 1 / kLargest && body.scale <= kLargest))
      throw Error(fmt::format("body {}: scale is {}; {} to {} are possible", i, body.scale,
                              1 / kLargest, kLargest));
    const Vec3 side = extent(shapes[body.shape].body()) * body.scale;
    const bool is_plane = std::holds_alternative<PlaneField>(shapes[body.shape].solid());
    if (!is_plane && !(std::max({side.x, side.y, side.z}) <= kLargest))
      throw Error(fmt::format("body {} is larger than {} metres", i, kLargest));
    const Pose& pose = body.world_from_body;
    const Vec3 far = max(pose.translation, -pose.translation);
    if (!(std::max({far.x, far.y, far.z}) <= kLargest) ||
        !(std::abs(length_sq(pose.rotation) - 1) < 1e-6))
      throw Error(fmt::format("body {}: its pose is not finite, or its rotation no unit", i));
  }
}

// The part of a body that does not depend on the other one.
struct PlacedBody {
  const IdfShape* shape = nullptr;
  Mat3 body_from_world{};
  Aabb box{};          // World frame; all of space for a plane.
  double longest = 0;  // Longest side of the body's own box, metres in the world.
};

PlacedBody place(const IdfShape& shape, const IdfBody& body) {
  const Mat3 world_from_body = to_matrix(body.world_from_body.rotation);
  PlacedBody placed{.shape = &shape, .body_from_world = transpose(world_from_body)};
  if (std::holds_alternative<PlaneField>(shape.solid())) {
    placed.box = all_of_space();
    placed.longest = kUnbounded;
    return placed;
  }
  const Vec3 half = extent(shape.body()) * (0.5 * body.scale);
  const Vec3 middle = transform_point(body.world_from_body, center(shape.body()) * body.scale);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Vec3& row = world_from_body.rows[axis];
    const double reach =
        std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
    const double rounding = 1e-14 * (std::abs(middle[axis]) + reach);
    placed.box.lower[axis] = middle[axis] - reach - rounding;
    placed.box.upper[axis] = middle[axis] + reach + rounding;
  }
  placed.longest = 2 * std::max({half.x, half.y, half.z});
  return placed;
}

// Cuts off the part in front of the plane: along each axis, where even the corner of the others
// that is deepest behind it is in front.
void clip_box(Aabb& box, const PlaneField& plane, const IdfBody& body, double margin) {
  const Vec3 normal = rotate(body.world_from_body.rotation, plane.normal);
  const double offset =
      plane.offset * body.scale + dot(normal, body.world_from_body.translation) + margin;
  Vec3 deepest;
  for (std::size_t axis = 0; axis < 3; ++axis)
    deepest[axis] = std::min(normal[axis] * box.lower[axis], normal[axis] * box.upper[axis]);
  const double sum = deepest.x + deepest.y + deepest.z;
  const double room = offset - sum;
  const Vec3 corner = max(box.lower, -box.lower);
  const double rounding = 1e-14 * (std::abs(offset) + corner.x + corner.y + corner.z);
  if (room < -rounding) {
    box = Aabb{};
    return;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double depth = std::max(room, 0.0) + rounding;
    if (normal[axis] > 1e-9)
      box.upper[axis] = std::min(box.upper[axis], box.lower[axis] + depth / normal[axis]);
    if (normal[axis] < -1e-9)
      box.lower[axis] = std::max(box.lower[axis], box.upper[axis] + depth / normal[axis]);
  }
}

double compute_margin(const IdfSettings& settings, const PlacedBody& a, const PlacedBody& b) {
  return settings.margin > 0 ? settings.margin : 0.01 * std::min(a.longest, b.longest);
}

Aabb compute_common_box(const PlacedBody& a, const IdfBody& body_a, const PlacedBody& b,
                        const IdfBody& body_b, double margin) {
  const Vec3 growth = Vec3{1, 1, 1} * margin;
  Aabb box{max(a.box.lower - growth, b.box.lower - growth),
           min(a.box.upper + growth, b.box.upper + growth)};
  if (const auto* plane = std::get_if<PlaneField>(&a.shape->solid()))
    clip_box(box, *plane, body_a, margin);
  if (const auto* plane = std::get_if<PlaneField>(&b.shape->solid()))
    clip_box(box, *plane, body_b, margin);
  return box;
}

// Writes the rows of shape_from_pair. The field of a plane does not change along it: its origin is
// moved to the foot of the pair's, so that numbers stay small far out on it.
Vec3 write_rows(const PlacedBody& placed, const IdfBody& body, const Vec3& world_from_pair,
                float* rows) {
  const double unit = 1 / body.scale;
  Vec3 origin =
      placed.body_from_world * (world_from_pair - body.world_from_body.translation) * unit;
  if (const auto* plane = std::get_if<PlaneField>(&placed.shape->solid()))
    origin = plane->normal * dot(plane->normal, origin);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      rows[4 * row + column] = static_cast<float>(placed.body_from_world.rows[row][column] * unit);
    rows[4 * row + 3] = static_cast<float>(origin[row]);
  }
  return origin;
}

// Returns the rounding of a value in float, in metres of the world: of the position in the shape's
// frame, and of a formula over numbers as large as the shape and the position. A texture's filter
// adds its own.
double compute_rounding(const PlacedBody& placed, const IdfBody& body, const Vec3& origin,
                        double diagonal) {
  double size = length(origin) * body.scale + diagonal;
  double filter = 0;
  if (const auto* plane = std::get_if<PlaneField>(&placed.shape->solid())) {
    size += std::abs(plane->offset) * body.scale;
  } else {
    const Aabb& box = placed.shape->body();
    size += length(max(max(box.upper, -box.lower), Vec3{})) * body.scale;
  }
  if (const auto* texels =
          std::get_if<std::shared_ptr<const FieldTexels>>(&placed.shape->solid())) {
    filter = (*texels)->rounding * body.scale;
    size += length(extent(bounds((*texels)->lattice))) * body.scale;
  }
  return filter + 16 * 0x1p-24 * size;
}

// Input of compute_cell_cull for one shape, in metres of the world.
struct CullBound {
  double slope = 1, error = 0, at_nodes = 0;
};

CullBound compute_cull_bound(const PlacedBody& placed, const IdfBody& body) {
  const double error = placed.shape->error() * body.scale;
  if (std::holds_alternative<std::shared_ptr<const BrickField>>(placed.shape->solid()))
    return {.slope = placed.shape->lipschitz(), .error = error};
  return {.at_nodes = error};
}

// Returns a bound of the depth of the pair's box inside the body, metres: a ball in it is no wider
// than the smallest side of the body's box.
double compute_most_depth(const PlacedBody& placed, const IdfBody& body, const Aabb& box) {
  if (const auto* plane = std::get_if<PlaneField>(&placed.shape->solid())) {
    const Vec3 normal = rotate(body.world_from_body.rotation, plane->normal);
    double lowest = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      lowest += std::min(normal[axis] * box.lower[axis], normal[axis] * box.upper[axis]);
    return std::max(
        0.0, plane->offset * body.scale + dot(normal, body.world_from_body.translation) - lowest);
  }
  const Vec3 side = extent(placed.shape->body());
  return 0.5 * body.scale * std::min({side.x, side.y, side.z});
}

struct PlacedPair {
  const PlacedBody& a;
  const IdfBody& body_a;
  const PlacedBody& b;
  const IdfBody& body_b;
};

// Sets the sampling grid, and the values that follow from it. All inputs of culling are known.
void set_cells(const Vec3& size, int samples, IdfPairRecord& record) {
  const std::array<std::int32_t, 3> cells = distribute_samples(size, samples);
  Vec3 half_cell;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    record.box_min[axis] = static_cast<float>(-0.5 * size[axis]);
    record.cells[axis] = cells[axis];
    record.cell_size[axis] = static_cast<float>(size[axis] / cells[axis]);
    half_cell[axis] = 0.5 * size[axis] / cells[axis];
  }
  record.half_diagonal = static_cast<float>(length(half_cell) * (1 + 1e-6));
  record.cell_cull = compute_cell_cull(record, record.half_diagonal);
  record.block_cull = compute_block_cull(record, kIdfBlockCells);
}

void fill_record(const PlacedPair& pair, const Aabb& box, double margin,
                 const IdfSettings& settings, Vec3& world_from_pair, IdfPairRecord& record) {
  world_from_pair = center(box);
  const Vec3 size = extent(box);
  const double diagonal = length(size);
  const Vec3 origin_a = write_rows(pair.a, pair.body_a, world_from_pair, record.a_from_pair);
  const Vec3 origin_b = write_rows(pair.b, pair.body_b, world_from_pair, record.b_from_pair);
  record.scale_a = static_cast<float>(pair.body_a.scale);
  record.scale_b = static_cast<float>(pair.body_b.scale);
  record.margin = static_cast<float>(margin);
  const double deepest = std::max(compute_most_depth(pair.a, pair.body_a, box),
                                  compute_most_depth(pair.b, pair.body_b, box));
  record.depth_scale = static_cast<float>(glsl::kIdfDepthSteps / (deepest + margin));
  record.lipschitz = static_cast<float>(
      std::max(pair.a.shape->lipschitz(), pair.b.shape->lipschitz()) * (1 + 1e-6));
  const CullBound bound_a = compute_cull_bound(pair.a, pair.body_a);
  const CullBound bound_b = compute_cull_bound(pair.b, pair.body_b);
  record.cull_slope = static_cast<float>(std::max(bound_a.slope, bound_b.slope) * (1 + 1e-6));
  record.error = static_cast<float>(std::max(bound_a.error, bound_b.error) * (1 + 1e-6));
  // Twice: at the centre of the cell, and at the position that counts.
  record.rounding =
      static_cast<float>(2 * std::max(compute_rounding(pair.a, pair.body_a, origin_a, diagonal),
                                      compute_rounding(pair.b, pair.body_b, origin_b, diagonal)) +
                         std::max(bound_a.at_nodes, bound_b.at_nodes));
  set_cells(size, settings.samples, record);
  if (settings.max_contacts > 0 || settings.one_per_voxel) {
    const std::array<std::int32_t, 3> slots = distribute_samples(
        size, settings.max_contacts > 0 ? glsl::kIdfSlotSamples : settings.samples);
    std::copy(slots.begin(), slots.end(), record.slots);
  }
}

void add_seeds(const PlacedPair& pair, const IdfScratch::Seeds& seeds, const Vec3& world_from_pair,
               IdfPairRecord& record, std::vector<Vec3f>& to) {
  for (const Vec3f& in_a : seeds.in_a) {
    const Vec3 in_world = transform_point(pair.body_a.world_from_body, to_double(in_a));
    to.push_back(to_float(in_world - world_from_pair));
  }
  record.seed_count = static_cast<std::uint32_t>(seeds.in_a.size());
}

void check_total(std::uint64_t total, const char* what) {
  if (total > std::numeric_limits<std::uint32_t>::max())
    throw Error(fmt::format("{} {} are more than 2^32; take fewer pairs or samples", total, what));
}

}  // namespace

IdfSettings without_contradictions(const IdfSettings& settings) {
  IdfSettings result = settings;
  if (settings.any_contact) {
    result.max_contacts = 1;
    result.one_per_voxel = false;
  }
  return result;
}

void plan_intersections(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                        std::span<const IdfPair> pairs, const IdfSettings& settings, IdfPlan& plan,
                        const IdfScratch& scratch) {
  check_settings(settings);
  check_bodies(shapes, bodies);
  std::vector<PlacedBody> placed;
  placed.reserve(bodies.size());
  for (const IdfBody& body : bodies) placed.push_back(place(shapes[body.shape], body));

  plan.records.assign(pairs.size(), {});
  plan.world_from_pair.assign(pairs.size(), {});
  plan.particle_end.assign(pairs.size(), 0);
  plan.seeds.clear();
  std::uint64_t particles = 0, slots = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [a, b] = pairs[i];
    if (a == b) throw Error(fmt::format("pair {} is of body {} with itself", i, a));
    if (a >= bodies.size() || b >= bodies.size())
      throw Error(
          fmt::format("pair {} is of bodies {} and {}, there are {}", i, a, b, bodies.size()));
    if (placed[a].longest == kUnbounded && placed[b].longest == kUnbounded)
      throw Error(fmt::format("pair {} is of two planes: they have no box in common", i));
    const PlacedPair pair{placed[a], bodies[a], placed[b], bodies[b]};
    const double margin = compute_margin(settings, pair.a, pair.b);
    const Aabb box = compute_common_box(pair.a, pair.body_a, pair.b, pair.body_b, margin);
    IdfPairRecord& record = plan.records[i];
    record.shape_a = bodies[a].shape;
    record.shape_b = bodies[b].shape;
    record.first_seed = static_cast<std::uint32_t>(plan.seeds.size());
    record.first_slot = static_cast<std::uint32_t>(slots);
    if (!is_empty(box)) {
      fill_record(pair, box, margin, settings, plan.world_from_pair[i], record);
      if (settings.keep_seeds) {
        const auto seeds = scratch.seeds.find(std::uint64_t{a} << 32U | b);
        if (seeds != scratch.seeds.end())
          add_seeds(pair, seeds->second, plan.world_from_pair[i], record, plan.seeds);
      }
    }
    particles += count({record.cells[0], record.cells[1], record.cells[2]}) + record.seed_count;
    slots += count({record.slots[0], record.slots[1], record.slots[2]});
    check_total(particles, "particles");
    check_total(slots, "parts of boxes");
    plan.particle_end[i] = static_cast<std::uint32_t>(particles);
  }
  plan.slot_count = static_cast<std::uint32_t>(slots);
}

IdfPairRecord coarsen(const IdfPairRecord& record, int samples) {
  IdfPairRecord coarse = record;
  Vec3 size;
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = static_cast<double>(record.cell_size[axis]) * record.cells[axis];
  set_cells(size, samples, coarse);
  return coarse;
}

float compute_cell_cull(const IdfPairRecord& record, float half_diagonal) {
  return std::min(record.cull_slope * half_diagonal, half_diagonal + record.error) +
         record.rounding;
}

float compute_block_cull(const IdfPairRecord& record, std::int32_t cells) {
  if (cells == 1) return record.cell_cull;
  Vec3f size;
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = record.cell_size[axis] * static_cast<float>(std::min(cells, record.cells[axis]));
  return compute_cell_cull(record, 0.5F * length(size) * (1 + 1e-6F));
}

}  // namespace isotact
