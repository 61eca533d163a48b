// Bullet's meshes and height fields, triangle by triangle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/hash.h"
#include "isotact/queries/points/feature_query.h"

#include "budget/step_budget.h"
#include "smooth/contact_mover.h"

namespace isotact::bullet_detail {
namespace {

// If several triangles see a point, the one with the least depth counts: behind a ridge both prisms
// contain it, and the nearer face is the exit.
void keep_shallowest(GatherScratch& m) {
  m.order.resize(m.triangle_hits.size());
  std::iota(m.order.begin(), m.order.end(), 0U);
  std::sort(m.order.begin(), m.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const ShellHit &x = m.triangle_hits[a], &y = m.triangle_hits[b];
    return std::tuple(x.point, -x.distance, a) < std::tuple(y.point, -y.distance, b);
  });
  m.kept_hits.clear(), m.kept_triangle.clear();
  for (const std::uint32_t i : m.order) {
    if (!m.kept_hits.empty() && m.kept_hits.back().point == m.triangle_hits[i].point) continue;
    m.kept_hits.push_back(m.triangle_hits[i]);
    m.kept_triangle.push_back(m.hit_triangle[i]);
  }
}

// Whether the other triangle lies in the plane of the first.
bool are_level(const FlatTriangle& a, const FlatTriangle& b) {
  const double rounding = 1e-5 * (a.ball.radius + b.ball.radius);
  return dot(a.normal, b.normal) > 1 - 1e-9 &&
         std::abs(dot(a.normal, b.corner[0] - a.corner[0])) < rounding;
}

bool is_over(const FlatTriangle& t, const Vec3& p) {
  for (std::size_t i = 0; i < 3; ++i)
    if (dot(cross(t.normal, t.corner[(i + 1) % 3] - t.corner[i]), p - t.corner[i]) < 0)
      return false;
  return true;
}

// Moves the contact of a triangle to our surface, unless it would leave the triangle and those that
// lie in its plane.
void move_on_plane(const std::vector<FlatTriangle>& triangles, const FlatTriangle& triangle,
                   const Pose& world_from_mesh, const ShellHit& hit, ContactMover& mover,
                   Candidate& c) {
  Candidate moved = c;
  mover.move(hit, moved);
  const Vec3 place = transform_point(inverse(world_from_mesh), (moved.on_0 + moved.on_1) * 0.5);
  if (is_over(triangle, place) ||
      std::any_of(triangles.begin(), triangles.end(), [&](const FlatTriangle& t) {
        return are_level(triangle, t) && is_over(t, place);
      }))
    c = moved;
  else
    mover.begin();
}

void add_points(const Ours& ours, const std::vector<FlatTriangle>& triangles,
                const Pose& world_from_mesh, const GatherRequest& request, GatherScratch& m) {
  const PointSphereTree& tree = *ours.tree;
  const ShellPlacement placement{
      .field_from_shell = inverse(world_from_mesh) * ours.world_from_shape,
      .shell_scale = ours.scale};
  TriangleRequest query{.margin = request.furthest() + ours.margin,
                        .widen = 1e-5 * ours.body().ball.radius * ours.scale};
  m.triangle_hits.clear(), m.hit_triangle.clear();
  for (std::uint32_t t = 0; t < triangles.size(); ++t) {
    const auto& c = triangles[t].corner;
    query.thickness = triangles[t].thickness;
    find_hits_triangle(tree, placement, c[0], c[1], c[2], query, m.triangle_hits);
    m.hit_triangle.resize(m.triangle_hits.size(), t);
  }
  keep_shallowest(m);
  if (m.kept_hits.empty()) return;
  // The deepest first: it is moved to our surface. Others of its plane may say nothing more.
  const auto deepest =
      static_cast<std::size_t>(std::min_element(m.kept_hits.begin(), m.kept_hits.end(),
                                                [](const ShellHit& a, const ShellHit& b) {
                                                  return a.distance < b.distance;
                                                }) -
                               m.kept_hits.begin());
  const FlatTriangle& of_deepest = triangles[m.kept_triangle[deepest]];
  const ShellTarget plane(
      PlaneField{of_deepest.normal, dot(of_deepest.normal, of_deepest.corner[0])});
  const Placed other{.target = &plane, .world_from_target = world_from_mesh};
  ContactMover mover(ours, other, placement, is_turning(request), m.round_parts);
  mover.begin();
  for (std::size_t n = 0; n < m.kept_hits.size(); ++n) {
    const std::size_t i = n == 0 ? deepest : n <= deepest ? n - 1 : n;
    const FlatTriangle& t = triangles[m.kept_triangle[i]];
    const bool is_level = are_level(of_deepest, t);
    if (n > 0 && is_level && mover.is_on_same_round_part(m.kept_hits[i])) continue;
    const Vec3 out = transform_vector(world_from_mesh, t.normal);
    const std::uint32_t point = m.kept_hits[i].point;
    const Vec3 place = transform_point(
        world_from_mesh,
        transform_point(placement.field_from_shell, to_double(tree.point(point)) * ours.scale));
    const double distance = static_cast<double>(m.kept_hits[i].distance);
    const Vec3 on_ours = place - out * ours.margin, on_other = place - out * distance;
    Candidate c{.key = make_key(ours.is_0 ? Finder::kPointsOf0 : Finder::kPointsOf1, point),
                .on_0 = ours.is_0 ? on_ours : on_other,
                .on_1 = ours.is_0 ? on_other : on_ours,
                .normal = ours.is_0 ? out : -out,
                .distance = distance - ours.margin};
    (ours.is_0 ? c.part_1 : c.part_0) = t.part;
    (ours.is_0 ? c.index_1 : c.index_0) = t.index;
    if (n == 0 && request.motion != nullptr)
      move_on_plane(triangles, t, world_from_mesh, m.kept_hits[i], mover, c);
    m.candidates.push_back(c);
  }
}

// A ridge pushes between the normals of its two faces, and a rim without neighbour away from the
// back of its one face. Directions beyond are changed to the nearer face's.
void mend_directions(const Ours& ours, const std::vector<FlatTriangle>& triangles,
                     const std::vector<Ridge>& ridges, const Pose& world_from_mesh,
                     std::size_t first, std::vector<Candidate>& candidates) {
  std::size_t kept = first;
  for (std::size_t i = first; i < candidates.size(); ++i) {
    Candidate c = candidates[i];
    const Ridge& ridge = ridges[static_cast<std::uint32_t>(c.key)];
    const FlatTriangle &s = triangles[ridge.left], &t = triangles[ridge.right];
    const Vec3 n1 = transform_vector(world_from_mesh, s.normal);
    const Vec3 n2 = transform_vector(world_from_mesh, t.normal);
    const Vec3 out = ours.is_0 ? c.normal : -c.normal;  // Away from the mesh.
    const double a = dot(out, n1), b = dot(out, n2);
    if (a < -0.2 && b < -0.2) continue;
    const double between = dot(n1, n2);
    if (ridge.left != ridge.right && std::min(a, b) < between - 1e-6) {
      const Vec3 nearer = a > b ? n1 : n2;
      c.normal = ours.is_0 ? nearer : -nearer;
    }
    (ours.is_0 ? c.part_1 : c.part_0) = s.part;
    (ours.is_0 ? c.index_1 : c.index_0) = s.index;
    c.key = make_key(Finder::kEdges, hash_bytes(std::as_bytes(std::span(&ridge.edge, 1))) >> 4U);
    candidates[kept++] = c;
  }
  candidates.resize(kept);
}

double distance_to(const FlatTriangle& t, const Vec3& p) {
  double least = std::numeric_limits<double>::infinity();
  bool is_over = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 &a = t.corner[i], along = t.corner[(i + 1) % 3] - a;
    is_over = is_over && dot(cross(t.normal, along), p - a) >= 0;
    const double u = std::clamp(dot(p - a, along) / length_sq(along), 0.0, 1.0);
    least = std::min(least, length(p - a - along * u));
  }
  return is_over ? std::abs(dot(t.normal, p - t.corner[0])) : least;
}

}  // namespace

