// How many groups a list needs, one for each GROUP_SIZE of its entries, spread over x and y.
layout(local_size_x = 1) in;
#include "shape_layout.h"
layout(std430, binding = kIdfBlocksAt) buffer List { WorkListHead list; };
void main() {
  uint n = (list.count + uint(GROUP_SIZE) - 1u) / uint(GROUP_SIZE);
  uint rows = (n + kMostGroups - 1u) / kMostGroups;
  list.groups[0] = rows == 0u ? 0u : (n + rows - 1u) / rows;
  list.groups[1] = rows;
  list.groups[2] = 1u;
}
