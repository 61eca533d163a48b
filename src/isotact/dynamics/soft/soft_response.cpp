// What soft bodies do about their contacts: islands of bodies, solved and held apart.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/disjoint_sets.h"
#include "isotact/base/error.h"
#include "isotact/dynamics/soft/detail/soft_contact.h"
#include "isotact/dynamics/soft/detail/soft_state.h"

namespace isotact {

using detail::FieldPair;
using detail::RigidSide;
using detail::SoftBody;
using detail::SoftIsland;
using detail::SoftPair;
using detail::SoftRow;

void SoftWorld::State::find_islands() {
  const auto soft = static_cast<std::uint32_t>(bodies.size());
  DisjointSets sets(soft + rigid.size());
  std::vector<bool> busy(soft);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pair_rows[k].empty()) continue;
    sets.join(pairs[k].a, pairs[k].b);
    busy[pairs[k].a] = busy[pairs[k].b] = true;
  }
  for (const FieldPair& f : field_pairs) {
    busy[f.body] = true;
    if (rigid[f.rigid].dynamic && !f.rows.empty()) sets.join(f.body, soft + f.rigid);
  }
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(sets.size(), kNone);
  islands.clear();
  const auto island_of = [&](std::uint32_t node) -> SoftIsland& {
    std::uint32_t& n = number[sets.find(node)];
    if (n == kNone) {
      n = static_cast<std::uint32_t>(islands.size());
      islands.emplace_back();
    }
    return islands[n];
  };
  for (SoftId i = 0; i < soft; ++i)
    if (busy[i]) {
      std::fill(bodies[i].change.begin(), bodies[i].change.end(), Vec3{});
      island_of(i).bodies.push_back(i);
    }
  for (std::uint32_t j = 0; j < rigid.size(); ++j)
    if (rigid[j].dynamic && number[sets.find(soft + j)] != kNone)
      island_of(soft + j).rigid.push_back(&rigid[j]);
  for (std::size_t k = 0; k < pair_count; ++k)
    for (SoftRow& row : pair_rows[k]) island_of(pairs[k].a).rows.push_back(&row);
  for (FieldPair& f : field_pairs)
    for (SoftRow& row : f.rows) island_of(f.body).rows.push_back(&row);
}

namespace {

// What is steered is turned around by what it meets.
void turn_heading(SoftBody& b) {
  if (!b.steered) return;
  Vec3 push{};
  for (std::size_t i = 0; i < b.change.size(); ++i) push += b.change[i] * b.mass[i];
  const Vec3 normal = normalized(push);
  const double against = dot(b.heading, normal);
  if (against < 0) b.heading -= normal * (2 * against);
}

}  // namespace

void SoftWorld::State::solve_island(SoftIsland& island) {
  detail::solve_rows(island.rows, settings.step, settings.contact_iterations);
  for (RigidSide* r : island.rigid) {
    r->velocity += r->dv;
    r->turning += r->dw;
    detail::predict(*r, settings.step);
  }
}

namespace {

// A way made shorter ends between two places outside, which may be inside of what is bent.
void stay_outside(SoftBody& b, std::uint32_t i) {
  if (b.near_rigid.empty() || !(detail::compute_depth(b.x[i], b.near_rigid) > 0)) return;
  if (!(detail::compute_depth(b.x0[i], b.near_rigid) > 0)) b.x[i] = b.x0[i];
}

}  // namespace

void SoftWorld::State::push(SoftBody& b) {
  detail::note_prediction(b);
  turn_heading(b);
  for (std::size_t i = 0; i < b.x.size(); ++i) {
    b.x[i] += b.change[i] * settings.step;
    b.v[i] += b.change[i];
  }
  detail::update_bounds(b);
  if (b.broken) return;
  for (RigidSide& r : rigid)
    if (r.field && detail::may_touch(b, r)) b.near_rigid.push_back(&r);
  for (std::uint32_t i = 0; i < b.x.size(); ++i) {
    if (b.inverse_mass[i] == 0) continue;
    if (!b.near_rigid.empty()) detail::keep_outside(b, i, b.near_rigid);
    Vec3 x = clamp_to(b.room, b.x[i]);
    if (settings.cube) x = clamp_to(*settings.cube, x);
    if (x == b.x[i]) continue;
    b.x[i] = x;
    stay_outside(b, i);
  }
  detail::update_bounds(b);
  detail::update_off(b);
}

