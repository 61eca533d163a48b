// Rigid bodies that move and touch: XB14, sections 4 and 5.
//
//   World world({.step = 1e-3});
//   world.add_body({.name = "ground",
//                   .kind = BodyKind::kStatic,
//                   .shape = Shape::from_analytic(PlaneField{})});
//   world.add_body({.name = "bunny", .shape = bunny, .mass = mass, .pose = start});
//   for (int i = 0; i < 1000; ++i) world.step();
//
// In a step, gravity, loads, joints and contacts change the momenta, and the bodies move
// (symplectic Euler). Contacts along their paths give the forces of the next step. The same bodies
// in the same order with the same settings give the same bytes for any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/model/joint.h"
#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/dynamics/rigid/contact_force.h"
#include "isotact/export.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/shape.h"

namespace ISOTACT_PUBLIC isotact {

using BodyId = std::uint32_t;

struct BodyPair {
  BodyId a = 0, b = 0;  // a < b

  friend auto operator<=>(const BodyPair&, const BodyPair&) = default;
};

// Surface properties of a body. A pair has both springs in series, the geometric mean of frictions,
// the larger restitution, and the mean damping ratio.
struct SurfaceMaterial {
  // N/m^3: pressure per metre of depth. 0: chosen by mass and time step, see pair_material.
  double stiffness = 0;
  double damping_ratio = 0.3;  // 1: critical if a tenth of the smaller surface touches.
  double friction = 0.5;       // Coulomb's coefficient.
  double restitution = 0.3;    // For impacts (see ImpactRule).
};

enum class ForceSolve : std::uint8_t {
  // Contact forces respond to the velocities of the step. Touching bodies are solved together.
  // Stable with stiff contact.
  kImplicit,
  kExplicit,  // Contacts of one step act in the next (XB14). Stiff contact needs small steps.
  // The contact forces of a step are the means along the paths of this same step, found by
  // iteration: Newton's method, one evaluation of all contacts that have not converged per round.
  // Springs without dampers keep their energy at any stiffness. Velocities are those of the end
  // of a step; with the other rules they are those of its middle.
  kStep,
};

// Inputs of a pair's force law.
struct PairSides {
  SurfaceMaterial a{}, b{};
  double mass_a = 0, mass_b = 0;  // kg; infinite for static and kinematic bodies.
  double area = 0;                // m^2 of the smaller surface.
  double step = 0;                // Seconds.
  ForceSolve solve = ForceSolve::kImplicit;
  // N/m^3: least stiffness of the pair that bears its load. Replaces a smaller stiffness that the
  // library chooses; 0: no load is known.
  double carried = 0;
};
// Returns a material that is stable by default (docs/dynamics.md has the reasons). A stiffness of 0
// is chosen by mass and step. With the whole surface inside, K h^2 / m is 100 for implicit steps.
// For explicit ones it is 0.25, the stability limit. The damper is then limited by the step as
// well.
// Worlds with implicit steps add the load that a pair carries.
ContactMaterial pair_material(const PairSides& sides);

// Metres: points of one body find the wall of another if it is at least as thick: the covering
// radius of the points, plus the error of the wall's field at both of its sides. With
// ImpactRule::kAuto no body ends behind such a wall. Infinite without points or without a field.
double compute_thinnest_wall(const Shape& points, const Shape& wall);

struct BodySettings {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  // Two bodies touch if one has points and the other a field. A body has the points that its shape
  // was made with. The first step makes them for dynamic bodies that are analytic, and for those
  // that could not touch another body otherwise. The step throws Error for a pair with a dynamic
  // body that cannot touch (two pointshells, two shapes without end), unless ignore_pair names it.
  // None: the body touches nothing.
  std::optional<Shape> shape{};
  BodyMass mass{};
  Pose pose{};  // world_from_body
  Vec3 velocity{}, angular_velocity{};
  SurfaceMaterial material{};
  bool fast = false;  // see ImpactRule
};

// A penalty cannot stop a body that crosses a wall within one step. An impact can: both bodies move
// to the time of first contact, receive an impulse there, and continue.
enum class ImpactRule : std::uint8_t {
  kOff,
  kFlagged,  // Bodies with `fast` set.
  // Also bodies that move by more than a tenth of their size in a step. The same holds for more
  // than half of the greatest inner depth of one of the two (thin walls). Also contacts that begin
  // faster than what gravity adds in a step, if the library chose the stiffness of both bodies (0).
  kAuto,
};

enum class ContactRule : std::uint8_t {
  kContinuous,  // XB14
  kDiscrete,    // For comparison: overlaps at the end of the step.
  kOff,
};

struct WorldSettings {
  double step = 1e-3;  // seconds
  Vec3 gravity{0, -9.81, 0};
  ContactRule contact = ContactRule::kContinuous;
  ForceSolve solve = ForceSolve::kImplicit;
  ImpactRule impacts = ImpactRule::kAuto;
  // Paths of points within a step. Straight paths (XB14) suffice for small rotations.
  MotionModel motion = MotionModel::kStraight;
  ShellTraversal traversal = ShellTraversal::kTree;
  RootSearch roots = RootSearch::kAll;
  ForceSettings forces{};  // The material is ignored: each pair has its own.
  TurnRule turns = TurnRule::kMidpoint;
  // For kStep. A set of bodies is solved again as long as an impulse differs from that of its path
  // by more than this share, in this number of rounds. StepReport::residual has what remains.
  double force_tolerance = 1e-3;
  int force_rounds = 8;
  // m/s. Connected bodies sleep if no point of them was faster for half a second. They wake if
  // something touches or moves them. 0: no body sleeps.
  double sleep_speed = 0;
  // A run is in trouble if the energy exceeds this multiple of the initial and added energy.
  double energy_factor = 10;
  Threads threads{};
};

enum class ContactPhase : std::uint8_t { kBegin, kPersist, kEnd };

// A touching pair.
struct PairContact {
  BodyPair pair{};
  ContactPhase phase = ContactPhase::kBegin;
  Contact contact{};  // The deepest contact at the end of the step, or the last known one.
  Vec3 impulse{};     // N s, on A in this step.
  // N m s, on A about the world's origin. Snapshots do not store it: restored sleeping pairs have
  // the value of an impulse at the contact's position.
  Vec3 angular_impulse{};
  double area = 0;  // m^2
  std::uint32_t points = 0, sticking = 0;
  bool impact = false;  // The pair received an impact at its time of contact.
};

// Path of a point of one body through the other in the last step: one straight piece of its swept
// path. It is relative to the other body, and drawn at that body's current pose.
struct ContactPath {
  Vec3 from{}, to{};          // Metres, world frame: start and end of the piece.
  float enter = 0, exit = 0;  // Interval inside, 0 to 1 along the piece.
};

// J. The potential is relative to the height of the origin. `springs` is what contacts can give
// back: for implicit steps no more than they took from the bodies.
struct Energies {
  double kinetic = 0, potential = 0, springs = 0;
  double total() const { return kinetic + potential + springs; }
};

struct PhaseTimes {
  double broad = 0, detection = 0, forces = 0, motion = 0;  // seconds
};

struct StepReport {
  std::uint64_t number = 0;  // Step number, from 1.
  double time = 0;           // Seconds since the start.
  std::uint32_t pairs = 0;   // Candidate pairs of the broad phase.
  std::uint32_t contacts = 0;
  std::uint32_t points = 0;          // Points in contact.
  std::uint32_t islands = 0;         // Sets of bodies that are solved together.
  std::uint32_t largest_island = 0;  // Bodies in the largest one.
  std::uint32_t asleep = 0;          // Sleeping bodies.
  std::uint32_t impacts = 0;         // Moments at which bodies were separated by impulses.
  // Impacts by sub-steps of a 64th of a step: those of pairs that could not be separated in the
  // allowed number of impacts. They have no restitution.
  std::uint32_t substeps = 0;
  // Sets of bodies whose contacts pushed less than their springs ask for, since they would have
  // given back more energy than they took (implicit steps).
  std::uint32_t limited = 0;
  // For ForceSolve::kStep: rounds in which contacts were evaluated along the step's own paths (1:
  // the prediction was right), evaluations of pairs in all of them, and the largest difference
  // that remains between the impulse of a pair and that of its path, as a share.
  std::uint32_t force_rounds = 0, evaluations = 0;
  double residual = 0;
  double depth = 0;  // Metres: greatest depth.
  // Points that constraints hold in the next step, since they are or may get too deep for a
  // penalty, and the greatest depth (metres) of a touching pair beyond which they do. With springs
  // that the library chooses it is a thousandth of the smaller body's diagonal, but at most half of
  // the greatest inner depth of a body that is entered; with springs of the user it is the latter.
  std::uint32_t held = 0;
  double hold_depth = 0;
  Energies energies{};
  SweptWork work{};
  PhaseTimes seconds{};
};

// Why a run cannot continue: a message with the likely cause.
struct Trouble {
  BodyId body = 0;
  double time = 0;
  std::string message;
};

class World {
 public:
  explicit World(const WorldSettings& settings = {});  // Throws Error for invalid settings.
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  ~World();

