// What a SoftWorld holds.
#pragma once

#include <memory>
#include <vector>

#include "isotact/dynamics/soft/detail/soft_contact.h"
#include "isotact/dynamics/soft/detail/soft_pairs.h"
#include "isotact/dynamics/soft/soft_world.h"

namespace isotact {

namespace detail {

// What hangs together by contacts: solved by one thread.
struct SoftIsland {
  std::vector<SoftId> bodies{};
  std::vector<RigidSide*> rigid{};  // that move
  std::vector<SoftRow*> rows{};
  std::vector<SoftPair*> pairs{};
  std::uint32_t held = 0;
};

// A soft body and a rigid one that may touch.
struct FieldPair {
  SoftId body = 0;
  std::uint32_t rigid = 0;  // of State::rigid
  std::vector<TrianglePair> candidates{};
  std::vector<SoftRow> rows{};
  std::vector<FeatureContact> near{};  // faces and points, see find_points_on_ways
  std::vector<bool> fixed{};           // of `near`: a resting plane holds them apart
};

}  // namespace detail

struct SoftWorld::State {
  SoftWorldSettings settings{};
  std::vector<detail::SoftBody> bodies{};
  std::unique_ptr<BoxTree> broad = std::make_unique<BoxTree>();
  SoftReport report{};
  std::vector<SoftContact> contacts{};
  std::optional<Trouble> trouble{};
  std::vector<Pose> last_poses{};  // of the rigid bodies, a step ago

  // Of the present step.
  double longest_way = 0;  // metres, of all soft bodies and of rigid ones that move
  std::vector<detail::RigidSide> rigid{};
  std::vector<detail::SoftPair> pairs{};
  std::size_t pair_count = 0;  // pairs keep their memory
  std::vector<std::vector<detail::SoftRow>> pair_rows{};
  std::vector<detail::FieldPair> field_pairs{};
  std::vector<detail::SoftIsland> islands{};

  // The parts of a step, in order.
  void ask_deformers(double time);
  void move_bodies();
  bool find_flawed_body();
  bool find_touching_start();
  void look_at_rigid(const World* world);
  void find_pairs();  // whose boxes are near
  void find_contacts(const World* world);
  void look_at_pairs(std::span<const std::uint32_t> numbers);
  void find_islands();
  void solve_island(detail::SoftIsland& island);
  void push(detail::SoftBody& b);  // by what the solver has found
  void hold_apart();               // what it has left
  void hold_islands(const detail::HoldCheck& check);
  std::uint32_t hold_off_points(const detail::HoldCheck& check);
  void note_held();
  void list_contacts();
  void add_loads(World* world) const;
  void sum_up();  // energies, bounds
};

}  // namespace isotact
