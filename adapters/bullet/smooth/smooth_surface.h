// The curved surface that the flat triangles of a mesh stand for. A ball made of triangles rolls
// over edges and corners; contacts on this surface make it roll like a ball. Private to the
// plug-in.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/field/field.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::bullet_detail {

// A height z over a plane, near `origin`: z = c0 + c1 x + c2 y + c3 x^2 + c4 x y + c5 y^2 + c6 z^2,
// in units of `size`. The last term makes spheres and cylinders exact.
struct SmoothPatch {
  Vec3 origin{};
  Vec3 axis[3]{};   // Unit vectors; the last one points out of the body.
  double size = 1;  // Metres: it holds up to this far from the origin.
  std::array<double, 7> c{};
  bool is_flat = false;

  // The signed distance to the patch from a point near it, and the unit normal of the nearest
  // place.
  FieldSample sample(const Vec3& point) const;
  // 1/m: the largest curvature at the origin, without sign.
  double most_curvature() const;

  // In units of `size`.
  struct Height {
    double z = 0, slope_x = 0, slope_y = 0;
  };
  Height height_at(double x, double y) const;
};

class SmoothSurface {
 public:
  // Edges between triangles whose normals differ by more than `crease_angle` radians stay sharp.
  SmoothSurface(const TriangleMesh& mesh, double crease_angle);

  // Fits a patch to corners of the triangles around one of them, which do not lie behind a sharp
  // edge. The patch of a flat part is its plane. Returns none if the corners lie on no quadric.
  // Cost: some microseconds; no allocation.
  std::optional<SmoothPatch> fit(const TriangleMesh& mesh, std::uint32_t triangle,
                                 const Vec3& place) const;

  // What is known of samples of the surface. Any thread may write.
  enum class Known : std::uint8_t { kNothing, kIsFlat, kHasNone };
  void count_samples(std::size_t count) { known_ = std::vector<std::atomic<Known>>(count); }
  Known known(std::uint32_t sample) const {
    return sample < known_.size() ? known_[sample].load(std::memory_order_relaxed)
                                  : Known::kNothing;
  }
  void keep(std::uint32_t sample, Known known) const {
    if (sample < known_.size()) known_[sample].store(known, std::memory_order_relaxed);
  }
  // Never that of another surface, nor 0.
  std::uint64_t serial() const { return serial_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  mutable std::vector<std::atomic<Known>> known_{};
  std::uint64_t serial_ = 0;
  std::vector<Triangle> neighbors_;    // Across the edge that begins at each corner; none if sharp.
  std::vector<std::uint32_t> welded_;  // One number for all positions that are equal.
};

}  // namespace isotact::bullet_detail
