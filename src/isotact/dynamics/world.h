// Rigid bodies that move and touch: XB14, sections 4 and 5.
//
//   World world({.step = 1e-3});
//   world.add_body({.name = "ground", .kind = BodyKind::kStatic, .field = AnyField{PlaneField{}}});
//   world.add_body({.name = "bunny", .shape = bunny, .mass = mass, .pose = start});
//   for (int i = 0; i < 1000; ++i) world.step();
//
// A step: gravity, loads, joints and what bodies touched change momenta, bodies move (symplectic
// Euler), and what they touch on their ways makes the forces of the next step. Same bodies in the
// same order with the same settings: the same bytes, for any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/broad_phase.h"
#include "isotact/dynamics/contact_force.h"
#include "isotact/dynamics/joint.h"
#include "isotact/dynamics/rigid_body.h"
#include "isotact/queries/contact.h"
#include "isotact/queries/shape.h"

namespace isotact {

using BodyId = std::uint32_t;

// What the surface of a body is like. A pair has the springs of both in a row, the root of the
// product of frictions, the larger restitution, and the mean damping ratio.
struct SurfaceMaterial {
  // N/m^3: pressure a metre of depth. 0: by mass and time step, see pair_material.
  double stiffness = 0;
  double damping_ratio = 0.3;  // 1: critical, where a tenth of the smaller surface touches
  double friction = 0.5;       // Coulomb's
  double restitution = 0.3;    // of impacts of fast bodies (see WorldSettings::impacts)
};

enum class ForceSolve : std::uint8_t {
  // The forces of the next step, which answer to its velocities: bodies that touch are solved for
  // together. Bears stiff contact.
  kImplicit,
  kExplicit,  // XB14: what was found in a step acts in the next. Stiff contact needs small steps
};

// What the force law of a pair is made of.
struct PairSides {
  SurfaceMaterial a{}, b{};
  double mass_a = 0, mass_b = 0;  // kg; infinite for what nothing pushes
  double area = 0;                // m^2: of the smaller surface
  double step = 0;                // seconds
  ForceSolve solve = ForceSolve::kImplicit;
};
// Stable by default (docs/dynamics.md says why). Where a stiffness is 0 it is chosen by mass and
// step: such that the whole surface inside at once would come to K h^2 / m = 100 for implicit
// steps, and 0.25 for explicit ones, which bear no more. There the damper is held between what the
// spring asks for and what the step bears, too.
ContactMaterial pair_material(const PairSides& sides);

struct BodySettings {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  // What it is to others: a shape, or a field of any kind that has no points of its own (a ground).
  std::optional<Shape> shape{};
  std::optional<AnyField> field{};
  double field_cell = 1e-3;  // metres, of such a field: see SweptTracer
  BodyMass mass{};
  Pose pose{};  // world_from_body
  Vec3 velocity{}, angular_velocity{};
  SurfaceMaterial material{};
  bool fast = false;  // see ImpactRule
};

// A penalty cannot stop a body that crosses a wall within one step. Impacts can: bodies are moved
// to the time of their first contact, pushed apart there, and go on.
enum class ImpactRule : std::uint8_t {
  kOff,
  kFlagged,  // of bodies that are called fast
  kAuto,     // and of those that move by more than a tenth of their size in a step, or half of what
             // is the deepest inside of one: thin walls
};

enum class ContactRule : std::uint8_t {
  kContinuous,  // XB14
  kDiscrete,    // the twin for comparison: what overlaps at the end of the step
  kOff,
};

struct WorldSettings {
  double step = 1e-3;  // seconds
  Vec3 gravity{0, -9.81, 0};
  ContactRule contact = ContactRule::kContinuous;
  ForceSolve solve = ForceSolve::kImplicit;
  ImpactRule impacts = ImpactRule::kAuto;
  // How points go within a step. Straight is the paper's, and enough for small turns.
  MotionModel motion = MotionModel::kStraight;
  ShellTraversal traversal = ShellTraversal::kTree;
  ForceSettings forces{};  // but for the material, which is each pair's
  TurnRule turns = TurnRule::kMidpoint;
  // m/s. Bodies no place of which has been faster for half a second, nor of any that they hang
  // together with, sleep until something touches or moves them. 0: none does.
  double sleep_speed = 0;
  // Runs stop where the energy grows beyond this many times what there was and was put in.
  double energy_factor = 10;
  Threads threads{};
};

enum class ContactPhase : std::uint8_t { kBegin, kPersist, kEnd };

// A pair that touches.
struct PairContact {
  BodyPair pair{};
  ContactPhase phase = ContactPhase::kBegin;
  Contact contact{};  // the deepest at the end of the step, or what it last was
  Vec3 impulse{};     // N s, on A in this step
  // N m s, on A about the world's origin. A snapshot has none: restored pairs that sleep have it as
  // if their impulse acted at the contact's position.
  Vec3 angular_impulse{};
  double area = 0;  // m^2
  std::uint32_t points = 0, sticking = 0;
  bool impact = false;  // they were pushed apart at their time of contact
};

// A point of one body on its way through the other in the last step: a straight piece of what
// SweptTracer looks at. Seen from the other body and drawn where that is now: the way is the one
// against it, not the one in the world.
struct ContactPath {
  Vec3 from{}, to{};          // metres, world: at the start and the end of the piece
  float enter = 0, exit = 0;  // when it is inside, 0 to 1 of the piece
};

struct Energies {
  double kinetic = 0, potential = 0, springs = 0;  // J; potential: from the origin's height
  double total() const { return kinetic + potential + springs; }
};

struct PhaseTimes {
  double broad = 0, detection = 0, forces = 0, motion = 0;  // seconds
};

struct StepReport {
  std::uint64_t number = 0;  // of the step, from 1
  double time = 0;           // seconds since the start
  std::uint32_t pairs = 0;   // that may touch
  std::uint32_t contacts = 0;
  std::uint32_t points = 0;                       // in contact
  std::uint32_t islands = 0, largest_island = 0;  // sets of bodies solved together; bodies of one
  std::uint32_t asleep = 0;                       // bodies
  double depth = 0;                               // metres: the deepest
  Energies energies{};
  SweptCounts counts{};
  PhaseTimes seconds{};
};

// Why a run cannot go on: in words, with the likely cause.
struct Trouble {
  BodyId body = 0;
  double time = 0;
  std::string message;
};

class World {
 public:
  explicit World(const WorldSettings& settings = {});  // throws Error for what makes no sense
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  ~World();

