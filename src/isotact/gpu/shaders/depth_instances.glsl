// Meshes in queries' pictures. detail/mesh_state.h has the same.
layout(std430, binding = 0) readonly buffer Corners { float corners[]; };
struct Instance {
  vec4 rows[3];  // clip_from_element
  uint number, flags, query, empty;
};
layout(std430, binding = 1) readonly buffer Instances { Instance instances[]; };

layout(std140, binding = 31) uniform Batch {
  uint elements, first_query;
  vec2 atlas;           // pixels
  uvec4 first_visible;  // of each kind
} batch;

vec3 to_clip(Instance i, uint corner) {
  vec4 p = vec4(corners[3u * corner], corners[3u * corner + 1u], corners[3u * corner + 2u], 1);
  // The same bits in every shader: triangles that share a corner must.
  precise vec3 clip = vec3(dot(i.rows[0], p), dot(i.rows[1], p), dot(i.rows[2], p));
  return clip;
}
