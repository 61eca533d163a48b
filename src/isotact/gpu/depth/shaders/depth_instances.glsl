// Meshes in queries' pictures. After depth_layout.h.
layout(std430, binding = kDepthCornersAt) readonly buffer Corners { float corners[]; };
layout(std430, binding = kDepthInstancesAt) readonly buffer Instances { DrawnInstance instances[]; };

layout(std140, binding = kDepthBatchAt) uniform Batch { MeshBatch batch; };

vec3 to_clip(DrawnInstance i, uint corner) {
  vec4 p = vec4(corners[3u * corner], corners[3u * corner + 1u], corners[3u * corner + 2u], 1);
  // The same bits in every shader: triangles that share a corner must.
  precise vec3 clip = vec3(dot(i.clip_from_element[0], p), dot(i.clip_from_element[1], p),
                           dot(i.clip_from_element[2], p));
  return clip;
}
