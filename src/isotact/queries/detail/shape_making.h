// Makers of the parts that a shape lacks.
#pragma once

#include "isotact/queries/shape.h"

namespace isotact::detail {

// Baked from the solid, or from the first field or voxelmap among the parts. The solid must have an
// end.
BrickField make_bricks(const ShapeParts& parts, const ShapeSettings& settings);

// For shapes with an end and a field.
TriangleMesh make_surface(const Shape& shape, const ShapeSettings& settings);
PointSphereTree make_points(const Shape& shape, const ShapeSettings& settings);
MassProperties make_mass(const Shape& shape, const ShapeSettings& settings);

// Points of a mesh that belongs to a field with cells of that size.
PointSphereTree sample_mesh(const TriangleMesh& mesh, double voxel_size,
                            const ShapeSettings& settings, const Monitor& monitor);

}  // namespace isotact::detail
