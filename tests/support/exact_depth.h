// An independent check of how deep bodies are inside each other: the vertices and the middles of
// the edges of each mesh against the triangles of the other one. Neither fields nor points nor
// contacts of a world are used; formulas are their own truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/pose.h"
#include "isotact/field/models/analytic_solid.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::exact_depth {

// A body as the check knows it, in its own frame. Immutable; copies of a body share it.
class Solid {
 public:
  // Every mesh that encloses something. Holes are closed by the winding number.
  explicit Solid(const TriangleMesh& mesh) : tree_(mesh) { take_samples(mesh); }
  // A surface without inside, such as a funnel: a body is deep in it by what is beyond it, as seen
  // from the body's middle.
  static Solid sheet(const TriangleMesh& mesh) {
    Solid solid(mesh);
    solid.mesh_ = mesh;
    solid.is_sheet_ = true;
    return solid;
  }
  // A formula. `look` has points of its surface; empty for shapes without end.
  Solid(AnalyticSolid formula, const TriangleMesh& look) : formula_(std::move(formula)) {
    take_samples(look);
    if (look.triangles.empty()) box_ = formula_->body();
    // The middles of edges are inside of round bodies.
    samples_.resize(look.positions.size());
  }

  const Aabb& box() const { return box_; }
  double diagonal() const { return diagonal_; }  // Metres; infinite without end.
  std::span<const Vec3> samples() const { return samples_; }
  Vec3 middle() const { return center(box_); }

  // Metres by which a point is inside; 0 outside. `from` is the middle of the point's body.
  double depth_of(const Vec3& point, const Vec3& from) const {
    if (formula_) return std::max(0.0, -formula_->value(point));
    if (!contains(box_, point)) return 0;
    const Vec3f p = to_float(point);
    if (is_sheet_) return depth_beyond(p, point, from);
    // Meshes may face inwards.
    if (std::abs(compute_winding_number(tree_, p)) <= 0.5) return 0;
    return static_cast<double>(find_closest_point(tree_.bvh(), p).distance);
  }

 private:
  void take_samples(const TriangleMesh& mesh) {
    for (const Vec3f& p : mesh.positions) {
      samples_.push_back(to_double(p));
      extend(box_, to_double(p));
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const Triangle& t : mesh.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        edges.insert(std::minmax(t[i], t[(i + 1) % 3]));
    for (const auto& [a, b] : edges) samples_.push_back((samples_[a] + samples_[b]) * 0.5);
    if (!mesh.positions.empty()) diagonal_ = length(extent(box_));
  }
  double depth_beyond(const Vec3f& p, const Vec3& point, const Vec3& from) const {
    const ClosestPoint near = find_closest_point(tree_.bvh(), p);
    if (near.triangle == kNoTriangle || near.feature != TriangleFeature::kFace) return 0;
    const Triangle& t = mesh_.triangles[near.triangle];
    const Vec3 a = to_double(mesh_.positions[t[0]]);
    const Vec3 n = cross(to_double(mesh_.positions[t[1]]) - a, to_double(mesh_.positions[t[2]]) - a);
    return dot(point - a, n) * dot(from - a, n) < 0 ? static_cast<double>(near.distance) : 0;
  }

  WindingTree tree_{};
  TriangleMesh mesh_{};
  bool is_sheet_ = false;
  std::optional<AnalyticSolid> formula_{};
  std::vector<Vec3> samples_{};
  Aabb box_{};
  double diagonal_ = std::numeric_limits<double>::infinity();
};

struct Body {
  std::shared_ptr<const Solid> solid{};  // Null: touches nothing.
  bool moves = true;                     // Two bodies that do not move are no pair.
};

struct PairDepth {
  std::uint32_t a = 0, b = 0;  // a < b
  double depth = 0;            // Metres, above 0.
  double size = 0;             // Metres: the diagonal of the smaller body.
  Vec3 place{};                // Of the deepest sample, world frame.
};

inline Aabb box_in_world(const Aabb& box, const Pose& world_from_body) {
  if (!(length(extent(box)) < 1e12)) return box;  // Without end; boxes of planes stay so.
  Aabb all;
  for (int i = 0; i < 8; ++i)
    extend(all, transform_point(world_from_body, Vec3{(i & 1) != 0 ? box.upper.x : box.lower.x,
                                                      (i & 2) != 0 ? box.upper.y : box.lower.y,
                                                      (i & 4) != 0 ? box.upper.z : box.lower.z}));
  return all;
}

// Deepens `pair` by the samples of `of` in `in`.
inline void find_samples_inside(const Solid& of, const Pose& world_from_of, const Solid& in,
                                const Pose& world_from_in, PairDepth& pair) {
  const Pose in_from_of = inverse(world_from_in) * world_from_of;
  const Vec3 from = transform_point(in_from_of, of.middle());
  for (const Vec3& sample : of.samples()) {
    const Vec3 point = transform_point(in_from_of, sample);
    const double depth = in.depth_of(point, from);
    if (depth <= pair.depth) continue;
    pair.depth = depth;
    pair.place = transform_point(world_from_in, point);
  }
}

// All pairs that are inside each other, in the order of bodies. Pairs of `ignored` (a < b) may.
inline std::vector<PairDepth> find_depths(
    std::span<const Body> bodies, std::span<const Pose> poses,
    const std::set<std::pair<std::uint32_t, std::uint32_t>>& ignored = {}) {
  std::vector<Aabb> boxes(bodies.size());
  std::vector<bool> endless(bodies.size());
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (!bodies[k].solid) continue;
    boxes[k] = box_in_world(bodies[k].solid->box(), poses[k]);
    endless[k] = !std::isfinite(bodies[k].solid->diagonal());
  }
  std::vector<PairDepth> deep;
  for (std::uint32_t a = 0; a < bodies.size(); ++a)
    for (std::uint32_t b = a + 1; b < bodies.size(); ++b) {
      if (!bodies[a].solid || !bodies[b].solid || !(bodies[a].moves || bodies[b].moves)) continue;
      if (!endless[a] && !endless[b] && !overlaps(boxes[a], boxes[b])) continue;
      if (ignored.count({a, b}) != 0) continue;
      PairDepth pair{.a = a, .b = b};
      pair.size = std::min(bodies[a].solid->diagonal(), bodies[b].solid->diagonal());
      find_samples_inside(*bodies[a].solid, poses[a], *bodies[b].solid, poses[b], pair);
      find_samples_inside(*bodies[b].solid, poses[b], *bodies[a].solid, poses[a], pair);
      if (pair.depth > 0) deep.push_back(pair);
    }
  return deep;
}

}  // namespace isotact::exact_depth
