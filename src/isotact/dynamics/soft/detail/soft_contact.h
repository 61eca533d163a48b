// Contacts of soft bodies: rows of a solver, one per contact, and their search.
#pragma once

#include <array>
#include <cstdint>
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
double find_depth(const Vec3& x, std::span<RigidSide* const> near);

void find_pair_rows(SoftPair& pair, std::uint32_t number, std::vector<SoftBody>& bodies,
                    double step, std::vector<SoftRow>& rows);

}  // namespace isotact::detail
