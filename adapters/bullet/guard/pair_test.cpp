#include "pair_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "isotact/adapters/bullet/convert.h"

#include "budget/step_budget.h"

namespace isotact::bullet_detail {
namespace {

// Depths up to this share of a thickness or a cell are the solver's matter. Deeper ones are as
// well, if they grow slowly: by no more than this in a step. Bodies that slide in a thread are
// never far from that. The limit is a share of half of the usual thickness, and where directions
// turn over.
constexpr double kFreeDepth = 0.25, kMostDepth = 0.5;
// Tests follow each other within this share: two tests of a point on a path through a slab of
// half-thickness h are at most h apart, so that one of them is at least h - h/2 deep. The prisms of
// triangles end at h.
constexpr double kTestApart = 1.0, kTestApartOfTriangles = 0.5;
constexpr int kBisections = 5;
constexpr int kTestsWithoutClearance = 4;
// Metres per metre of size: what rounding may change in a depth.
constexpr double kRounding = 1e-6;

const IsotactShape* as_ours(const btCollisionShape& shape) {
  return shape.getShapeType() == FAST_CONCAVE_MESH_PROXYTYPE
             ? static_cast<const IsotactShape*>(&shape)
             : nullptr;
}

Ours ours_at(const IsotactShape& shape, const Pose& pose, bool is_0) {
  return {.shape = &shape,
          .world_from_shape = pose * shape.scaled_frame(),
          .scale = shape.scale(),
          .margin = static_cast<double>(shape.getMargin()),
          .is_0 = is_0,
          .tree = shape.body().tree ? &*shape.body().tree : nullptr,
          .patches = &shape.body().patches};
}

// Both at one time.
struct Moment {
  Ours ours{};
  std::optional<Ours> second{};
  Placed solid{};
  Pose world_from_other{};
};

class PairTest {
 public:
  PairTest(const MovingShape& a, const MovingShape& b, GuardScratch& scratch)
      : a_(a),
        first_(as_ours(*a.shape) != nullptr ? a : b),
        second_(as_ours(*a.shape) != nullptr ? b : a),
        scratch_(scratch),
        ours_(*as_ours(*first_.shape)),
        other_(*second_.shape),
        kind_(kind_of(other_)) {
    prepare();
  }

  // The normal is from the second to the first.
  Stop run() {
    const double motion = first_.fastest() + second_.fastest();
    if (!can_test_ || !(motion > 0) || !std::isfinite(motion)) return {};
    if (motion <= apart_) return is_free(1) ? Stop{} : bisect(0, 1);
    double time = 0;
    int until_clearance = 0;
    while (time < 1) {
      double clearance = 0;
      if (until_clearance-- <= 0) {
        clearance = clearance_at(time, motion);
        until_clearance = clearance < apart_ ? kTestsWithoutClearance : 0;
      }
      const double next = std::min(1.0, time + std::max(clearance, apart_) / motion);
      // Nothing touches before it has moved by the clearance.
      if (clearance < apart_ && !is_free(next)) return bisect(time, next);
      time = next;
    }
    return {};
  }

  bool is_turned() const { return as_ours(*a_.shape) == nullptr; }

 private:
  void prepare() {
    start_ = moment(0);
    const double cell = ours_.body().cell * ours_.scale();
    double half = half_thickness(ours_);
    most_ = ours_.body().half_thickness().usual * ours_.scale();
    if (kind_ == PairKind::kOurs) {
      const auto& other = static_cast<const IsotactShape&>(other_);
      half = std::min(half, half_thickness(other));
      most_ = std::min(most_, other.body().half_thickness().usual * other.scale());
      slack_ =
          std::min(cell > 0 ? cell : half, other.body().cell > 0 ? other.body().cell * other.scale()
                                                                 : half_thickness(other));
    } else if (kind_ == PairKind::kSolid) {
      slack_ = cell > 0 ? cell : half;
      const btVector3 side = solid_->upper - solid_->lower;
      half = std::min(half, static_cast<double>(side[side.minAxis()]) / 2);
      most_ = std::min(most_, static_cast<double>(side[side.minAxis()]) / 2);
    } else {
      slack_ = cell > 0 ? cell : half;
      collect();
      if (scratch_.triangles.faces.empty()) {
        can_test_ = false;
        return;
      }
      half = std::min(half, scratch_.triangles.thinnest);
      most_ = std::min(most_, scratch_.triangles.thinnest);
    }
    slack_ = kFreeDepth * std::min(slack_, half);
    most_ = std::max(kMostDepth * most_, slack_);
    apart_ = (kind_ == PairKind::kMesh ? kTestApartOfTriangles : kTestApart) * half;
    can_test_ = half > 0;
  }

