// The slow twins of the spatial queries: same arguments with the mesh in place of the hierarchy,
// same results to the last bit, found by looking at every triangle. For tests, and for meshes too
// small to be worth a hierarchy. Triangles with a corner that is not finite are skipped.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "isotact/geometry/bvh.h"
#include "isotact/geometry/mesh.h"

namespace isotact::brute_force {

ClosestPoint find_closest_point(const TriangleMesh& mesh, const Vec3f& point,
                                float max_distance = std::numeric_limits<float>::infinity());

RayHit find_first_hit(const TriangleMesh& mesh, const Ray& ray);
bool is_occluded(const TriangleMesh& mesh, const Ray& ray);
AllHits find_all_hits(const TriangleMesh& mesh, const Ray& ray, std::span<RayHit> buffer);

// Triangles whose axis-aligned boxes overlap the box, by rising index.
std::vector<std::uint32_t> find_triangles_in_box(const TriangleMesh& mesh, const Aabbf& box);

// Pairs a < b whose axis-aligned boxes overlap, in rising order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> find_overlapping_pairs(
    const TriangleMesh& mesh);

}  // namespace isotact::brute_force