double compute_clearance(const Ours& ours, Triangles& triangles, const Pose& world_from_mesh,
                         double most) {
  if (ours.tree == nullptr) return 0;
  constexpr std::uint32_t kSpheres = 16;
  const PointSphereTree& tree = *ours.tree;
  const Pose mesh_from_shape = inverse(world_from_mesh) * ours.world_from_shape;
  const double s = ours.scale;
  const Vec3 center = transform_point(mesh_from_shape, ours.body().ball.center * s);
  const double radius = ours.body().ball.radius * s + ours.margin;
  double clearance = most;
  // Far triangles by one ball, near ones by some spheres.
  triangles.near.clear();
  for (std::uint32_t i = 0; i < triangles.faces.size(); ++i) {
    const FlatTriangle& t = triangles.faces[i];
    const double apart = length(center - t.ball.center) - t.ball.radius - radius;
    if (apart >= clearance) continue;
    if (apart > 0.1 * radius)
      clearance = apart;
    else
      triangles.near.push_back(i);
  }
  int level = 0;
  while (level + 1 < tree.level_count() && tree.level(level).node_count < kSpheres) ++level;
  for (const SphereGroup& group : tree.level(level).groups)
    for (unsigned lane = 0; lane < 8; ++lane) {
      if (group.radius[lane] < 0) continue;
      const Vec3 at = transform_point(
          mesh_from_shape, to_double(Vec3f{group.x[lane], group.y[lane], group.z[lane]}) * s);
      const double r = static_cast<double>(group.radius[lane]) * s + ours.margin;
      for (const std::uint32_t i : triangles.near) {
        const FlatTriangle& t = triangles.faces[i];
        if (std::abs(dot(t.normal, at - t.corner[0])) - r >= clearance) continue;
        const double far = clearance + r + t.ball.radius;
        if (length_sq(at - t.ball.center) >= far * far) continue;
        clearance = std::min(clearance, distance_to(t, at) - r);
      }
      if (clearance <= 0) return 0;
    }
  // Ridges may come in between two points.
  return clearance - tree.covering_radius() * s;
}

