// The state of a World.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <vector>

#include "isotact/dynamics/rigid/detail/velocity_solver.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/queries/broad_phase/box_tree.h"

namespace isotact {

namespace detail {

// A part of a body's path in a step. In it the rate of turning is constant.
struct MotionPart {
  double begin = 0, end = 1;  // Shares of the step.
  BodyMotion motion{};
};

struct WorldBody {
  BodySettings settings{};
  RigidBody body{};
  Load load{};                        // User's load, until the next step.
  Twist start{};                      // Before the loads of the step.
  Pose target{};                      // For a kinematic body.
  std::optional<Vec3> target_turn{};  // rad, to the target; none: the smaller turn.
  Vec3 turn{};                        // rad: of a kinematic body in the current step.
  BodyStep step{};                    // The current one.
  Vec3 ball_center{};                 // Body frame.
  double ball_radius = 0;             // Contains its surface; infinite for endless fields.
  Aabb box{};       // Box of its surface, body frame; empty if the ball is infinite.
  double area = 0;  // m^2; 0: it has no points.
  // Metres: no position is deeper inside. A body that goes deeper comes out on the other side.
  double inner_depth = std::numeric_limits<double>::infinity();
  std::optional<PointSphereTree> points{};
  std::shared_ptr<const SweptTracer> all{}, first{};  // of its field
  std::shared_ptr<const SweptTracer> near{};          // of all that touches it but for rounding

  double quiet = 0;  // Seconds since it was last faster than the sleep speed.
  bool asleep = false;
  // Its path in this step, if that is not the straight one of `step`: in order, without gaps.
  std::vector<MotionPart> parts{};
  BodyState slept{};  // State in which it fell asleep.

  bool has_points() const { return points.has_value(); }
  bool has_field() const { return all != nullptr; }
  const PointSphereTree& tree() const { return *points; }
  const AnyField& field() const { return settings.shape->any_field(); }
  double cell() const { return settings.shape->cell(); }
  bool is_bent() const { return !parts.empty(); }
  bool is_dynamic() const { return body.kind == BodyKind::kDynamic; }
  bool moves() const { return is_dynamic() && !asleep; }  // Moves freely.
};

// Contact of a pair in a step whose forces are its own (ForceSolve::kStep).
struct OwnForce {
  // At the start of the step: each round begins there.
  std::array<std::vector<PointStick>, 2> sticks{};
  ContactPush prediction{};
  double energy = 0, area = 0;
  // The next ones are those of the last round.
  double lost = 0;  // J: to dampers and friction
  ContactResponse response{};
  double lean = 0.5;    // Share of impulses that act before bodies move.
  Wrench given{};       // The impulse on A that the last motion had, about `place`; all of it.
  Vec3 place{};         // World.
  double residual = 0;  // `given` against the impulse of the path, as a share.
  // The last guess of a round in which it touched, and the slip at which that was.
  ContactPush guess{};
  Twist guess_slip{};
  bool guessed = false;
  // An impact may take it: the prediction stands.
  bool held = false;
};

// Two bodies between which no point can be inside before they have moved this far from these poses.
struct Clearance {
  double free_move = 0;  // Metres; 0: unknown.
  std::array<Vec3, 2> centers{};
  std::array<Quat, 2> rotations{};
};

// Memory of a pair from step to step.
struct PairState {
  BodyPair pair{};
  std::array<std::vector<PointStick>, 2> sticks{};  // Points of A in B, points of B in A.
  Vec3 impulse{};                                   // N s on A, in the current step.
  Vec3 angular_impulse{};  // N m s on A about the world's origin, in the current step.
  ContactPush push{};      // For the next step.
  double stored = 0;       // J: the part of push.taken that springs hold.
  double carried = 0;      // N/m^3: stiffness that bears the load within the stated depth.
  bool touches = false, touched = false;  // In this step, in the one before.
  Contact contact{};                      // The deepest, or the last known one.
  bool apart = false;                     // Their boxes have separated.
  // Values of the current step.
  std::uint32_t points = 0, sticking = 0;
  double area = 0, depth = 0, energy = 0;
  bool impact = false;
  OwnForce own{};
  SweptWork work{};
  double hold_depth = 0;
  std::vector<DeepPoint> deep{};  // Points to hold, until some are chosen.
  double detection_seconds = 0, force_seconds = 0;
  // Memory of the points of each in the field of the other. No result depends on it.
  std::array<SweptScratch, 2> memory{};
  Clearance clearance{};  // The same.
};

}  // namespace detail

struct World::State {
  WorldSettings settings{};
  std::vector<detail::WorldBody> bodies{};
  std::vector<detail::PairState> pairs{};       // sorted; those of the last step
  std::vector<detail::PairState> last_pairs{};  // empty between steps: keeps its memory
  std::unique_ptr<BoxTree> broad{};             // of the boxes that bodies fill in a step
  std::vector<Aabb> boxes{};                    // these
  std::map<BodyPair, ContactMaterial> materials{};
  std::vector<BodyPair> ignored{};  // Sorted.
  std::vector<JointSettings> joints{};
  std::vector<PairContact> contacts{};
  StepReport report{};
  std::optional<Trouble> trouble{};
  std::size_t complete_bodies = 0;                                 // that make_points has seen
  double energy_start = 0, potential_start = 0, energy_bound = 0;  // J: see look_for_trouble

