#include "isotact/queries/detail/exact_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "isotact/base/disjoint_sets.h"
#include "isotact/base/error.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/repair.h"
#include "isotact/queries/detail/shape_data.h"

namespace isotact::detail {
namespace {

std::shared_ptr<const TriangleMesh> single(const Vec3& a, const Vec3& b) {
  return std::make_shared<const TriangleMesh>(
      TriangleMesh{.positions = {to_float(a), to_float(b)}, .triangles = {{0, 1, 1}}});
}

// Joins corners of triangles, and names parts by their lowest vertex. The mesh is welded. Triangles
// that are not finite are left out, as they are in the hierarchy.
void set_parts(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
               ExactBody& body) {
  constexpr std::size_t kMostParts = 1000;
  DisjointSets sets(positions.size());
  std::vector<bool> used(positions.size(), false);
  const auto is_whole = [&](const Triangle& t) {
    return is_finite(positions[t[0]]) && is_finite(positions[t[1]]) && is_finite(positions[t[2]]);
  };
  for (const Triangle& t : triangles) {
    if (!is_whole(t)) continue;
    sets.join(t[0], t[1]);
    sets.join(t[0], t[2]);
    used[t[0]] = used[t[1]] = used[t[2]] = true;
  }
  std::vector<std::uint32_t> number(positions.size(), 0);  // of the part that a vertex names
  for (std::uint32_t i = 0; i < used.size(); ++i) {
    if (!used[i] || sets.find(i) != i) continue;
    number[i] = static_cast<std::uint32_t>(body.parts.size());
    body.parts.push_back(to_double(positions[i]));
  }
  if (body.parts.size() < 2 || body.parts.size() > kMostParts) return;
  body.part_of.assign(triangles.size(), 0);
  for (const Vec3& part : body.parts) body.part_corners.emplace_back().fill(to_float(part));
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (!is_whole(triangles[t])) continue;
    body.part_of[t] = number[sets.find(triangles[t][0])];
    auto& most = body.part_corners[body.part_of[t]];
    for (const std::uint32_t vertex : triangles[t])
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const Vec3f& p = positions[vertex];
        if (p[axis] < most[2 * axis][axis]) most[2 * axis] = p;
        if (p[axis] > most[2 * axis + 1][axis]) most[2 * axis + 1] = p;
      }
  }
}

// No corner is further from the middle of the box than the radius, which is rounded up.
void set_ball(ExactBody& body) {
  const Bvh& triangles = body.triangles;
  if (triangles.nodes().empty()) return;
  body.ball_center = center(to_double(triangles.bounds()));
  double most_sq = 0;
  for (const TriangleBlock& block : triangles.blocks())
    for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
      for (const auto& c : block.corner)
        most_sq = std::max(
            most_sq, length_sq(Vec3{double{c[0][lane]}, double{c[1][lane]}, double{c[2][lane]}} -
                               body.ball_center));
  body.ball_radius = std::sqrt(most_sq) * (1 + 0x1p-40) + body.radius;
}

// Directions to the 98 cells on the surface of a cube of 5 x 5 x 5.
void set_outline(ExactBody& body) {
  const Bvh& triangles = body.triangles;
  if (triangles.nodes().empty()) return;
  const auto& first = triangles.blocks()[0].corner[0];
  const Vec3 some{double{first[0][0]}, double{first[1][0]}, double{first[2][0]}};
  std::vector<Vec3> found;
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j)
      for (int k = -2; k <= 2; ++k) {
        if (std::max({std::abs(i), std::abs(j), std::abs(k)}) < 2) continue;
        const Vec3 along{double(i), double(j), double(k)};
        const Vec3 highest = find_highest(triangles, along, some);
        if (std::find(found.begin(), found.end(), highest) == found.end()) found.push_back(highest);
      }
  while (found.size() % 4 != 0) found.push_back(found.back());
  for (const Vec3& corner : found)
    for (std::size_t axis = 0; axis < 3; ++axis)
      body.outline[axis].push_back(static_cast<float>(corner[axis]));
}

void set_hull(ExactBody& body) {
  set_ball(body);
  set_outline(body);
}

ExactBody make_body(std::shared_ptr<const TriangleMesh> mesh, double radius, Threads threads) {
  ExactBody body;
  body.triangles = Bvh(*mesh, {.threads = threads});
  body.radius = radius;
  const WeldResult welded = weld(*mesh, {.threads = threads});
  set_parts(welded.mesh.positions, welded.mesh.triangles, body);
  body.mesh = std::move(mesh);
  body.size = length(extent(to_double(body.triangles.bounds()))) + 2 * radius;
  set_hull(body);
  return body;
}

