// Shared by the queries and their brute-force twins: arguments become a search, and its end becomes
// a result. The queries at a chosen SIMD level, for tests.
#pragma once

#include "isotact/base/machine.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/detail/bvh_kernels.h"

namespace isotact::detail {

const BvhKernels& kernels_for(SimdLevel level);

ClosestPoint find_closest_point(const Bvh& bvh, const Vec3f& point, float max_distance,
                                SimdLevel level);
RayHit find_first_hit(const Bvh& bvh, const Ray& ray, SimdLevel level);
bool is_occluded(const Bvh& bvh, const Ray& ray, SimdLevel level);
AllHits find_all_hits(const Bvh& bvh, const Ray& ray, std::span<RayHit> buffer, SimdLevel level);

// False where no triangle can be an answer.
bool is_searchable(const Vec3f& point, float max_distance);

// Fills all but the arrays; false where the ray can hit nothing. bounds: of all finite triangles.
bool prepare(const Ray& ray, const Aabbf& bounds, RaySearch& search);

RayHit to_hit(const Ray& ray, const RayFound& found);

// Keeps the nearest hits in the caller's buffer, in order.
class HitBuffer {
 public:
  explicit HitBuffer(std::span<RayHit> buffer) : buffer_(buffer) {}
  void add(const RayHit& hit);
  AllHits result() const;

 private:
  std::span<RayHit> buffer_;
  std::size_t kept_ = 0;
  std::size_t found_ = 0;
};

}  // namespace isotact::detail
