#include "isotact/dynamics/rigid/world.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/dynamics/model/detail/snapshot.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact {

using detail::PairState;
using detail::WorldBody;

namespace {

constexpr double kImplicitStiffness = 100.0;  // K h^2 / m, of the whole surface
constexpr double kExplicitStiffness = 0.25;
constexpr double kContactShare = 0.1;   // of a surface that touches, for the damping ratio
constexpr double kMostDamping = 1;      // C h / m, of the whole surface, for explicit steps
constexpr double kNearContact = 0.05;   // of a cell: as good as touching
constexpr double kStickDamping = 0.25;  // of the damping

void check(const WorldSettings& s) {
  if (!(s.step > 0 && std::isfinite(s.step)))
    throw Error(fmt::format("a time step of {} s, which should be positive", s.step));
  if (!is_finite(s.gravity)) throw Error("gravity is not finite");
  if (!(s.sleep_speed >= 0)) throw Error("the speed of sleep should not be negative");
  if (!(s.energy_factor > 1)) throw Error("the energy factor should be more than 1");
  if (s.forces.midpoints < 1) throw Error("quadrature needs one midpoint at least");
  if (!(s.force_tolerance > 0)) throw Error("the forces' tolerance should be positive");
  if (s.force_rounds < 1) throw Error("forces need one round at least");
  if (!(s.forces.drag_share >= 0 && s.forces.drag_share <= 1))
    throw Error("the share of drag should be from 0 to 1");
  if (!(s.forces.tolerance > 0)) throw Error("the quadrature's tolerance should be positive");
}

void check(const SurfaceMaterial& m, const std::string& name) {
  const bool good = m.stiffness >= 0 && std::isfinite(m.stiffness) && m.damping_ratio >= 0 &&
                    std::isfinite(m.damping_ratio) && m.friction >= 0 &&
                    std::isfinite(m.friction) && m.restitution >= 0 && m.restitution <= 1;
  if (!good) throw Error(fmt::format("body '{}': its material has a number out of range", name));
}

// Of the surface that the points cover.
Aabb box_of(const PointSphereTree& tree) {
  Aabb box;
  for (std::uint32_t i = 0; i < tree.point_count(); ++i) extend(box, to_double(tree.point(i)));
  const double around = tree.covering_radius();
  return {box.lower - Vec3{around, around, around}, box.upper + Vec3{around, around, around}};
}

void set_field(WorldBody& body, const Shape& shape, const WorldSettings& world) {
  if (!shape.can_have_field()) return;
  const SweptSettings swept{.traversal = world.traversal, .roots = world.roots, .threads = {1}};
  SweptSettings first = swept;
  first.mode = Mode::kFirst;
  first.traversal = ShellTraversal::kTree;
  first.roots = RootSearch::kAll;
  first.path_tolerance = 0.5;  // what spins fast has long paths
  body.all = shape.swept_tracer(swept);
  body.first = shape.swept_tracer(first);
  SweptSettings near = swept;
  near.roots = RootSearch::kAll;
  near.margin = kNearContact * shape.cell();
  body.near = shape.swept_tracer(near);
  const Aabb box = shape.any_field().bounds();
  body.inner_depth = -shape.any_field().range(box).lower;
  body.ball_radius = length(extent(box)) / 2;
  if (std::isfinite(body.ball_radius)) {
    body.ball_center = center(box);
    body.box = box;
  } else {
    body.ball_radius = std::numeric_limits<double>::infinity();
  }
}

void set_points(WorldBody& body, const PointSphereTree& tree) {
  body.points = tree;
  const Sphere ball = ball_of(tree);
  body.ball_center = ball.center;
  body.ball_radius = ball.radius + tree.covering_radius();
  body.box = box_of(tree);
  body.area = tree.header().surface_area;
}

BodyPair pair_of(BodyId a, BodyId b) { return a < b ? BodyPair{a, b} : BodyPair{b, a}; }

}  // namespace

ContactMaterial pair_material(const PairSides& s) {
  // Of infinite masses one of them may be.
  const double mass = 1 / (1 / s.mass_a + 1 / s.mass_b);
  const bool implicit = s.solve != ForceSolve::kExplicit;
  const double bearable =
      (implicit ? kImplicitStiffness : kExplicitStiffness) * mass / (s.step * s.step * s.area);
  const auto stiffness_of = [&](const SurfaceMaterial& m) {
    return m.stiffness > 0 ? m.stiffness : 2 * bearable;  // two in a row: as bearable
  };
  ContactMaterial material;
  material.stiffness = 1 / (1 / stiffness_of(s.a) + 1 / stiffness_of(s.b));
  // C = 2 zeta sqrt(K m) of what usually touches; for explicit steps no more than the whole surface
  // bears, and no less than the spring asks for.
  const double ratio = (s.a.damping_ratio + s.b.damping_ratio) / 2;
  const double critical = 2 * std::sqrt(material.stiffness * mass / (kContactShare * s.area));
  material.damping = ratio * critical;
  if (!implicit)
    material.damping = std::max(std::min(material.damping, kMostDamping * mass / (s.step * s.area)),
                                0.75 * material.stiffness * s.step);
  material.stick_damping = kStickDamping * material.damping;
  material.friction = std::sqrt(s.a.friction * s.b.friction);
  return material;
}

