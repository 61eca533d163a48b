// Continuous penalty contact: XB14, section 4. While a point of one body is inside the other, a
// spring pushes both apart. The impulse of a step is the integral of that force over the times at
// which points are inside, so a body that dips in and out within a step is pushed as well.
//
// Two equations of the paper need care:
//   * (3) F = -k d N, with d < 0 and the point's outward normal N, points out of the point's body.
//     It pushes the FIELD's body; the point's body gets the opposite.
//   * (10) writes damping over the whole step. It belongs to the times of contact, as the spring
//     does; otherwise it would brake bodies that do not touch.
// This implementation extends the paper. Forces are pressures times the area of a point, so they do
// not depend on the sampling density. The field's gradient may give the direction, which makes the
// spring conservative. There is friction.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/dynamics/model/rigid_body.h"
#include "isotact/dynamics/model/spatial.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/swept/motion.h"
#include "isotact/queries/swept/swept.h"

namespace ISOTACT_PUBLIC isotact {

// Material of a pair of bodies, per area.
struct ContactMaterial {
  double stiffness = 1e6;  // N/m^3: pressure per metre of depth.
  double damping = 0;      // N s/m^3: pressure per metre per second.
  double friction = 0.5;   // Coulomb's coefficient
  // Tangential spring (N/m^3) and damper (N s/m^3) while a point sticks; 0: as the normal ones.
  double stick_stiffness = 0;
  double stick_damping = 0;
};

enum class ForceDirection : std::uint8_t {
  kField,  // Along the field's gradient. The force has the potential k d^2 / 2 per area.
  kPoint,  // Against the point's own normal (XB14).
};
enum class DampingRule : std::uint8_t {
  kNormal,  // Against growing depth only; it does not pull. Friction acts along the surface.
  kFull,    // Against the whole relative velocity, while a point is inside (XB14).
  // The same over the whole step, as (10) is written, for points that are inside at some time.
  kWholeStep,
};
// Places and directions of forces within a step: N(t) and r(t) of XB14. Depths are those of the
// paths of points in either case.
enum class HandleRule : std::uint8_t {
  kPath,  // Those of the path of the point.
  // By an Euler step of both bodies from the start of the step, under the constant forces that took
  // them through it: XB14's second proposal.
  kEuler,
};
enum class PointWeight : std::uint8_t {
  kArea,   // Forces are pressures times the area that a point represents.
  kEqual,  // All points have the same area (XB14: one stiffness for all points).
};
enum class Quadrature : std::uint8_t {
  kAdaptive,  // Gauss's three-point rule per cell, halved until the tolerance is met.
  kMidpoint,  // `midpoints` points per interval (XB14).
};

enum class PointRule : std::uint8_t {
  // The points of a cluster of the tree share field samples where the field is smooth. It needs
  // kField, kNormal and kAdaptive; other settings use kEvery.
  kPatches,
  kEvery,  // Each point has field samples of its own. Slower; the oracle of kPatches.
};
enum class AreaRule : std::uint8_t {
  // A point represents the part of its area that faces along the contact normal. Edges and corners
  // then count once, although their points represent parts of several faces.
  kProjected,
  kWhole,  // The whole area, whatever its direction.
};

struct ForceSettings {
  ContactMaterial material{};
  ForceDirection direction = ForceDirection::kField;
  DampingRule damping = DampingRule::kNormal;
  HandleRule handles = HandleRule::kPath;
  PointWeight weights = PointWeight::kArea;
  Quadrature quadrature = Quadrature::kAdaptive;
  int midpoints = 20;
  double tolerance = 1e-2;  // Relative to an interval's impulse, for kAdaptive.
  // Share of a step's slip that the spring of a sticking point feels in this step. 1: its drag is
  // that of the end, which damps. 0.5: the mean, which keeps the energy of the spring.
  double drag_share = 1;
  // Along the gradient, forces have its length, which is not quite 1 in sampled fields: they are
  // then the exact derivative of the potential.
  bool true_slope = false;
  // Refines the times at which points enter and leave to rounding. Cost: some field values each.
  bool refine_crossings = false;
  PointRule points = PointRule::kPatches;
  // For kPatches: a patch is accepted if its predicted depth at a point far from its middle differs
  // from the field's by at most this fraction. Depths between differ by about a quarter of that.
  double patch_tolerance = 0.05;
  AreaRule areas = AreaRule::kProjected;
};

// Returns the part of a point's area that AreaRule::kProjected counts, 0.1 to 1. Its outward normal
// and the contact normal, which pushes the point's body, are unit vectors in the same frame.
//
// Let a point on an edge represent equal areas A/2 of two faces with normals n1 and n2. Their
// vector area is A (n1 + n2) / 2 = A cos(t) n, where n is the mean normal and t its angle to either
// face. Its projection on n1 is A cos(t)^2. A point inside a face has t = 0 and counts in full. The
// lower bound keeps points that face elsewhere from losing their springs.
inline double compute_area_share(const Vec3& normal, const Vec3& contact_normal) {
  constexpr double kLeastShare = 0.1;
  const double along = -dot(normal, contact_normal);
  if (length_sq(normal) == 0) return 1;
  return along > 0 && along * along > kLeastShare ? (along < 1 ? along * along : 1) : kLeastShare;
}

// Motion of a body in a step, in the world frame.
struct BodyStep {
  BodyMotion motion{};              // The pivot is the centre of mass.
  Vec3 center_from{}, center_to{};  // Centre of mass at the start and the end.
  Vec3 velocity{}, angular_velocity{};
  // Before the forces of the step: what HandleRule::kEuler starts with.
  Vec3 velocity_from{}, angular_velocity_from{};
};

// Memory of a point that touches, from its entry to its exit.
struct PointStick {
  std::uint32_t point = 0;  // Index in the tree.
  // Displacement of a sticking point along the other surface since it first touched. Metres, in the
  // field's frame.
  Vec3 drag{};
  // The side from which it came: the plane side . x = plane, in the field's frame. It follows the
  // gradient while the point moves along the surface. If the gradient points to the opposite side,
  // the point is behind the middle of a wall, and its depth is that below the plane. 0: unknown.
  Vec3 side{};
  double plane = 0;  // Metres.
  friend bool operator==(const PointStick&, const PointStick&) = default;
};

// Derivatives of a step's impulse with respect to motion, for implicit steps (see World). They map
// the twist of the shell's body relative to the field's body, about a reference point, to impulses.
//
// The trend of depth comes from its change in this step. Normals of a surface made of cells are too
// rough for it and would brake sliding bodies.
struct ContactResponse {
  SpatialMatrix spring{};  // With respect to displacement along the normals.
  SpatialMatrix stick{};   // With respect to tangential displacement, of sticking points.
  SpatialMatrix damper{};  // With respect to velocity.
  // Coulomb's force on slipping points does not depend on speed. It is written as a damper that
  // gives this force at the current speed, so a point that stops slipping is not pulled back.
  SpatialMatrix slide{};
  Wrench trend{};        // Spring impulse if depth grew for another step as in this one.
  Wrench head_on{};      // The part of `trend` that does not come from sliding.
  double stiffness = 0;  // kg: sum of all springs regardless of direction, times the step squared.
  // With respect to the velocity of this very step, whose path begins where it does: springs,
  // dampers, and sticking points.
  SpatialMatrix path{};
  Wrench normal_path{};
  // The normal part alone, summed over points.
  double normal = 0, normal_trend = 0, normal_head_on = 0;
  Wrench normal_spring{}, normal_damper{};

