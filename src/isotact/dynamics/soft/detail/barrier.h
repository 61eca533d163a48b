// Contact inside an implicit step (incremental potential contact: Li et al., ACM TOG 39(4), 2020).
//
// A step minimises  sum m/(2 h^2) |x - aim|^2 + elastic energy + barriers + friction,  where `aim`
// is where vertices would go without forces other than gravity. The barrier of two features grows
// without bound as their distance falls to their least separation, so that a minimum has none that
// cross. Every move towards it is certified: see find_certified_shares.
//
// Surfaces of soft and of rigid bodies are one system of vertices. Those of rigid bodies follow six
// numbers per body, which are unknowns, too, if the body is dynamic.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/dynamics/soft/detail/soft_body.h"

namespace isotact::detail {

// The surface of a soft body, of a rigid one, or a point with a radius (a sphere).
struct BarrierSurface {
  std::uint32_t first = 0, count = 0;  // Its vertices in the system.
  const SurfaceTopology* topology = nullptr;
  ObjectTree* tree = nullptr;                                 // None for spheres and planes.
  const std::vector<FeatureContact>* near_at_rest = nullptr;  // Those of a soft body.
  double margin = 0, friction = 0, radius = 0;
  double inertia = 0;       // kg/s^2 of a vertex, for the stiffness of barriers.
  std::int32_t rigid = -1;  // Index into BarrierSystem::rigid.
  bool moves = true, self = false;
  Aabb room{};
};

// A half space that rests: n . x >= offset.
struct BarrierPlane {
  Vec3 normal{};
  double offset = 0, friction = 0;
};

struct BarrierRigid {
  std::uint32_t id = 0;  // In the World.
  bool dynamic = false;
  std::uint32_t first = 0, count = 0;  // Its vertices in the system.
  std::vector<Vec3> local{};           // About the centre of mass, in the body's frame.
  Vec3 local_center{};                 // Centre of mass, in the frame of the mesh.
  double reach = 0;                    // Metres: of the farthest vertex from the centre.
  double mass = 0;
  Mat3 inertia{}, inverse_inertia{};  // World frame, at the start.
  // Centre of mass and rotation: at the start, without contact, now, and for trials.
  Vec3 center0{}, center_aim{}, center{}, center_trial{};
  Quat turn0{}, turn_aim{}, turn{}, turn_trial{};
  Vec3 push{}, twist{};  // The current direction: motion of the centre, rotation vector.
};

// A vertex and a face (vertex first), or two edges.
struct BarrierPair {
  std::array<std::uint32_t, 4> v{};
  bool edges = false;
  float friction = 0;
  double reach = 0;   // Metres: barriers act on what is nearer.
  double least = 0;   // Metres: the least separation.
  double radius = 0;  // Metres: subtracted from distances.
  double stiffness = 0;
  // Its distance is at least `bound` less the sum of its vertices' travels: distances change by no
  // more than that.
  double bound = 0;
  double now = -1;  // At the current positions, if it is within reach; else negative.
  bool self =
      false;  // Both features are of one body: travels are those beside the body's mean motion.
};

// A barrier that acts: force along `normal` on the weighted sum of its vertices.
struct BarrierContact {
  std::array<std::uint32_t, 4> v{};
  std::array<double, 4> w{};
  std::uint32_t count = 0;
  Vec3 normal{}, slip{};  // slip: tangential displacement within the step
  double distance = 0, energy = 0, force = 0, curvature = 0;
  double friction = 0;  // N: the most.
  double drag = 0;      // N/m: friction per slip.
};

// Value and derivatives of a barrier at a distance.
struct BarrierValue {
  double energy = 0, slope = 0, curvature = 0;
};
BarrierValue compute_barrier(double distance, double least, double reach, double stiffness);

// Energy of friction per newton, smooth below the slip `soft` (metres); slope per slip.
struct FrictionValue {
  double energy = 0, rate = 0;
};
FrictionValue compute_friction(double slip, double soft);

struct BarrierSystem {
  double step = 0;
  double soft_slip = 0;  // Metres: friction below is proportional to slip.
  Threads threads{1};
  std::uint32_t soft_count = 0;  // Vertices of soft bodies come first.
  std::vector<BarrierSurface> surfaces{};
  std::vector<BarrierPlane> planes{};
  std::vector<BarrierRigid> rigid{};
  std::vector<SoftBody*> bodies{};  // One per soft surface, in order.
  std::vector<Vec3> x0{}, x{}, trial{}, direction{};
  std::vector<Vec3> aim{};             // Soft vertices.
  std::vector<double> inertia{};       // kg/s^2, soft vertices; 0: prescribed, moves to its aim.
  std::vector<std::uint32_t> mover{};  // Soft vertex, or soft_count + rigid index; kNoMover.
  std::vector<Vec3> lower{}, upper{};  // Boxes: candidates hold while vertices stay within.
  std::vector<BarrierPair> pairs{};    // Candidates.
  // Metres, by vertex: the length of all its moves since candidates were found; the same beside the
  // mean motion of its body; and those of the move to the trial positions.
  std::vector<double> travel{}, travel_beside{}, trial_travel{}, trial_beside{};
  std::vector<BarrierContact> contacts{};
  // Friction at contacts of some round before: their forces, normals and weights stay, so that the
  // energy has a minimum.
  std::vector<BarrierContact> drags{};
  std::uint64_t left_out = 0;         // Pairs that touch or cross at the start.
  std::vector<TrianglePair> found{};  // Scratch.
  std::vector<double> energies{};
  int searches = 0;
  std::vector<double> time{};   // By pair: see find_blocked.
  std::vector<double> share{};  // By mover: of its direction.
  std::vector<std::uint8_t> dirty{}, next_dirty{};
};
inline constexpr std::uint32_t kNoMover = 0xffffffffU;
inline constexpr double kLeastShare = 0.05;  // Least separation, of a pair's reach.

// ---- barrier_pairs.cpp --------------------------------------------------------------------------

// Whether all vertices stay in their boxes if they move by their directions.
bool has_room(const BarrierSystem& s);
// The same after directions that leave a box by little were cut short, in later searches of a
// step.
bool make_room(BarrierSystem& s);
// Makes boxes for the current positions and directions, and finds all pairs of features that may
// come within reach of each other in them.
void find_pairs(BarrierSystem& s);
// Distance of a pair at given positions, with the weights of its nearest points (signed: those of
// the second feature are negative) and the unit vector towards the first.
struct PairDistance {
  std::array<double, 4> w{};
  Vec3 normal{};
  double distance = 0;
};
PairDistance compute_pair_distance(const BarrierPair& p, const Vec3* x);
// False only if the pair is further apart than its reach: cheap.
bool may_reach(const BarrierPair& p, const Vec3* x);

// Finds a share for each mover so that no two features of a pair come nearer than their least
// separation, if all movers go straight by that share of their directions, all at the same time.
// This is proved by continuous tests of all pairs, with the shares as they are in the end. All
// pairs that could meet are among the candidates, as has_room is checked before. Rigid bodies turn:
// their vertices follow arcs, and each pair's separation grows by the deviations of arcs from
// chords. Shares of what cannot move freely are reduced for its vertices alone, or (`together`) for
// all. Returns the least share; a negative number if those of single vertices do not come to an end
// soon: what is stopped stops its neighbours, and so on.
double find_certified_shares(BarrierSystem& s, bool together);

// The same for full shares, without an end: sets `time` by pair, up to which its features are
// proved to stay apart. Returns whether any is below 1.
bool find_blocked(BarrierSystem& s);

// Positions for a part of the shares.
void place_trial(BarrierSystem& s, double part);
// Sets the travels of the move to the trial positions.
void measure_trial(BarrierSystem& s);
// A lower bound of a pair's distance less its radius: now, and all along to the trial positions.
double bound_now(const BarrierSystem& s, const BarrierPair& p);
double bound_on_trial(const BarrierSystem& s, const BarrierPair& p);

// ---- barrier_energy.cpp -------------------------------------------------------------------------

inline constexpr double kBeyondLimit = 10;  // Stiffness of edges beyond their limit, a multiple.
// Metres by which an edge is beyond the limits of its length.
double compute_beyond(const SoftMaterial& m, double l, double rest);
// A vertex that begins nearer than the least separation is pushed out by the force just above it.
BarrierValue compute_plane_barrier(const BarrierSurface& a, double d);
Vec3 compute_slip(const BarrierSystem& s, const BarrierContact& c, const Vec3* x);
double compute_stored_energy(const BarrierSystem& s);  // J, by contacts as found.
// The energy that the step minimises, at the current positions (with contacts as found) or at the
// trial ones.
double compute_step_energy(BarrierSystem& s, bool trial);
Vec3 rotation_between(const Quat& a, const Quat& b);  // The rotation vector from b to a.

// ---- barrier_solve.cpp --------------------------------------------------------------------------

struct BarrierSolveReport {
  int rounds = 0, products = 0;
  bool arrived = false;  // Prescribed motion is complete.
  bool converged = false;
  std::uint64_t held = 0;
  double stored_before = 0, stored_after = 0;  // J, in barriers.
};

// Minimises from x0. `max_rounds`: of Newton's method.
BarrierSolveReport solve_barrier(BarrierSystem& s, int max_rounds);

// Kept by a SoftWorld between steps with barriers.
struct BarrierState {
  BarrierSystem system{};
  std::size_t soft = 0, rigid = 0;  // Bodies that it was made for.
  double made_for = 0;              // Seconds: the length of the last part.
  std::vector<std::unique_ptr<SurfaceTopology>> topologies{};  // Those of rigid bodies.
  std::vector<std::unique_ptr<ObjectTree>> trees{};
  std::vector<Vec3> center_end{};  // Where rigid bodies are at the end without contact.
  std::vector<Quat> turn_end{};
};

}  // namespace isotact::detail
