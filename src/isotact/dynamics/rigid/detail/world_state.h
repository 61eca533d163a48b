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

struct WorldBody {
  BodySettings settings{};
  RigidBody body{};
  Load load{};             // User's load, until the next step.
  Twist start{};           // Before the loads of the step.
  Pose target{};           // For a kinematic body.
  BodyStep step{};         // The current one.
  Vec3 ball_center{};      // Body frame.
  double ball_radius = 0;  // Contains its surface; infinite for endless fields.
  Aabb box{};              // Box of its surface, body frame; empty if the ball is infinite.
  double area = 0;         // m^2; 0: it has no points.
  // Metres: no position is deeper inside. A body that goes deeper comes out on the other side.
  double inner_depth = std::numeric_limits<double>::infinity();
  std::optional<PointSphereTree> points{};
  std::shared_ptr<const SweptTracer> all{}, first{};  // of its field
  std::shared_ptr<const SweptTracer> near{};          // of all that touches it but for rounding

  double quiet = 0;  // Seconds since it was last faster than the sleep speed.
  bool asleep = false;
  bool bent = false;  // Its path in this step is not that of `step`, which has its end.
  BodyState slept{};  // State in which it fell asleep.

  bool has_points() const { return points.has_value(); }
  bool has_field() const { return all != nullptr; }
  const PointSphereTree& tree() const { return *points; }
  const AnyField& field() const { return settings.shape->any_field(); }
  double cell() const { return settings.shape->cell(); }
  bool is_dynamic() const { return body.kind == BodyKind::kDynamic; }
  bool moves() const { return is_dynamic() && !asleep; }  // Moves freely.
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
  SweptWork work{};
  double hold_depth = 0;
  std::vector<DeepPoint> deep{};  // Points to hold, until some are chosen.
  double detection_seconds = 0, force_seconds = 0;
  // Memory of the points of each in the field of the other. No result depends on it.
  std::array<SweptScratch, 2> memory{};
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
  std::size_t complete_bodies = 0;  // for which make_points has looked
  double energy_start = 0, potential_start = 0, energy_bound = 0;  // J: see look_for_trouble

  double bound_energy() const;
  // The parts of a step, in order.
  void make_points();        // Of bodies that need them to touch others; then check_roles.
  void check_roles() const;  // Throws Error for a dynamic pair that could not touch.
  void note_start();
  void apply_loads();  // Changes momenta.
  double compute_spare_energy(const detail::PairState& pair) const;
  void solve_velocities();  // By contacts and joints.
  void move_bodies();       // Changes poses; `step` of each has the motion.
  void find_pairs();        // Pairs that may touch.
  bool may_meet(const BodyPair& pair) const;
  void resolve_impacts();
  std::vector<double> compute_kinetic() const;  // J, of each body.
  // What impacts took from bodies belongs to their contacts: `kinetic` is that before them.
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
  static void keep_if_ended(detail::PairState& pair, std::vector<detail::PairState>& next);
  void note_load(detail::PairState& pair) const;  // Of the last step.
  // Metres. A constraint holds points that are deeper.
  double compute_hold_depth(const BodyPair& pair) const;
  void hold_points(detail::PairState& pair, double depth) const;  // In the next step.
  ContactMaterial material_of(const BodyPair& pair, double carried = 0) const;
  Energies energies() const;
};

}  // namespace isotact

namespace isotact::detail {

// Common parts of a step and its impacts.

// Throw Error for numbers out of range, and for joints of bodies that are not there.
void check_material(const ContactMaterial& material);
void check_joint(const JointSettings& joint, std::size_t bodies);

double mass_of(const WorldBody& body);  // kg; infinite for bodies that do not move freely.
double compute_area(const WorldBody& a, const WorldBody& b);      // m^2 of the smaller surface.
double compute_diagonal(const WorldBody& a, const WorldBody& b);  // Metres, of the smaller body.

// From its start (step.motion.from, step.center_from) to its current pose.
void finish_body_step(WorldBody& body, double step);

}  // namespace isotact::detail
