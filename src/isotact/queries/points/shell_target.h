// The body that a shell's points are tested against: a field or voxelmap prepared for it, or a
// solid given by a formula. SSL14, section 2.
//
// A target answers two questions about eight things at once. May this sphere hold a point that
// counts? How far is this point from the surface? The first answer may be yes too often, never no
// too often:
//   * fields on grids and voxelmaps have a small grid of clearances. A clearance is a lower bound
//     of the distance from a block of cells to any place whose value is at most max_margin. One
//     byte per sphere and no bound on slopes are needed;
//   * formulas are exact distances, and change no faster than space;
//   * an AnyField is culled by its own Lipschitz bound.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/any_field.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/voxmap/voxmap.h"

namespace ISOTACT_PUBLIC isotact {

// A convex polytope, perhaps rounded: all points within `radius` of it. Exact inside and outside.
// Not a Field by itself: it is made for targets. Frames and lengths as the caller has them.
struct HullSolid {
  struct Plane {
    Vec3 normal{};      // unit, outward
    double offset = 0;  // dot(normal, x) <= offset inside
  };
  std::vector<Plane> planes;
  std::vector<Vec3> corners;
  std::vector<std::uint32_t> triangles;  // of corners, three each, for exact distances outside
  double radius = 0;
};

enum class TargetKind : std::uint8_t {
  kPlane,
  kBox,
  kSphere,
  kCapsule,
  kCylinder,
  kCone,
  kHull,
  kBrickField,
  kVoxmap,
  kAnyField
};

struct TargetSettings {
  // Metres: no query may ask for a larger margin. What is larger culls less.
  double max_margin = 0;
  Threads threads{};  // for preparing
};

namespace detail {
struct GridTarget;
struct HullTarget;
struct ShellTargetAccess;
}  // namespace detail

// Immutable; copies share what was prepared. Any number of threads may use it.
class ShellTarget {
 public:
  // Formulas: no preparation, no allocation. `rounding`: all points within this of the solid.
  explicit ShellTarget(const PlaneField& plane);
  explicit ShellTarget(const BoxField& box, double rounding = 0);
  explicit ShellTarget(const SphereField& sphere);
  explicit ShellTarget(const CapsuleField& capsule);
  explicit ShellTarget(const CylinderField& cylinder, double rounding = 0);
  explicit ShellTarget(const ConeField& cone, double rounding = 0);  // may have no size
  explicit ShellTarget(std::shared_ptr<const HullSolid> hull);       // not empty
  // Keep the field or map alive. Cost: some ten milliseconds for a field of 256 cells per axis.
  // Throw Error for a margin that is negative or not finite.
  explicit ShellTarget(const BrickField& field, const TargetSettings& settings = {});
  explicit ShellTarget(const Voxmap& voxmap, const TargetSettings& settings = {});
  // A field of any kind. Each sphere costs an indirect call.
  explicit ShellTarget(const AnyField& field);

  TargetKind kind() const { return kind_; }
  double max_margin() const;           // infinite for formulas
  std::uint64_t memory_bytes() const;  // of what was prepared
  const BrickField* field() const;     // null for the others
  const Voxmap* voxmap() const;

  // The distance of one point, as queries see it, metres, negative inside, in the target's frame.
  // `outward_normal` is the shell's at the point, turned into that frame: voxelmaps need it
  // (equation 4; a support map has equation 5 and does not). And the unit direction out of the
  // solid: the field's gradient; of a voxelmap without gradient, minus the normal; zero where there
  // is none.
  FieldSample sample(const Vec3& point, const Vec3& outward_normal) const;

  // Distances of two points p and q differ by at most lipschitz() |p - q| + jump(). Values of
  // voxelmaps jump between voxels; where the map was made by SSL14's walk along layers they are
  // bound by nothing, and the jump is infinite.
  double lipschitz() const;
  double jump() const;

 private:
  friend struct detail::ShellTargetAccess;
  TargetKind kind_;
  Vec3 center_{}, axis_{};  // of formulas; a plane's normal, a capsule's b - a
  double sizes_[3]{}, rounding_ = 0;
  std::shared_ptr<const detail::HullTarget> hull_;
  std::shared_ptr<const detail::GridTarget> grid_;
  std::shared_ptr<const AnyField> any_;
};

}  // namespace isotact