  static double half_thickness(const IsotactShape& shape) {
    return shape.body().half_thickness().least * shape.scale();
  }

  Moment moment(double time) {
    Moment m{.ours = ours_at(ours_, first_.at(time), true)};
    m.world_from_other = second_.at(time);
    if (kind_ == PairKind::kOurs) {
      m.second = ours_at(static_cast<const IsotactShape&>(other_), m.world_from_other, false);
      const bool has_role = (m.ours.tree != nullptr && m.second->body().target) ||
                            (m.second->tree != nullptr && m.ours.body().target);
      if (!has_role) take_made_points(m.ours), take_made_points(*m.second);
      return m;
    }
    take_made_points(m.ours);
    if (kind_ == PairKind::kSolid) {
      if (solid_ == nullptr) {
        OtherSolid& solid = scratch_.solids[&other_];
        if (!is_up_to_date(other_, solid)) make_other_solid(other_, solid);
        solid_ = &solid;
      }
      if (solid_->target)
        m.solid = {.target = &*solid_->target,
                   .world_from_target = m.world_from_other * solid_->shape_from_target};
    }
    return m;
  }

  // Triangles that our body may meet on its path, in the mesh's frame. Between two of the times
  // nothing moves further than from the nearer one.
  void collect() {
    constexpr int kTimes = 8;
    const double motion = first_.fastest() + second_.fastest();
    const double reach = start_.ours.world_ball().radius + motion / (2 * kTimes);
    const btVector3 half = to_bullet(Vec3{reach, reach, reach});
    btVector3 lower(0, 0, 0), upper(0, 0, 0);
    for (int i = 0; i <= kTimes; ++i) {
      const double time = static_cast<double>(i) / kTimes;
      const Ours ours = ours_at(ours_, first_.at(time), true);
      const btVector3 at =
          to_bullet(transform_point(inverse(second_.at(time)), ours.world_ball().center));
      if (i == 0) lower = at - half, upper = at + half;
      lower.setMin(at - half), upper.setMax(at + half);
    }
    collect_triangles(static_cast<const btConcaveShape&>(other_), lower, upper,
                      ours_.body().settings.meshes.thickness * ours_.scale(),
                      start_.ours.world_ball().radius, scratch_.thickness[&other_],
                      scratch_.triangles);
    find_ridges(scratch_.triangles);
  }

  bool is_free(double time) {
    ++scratch_.tests;
    worst_ = 0;
    const Moment now = moment(time);
    if (kind_ == PairKind::kMesh) return are_points_before_triangles(now) && are_edges_free(now);
    if (kind_ == PairKind::kSolid)
      return are_points_free(now.ours, now.solid, start_.ours, start_.solid) && are_edges_free(now);
    return are_points_free(now.ours, placed(*now.second), start_.ours, placed(*start_.second)) &&
           are_points_free(*now.second, placed(now.ours), *start_.second, placed(start_.ours));
  }

  bool are_points_free(const Ours& ours, const Placed& other, const Ours& ours_then,
                       const Placed& other_then) {
    if (ours.tree == nullptr || other.target == nullptr) return true;
    const ShellPlacement placement = placement_of(ours, other);
    const double grown = ours.margin + other.margin;
    const double margin = std::min(grown - slack_, other.target->max_margin() * other.scale);
    const ShellResult result = find_hits_in_budget(*ours.tree, *other.target, placement,
                                                   {.margin = margin}, 1, nullptr, scratch_.points);
    if (result.status != ShellStatus::kComplete) return false;  // Nothing is proved.
    if (result.hits.empty()) return true;
    // They may have been there before.
    const ShellPlacement then = placement_of(ours_then, other_then);
    const double noise = kRounding * ours.world_ball().radius;
    for (const ShellHit& hit : result.hits) {
      const Vec3 normal =
          rotate(then.field_from_shell.rotation, to_double(ours.tree->normals()[hit.point]));
      const Vec3 place = isotact::place_of(*ours.tree, then, hit.point) / then.field_scale;
      const FieldSample start = other.target->sample(place, normal);
      const double before = start.distance * then.field_scale - grown;
      const double depth = grown - static_cast<double>(hit.distance);
      const Vec3 out = direction_at(*ours.tree, *other.target, placement, hit.point);
      // Behind the middle of a thin part: its way out is on the other side.
      const bool is_turned = before < apart_ && dot(out, start.gradient) < 0;
      const double deeper = is_turned ? depth : stopped_depth(before, depth, noise);
      if (!(deeper > worst_)) continue;
      // Back to where it came from.
      const Vec3 sign =
          transform_vector(other.world_from_target, is_turned ? start.gradient : out) *
          (ours.is_0 ? 1.0 : -1.0);
      note(deeper,
           transform_point(other.world_from_target,
                           isotact::place_of(*ours.tree, placement, hit.point)),
           sign);
    }
    return !(worst_ > 0);
  }

