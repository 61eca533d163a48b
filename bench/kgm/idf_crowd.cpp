#include <algorithm>
#include <cmath>
#include <utility>

#include "isotact/base/random.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/intersection/intersection_plan.h"

#include "idf_report.h"

namespace isotact::bench {
namespace {

constexpr double kAcross = 2.4;

void scale_to(TriangleMesh& mesh, double longest) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box), middle = center(box);
  const double factor = longest / std::max({size.x, size.y, size.z});
  for (Vec3f& p : mesh.positions) p = to_float((to_double(p) - middle) * factor);
}

// Each triangle becomes four, with the middles of its edges. Vertices are not shared: fields and
// peers do without.
TriangleMesh refine(const TriangleMesh& mesh) {
  TriangleMesh fine;
  for (const auto& t : mesh.triangles) {
    const Vec3f a = mesh.positions[t[0]], b = mesh.positions[t[1]], c = mesh.positions[t[2]];
    const Vec3f ab = (a + b) * 0.5F, bc = (b + c) * 0.5F, ca = (c + a) * 0.5F;
    const Vec3f corners[4][3] = {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}};
    for (const auto& corner : corners) {
      const auto first = static_cast<std::uint32_t>(fine.positions.size());
      for (const Vec3f& p : corner) fine.positions.push_back(p);
      fine.triangles.push_back({first, first + 1, first + 2});
    }
  }
  return fine;
}

std::vector<IdfPair> find_pairs(const std::vector<IdfShape>& shapes,
                                const std::vector<IdfBody>& bodies, double margin) {
  std::vector<IdfPair> all, found;
  for (std::uint32_t a = 0; a < bodies.size(); ++a)
    for (std::uint32_t b = a + 1; b < bodies.size(); ++b) all.push_back({a, b});
  IdfPlan plan;
  plan_intersections(shapes, bodies, all, {.samples = 4, .margin = margin}, plan, {});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (plan.records[i].cells[0] > 0) found.push_back(all[i]);
  return found;
}

}  // namespace

std::vector<TriangleMesh> make_stock(std::size_t least_triangles) {
  std::vector<TriangleMesh> meshes;
  for (const char* name : {"torus", "knot", "bowl", "gear", "bolt", "nut", "blob", "ship"}) {
    TriangleMesh mesh = make_shape(name);
    while (mesh.triangles.size() < least_triangles) mesh = refine(mesh);
    scale_to(mesh, kAcross);
    meshes.push_back(std::move(mesh));
  }
  return meshes;
}

Crowd make_crowd(std::vector<TriangleMesh> meshes, int cells, std::size_t bodies, std::size_t pairs,
                 std::uint64_t seed) {
  Crowd crowd{.meshes = std::move(meshes), .margin = 0.01};
  for (const TriangleMesh& mesh : crowd.meshes)
    crowd.shapes.emplace_back(build_texels(mesh, {.cells = cells - 4}));
  // Places in a unit box, and its size by halving: fewer pairs in a larger one.
  Random random(seed);
  std::vector<Vec3> places;
  for (std::size_t i = 0; i < bodies; ++i) {
    places.push_back(random.in_box({0, 0, 0}, {1, 1, 1}));
    crowd.bodies.push_back({.shape = static_cast<std::uint32_t>(i % crowd.shapes.size()),
                            .world_from_body = {random.rotation(), {}}});
  }
  double small = kAcross, large = 100 * kAcross;
  for (int i = 0; i < 14; ++i) {
    const double side = std::sqrt(small * large);
    for (std::size_t b = 0; b < bodies; ++b)
      crowd.bodies[b].world_from_body.translation = places[b] * side;
    crowd.pairs = find_pairs(crowd.shapes, crowd.bodies, crowd.margin);
    (crowd.pairs.size() > pairs ? small : large) = side;
  }
  return crowd;
}

std::size_t count_colliding(const IdfResult& result) {
  return static_cast<std::size_t>(std::count_if(result.arrived.begin(), result.arrived.end(),
                                                [](std::uint32_t n) { return n > 0; }));
}

}  // namespace isotact::bench
