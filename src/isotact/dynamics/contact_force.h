// Continuous penalty contact: XB14, section 4. While a point of one body is inside the other, a
// spring pushes both apart. What acts on a body in a step is the integral of that force over the
// times at which points are inside, not its value at a moment: a body that dips in and out between
// two moments is pushed all the same.
//
// Read with care, the paper's equations say:
//   * (3) F = -k d N with d < 0 and the point's outward normal N points out of the point's body: it
//     is what pushes the FIELD's body. The point's body gets the opposite.
//   * (10) damping is written over the whole step. It belongs to the times of contact, as the
//     spring does: otherwise it would brake bodies that do not touch.
// And it goes beyond them: forces are pressures times the area that a point stands for, so that
// they do not depend on how densely a surface is sampled; the field's gradient may give the
// direction, which makes the spring conservative; and there is friction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/dynamics/spatial.h"
#include "isotact/field/any_field.h"
#include "isotact/field/brick_field.h"
#include "isotact/queries/motion.h"
#include "isotact/queries/swept.h"

namespace isotact {

// Of a pair of bodies; all per area.
struct ContactMaterial {
  double stiffness = 1e6;  // N/m^3: pressure a metre of depth
  double damping = 0;      // N s/m^3: pressure a metre per second
  double friction = 0.5;   // Coulomb's coefficient
  double stick_stiffness =
      0;  // N/m^3, of the tangential spring while a point sticks; 0: as stiffness
  double stick_damping = 0;  // N s/m^3, the same; 0: as damping
};

enum class ForceDirection : std::uint8_t {
  kField,  // along the field's gradient: the force has a potential, k d^2 / 2 an area
  kPoint,  // against the point's own normal, as XB14
};
enum class DampingRule : std::uint8_t {
  kNormal,  // against the growth of depth only; friction takes care of the rest. Never pulls
  kFull,    // against the whole relative velocity, as XB14
};
enum class Quadrature : std::uint8_t {
  kAdaptive,  // cell by cell by Gauss's rule of three points, halved where that is not enough
  kMidpoint,  // XB14: so many points an interval
};

struct ForceSettings {
  ContactMaterial material{};
  ForceDirection direction = ForceDirection::kField;
  DampingRule damping = DampingRule::kNormal;
  Quadrature quadrature = Quadrature::kAdaptive;
  int midpoints = 20;
  double tolerance = 1e-2;  // of an interval's impulse, for kAdaptive
};

// A body in a step, in the world's frame.
struct BodyStep {
  BodyMotion motion{};              // the pivot is the centre of mass
  Vec3 center_from{}, center_to{};  // of mass
  Vec3 velocity{}, angular_velocity{};
};

// How far a point that sticks has been dragged along the other surface since it touched.
struct PointStick {
  std::uint32_t point = 0;  // of the tree
  Vec3 drag{};              // metres, in the field's frame
  friend bool operator==(const PointStick&, const PointStick&) = default;
};

// How the impulse of a step answers to motion: what the next step would have of it where the bodies
// move against each other. About a place; for implicit steps (see World). All are impulses, of a
// twist: that of the shell's body against the field's.
//
// How depth goes on by itself is not told by the normals, which a surface made of cells has only
// roughly, but by what it did in this step: bodies that slide would be braked otherwise.
struct ContactResponse {
  SpatialMatrix spring{};  // by the way that a step makes along normals
  SpatialMatrix stick{};   // by the way along the surface, of points that stick
  SpatialMatrix damper{};  // by velocity
  // What slips is pulled by Coulomb's force, whatever its speed. It is written as a damper that
  // makes this force at the speed that there is: what slips no longer is not pulled back.
  SpatialMatrix slide{};
  Wrench trend{};        // of springs, if depth grew for another step as it did
  Wrench head_on{};      // the part of it that is not of what slides
  double stiffness = 0;  // kg: of all springs, whatever their directions, times the step squared
  // The normal part alone, summed up over points.
  double normal = 0, normal_trend = 0, normal_head_on = 0;
  Wrench normal_spring{}, normal_damper{};

  // What another role adds: `sign` is -1 where shell and field change places.
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
  }
};

// What one role of a pair comes to: the points of one body in the field of the other.
struct RoleImpulse {
  Vec3 impulse{};              // N s, on the shell's body; the field's gets the opposite
  Vec3 angular_impulse{};      // N m s, on the shell's body, about the WORLD'S ORIGIN: the same for
                               // both, so that angular momentum is conserved, too
  std::uint32_t points = 0;    // in contact at some time
  std::uint32_t sticking = 0;  // among them, at the end
  double area = 0;             // m^2, of points in contact at the end
  double depth = 0;            // metres: the deepest at the end
  Vec3 place{}, normal{};      // of the deepest, world; the normal pushes the shell's body
  double energy = 0;           // J, in the springs at the end
  double error = 0;            // N s: estimate of the quadrature's
  ContactResponse response{};  // to the shell's motion against the field's, about the place given
};

// One role in one step. `hits` and `intervals` are a SweptTracer's for this tree, field and motion
// (shell in `shell.motion`, field in `field.motion`), iso 0. `sticks` holds what points remember
// from step to step, in their order.
struct RoleInput {
  const PointSphereTree& tree;
  const ShellPath& path;
  std::span<const SweptHit> hits;
  std::span<const SegmentInterval> intervals;
  const BodyStep &shell, &field;
  double step;       // seconds
  Vec3 reference{};  // world: the place of the response
};
RoleImpulse find_role_impulse(const BrickField& field, const RoleInput& input,
                              const ForceSettings& settings, std::vector<PointStick>& sticks);
RoleImpulse find_role_impulse(const AnyField& field, const RoleInput& input,
                              const ForceSettings& settings, std::vector<PointStick>& sticks);

// The discrete twin, for comparison (XB14's fourth experiment): the force of the moment at the end
// of the step, for the whole step. Hits and intervals do not count: all points are looked at.
RoleImpulse find_discrete_impulse(const BrickField& field, const RoleInput& input,
                                  const ForceSettings& settings, std::vector<PointStick>& sticks);
RoleImpulse find_discrete_impulse(const AnyField& field, const RoleInput& input,
                                  const ForceSettings& settings, std::vector<PointStick>& sticks);

}  // namespace isotact