void SoftWorld::State::hold_apart() {
  // A pair is looked at once more at most: what is found by ways holds for all shorter ones.
  std::vector<std::uint32_t> again;
  for (FieldPair& f : field_pairs) {
    RigidSide& r = rigid[f.rigid];
    if (r.placed && r.now == r.next)
      detail::find_points_on_paths(bodies[f.body], r, f.candidates, f.near);
    f.fixed.assign(f.near.size(), false);
  }
  for (int round = 0;; ++round) {
    again.clear();
    for (std::uint32_t k = 0; k < pair_count; ++k) {
      SoftPair& p = pairs[k];
      if (p.by_ways || bodies[p.a].off + bodies[p.b].off < p.margin) continue;
      p.by_ways = true;
      again.push_back(k);
    }
    if (round > 0 && again.empty()) break;
    look_at_pairs(again);
    // What one of the two shortens may be in the way of the other. Ways only get shorter, and what
    // is on its side of a plane stays there: it comes to an end.
    do hold_islands(stay_outside);
    while (hold_off_points(stay_outside) > 0);
    note_held();
  }
  for (const SoftBody& b : bodies) {
    if (b.near_rigid.empty() || !b.pushed) continue;
    for (const Vec3& x : b.x)
      report.depth = std::max(report.depth, detail::compute_depth(x, b.near_rigid));
  }
}

// Bodies that hang together by what is near are held apart by one thread.
void SoftWorld::State::hold_islands(const detail::HoldCheck& check) {
  DisjointSets sets(bodies.size());
  for (std::size_t k = 0; k < pair_count; ++k)
    if (!pairs[k].near.empty()) sets.join(pairs[k].a, pairs[k].b);
  islands.clear();
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(bodies.size(), kNone);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pairs[k].near.empty()) continue;
    const std::uint32_t root = sets.find(pairs[k].a);
    if (number[root] == kNone) {
      number[root] = static_cast<std::uint32_t>(islands.size());
      islands.emplace_back();
    }
    islands[number[root]].pairs.push_back(&pairs[k]);
  }
  parallel_for(islands.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      islands[i].held = detail::hold_apart(islands[i].pairs, bodies, check);
  });
  for (const SoftIsland& island : islands) report.held += island.held;
}

std::uint32_t SoftWorld::State::hold_off_points(const detail::HoldCheck& check) {
  std::uint32_t held = 0;
  for (FieldPair& f : field_pairs)
    held += detail::hold_off_points(bodies[f.body], f.near, f.fixed, check);
  report.held += held;
  return held;
}

void SoftWorld::State::note_held() {
  for (SoftBody& b : bodies) {
    if (!b.held) continue;
    b.held = false;
    detail::update_bounds(b);
    detail::update_off(b);
  }
}

}  // namespace isotact

// Rigid bodies as soft ones see them: where they are, where they will be, and what they get.

namespace isotact {

using detail::RigidSide;
using detail::SoftBody;

void detail::predict(RigidSide& r, double step) {
  const Vec3 turn = r.turning * step, origin = r.now.translation - r.center;
  const Quat by = rotation_about(turn, length(turn));
  r.next = {normalized(by * r.now.rotation), r.center + r.velocity * step + rotate(by, origin)};
}

namespace {

Mat3 turned(const Mat3& inertia, const Quat& rotation) {
  const Mat3 r = to_matrix(rotation);
  return r * inertia * transpose(r);
}

void look_at_moving(RigidSide& r, const World& world, const Pose& last, double step) {
  const RigidBody& body = world.body(r.id);
  r.center = body.state.center;
  r.velocity = r.turning = r.dv = r.dw = {};
  r.next = r.now;
  // To the last bit: what rests is held off with more than fields (find_points_on_paths).
  if (body.kind != BodyKind::kDynamic && r.now == last) return;
  if (body.kind == BodyKind::kDynamic) {
    r.inverse_mass = 1 / body.mass.mass;
    r.inverse_inertia = turned(body.mass.inverse_inertia, body.state.rotation);
    r.turning = angular_velocity(body);
    r.velocity = velocity(body);
    if (!world.is_asleep(r.id)) r.velocity += world.settings().gravity * step;
    detail::predict(r, step);
  } else {
    // What goes where it is told goes on as it did.
    const Pose way = r.now * inverse(last);
    r.next = way * r.now;
    r.next.rotation = normalized(r.next.rotation);
    const double sign = way.rotation.w < 0 ? -2 : 2;
    r.turning = Vec3{way.rotation.x, way.rotation.y, way.rotation.z} * (sign / step);
    r.velocity = (transform_point(way, r.center) - r.center) / step;
  }
}

}  // namespace

void SoftWorld::State::check_rigid(const World& world) const {
  const bool any_moves =
      std::any_of(bodies.begin(), bodies.end(), [](const SoftBody& b) { return !b.driven; });
  if (!any_moves) return;
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const BodySettings& s = world.body_settings(id);
    if (s.shape && !s.shape->can_have_field())
      throw Error(fmt::format("soft bodies cannot touch body '{}': a pointshell alone has no field",
                              s.name),
                  Hint::kField);
  }
}