  friend ContactResponse operator*(ContactResponse r, double s) {
    for (SpatialMatrix* m : {&r.spring, &r.stick, &r.damper, &r.slide, &r.path}) *m = *m * s;
    for (Wrench* w : {&r.trend, &r.head_on, &r.normal_spring, &r.normal_damper, &r.normal_path})
      *w = *w * s;
    for (double* x : {&r.stiffness, &r.normal, &r.normal_trend, &r.normal_head_on}) *x *= s;
    return r;
  }

  // Adds the other role; `sign` is -1 if shell and field are exchanged.
  void add(const ContactResponse& b, double sign) {
    spring += b.spring;
    stick += b.stick;
    damper += b.damper;
    slide += b.slide;
    trend += b.trend * sign;
    head_on += b.head_on * sign;
    stiffness += b.stiffness;
    normal += b.normal;
    normal_trend += b.normal_trend;
    normal_head_on += b.normal_head_on;
    normal_spring += b.normal_spring * sign;
    normal_damper += b.normal_damper * sign;
    path += b.path;
    normal_path += b.normal_path * sign;
  }
};

// A point in contact at the end of a step, in the world frame. The normal pushes the shell.
struct DeepPoint {
  Vec3 place{}, normal{};
  double depth = 0;
  bool of_a = true;  // Points of A in the field of B. The field's body turns the normal.
};

// Result of one role of a pair: the points of one body in the field of the other.
struct RoleImpulse {
  Vec3 impulse{};  // N s, on the shell's body; the field's body gets the opposite.
  // N m s, on the shell's body, about the WORLD'S ORIGIN. The reference is common to both bodies,
  // so angular momentum is conserved.
  Vec3 angular_impulse{};
  std::uint32_t points = 0;       // Points in contact at some time.
  std::uint32_t sticking = 0;     // Points that stick at the end.
  double area = 0;                // m^2 of points in contact at the end.
  double depth = 0;               // Metres: greatest depth at the end.
  Vec3 place{}, normal{};         // The deepest point's, world frame; the normal pushes the shell.
  double energy = 0;              // J, in the springs at the end.
  double lost = 0;                // J, to dampers and friction.
  double error = 0;               // N s: estimated quadrature error.
  std::uint64_t samples = 0;      // Field samples that the force needed.
  ContactResponse response{};     // About the given reference point.
  std::vector<DeepPoint> deep{};  // Points deeper than RoleInput::deep at the end.
};

// One role in one step. `hits` and `intervals` are the results of a SweptTracer with margin 0 for
// this tree, field and motion (`shell.motion`, `field.motion`). `sticks` persists from step to
// step, in the order of points.
struct RoleInput {
  const PointSphereTree& tree;
  const ShellPath& path;
  std::span<const SweptHit> hits;
  std::span<const SegmentInterval> intervals;
  const BodyStep &shell, &field;
  double step;       // Seconds.
  Vec3 reference{};  // Reference point of the response, world frame.
  double deep = std::numeric_limits<double>::infinity();  // Metres: see RoleImpulse::deep.
};
RoleImpulse compute_role_impulse(const BrickField& field, const RoleInput& input,
                                 const ForceSettings& settings, std::vector<PointStick>& sticks);
RoleImpulse compute_role_impulse(const AnyField& field, const RoleInput& input,
                                 const ForceSettings& settings, std::vector<PointStick>& sticks);

// The discrete twin, for comparison (XB14's fourth experiment): the force at the end of the step,
// applied for the whole step. It tests all points and ignores hits and intervals.
RoleImpulse compute_discrete_impulse(const BrickField& field, const RoleInput& input,
                                     const ForceSettings& settings,
                                     std::vector<PointStick>& sticks);
RoleImpulse compute_discrete_impulse(const AnyField& field, const RoleInput& input,
                                     const ForceSettings& settings,
                                     std::vector<PointStick>& sticks);

// Forces of ordinary contacts (queries/contact/contact.h): a spring, a damper and friction in each.
// The contacts belong to one moment and may come from any query. World integrates its own contacts
// over whole steps, as above.
struct ContactLoadSettings {
  // For all contacts together. Each has an equal share, so the number of contacts does not matter.
  double stiffness = 1e4;  // N/m
  double damping = 100;    // N s/m, against growing depth only; contacts do not pull.
  double friction = 0.5;   // Coulomb's coefficient.
  // Speed (m/s) at which friction reaches Coulomb's limit. Below it friction is a damper, so a body
  // on a slope creeps down, at most at this speed.
  double creep = 0.01;
};

// Returns the load on the body, which is A of the contacts (their normals point to it), if the rest
// of the world is at rest. Add gravity and call kick(). Symplectic Euler is stable for steps below
// 2 sqrt(m / stiffness) and 2 m / damping, where damping includes that of friction,
// friction * weight / creep.
Load compute_contact_load(const RigidBody& body, std::span<const Contact> contacts,
                          const ContactLoadSettings& settings);

}  // namespace isotact