  // Throws Error for a body that moves without mass, or without a shape or field where it could
  // touch something.
  BodyId add_body(const BodySettings& settings);

  const WorldSettings& settings() const;
  std::size_t body_count() const;
  const RigidBody& body(BodyId id) const;
  RigidBody& body(BodyId id);  // to set its state between steps
  const BodySettings& body_settings(BodyId id) const;
  Pose pose(BodyId id) const { return world_from_body(body(id)); }

  // Until the next step: forces on top of gravity, about the centre of mass; where a kinematic body
  // is to be at its end.
  void add_load(BodyId id, const Load& load);
  void move_to(BodyId id, const Pose& world_from_body);
  void set_pair_material(BodyId a, BodyId b, const ContactMaterial& material);
  void ignore_pair(BodyId a, BodyId b);

  bool is_asleep(BodyId id) const;
  void wake(BodyId id);  // with all that sleeps and hangs together with it

  // Throws Error for bodies that are not there or the same, limits and motors out of range or of a
  // joint that has none. Two bodies of a joint do not touch each other, unless it says so.
  std::size_t add_joint(const JointSettings& j);
  std::span<const JointSettings> joints() const;
  void set_motor(std::size_t joint, const Motor& motor);
  double joint_position(std::size_t joint) const;  // of a hinge: radians; of a slider: metres

  // Throws nothing and stops nothing: find_trouble tells whether it makes sense to go on. With a
  // body that is nowhere (find_flaw of its state) a step ends where that is noticed.
  const StepReport& step();
  const StepReport& report() const;               // of the last step
  std::span<const PairContact> contacts() const;  // of it, in the order of pairs
  const std::optional<Trouble>& find_trouble() const;
  // Of the last step: ways of points of either into the other, appended to `paths`. Where there are
  // more than `most`, some of them, evenly spread. Costs as much as finding the contact did.
  void find_contact_paths(const BodyPair& pair, std::size_t most,
                          std::vector<ContactPath>& paths) const;

  Energies energies() const;
  double time() const { return report().time; }
  // Of all that changes: equal for equal runs.
  std::uint64_t hash() const;

  // All that changes, to go on later with the same bytes. Bodies and settings must be the same.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);  // throws Error where it does not fit

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
