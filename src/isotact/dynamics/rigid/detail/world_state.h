// What a World holds.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <vector>

#include "isotact/dynamics/detail/velocity_solver.h"
#include "isotact/dynamics/world.h"

namespace isotact {

namespace detail {

struct WorldBody {
  BodySettings settings{};
  RigidBody body{};
  Load load{};             // of the user, until the next step
  Pose target{};           // of a kinematic body
  BodyStep step{};         // the present one
  Vec3 ball_center{};      // in the body's frame
  double ball_radius = 0;  // of its surface, about that; infinite for fields without end
  Aabb box{};              // of its surface, in the body's frame; empty where the ball is infinite
  double area = 0;         // m^2; 0: it has no points
  // Metres: no place is deeper inside. What goes deeper than that comes out on the other side.
  double inner_depth = std::numeric_limits<double>::infinity();
  std::shared_ptr<const SweptTracer> all{}, first{};  // of its field

  double quiet = 0;  // seconds since it was last faster than the speed of sleep
  bool asleep = false;
  BodyState slept{};  // where it fell asleep

  bool has_points() const { return settings.shape && settings.shape->tree(); }
  bool has_field() const { return all != nullptr; }
  const PointSphereTree& tree() const { return *settings.shape->tree(); }
  bool is_dynamic() const { return body.kind == BodyKind::kDynamic; }
  bool moves() const { return is_dynamic() && !asleep; }  // freely
};

// What a pair remembers from step to step.
struct PairState {
  BodyPair pair{};
  std::vector<PointStick> sticks[2]{};    // of points of A in B, of points of B in A
  Vec3 impulse{};                         // N s on A, of the present step
  Vec3 angular_impulse{};                 // N m s on A about the world's origin; so, too
  ContactPush push{};                     // for the next
  bool touches = false, touched = false;  // in this step, in the one before
  Contact contact{};                      // the deepest, or what it last was
  bool apart = false;                     // their boxes have left each other
  // Of the present step.
  std::uint32_t points = 0, sticking = 0;
  double area = 0, depth = 0, energy = 0;
  bool impact = false;
  SweptCounts counts{};
  double detection_seconds = 0, force_seconds = 0;
  // Of the points of each in the field of the other. No result depends on it.
  std::array<SweptMemory, 2> memory{};
};

}  // namespace detail

struct World::State {
  WorldSettings settings{};
  std::vector<detail::WorldBody> bodies{};
  std::vector<detail::PairState> pairs{};       // sorted; those of the last step
  std::vector<detail::PairState> last_pairs{};  // empty between steps: keeps its memory
  std::map<BodyPair, ContactMaterial> materials{};
  std::vector<BodyPair> ignored{};  // sorted
  std::vector<JointSettings> joints{};
  std::vector<PairContact> contacts{};
  StepReport report{};
  std::optional<Trouble> trouble{};
  double energy_start = 0, potential_start = 0, energy_bound = 0;  // J: see look_for_trouble

  double bound_energy() const;
  // The parts of a step, in order.
  void note_start();
  void apply_loads();       // momenta change
  void solve_velocities();  // by contacts and joints
  void move_bodies();       // poses change; `step` of each says how
  void find_pairs();        // that may touch
  void resolve_impacts();
  void find_contacts();  // and the impulses of the next step
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

  bool rests(const BodyPair& pair) const {  // neither of them moves
    const detail::WorldBody &a = bodies[pair.a], &b = bodies[pair.b];
    return (a.asleep && !b.moves() && b.body.kind != BodyKind::kKinematic) ||
           (b.asleep && !a.moves() && a.body.kind != BodyKind::kKinematic);
  }
  void look_at_pair(detail::PairState& pair) const;
  static void keep_if_ended(detail::PairState& pair, std::vector<detail::PairState>& next);
  ContactMaterial material_of(const BodyPair& pair) const;
  Energies energies() const;
};

}  // namespace isotact