  double bound_energy() const;
  // The parts of a step, in order.
  void make_points();        // Makes those that bodies need to touch others; then check_roles.
  void check_roles() const;  // Throws Error for a dynamic pair that could not touch.
  void note_start();
  // Everything up to the contacts of the step; false if a body is flawed then.
  bool advance();
  bool advance_by_own_forces();  // The same for ForceSolve::kStep (step_forces.cpp).
  void apply_loads();            // Changes momenta.
  // `held`: J that a contact may give at most, if its bodies are slow.
  double compute_spare_energy(const detail::PairState& pair, double held) const;
  void solve_velocities();  // By contacts and joints.
  void move_bodies();       // Changes poses; `step` of each has the motion.
  void find_pairs();        // Pairs that may touch.
  bool add_pairs();         // Pairs of bodies that have left their boxes; whether there are any.
  void mark_impacts();      // Sets OwnForce::held of pairs that are about to have one.
  bool may_meet(const BodyPair& pair) const;
  void resolve_impacts();
  template <typename Use>
  void with_impacts(Use&& use);
  std::vector<double> compute_kinetic() const;  // J, of each body.
  // Credits contacts with the energy that impacts took. `kinetic`: J, before the impacts.
  void credit_impacts(const std::vector<double>& kinetic);
  void find_contacts();  // Also computes the impulses of the next step.
  void list_contacts();
  bool find_flawed_body();
  void look_for_trouble();

  void wake_changed();
  void wake(BodyId id);
  void wake_pair(BodyId a, BodyId b);
  void wake_touched();
  void put_to_sleep();
  template <typename Visit>
  void for_each_link(Visit&& visit) const;

  bool rests(const BodyPair& pair) const {  // Neither of them moves.
    const detail::WorldBody &a = bodies[pair.a], &b = bodies[pair.b];
    return (a.asleep && !b.moves() && b.body.kind != BodyKind::kKinematic) ||
           (b.asleep && !a.moves() && a.body.kind != BodyKind::kKinematic);
  }
  void look_at_pair(detail::PairState& pair) const;
  class StepForces;
  static void keep_if_ended(detail::PairState& pair, std::vector<detail::PairState>& next);
  void note_load(detail::PairState& pair) const;  // That of the last step.
  // Metres. A constraint holds points that are deeper.
  double compute_hold_depth(const BodyPair& pair) const;
  void hold_points(detail::PairState& pair, double depth) const;  // In the next step.
  void hold_after_impact(detail::PairState& pair) const;          // The same.
  ContactMaterial material_of(const BodyPair& pair, double carried = 0) const;
  Energies energies() const;
};

}  // namespace isotact

namespace isotact::detail {

// Common parts of a step and its impacts.

// The turn from one rotation to another, the smaller one, as a rate.
Vec3 mean_rate(const Quat& from, const Quat& to, double step);
// Whether no point of either is inside the other in this step. Paths must be straight
// (MotionModel::kStraight). Costs a twentieth of a trace.
bool stays_clear(const Clearance& clearance, const WorldBody& a, const WorldBody& b);
// Notes the clearance of a pair that its traces in this step have found without contact.
void note_clearance(PairState& pair, const WorldBody& a, const WorldBody& b, bool points_of_a,
                    bool points_of_b);
// Throw Error for numbers out of range, and for joints of bodies that are not there.
void check_material(const ContactMaterial& material);
void check_joint(const JointSettings& joint, std::size_t bodies);

// Metres: walls of a body that are at least as thick are found by the points of another one.
double thinnest_wall(const WorldBody& points, const WorldBody& wall);

double compute_area(const WorldBody& a, const WorldBody& b);      // m^2 of the smaller surface.
double compute_diagonal(const WorldBody& a, const WorldBody& b);  // Metres, of the smaller body.

// From its start (step.motion.from, step.center_from) to its current pose.
void finish_body_step(WorldBody& body, double step);

// Bodies as the velocity solver takes them: those that sleep are static.
struct SolverBodies {
  std::vector<RigidBody*> all{};
  std::vector<RigidBody> held{};
  std::vector<Twist> twists{};  // of driven bodies
};
void list_solver_bodies(std::vector<WorldBody>& bodies, double step, SolverBodies& result);

// kg; infinite for bodies that are not dynamic. That of a pair is the reduced one.
double mass_of(const WorldBody& body);
inline double mass_of(const WorldBody& a, const WorldBody& b) {
  return 1 / (1 / mass_of(a) + 1 / mass_of(b));
}

// For ForceSolve::kStep: dampers and the drag of sticking points, as an oscillation that is not
// resolved by the step decays in it (docs/dynamics.md). `touching`: m^2;
// `mass`: of the pair. Returns the share of impulses that act before bodies move.
double adapt_to_step(ForceSettings& forces, double touching, double mass, double step);

// Contains the surface along the whole path. The path is the free one: impacts may leave it.
Aabb compute_swept_box(const WorldBody& body, double step);

// Pose of a kinematic body at a share of the step.
Pose driven_pose(const WorldBody& body, double time);

// The paths of two bodies, cut where one of them is bent. In a piece both turn at constant rates.
struct StepPiece {
  double share = 1;  // Fraction of the step.
  BodyStep a{}, b{};
};
std::vector<StepPiece> list_pieces(const WorldBody& a, const WorldBody& b, double step);

}  // namespace isotact::detail
