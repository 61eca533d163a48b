#include "isotact/scene/run/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/trig.h"
#include "isotact/scene/run/detail/shape_load.h"

namespace isotact {

using detail::LoadedShape;

namespace {

constexpr double kMostReplayBytes = 2e9;
constexpr double kPlaneSize = 4;  // Half the side of the drawn part of a plane, in scene sizes.

// Colour-blind users can tell these colours apart (Okabe and Ito 2008, a little softer).
constexpr Colour kPalette[] = {{0x5b, 0x9b, 0xc8}, {0xe0, 0xa0, 0x3c}, {0x4a, 0xa8, 0x8c},
                               {0xc8, 0x78, 0xa8}, {0xd8, 0x6c, 0x4c}, {0x8c, 0x8c, 0xd0},
                               {0xc8, 0xbc, 0x50}};
constexpr Colour kStaticColour{0x96, 0x98, 0x9c};

// ---- values of scripts at a time
// -----------------------------------------------------------------

// The keys around a time, and the position between them.
struct Between {
  std::size_t before = 0, after = 0;
  double share = 0;
};
template <typename Key>
Between find_between(const std::vector<Key>& keys, double time) {
  const auto after = std::upper_bound(keys.begin(), keys.end(), time,
                                      [](double t, const Key& key) { return t < key.time; });
  if (after == keys.begin()) return {};
  const auto k = static_cast<std::size_t>(after - keys.begin());
  if (after == keys.end()) return {k - 1, k - 1, 0};
  return {k - 1, k, (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time)};
}

// Takes the shorter rotation.
Quat turn_towards(const Quat& from, const Quat& to, double share) {
  Quat q = to * conjugate(from);
  if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
  const Vec3 v{q.x, q.y, q.z};
  const double sine = length(v);
  if (sine < 1e-12) return from;
  return normalized(rotation_about(v, 2 * angle_of(sine, q.w) * share) * from);
}

Pose pose_at(const PoseScript& script, double time) {
  const Between b = find_between(script.keys, time);
  const Pose &from = script.keys[b.before].pose, &to = script.keys[b.after].pose;
  return {turn_towards(from.rotation, to.rotation, b.share),
          from.translation + (to.translation - from.translation) * b.share};
}

Pose pose_at(const SteadyScript& script, const Pose& start, double time) {
  const double t = std::clamp(time, script.from, script.until) - script.from;
  const double rate = length(script.angular_velocity);
  // Whole rotations are removed, since our sines are only for limited angles.
  const double angle = std::fmod(rate * t, 2 * kPi);
  const Quat turn = rate > 0 ? rotation_about(script.angular_velocity, angle) : Quat{};
  return {normalized(turn * start.rotation), start.translation + script.velocity * t};
}

Motor motor_at(const MotorScript& script, double time) {
  const Between b = find_between(script.keys, time);
  const Motor &from = script.keys[b.before].motor, &to = script.keys[b.after].motor;
  return {from.velocity + (to.velocity - from.velocity) * b.share,
          from.max_force + (to.max_force - from.max_force) * b.share};
}

// ---- a run --------------------------------------------------------------------------------------

WorldSettings world_settings(const Scene& scene, Threads threads) {
  WorldSettings settings = scene.world;
  settings.threads = threads;
  return settings;
}

std::string what_is(const Scene& scene, std::size_t shape) {
  if (!scene.shapes[shape].name.empty()) return fmt::format("shape '{}'", scene.shapes[shape].name);
  for (const SceneBody& body : scene.bodies)
    if (body.shape == shape) return fmt::format("the shape of body '{}'", body.name);
  return "a shape";
}

std::vector<LoadedShape> load_shapes(const Scene& scene, Threads threads,
                                     std::vector<std::string>& warnings) {
  std::vector<LoadedShape> all;
  for (std::size_t k = 0; k < scene.shapes.size(); ++k) {
    const bool used = std::any_of(scene.bodies.begin(), scene.bodies.end(),
                                  [&](const SceneBody& b) { return b.shape == k; });
    if (!used) {
      all.emplace_back();
      continue;
    }
    try {
      all.push_back(detail::load_shape(scene.shapes[k], threads));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", what_is(scene, k), error.what()));
    }
    for (const std::string& text : all.back().warnings)
      warnings.push_back(what_is(scene, k) + ": " + text);
  }
  return all;
}

BodyMass mass_of(const SceneBody& body, const LoadedShape& shape) {
  if (!shape.mass || shape.mass->status == MassStatus::kNoVolume)
    throw Error(
        fmt::format("body '{}': its shape encloses no volume, so that it has no mass; it "
                    "can be static or kinematic",
                    body.name));
  const double density = body.mass ? *body.mass / shape.mass->volume : body.density;
  return make_body_mass(*shape.mass, density);
}

BodySettings settings_of(const Scene& scene, const SceneBody& body,
                         const std::vector<LoadedShape>& shapes) {
  BodySettings s{.name = body.name,
                 .kind = body.kind,
                 .pose = body.pose,
                 .velocity = body.velocity,
                 .angular_velocity = body.angular_velocity,
                 .fast = body.fast};
  if (body.material) s.material = scene.materials[*body.material].surface;
  if (!body.shape) return s;
  const LoadedShape& shape = shapes[*body.shape];
  s.shape = shape.shape;
  if (body.kind == BodyKind::kDynamic) s.mass = mass_of(body, shape);
  return s;
}

JointSettings settings_of(const Scene& scene, const SceneJoint& joint) {
  const JointFrames frames = compute_joint_frames(
      scene.bodies[joint.a].pose, scene.bodies[joint.b].pose, joint.place, joint.axis);
  return {.kind = joint.kind,
          .a = static_cast<std::uint32_t>(joint.a),
          .b = static_cast<std::uint32_t>(joint.b),
          .a_from_joint = frames.a_from_joint,
          .b_from_joint = frames.b_from_joint,
          .motor = joint.motor,
          .limits = joint.limits,
          .friction = joint.friction,
          .may_touch = joint.may_touch};
}

// Two bodies touch if one has points and the other a field. A pair without either role, one of them
// dynamic, would pass through each other without any report. Bodies without a shape are meant to.
void refuse_ghosts(const Scene& scene, const World& world) {
  // Intersection fields need no points.
  if (scene.world.contact == ContactRule::kOff || scene.narrow_phase != NarrowPhase::kPoints)
    return;
  // The first body of each kind: with or without points, with or without a field.
  std::optional<BodyId> first[2][2], first_dynamic[2][2];
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const BodySettings& b = world.body_settings(id);
    if (!b.shape) continue;
    // The world makes points of analytic bodies that move freely.
    const bool made = b.shape->solid() && b.kind == BodyKind::kDynamic;
    const bool points = b.shape->tree() || made, field = b.shape->can_have_field();
    if (!first[points][field]) first[points][field] = id;
    if (b.kind == BodyKind::kDynamic && !first_dynamic[points][field])
      first_dynamic[points][field] = id;
  }
  const auto check = [&](const std::optional<BodyId>& a, const std::optional<BodyId>& b,
                         const char* what) {
    if (!a || !b || a == b) return;
    throw Error(
        fmt::format("bodies '{}' and '{}' could not touch, since neither has {}; give one "
                    "of their shapes {}",
                    world.body_settings(*a).name, world.body_settings(*b).name, what, what));
  };
  check(first_dynamic[0][1], first[0][1], "points");
  check(first_dynamic[1][0], first[1][0], "a field");
}

Colour colour_of(const Scene& scene, std::size_t k) {
  const SceneBody& body = scene.bodies[k];
  if (body.colour) return *body.colour;
  if (body.material && scene.materials[*body.material].colour)
    return *scene.materials[*body.material].colour;
  return body.kind == BodyKind::kStatic ? kStaticColour : kPalette[k % std::size(kPalette)];
}

// Moves the meshes into the replay. Planes get a part that is large compared with all other bodies.
void fill_looks(const Scene& scene, std::vector<LoadedShape>& shapes, Replay& replay) {
  Aabb all;
  for (const SceneBody& body : scene.bodies)
    if (body.shape)
      for (const Vec3f& p : shapes[*body.shape].look.positions)
        extend(all, transform_point(body.pose, to_double(p)));
  const double half = is_empty(all) ? kPlaneSize : kPlaneSize * length(extent(all));
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (shapes[k].is_endless)
      shapes[k].look = detail::draw_plane(
          std::get<PlaneField>(std::get<SceneField>(scene.shapes[k].source)), half);
    replay.meshes.push_back(std::move(shapes[k].look));
  }
  for (std::size_t k = 0; k < scene.bodies.size(); ++k) {
    const SceneBody& body = scene.bodies[k];
    ReplayBody look{.name = body.name, .kind = body.kind, .colour = colour_of(scene, k)};
    if (body.shape && !replay.meshes[*body.shape].triangles.empty()) look.mesh = body.shape;
    look.is_endless = body.shape && shapes[*body.shape].is_endless;
    replay.bodies.push_back(std::move(look));
  }
}

