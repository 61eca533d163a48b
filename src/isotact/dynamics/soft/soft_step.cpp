// A step of a SoftWorld.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/dynamics/model/detail/snapshot.h"
#include "isotact/dynamics/soft/detail/barrier.h"
#include "isotact/dynamics/soft/detail/soft_state.h"
#include "isotact/dynamics/soft/soft_world.h"

namespace isotact {

using detail::FieldPair;
using detail::RigidSide;
using detail::SoftBody;
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
  if (s.settings.contact && rigid != nullptr) s.check_rigid(*rigid);
  const std::uint64_t number = s.report.number + 1;
  const double time = static_cast<double>(number) * s.settings.step;
  Stopwatch watch;
  s.ask_deformers(time);
  s.report = {.number = number, .time = time};
  s.contacts.clear();
  if (s.settings.integrator == SoftIntegrator::kBarrier) {
    s.step_barrier(rigid);
    s.report.seconds.response = watch.lap();
    if (s.trouble) return s.report;
    s.sum_up();
    s.report.seconds.motion = watch.lap();
    s.find_flawed_body();
    return s.report;
  }
  s.move_bodies();
  s.report.seconds.motion = watch.lap();
  if (s.find_flawed_body()) return s.report;
  if (s.settings.contact) {
    s.look_at_rigid(rigid);
    s.find_pairs();
    s.report.seconds.broad = watch.lap();
    s.find_contacts(rigid);
    if (s.report.number == 1 && s.find_touching_start()) return s.report;
    s.report.seconds.narrow = watch.lap();
    s.find_islands();
    parallel_for(s.islands.size(), 1, s.settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) s.solve_island(s.islands[i]);
    });
    // Only now, since bodies look at rigid ones of other islands, too.
    parallel_for(s.islands.size(), 1, s.settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (const SoftId id : s.islands[i].bodies)
          if (!s.bodies[id].driven) s.push(s.bodies[id]);
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

// What touches has no plane between that could hold it apart: such bodies would hang in the air.
bool SoftWorld::State::find_touching_start() {
  constexpr double kTouch = 1e-3;  // margins
  for (std::size_t k = 0; k < pair_count; ++k) {
    const SoftPair& p = pairs[k];
    const double least = kTouch * std::max(bodies[p.a].margin, bodies[p.b].margin);
    if (p.a == p.b) continue;
    for (const FeatureContact& c : p.near) {
      if (c.distance >= least) continue;
      trouble = {p.a, report.time,
                 fmt::format("soft bodies '{}' and '{}' touch each other at the start, at ({:.4g}, "
                             "{:.4g}, {:.4g}); leave a gap of {:.2g} m or more between them",
                             bodies[p.a].settings.name, bodies[p.b].settings.name, c.point_on_a.x,
                             c.point_on_a.y, c.point_on_a.z, 10 * least)};
      return true;
    }
  }
  return false;
}

namespace {

// No vertex ends outside of it.
Aabb compute_room_box(const SoftBody& b, double longest_way) {
  const double room = detail::compute_reach_around(b, longest_way);
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
    b.room = compute_room_box(b, longest_way);
    broad->update(i, b.room);
  }
  broad->step(settings.threads);
  pair_count = 0;
  const auto add = [&](SoftId a, SoftId b) {
    if (pair_count == pairs.size()) pairs.emplace_back();
    SoftPair& p = pairs[pair_count++];
    p.a = a;
    p.b = b;
    p.by_ways = false;
    p.margin = 1.5 * std::max(bodies[a].margin, bodies[b].margin);
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
  report.pairs += static_cast<std::uint32_t>(field_pairs.size());
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
      for (std::size_t i = begin; i < end; ++i) {
        SoftPair& pair = pairs[round[i]];
        pair.by_ways ? detail::find_on_paths(pair, bodies) : detail::find_near(pair, bodies);
      }
    });
}

