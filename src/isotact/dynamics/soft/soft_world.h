// Bodies that bend: masses on springs (MDL06, section 4), with contact and friction.
// docs/soft-bodies.md explains the method and its limits.
//
//   SoftWorld soft({.step = 1e-3});
//   soft.add_body({.name = "jelly", .mesh = cube, .mass = 0.2});
//   for (int i = 0; i < 1000; ++i) {
//     soft.step(&world);  // The rigid bodies of the world receive the loads of contact.
//     world.step();
//   }
//
// In a step, forces (or the caller's deformer) move the vertices. Impulses with Coulomb's friction
// separate features that would come too near; they conserve momentum. Vertices that would still
// cross a surface are held back. The same bodies in the same order with the same settings give the
// same bytes for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

using SoftId = std::uint32_t;

struct SoftMaterial {
  double stiffness = 500;  // N/m, springs along edges.
  double damping = 0.05;   // N s/m, along all springs.
  double bending = 0;      // N/m, springs across edges, between the two opposite vertices.
  // N/m, springs through the interior, from each vertex straight and obliquely to the opposite
  // side. They keep the shape of closed bodies.
  double struts = 0;
  double area = 0;             // N/m^3 per triangle: keeps areas.
  double volume = 0;           // Pa: pressure per relative loss of volume; closed bodies only.
  double air_friction = 0.01;  // 1/s.
  double max_strain = 0.5;     // Limit of relative spring length change; 0: no limit.
  double yield = 0;            // Strain above which rest lengths follow (plastic); 0: elastic.
  double creep = 10;           // 1/s, rate at which rest lengths follow.
  double friction = 0.4;       // Coulomb's coefficient.
};

enum class SoftIntegrator : std::uint8_t {
  kVerlet,
  kBackwardEuler,
  // Backward Euler with contact inside of the solve: nothing ever crosses.
  kBarrier,
};

struct SteeringKey {
  double time = 0;  // Seconds.
  Vec3 velocity{};  // m/s, from this time on.
};

// A prescribed mean velocity (MDL06, sections 4 and 5.2): each step sets the body's mean velocity
// to it. Walls of the cube and contacts reverse it. Gravity does not act on the body.
struct Steering {
  double speed = 0;        // m/s, in a random direction that changes every `period` seconds.
  double period = 1;       // Seconds.
  std::uint64_t seed = 1;  // For the random directions.
  // 1/s: rate of a random stretch that comes with each random direction and bends the body.
  double wobble = 0;
  std::optional<Vec3> velocity{};  // Replaces the random velocity.
  // Replaces both by a script in order of time. The body rests before the first key. Walls and
  // contacts reverse the velocity until the next key.
  std::vector<SteeringKey> keys{};
};

// Replaces springs: sets vertex positions at the end of the step, in the world frame. It receives
// the time at the end and the positions at the start. Nothing pushes such a body. The thread that
// calls step() calls it.
using Deformer = std::function<void(double time, std::span<Vec3> positions)>;

struct SoftBodySettings {
  std::string name{};
  TriangleMesh mesh{};  // In the body's frame.
  Pose pose{};          // world_from_body at the start.
  Vec3 velocity{}, angular_velocity{};
  double mass = 1;  // kg, distributed by area; each vertex has at least 1/20 of the mean.
  SoftMaterial material{};
  std::vector<std::uint32_t> pinned{};  // Vertices that do not move.
  // Metres: other surfaces are kept at this distance. A pair uses the larger margin. 0: a tenth of
  // the mean edge.
  double margin = 0;
  bool self_contact = false;
  std::optional<Steering> steering{};
  Deformer deformer{};
};

struct SoftWorldSettings {
  double step = 1e-3;  // Seconds.
  Vec3 gravity{0, -9.81, 0};
  SoftIntegrator integrator = SoftIntegrator::kVerlet;
  std::optional<Aabb> cube{};  // Its walls reflect bodies.
  bool contact = true;
  int contact_iterations = 20;  // Per set of connected contacts.
  int newton_steps = 1;         // For backward Euler.
  // Verlet divides a step into as many substeps as each body needs to be stable. add_body throws
  // Error if a body needs more than this.
  int max_substeps = 64;
  bool energies = true;  // Report energies; costs one more pass over the springs.
  Threads threads{};
};

