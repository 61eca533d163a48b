// Closes the gaps between the contacts of pairs, so that only contacts are read back. One group a
// pair.
layout(local_size_x = 64) in;
struct Hit {
  uvec4 a, b, c;
};
layout(std430, binding = 4) readonly buffer Counts { uint arrived[]; };
layout(std430, binding = 5) readonly buffer Offsets { uint totals[]; };
layout(std430, binding = 6) readonly buffer From { Hit from[]; };
layout(std430, binding = 7) writeonly buffer To { Hit to[]; };
layout(std430, binding = 8) readonly buffer Starts { uint first_hit[]; };
uniform uint pair_count;

void main() {
  uint pair = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  if (pair >= pair_count) return;
  for (uint i = gl_LocalInvocationID.x; i < arrived[pair]; i += 64u)
    to[totals[pair] + i] = from[first_hit[pair] + i];
}
