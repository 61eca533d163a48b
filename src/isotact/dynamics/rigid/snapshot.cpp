// The bytes of a world's snapshot.
#include "isotact/dynamics/model/detail/snapshot.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr std::uint64_t kMagic = 0x3750414e534f5349;  // "ISOSNAP7"

// Who sleeps may have been moved since the last step, and wakes up in the next.
enum class SavedRest : std::uint32_t { kAwake, kAsleep, kMoved };

using Writer = detail::SnapshotWriter;
using Reader = detail::SnapshotReader;

void write_vec(Writer& w, const Vec3& v) {
  w.add(v.x);
  w.add(v.y);
  w.add(v.z);
}
Vec3 read_vec(Reader& r) {
  const auto x = r.take<double>(), y = r.take<double>();
  return {x, y, r.take<double>()};
}
void write_quat(Writer& w, const Quat& q) {
  w.add(q.w);
  write_vec(w, {q.x, q.y, q.z});
}
Quat read_quat(Reader& r) {
  const auto w = r.take<double>();
  const Vec3 v = read_vec(r);
  return {w, v.x, v.y, v.z};
}

void write_contact(Writer& w, const Contact& c) {
  for (const Vec3* v : {&c.position, &c.point_on_a, &c.point_on_b, &c.normal}) write_vec(w, *v);
  w.add(c.depth);
  w.add(static_cast<std::uint32_t>(c.sampled_by));
  w.add(c.point);
}
Contact read_contact(Reader& r) {
  Contact c;
  for (Vec3* v : {&c.position, &c.point_on_a, &c.point_on_b, &c.normal}) *v = read_vec(r);
  c.depth = r.take<double>();
  c.sampled_by = r.take<std::uint32_t>() == 0 ? Body::kA : Body::kB;
  c.point = r.take<std::uint32_t>();
  return c;
}

void write_matrix(Writer& w, const Mat3& m) {
  for (const Vec3& row : m.rows) write_vec(w, row);
}
Mat3 read_matrix(Reader& r) {
  Mat3 m;
  for (Vec3& row : m.rows) row = read_vec(r);
  return m;
}

void write_push(Writer& w, const detail::ContactPush& p) {
  write_vec(w, p.place);
  for (const Wrench* f : {&p.push, &p.normal_response}) {
    write_vec(w, f->linear);
    write_vec(w, f->angular);
  }
  for (const SpatialMatrix* m : {&p.response, &p.slide})
    for (const Mat3* part : {&m->ll, &m->la, &m->aa}) write_matrix(w, *part);
  w.add(p.normal);
  w.add(p.found_normal);
  w.add(p.taken);
  w.add(p.pushed);
  w.add(p.held_count);
  for (std::uint32_t i = 0; i < p.held_count; ++i) {
    write_vec(w, p.held[i].place);
    write_vec(w, p.held[i].normal);
    w.add(p.held[i].allowed);
  }
}
detail::ContactPush read_push(Reader& r, const BodyPair& pair) {
  detail::ContactPush p{.a = pair.a, .b = pair.b};
  p.place = read_vec(r);
  for (Wrench* f : {&p.push, &p.normal_response}) {
    f->linear = read_vec(r);
    f->angular = read_vec(r);
  }
  for (SpatialMatrix* m : {&p.response, &p.slide})
    for (Mat3* part : {&m->ll, &m->la, &m->aa}) *part = read_matrix(r);
  p.normal = r.take<double>();
  p.found_normal = r.take<double>();
  p.taken = r.take<double>();
  p.pushed = r.take<double>();
  p.held_count = r.take<std::uint32_t>();
  if (p.held_count > detail::kMaxHeldPoints) throw Error("the snapshot holds too many points");
  for (std::uint32_t i = 0; i < p.held_count; ++i) {
    const Vec3 place = read_vec(r), normal = read_vec(r);
    p.held[i] = {place, normal, r.take<double>()};
  }
  return p;
}

BodyPair read_body_pair(Reader& r, std::size_t bodies) {
  BodyPair pair;
  pair.a = r.take<std::uint32_t>();
  pair.b = r.take<std::uint32_t>();
  if (pair.a >= pair.b || pair.b >= bodies)
    throw Error("the snapshot has a pair of bodies that are not there");
  return pair;
}

