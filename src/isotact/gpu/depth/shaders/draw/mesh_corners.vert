// An element of GpuMeshes, all of it.
#include "depth_layout.h"
layout(std430, binding = kDepthCornersAt) readonly buffer Corners { float corners[]; };
layout(location = 0) uniform mat4 clip_from_world;
layout(location = kMeshRowsLocation) uniform vec4 world_from_element[3];

void main() {
  uint at = 3u * uint(gl_VertexID);
  vec4 p = vec4(corners[at], corners[at + 1u], corners[at + 2u], 1);
  gl_Position = clip_from_world * vec4(dot(world_from_element[0], p), dot(world_from_element[1], p),
                                       dot(world_from_element[2], p), 1);
  gl_PointSize = 1;
}