void collect_near(const Ours& ours, const btConcaveShape& mesh, const Pose& world_from_mesh,
                  double reach, GatherScratch& memory) {
  // Our box in the mesh's frame. Our frame is only rotated relative to that of Bullet's body.
  const Pose world_from_bullet = ours.world_from_shape * inverse(ours.shape->scaled_frame());
  btVector3 lower, upper;
  ours.shape->getAabb(to_bullet(inverse(world_from_mesh) * world_from_bullet), lower, upper);
  const auto grow = static_cast<btScalar>(reach + 1e-6);
  collect_triangles(mesh, lower - btVector3(grow, grow, grow), upper + btVector3(grow, grow, grow),
                    ours.body().settings.meshes.thickness * ours.scale,
                    ours.body().ball.radius * ours.scale, *memory.thickness, memory.triangles);
}

void gather_mesh(const Ours& ours, const btConcaveShape& mesh,
                 const btTransform& world_from_mesh_in, const GatherRequest& request,
                 GatherScratch& memory) {
  const Pose world_from_mesh = from_bullet(world_from_mesh_in);
  collect_near(ours, mesh, world_from_mesh, request.furthest(), memory);
  Triangles& near = memory.triangles;
  if (near.faces.empty()) return;
  if (Allowance* allowance = open_allowance()) allowance->used_nodes += near.faces.size();
  if (ours.tree != nullptr) add_points(ours, near.faces, world_from_mesh, request, memory);
  if (!ours.body().field && !ours.body().voxmap) return;
  find_ridges(near);
  const std::size_t first = memory.candidates.size();
  gather_edges(ours, near.edges, 0, world_from_mesh, request, memory);
  mend_directions(ours, near.faces, near.ridges, world_from_mesh, first, memory.candidates);
}

}  // namespace isotact::bullet_detail
