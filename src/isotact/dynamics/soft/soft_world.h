// Bodies that bend: masses on springs (MDL06, section 4), what they touch, and how they get apart.
// docs/soft-bodies.md says how, how well, and what not to expect.
//
//   SoftWorld soft({.step = 1e-3});
//   soft.add_body({.name = "jelly", .mesh = cube, .mass = 0.2});
//   for (int i = 0; i < 1000; ++i) {
//     soft.step(&world);  // with the rigid bodies of a World, which get the loads of contact
//     world.step();
//   }
//
// A step: forces (or the caller's deformer) move vertices; what is near, and would come too near,
// is pushed apart by impulses with Coulomb's friction, which conserve momentum; what still would
// pass through something is held back. Same bodies in the same order with the same settings: the
// same bytes, for any number of threads.
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
#include "isotact/base/sphere.h"
#include "isotact/dynamics/world.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

using SoftId = std::uint32_t;

struct SoftMaterial {
  double stiffness = 500;  // N/m, of springs along edges
  double damping = 0.05;   // N s/m, along all springs
  double bending = 0;      // N/m, of springs across edges, between the two opposite vertices
  // N/m, of springs through the inside, from each vertex to the other side, straight and slanted:
  // they keep the shape of closed bodies.
  double struts = 0;
  double area = 0;             // N/m^3 a triangle: keeps areas
  double volume = 0;           // Pa: pressure by relative loss of volume; closed bodies
  double air_friction = 0.01;  // 1/s
  double max_strain = 0.5;     // longest and shortest a spring may become, in rest lengths; 0: any
  double yield = 0;            // strain from which on rest lengths follow (plastic); 0: elastic
  double creep = 10;           // 1/s, how fast they do
  double friction = 0.4;       // Coulomb's
};

enum class SoftIntegrator : std::uint8_t { kVerlet, kBackwardEuler };

struct SteeringKey {
  double time = 0;  // seconds
  Vec3 velocity{};  // m/s, from then on
};

// Goes with a velocity of its own, turned around at the walls of the cube and by what it touches
// (MDL06, section 4, 5.2): its mean velocity is set to that in each step. Gravity does not count.
struct Steering {
  double speed = 0;        // m/s: a random direction, drawn anew every `period` seconds
  double period = 1;       //
  std::uint64_t seed = 1;  //
  // 1/s: with each random direction comes a random stretch, as fast as this, which bends the body
  // ("deforming randomly", they say).
  double wobble = 0;
  std::optional<Vec3> velocity{};  // instead: this one
  // Instead: a script, in order of time. Before the first of them it stays. Walls and what it
  // touches turn it around until the next.
  std::vector<SteeringKey> keys{};
};

// In place of springs: where vertices are to be at the end of the step, in the world's frame. Gets
// the time at its end, and the places at its beginning. Nothing pushes such a body. Called by the
// thread that calls step.
using Deformer = std::function<void(double time, std::span<Vec3> positions)>;

struct SoftBodySettings {
  std::string name{};
  TriangleMesh mesh{};  // in the body's frame
  Pose pose{};          // world_from_body, at the start
  Vec3 velocity{}, angular_velocity{};
  double mass = 1;  // kg, spread by area; no vertex gets less than a twentieth of the mean
  SoftMaterial material{};
  std::vector<std::uint32_t> pinned{};  // vertices that stay
  // Metres: other surfaces are kept this far away; of two bodies the larger. 0: a tenth of the mean
  // edge.
  double thickness = 0;
  bool self_contact = false;
  std::optional<Steering> steering{};
  Deformer deformer{};
};

struct SoftWorldSettings {
  double step = 1e-3;  // seconds
  Vec3 gravity{0, -9.81, 0};
  SoftIntegrator integrator = SoftIntegrator::kVerlet;
  std::optional<Aabb> cube{};  // reflects what comes to its walls
  bool contact = true;
  int contact_iterations = 20;  // over all contacts that hang together
  int newton_steps = 1;         // of backward Euler
  // Verlet goes in as many parts of a step as the stiffest body needs to be stable, each body by
  // itself. add_body throws Error where that would be more than this.
  int max_substeps = 64;
  bool energies = true;  // of the report: one more pass over the springs
  Threads threads{};
};

struct SoftContact {  // of a step, for looking at
  Vec3 position{}, normal{};
  double depth = 0;
};

struct SoftTimes {
  double motion = 0, broad = 0, narrow = 0, response = 0;  // seconds
};

struct SoftReport {
  std::uint64_t number = 0;
  double time = 0;
  std::uint32_t pairs = 0;     // of bodies that may touch, soft ones and soft with rigid ones
  std::uint32_t touching = 0;  // of them, and of soft bodies with rigid ones
  std::uint32_t contacts = 0;  // features, and vertices in fields
  std::uint32_t held = 0;      // vertices that were held back: impulses had not been enough
  std::uint32_t substeps = 1;  // of the body that took the most
  double depth = 0;  // metres: the deepest vertex inside a rigid body or ground at the end
  // J; potential: from the origin's height; springs: areas and volumes, too. Of bodies that have no
  // deformer.
  double kinetic = 0, potential = 0, springs = 0;
  SoftTimes seconds{};
};

class SoftWorld {
 public:
  explicit SoftWorld(const SoftWorldSettings& settings = {});  // throws Error, too
  SoftWorld(SoftWorld&&) noexcept;
  SoftWorld& operator=(SoftWorld&&) noexcept;
  ~SoftWorld();

  // Throws Error for what makes no sense: a mesh without triangles or with vertices that none uses,
  // numbers that are not finite or negative, pressure in an open body, one that begins outside of
  // the cube, or one too stiff for Verlet at this step; then it names the largest stable one.
  SoftId add_body(const SoftBodySettings& settings);
  const SoftWorldSettings& settings() const;
  std::size_t body_count() const;
  const SoftBodySettings& body_settings(SoftId id) const;
  std::span<const Vec3> positions(SoftId id) const;
  std::span<const Vec3> velocities(SoftId id) const;
  std::span<Vec3> positions(SoftId id);  // to set them between steps
  std::span<Vec3> velocities(SoftId id);
  const Aabb& bounds(SoftId id) const;
  const Sphere& bounding_sphere(SoftId id) const;  // not the smallest
  std::span<const double> masses(SoftId id) const;
  double volume(SoftId id) const;       // m^3, as it is; of closed bodies
  double stable_step(SoftId id) const;  // seconds: the largest for Verlet, near the rest shape

  // Goes on by a step. Touches what `rigid` has, which is to make its own step (of the same length)
  // after this one, and adds loads to its bodies. Throws nothing but what a deformer throws;
  // find_trouble tells whether it makes sense to go on. In trouble nothing moves any more.
  const SoftReport& step(World* rigid = nullptr);
  const SoftReport& report() const;
  std::span<const SoftContact> contacts() const;
  const std::optional<Trouble>& find_trouble() const;  // body: a SoftId
  std::uint64_t hash() const;

  // All that changes, to go on later with the same bytes. Bodies and settings must be the same.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);  // throws Error where it does not fit

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
