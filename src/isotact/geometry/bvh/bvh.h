// A bounding volume hierarchy over the triangles of a mesh. Build one and ask:
//   closest points     find_closest_point
//   rays               find_first_hit, find_all_hits, is_occluded
//   boxes and pairs    visit_triangles_in_box, for_each_overlapping_pair   (bvh_visit.h)
// Every query has a twin in brute_force.h that answers with the same bits, without a hierarchy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/geometry/bvh_layout.h"
#include "isotact/geometry/mesh.h"
#include "isotact/geometry/triangle.h"

namespace isotact {

inline constexpr std::uint32_t kNoTriangle = 0xffffffffU;

struct BvhSettings {
  Threads threads{};
  Monitor monitor{};  // reports triangles that have found their place
};

// Immutable: any number of threads may query one at the same time. It keeps its own copy of the
// corners, so the mesh may go. Triangles with a NaN or infinite corner are left out; degenerate
// ones stay and act as the segment or point that they are. Without triangles, every query answers
// "none".
class Bvh {
 public:
  Bvh() = default;

  // Needs a mesh without flaw (find_flaw) and fewer than 2^31 triangles. Throws Cancelled when the
  // monitor says so. The result is the same bytes for any number of threads. Cost: under one
  // microsecond a triangle on one thread; memory: about 80 bytes a triangle for good.
  explicit Bvh(const TriangleMesh& mesh, const BvhSettings& settings = {});

  std::size_t triangle_count() const { return triangle_count_; }  // in the hierarchy
  std::size_t left_out_count() const { return left_out_count_; }  // not finite
  const Aabbf& bounds() const { return bounds_; }                 // empty without triangles

  // For kernels and for tests of determinism: the flat arrays themselves.
  std::span<const detail::BvhNode> nodes() const { return nodes_; }
  std::span<const detail::OrientedNode> oriented_nodes() const { return oriented_nodes_; }
  std::span<const detail::TriangleBlock> blocks() const { return blocks_; }
  std::uint64_t content_hash() const;

 private:
  std::vector<detail::BvhNode> nodes_;                // the root first; empty without triangles
  std::vector<detail::OrientedNode> oriented_nodes_;  // the same tree, for closest points
  std::vector<detail::TriangleBlock> blocks_;
  Aabbf bounds_{};
  std::size_t triangle_count_ = 0;
  std::size_t left_out_count_ = 0;
};

struct ClosestPoint {
  std::uint32_t triangle = kNoTriangle;  // none within reach
  TriangleFeature feature = TriangleFeature::kFace;
  Vec3f point{};
  float distance = std::numeric_limits<float>::infinity();

  friend bool operator==(const ClosestPoint&, const ClosestPoint&) = default;
};

// The nearest point of the mesh that is at most max_distance away; of triangles at the same
// computed distance, the one with the lowest index. Distances are computed in double and rounded
// once. A point or max_distance that is NaN, an infinite point, or a negative max_distance finds
// none. Neither throws nor allocates.
ClosestPoint find_closest_point(const Bvh& bvh, const Vec3f& point,
                                float max_distance = std::numeric_limits<float>::infinity());

// The same for many points, one result a point (sizes must agree). Faster than one by one: points
// are visited along a space-filling curve, so that neighbours in space share what is in the caches
// and a first bound. Results do not depend on the order or on the threads.
void find_closest_points(const Bvh& bvh, std::span<const Vec3f> points,
                         std::span<ClosestPoint> results, Threads threads = {},
                         float max_distance = std::numeric_limits<float>::infinity());

struct Ray {
  Vec3f origin{};
  Vec3f direction{};  // need not be a unit vector: t counts in its lengths
  float t_min = 0;    // may be negative, to look backwards too
  float t_max = std::numeric_limits<float>::infinity();
};

struct RayHit {
  std::uint32_t triangle = kNoTriangle;  // none
  float t = std::numeric_limits<float>::infinity();
  float u = 0, v = 0;  // barycentric weights of corners 1 and 2

  friend bool operator==(const RayHit&, const RayHit&) = default;
};

// The hit with the lowest t in [t_min, t_max]; at the same t, the triangle with the lowest index.
// The t that count are those in results: computed in double and rounded to float once, so hits that
// a float cannot tell apart are at the same t. find_all_hits orders by the same rule, so its first
// hit is this one.
// Both sides of a triangle are hit. Watertight: a ray that crosses a mesh through a shared edge or
// vertex hits at least one of the triangles there. A ray whose origin or direction is not finite,
// or whose direction is zero, hits nothing. Neither throws nor allocates.
RayHit find_first_hit(const Bvh& bvh, const Ray& ray);

// Whether there is any hit in [t_min, t_max]. Cheaper than find_first_hit.
bool is_occluded(const Bvh& bvh, const Ray& ray);

enum class AllHitsStatus : std::uint8_t {
  kComplete,
  kBufferTooSmall,  // the buffer holds the nearest hits, found says how many there are
};

struct AllHits {
  AllHitsStatus status = AllHitsStatus::kComplete;
  std::size_t found = 0;
  std::span<RayHit> hits{};  // the used part of the buffer, ordered by t, then by triangle
};

// Every hit in [t_min, t_max]. A ray through a shared edge may hit both triangles. Neither throws
// nor allocates. Hits are inserted into the buffer as they are found, which is roughly from near to
// far; cost beside the search: with k places used, up to k moves a hit where they come from far to
// near, k^2 / 2 in all. Buffers of up to some hundred places never notice.
AllHits find_all_hits(const Bvh& bvh, const Ray& ray, std::span<RayHit> buffer);

}  // namespace isotact
