// A bounding volume hierarchy over the triangles of a mesh. Build one and query it:
//   closest points     find_closest_point
//   rays               find_first_hit, find_all_hits, is_occluded
//   boxes and pairs    visit_triangles_in_box, for_each_overlapping_pair   (bvh_visit.h)
// Every query has a counterpart in brute_force.h that returns the same bits without a hierarchy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/geometry/mesh/triangle.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr std::uint32_t kNoTriangle = 0xffffffffU;

struct BvhSettings {
  Threads threads{};
  Monitor monitor{};  // Reports triangles whose position in the hierarchy is final.
};

// The flat arrays of a hierarchy.
struct BvhArrays {
  std::span<const detail::BvhNode> nodes{};  // The root first; empty without triangles.
  std::span<const detail::OrientedNode> oriented_nodes{};  // The same tree, for closest points.
  std::span<const detail::TriangleBlock> blocks{};
};

// Immutable: any number of threads may query one at the same time. It keeps its own copy of the
// corners, so the mesh may be destroyed; copies of it share that. Triangles with a NaN or infinite
// corner are left out. Degenerate ones stay and act as the segment or point that they are. Without
// triangles, every query returns "none".
class Bvh {
 public:
  Bvh() = default;

  // Needs a mesh without flaw (find_flaw) and fewer than 2^31 triangles. Throws Cancelled if the
  // monitor's token was set. The result is the same bytes for any number of threads. Cost: under
  // one microsecond per triangle on one thread. Memory: about 80 bytes per triangle after the
  // build.
  explicit Bvh(const TriangleMesh& mesh, const BvhSettings& settings = {});

  // Returns a hierarchy over arrays in memory of `owner`, such as a mapped file. Nothing is copied
  // or built. The arrays must be aligned as their types are, and without flaw (find_flaw).
  static Bvh from_arrays(const BvhArrays& arrays, std::shared_ptr<const void> owner);

  // No member is moved from: the arrays and their owner stay together.
  Bvh(const Bvh& other) = default;
  Bvh& operator=(const Bvh& other) = default;
  ~Bvh() = default;

  std::size_t triangle_count() const { return triangle_count_; }  // In the hierarchy.
  std::size_t left_out_count() const { return left_out_count_; }  // Not finite.
  const Aabbf& bounds() const { return bounds_; }                 // Empty without triangles.

  // The flat arrays themselves, for kernels and for tests of determinism.
  std::span<const detail::BvhNode> nodes() const { return arrays_.nodes; }
  std::span<const detail::OrientedNode> oriented_nodes() const { return arrays_.oriented_nodes; }
  std::span<const detail::TriangleBlock> blocks() const { return arrays_.blocks; }
  std::uint64_t content_hash() const;

 private:
  void adopt(const BvhArrays& arrays, std::shared_ptr<const void> owner);

  BvhArrays arrays_{};
  std::shared_ptr<const void> owner_{};
  Aabbf bounds_{};
  std::size_t triangle_count_ = 0;
  std::size_t left_out_count_ = 0;
};

// Describes what is wrong with arrays that claim to be a hierarchy over exactly these triangles,
// each once, with finite corners. All boxes are checked. Queries of arrays without flaw therefore
// stay inside of them, end, and answer as those of a hierarchy that was built of the triangles.
// Nothing in the arrays is trusted. The indices of the triangles must be in range. Cost: some 50 ns
// per triangle.
std::optional<std::string> find_flaw(const BvhArrays& arrays, std::span<const Vec3f> positions,
                                     std::span<const Triangle> triangles);

struct ClosestPoint {
  std::uint32_t triangle = kNoTriangle;  // None within reach.
  TriangleFeature feature = TriangleFeature::kFace;
  Vec3f point{};
  float distance = std::numeric_limits<float>::infinity();

  friend bool operator==(const ClosestPoint&, const ClosestPoint&) = default;
};

// Returns the nearest point of the mesh that is at most max_distance away. Among triangles at the
// same computed distance, the one with the lowest index wins. Distances are computed in double and
// rounded once. The query finds none if the point or max_distance is NaN, the point is infinite, or
// max_distance is negative. Neither throws nor allocates.
ClosestPoint find_closest_point(const Bvh& bvh, const Vec3f& point,
                                float max_distance = std::numeric_limits<float>::infinity());

namespace detail {
// The triangle of find_closest_point, or the first one that is found to be as near as `enough`.
std::uint32_t find_near_triangle(const Bvh& bvh, const Vec3f& point, float max_distance,
                                 double enough);
}  // namespace detail

// find_closest_point for many points, with one result per point; sizes must agree. It is faster
// than single queries: points are visited along a space-filling curve, so neighbours in space share
// cached data and a first bound. Results do not depend on the order or on the threads.
void find_closest_points(const Bvh& bvh, std::span<const Vec3f> points,
                         std::span<ClosestPoint> results, Threads threads = {},
                         float max_distance = std::numeric_limits<float>::infinity());

struct Ray {
  Vec3f origin{};
  Vec3f direction{};  // Need not be a unit vector: t is in units of its length.
  float t_min = 0;    // May be negative, to search backwards as well.
  float t_max = std::numeric_limits<float>::infinity();
};

struct RayHit {
  std::uint32_t triangle = kNoTriangle;  // None.
  float t = std::numeric_limits<float>::infinity();
  float u = 0, v = 0;  // Barycentric weights of corners 1 and 2.

  friend bool operator==(const RayHit&, const RayHit&) = default;
};

// Returns the hit with the lowest t in [t_min, t_max]; at the same t, the triangle with the lowest
// index. The values of t that are compared are those of the results: computed in double and rounded
// to float once. Hits that a float cannot distinguish are therefore at the same t. find_all_hits
// orders by the same rule, so its first hit is this one.
// Both sides of a triangle are hit. The test is watertight: a ray that crosses a mesh through a
// shared edge or vertex hits at least one of the triangles there. A ray whose origin or direction
// is not finite, or whose direction is zero, hits nothing. Neither throws nor allocates.
RayHit find_first_hit(const Bvh& bvh, const Ray& ray);

// Returns whether there is any hit in [t_min, t_max]. It is cheaper than find_first_hit.
bool is_occluded(const Bvh& bvh, const Ray& ray);

enum class AllHitsStatus : std::uint8_t {
  kComplete,
  kBufferTooSmall,  // The buffer contains the nearest hits; `found` is the number of all hits.
};

struct AllHits {
  AllHitsStatus status = AllHitsStatus::kComplete;
  std::size_t found = 0;
  std::span<RayHit> hits{};  // The used part of the buffer, ordered by t, then by triangle.
};

// Finds every hit in [t_min, t_max]. A ray through a shared edge may hit both triangles. Neither
// throws nor allocates. Hits are inserted into the buffer as they are found, which is roughly from
// near to far. Cost beside the search: with k entries used, up to k moves per hit if they come from
// far to near, k^2 / 2 in all. This is negligible for buffers of up to some hundred entries.
AllHits find_all_hits(const Bvh& bvh, const Ray& ray, std::span<RayHit> buffer);

}  // namespace isotact
