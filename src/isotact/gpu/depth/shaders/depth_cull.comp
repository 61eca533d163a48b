// Clusters of meshes against queries: a work-group for each pair, a lane for each primitive. What is
// left is listed, and counted as an indirect draw wants it.
layout(local_size_x = 128) in;
#include "depth_cull.glsl"
layout(std430, binding = 2) writeonly buffer Visible { uvec2 visible[]; };
struct Command {
  uint count, instances, first, base;
};
layout(std430, binding = 4) buffer Commands { Command commands[3]; };

shared uint left, base;

void main() {
  Cluster cluster = clusters[gl_WorkGroupID.x];
  uint number = (batch.first_query + gl_WorkGroupID.y) * batch.elements + cluster.element;
  Instance instance = instances[number];
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