  // Edges of the other in our field.
  bool are_edges_free(const Moment& now) {
    const BulletBody& body = ours_.body();
    if (!body.field && !body.voxmap) return true;
    const std::vector<FeatureEdge>& edges =
        kind_ == PairKind::kMesh ? scratch_.triangles.edges : solid_->edges;
    if (edges.empty()) return true;
    if (is_out_of_budget(edges.size())) return false;
    const double radius = kind_ == PairKind::kMesh ? 0 : solid_->radius, s = now.ours.scale;
    const Pose shape_from_edges = inverse(now.ours.world_from_shape) * now.world_from_other;
    scratch_.edges.clear();
    const Sphere ball{body.ball.center, body.ball.radius + (now.ours.margin + radius) / s};
    for (const FeatureEdge& e : edges) {
      FeatureEdge edge{transform_point(shape_from_edges, e.a) / s,
                       transform_point(shape_from_edges, e.b) / s};
      if (clip_to_ball(edge, ball)) scratch_.edges.push_back(edge);
    }
    if (scratch_.edges.empty()) return true;
    const FeatureRequest query{.margin = (now.ours.margin - slack_) / s, .radius = radius / s};
    if (body.field)
      find_hits_edges_field(*body.field, scratch_.edges, query, scratch_.edge_hits);
    else
      find_hits_edges_field(*body.voxmap, scratch_.edges, query, scratch_.edge_hits);
    const Pose start_from_now =
        inverse(start_.ours.world_from_shape) * start_.world_from_other * inverse(shape_from_edges);
    const double noise = kRounding * now.ours.world_ball().radius;
    for (const FeatureHit& hit : scratch_.edge_hits) {
      if (length_sq(hit.direction) < 0.5) continue;
      const Vec3 place = transform_point(start_from_now, hit.point * s) / s;
      const double before = body.target->sample(place, {}).distance * s - radius - now.ours.margin;
      const double deeper = stopped_depth(before, now.ours.margin - hit.distance * s, noise);
      if (deeper > worst_)
        note(deeper, transform_point(now.ours.world_from_shape, hit.point * s),
             -transform_vector(now.ours.world_from_shape, hit.direction));
    }
    return !(worst_ > 0);
  }

  // Points behind a face that were before it, or less deep.
  bool are_points_before_triangles(const Moment& now) {
    if (now.ours.tree == nullptr) return true;
    if (is_out_of_budget(scratch_.triangles.faces.size())) return false;
    const PointSphereTree& tree = *now.ours.tree;
    const Pose mesh_from_shape = inverse(now.world_from_other) * now.ours.world_from_shape;
    const Pose mesh_from_shape_then =
        inverse(start_.world_from_other) * start_.ours.world_from_shape;
    const ShellPlacement placement{.field_from_shell = mesh_from_shape,
                                   .shell_scale = now.ours.scale};
    const Vec3 center = transform_point(mesh_from_shape, ours_.body().ball.center * now.ours.scale);
    const double radius = ours_.body().ball.radius * now.ours.scale + now.ours.margin;
    const double noise = kRounding * radius;
    for (const FlatTriangle& t : scratch_.triangles.faces) {
      const double reach = radius + t.ball.radius + t.thickness;
      if (length_sq(center - t.ball.center) > reach * reach) continue;
      const double above = dot(t.normal, center - t.corner[0]);
      if (above > radius || above < -radius - t.thickness) continue;
      scratch_.triangle_hits.clear();
      find_hits_triangle(tree, placement, t.corner[0], t.corner[1], t.corner[2],
                         {.margin = now.ours.margin - slack_,
                          .thickness = t.thickness,
                          .widen = 1e-5 * ours_.body().ball.radius * now.ours.scale},
                         scratch_.triangle_hits);
      for (const ShellHit& hit : scratch_.triangle_hits) {
        const Vec3 then = transform_point(mesh_from_shape_then,
                                          to_double(tree.point(hit.point)) * now.ours.scale);
        const double before = dot(t.normal, then - t.corner[0]) - now.ours.margin;
        const double deeper =
            stopped_depth(before, now.ours.margin - static_cast<double>(hit.distance), noise);
        if (!(deeper > worst_)) continue;
        const Vec3 place = to_double(tree.point(hit.point)) * now.ours.scale;
        note(deeper, transform_point(now.ours.world_from_shape, place),
             transform_vector(now.world_from_other, t.normal));
      }
    }
    return !(worst_ > 0);
  }

