// The parts of a soft body, and its own motion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/queries/deformable/deformable_surface.h"
#include "isotact/queries/deformable/features.h"
#include "isotact/queries/deformable/object_tree.h"

namespace isotact::detail {

struct SoftSpring {
  std::uint32_t a = 0, b = 0;
  double rest = 0;       // Metres.
  double stiffness = 0;  // N/m
};

struct ImplicitSolver;  // State of backward Euler between steps.
struct RigidSide;       // soft_contact.h

struct SoftBody {
  SoftBodySettings settings{};
  SurfaceTopology topology{};
  std::vector<SoftSpring> springs{};           // Along edges, across them, struts.
  std::size_t edge_springs = 0;                // The first ones.
  std::vector<double> mass{}, inverse_mass{};  // 0: pinned, or driven.
  double total_mass = 0;
  double mean_edge = 0;  // Metres, at rest.
  double margin = 0;
  double stable_step = 0;  // Seconds.
  int substeps = 1;
  bool closed = false, steered = false, driven = false;

  // Changing state.
  std::vector<Vec3> x{}, v{};       // v: of the last part of a step.
  std::vector<double> rest_area{};  // Per triangle; empty if no spring keeps areas.
  double rest_volume = 0;
  Vec3 heading{};           // For a steered body.
  std::uint64_t drawn = 0;  // Number of headings drawn so far.
  bool started = false;     // v is half a step behind, as in leapfrog.
  bool edited = false;      // Others may write to x between steps.
  bool broken = false;      // A number is not finite.
  // Contacts have pushed it in this step; it was held back since `off` was found.
  bool pushed = false, held = false;

  // Values of the current step.
  std::vector<Vec3> x0{};      // At its start.
  std::vector<Vec3> change{};  // Change of velocity, by contacts.
  std::vector<Vec3> force{};
  Aabb box{}, box0{};
  Sphere ball{};
  double reach = 0;  // Metres: the longest path of a vertex.
  Vec3 mean_way{};   // Approximate.
  // If contacts have pushed it: positions without contacts, and the largest distance of a vertex
  // from them.
  std::vector<Vec3> predicted{};
  double off = 0;
  Aabb room{};                           // No vertex ends outside.
  std::vector<RigidSide*> near_rigid{};  // Bodies whose fields it may touch.

  std::shared_ptr<ImplicitSolver> solver{};
  std::optional<ObjectTree> tree{};
  std::vector<FeatureContact> near_at_rest{};  // For self contact, sorted.
};

// Throws Error as described at SoftWorld::add_body.
SoftBody make_soft_body(const SoftBodySettings& settings, const SoftWorldSettings& world);
void add_struts(SoftBody& b);

// Adds forces of springs, areas and volume at given positions and velocities to `force`.
void add_forces(const SoftBody& b, const Vec3* x, const Vec3* v, Vec3* force);
double compute_elastic_energy(const SoftBody& b);
double compute_volume(const SoftBody& b, const Vec3* x);
// Rest lengths, areas and volume follow the strain beyond the yield strain.
void flow(SoftBody& b, double step);
// Moves ends of edges that are too long or too short along them; keeps momentum. Returns whether
// there were any.
bool limit_strain(SoftBody& b);

struct SoftMotion {
  double step = 0, time = 0;  // At its end.
  Vec3 gravity{};
  SoftIntegrator integrator = SoftIntegrator::kVerlet;
  int newton_steps = 1;
  std::optional<Aabb> cube{};
};

// Bounds of the positions that a loop over vertices writes. Bounds come from these loops, not from
// separate ones (5.2 of the paper).
struct BoundsNote {
  Aabb box{};
  Vec3 about{};
  double far_sq = 0, way_sq = 0;
  Vec3 sum{};  // Not finite if a position is not: minima and maxima ignore NaN.

  void add(const Vec3& from, const Vec3& to) {
    extend(box, to);
    sum += to;
    far_sq = std::max(far_sq, length_sq(to - about));
    way_sq = std::max(way_sq, length_sq(to - from));
  }
  void give(SoftBody& b) const;
};

// Sets the mean velocity of a steered body.
void steer(SoftBody& b, const SoftMotion& m);
// Moves from x0 to x, by forces, and updates box, ball and reach. The deformer of a driven body
// must have written x before.
void move(SoftBody& b, const SoftMotion& m);
void move_implicitly(SoftBody& b, const SoftMotion& m);
// Updates box, ball and reach after a change of positions.
void update_bounds(SoftBody& b);

}  // namespace isotact::detail