void check_replay_size(const Scene& scene, const SoftWorld* soft) {
  const double seconds = static_cast<double>(step_count(scene)) * scene.world.step;
  const double frames =
      std::min(seconds * scene.frames_per_second, static_cast<double>(step_count(scene))) + 2;
  double bytes = frames * static_cast<double>(scene.bodies.size()) * sizeof(Pose);
  if (soft != nullptr)
    for (SoftId id = 0; id < soft->body_count(); ++id)
      bytes += frames * static_cast<double>(soft->positions(id).size()) * sizeof(Vec3f);
  if (bytes > kMostReplayBytes)
    throw Error(
        fmt::format("{:.0f} frames of {} bodies would take {:.1f} GB; ask for fewer frames per "
                    "second",
                    frames, scene.bodies.size() + scene.soft_bodies.size(), bytes / 1e9));
}

// Radius of the body's points; infinite without points.
double radius_of(const World& world, BodyId id) {
  const BodySettings& body = world.body_settings(id);
  return body.shape && body.shape->tree() ? ball_of(*body.shape->tree()).radius
                                          : std::numeric_limits<double>::infinity();
}

// Compares the smallest body with the coarsest field.
void warn_of_coarse_fields(const World& world, std::vector<std::string>& warnings) {
  std::optional<BodyId> coarsest, smallest;
  const auto cell_of = [&](BodyId id) {
    return world.body_settings(id).shape->field()->voxel_size();
  };
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const BodySettings& body = world.body_settings(id);
    if (body.shape && body.shape->field() && (!coarsest || cell_of(id) > cell_of(*coarsest)))
      coarsest = id;
    if (!smallest || radius_of(world, id) < radius_of(world, *smallest)) smallest = id;
  }
  if (!coarsest || coarsest == smallest) return;
  if (cell_of(*coarsest) <= radius_of(world, *smallest)) return;
  warnings.push_back(
      fmt::format("body '{}' has a radius of {:.3g} m, less than a cell of '{}' ({:.3g} m): "
                  "contact between them "
                  "is as coarse as that; a higher resolution there would help",
                  world.body_settings(*smallest).name, radius_of(world, *smallest),
                  world.body_settings(*coarsest).name, cell_of(*coarsest)));
}

