// Contacts of soft bodies: rows of a solver, one per contact, and their search.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "isotact/dynamics/soft/detail/soft_body.h"
#include "isotact/field/any_field.h"
#include "isotact/queries/broad_phase/box_tree.h"
#include "isotact/queries/deformable/features.h"

namespace isotact::detail {

// A rigid body for soft ones: its current pose, and its pose after its own step.
struct RigidSide {
  BodyId id = 0;
  std::optional<AnyField> field{};
  double lipschitz = 1;
  double friction = 0;
  bool dynamic = false;
  Pose now{}, next{};
  Vec3 center{}, velocity{}, turning{};  // Current values, with the velocity change of gravity.
  double inverse_mass = 0;
  Mat3 inverse_inertia{};  // World frame.
  Vec3 dv{}, dw{};         // By contacts.
  // Points of its surface.
  std::vector<Vec3> points{};  // World frame, if something is near.
  std::optional<ObjectTree> tree{};
  SurfaceTopology topology{};  // A triangle without area per point.
  double covering = 0;         // Metres.
  bool placed = false;
};

// Sets the next pose by its velocity.
void predict(RigidSide& r, double step);

// A contact: points on up to four vertices against each other, or against a rigid body. `gap` is
// their distance at the end of the step, along the normal, less the wanted distance.
struct SoftRow {
  std::array<Vec3*, 4> change{};  // Changes of velocities.
  std::array<double, 4> weight{}, inverse_mass{};
  std::uint32_t count = 0;
  RigidSide* rigid = nullptr;
  std::uint32_t pair = 0;  // Index of SoftPairs; kNoPair for fields.
  Vec3 arm{};              // From the rigid body's centre.
  Vec3 normal{};           // Towards the vertices with positive weights.
  Vec3 slip{};             // Velocity of one point relative to the other without contact.
  Vec3 place{};
  double gap = 0, friction = 0;
  double normal_mass = 0, tangent_mass = 0;
  double impulse = 0;  // N s.
  Vec3 drag{};
};
inline constexpr std::uint32_t kNoPair = 0xffffffffU;

// Two bodies whose boxes are near, or one with itself (a == b).
struct SoftPair {
  SoftId a = 0, b = 0;
  double margin = 0;     // Metres: see find_near.
  bool by_ways = false;  // `near` is that of find_on_paths.
  std::vector<TrianglePair> candidates{};
  std::vector<FeatureContact> near{};  // With nearest points at the start of the step.
  std::vector<bool> fixed{};           // For `near`: a resting plane separates them.
};

// Returns the wanted distance at the end of a step, for points `distance` apart at its start. It is
// the margin, but nearer points reach it gradually, so that they gain no speed.
double wanted_distance(double distance, double margin);

// Sets the masses of a row, when everything else is set.
void finish_row(SoftRow& r);
void solve_rows(std::span<SoftRow*> rows, double step, int iterations);

// Finds vertices of a body in the field of a rigid one, along their paths.
void find_field_rows(SoftBody& body, RigidSide& rigid, double step, std::vector<SoftRow>& rows);
// Returns whether the paths of the body's vertices may come as near as its margin.
bool may_touch(const SoftBody& body, const RigidSide& rigid);
// Positions of the rigid body's points, and the best one for each near face.
void place_points(RigidSide& rigid, const World& world);
void find_point_rows(SoftBody& body, RigidSide& rigid, double step,
                     std::span<const TrianglePair> candidates, std::vector<SoftRow>& rows);
// Finds a position for vertex i, which moves from its x0 to x, without entering a field. Returns
// its remaining depth.
double keep_outside(SoftBody& body, std::uint32_t i, std::span<RigidSide* const> near);
// Returns the largest depth at x.
double compute_depth(const Vec3& x, std::span<RigidSide* const> near);

void find_pair_rows(SoftPair& pair, std::uint32_t number, std::vector<SoftBody>& bodies,
                    double step, std::vector<SoftRow>& rows);

// Soft bodies near each other: their near features, and their separation.

// For bodies with self contact: features that are nearer than the margin at rest.
void note_rest(SoftBody& body);

// Returns the enlargement of the box of a body's paths on every side, so that contacts can push it.
// A body that is hit by a faster one needs more: `others` is the longest path of all, which counts
// up to half an edge. No vertex ends outside that box.
double compute_reach_around(const SoftBody& body, double others);

void note_prediction(SoftBody& body);  // Before it is pushed.
void update_off(SoftBody& body);       // After it is pushed.
// Returns the end positions of vertices without contacts.
inline const std::vector<Vec3>& predicted_of(const SoftBody& body) {
  return body.pushed ? body.predicted : body.x;
}

// Finds features that may meet if no vertex ends further from its end without contacts than both
// bodies together allow, which is the pair's margin. See hold_apart. Not for two threads at once on
// one body.
void find_near(SoftPair& pair, std::vector<SoftBody>& bodies);

// Finds features that may meet on the current paths, or on shorter ones.
void find_on_paths(SoftPair& pair, std::vector<SoftBody>& bodies);

// Called for a vertex whose path was shortened; may shorten it further.
using HoldCheck = std::function<void(SoftBody& body, std::uint32_t vertex)>;

// Shortens paths of vertices until no two near features meet. Returns the number of changes.
//
// Proof that nothing can cross. Surfaces that do not cross at the start cross first at a time at
// which a vertex meets a face or an edge meets an edge. Take such a pair, its nearest points a and
// b at the start, and n from b to a. Features are convex, so all of A's vertices are at n.x >= n.a
// there, and all of B's at n.x <= n.b. If all of A's are also above all of B's at the end, there is
// a plane between them at both times. The plane that moves evenly from the first to the second is
// between them all the time, because vertices move evenly. They do not meet. If not, all of them
// are held back on their sides of a resting plane in the middle. Paths then end at x0 or between x0
// and a position on the right side, which stays true for shorter paths. As every pair is put to
// rest at most once, this ends.
//
// Features that are not in the list are safe for one of two reasons. Either the boxes of their
// paths without contacts, in a frame that moves with the two bodies, are further apart than the
// margin on some axis. Or they are further apart at the start than these paths and the margin
// together. Ends that are off by e_a and e_b bring them nearer by at most e_a + e_b. As long as
// that is below the margin, they do not meet. Otherwise the list is made again from the current
// paths (SoftWorld::State::hold_apart). Boxes of paths contain those of shortened paths, so that
// this list stays valid.
//
// This holds for bodies that move by themselves: pinned vertices have no path, but a deformer sets
// the positions of its vertices.
std::uint32_t hold_apart(std::span<SoftPair*> pairs, std::vector<SoftBody>& bodies,
                         const HoldCheck& check);

// Finds points of a resting rigid body, and faces that may meet them on the current paths, or on
// shorter ones. Vertices alone would let a thin part of it pass between them.
void find_points_on_paths(SoftBody& body, RigidSide& rigid, std::vector<TrianglePair>& candidates,
                          std::vector<FeatureContact>& near);
// Shortens paths until no face meets one of these points, for the same reason as above. `fixed`
// belongs to `near`, and must be kept from call to call: each is put to rest once.
std::uint32_t hold_off_points(SoftBody& body, std::span<const FeatureContact> near,
                              std::vector<bool>& fixed, const HoldCheck& check);

}  // namespace isotact::detail