  // Counts work that no query counts. Nothing is proved without it.
  static bool is_out_of_budget(std::size_t nodes) {
    Allowance* allowance = open_allowance();
    if (allowance == nullptr) return false;
    if (allowance->is_spent()) {
      allowance->cut();
      return true;
    }
    allowance->used_nodes += nodes;
    return false;
  }

  // Metres: how much deeper a place is than at the start if that stops the bodies, or else 0.
  double stopped_depth(double before, double depth, double noise) const {
    const double deeper = before - noise + depth;
    return deeper > slack_ || (deeper > 0 && depth > most_) ? deeper : 0;
  }

  void note(double deeper, const Vec3& place, const Vec3& normal) {
    worst_ = deeper;
    stop_.place = place;
    stop_.normal = normal;
  }

  // Metres: no point of one comes into the other before it has moved so far.
  double clearance_at(double time, double most) {
    ++scratch_.tests;
    const Moment now = moment(time);
    if (kind_ == PairKind::kMesh)
      return compute_clearance(now.ours, scratch_.triangles, now.world_from_other, most);
    double clearance = most;
    const auto add = [&](const Ours& ours, const Placed& other) {
      if (ours.tree == nullptr || other.target == nullptr) return;
      clearance = std::min(clearance, compute_clearance(ours, other, clearance, scratch_.points));
    };
    if (kind_ == PairKind::kOurs) {
      add(now.ours, placed(*now.second));
      add(*now.second, placed(now.ours));
      return clearance;
    }
    add(now.ours, now.solid);
    if (now.ours.tree == nullptr || now.solid.target == nullptr) return 0;
    // Corners of the other may come in between two points.
    return clearance - now.ours.tree->covering_radius() * now.ours.scale;
  }

  Stop bisect(double free, double stuck) {
    for (int i = 0; i < kBisections; ++i) {
      const double middle = (free + stuck) / 2;
      const Stop last = stop_;
      if (is_free(middle))
        free = middle, stop_ = last;
      else
        stuck = middle;
    }
    stop_.time = free;
    return stop_;
  }

  const MovingShape& a_;
  const MovingShape &first_, &second_;
  Stop stop_{};       // Of the last test that failed.
  double worst_ = 0;  // Metres: how much deeper the worst place of that test is.
  GuardScratch& scratch_;
  const IsotactShape& ours_;
  const btCollisionShape& other_;
  PairKind kind_;
  const OtherSolid* solid_ = nullptr;
  Moment start_{};
  double slack_ = 0, most_ = 0, apart_ = 0;  // Metres.
  bool can_test_ = true;
};

}  // namespace

double MovingShape::fastest() const {
  if (!path->moves()) return 0;
  btVector3 center;
  btScalar radius = 0;
  shape->getBoundingSphere(center, radius);
  return path->fastest(length(transform_point(body_from_shape, from_bullet(center))) +
                       static_cast<double>(radius));
}

bool is_guarded(const btCollisionShape& a, const btCollisionShape& b) {
  const bool first = as_ours(a) != nullptr;
  if (!first && as_ours(b) == nullptr) return false;
  const btCollisionShape& other = first ? b : a;
  if (other.getShapeType() == STATIC_PLANE_PROXYTYPE) return false;
  return kind_of(other) != PairKind::kUnsupported;
}

Stop compute_stop(const MovingShape& a, const MovingShape& b, GuardScratch& scratch) {
  PairTest test(a, b, scratch);
  Stop stop = test.run();
  if (test.is_turned()) stop.normal = -stop.normal;
  return stop;
}

}  // namespace isotact::bullet_detail