ReplayContact replay_contact(const PairContact& c, double step) {
  const Vec3& place = c.contact.position;
  return {.position = place,
          .normal = c.contact.normal,
          .depth = c.contact.depth,
          .a = c.pair.a,
          .b = c.pair.b,
          .force = c.impulse / step,
          .moment = (c.angular_impulse - cross(place, c.impulse)) / step};
}

// Keeps so few paths that a picture shows all of them.
void keep_paths(const World& world, ReplayFrame& frame) {
  constexpr std::size_t kMostOfPair = 32, kMostOfFrame = 512;
  for (const PairContact& c : world.contacts()) {
    if (frame.paths.size() >= kMostOfFrame) return;
    if (c.phase != ContactPhase::kEnd && c.points > 0)
      world.find_contact_paths(c.pair, kMostOfPair, frame.paths);
  }
}

// Returns the number of the frame that is due at a time, or was due last.
double frame_at(double time, double rate) { return std::floor(time * rate * (1 + 1e-12) + 1e-9); }

}  // namespace

SceneRun::SceneRun(const Scene& scene, const RunSettings& settings)
    : scene_(scene), settings_(settings), world_(world_settings(scene, settings.threads)) {
  std::vector<LoadedShape> shapes = load_shapes(scene, settings.threads, warnings_);
  for (const SceneBody& body : scene.bodies) world_.add_body(settings_of(scene, body, shapes));
  for (const SceneJoint& joint : scene.joints) world_.add_joint(settings_of(scene, joint));
  refuse_ghosts(scene, world_);
  warn_of_coarse_fields(world_, warnings_);
  start_engine();
  replay_.name = scene.name;
  fill_looks(scene, shapes, replay_);
  start_soft();
  if (settings.keep_frames) check_replay_size(scene, soft());
  record(true);
}

void SceneRun::start_engine() {
  if (scene_.engine == "isotact") {
    if (scene_.narrow_phase != NarrowPhase::kPoints)
      throw Error(fmt::format("the narrow phase '{}' is for the engine 'bullet'",
                              name(scene_.narrow_phase)));
    report_ = world_.report();
    report_.energies = world_.energies();
    return;
  }
  const auto maker = settings_.engines.find(scene_.engine);
  if (maker == settings_.engines.end())
    throw Error(fmt::format(
        "the scene asks for the engine '{}', which this program is built without", scene_.engine));
  engine_ = maker->second(scene_, world_);
  for (std::string& text : engine_->warnings()) warnings_.push_back(std::move(text));
  report_.energies = world_.energies();
}