void SoftWorld::State::look_at_rigid(const World* world) {
  const std::size_t count = world == nullptr ? 0 : world->body_count();
  if (rigid.size() != count) {
    rigid.clear();
    rigid.resize(count);
  }
  const bool known = last_poses.size() == count;
  last_poses.resize(count);
  longest_way = 0;
  for (const SoftBody& b : bodies) longest_way = std::max(longest_way, b.reach);
  for (BodyId id = 0; id < count; ++id) {
    RigidSide& r = rigid[id];
    const BodySettings& s = world->body_settings(id);
    if (!r.field && s.shape && s.shape->can_have_field()) {
      r.field = s.shape->any_field();
      r.lipschitz = r.field->lipschitz();
    }
    r.id = id;
    r.friction = s.material.friction;
    r.placed = false;
    r.dynamic = world->body(id).kind == BodyKind::kDynamic;
    r.now = world->pose(id);
    if (!known) last_poses[id] = r.now;
    look_at_moving(r, *world, last_poses[id], settings.step);
    last_poses[id] = r.now;
    if (r.field) longest_way = std::max(longest_way, length(r.velocity) * settings.step);
  }
}

// The impulses of this step, spread over the step that the rigid bodies are about to make.
void SoftWorld::State::add_loads(World* world) const {
  for (const RigidSide& r : rigid) {
    if (!r.dynamic || (r.dv == Vec3{} && r.dw == Vec3{})) continue;
    const RigidBody& body = world->body(r.id);
    const Mat3 inertia = turned(body.mass.inertia, body.state.rotation);
    if (world->is_asleep(r.id)) world->wake(r.id);
    world->add_load(
        r.id, {r.dv * (body.mass.mass / settings.step), inertia * r.dw * (1 / settings.step)});
  }
}

}  // namespace isotact

// Soft bodies against the fields of rigid ones and of grounds.

namespace isotact::detail {

namespace {

constexpr double kSkin = 0.02;  // margins: what is nearer than this touches

Aabb transformed_box(const Pose& pose, const Aabb& box) {
  const Mat3 turn = to_matrix(pose.rotation);
  const Vec3 middle = transform_point(pose, center(box)), half = extent(box) * 0.5;
  Vec3 reach;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Vec3& row = turn.rows[axis];
    reach[axis] = std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
  }
  return {middle - reach, middle + reach};
}

// The way of a vertex in the frame of a field. The body moves, too: straight ways in this frame are
// those of the vertex against the body, but for a turn within the step.
struct FieldWay {
  const AnyField& field;
  double lipschitz;
  Vec3 from, to;
  double start;  // the value at `from`
  double skin;

