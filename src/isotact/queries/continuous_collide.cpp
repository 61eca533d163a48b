#include "isotact/queries/continuous_collide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"

namespace isotact {
namespace {

// One way: the points of one body in the field of the other.
struct Way {
  Body sampled_by;
  const PointSphereTree& tree;
  const BrickField& field;
  ShellMotion motion;
  ShellPath path{};
};

bool is_possible(const Shape& points, const Shape& field) {
  return points.tree().has_value() && field.field().has_value();
}

// At a time, in the world. The body with the field is where constant rates have it: at the ends,
// where all models agree, and in between as good a place as any.
Contact make_contact(const Way& way, std::uint32_t point, double time) {
  const Vec3 x = place_on(way.path, to_double(way.tree.point(point)), time);
  const FieldSample sample = way.field.sample(x);
  Vec3 out = normalized(sample.gradient);
  // On a ridge of the field the shell's own normal, turned round, is the best guess.
  if (length_sq(out) == 0) {
    const AffineMap map = find_map(way.motion, time);
    out = normalized(-(map.linear * to_double(way.tree.normals()[point])));
  }
  if (length_sq(out) == 0) out = {0, 1, 0};
  const Pose world_from_field = find_pose(way.motion.field, time);
  const Vec3 on_shell = transform_point(world_from_field, x);
  const Vec3 on_field = transform_point(world_from_field, x - out * sample.distance);
  const Vec3 normal = transform_vector(world_from_field, out);
  const bool of_a = way.sampled_by == Body::kA;
  return {.position = (on_shell + on_field) * 0.5,
          .point_on_a = of_a ? on_shell : on_field,
          .point_on_b = of_a ? on_field : on_shell,
          .normal = of_a ? normal : -normal,
          .depth = -sample.distance,
          .sampled_by = way.sampled_by,
          .point = point};
}

// How far the field's values are from distances about its isosurface at the margin.
double error_at(const BrickField& field, double margin) {
  const BrickFieldHeader& h = field.header();
  if (std::abs(margin) + static_cast<double>(h.near_error) < static_cast<double>(h.band))
    return static_cast<double>(h.near_error);
  return static_cast<double>(std::max({h.near_error, h.far_error, h.sparse_error}));
}

void add_points(const Way& way, const SweptResults& swept, ContinuousResult& result) {
  const std::size_t before = result.intervals.size();
  for (const SweptHit& hit : swept.hits)
    result.points.push_back(
        {way.sampled_by, hit.point, hit.interval_count, before + hit.first_interval});
  result.intervals.insert(result.intervals.end(), swept.intervals.begin(), swept.intervals.end());
}

struct FirstTouch {
  float time;
  float value;  // of the field, for those of the earliest time: the deepest first
  std::size_t way;
  std::uint32_t point;

  friend auto operator<=>(const FirstTouch&, const FirstTouch&) = default;
};

// Bodies that overlap from the start touch at many points at once.
void judge_earliest(std::vector<Way>& ways, std::vector<FirstTouch>& touches) {
  float first = kNever;
  for (const FirstTouch& t : touches) first = std::min(first, t.time);
  for (FirstTouch& t : touches) {
    if (t.time != first) continue;
    const Way& way = ways[t.way];
    const Vec3 x =
        place_on(way.path, to_double(way.tree.point(t.point)), static_cast<double>(first));
    t.value = static_cast<float>(way.field.value(x));
  }
}

}  // namespace

void continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                        const BodyMotion& motion_of_b, const ContinuousRequest& request,
                        ContinuousResult& result) {
  const bool a_in_b = is_possible(a, b) && request.roles != Roles::kPointsOfB;
  const bool b_in_a = is_possible(b, a) && request.roles != Roles::kPointsOfA;
  if (!a_in_b && !b_in_a)
    throw Error("these shapes cannot be tested: one needs points, and the other a field");
  if (!(std::isfinite(request.margin))) throw Error("the margin is not finite");
  const ShellMotion forward{
      .shell = motion_of_a, .field = motion_of_b, .model = request.model, .degree = request.degree};
  if (const auto flaw = find_flaw(forward)) throw Error(*flaw);
  std::vector<Way> ways;
  if (a_in_b) ways.push_back({Body::kA, *a.tree(), *b.field(), forward});
  if (b_in_a) ways.push_back({Body::kB, *b.tree(), *a.field(), exchange_roles(forward)});

  result.points.clear();
  result.intervals.clear();
  result.contacts.clear();
  result.counts = {};
  result.blind_depth = result.path_error = 0;
  SweptResults swept;
  std::vector<FirstTouch> touches;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Way& way = ways[i];
    const Shape& with_field = way.sampled_by == Body::kA ? b : a;
    const auto tracer = with_field.swept_tracer({.iso = request.margin,
                                                 .mode = request.mode,
                                                 .traversal = request.traversal,
                                                 .path_tolerance = request.path_tolerance,
                                                 .threads = request.threads});
    tracer->trace(way.tree, way.motion, swept);
    find_shell_path(way.motion, ball_of(way.tree), request.path_tolerance * way.field.voxel_size(),
                    way.path);
    const SweptSummary& summary = swept.motions[0];
    result.counts += summary.counts;
    result.path_error = std::max(result.path_error, summary.path_error);
    result.blind_depth =
        std::max(result.blind_depth, way.tree.covering_radius() + summary.path_error +
                                         error_at(way.field, request.margin));
    for (const SweptHit& hit : swept.hits)
      touches.push_back({swept.intervals[hit.first_interval].enter, 0, i, hit.point});
    if (request.mode == SweptMode::kAll) add_points(way, swept, result);
    if (request.mode == SweptMode::kAny && !touches.empty()) break;
  }

  judge_earliest(ways, touches);
  result.status = touches.empty() ? ContinuousStatus::kFree : ContinuousStatus::kContact;
  result.time_of_contact = std::numeric_limits<double>::infinity();
  result.contact = {};
  const std::size_t wanted =
      std::min(touches.size(), std::max<std::size_t>(request.max_contacts, 1));
  std::partial_sort(touches.begin(), touches.begin() + static_cast<std::ptrdiff_t>(wanted),
                    touches.end());
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto time = static_cast<double>(touches[i].time);
    result.contacts.push_back({time, make_contact(ways[touches[i].way], touches[i].point, time)});
  }
  if (touches.empty()) return;
  result.time_of_contact = result.contacts[0].time;
  result.contact = result.contacts[0].contact;
  if (request.mode != SweptMode::kAll) result.contacts.resize(1);
}

ContinuousResult continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                    const BodyMotion& motion_of_b,
                                    const ContinuousRequest& request) {
  ContinuousResult result;
  continuous_collide(a, motion_of_a, b, motion_of_b, request, result);
  return result;
}

}  // namespace isotact