std::span<const PairContact> SceneRun::contacts() const {
  return engine_ ? std::span<const PairContact>(contacts_) : world_.contacts();
}

std::optional<Trouble> SceneRun::trouble() const {
  if (!engine_ && soft_ && soft_->trouble()) {
    Trouble trouble = *soft_->trouble();
    trouble.body += static_cast<BodyId>(world_.body_count());
    return trouble;
  }
  if (!engine_) return world_.trouble();
  for (BodyId id = 0; id < world_.body_count(); ++id)
    if (const auto flaw = find_flaw(world_.body(id).state))
      return Trouble{id, report_.time,
                     fmt::format("body '{}': {}", world_.body_settings(id).name, *flaw)};
  return {};
}

void SceneRun::step_engine() {
  ++report_.number;
  report_.time = static_cast<double>(report_.number) * scene_.world.step;
  engine_->step(world_, report_, contacts_);
  report_.energies = world_.energies();
  report_.contacts = static_cast<std::uint32_t>(contacts_.size());
  report_.depth = 0;
  for (const PairContact& c : contacts_) report_.depth = std::max(report_.depth, c.contact.depth);
}

void SceneRun::warn_of_overlaps() {
  constexpr double kDeep = 0.02;  // Fraction of the smaller body's radius.
  constexpr std::size_t kMost = 8;
  std::size_t count = 0;
  for (const PairContact& c : contacts()) {
    const double size = std::min(radius_of(world_, c.pair.a), radius_of(world_, c.pair.b));
    if (!(c.contact.depth > kDeep * size) || ++count > kMost) continue;
    warnings_.push_back(fmt::format("bodies '{}' and '{}' overlap by {:.3g} m at the start",
                                    world_.body_settings(c.pair.a).name,
                                    world_.body_settings(c.pair.b).name, c.contact.depth));
  }
  if (count > kMost)
    warnings_.push_back(fmt::format("{} more pairs overlap at the start", count - kMost));
}

void SceneRun::apply_scripts() {
  const double end = static_cast<double>(report().number + 1) * scene_.world.step;
  const double middle = end - scene_.world.step / 2;
  const auto move = [&](std::size_t body, const Pose& pose) {
    const auto id = static_cast<BodyId>(body);
    engine_ ? engine_->move_to(id, pose) : world_.move_to(id, pose);
  };
  for (const SceneScript& script : scene_.scripts) {
    if (const auto* s = std::get_if<PoseScript>(&script)) {
      move(s->body, pose_at(*s, end));
    } else if (const auto* steady = std::get_if<SteadyScript>(&script)) {
      const Pose pose = pose_at(*steady, scene_.bodies[steady->body].pose, end);
      const double begin = end - scene_.world.step;
      const double time =
          std::max(0.0, std::min(end, steady->until) - std::max(begin, steady->from));
      const Vec3 turn = steady->angular_velocity * time;
      // The pose does not tell more than half a turn.
      if (engine_ || length(turn) < kPi / 2)
        move(steady->body, pose);
      else
        world_.move_to(static_cast<BodyId>(steady->body), pose, turn);
    } else if (const auto* load = std::get_if<LoadScript>(&script)) {
      if (middle < load->from || middle > load->until) continue;
      const auto id = static_cast<BodyId>(load->body);
      engine_ ? engine_->add_load(id, load->load) : world_.add_load(id, load->load);
    } else if (const auto* motor = std::get_if<MotorScript>(&script)) {
      const Motor now = motor_at(*motor, middle);
      engine_ ? engine_->set_motor(motor->joint, now) : world_.set_motor(motor->joint, now);
    }
  }
}

ReplayFrame SceneRun::frame() const {
  ReplayFrame now{.time = report().time};
  for (std::size_t k = 0; k < world_.body_count(); ++k)
    now.poses.push_back(world_.pose(static_cast<BodyId>(k)));
  for (const PairContact& c : contacts())
    if (c.phase != ContactPhase::kEnd && (c.points > 0 || c.impact))
      now.contacts.push_back(replay_contact(c, scene_.world.step));
  if (settings_.keep_paths && !engine_) keep_paths(world_, now);
  record_soft(now);
  return now;
}

void SceneRun::record(bool even_between_frames) {
  const StepReport& now = report();
  const double rate = scene_.frames_per_second;
  const bool due = frame_at(now.time, rate) > frame_at(now.time - scene_.world.step, rate);
  if (!settings_.keep_frames && !replay_.frames.empty()) return;
  if (!due && !even_between_frames) return;
  if (!replay_.frames.empty() && !(replay_.frames.back().time < now.time)) return;
  replay_.frames.push_back(frame());
}