void write_pair(Writer& w, const PairState& p) {
  w.add(p.pair.a);
  w.add(p.pair.b);
  write_vec(w, p.impulse);
  write_push(w, p.push);
  w.add(p.points);
  w.add(static_cast<std::uint32_t>(p.touches));
  w.add(p.energy);
  w.add(p.stored);
  w.add(p.carried);
  // Of pairs that sleep, which are not looked at again.
  w.add(p.sticking);
  w.add(p.area);
  w.add(p.depth);
  write_contact(w, p.contact);
  for (const auto& sticks : p.sticks) {
    w.add(static_cast<std::uint64_t>(sticks.size()));
    for (const PointStick& s : sticks) {
      w.add(static_cast<std::uint64_t>(s.point));
      write_vec(w, s.drag);
      write_vec(w, s.side);
      w.add(s.plane);
    }
  }
}
PairState read_pair(Reader& r, std::size_t bodies) {
  PairState p;
  p.pair = read_body_pair(r, bodies);
  p.impulse = read_vec(r);
  p.push = read_push(r, p.pair);
  p.points = r.take<std::uint32_t>();
  p.touches = r.take<std::uint32_t>() != 0;
  p.energy = r.take<double>();
  p.stored = r.take<double>();
  p.carried = r.take<double>();
  p.sticking = r.take<std::uint32_t>();
  p.area = r.take<double>();
  p.depth = r.take<double>();
  p.contact = read_contact(r);
  p.angular_impulse = cross(p.contact.position, p.impulse);
  for (auto& sticks : p.sticks) {
    const std::uint64_t n = r.take_count(64);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto point = static_cast<std::uint32_t>(r.take<std::uint64_t>());
      const Vec3 drag = read_vec(r), side = read_vec(r);
      sticks.push_back({point, drag, side, r.take<double>()});
    }
  }
  return p;
}

void write_joint(Writer& w, const JointSettings& j) {
  w.add(static_cast<std::uint32_t>(j.kind));
  w.add(j.a);
  w.add(j.b);
  for (const Pose* p : {&j.a_from_joint, &j.b_from_joint}) {
    write_quat(w, p->rotation);
    write_vec(w, p->translation);
  }
  w.add(static_cast<std::uint32_t>(j.motor.has_value()));
  if (j.motor) {
    w.add(j.motor->velocity);
    w.add(j.motor->max_force);
  }
  w.add(static_cast<std::uint32_t>(j.limits.has_value()));
  if (j.limits) {
    w.add(j.limits->lower);
    w.add(j.limits->upper);
  }
  w.add(j.friction);
  w.add(static_cast<std::uint32_t>(j.may_touch));
}
JointSettings read_joint(Reader& r, std::size_t bodies) {
  JointSettings j;
  const auto kind = r.take<std::uint32_t>();
  if (kind > static_cast<std::uint32_t>(JointKind::kFixed))
    throw Error("the snapshot has a joint of an unknown kind");
  j.kind = static_cast<JointKind>(kind);
  j.a = r.take<std::uint32_t>();
  j.b = r.take<std::uint32_t>();
  for (Pose* p : {&j.a_from_joint, &j.b_from_joint}) {
    p->rotation = read_quat(r);
    p->translation = read_vec(r);
  }
  if (r.take<std::uint32_t>() != 0) {
    const auto velocity = r.take<double>();
    j.motor = Motor{velocity, r.take<double>()};
  }
  if (r.take<std::uint32_t>() != 0) {
    const auto lower = r.take<double>();
    j.limits = JointLimits{lower, r.take<double>()};
  }
  j.friction = r.take<double>();
  j.may_touch = r.take<std::uint32_t>() != 0;
  detail::check_joint(j, bodies);
  return j;
}

// What users may change between steps, besides bodies.
struct Links {
  std::vector<JointSettings> joints{};
  std::map<BodyPair, ContactMaterial> materials{};
  std::vector<BodyPair> ignored{};
};
void write_links(Writer& w, const std::vector<JointSettings>& joints,
                 const std::map<BodyPair, ContactMaterial>& materials,
                 const std::vector<BodyPair>& ignored) {
  w.add(static_cast<std::uint64_t>(joints.size()));
  for (const JointSettings& j : joints) write_joint(w, j);
  w.add(static_cast<std::uint64_t>(materials.size()));
  for (const auto& [pair, m] : materials) {
    w.add(pair.a);
    w.add(pair.b);
    for (const double x : {m.stiffness, m.damping, m.friction, m.stick_stiffness, m.stick_damping})
      w.add(x);
  }
  w.add(static_cast<std::uint64_t>(ignored.size()));
  for (const BodyPair& pair : ignored) {
    w.add(pair.a);
    w.add(pair.b);
  }
}
Links read_links(Reader& r, std::size_t bodies) {
  Links links;
  const std::uint64_t joints = r.take_count(100);
  for (std::uint64_t i = 0; i < joints; ++i) links.joints.push_back(read_joint(r, bodies));
  const std::uint64_t materials = r.take_count(48);
  for (std::uint64_t i = 0; i < materials; ++i) {
    ContactMaterial& m = links.materials[read_body_pair(r, bodies)];
    for (double* x : {&m.stiffness, &m.damping, &m.friction, &m.stick_stiffness, &m.stick_damping})
      *x = r.take<double>();
    detail::check_material(m);
  }
  const std::uint64_t ignored = r.take_count(8);
  for (std::uint64_t i = 0; i < ignored; ++i) {
    links.ignored.push_back(read_body_pair(r, bodies));
    if (i > 0 && !(links.ignored[i - 1] < links.ignored[i]))
      throw Error("the ignored pairs of the snapshot are not in order");
  }
  return links;
}

}  // namespace