  // Throws Error for a body that moves without mass, and for numbers out of range.
  BodyId add_body(const BodySettings& settings);

  const WorldSettings& settings() const;
  std::size_t body_count() const;
  const RigidBody& body(BodyId id) const;
  RigidBody& body(BodyId id);  // To set its state between steps.
  const BodySettings& body_settings(BodyId id) const;
  Pose pose(BodyId id) const { return world_from_body(body(id)); }
  // The points by which it touches others; null if it has none, or the first step is to make them.
  const PointSphereTree* points(BodyId id) const;

  // For the next step: a load in addition to gravity, about the centre of mass; the pose of a
  // kinematic body at its end.
  void add_load(BodyId id, const Load& load);
  void move_to(BodyId id, const Pose& world_from_body);
  // The same, with the rotation vector in rad (world frame) that leads from the current rotation to
  // that of the pose: it may have any number of turns. Without it the smaller turn is taken.
  // Throws Error for a turn that does not lead there within 1e-6 rad, or of more than 1e5 rad.
  void move_to(BodyId id, const Pose& world_from_body, const Vec3& turn);
  // Throws Error for unknown or equal bodies, and for numbers out of range.
  void set_pair_material(BodyId a, BodyId b, const ContactMaterial& material);
  void ignore_pair(BodyId a, BodyId b);