  double length() const { return isotact::length(to - from); }
  Vec3 at(double t) const { return lerp(from, to, t); }
};

// How far along the way no value has been below zero: 1, or where the field is about to be entered.
// The value changes by no more than lipschitz times the way, so that a step of value / lipschitz
// passes over no root. Only for ways that begin outside. Where it nears the surface for too long it
// stops early, which is as safe.
double compute_free_path(const FieldWay& w) {
  const double length = w.length();
  if (w.start - w.lipschitz * length > 0) return 1;
  constexpr int kSteps = 64;
  double t = 0, free = 0, value = w.start;
  for (int i = 0; i < kSteps; ++i) {
    if (value <= 0) return free;
    free = t;
    double step = 0.999 * value / (w.lipschitz * length);
    if (value <= w.skin) {
      if (dot(w.field.sample(w.at(t)).gradient, w.to - w.from) < 0) return free;
      step = std::max(step, w.skin / (w.lipschitz * length));  // outward, or along
    }
    t += step;
    if (t >= 1) return w.field.value(w.to) > 0 ? 1 : free;
    value = w.field.value(w.at(t));
  }
  return free;
}

struct FieldPlane {  // in the field's frame
  Vec3 normal{};
  double end = 0;  // of the way, above the surface
};

// The surface where the way meets it, or else where it ends.
FieldPlane compute_plane(const FieldWay& w) {
  const double free = w.start > 0 ? compute_free_path(w) : 1;
  const Vec3 place = w.at(free);
  const FieldSample s = w.field.sample(place);
  const Vec3 normal = normalized(s.gradient);
  return {normal, s.distance + dot(normal, w.to - place)};
}

FieldWay make_way(const SoftBody& body, std::uint32_t i, const RigidSide& rigid) {
  const Vec3 from = transform_point(inverse(rigid.now), body.x0[i]);
  const Vec3 to = transform_point(inverse(rigid.next), body.x[i]);
  return {*rigid.field, rigid.lipschitz, from, to, rigid.field->value(from), kSkin * body.margin};
}

SoftRow make_rigid_row(const Vec3& place, const Vec3& moved, double step, RigidSide& rigid) {
  SoftRow row;
  row.rigid = &rigid;
  row.pair = kNoPair;
  row.place = moved;
  row.arm = place - rigid.center;
  row.slip = (moved - place) / step - (rigid.velocity + cross(rigid.turning, row.arm));
  return row;
}

}  // namespace

bool may_touch(const SoftBody& body, const RigidSide& rigid) {
  Aabb box = transformed_box(inverse(rigid.now), body.box0);
  extend(box, transformed_box(inverse(rigid.next), body.box));
  return rigid.field->range(box).lower <= body.margin;
}

void find_field_rows(SoftBody& body, RigidSide& rigid, double step, std::vector<SoftRow>& rows) {
  const double friction = std::sqrt(body.settings.material.friction * rigid.friction);
  for (std::uint32_t i = 0; i < body.x.size(); ++i) {
    if (body.inverse_mass[i] == 0) continue;
    const FieldWay way = make_way(body, i, rigid);
    if (way.start - way.lipschitz * way.length() > 1.5 * body.margin) continue;
    const FieldPlane plane = compute_plane(way);
    const double gap = plane.end - wanted_distance(way.start, body.margin);
    if (gap > 0.5 * body.margin || plane.normal == Vec3{}) continue;
    SoftRow row = make_rigid_row(body.x0[i], body.x[i], step, rigid);
    row.change[0] = &body.change[i];
    row.weight[0] = 1;
    row.inverse_mass[0] = body.inverse_mass[i];
    row.count = 1;
    row.normal = rotate(rigid.next.rotation, plane.normal);
    row.gap = gap;
    row.friction = friction;
    finish_row(row);
    rows.push_back(row);
  }
}

void place_points(RigidSide& rigid, const World& world) {
  const PointSphereTree& shell = *world.points(rigid.id);
  rigid.points.resize(shell.point_count());
  for (std::uint32_t i = 0; i < shell.point_count(); ++i)
    rigid.points[i] = transform_point(rigid.now, to_double(shell.point(i)));
  if (!rigid.tree) {
    std::vector<Triangle> triangles;
    for (std::uint32_t i = 0; i < shell.point_count(); ++i) triangles.push_back({i, i, i});
    rigid.tree.emplace(rigid.points, triangles);
    rigid.topology = make_topology(triangles, triangles.size());
    rigid.covering = shell.covering_radius();
  }
  rigid.tree->set_positions(rigid.points);
}

namespace {

// Of the foot of p on the triangle's plane, pulled onto the triangle.
std::array<double, 3> compute_weights(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a, normal = cross(ab, ac);
  const double all = length_sq(normal);
  if (!(all > 0)) return {1, 0, 0};
  const double u = std::max(0.0, dot(cross(ap, ac), normal) / all);
  const double v = std::max(0.0, dot(cross(ab, ap), normal) / all);
  const double w = std::max(0.0, 1 - dot(cross(ap, ac) + cross(ab, ap), normal) / all);
  const double sum = u + v + w;
  return {w / sum, u / sum, v / sum};
}

}  // namespace

