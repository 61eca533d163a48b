// What depth_cull.comp has left, each in its query's part of the atlas.
#include "depth_frame.glsl"
#include "depth_instances.glsl"
layout(std430, binding = kDepthVisibleAt) readonly buffer Visible { uvec2 visible[]; };  // first corner, instance
layout(location = 0) flat out uvec3 drawn;
out gl_PerVertex {
  vec4 gl_Position;
  float gl_PointSize;
  float gl_ClipDistance[4];
};

void main() {
  uint vertex = uint(gl_VertexID);
  uvec2 entry = visible[batch.first_visible[KIND] + vertex / CORNERS];
  DrawnInstance i = instances[entry.y];
  vec3 clip = to_clip(i, entry.x + vertex % CORNERS);
  vec2 size = vec2(isotact_frame.size);
  vec2 middle = (2 * vec2(isotact_origin(i.query)) + size) / batch.atlas - 1;
  gl_Position = vec4(clip.xy * (size / batch.atlas) + middle, clip.z, 1);
  gl_PointSize = 1;
  gl_ClipDistance[0] = 1 + clip.x;
  gl_ClipDistance[1] = 1 - clip.x;
  gl_ClipDistance[2] = 1 + clip.y;
  gl_ClipDistance[3] = 1 - clip.y;
  drawn = uvec3(i.query, i.number, i.flags);
}
