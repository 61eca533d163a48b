// A shape as methods with structures of their own take it: intersection fields (KGM) and depth maps
// (FAB), on the CPU and on the GPU. Views are made on first use, once, and kept by the shape. The
// data that they refer to lives as long as the shape or a copy of it.
//
//   const Shape shapes[] = {gear, ground};
//   intersect_fields(shapes, bodies, pairs, {}, result, scratch);
//   const DepthElement environment[] = {depth_element(tunnel, world_from_tunnel, 0)};
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/queries/depth/depth_map.h"
#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/shape.h"

namespace ISOTACT_PUBLIC isotact {

// The formula where intersection fields know it, else the brick field. Throws Error for other
// shapes without end, and for a pointshell alone.
const IdfShape& intersection_shape(const Shape& shape);
// The views of all shapes, in their order: for intersect_fields and GpuIntersectionQuery.
std::vector<IdfShape> intersection_shapes(std::span<const Shape> shapes);
// intersect_fields of intersection_field.h with these views. Throws Error as they do. (They are
// collected in each call; callers with many shapes keep intersection_shapes.)
void intersect_fields(std::span<const Shape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings,
                      IdfResult& result, IdfScratch& scratch);

// The shape's surface as a part of an environment. Throws Error for shapes without end, for a
// pointshell alone, and for a mesh with triangles that are not finite.
DepthElement depth_element(const Shape& shape, const Pose& world_from_shape, std::uint32_t id);

// Describes in words how depth maps differ from the shape's body. Without triangles they show the
// surface of its field. An environment (B of collide) may be open or turned inwards, and its inside
// is then not known, or free. Empty for other shapes. Throws Error as depth_element does.
std::vector<std::string> describe_depth_limits(const Shape& shape, bool is_environment);

// The shape as the object of depth maps: seen along the direction that shows most of its surface.
// Throws Error as depth_element does. Cost: some hundred milliseconds on first use.
const DepthMap& depth_map(const Shape& shape);
// The same, seen along a direction in the shape's frame. The shape keeps the last four. Throws
// Error for a direction that is zero or not finite. Cost: some milliseconds on first use.
std::shared_ptr<const DepthMap> depth_map(const Shape& shape, const Vec3& direction,
                                          const DepthSettings& settings = {});

}  // namespace isotact
