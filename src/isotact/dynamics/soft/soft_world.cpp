#include "isotact/dynamics/soft/soft_world.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/dynamics/model/detail/snapshot.h"
#include "isotact/dynamics/soft/detail/barrier_state.h"
#include "isotact/dynamics/soft/detail/soft_state.h"

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
