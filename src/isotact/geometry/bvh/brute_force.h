// Brute-force versions of the spatial queries. They take the same arguments, with the mesh in place
// of the hierarchy, and return the same bits. They test every triangle. They are an oracle, for
// users as for our tests, and serve meshes too small to be worth a hierarchy. Triangles with a
// corner that is not finite are skipped.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "isotact/export.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {
namespace brute_force {

ClosestPoint find_closest_point(const TriangleMesh& mesh, const Vec3f& point,
                                float max_distance = std::numeric_limits<float>::infinity());

RayHit find_first_hit(const TriangleMesh& mesh, const Ray& ray);
bool is_occluded(const TriangleMesh& mesh, const Ray& ray);
AllHits find_all_hits(const TriangleMesh& mesh, const Ray& ray, std::span<RayHit> buffer);

// Returns the triangles whose axis-aligned boxes overlap the box, by ascending index.
std::vector<std::uint32_t> find_triangles_in_box(const TriangleMesh& mesh, const Aabbf& box);

// Returns the pairs a < b whose axis-aligned boxes overlap, in ascending order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> find_overlapping_pairs(
    const TriangleMesh& mesh);

}  // namespace brute_force
}  // namespace isotact
