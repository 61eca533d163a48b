#include "isotact/queries/points/feature_query.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isotact/field/extract/trace_ray.h"

namespace isotact {
namespace {

constexpr int kOutsideLooks = 32;
constexpr int kRefinements = 12;  // Refinements of the deepest position: to 1/300 of a step.

// The functions of a field that walking needs: values, steps that pass no position at or below the
// limit, and the rate of change of values.
template <Field F>
struct FieldWalk {
  const F& field;
  SafeStep safe;
  double limit, lipschitz, half_cell;
  Aabb box;  // Outside it, values are above the limit.

  FieldWalk(const F& f, double cell, double limit_in)
      : field(f),
        safe(f, limit_in),
        limit(limit_in),
        lipschitz(f.lipschitz()),
        half_cell(cell / 2),
        box(f.bounds()) {
    if constexpr (requires { f.header().open; })
      if (f.header().open != 0) {
        box = compute_surface_box(f, limit_in);
        return;
      }
    // Outside, a field is at least the distance to its box (field.h).
    const double reach = std::max(limit_in, 0.0);
    box = {box.lower - Vec3{reach, reach, reach}, box.upper + Vec3{reach, reach, reach}};
  }
  double value(const Vec3& p) const { return field.value(p); }
  FieldSample look(const Vec3& p) const {
    FieldSample sample = field.sample(p);
    const Aabb inside = field.bounds();
    if (!contains(inside, p)) return look_from_outside(p, inside);
    sample.gradient = normalized(sample.gradient);
    return sample;
  }
  double step_outside(double v) const { return safe(v - limit); }
  double step_to_deeper(double v, double deepest) const { return (v - deepest) / lipschitz; }

 private:
  // Outside its box the field is only a lower bound. A surface position s is found from the box's
  // side, and again from a little towards p, until it no longer changes. The distance to s is never
  // less than the true one: nothing appears nearer than it is.
  FieldSample look_from_outside(const Vec3& p, const Aabb& inside) const {
    Vec3 from = min(max(p, inside.lower), inside.upper), surface = from, last = p;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kOutsideLooks; ++i) {
      Vec3 s = from;  // Far from the surface, values are coarse: approach it in several steps.
      for (int k = 0; k < 3; ++k) {
        const FieldSample at = field.sample(s);
        s -= normalized(at.gradient) * at.distance;
      }
      const double d = length(p - s);
      const bool stays = length(s - last) < 1e-3 * half_cell;
      if (d < least) least = d, surface = s;
      if (stays) break;
      last = s;
      FieldRay back{.origin = s, .direction = (p - s) / d, .t_min = 0, .t_max = d};
      if (!clip(back, inside)) break;
      from = s + back.direction * std::min(back.t_max, 6 * half_cell);  // Samples are fine there.
    }
    return {least, normalized(p - surface)};
  }
};

struct VoxmapWalk {
  const Voxmap& map;
  double limit, half_cell;
  Aabb box;

  VoxmapWalk(const Voxmap& m, double limit_in)
      : map(m), limit(limit_in), half_cell(m.voxel_size() / 2), box(bounds(m.lattice())) {
    const double reach = std::max(limit, 0.0);
    box = {box.lower - Vec3{reach, reach, reach}, box.upper + Vec3{reach, reach, reach}};
  }
  double value(const Vec3& p) const {
    if (map.encoding() == VoxmapEncoding::kSupport) return map.interpolated_distance(p);
    return map.distance(p, {});  // Without a normal: the voxel's own value.
  }
  FieldSample look(const Vec3& p) const {
    const double h = 2 * half_cell;
    Vec3 g{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Vec3 up = p, down = p;
      up[axis] += h, down[axis] -= h;
      g[axis] = value(up) - value(down);
    }
    return {value(p), normalized(g)};
  }
  double step_outside(double) const { return half_cell; }
  double step_to_deeper(double, double) const { return half_cell; }
};

// Walks along one edge. t counts metres from a.
template <typename Walk>
class EdgeWalk {
 public:
  EdgeWalk(const Walk& walk, const FeatureEdge& edge) : walk_(walk), a_(edge.a) {
    const Vec3 ab = edge.b - edge.a;
    length_ = length(ab);
    u_ = length_ > 0 ? ab / length_ : Vec3{};
  }

  template <typename Report>
  void find(Report&& report) {
    FieldRay ray{.origin = a_, .direction = u_, .t_min = 0, .t_max = length_};
    if (!clip(ray, walk_.box)) return;
    double t = ray.t_min, v = value(t);
    for (;;) {
      if (v <= walk_.limit) {
        Deepest deepest{t, v};
        const double begin = t;
        t = pass_stretch(t, v, ray.t_max, deepest);
        refine(deepest, begin, t);
        report(deepest.t, length_);
        if (t >= ray.t_max) return;
        v = value(t);
        continue;
      }
      if (t >= ray.t_max) return;
      t = std::min(t + std::max(walk_.step_outside(v), walk_.half_cell), ray.t_max);
      v = value(t);
    }
  }

  Vec3 at(double t) const { return a_ + u_ * t; }

 private:
  struct Deepest {
    double t, value;
  };
  double value(double t) const { return walk_.value(at(t)); }

  // Goes from a position inside to the first step outside, or to the end.
  double pass_stretch(double t, double v, double end, Deepest& deepest) const {
    while (t < end) {
      t = std::min(t + std::max(walk_.step_to_deeper(v, deepest.value), walk_.half_cell), end);
      v = value(t);
      if (v > walk_.limit) return t;
      if (v < deepest.value) deepest = {t, v};
    }
    return t;
  }

