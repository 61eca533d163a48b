// A step of a SoftWorld.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "isotact/dynamics/soft/detail/soft_state.h"

namespace isotact {

using detail::FieldPair;
using detail::RigidSide;
using detail::SoftBody;
using detail::SoftIsland;
using detail::SoftPair;
using detail::SoftRow;

namespace {

using SoftClock = std::chrono::steady_clock;

class Stopwatch {
 public:
  double lap() {
    const auto now = SoftClock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  SoftClock::time_point start_ = SoftClock::now();
};

}  // namespace

const SoftReport& SoftWorld::step(World* rigid) {
  State& s = *state_;
  if (s.trouble) return s.report;
  const std::uint64_t number = s.report.number + 1;
  const double time = static_cast<double>(number) * s.settings.step;
  Stopwatch watch;
  s.ask_deformers(time);
  s.report = {.number = number, .time = time};
  s.contacts.clear();
  s.move_bodies();
  s.report.seconds.motion = watch.lap();
  if (s.find_flawed_body()) return s.report;
  if (s.settings.contact) {
    s.look_at_rigid(rigid);
    s.find_pairs();
    s.report.seconds.broad = watch.lap();
    s.find_contacts(rigid);
    s.report.seconds.narrow = watch.lap();
    s.find_islands();
    parallel_for(s.islands.size(), 1, s.settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) s.solve_island(s.islands[i]);
    });
    if (s.find_flawed_body()) return s.report;
    s.hold_apart();
    s.list_contacts();
    if (rigid != nullptr) s.add_loads(rigid);
    s.report.seconds.response = watch.lap();
  }
  s.sum_up();
  s.report.seconds.motion += watch.lap();
  s.find_flawed_body();
  return s.report;
}

// Before anything is changed: they may throw.
void SoftWorld::State::ask_deformers(double time) {
  for (SoftBody& b : bodies) {
    if (!b.driven) continue;
    b.predicted = b.x;
    b.settings.deformer(time, b.predicted);
  }
}

void SoftWorld::State::move_bodies() {
  for (SoftBody& b : bodies) {
    std::swap(b.x, b.x0);
    std::swap(b.box, b.box0);
    if (b.edited) {
      b.box0 = {};
      for (const Vec3& x : b.x0) extend(b.box0, x);
    }
    if (b.driven) b.x = b.predicted;
  }
  const detail::SoftMotion motion{.step = settings.step,
                                  .time = report.time,
                                  .gravity = settings.gravity,
                                  .integrator = settings.integrator,
                                  .newton_steps = settings.newton_steps,
                                  .cube = settings.cube};
  parallel_for(bodies.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) detail::move(bodies[i], motion);
  });
  for (const SoftBody& b : bodies)
    report.substeps = std::max(report.substeps, static_cast<std::uint32_t>(b.substeps));
}

// Places that are not finite, or a body that has flown apart.
bool SoftWorld::State::find_flawed_body() {
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const SoftBody& b = bodies[k];
    if (!b.broken) continue;
    const char* likely = b.driven ? "its deformer gave places that are not finite"
                                  : "a smaller time step, softer springs or more damping may help";
    trouble = {static_cast<SoftId>(k), report.time,
               fmt::format("soft body '{}' at {:.6g} s: vertices have flown apart, or to places "
                           "that are not finite; {}",
                           b.settings.name, report.time, likely)};
    return true;
  }
  return false;
}

