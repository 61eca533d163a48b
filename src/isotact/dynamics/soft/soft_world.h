// Bodies that bend: masses on springs (MDL06, section 4), what they touch, and how they get apart.
//
//   SoftWorld soft({.step = 1e-3});
//   soft.add_body({.name = "jelly", .mesh = cube, .mass = 0.2});
//   for (int i = 0; i < 1000; ++i) {
//     soft.step(&world);  // with the rigid bodies of a World, which get the loads of contact
//     world.step();
//   }
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
#include "isotact/dynamics/world.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

using SoftId = std::uint32_t;

struct SoftMaterial {
  double stiffness = 500;      // N/m, of springs along edges
  double damping = 0.5;        // N s/m, along them
  double bending = 0;          // N/m, of springs across edges, between the two opposite vertices
  double area = 0;             // N/m^3 a triangle: keeps areas
  double volume = 0;           // Pa: pressure by relative loss of volume; closed bodies
  double air_friction = 0.01;  // 1/s
  double max_strain = 0.5;     // longest and shortest a spring may become, in rest lengths; 0: any
  double yield = 0;            // strain from which on rest lengths follow (plastic); 0: elastic
  double creep = 10;           // 1/s, how fast they do
  double friction = 0.4;       // Coulomb's
};

enum class SoftIntegrator : std::uint8_t { kVerlet, kBackwardEuler };

// Goes with a velocity of its own, turned around at the walls of the cube (MDL06, section 4, 5.2).
struct Steering {
  double speed = 0;                // m/s: a random direction, drawn anew every `period` seconds
  double period = 1;               //
  std::uint64_t seed = 1;          //
  std::optional<Vec3> velocity{};  // instead: this one
};

// In place of springs: where vertices are to be at the end of the step. Gets the time at its end.
using Deformer = std::function<void(double time, std::span<Vec3> positions)>;

struct SoftBodySettings {
  std::string name{};
  TriangleMesh mesh{};  // in the body's frame
  Pose pose{};          // world_from_body, at the start
  Vec3 velocity{}, angular_velocity{};
  double mass = 1;  // kg, spread by area
  SoftMaterial material{};
  std::vector<std::uint32_t> pinned{};  // vertices that stay
  double thickness = 0;                 // metres: other surfaces are kept this far away; 0: by size
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
  std::uint32_t pairs = 0;     // of bodies, by the broad phase
  std::uint32_t touching = 0;  // of them
  std::uint32_t contacts = 0;  // features, and vertices in fields
  double depth = 0;            // metres: the deepest place inside something at the end
  double kinetic = 0, potential = 0, springs = 0;  // J
  SoftTimes seconds{};
};

class SoftWorld {
 public:
  explicit SoftWorld(const SoftWorldSettings& settings = {});
  SoftWorld(SoftWorld&&) noexcept;
  SoftWorld& operator=(SoftWorld&&) noexcept;
  ~SoftWorld();

  SoftId add_body(const SoftBodySettings& settings);  // throws Error for what makes no sense
  std::size_t body_count() const;
  const SoftBodySettings& body_settings(SoftId id) const;
  std::span<const Vec3> positions(SoftId id) const;
  std::span<const Vec3> velocities(SoftId id) const;
  std::span<Vec3> positions(SoftId id);  // to set them between steps
  std::span<Vec3> velocities(SoftId id);
  const Aabb& bounds(SoftId id) const;

  // Touches what `rigid` has, as it is now, and adds loads to its bodies.
  const SoftReport& step(World* rigid = nullptr);
  const SoftReport& report() const;
  std::span<const SoftContact> contacts() const;
  const std::optional<Trouble>& find_trouble() const;  // body: a SoftId
  std::uint64_t hash() const;

  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