// All that is computed for a mesh lies in the asset already.
ExactBody make_body(const FlatMesh& flat, const TriangleMesh& mesh) {
  ExactBody body;
  body.triangles = flat.bvh();
  if (flat.parts().size() == 1)
    body.parts.push_back(to_double(flat.positions()[flat.parts()[0]]));
  else
    set_parts(flat.positions(), flat.triangles(), body);
  body.mesh = {std::shared_ptr<void>(), &mesh};  // lives as long as the shape's data, as this does
  body.size = length(extent(to_double(body.triangles.bounds())));
  set_hull(body);
  return body;
}

// ---- round solids -------------------------------------------------------------------------------

// Circles become polygons whose corners are as far outside of the circle as the middles of their
// sides are inside: 6e-7 of the radius.
constexpr std::uint32_t kRoundSides = 2048;
constexpr double kRoundError = 6e-7;

std::vector<Vec3f> make_circle(const Vec3& center, double radius) {
  const double step = 2 * std::numbers::pi / kRoundSides;
  const double outer = radius * 2 / (1 + std::cos(step / 2));
  std::vector<Vec3f> circle;
  for (std::uint32_t i = 0; i < kRoundSides; ++i)
    circle.push_back(
        to_float(center + Vec3{outer * std::cos(step * i), 0, outer * std::sin(step * i)}));
  return circle;
}

// With rounding to float.
double error_of(const TriangleMesh& mesh, double radius) {
  double furthest = 0;
  for (const Vec3f& p : mesh.positions) furthest = std::max(furthest, length(to_double(p)));
  return kRoundError * radius + 0x1p-23 * furthest;
}

// A polygon in each of two planes, or a polygon and a tip; outward.
std::shared_ptr<const TriangleMesh> make_prism(const Vec3& center, double radius, double height,
                                               bool has_tip) {
  const Vec3 up{0, height / 2, 0};
  TriangleMesh mesh;
  mesh.positions = make_circle(center - up, radius);
  mesh.positions.push_back(to_float(center - up));
  mesh.positions.push_back(to_float(center + up));
  constexpr std::uint32_t kLow = kRoundSides, kHigh = kRoundSides + 1, kSecond = kRoundSides + 2;
  if (!has_tip) {
    const std::vector<Vec3f> second = make_circle(center + up, radius);
    mesh.positions.insert(mesh.positions.end(), second.begin(), second.end());
  }
  for (std::uint32_t i = 0; i < kRoundSides; ++i) {
    const std::uint32_t k = (i + 1) % kRoundSides;
    mesh.triangles.push_back({i, k, kLow});
    if (has_tip) {
      mesh.triangles.push_back({k, i, kHigh});
      continue;
    }
    mesh.triangles.push_back({k, i, kSecond + i});
    mesh.triangles.push_back({k, kSecond + i, kSecond + k});
    mesh.triangles.push_back({kSecond + k, kSecond + i, kHigh});
  }
  return std::make_shared<const TriangleMesh>(std::move(mesh));
}

struct MakePrimitive {
  Threads threads;

  ExactBody operator()(const PlaneField& plane) const {
    ExactBody body;
    body.half_space = plane;
    return body;
  }
  ExactBody operator()(const SphereField& s) const {
    return make_body(single(s.center, s.center), s.radius, threads);
  }
  ExactBody operator()(const CapsuleField& c) const {
    return make_body(single(c.a, c.b), c.radius, threads);
  }
  ExactBody operator()(const BoxField& box) const {
    const Vec3 size = box.half_size * 2;
    TriangleMesh mesh = make_box({.size_x = size.x, .size_y = size.y, .size_z = size.z});
    for (Vec3f& p : mesh.positions) p = to_float(to_double(p) + box.center);
    return make_body(std::make_shared<const TriangleMesh>(std::move(mesh)), 0, threads);
  }
  ExactBody make_round(std::shared_ptr<const TriangleMesh> mesh, double grown,
                       double radius) const {
    const double error = error_of(*mesh, radius);
    ExactBody body = make_body(std::move(mesh), grown, threads);
    body.error = error;
    return body;
  }
  ExactBody operator()(const CylinderField& c) const {
    return make_round(make_prism(c.center, c.radius, c.height, false), 0, c.radius);
  }
  ExactBody operator()(const ConeField& c) const {
    return make_round(make_prism(c.center, c.radius, c.height, true), 0, c.radius);
  }
  // A circle, grown.
  ExactBody operator()(const TorusField& t) const {
    TriangleMesh mesh;
    mesh.positions = make_circle(t.center, t.radius);
    for (std::uint32_t i = 0; i < kRoundSides; ++i)
      mesh.triangles.push_back({i, (i + 1) % kRoundSides, (i + 1) % kRoundSides});
    return make_round(std::make_shared<const TriangleMesh>(std::move(mesh)), t.tube_radius,
                      t.radius);
  }
  ExactBody operator()(std::monostate) const {
    throw Error(
        "a combination of analytic shapes, or a terrain, has no exact queries: ask for the field ("
        "Accuracy::kField)");
  }
};

