// A shape as exact queries see it: triangles, perhaps grown by a radius, or a half-space.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "isotact/field/models/analytic.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/queries/shape.h"

namespace isotact::detail {

struct ExactBody {
  std::shared_ptr<const TriangleMesh> mesh;
  Bvh triangles;      // A sphere's is a point, a capsule's a segment.
  double radius = 0;  // The body is everything as near to the triangles as this, and their inside.
  std::optional<PlaneField> half_space;  // Without triangles.
  std::vector<Vec3> parts;               // A vertex of each connected part of the triangles.
  // The part of each triangle of the mesh, and the corners of each part that are lowest and highest
  // along the axes. Empty for a single part, and for more than a thousand.
  std::vector<std::uint32_t> part_of;
  std::vector<std::array<Vec3f, 6>> part_corners;
  double size = 0;  // Metres: the diagonal of the box.
  // A ball that holds the body.
  Vec3 ball_center{};
  double ball_radius = 0;
  // Corners of the convex hull of the triangles, along directions all around: x, y, z. Their number
  // is a multiple of four; the last one may be repeated.
  std::vector<float> outline[3];
  double error = 0;  // Metres: the solid's surface and the body's are nowhere further apart.
};

// Whether the shape keeps its triangles, or is a primitive: neither combined nor a terrain.
bool can_be_exact(const Shape& shape);

// Made on first use, once. Throws Error if the shape cannot be exact.
const ExactBody& exact_body(const Shape& shape);

// Whether a point that is `distance` from the shape's triangles is inside of its body. The field
// says so, unless the point is so near that cells decide; then the winding number does. It is that
// of the surface which the field is of, with the same rule for nested parts, so that both have one
// sign: components that face inwards are turned over, and holes are closed (field/surface).
bool is_inside(const Shape& shape, const Vec3& point, double distance);

// The same for a point next to the triangles, where bounds by the field seldom tell. `off_face`:
// from the nearest point of the triangles to it, and the unit normal of that triangle, or zero.
// Most points that are inside are straight behind a face, which is known at once.
bool is_inside_near(const Shape& shape, const Vec3& point, const Vec3& off_face,
                    const Vec3& normal);

// Whether is_inside is what the field's bounds say, wherever they are of one sign.
bool has_sided_field(const Shape& shape);

// Whether there is an inside at all. The field of a random soup, or one that was asked to be
// unsigned, is that of a shell, which is no part of the body.
bool has_inside(const Shape& shape);

// Whether there is an inside that ends at triangles everywhere: each edge is used as often in one
// direction as in the other. Else it may end in mid-air, where a hole is. Made on first use, once.
bool is_closed(const Shape& shape);

// The corner that is highest along a direction, if it is higher than `known`, a corner as well.
Vec3 find_highest(const Bvh& triangles, const Vec3& direction, const Vec3& known);

// Makes what is_inside and is_closed need. The shape can be exact.
void prepare_sides(const Shape& shape);

}  // namespace isotact::detail
