// The soft bodies of a run.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/scene/run/detail/shape_load.h"
#include "isotact/scene/run/run.h"

namespace isotact {
namespace {

// Contacts per frame that are kept for display. A cloth at rest has thousands.
constexpr std::size_t kMostSoftContacts = 1000;

// All bodies together: about ten gigabytes.
constexpr std::size_t kMostSoftVertices = 20'000'000;

constexpr double kDeepStart = 1e-3;  // Fraction of a body's size.

constexpr Colour kSoftPalette[] = {{0x7c, 0xc4, 0x8a}, {0xd8, 0x84, 0x70}, {0x86, 0xa8, 0xe0},
                                   {0xd8, 0xb8, 0x58}, {0xb4, 0x8c, 0xd0}, {0x6c, 0xc0, 0xc4}};

SoftBodySettings soft_settings(const SceneSoftBody& body, TriangleMesh mesh) {
  SoftBodySettings s{.name = body.name,
                     .pose = body.pose,
                     .velocity = body.velocity,
                     .angular_velocity = body.angular_velocity,
                     .mass = body.mass,
                     .material = body.material,
                     .margin = body.margin,
                     .self_contact = body.self_contact,
                     .steering = body.steering};
  if (body.pinned)
    for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
      if (contains(*body.pinned, transform_point(body.pose, to_double(mesh.positions[v]))))
        s.pinned.push_back(v);
  s.mesh = std::move(mesh);
  return s;
}

// Returns meshes of bodies one after the other. Copies of one body are made once.
class SoftMeshes {
 public:
  const TriangleMesh& get(const SceneSoftBody& body, std::vector<std::string>& warnings) {
    if (last_ == nullptr || !(last_->source == body.source)) {
      warnings_.clear();
      try {
        mesh_ = detail::load_soft_mesh(body, warnings_);
      } catch (const Error& error) {
        throw Error(fmt::format("soft body '{}': {}", body.name, error.what()));
      }
      last_ = &body;
    }
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
    return mesh_;
  }

