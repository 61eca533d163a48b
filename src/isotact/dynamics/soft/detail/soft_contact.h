// What soft bodies touch: rows of a solver, one a contact, and how they are found.
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

// A rigid body as soft ones see it: where it is, and where it will be after its own step.
struct RigidSide {
  BodyId id = 0;
  std::optional<AnyField> field{};
  double lipschitz = 1;
  double friction = 0;
  bool dynamic = false;
  Pose now{}, next{};
  Vec3 center{}, velocity{}, turning{};  // of now; with gravity's kick
  double inverse_mass = 0;
  Mat3 inverse_inertia{};  // in the world's frame
  Vec3 dv{}, dw{};         // by contacts
  // Points of its surface.
  std::vector<Vec3> points{};  // in the world's frame, where something is near
  std::optional<ObjectTree> tree{};
  SurfaceTopology topology{};  // a triangle without area a point
  double covering = 0;         // metres
  bool placed = false;
};

// Where it will be at its velocity.
void predict(RigidSide& r, double step);

// A contact: points on up to four vertices against each other, or against a rigid body. `gap` is
// how far they would be apart at the end of the step, along the normal, beyond what is wanted.
struct SoftRow {
  std::array<Vec3*, 4> change{};  // of velocities
  std::array<double, 4> weight{}, inverse_mass{};
  std::uint32_t count = 0;
  RigidSide* rigid = nullptr;
  std::uint32_t pair = 0;  // of SoftPairs; kNoPair for fields
  Vec3 arm{};              // from the rigid body's centre
  Vec3 normal{};           // towards the vertices with positive weights
  Vec3 slip{};             // velocity of the one point against the other without contact
  Vec3 place{};
  double gap = 0, friction = 0;
  double normal_mass = 0, tangent_mass = 0;
  double impulse = 0;  // N s
  Vec3 drag{};
};
inline constexpr std::uint32_t kNoPair = 0xffffffffU;

// Two bodies whose boxes are near, or one with itself (a == b).
struct SoftPair {
  SoftId a = 0, b = 0;
  double margin = 0;     // metres: see find_near
  bool by_ways = false;  // `near` is that of find_on_ways
  std::vector<TrianglePair> candidates{};
  std::vector<FeatureContact> near{};  // with nearest points at the beginning of the step
  std::vector<bool> fixed{};           // of `near`: a resting plane holds them apart
};

// Wanted at the end of a step of what is `distance` apart at its beginning: the thickness, but what
// is nearer gets there little by little, so that no speed comes of it.
double wanted_distance(double distance, double thickness);

// Sets the masses of a row, when all else is set.
void finish_row(SoftRow& r);
void solve_rows(std::span<SoftRow*> rows, double step, int iterations);

// Vertices of a body in the field of a rigid one, on their ways.
void find_field_rows(SoftBody& body, RigidSide& rigid, double step, std::vector<SoftRow>& rows);
// Whether the ways of the body's vertices may come as near as its thickness.
bool may_touch(const SoftBody& body, const RigidSide& rigid);
// Places of the rigid body's points, and the best for each face that they are near.
void place_points(RigidSide& rigid, const World& world);
void find_point_rows(SoftBody& body, RigidSide& rigid, double step,
                     std::span<const TrianglePair> candidates, std::vector<SoftRow>& rows);
// Where vertex i, which goes from its x0 to x, may end without having entered a field. Returns how
// deep it still is.
double keep_outside(SoftBody& body, std::uint32_t i, std::span<RigidSide* const> near);
// The deepest, where x is.
double find_depth(const Vec3& x, std::span<RigidSide* const> near);

void find_pair_rows(SoftPair& pair, std::uint32_t number, std::vector<SoftBody>& bodies,
                    double step, std::vector<SoftRow>& rows);

}  // namespace isotact::detail
