// Exclusive running totals of one array, by a single group: pass after pass of 1024 numbers.
layout(local_size_x = 1024) in;
#include "shape_layout.h"
layout(std430, binding = kIdfCountsAt) readonly buffer In { uint numbers[]; };
// One more than numbers.
layout(std430, binding = kIdfOffsetsAt) writeonly buffer Out { uint totals[]; };
uniform uint count;
shared uint parts[1024];

void main() {
  uint me = gl_LocalInvocationID.x;
  uint carry = 0u;
  for (uint first = 0u; first < count; first += 1024u) {
    uint own = first + me < count ? numbers[first + me] : 0u;
    parts[me] = own;
    for (uint reach = 1u; reach < 1024u; reach *= 2u) {
      barrier();
      uint before = me >= reach ? parts[me - reach] : 0u;
      barrier();
      parts[me] += before;
    }
    barrier();
    if (first + me < count) totals[first + me] = carry + parts[me] - own;
    carry += parts[1023];
    barrier();
  }
  if (me == 0u) totals[count] = carry;
}