// The points say where on a face to look; the field says how deep that place is. Of a face the
// place that would be the deepest counts. Corners of faces are vertices, and have rows of their
// own.
void find_point_rows(SoftBody& body, RigidSide& rigid, double step,
                     std::span<const TrianglePair> candidates, std::vector<SoftRow>& rows) {
  const double friction = std::sqrt(body.settings.material.friction * rigid.friction);
  const Pose from_now = inverse(rigid.now), from_next = inverse(rigid.next);
  const std::size_t first = rows.size();
  std::uint32_t last = 0xffffffffU;
  for (const TrianglePair& c : candidates) {
    const Triangle& t = body.topology.triangles[c.a];
    const std::array<double, 3> w =
        compute_weights(rigid.points[c.b], body.x0[t[0]], body.x0[t[1]], body.x0[t[2]]);
    if (*std::max_element(w.begin(), w.end()) > 0.95) continue;
    SoftRow row;
    Vec3 place{}, moved{};
    for (std::size_t k = 0; k < 3; ++k) {
      place += body.x0[t[k]] * w[k];
      moved += body.x[t[k]] * w[k];
    }
    const FieldSample s = rigid.field->sample(transform_point(from_next, moved));
    const double start = rigid.field->value(transform_point(from_now, place));
    const double gap = s.distance - wanted_distance(start, body.margin);
    if (gap > 0.5 * body.margin) continue;
    if (c.a == last && rows.size() > first && rows.back().gap <= gap) continue;
    row = make_rigid_row(place, moved, step, rigid);
    for (std::size_t k = 0; k < 3; ++k) {
      row.change[k] = &body.change[t[k]];
      row.weight[k] = w[k];
      row.inverse_mass[k] = body.inverse_mass[t[k]];
    }
    row.count = 3;
    row.normal = rotate(rigid.next.rotation, normalized(s.gradient));
    row.gap = gap;
    row.friction = friction;
    finish_row(row);
    if (!(row.normal_mass > 0)) continue;
    if (c.a == last && rows.size() > first)
      rows.back() = row;
    else
      rows.push_back(row);
    last = c.a;
  }
}

namespace {

// Puts a place that is inside onto the surface, by Newton's steps along the gradient.
Vec3 push_out(const AnyField& field, Vec3 place, double wanted) {
  constexpr int kSteps = 8;
  for (int i = 0; i < kSteps; ++i) {
    const FieldSample s = field.sample(place);
    if (s.distance >= wanted || !(length_sq(s.gradient) > 0)) break;
    place += s.gradient * ((wanted - s.distance) * 1.01 / length_sq(s.gradient));
  }
  return place;
}

// Whether x had to be moved.
bool keep_outside_one(SoftBody& body, std::uint32_t i, const RigidSide& rigid) {
  FieldWay way = make_way(body, i, rigid);
  if (way.start - way.lipschitz * way.length() > 0) return false;
  if (way.start <= 0) {
    if (way.field.value(way.to) > 0) return false;
    body.x[i] = transform_point(rigid.next, push_out(way.field, way.to, way.skin));
    return true;
  }
  if (compute_free_path(way) == 1) return false;
  // Along the surface where it is met, and stopped there if that does not help.
  constexpr int kSlides = 3;
  for (int slide = 0; slide < kSlides; ++slide) {
    const FieldPlane plane = compute_plane(way);
    way.to += plane.normal * std::max(0.0, 2 * way.skin - plane.end);
    if (compute_free_path(way) == 1) break;
  }
  way.to = way.at(compute_free_path(way));
  body.x[i] = transform_point(rigid.next, way.to);
  return true;
}

}  // namespace

double compute_depth(const Vec3& x, std::span<RigidSide* const> near) {
  double depth = 0;
  for (const RigidSide* r : near)
    depth = std::max(depth, -r->field->value(transform_point(inverse(r->next), x)));
  return depth;
}

double keep_outside(SoftBody& body, std::uint32_t i, std::span<RigidSide* const> near) {
  constexpr int kRounds = 4;
  bool moved = true;
  for (int round = 0; round < kRounds && moved; ++round) {
    moved = false;
    for (const RigidSide* r : near) moved = keep_outside_one(body, i, *r) || moved;
    if (near.size() == 1) break;
  }
  const double depth = compute_depth(body.x[i], near);
  if (!(depth > 0)) return depth;
  // Where it was it was outside, of all that rests.
  const double before = compute_depth(body.x0[i], near);
  if (before >= depth) return depth;
  body.x[i] = body.x0[i];
  return before;
}

}  // namespace isotact::detail