// Whether the field is of signed distances that were not grown.
bool has_plain_field(const Shape& shape) {
  const auto& field = shape.parts().field;
  return field && field->header().shell_offset == 0 && field->header().sparse_from > 0;
}

// Metres: nearer to the triangles, the sign of the field is not that of the body. Fields of signed
// distances that were not grown are right wherever their bounds are of one sign; those that may be
// grown, by a cell, know no sparse nodes (build_field.cpp).
double undecided_distance(const Shape& shape) {
  constexpr double kUnsureCells = 2;
  return has_plain_field(shape) ? 0 : kUnsureCells * shape.cell();
}

bool has_balanced_mesh(const Shape& shape) {
  const auto& data = ShapeAccess::data(shape);
  return data.balanced.get(
      [&] { return is_balanced(*exact_body(shape).mesh, data.settings.field.threads); });
}

SignRule sign_rule_of(const Shape& shape) {
  if (shape.parts().sign_rule) return *shape.parts().sign_rule;
  const FieldSettings& f = ShapeAccess::data(shape).settings.field;
  return {.is_unsigned = f.sign == SignMethod::kUnsigned, .nested = f.nested};
}

// The surface of which the field is, or would be, but perhaps for pairs that cancel. The same
// passes turn components over and close holes as for the field, so that signs agree. Null for
// triangles without any area.
std::shared_ptr<const Surface> surface_of(const Shape& shape) {
  const auto& data = ShapeAccess::data(shape);
  if (shape.parts().prepared) return shape.parts().prepared;
  if (const FieldResult* built = data.built.find()) return built->surface;
  const SignRule rule = sign_rule_of(shape);
  const TriangleMesh& mesh = *exact_body(shape).mesh;
  const FieldSettings& f = data.settings.field;
  try {
    const double cell = has_field(shape.parts()) ? shape.cell() : plan_lattice(mesh, f).spacing;
    return std::make_shared<const Surface>(
        prepare_surface(mesh, {.sign = rule.is_unsigned ? SignMethod::kUnsigned : SignMethod::kAuto,
                               .nested = rule.nested,
                               .voxel_size = cell,
                               .drop_cancelling_pairs = false,
                               .threads = f.threads}));
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    return nullptr;
  }
}

BodySides make_sides(const Shape& shape) {
  const std::shared_ptr<const Surface> surface = surface_of(shape);
  if (!surface || surface->report.method == SignMethod::kUnsigned) return {.has_inside = false};
  const SignReport& r = surface->report;
  const ExactBody& body = exact_body(shape);
  // The hierarchy of the stored triangles serves if its winding numbers are the same. Pairs that
  // cancel add nothing to them.
  const bool same =
      has_balanced_mesh(shape) && r.turned_components == 0 && r.consistent_components == 0 &&
      r.holes == 0 &&
      surface->mesh.triangles.size() + 2 * r.cancelled_pairs == body.mesh->triangles.size();
  const Threads threads = ShapeAccess::data(shape).settings.field.threads;
  return {.winding = same ? WindingTree(Bvh(body.triangles))
                          : WindingTree(surface->mesh, {.threads = threads}),
          .nested = surface->nested,
          // Sheets of two triangles that cancel have more than two at some edges.
          .faces_out = same && r.watertight && surface->nested == NestedRule::kWinding};
}

const BodySides& sides_of(const Shape& shape) {
  return ShapeAccess::data(shape).sides.get([&] { return make_sides(shape); });
}

// Whether the field is that of a shell around the triangles.
bool is_shell(const Shape& shape) {
  const auto& field = shape.parts().field;
  return field && field->header().shell_offset > 0;
}

bool is_exact_primitive(const AnalyticSolid& solid) {
  return !std::holds_alternative<std::monostate>(solid.primitive());
}

}  // namespace

bool can_be_exact(const Shape& shape) {
  if (shape.solid()) return is_exact_primitive(*shape.solid());
  if (shape.parts().flat_mesh) return true;
  return shape.parts().mesh != nullptr && !shape.parts().mesh->triangles.empty();
}