  // Golden sections around the deepest step. Values may have several minima there; the result is at
  // least as deep as the step.
  void refine(Deepest& deepest, double begin, double end) const {
    constexpr double kGolden = 0.6180339887498949;
    double lower = std::max(begin, deepest.t - walk_.half_cell);
    double upper = std::min(end, deepest.t + walk_.half_cell);
    if (!(upper > lower)) return;
    double c = upper - kGolden * (upper - lower), d = lower + kGolden * (upper - lower);
    double vc = value(c), vd = value(d);
    for (int i = 0; i < kRefinements; ++i) {
      if (vc < deepest.value) deepest = {c, vc};
      if (vd < deepest.value) deepest = {d, vd};
      if (vc < vd) {
        upper = d, d = c, vd = vc;
        c = upper - kGolden * (upper - lower), vc = value(c);
      } else {
        lower = c, c = d, vc = vd;
        d = lower + kGolden * (upper - lower), vd = value(d);
      }
    }
  }

  const Walk& walk_;
  Vec3 a_, u_{};
  double length_ = 0;
};

template <typename Walk>
void walk_edges(const Walk& walk, std::span<const FeatureEdge> edges, double radius,
                std::vector<FeatureHit>& hits) {
  hits.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    EdgeWalk<Walk> along(walk, edges[i]);
    along.find([&](double t, double length) {
      const Vec3 p = along.at(t);
      const FieldSample sample = walk.look(p);
      if (sample.distance > walk.limit) return;
      hits.push_back({.edge = static_cast<std::uint32_t>(i),
                      .t = length > 0 ? t / length : 0,
                      .point = p,
                      .distance = sample.distance - radius,
                      .direction = sample.gradient});
    });
  }
}

}  // namespace

void find_hits_edges_field(const BrickField& field, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits) {
  const double limit = request.margin + request.radius;
  walk_edges(FieldWalk<BrickField>(field, field.voxel_size(), limit), edges, request.radius, hits);
}

void find_hits_edges_field(const AnyField& field, double cell, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits) {
  const double limit = request.margin + request.radius;
  walk_edges(FieldWalk<AnyField>(field, cell, limit), edges, request.radius, hits);
}

void find_hits_edges_field(const Voxmap& voxmap, std::span<const FeatureEdge> edges,
                           const FeatureRequest& request, std::vector<FeatureHit>& hits) {
  walk_edges(VoxmapWalk(voxmap, request.margin + request.radius), edges, request.radius, hits);
}

namespace {

// The prism in the shell's own frame and scale: a point outside any of five half-spaces is outside.
struct Prism {
  Vec3 normal{};
  double offset = 0;          // dot(normal, x) = offset on the face.
  std::array<Vec3, 3> out{};  // Unit vectors in the face's plane, away from the triangle.
  std::array<double, 3> out_offset{};
  double front = 0, back = 0, widen = 0;

  double height(const Vec3& p) const { return dot(normal, p) - offset; }
  // Returns whether a ball may contain a point of it. Exact for points.
  bool meets(const Vec3& p, double radius) const {
    const double h = height(p);
    if (!(h <= front + radius && h >= -back - radius)) return false;
    for (std::size_t i = 0; i < 3; ++i)
      if (dot(out[i], p) - out_offset[i] > widen + radius) return false;
    return true;
  }
};

// Depth first: on each level fewer than kMaxChildren siblings wait.
constexpr std::size_t kStackSize = std::size_t{kMaxShellLevels} * kMaxChildren;

}  // namespace

void find_hits_triangle(const PointSphereTree& tree, const ShellPlacement& placement, const Vec3& a,
                        const Vec3& b, const Vec3& c, const TriangleRequest& request,
                        std::vector<ShellHit>& hits) {
  const double scale = placement.shell_scale;
  const Pose shell_from_field = inverse(placement.field_from_shell);
  const std::array<Vec3, 3> corner{transform_point(shell_from_field, a) / scale,
                                   transform_point(shell_from_field, b) / scale,
                                   transform_point(shell_from_field, c) / scale};
  Prism prism;
  prism.normal = normalized(cross(corner[1] - corner[0], corner[2] - corner[0]));
  if (length_sq(prism.normal) < 0.5) return;
  prism.offset = dot(prism.normal, corner[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    prism.out[i] = normalized(cross(corner[(i + 1) % 3] - corner[i], prism.normal));
    prism.out_offset[i] = dot(prism.out[i], corner[i]);
  }
  prism.front = request.margin / scale;
  prism.back = request.thickness / scale;
  prism.widen = request.widen / scale;

  struct Place {
    int level;
    std::uint32_t place;
  };
  std::array<Place, kStackSize> stack;
  std::size_t size = 0;
  stack[size++] = {0, 0};
  while (size > 0) {
    const auto [level, place] = stack[--size];
    const ShellLevel now = tree.level(level);
    const ShellNode& node = now.nodes[place];
    if (node.child_count == 0) continue;
    const Spheref ball = sphere(now, place);
    // The slack covers the rounding of the prism in double; spheres contain their points exactly.
    const double radius = static_cast<double>(ball.radius) * (1 + 1e-9) + 1e-12;
    if (!prism.meets(to_double(ball.center), radius)) continue;
    if (level + 1 < tree.level_count()) {
      for (std::uint32_t i = node.child_count; i-- > 0;)
        stack[size++] = {level + 1, node.first_child + i};
      continue;
    }
    for (std::uint32_t i = node.first_point; i < node.first_point + node.point_count; ++i) {
      const Vec3 p = to_double(tree.point(i));
      if (!prism.meets(p, 0)) continue;
      hits.push_back({i, static_cast<float>(prism.height(p) * scale),
                      static_cast<float>(static_cast<double>(tree.areas()[i]) * scale * scale)});
    }
  }
}

}  // namespace isotact