bool SceneRun::step() {
  apply_scripts();
  if (engine_) {
    step_engine();
  } else {
    // Soft bodies step first: they touch bodies at their current poses, and the loads act in the
    // step of those bodies.
    // With barriers they move together: rigid ones propose where they go.
    const bool is_barrier = soft_ && soft_->settings().integrator == SoftIntegrator::kBarrier;
    if (soft_ && !is_barrier) soft_->step(&world_);
    report_ = world_.step();
    if (is_barrier) {
      soft_->step(&world_);
      report_.energies = world_.energies();
    }
    if (soft_) add_soft_report();
  }
  const StepReport& now = report();
  deepest_ = std::max(deepest_, now.depth);
  most_contacts_ = std::max(most_contacts_, now.contacts);
  impacts_ += now.impacts;
  substeps_ += now.substeps;
  if (settings_.keep_log) replay_.log.push_back(now);
  if (now.number == 1) warn_of_overlaps();
  if (trouble()) return false;  // Its poses may not be finite numbers.
  record(false);
  return true;
}

bool SceneRun::go(std::uint64_t steps, const Watch& watch) {
  for (std::uint64_t k = 0; k < steps; ++k) {
    if (!step()) return false;
    if (watch && !watch(report())) break;
  }
  record(true);
  return true;
}

// ---- snapshots ----------------------------------------------------------------------------------
// "ISORUN1\0", hash of the scene, hash of the bytes that follow, then the world's own bytes. If
// there are soft bodies, the number of those bytes precedes them, and the soft world's bytes
// follow.

namespace {

constexpr char kMagic[8] = {'I', 'S', 'O', 'R', 'U', 'N', '1', '\0'};
constexpr std::size_t kHeaderBytes = 24;

}  // namespace

// Hash of the inputs of a snapshot: the bodies and the step. The length of the run and colours are
// not included.
std::uint64_t SceneRun::scene_hash() const {
  std::uint64_t hash = hash_bytes(std::as_bytes(std::span(&scene_.world.step, 1)));
  for (std::size_t k = 0; k < world_.body_count(); ++k) {
    const BodySettings& body = world_.body_settings(static_cast<BodyId>(k));
    const double numbers[] = {body.mass.mass,
                              static_cast<double>(body.kind),
                              body.pose.translation.x,
                              body.pose.translation.y,
                              body.pose.translation.z,
                              body.material.friction,
                              body.material.stiffness,
                              body.shape && body.shape->tree()
                                  ? static_cast<double>(body.shape->tree()->point_count())
                                  : 0.0};
    hash = hash_range(numbers, hash);
    hash = hash_range(body.name, hash);
  }
  for (const SceneSoftBody& body : scene_.soft_bodies) {
    const Vec3& at = body.pose.translation;
    const double numbers[] = {body.mass, at.x, at.y, at.z, body.material.stiffness};
    hash = hash_range(body.name, hash_range(numbers, hash));
  }
  return hash;
}

std::vector<std::byte> SceneRun::save() const {
  if (engine_) throw Error("runs of another engine cannot be saved");
  const std::vector<std::byte> parts = save_parts();
  const std::uint64_t numbers[2] = {scene_hash(), hash_bytes(parts)};
  std::vector<std::byte> bytes(kHeaderBytes + parts.size());
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + sizeof kMagic, numbers, sizeof numbers);
  std::copy(parts.begin(), parts.end(), bytes.begin() + kHeaderBytes);
  return bytes;
}

void SceneRun::restore(std::span<const std::byte> snapshot) {
  if (engine_) throw Error("runs of another engine cannot be resumed");
  if (snapshot.size() < kHeaderBytes || std::memcmp(snapshot.data(), kMagic, sizeof kMagic) != 0)
    throw Error("this is no snapshot of a run");
  std::uint64_t numbers[2];
  std::memcpy(numbers, snapshot.data() + sizeof kMagic, sizeof numbers);
  const auto parts = snapshot.subspan(kHeaderBytes);
  if (hash_bytes(parts) != numbers[1]) throw Error("the snapshot is cut short or broken");
  if (numbers[0] != scene_hash())
    throw Error("the snapshot is of another scene, or of one with other bodies or another step");
  restore_parts(parts);
  report_ = world_.report();
  report_.energies = world_.energies();
  if (soft_) add_soft_report();
  replay_.frames.clear();
  replay_.log.clear();
  deepest_ = 0;
  most_contacts_ = 0;
  impacts_ = substeps_ = 0;
  record(true);
}

}  // namespace isotact
