// The state of a SoftWorld.
#pragma once

#include <memory>
#include <vector>

#include "isotact/dynamics/soft/detail/soft_contact.h"
#include "isotact/dynamics/soft/soft_world.h"

namespace isotact {

namespace detail {

struct BarrierState;

// Bodies that contacts connect: solved by one thread.
struct SoftIsland {
  std::vector<SoftId> bodies{};
  std::vector<RigidSide*> rigid{};  // Those that move.
  std::vector<SoftRow*> rows{};
  std::vector<SoftPair*> pairs{};
  std::uint32_t held = 0;
};

// A soft body and a rigid one that may touch.
struct FieldPair {
  SoftId body = 0;
  std::uint32_t rigid = 0;  // Index into State::rigid.
  std::vector<TrianglePair> candidates{};
  std::vector<SoftRow> rows{};
  std::vector<FeatureContact> near{};  // Faces and points, see find_points_on_paths.
  std::vector<bool> fixed{};           // For `near`: a resting plane separates them.
};

}  // namespace detail

struct SoftWorld::State {
  SoftWorldSettings settings{};
  std::vector<detail::SoftBody> bodies{};
  std::unique_ptr<BoxTree> broad = std::make_unique<BoxTree>();
  SoftReport report{};
  std::vector<SoftContact> contacts{};
  std::optional<Trouble> trouble{};
  std::vector<Pose> last_poses{};  // Poses of the rigid bodies, one step ago.

  // Values of the current step.
  double longest_way = 0;  // Metres, of soft bodies and of moving rigid ones.
  std::vector<detail::RigidSide> rigid{};
  std::vector<detail::SoftPair> pairs{};
  std::size_t pair_count = 0;  // Pairs keep their memory.
  std::vector<std::vector<detail::SoftRow>> pair_rows{};
  std::vector<detail::FieldPair> field_pairs{};
  std::vector<detail::SoftIsland> islands{};

  // With barriers.
  std::shared_ptr<detail::BarrierState> barrier{};
  void make_barrier(const World* world);
  void step_barrier(World* world);
  bool take_parts(int parts, const std::vector<Vec3>& turnings);
  void finish_barrier(World* world);

  // The parts of a step, in order.
  void ask_deformers(double time);
  void move_bodies();
  bool find_flawed_body();
  bool find_touching_start();
  void check_rigid(const World& world) const;  // Throws Error for a body without a field.
  void look_at_rigid(const World* world);
  void find_pairs();  // Pairs whose boxes are near.
  void find_contacts(const World* world);
  void look_at_pairs(std::span<const std::uint32_t> numbers);
  void find_islands();
  void solve_island(detail::SoftIsland& island);
  void push(detail::SoftBody& b);  // By the result of the solver.
  void hold_apart();               // The rest after the solver.
  void hold_islands(const detail::HoldCheck& check);
  std::uint32_t hold_off_points(const detail::HoldCheck& check);
  void note_held();
  void list_contacts();
  void add_loads(World* world) const;
  void sum_up();  // Energies, bounds.
};

}  // namespace isotact