namespace {

Mat3 turned(const Mat3& inertia, const Quat& rotation) {
  const Mat3 r = to_matrix(rotation);
  return r * inertia * transpose(r);
}

Quat turned_by(const Quat& rotation, const Vec3& turn) {
  return normalized(rotation_about(turn, length(turn)) * rotation);
}

// Where it will be at its velocity and with what contacts change.
void predict(RigidSide& r, const RigidBody& body, double step) {
  RigidBody moved = body;
  moved.state.center = r.center + (r.velocity + r.dv) * step;
  moved.state.rotation = turned_by(body.state.rotation, (r.turning + r.dw) * step);
  r.next = world_from_body(moved);
}

void look_at_moving(RigidSide& r, const World& world, const Pose& last, double step) {
  const RigidBody& body = world.body(r.id);
  r.center = body.state.center;
  r.velocity = r.turning = r.dv = r.dw = {};
  if (body.kind == BodyKind::kDynamic) {
    r.inverse_mass = 1 / body.mass.mass;
    r.inverse_inertia = turned(body.mass.inverse_inertia, body.state.rotation);
    r.turning = angular_velocity(body);
    r.velocity = velocity(body);
    if (!world.is_asleep(r.id)) r.velocity += world.settings().gravity * step;
    predict(r, body, step);
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
    if (!r.field && (s.field || (s.shape && s.shape->field()))) {
      r.field = s.field ? *s.field : AnyField{*s.shape->field()};
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

namespace {

// No vertex ends outside of it.
Aabb find_room_box(const SoftBody& b, double longest_way) {
  const double room = detail::find_room(b, longest_way);
  const Vec3 around{room, room, room};
  Aabb box = b.box0;
  extend(box, b.box);
  return {box.lower - around, box.upper + around};
}

}  // namespace

void SoftWorld::State::find_pairs() {
  for (SoftId i = 0; i < bodies.size(); ++i) {
    SoftBody& b = bodies[i];
    b.mean_way = center(b.box) - center(b.box0);
    b.pushed = b.held = false;
    b.off = 0;
    b.near_rigid.clear();
    b.room = find_room_box(b, longest_way);
    broad->update(i, b.room);
  }
  broad->step(settings.threads);
  pair_count = 0;
  const auto add = [&](SoftId a, SoftId b) {
    if (pair_count == pairs.size()) pairs.emplace_back();
    SoftPair& p = pairs[pair_count++];
    p.a = a;
    p.b = b;
    p.margin = 1.5 * std::max(bodies[a].thickness, bodies[b].thickness);
  };
  for (const ObjectPair& p : broad->pairs())
    if (!bodies[p.a].driven || !bodies[p.b].driven) add(p.a, p.b);
  report.pairs = static_cast<std::uint32_t>(broad->pairs().size());
  for (SoftId i = 0; i < bodies.size(); ++i)
    if (bodies[i].settings.self_contact && !bodies[i].driven) add(i, i);
  field_pairs.clear();
  for (std::uint32_t j = 0; j < rigid.size(); ++j)
    for (SoftId i = 0; i < bodies.size(); ++i)
      if (rigid[j].field && !bodies[i].driven && detail::may_touch(bodies[i], rigid[j]))
        field_pairs.push_back({.body = i, .rigid = j});
}

namespace {

// Trees are fitted by those who search them, so that one may be searched by one thread at a time.
// Rounds of tasks that share none, in order.
struct Rounds {
  std::vector<std::uint32_t> busy{};  // by tree: the first round in which it is free
  std::vector<std::vector<std::uint32_t>> tasks{};

  void add(std::uint32_t task, std::size_t a, std::size_t b) {
    const std::uint32_t round = std::max(busy[a], busy[b]);
    if (round == tasks.size()) tasks.emplace_back();
    tasks[round].push_back(task);
    busy[a] = busy[b] = round + 1;
  }
};

}  // namespace

void SoftWorld::State::look_at_pairs(std::span<const std::uint32_t> numbers) {
  Rounds rounds;
  rounds.busy.resize(bodies.size());
  for (const std::uint32_t k : numbers) rounds.add(k, pairs[k].a, pairs[k].b);
  for (const auto& round : rounds.tasks)
    parallel_for(round.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) detail::find_near(pairs[round[i]], bodies);
    });
}

namespace {

// Pairs of faces and points of a rigid body's surface.
void find_candidates(FieldPair& f, SoftBody& body, RigidSide& rigid, double step) {
  const double margin =
      body.thickness + rigid.covering + body.reach + length(rigid.velocity) * step;
  body.tree->set_positions(body.x0);
  find_triangle_pairs(*body.tree, *rigid.tree, {.margin = margin}, f.candidates);
  std::sort(f.candidates.begin(), f.candidates.end());
}

}  // namespace

void SoftWorld::State::find_contacts(const World* world) {
  std::vector<std::uint32_t> numbers(pair_count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  look_at_pairs(numbers);
  pair_rows.resize(std::max(pair_rows.size(), pair_count));
  parallel_for(pair_count, 4, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      pair_rows[k].clear();
      detail::find_pair_rows(pairs[k], static_cast<std::uint32_t>(k), bodies, settings.step,
                             pair_rows[k]);
    }
  });
  for (FieldPair& f : field_pairs) {
    const auto& shape = world->body_settings(f.rigid).shape;
    if (!shape || !shape->tree()) continue;
    RigidSide& r = rigid[f.rigid];
    if (!r.placed) detail::place_points(r, *world);
    r.placed = true;
    find_candidates(f, bodies[f.body], r, settings.step);
  }
  parallel_for(field_pairs.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      FieldPair& f = field_pairs[k];
      SoftBody& b = bodies[f.body];
      detail::find_field_rows(b, rigid[f.rigid], settings.step, f.rows);
      detail::find_point_rows(b, rigid[f.rigid], settings.step, f.candidates, f.rows);
    }
  });
}

