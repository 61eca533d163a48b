#include "isotact/queries/continuous_collide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/pair_checks.h"

namespace isotact {
namespace detail {

struct FirstTouch {
  float time;
  float value;  // of the field, for those of the earliest time: the deepest first
  std::size_t role;
  std::uint32_t point;

  friend auto operator<=>(const FirstTouch&, const FirstTouch&) = default;
};

}  // namespace detail

namespace {

using detail::FirstTouch;

// The points of one body in the field of the other.
struct SweptRole {
  Body sampled_by;
  const PointSphereTree& tree;
  const Shape& other;
  const AnyField& field;
  ShellMotion motion;
  ShellPath path{};

  SweptRole(Body of, const Shape& points, const Shape& with_field, const ShellMotion& m)
      : sampled_by(of),
        tree(points.points()),
        other(with_field),
        field(with_field.any_field()),
        motion(m) {}
};

// At a time, in the world. The body with the field is where constant rates have it: at the ends,
// where all models agree, and in between as good a place as any.
// `distance` replaces the field's value, which is only a lower bound outside of its box.
Contact make_contact(const SweptRole& role, std::uint32_t point, double time,
                     std::optional<double> distance = {}) {
  const Vec3 x = place_on(role.path, to_double(role.tree.point(point)), time);
  const FieldSample sample = role.field.sample(x);
  Vec3 out = normalized(sample.gradient);
  // On a ridge of the field the shell's own normal, turned round, is the best guess.
  if (length_sq(out) == 0) {
    const AffineMap map = compute_map(role.motion, time);
    out = normalized(-(map.linear * to_double(role.tree.normals()[point])));
  }
  if (length_sq(out) == 0) out = {0, 1, 0};
  return detail::make_contact({role.sampled_by, point, x, out, distance.value_or(sample.distance)},
                              compute_pose(role.motion.field, time));
}

// How far the field's values are from distances about its isosurface at the margin.
double error_at(const Shape& shape, double margin) {
  if (shape.solid()) return 0;
  const BrickFieldHeader& h = shape.brick_field().header();
  if (std::abs(margin) + static_cast<double>(h.near_error) < static_cast<double>(h.band))
    return static_cast<double>(h.near_error);
  return static_cast<double>(std::max({h.near_error, h.far_error, h.sparse_error}));
}

void add_points(const SweptRole& role, const SweptResults& swept, ContinuousResult& result) {
  const std::size_t before = result.intervals.size();
  for (const SweptHit& hit : swept.hits)
    result.points.push_back(
        {role.sampled_by, hit.point, hit.interval_count, before + hit.first_interval});
  result.intervals.insert(result.intervals.end(), swept.intervals.begin(), swept.intervals.end());
}

// Bodies that overlap from the start touch at many points at once.
void judge_earliest(std::vector<SweptRole>& roles, std::vector<FirstTouch>& touches) {
  float first = kNever;
  for (const FirstTouch& t : touches) first = std::min(first, t.time);
  for (FirstTouch& t : touches) {
    if (t.time != first) continue;
    const SweptRole& role = roles[t.role];
    const Vec3 x =
        place_on(role.path, to_double(role.tree.point(t.point)), static_cast<double>(first));
    t.value = static_cast<float>(role.field.value(x));
  }
}

void check(const ContinuousRequest& request) {
  if (request.method != Method::kAutomatic && request.method != Method::kSwept)
    throw Error(
        "only swept points know motions: set the request's method to Method::kSwept, or call "
        "collide for bodies at rest");
  if (!(std::isfinite(request.margin))) throw Error("the margin is not finite");
  if (!(request.time_tolerance > 0)) throw Error("the tolerance of times must be positive");
  if (!(request.distance_tolerance >= 0))
    throw Error("the tolerance of a distance must not be negative");
}

void reset(ContinuousResult& result) {
  result.points.clear();
  result.intervals.clear();
  result.contacts.clear();
  result.work = {};
  result.status = ContinuousStatus::kFree;
  result.exact = result.contained = result.has_distance = result.distance_gave_up = false;
  result.time_of_contact = result.latest_time = std::numeric_limits<double>::infinity();
  result.contact = result.nearest = {};
  result.blind_depth = result.path_error = 0;
  result.distance = result.lower_bound = result.time_of_distance = 0;
}

SweptSettings settings_of(const ContinuousRequest& request) {
  return {.margin = request.margin,
          .mode = request.mode,
          .traversal = request.traversal,
          .path_tolerance = request.path_tolerance,
          .threads = request.threads};
}

}  // namespace

struct ContinuousScratch::State {
  ContinuousResult result{};
  SweptResults swept{};
  std::vector<FirstTouch> touches{};
  SweptScratch memory[2]{};  // of points of A, of points of B
  bool coherent = false;
};

struct ContinuousAccess {
  static ContinuousScratch::State& state(ContinuousScratch& s) {
    if (s.state_ == nullptr) s.state_ = new ContinuousScratch::State;
    return *s.state_;
  }
};

ContinuousScratch::ContinuousScratch() : state_(nullptr) {}
ContinuousScratch::ContinuousScratch(ContinuousScratch&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}
ContinuousScratch& ContinuousScratch::operator=(ContinuousScratch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
ContinuousScratch::~ContinuousScratch() { delete state_; }

void ContinuousScratch::set_coherent(bool on) {
  State& state = ContinuousAccess::state(*this);
  state.coherent = on;
  if (!on)
    for (SweptScratch& memory : state.memory) memory.forget();
}

namespace {

// Two bodies with their motions.
struct MovingPair {
  const Shape& a;
  const BodyMotion& motion_of_a;
  const Shape& b;
  const BodyMotion& motion_of_b;
};

// The roles that the request wants and the shapes can take.
std::vector<SweptRole> list_roles(const MovingPair& pair, const ContinuousRequest& request) {
  const auto& [a, motion_of_a, b, motion_of_b] = pair;
  const bool a_in_b = detail::can_take_role(a, b) && request.roles != Roles::kPointsOfB;
  const bool b_in_a = detail::can_take_role(b, a) && request.roles != Roles::kPointsOfA;
  if (!a_in_b && !b_in_a) detail::refuse_pair(a, b, request.roles);
  const ShellMotion forward{
      .shell = motion_of_a, .field = motion_of_b, .model = request.model, .degree = request.degree};
  std::vector<SweptRole> roles;
  if (a_in_b) roles.emplace_back(Body::kA, a, b, forward);
  if (b_in_a) roles.emplace_back(Body::kB, b, a, exchange_roles(forward));
  return roles;
}

// Fills a result that has been reset.
void sweep_points(const MovingPair& pair, const ContinuousRequest& request,
                  ContinuousScratch::State& state) {
  ContinuousResult& result = state.result;
  std::vector<SweptRole> roles = list_roles(pair, request);
  SweptResults& swept = state.swept;
  std::vector<FirstTouch>& touches = state.touches;
  touches.clear();
  for (std::size_t i = 0; i < roles.size(); ++i) {
    SweptRole& role = roles[i];
    const auto tracer = role.other.swept_tracer(settings_of(request));
    if (state.coherent)
      tracer->trace(role.tree, role.motion, swept,
                    state.memory[role.sampled_by == Body::kA ? 0 : 1]);
    else
      tracer->trace(role.tree, role.motion, swept);
    compute_shell_path(role.motion, ball_of(role.tree), request.path_tolerance * role.other.cell(),
                       role.path);
    const SweptMotionResult& summary = swept.motions[0];
    result.work += summary.work;
    result.path_error = std::max(result.path_error, summary.path_error);
    result.blind_depth =
        std::max(result.blind_depth, role.tree.covering_radius() + summary.path_error +
                                         error_at(role.other, request.margin));
    for (const SweptHit& hit : swept.hits)
      touches.push_back({swept.intervals[hit.first_interval].enter, 0, i, hit.point});
    if (request.mode == Mode::kAll) add_points(role, swept, result);
    if (request.mode == Mode::kAny && !touches.empty()) break;
  }

  judge_earliest(roles, touches);
  result.status = touches.empty() ? ContinuousStatus::kFree : ContinuousStatus::kContact;
  const std::size_t wanted =
      std::min(touches.size(), std::max<std::size_t>(request.max_contacts, 1));
  std::partial_sort(touches.begin(), touches.begin() + static_cast<std::ptrdiff_t>(wanted),
                    touches.end());
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto time = static_cast<double>(touches[i].time);
    result.contacts.push_back({time, make_contact(roles[touches[i].role], touches[i].point, time)});
  }
  if (touches.empty()) return;
  result.time_of_contact = result.latest_time = result.contacts[0].time;
  result.contact = result.contacts[0].contact;
  if (request.mode != Mode::kAll) result.contacts.resize(1);
}

// The nearest point of either body to the other's surface, by fields.
void measure_by_fields(const MovingPair& pair, const ContinuousRequest& request,
                       ContinuousResult& result) {
  std::vector<SweptRole> roles = list_roles(pair, request);
  result.has_distance = true;
  result.distance = result.lower_bound = std::numeric_limits<double>::infinity();
  for (SweptRole& role : roles) {
    const ApproachResult near =
        detail::find_approach(role.sampled_by == Body::kA ? pair.a : pair.b, role.other,
                              role.motion, {.path_tolerance = request.path_tolerance});
    result.lower_bound = std::min(result.lower_bound, near.lower_bound);
    result.distance_gave_up |= near.status == ApproachStatus::kGaveUp;
    if (near.distance >= result.distance) continue;
    result.distance = near.distance;
    result.time_of_distance = near.time;
    compute_shell_path(role.motion, ball_of(role.tree), request.path_tolerance * role.other.cell(),
                       role.path);
    result.nearest = make_contact(role, near.point, near.time, near.distance);
  }
}

// The triangles decide; points and intervals stay, and contacts of points from that time on.
void sweep_and_decide(const MovingPair& pair, const ContinuousRequest& request,
                      ContinuousScratch::State& state) {
  sweep_points(pair, request, state);
  ContinuousResult& result = state.result;
  const std::vector<TimedContact> of_points = std::exchange(result.contacts, {});
  const double blind_depth = result.blind_depth, path_error = result.path_error;
  result.status = ContinuousStatus::kFree;
  result.time_of_contact = result.latest_time = std::numeric_limits<double>::infinity();
  result.contact = {};
  const auto& [a, motion_of_a, b, motion_of_b] = pair;
  detail::collide_exact_motion(a, motion_of_a, b, motion_of_b, request, result);
  result.blind_depth = blind_depth;
  result.path_error = path_error;
  for (const TimedContact& c : of_points)
    if (result.contacts.size() < request.max_contacts && c.time >= result.time_of_contact)
      result.contacts.push_back(c);
}

}  // namespace

const ContinuousResult& continuous_collide(const Shape& a, const BodyMotion& motion_of_a,
                                           const Shape& b, const BodyMotion& motion_of_b,
                                           const ContinuousRequest& request,
                                           ContinuousScratch& scratch) {
  ContinuousScratch::State& state = ContinuousAccess::state(scratch);
  ContinuousResult& result = state.result;
  check(request);
  detail::check_ends(a, b);
  if (const auto flaw = find_flaw(ShellMotion{.shell = motion_of_a,
                                              .field = motion_of_b,
                                              .model = request.model,
                                              .degree = request.degree}))
    throw Error(*flaw);
  reset(result);
  const MovingPair pair{a, motion_of_a, b, motion_of_b};
  const bool exact = request.accuracy == Accuracy::kExact ||
                     (request.accuracy == Accuracy::kBest && detail::can_be_exact(a, b, request));
  if (!exact) {
    sweep_points(pair, request, state);
    if (request.want_distance) measure_by_fields(pair, request, result);
  } else if (request.mode == Mode::kAll) {
    sweep_and_decide(pair, request, state);
  } else {
    detail::collide_exact_motion(a, motion_of_a, b, motion_of_b, request, result);
  }
  return result;
}

ContinuousResult continuous_collide(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                    const BodyMotion& motion_of_b,
                                    const ContinuousRequest& request) {
  ContinuousScratch scratch;
  continuous_collide(a, motion_of_a, b, motion_of_b, request, scratch);
  return std::move(ContinuousAccess::state(scratch).result);
}

void prepare(const Shape& shape, const ContinuousRequest& request) {
  check(request);
  const bool wants_points = request.accuracy == Accuracy::kField ||
                            request.method != Method::kAutomatic || request.roles != Roles::kBoth ||
                            request.mode == Mode::kAll || request.margin < 0 ||
                            !detail::can_be_exact(shape);
  const bool wants_triangles = request.accuracy != Accuracy::kField && detail::can_be_exact(shape);
  const bool only_triangles =
      !wants_points || (request.accuracy == Accuracy::kExact && request.mode != Mode::kAll);
  if (wants_triangles) detail::exact_body(shape);
  parallel_for(3, 1, request.threads, [&](std::size_t part, std::size_t) {
    if (part == 0 && wants_triangles) detail::prepare_sides(shape);
    if (only_triangles) return;
    if (part == 1 && shape.can_have_field()) shape.swept_tracer(settings_of(request));
    if (part == 2 && shape.can_have_points()) shape.points();
  });
}

}  // namespace isotact