 private:
  const SceneSoftBody* last_ = nullptr;
  TriangleMesh mesh_{};
  std::vector<std::string> warnings_{};
};

// Runs before any body is made: ten thousand large ones take minutes.
void check_soft_size(const Scene& scene) {
  SoftMeshes meshes;
  std::vector<std::string> warnings;
  std::size_t vertices = 0;
  for (const SceneSoftBody& body : scene.soft_bodies) {
    vertices += meshes.get(body, warnings).positions.size();
    if (vertices > kMostSoftVertices)
      throw Error(
          fmt::format("soft body '{}': with it, bodies that bend have {} vertices; {} are allowed",
                      body.name, vertices, kMostSoftVertices));
  }
}

}  // namespace

void SceneRun::start_soft() {
  if (scene_.soft_bodies.empty()) return;
  if (engine_) throw Error("bodies that bend need our own world: the engine must be 'isotact'");
  SoftWorldSettings settings = scene_.soft;
  settings.step = scene_.world.step;
  settings.gravity = scene_.world.gravity;
  settings.threads = settings_.threads;
  soft_.emplace(settings);
  check_soft_size(scene_);
  SoftMeshes meshes;
  for (std::size_t k = 0; k < scene_.soft_bodies.size(); ++k) {
    const SceneSoftBody& body = scene_.soft_bodies[k];
    std::vector<std::string> warnings;
    ReplaySoftBody look{.name = body.name,
                        .colour = body.colour.value_or(kSoftPalette[k % std::size(kSoftPalette)])};
    const TriangleMesh& mesh = meshes.get(body, warnings);
    look.triangles = mesh.triangles;
    SoftBodySettings made = soft_settings(body, mesh);
    if (body.pinned && made.pinned.empty())
      warnings.emplace_back("no vertex is in the box of those that are pinned");
    soft_->add_body(made);
    for (const std::string& text : warnings)
      warnings_.push_back(fmt::format("soft body '{}': {}", body.name, text));
    replay_.soft_bodies.push_back(std::move(look));
  }
  if (scene_.soft.integrator == SoftIntegrator::kBarrier) soft_->note_poses(world_);
  add_soft_report();
  warn_of_soft_overlaps();
}

void SceneRun::add_soft_report() {
  const SoftReport& soft = soft_->report();
  report_.number = std::max(report_.number, soft.number);
  report_.time = std::max(report_.time, soft.time);
  report_.pairs += soft.pairs;
  report_.contacts += soft.touching;
  report_.points += soft.contacts;
  report_.depth = std::max(report_.depth, soft.depth);
  report_.energies.kinetic += soft.kinetic;
  report_.energies.potential += soft.potential;
  report_.energies.springs += soft.springs;
  report_.seconds.broad += soft.seconds.broad;
  report_.seconds.detection += soft.seconds.narrow;
  report_.seconds.forces += soft.seconds.response;
  report_.seconds.motion += soft.seconds.motion;
}

// Tests the initial positions. Vertices inside are pushed out, step by step, and may gain speed.
void SceneRun::warn_of_soft_overlaps() {
  for (SoftId id = 0; soft_ && id < soft_->body_count(); ++id)
    for (BodyId k = 0; k < world_.body_count(); ++k) {
      const BodySettings& body = world_.body_settings(k);
      if (!body.shape || !body.shape->can_have_field()) continue;
      const AnyField& field = body.shape->any_field();
      const Pose body_from_world = inverse(world_.pose(k));
      double depth = 0;
      for (const Vec3& p : std::as_const(*soft_).positions(id))
        depth = std::max(depth, -field.value(transform_point(body_from_world, p)));
      const double size = length(extent(soft_->bounds(id)));
      if (depth > kDeepStart * size)
        warnings_.push_back(fmt::format("soft body '{}' begins inside of '{}', {:.3g} m deep",
                                        scene_.soft_bodies[id].name, body.name, depth));
    }
}

void SceneRun::record_soft(ReplayFrame& frame) const {
  if (!soft_) return;
  for (SoftId id = 0; id < soft_->body_count(); ++id) {
    std::vector<Vec3f>& places = frame.soft.emplace_back();
    for (const Vec3& p : soft_->positions(id)) places.push_back(to_float(p));
  }
  const std::span<const SoftContact> all = soft_->contacts();
  const std::size_t every = all.size() / kMostSoftContacts + 1;
  for (std::size_t i = 0; i < all.size(); i += every)
    frame.contacts.push_back({.position = all[i].position,
                              .normal = all[i].normal,
                              .depth = all[i].depth,
                              .a = kNoReplayBody,
                              .b = kNoReplayBody});
}

std::string_view SceneRun::body_name(std::size_t body) const {
  const std::size_t rigid = world_.body_count();
  return body < rigid ? std::string_view(world_.body_settings(static_cast<BodyId>(body)).name)
                      : std::string_view(scene_.soft_bodies[body - rigid].name);
}

std::uint64_t SceneRun::hash() const {
  if (!soft_) return world_.hash();
  const std::uint64_t both[] = {world_.hash(), soft_->hash()};
  return hash_range(both);
}

std::vector<std::byte> SceneRun::save_parts() const {
  std::vector<std::byte> world = world_.save();
  if (!soft_) return world;
  const std::uint64_t size = world.size();
  const std::vector<std::byte> soft = soft_->save();
  std::vector<std::byte> bytes(sizeof size);
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes.insert(bytes.end(), world.begin(), world.end());
  bytes.insert(bytes.end(), soft.begin(), soft.end());
  return bytes;
}

void SceneRun::restore_parts(std::span<const std::byte> bytes) {
  if (!soft_) return world_.restore(bytes);
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) throw Error("the snapshot is cut short or broken");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (size > bytes.size()) throw Error("the snapshot is cut short or broken");
  // Both worlds are restored, or none.
  const std::vector<std::byte> before = world_.save();
  world_.restore(bytes.first(size));
  try {
    soft_->restore(bytes.subspan(size));
  } catch (const Error&) {
    world_.restore(before);
    throw;
  }
}

}  // namespace isotact