namespace {

// Pairs of faces and points of a rigid body's surface. A row is made where a place of a face ends
// within one and a half margins of the surface, and a point is within the covering radius of
// where that is; but for the rigid body's own way.
void find_candidates(FieldPair& f, SoftBody& body, RigidSide& rigid, double step) {
  const double margin = 1.5 * body.margin + rigid.covering + length(rigid.velocity) * step;
  body.tree->set_positions(body.x0, body.x);
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
    if (world->points(f.rigid) == nullptr) continue;
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
  for (const FieldPair& f : field_pairs) {
    const std::uint32_t before = report.contacts;
    for (const SoftRow& r : f.rows) list(r);
    if (report.contacts > before) ++report.touching;
  }
  for (std::size_t k = 0; k < pair_count; ++k)
    if (touching[k] && pairs[k].a != pairs[k].b) ++report.touching;
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
      s.springs += detail::compute_elastic_energy(b);
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

namespace isotact {

using detail::SnapshotReader;
using detail::SnapshotWriter;
using detail::SoftBody;

SoftWorld::SoftWorld(const SoftWorldSettings& settings) : state_(std::make_unique<State>()) {
  if (!(settings.step > 0 && std::isfinite(settings.step)))
    throw Error(fmt::format("a time step of {} s, which should be positive", settings.step));
  if (!is_finite(settings.gravity)) throw Error("gravity is not finite");
  if (settings.contact_iterations < 1) throw Error("contacts need one iteration at least");
  if (settings.newton_steps < 1) throw Error("backward Euler needs one Newton step at least");
  if (settings.max_substeps < 1) throw Error("a step has one part at least");
  if (settings.cube && (is_empty(*settings.cube) || !is_finite(settings.cube->lower) ||
                        !is_finite(settings.cube->upper)))
    throw Error("the cube is empty or not finite");
  state_->settings = settings;
}
SoftWorld::SoftWorld(SoftWorld&&) noexcept = default;
SoftWorld& SoftWorld::operator=(SoftWorld&&) noexcept = default;
SoftWorld::~SoftWorld() = default;

SoftId SoftWorld::add_body(const SoftBodySettings& settings) {
  SoftBody body = detail::make_soft_body(settings, state_->settings);
  if (state_->settings.contact) {
    body.tree.emplace(body.x, body.topology.triangles);
    if (settings.self_contact) {
      detail::note_rest(body);
      for (const FeatureContact& c : body.near_at_rest)
        if (!(c.distance > 0))
          throw Error(fmt::format(
              "soft body '{}': parts of its mesh that share no vertex touch each other, at "
              "({:.4g}, "
              "{:.4g}, {:.4g}), so that self contact cannot keep them apart; weld the mesh",
              settings.name, c.point_on_a.x, c.point_on_a.y, c.point_on_a.z));
    }
    state_->broad->insert(body.box);
  }
  state_->bodies.push_back(std::move(body));
  return static_cast<SoftId>(state_->bodies.size() - 1);
}

const SoftWorldSettings& SoftWorld::settings() const { return state_->settings; }
std::size_t SoftWorld::body_count() const { return state_->bodies.size(); }
const SoftBodySettings& SoftWorld::body_settings(SoftId id) const {
  return state_->bodies[id].settings;
}
std::span<const Vec3> SoftWorld::positions(SoftId id) const { return state_->bodies[id].x; }
std::span<const Vec3> SoftWorld::velocities(SoftId id) const { return state_->bodies[id].v; }
std::span<Vec3> SoftWorld::positions(SoftId id) {
  state_->bodies[id].edited = true;
  return state_->bodies[id].x;
}
std::span<Vec3> SoftWorld::velocities(SoftId id) { return state_->bodies[id].v; }
const Aabb& SoftWorld::bounds(SoftId id) const { return state_->bodies[id].box; }
const Sphere& SoftWorld::bounding_sphere(SoftId id) const { return state_->bodies[id].ball; }
std::span<const double> SoftWorld::masses(SoftId id) const { return state_->bodies[id].mass; }
double SoftWorld::volume(SoftId id) const {
  return detail::compute_volume(state_->bodies[id], state_->bodies[id].x.data());
}
double SoftWorld::stable_step(SoftId id) const { return state_->bodies[id].stable_step; }
const SoftReport& SoftWorld::report() const { return state_->report; }
std::span<const SoftContact> SoftWorld::contacts() const { return state_->contacts; }
const std::optional<Trouble>& SoftWorld::trouble() const { return state_->trouble; }

// ---- snapshots ----------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kSoftMagic = 0x3154464f534f5349;  // "ISOSOFT1"

void write_body(SnapshotWriter& w, const SoftBody& b) {
  w.add_all(b.x);
  w.add_all(b.v);
  w.add_all(b.rest_area);
  w.add(static_cast<std::uint64_t>(b.springs.size()));
  for (const detail::SoftSpring& s : b.springs) w.add(s.rest);
  w.add(b.rest_volume);
  w.add(b.heading);
  w.add(b.drawn);
  w.add(static_cast<std::uint64_t>(b.started));
}

// What changes of a body, read before any is changed.
struct SavedBody {
  std::vector<Vec3> x{}, v{};
  std::vector<double> rest_area{}, rest{};
  double rest_volume = 0;
  Vec3 heading{};
  std::uint64_t drawn = 0;
  bool started = false;
};

SavedBody read_body(SnapshotReader& r, const SoftBody& b) {
  SavedBody s;
  r.take_all(s.x, b.x.size());
  r.take_all(s.v, b.v.size());
  r.take_all(s.rest_area, b.rest_area.size());
  r.take_all(s.rest, b.springs.size());
  s.rest_volume = r.take<double>();
  s.heading = r.take<Vec3>();
  s.drawn = r.take<std::uint64_t>();
  s.started = r.take<std::uint64_t>() != 0;
  return s;
}

void put_back(const SavedBody& s, SoftBody& b) {
  // Into the places that are there: others may have views of them.
  std::copy(s.x.begin(), s.x.end(), b.x.begin());
  std::copy(s.v.begin(), s.v.end(), b.v.begin());
  b.x0 = b.x;
  b.rest_area = s.rest_area;
  for (std::size_t i = 0; i < s.rest.size(); ++i) b.springs[i].rest = s.rest[i];
  b.rest_volume = s.rest_volume;
  b.heading = s.heading;
  b.drawn = s.drawn;
  b.started = s.started;
  detail::update_bounds(b);
}

}  // namespace

std::vector<std::byte> SoftWorld::save() const {
  // Candidates are found again, here and where the snapshot is restored: the same bytes follow.
  if (state_->barrier) state_->barrier->system.lower.clear();
  SnapshotWriter w;
  w.add(kSoftMagic);
  w.add(state_->report.number);
  w.add(state_->report.time);
  w.add_all(state_->last_poses);
  w.add(static_cast<std::uint64_t>(state_->bodies.size()));
  for (const SoftBody& b : state_->bodies) write_body(w, b);
  return std::move(w.bytes);
}

void SoftWorld::restore(std::span<const std::byte> snapshot) {
  SnapshotReader r(snapshot);
  if (r.take<std::uint64_t>() != kSoftMagic)
    throw Error("these bytes are no snapshot of soft bodies");
  SoftReport report;
  report.number = r.take<std::uint64_t>();
  report.time = r.take<double>();
  std::vector<Pose> poses;
  r.take_all(poses, std::nullopt);
  const auto count = r.take<std::uint64_t>();
  if (count != state_->bodies.size())
    throw Error(fmt::format("the snapshot has {} soft bodies, and the world {}", count,
                            state_->bodies.size()));
  std::vector<SavedBody> saved;
  for (const SoftBody& b : state_->bodies) saved.push_back(read_body(r, b));
  if (!r.is_done()) throw Error("the snapshot is longer than it should be");
  for (std::size_t i = 0; i < saved.size(); ++i) put_back(saved[i], state_->bodies[i]);
  state_->last_poses = std::move(poses);
  state_->report = report;
  state_->barrier.reset();
  state_->contacts.clear();
  state_->trouble.reset();
}

std::uint64_t SoftWorld::hash() const { return hash_bytes(save()); }

}  // namespace isotact