World::World(const WorldSettings& settings) : state_(std::make_unique<State>()) {
  check(settings);
  state_->settings = settings;
}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

BodyId World::add_body(const BodySettings& settings) {
  WorldBody body{.settings = settings};
  const std::string& name = settings.name;
  check(settings.material, name);
  body.body.kind = settings.kind;
  body.body.mass = settings.mass;
  if (settings.kind == BodyKind::kDynamic)
    body.body.mass =
        make_body_mass(settings.mass.mass, settings.mass.center, settings.mass.inertia);
  set_pose(body.body, settings.pose);
  set_velocity(body.body, settings.velocity, settings.angular_velocity);
  if (settings.kind != BodyKind::kDynamic)
    body.body.state.momentum = body.body.state.angular_momentum = {};
  if (const auto flaw = find_flaw(body.body.state))
    throw Error(fmt::format("body '{}': {}", name, *flaw));
  body.target = world_from_body(body.body);

  body.ball_center = settings.mass.center;
  if (settings.shape) set_field(body, *settings.shape, state_->settings);
  if (settings.shape && settings.shape->tree()) set_points(body, *settings.shape->tree());
  state_->bodies.push_back(std::move(body));
  return static_cast<BodyId>(state_->bodies.size() - 1);
}

void World::State::make_points() {
  if (complete_bodies == bodies.size() || settings.contact == ContactRule::kOff) return;
  const auto can_be_made = [](const WorldBody& b) {
    return b.is_dynamic() && !b.has_points() && b.has_field() &&
           b.settings.shape->can_have_points();
  };
  for (WorldBody& body : bodies) {
    if (!can_be_made(body)) continue;
    const bool meets_another = std::any_of(bodies.begin(), bodies.end(), [&](const WorldBody& b) {
      return &b != &body && b.has_field() && !b.has_points();
    });
    if (body.settings.shape->solid() || meets_another)
      set_points(body, body.settings.shape->points());
  }
  check_roles();
  complete_bodies = bodies.size();
}

// A pair without a role has two bodies without a field, or two without points: most worlds have one
// such body at most.
void World::State::check_roles() const {
  std::vector<BodyId> without_field, without_points;
  for (BodyId id = 0; id < bodies.size(); ++id) {
    const WorldBody& b = bodies[id];
    if (!b.settings.shape) continue;
    if (!b.has_field()) without_field.push_back(id);
    if (!b.has_points() && b.has_field()) without_points.push_back(id);
  }
  const auto find_pair = [&](std::span<const BodyId> some) -> std::optional<BodyPair> {
    for (std::size_t i = 0; i < some.size(); ++i)
      for (std::size_t j = i + 1; j < some.size(); ++j)
        if ((bodies[some[i]].is_dynamic() || bodies[some[j]].is_dynamic()) &&
            !std::binary_search(ignored.begin(), ignored.end(), BodyPair{some[i], some[j]}))
          return BodyPair{some[i], some[j]};
    return {};
  };
  if (const auto pair = find_pair(without_field))
    throw Error(fmt::format("bodies '{}' and '{}' cannot touch: both are pointshells, and one "
                            "needs a field, unless the pair is ignored",
                            bodies[pair->a].settings.name, bodies[pair->b].settings.name),
                Hint::kField);
  if (const auto pair = find_pair(without_points))
    throw Error(fmt::format("bodies '{}' and '{}' cannot touch: both are without end, and one "
                            "needs points, unless the pair is ignored",
                            bodies[pair->a].settings.name, bodies[pair->b].settings.name),
                Hint::kBounds);
}