namespace {

std::uint32_t find_root(std::vector<std::uint32_t>& parent, std::uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// The lower one becomes the root.
void join(std::vector<std::uint32_t>& parent, std::uint32_t i, std::uint32_t j) {
  const std::uint32_t a = find_root(parent, i), b = find_root(parent, j);
  parent[std::max(a, b)] = std::min(a, b);
}

}  // namespace

void SoftWorld::State::find_islands() {
  const auto soft = static_cast<std::uint32_t>(bodies.size());
  std::vector<std::uint32_t> parent(soft + rigid.size());
  std::iota(parent.begin(), parent.end(), 0U);
  std::vector<bool> busy(soft);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pair_rows[k].empty()) continue;
    join(parent, pairs[k].a, pairs[k].b);
    busy[pairs[k].a] = busy[pairs[k].b] = true;
  }
  for (const FieldPair& f : field_pairs) {
    busy[f.body] = true;
    if (rigid[f.rigid].dynamic && !f.rows.empty()) join(parent, f.body, soft + f.rigid);
  }
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(parent.size(), kNone);
  islands.clear();
  const auto island_of = [&](std::uint32_t node) -> SoftIsland& {
    std::uint32_t& n = number[find_root(parent, node)];
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
    if (rigid[j].dynamic && number[find_root(parent, soft + j)] != kNone)
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
    const Vec3 center = r->center + r->velocity * settings.step;
    const Quat rotation = turned_by(r->now.rotation, r->turning * settings.step);
    const Vec3 origin = rotate(conjugate(r->now.rotation), r->now.translation - r->center);
    r->next = {rotation, center + rotate(rotation, origin)};
  }
  for (const SoftId id : island.bodies)
    if (!bodies[id].driven) push(bodies[id]);
}

namespace {

// A way made shorter ends between two places outside, which may be inside of what is bent.
void stay_outside(SoftBody& b, std::uint32_t i) {
  if (b.near_rigid.empty() || !(detail::find_depth(b.x[i], b.near_rigid) > 0)) return;
  if (!(detail::find_depth(b.x0[i], b.near_rigid) > 0)) b.x[i] = b.x0[i];
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
  // Margins grow by half at least, and hold any shorter way from the fourth round on.
  std::vector<std::uint32_t> again;
  for (int round = 0;; ++round) {
    again.clear();
    for (std::uint32_t k = 0; k < pair_count; ++k) {
      SoftPair& p = pairs[k];
      const SoftBody &a = bodies[p.a], &b = bodies[p.b];
      if (a.off + b.off < p.margin) continue;
      p.margin = std::max(1.5 * p.margin, 1.2 * (a.off + b.off));
      if (round >= 3) p.margin += 2 * (length(extent(a.room)) + length(extent(b.room)));
      again.push_back(k);
    }
    if (round > 0 && again.empty()) break;
    look_at_pairs(again);
    hold_islands(stay_outside);
  }
  for (const SoftBody& b : bodies) {
    if (b.near_rigid.empty() || !b.pushed) continue;
    for (const Vec3& x : b.x)
      report.depth = std::max(report.depth, detail::find_depth(x, b.near_rigid));
  }
}

// Bodies that hang together by what is near are held apart by one thread.
void SoftWorld::State::hold_islands(const detail::HoldCheck& check) {
  std::vector<std::uint32_t> parent(bodies.size());
  std::iota(parent.begin(), parent.end(), 0U);
  for (std::size_t k = 0; k < pair_count; ++k)
    if (!pairs[k].near.empty()) join(parent, pairs[k].a, pairs[k].b);
  islands.clear();
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(bodies.size(), kNone);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pairs[k].near.empty()) continue;
    const std::uint32_t root = find_root(parent, pairs[k].a);
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
  for (SoftBody& b : bodies) {
    if (!b.held) continue;
    b.held = false;
    detail::update_bounds(b);
    detail::update_off(b);
  }
}

void SoftWorld::State::list_contacts() {
  std::vector<bool> touching(pair_count);
  const auto list = [&](const SoftRow& r) {
    if (!(r.impulse > 0)) return;
    ++report.contacts;
    if (r.pair != detail::kNoPair) touching[r.pair] = true;
    contacts.push_back({r.place, r.normal, std::max(0.0, -r.gap)});
  };
  for (std::size_t k = 0; k < pair_count; ++k)
    for (const SoftRow& r : pair_rows[k]) list(r);
  for (const FieldPair& f : field_pairs)
    for (const SoftRow& r : f.rows) list(r);
  for (std::size_t k = 0; k < pair_count; ++k)
    if (touching[k] && pairs[k].a != pairs[k].b) ++report.touching;
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

void SoftWorld::State::sum_up() {
  struct Sums {
    double kinetic = 0, potential = 0, springs = 0;
  };
  if (!settings.energies) return;
  const auto map = [&](std::size_t begin, std::size_t end) {
    Sums s;
    for (std::size_t k = begin; k < end; ++k) {
      const SoftBody& b = bodies[k];
      if (b.driven) continue;
      Vec3 moment{};
      double kinetic = 0;
      for (std::size_t i = 0; i < b.x.size(); ++i) {
        kinetic += length_sq(b.v[i]) * b.mass[i];
        moment += b.x[i] * b.mass[i];
      }
      s.kinetic += kinetic / 2;
      if (!b.steered) s.potential -= dot(settings.gravity, moment);
      s.springs += detail::find_elastic_energy(b);
    }
    return s;
  };
  const Sums all = parallel_reduce(
      bodies.size(), 1, settings.threads, Sums{}, map, [](const Sums& a, const Sums& b) {
        return Sums{a.kinetic + b.kinetic, a.potential + b.potential, a.springs + b.springs};
      });
  report.kinetic = all.kinetic;
  report.potential = all.potential;
  report.springs = all.springs;
}

}  // namespace isotact