// A contact of the last step, for display.
struct SoftContact {
  Vec3 position{}, normal{};
  double depth = 0;
};

struct SoftTimes {
  double motion = 0, broad = 0, narrow = 0, response = 0;  // seconds
};

struct SoftReport {
  std::uint64_t number = 0;
  double time = 0;
  std::uint32_t pairs = 0;     // Candidate pairs: soft with soft, and soft with rigid.
  std::uint32_t touching = 0;  // Pairs in contact.
  std::uint32_t contacts = 0;  // Feature pairs, and vertices in fields.
  std::uint32_t held = 0;      // Vertices that were held back because impulses did not suffice.
  std::uint32_t substeps = 1;  // Largest number over all bodies.
  // With barriers: rounds of Newton's method, products of matrix and vector, searches for
  // pairs, halvings of steps that
  // could not be taken, and pairs of features that touched or crossed at the start.
  std::uint32_t rounds = 0, products = 0, searches = 0, halved = 0, left_out = 0;
  double depth = 0;  // Metres: deepest vertex inside a rigid body or ground at the end.
  // J, of bodies without a deformer. Potential is relative to the height of the origin; springs
  // include areas and volumes.
  double kinetic = 0, potential = 0, springs = 0;
  SoftTimes seconds{};
};

class SoftWorld {
 public:
  explicit SoftWorld(const SoftWorldSettings& settings = {});  // Throws Error for invalid settings.
  SoftWorld(SoftWorld&&) noexcept;
  SoftWorld& operator=(SoftWorld&&) noexcept;
  ~SoftWorld();

  // Throws Error for a mesh without triangles or with unused vertices, and for numbers that are
  // negative or not finite. So it does for pressure in an open body, and for a body that starts
  // outside the cube. If a body is too stiff for Verlet at this step, the message names the largest
  // stable step.
  SoftId add_body(const SoftBodySettings& settings);
  const SoftWorldSettings& settings() const;
  std::size_t body_count() const;
  const SoftBodySettings& body_settings(SoftId id) const;
  std::span<const Vec3> positions(SoftId id) const;
  std::span<const Vec3> velocities(SoftId id) const;
  std::span<Vec3> positions(SoftId id);  // To set them between steps.
  std::span<Vec3> velocities(SoftId id);
  const Aabb& bounds(SoftId id) const;
  const Sphere& bounding_sphere(SoftId id) const;  // Not the smallest.
  std::span<const double> masses(SoftId id) const;
  double volume(SoftId id) const;       // m^3, current; closed bodies only.
  double stable_step(SoftId id) const;  // Seconds: the largest for Verlet near the rest shape.

  // Advances by one step. Collides with the bodies of `rigid` and adds loads to them; `rigid` must
  // make its own step of the same length afterwards. With barriers, `rigid` steps first: its motion
  // since the last call is a proposal, and dynamic bodies get the pose and velocity of the solve.
  // Throws exceptions of a deformer, and Error for a rigid body whose shape is a pointshell alone.
  // Call trouble to learn whether the run is still valid; after trouble nothing moves.
  const SoftReport& step(World* rigid = nullptr);
  // For barriers: the rigid bodies start from their current poses. Call it before the first
  // rigid.step(); later, each step begins where the last one ended. Without it, the first step
  // takes the poses that it finds for those at its start.
  void note_poses(const World& rigid);
  const SoftReport& report() const;
  std::span<const SoftContact> contacts() const;
  const std::optional<Trouble>& trouble() const;  // Its body is a SoftId.
  std::uint64_t hash() const;

  // The whole state, to continue later with the same bytes. Bodies and settings must be the same;
  // restore throws Error for a snapshot of another world.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