const ExactBody& exact_body(const Shape& shape) {
  const auto& data = ShapeAccess::data(shape);
  return data.exact.get([&] {
    if (shape.solid())
      return std::visit(MakePrimitive{data.settings.field.threads}, shape.solid()->primitive());
    if (!can_be_exact(shape))
      throw Error("a shape without triangles has no exact queries", Hint::kTriangles);
    if (const auto& flat = shape.parts().flat_mesh) return make_body(*flat, shape.surface());
    return make_body(shape.parts().mesh, 0, data.settings.field.threads);
  });
}

Vec3 find_highest(const Bvh& triangles, const Vec3& direction, const Vec3& known) {
  Vec3 best = known;
  double height = dot(direction, known);
  // Boxes are rounded outwards, and heights in double by far less than what a hull search needs.
  struct Step {
    double height;
    std::uint32_t child;
  };
  std::array<Step, kStackSize> stack;
  std::size_t size = 0;
  stack[size++] = {std::numeric_limits<double>::infinity(), 0};
  while (size > 0) {
    const Step step = stack[--size];
    if (step.height <= height) continue;
    if ((step.child & kBlockBit) != 0) {
      const TriangleBlock& block = triangles.blocks()[step.child & ~kBlockBit];
      for (const auto& c : block.corner)
        for (int lane = 0; lane < kBlockWidth; ++lane) {  // NaN where there is no triangle
          const Vec3 corner{double{c[0][lane]}, double{c[1][lane]}, double{c[2][lane]}};
          const double h = dot(direction, corner);
          if (!(h > height)) continue;
          height = h;
          best = corner;
        }
      continue;
    }
    const BvhNode& node = triangles.nodes()[step.child];
    double most[kNodeWidth] = {};
    for (std::size_t k = 0; k < 3; ++k) {
      const float* side = direction[k] > 0 ? node.upper[k] : node.lower[k];
      for (int i = 0; i < kNodeWidth; ++i) most[i] += direction[k] * double{side[i]};
    }
    const std::size_t first = size;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      if (!(most[i] > height)) continue;
      std::size_t at = size++;
      for (; at > first && stack[at - 1].height > most[i]; --at) stack[at] = stack[at - 1];
      stack[at] = {most[i], node.child[i]};
    }
  }
  return best;
}

bool has_inside(const Shape& shape) {
  return shape.solid() || (!is_shell(shape) && sides_of(shape).has_inside);
}

bool is_closed(const Shape& shape) {
  return shape.solid() || (has_balanced_mesh(shape) && has_inside(shape));
}

// Holes take time to close, and the signs of an open mesh are seldom asked for: a mesh that has no
// field yet leaves both for later.
void prepare_sides(const Shape& shape) {
  if (shape.solid() || is_shell(shape)) return;
  if (has_balanced_mesh(shape) || has_field(shape.parts())) sides_of(shape);
}

bool has_sided_field(const Shape& shape) { return !shape.solid() && has_plain_field(shape); }

namespace {

bool has_winding(const BodySides& sides, const Vec3& point) {
  if (!sides.has_inside) return false;
  const double winding = compute_winding_number(sides.winding, to_float(point));
  // The prepared surface is closed: the number is whole but for the tree's error of a hundredth.
  if (sides.nested == NestedRule::kEvenOdd) return std::lround(winding) % 2 != 0;
  return winding > 0.5;
}

}  // namespace

bool is_inside(const Shape& shape, const Vec3& point, double distance) {
  if (shape.solid()) return shape.solid()->value(point) < 0;
  if (is_shell(shape)) return false;
  if (shape.can_have_field()) {
    const Interval bounds = shape.any_field().distance_bounds(point);
    if ((bounds.lower > 0 || bounds.upper < 0) && distance > undecided_distance(shape))
      return bounds.upper < 0;
  }
  return has_winding(sides_of(shape), point);
}

// Next to a face, the winding number is greater behind it than in front by one. It is nowhere
// negative, unless a part of the surface is inside out.
bool is_inside_near(const Shape& shape, const Vec3& point, const Vec3& off_face,
                    const Vec3& normal) {
  if (shape.solid()) return shape.solid()->value(point) < 0;
  if (is_shell(shape)) return false;
  const BodySides& sides = sides_of(shape);
  const double height = dot(off_face, normal);
  if (sides.faces_out && height < 0 && height * height > (1 - 1e-6) * length_sq(off_face))
    return true;
  return has_winding(sides, point);
}

}  // namespace isotact::detail
