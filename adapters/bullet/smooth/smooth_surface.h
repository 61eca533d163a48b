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

// A height over a plane, near `origin`: h(x, y) = c0 + c1 x + c2 y + c3 x^2 + c4 x y + c5 y^2, with
// x and y in units of `size`, h in metres.
struct SmoothPatch {
  Vec3 origin{};
  Vec3 axis[3]{};   // Unit vectors; the last one points out of the body.
  double size = 1;  // Metres: it holds up to this far from the origin.
  std::array<double, 6> c{};

  // The signed distance to the patch from a point near it, and the unit normal of the nearest
  // place.
  FieldSample sample(const Vec3& point) const;
  // 1/m: the largest curvature, without sign.
  double most_curvature() const;
};

class SmoothSurface {
 public:
  // Edges between triangles whose normals differ by more than `crease_angle` radians stay sharp.
  SmoothSurface(const TriangleMesh& mesh, double crease_angle);

  // Fits a patch to corners of the triangles around one of them, which do not lie behind a sharp
  // edge. Returns none for flat parts, and where the corners lie on no quadric: they keep their
  // triangles. Cost: some microseconds; no allocation.
  std::optional<SmoothPatch> fit(const TriangleMesh& mesh, std::uint32_t triangle,
                                 const Vec3& place) const;

  // What is known of samples of the surface: those without patch. Any thread may write.
  void count_samples(std::size_t count) { is_without_ = std::vector<std::atomic<bool>>(count); }
  bool is_without_patch(std::uint32_t sample) const {
    return sample < is_without_.size() && is_without_[sample].load(std::memory_order_relaxed);
  }
  void set_without_patch(std::uint32_t sample) const {
    if (sample < is_without_.size()) is_without_[sample].store(true, std::memory_order_relaxed);
  }
  // Never that of another surface, nor 0.
  std::uint64_t serial() const { return serial_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  mutable std::vector<std::atomic<bool>> is_without_{};
  std::uint64_t serial_ = 0;
  std::vector<Triangle> neighbors_;  // Across the edge that begins at each corner; none if sharp.
  std::vector<std::uint32_t> welded_;  // One number for all positions that are equal.
};

}  // namespace isotact::bullet_detail
