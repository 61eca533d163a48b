// Makers of the parts that a shape lacks.
#pragma once

#include "isotact/queries/shape.h"

namespace isotact::detail {

// A field of any kind, or a voxelmap.
inline bool has_field(const ShapeParts& p) {
  return p.field || p.dense || p.first_order || p.voxmap;
}
inline bool has_mesh(const ShapeParts& p) {
  return p.flat_mesh || (p.mesh && !p.mesh->triangles.empty());
}

// Baked from the solid, or from the first field or voxelmap among the parts. The solid must have an
// end.
BrickField make_bricks(const ShapeParts& parts, const ShapeSettings& settings);

// For shapes with a mesh and no field: the field that from_mesh builds, and the surface that it is
// of.
FieldResult build_from_mesh(const Shape& shape, const ShapeSettings& settings);

// For shapes with an end and a field.
TriangleMesh make_surface(const Shape& shape, const ShapeSettings& settings);
PointSphereTree make_points(const Shape& shape, const ShapeSettings& settings);
MassProperties make_mass(const Shape& shape, const ShapeSettings& settings);

// Points of a mesh that belongs to a field with cells of that size.
PointSphereTree sample_mesh(const TriangleMesh& mesh, double voxel_size,
                            const ShapeSettings& settings, const Monitor& monitor);

}  // namespace isotact::detail
