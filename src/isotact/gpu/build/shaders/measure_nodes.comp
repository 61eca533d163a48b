// From the nearest triangles of nodes of bricks to distances, and with DIRECTIONS to vec4s of
// compute_direction. Nodes without a triangle have distance 1.
#include "nearest.glsl"
#include "direction.glsl"
#include "brick_work.glsl"

layout(local_size_x = kSearchGroup) in;
#include "index.glsl"
#ifdef DIRECTIONS
layout(std430, binding = kSearchResultsAt) writeonly buffer Results { vec4 results[]; };
#else
layout(std430, binding = kSearchResultsAt) writeonly buffer Results { float results[]; };
#endif

void main() {
  uint number = invocation_index(), brick = number / kSearchNodes, i = number % kSearchNodes;
  if (brick >= brick_count) return;
  uint frame = triangles[number];
  vec3 p = vec3(int(kSearchSide) * bricks[brick].cell) +
           vec3(i % kSearchSide, i / kSearchSide % kSearchSide, i / (kSearchSide * kSearchSide));
#ifdef DIRECTIONS
  results[number] = frame != kNoTriangle ? compute_direction(frame, p) : vec4(0.0, 0.0, 0.0, 1.0);
#else
  results[number] = frame != kNoTriangle ? length(offset_in_plane(frame, p)) : 1.0;
#endif
}
