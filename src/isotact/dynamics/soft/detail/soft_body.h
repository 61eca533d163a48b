// What a body that bends is made of, and how it moves by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/queries/deformable/features.h"
#include "isotact/queries/deformable/object_tree.h"
#include "isotact/queries/deformable/surface.h"

namespace isotact::detail {

struct SoftSpring {
  std::uint32_t a = 0, b = 0;
  double rest = 0;       // metres
  double stiffness = 0;  // N/m
};

struct ImplicitSolver;  // what backward Euler keeps between steps
struct RigidSide;       // soft_contact.h

struct SoftBody {
  SoftBodySettings settings{};
  SurfaceTopology topology{};
  std::vector<SoftSpring> springs{};           // along edges, across them, struts
  std::size_t edge_springs = 0;                // the first ones
  std::vector<double> mass{}, inverse_mass{};  // 0: pinned, or driven
  double total_mass = 0;
  double mean_edge = 0;  // metres, at rest
  double thickness = 0;
  double stable_step = 0;  // seconds
  int substeps = 1;
  bool closed = false, steered = false, driven = false;

  // What changes.
  std::vector<Vec3> x{}, v{};       // v: of the last part of a step
  std::vector<double> rest_area{};  // of triangles; empty where nothing keeps them
  double rest_volume = 0;
  Vec3 heading{};           // of what is steered
  std::uint64_t drawn = 0;  // how often a heading has been drawn
  bool started = false;     // v is half a step behind, as leapfrog has it
  bool edited = false;      // somebody may write to x between steps
  bool broken = false;      // a number is not finite
  // Contacts have pushed it in this step; it was held back since `off` was found.
  bool pushed = false, held = false;

  // Of the present step.
  std::vector<Vec3> x0{};      // at its beginning
  std::vector<Vec3> change{};  // of velocity, by contacts
  std::vector<Vec3> force{};
  Aabb box{}, box0{};
  Sphere ball{};
  double reach = 0;  // metres: the longest way of a vertex
  Vec3 mean_way{};   // about
  // Where contacts have pushed it: where it would be without, and how far from there a vertex is.
  std::vector<Vec3> predicted{};
  double off = 0;
  Aabb room{};                           // no vertex ends outside
  std::vector<RigidSide*> near_rigid{};  // whose fields it may touch

  std::shared_ptr<ImplicitSolver> solver{};
  std::optional<ObjectTree> tree{};
  std::vector<FeatureContact> near_at_rest{};  // of self contact, sorted
};

// Throws Error as SoftWorld::add_body says.
SoftBody make_soft_body(const SoftBodySettings& settings, const SoftWorldSettings& world);
void add_struts(SoftBody& b);

// Forces of springs, areas and volume at some places and velocities, on top of what is in `force`.
void add_forces(const SoftBody& b, const Vec3* x, const Vec3* v, Vec3* force);
double find_elastic_energy(const SoftBody& b);
double find_volume(const SoftBody& b, const Vec3* x);
// Rest lengths, areas and volume follow what is beyond the yield strain.
void flow(SoftBody& b, double step);
// Moves ends of edges that are too long or too short along them; keeps momentum. Whether some were.
bool limit_strain(SoftBody& b);

struct SoftMotion {
  double step = 0, time = 0;  // at its end
  Vec3 gravity{};
  SoftIntegrator integrator = SoftIntegrator::kVerlet;
  int newton_steps = 1;
  std::optional<Aabb> cube{};
};

// What the loops that move vertices note of the places that they write: bounds come out of these
// loops, not of others (5.2 of the paper).
struct BoundsNote {
  Aabb box{};
  Vec3 about{};
  double far_sq = 0, way_sq = 0;
  Vec3 sum{};  // not finite where a place is not: minima and maxima pass over NaN

  void add(const Vec3& from, const Vec3& to) {
    extend(box, to);
    sum += to;
    far_sq = std::max(far_sq, length_sq(to - about));
    way_sq = std::max(way_sq, length_sq(to - from));
  }
  void give(SoftBody& b) const;
};

// From x0 to x, by forces; box, ball and reach come along. The deformer of a driven body must have
// written x before.
void move(SoftBody& b, const SoftMotion& m);
void move_implicitly(SoftBody& b, const SoftMotion& m);
// Places have changed since: box, ball, reach.
void update_bounds(SoftBody& b);

}  // namespace isotact::detail
