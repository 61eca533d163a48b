// Clusters of meshes against queries: a work-group for each pair, a lane for each primitive. What is
// left is listed, and counted as an indirect draw wants it.
#include "depth_cull_tests.glsl"
layout(local_size_x = kClusterSize) in;
layout(std430, binding = kDepthVisibleAt) writeonly buffer Visible { uvec2 visible[]; };
layout(std430, binding = kDepthCommandsAt) buffer Commands { DrawCommand commands[3]; };

shared uint left, base;

void main() {
  MeshCluster cluster = clusters[gl_WorkGroupID.x];
  uint number = (batch.first_query + gl_WorkGroupID.y) * batch.elements + cluster.element;
  DrawnInstance instance = instances[number];
  bool front = may_surround(instance.flags);
  if (!may_show(cluster, instance, front)) return;

  if (gl_LocalInvocationIndex == 0u) left = 0u;
  barrier();
  uint corner_count = 3u - cluster.kind, place = 0u;
  bool shows = gl_LocalInvocationIndex < cluster.count &&
               is_visible(instance, cluster, gl_LocalInvocationIndex, corner_count, front);
  if (shows) place = atomicAdd(left, 1u);
  barrier();
  if (left == 0u) return;
  if (gl_LocalInvocationIndex == 0u)
    base = batch.first_visible[cluster.kind] +
           atomicAdd(commands[cluster.kind].count, left * corner_count) / corner_count;
  barrier();
  if (shows)
    visible[base + place] = uvec2(cluster.first + gl_LocalInvocationIndex * corner_count, number);
}
