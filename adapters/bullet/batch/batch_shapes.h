// Shapes of a world in the form of intersection queries. Private to the plug-in.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "isotact/adapters/bullet/shape.h"
#include "isotact/queries/intersection/intersection_field.h"

namespace isotact::bullet_detail {

// A shape, and the pose of its frame in that of Bullet's shape.
struct BatchShape {
  std::uint32_t shape = 0;
  Pose bullet_from_shape{};
  double scale = 1;
};

class BatchShapes {
 public:
  explicit BatchShapes(int cells, Threads threads) : cells_(cells), threads_(threads) {}

  // Returns nothing for shapes without field and formula. The first search for a body of ours makes
  // its texels, which takes some tenths of a second. Failures are reported (report.h) once.
  std::optional<BatchShape> find(const btCollisionShape& shape);
  std::span<const IdfShape> all() const { return all_; }
  // Version of all(): changes after each change, and is different for each world of a process.
  std::uint64_t version() const { return version_; }

 private:
  // For a formula: its kind and sizes. For ours: the margin, in metres of the unscaled shape.
  using Key = std::array<double, 5>;
  struct Body {
    std::shared_ptr<const BulletBody> body;  // Prevents reuse of its address.
    std::map<double, std::optional<std::uint32_t>> of_margin{};
  };
  std::optional<BatchShape> find_ours(const IsotactShape& shape);
  template <typename Formula>
  std::optional<BatchShape> find_formula(const Key& key, const Formula& formula,
                                         const Pose& frame = {});
  std::uint32_t add(IdfShape shape);

  int cells_;
  Threads threads_;
  std::vector<IdfShape> all_{};
  std::uint64_t version_ = 0;
  std::map<const BulletBody*, Body> bodies_{};
  std::map<Key, std::optional<std::uint32_t>> formulas_{};  // None: not possible.
};

// Returns the value and unit direction of steepest ascent at a point of the unscaled shape, metres.
// The direction is zero if there is none.
FieldSample sample_solid(const IdfShape& shape, const Vec3& point);

}  // namespace isotact::bullet_detail