const WorldSettings& World::settings() const { return state_->settings; }
std::size_t World::body_count() const { return state_->bodies.size(); }
const RigidBody& World::body(BodyId id) const { return state_->bodies[id].body; }
RigidBody& World::body(BodyId id) { return state_->bodies[id].body; }
const BodySettings& World::body_settings(BodyId id) const { return state_->bodies[id].settings; }
const PointSphereTree* World::points(BodyId id) const {
  const WorldBody& body = state_->bodies[id];
  return body.has_points() ? &body.tree() : nullptr;
}
void World::add_load(BodyId id, const Load& load) { state_->bodies[id].load += load; }
void World::move_to(BodyId id, const Pose& world_from_body) {
  assert(state_->bodies[id].body.kind == BodyKind::kKinematic);
  state_->bodies[id].target = {normalized(world_from_body.rotation), world_from_body.translation};
}
void World::set_pair_material(BodyId a, BodyId b, const ContactMaterial& material) {
  state_->materials[pair_of(a, b)] = material;
  state_->wake_pair(a, b);
}
void World::ignore_pair(BodyId a, BodyId b) {
  auto& ignored = state_->ignored;
  const BodyPair pair = pair_of(a, b);
  const auto at = std::lower_bound(ignored.begin(), ignored.end(), pair);
  if (at == ignored.end() || *at != pair) ignored.insert(at, pair);
  state_->wake_pair(a, b);
}
bool World::is_asleep(BodyId id) const { return state_->bodies[id].asleep; }
void World::wake(BodyId id) { state_->wake(id); }
std::size_t World::add_joint(const JointSettings& j) {
  const std::size_t bodies = state_->bodies.size();
  if (j.a >= bodies || j.b >= bodies) throw Error("a joint of bodies that are not there");
  if (j.a == j.b) throw Error("a joint of a body with itself");
  const bool drives = j.kind == JointKind::kHinge || j.kind == JointKind::kSlider;
  if (!drives && (j.motor || j.limits))
    throw Error(fmt::format("a {} joint has no motor and no limits", isotact::name(j.kind)));
  if (j.motor && !(std::isfinite(j.motor->velocity) && j.motor->max_force >= 0))
    throw Error("a motor's velocity is not finite, or its force is negative");
  if (j.limits && !(j.limits->lower <= j.limits->upper))
    throw Error("the lower limit of a joint is above the upper one");
  JointSettings joint = j;
  for (Pose* frame : {&joint.a_from_joint, &joint.b_from_joint}) {
    if (!is_finite(frame->translation) || !(std::abs(length_sq(frame->rotation) - 1) < 1e-5))
      throw Error("a joint's frame is not finite, or its quaternion not a unit one");
    frame->rotation = normalized(frame->rotation);
  }
  if (!j.may_touch) ignore_pair(j.a, j.b);
  state_->joints.push_back(joint);
  state_->wake_pair(j.a, j.b);
  return state_->joints.size() - 1;
}
std::span<const JointSettings> World::joints() const { return state_->joints; }
void World::set_motor(std::size_t joint, const Motor& motor) {
  JointSettings& j = state_->joints[joint];
  j.motor = motor;
  state_->wake_pair(j.a, j.b);
}
double World::joint_position(std::size_t joint) const {
  const JointSettings& j = state_->joints[joint];
  return detail::compute_joint_position(j, body(j.a), body(j.b));
}

const StepReport& World::report() const { return state_->report; }
std::span<const PairContact> World::contacts() const { return state_->contacts; }
const std::optional<Trouble>& World::trouble() const { return state_->trouble; }
Energies World::energies() const { return state_->energies(); }

// ---- snapshots ----------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kMagic = 0x3450414e534f5349;  // "ISOSNAP4"

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
  w.add(p.stored);
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
  p.stored = r.take<double>();
  return p;
}

void write_pair(Writer& w, const PairState& p) {
  w.add(p.pair.a);
  w.add(p.pair.b);
  write_vec(w, p.impulse);
  write_push(w, p.push);
  w.add(p.points);
  w.add(static_cast<std::uint32_t>(p.touches));
  w.add(p.energy);
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
    }
  }
}
PairState read_pair(Reader& r, std::size_t bodies) {
  PairState p;
  p.pair.a = r.take<std::uint32_t>();
  p.pair.b = r.take<std::uint32_t>();
  if (p.pair.a >= p.pair.b || p.pair.b >= bodies)
    throw Error("the snapshot has a pair of bodies that are not there");
  p.impulse = read_vec(r);
  p.push = read_push(r, p.pair);
  p.points = r.take<std::uint32_t>();
  p.touches = r.take<std::uint32_t>() != 0;
  p.energy = r.take<double>();
  p.sticking = r.take<std::uint32_t>();
  p.area = r.take<double>();
  p.depth = r.take<double>();
  p.contact = read_contact(r);
  p.angular_impulse = cross(p.contact.position, p.impulse);
  for (auto& sticks : p.sticks) {
    const std::uint64_t n = r.take_count(32);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto point = static_cast<std::uint32_t>(r.take<std::uint64_t>());
      sticks.push_back({point, read_vec(r)});
    }
  }
  return p;
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
    w.add(b.quiet);
    w.add(static_cast<std::uint32_t>(!b.asleep                 ? SavedRest::kAwake
                                     : b.slept == b.body.state ? SavedRest::kAsleep
                                                               : SavedRest::kMoved));
  }
  w.add(static_cast<std::uint64_t>(state_->pairs.size()));
  for (const PairState& p : state_->pairs) write_pair(w, p);
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
  if (!r.is_done()) throw Error("the snapshot is longer than it should be");
  state_->bodies = std::move(restored);
  state_->pairs = std::move(pairs);
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