  bool is_asleep(BodyId id) const;
  void wake(BodyId id);  // Wakes all bodies that are connected to it as well.

  // Throws Error for unknown or equal bodies, for limits, motors and friction that are out of
  // range, and for a joint kind without them. Jointed bodies do not collide with each other unless
  // `may_touch` is set.
  std::size_t add_joint(const JointSettings& j);
  std::span<const JointSettings> joints() const;
  // Throws Error for an unknown joint, a kind without motors, and numbers out of range.
  void set_motor(std::size_t joint, const Motor& motor);
  double joint_position(std::size_t joint) const;  // Hinge: radians; slider: metres.

  // Call trouble to learn whether the run is still valid. A step ends early if a body's state
  // has a flaw (find_flaw). Throws Error only if bodies cannot get what they need to touch (see
  // BodySettings::shape), before anything changes.
  const StepReport& step();
  const StepReport& report() const;               // About the last step.
  std::span<const PairContact> contacts() const;  // The last step's, in the order of pairs.
  const std::optional<Trouble>& trouble() const;
  // Appends paths of points of either body into the other in the last step. If there are more than
  // `most`, an evenly spread selection. Cost: as much as finding the contact.
  void find_contact_paths(const BodyPair& pair, std::size_t most,
                          std::vector<ContactPath>& paths) const;

  Energies energies() const;
  // Metres: the largest compute_thinnest_wall of two bodies that may meet. 0 before the first step
  // has made points, and in worlds without pairs.
  double thinnest_wall() const;
  double time() const { return report().time; }
  // Hash of the whole state; equal for equal runs.
  std::uint64_t hash() const;

  // The whole state, to continue later with the same bytes: bodies, contacts, joints with their
  // motors, materials of pairs, and ignored pairs. Bodies and settings must be the same; restore
  // throws Error for a snapshot of another world.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