std::vector<std::byte> World::save() const {
  Writer w;
  w.add(kMagic);
  w.add(state_->report.number);
  w.add(state_->report.time);
  w.add(state_->energy_start);
  w.add(state_->potential_start);
  w.add(state_->bound_energy());
  w.add(static_cast<std::uint64_t>(state_->bodies.size()));
  for (const WorldBody& b : state_->bodies) {
    write_vec(w, b.body.state.center);
    write_quat(w, b.body.state.rotation);
    write_vec(w, b.body.state.momentum);
    write_vec(w, b.body.state.angular_momentum);
    write_vec(w, b.load.force);
    write_vec(w, b.load.torque);
    write_quat(w, b.target.rotation);
    write_vec(w, b.target.translation);
    w.add(static_cast<std::uint32_t>(b.target_turn ? 1 : 0));
    write_vec(w, b.target_turn.value_or(Vec3{}));
    w.add(b.quiet);
    w.add(static_cast<std::uint32_t>(!b.asleep                 ? SavedRest::kAwake
                                     : b.slept == b.body.state ? SavedRest::kAsleep
                                                               : SavedRest::kMoved));
  }
  w.add(static_cast<std::uint64_t>(state_->pairs.size()));
  for (const PairState& p : state_->pairs) write_pair(w, p);
  write_links(w, state_->joints, state_->materials, state_->ignored);
  return std::move(w.bytes);
}

void World::restore(std::span<const std::byte> snapshot) {
  Reader r(snapshot);
  if (r.take<std::uint64_t>() != kMagic) throw Error("these bytes are no snapshot of a world");
  StepReport report;
  report.number = r.take<std::uint64_t>();
  report.time = r.take<double>();
  const auto energy_start = r.take<double>(), potential_start = r.take<double>();
  const auto energy_bound = r.take<double>();
  const auto bodies = r.take<std::uint64_t>();
  if (bodies != state_->bodies.size())
    throw Error(
        fmt::format("the snapshot has {} bodies, and the world {}", bodies, state_->bodies.size()));
  std::vector<WorldBody> restored = state_->bodies;
  for (WorldBody& b : restored) {
    b.body.state.center = read_vec(r);
    b.body.state.rotation = read_quat(r);
    b.body.state.momentum = read_vec(r);
    b.body.state.angular_momentum = read_vec(r);
    b.load.force = read_vec(r);
    b.load.torque = read_vec(r);
    b.target.rotation = read_quat(r);
    b.target.translation = read_vec(r);
    const bool has_turn = r.take<std::uint32_t>() != 0;
    b.target_turn = read_vec(r);
    if (!has_turn) b.target_turn.reset();
    b.quiet = r.take<double>();
    const auto rest = static_cast<SavedRest>(r.take<std::uint32_t>());
    b.asleep = rest != SavedRest::kAwake && b.is_dynamic();
    b.slept = b.body.state;
    if (rest == SavedRest::kMoved) b.slept.rotation = {0, 0, 0, 0};  // that of no body
  }
  std::vector<PairState> pairs;
  const std::uint64_t n = r.take_count(100);
  for (std::uint64_t i = 0; i < n; ++i) {
    pairs.push_back(read_pair(r, restored.size()));
    if (i > 0 && !(pairs[i - 1].pair < pairs[i].pair))
      throw Error("the pairs of the snapshot are not in order");
  }
  Links links = read_links(r, restored.size());
  if (!r.is_done()) throw Error("the snapshot is longer than it should be");
  state_->bodies = std::move(restored);
  state_->pairs = std::move(pairs);
  state_->joints = std::move(links.joints);
  state_->materials = std::move(links.materials);
  state_->ignored = std::move(links.ignored);
  state_->report = report;
  state_->energy_start = energy_start;
  state_->potential_start = potential_start;
  state_->energy_bound = energy_bound;
  state_->report.energies = state_->energies();
  state_->contacts.clear();
  state_->trouble.reset();
}

std::uint64_t World::hash() const { return hash_bytes(save()); }

}  // namespace isotact
