// How many groups the parts of a list of open cells need: eight of each.
layout(local_size_x = 1) in;
#include "shape_layout.h"
layout(std430, binding = kIdfOpenAt) buffer Open { WorkListHead open_list; };
layout(std430, binding = kIdfHitsAt) buffer Hits { RefinedHead refined; };
uniform uint open_room;
void main() {
  refined.most_open = max(refined.most_open, open_list.count);
  uint count = (8u * min(open_list.count, open_room) + uint(GROUP_SIZE) - 1u) / uint(GROUP_SIZE);
  uint rows = (count + kMostGroups - 1u) / kMostGroups;
  open_list.groups[0] = rows == 0u ? 0u : (count + rows - 1u) / rows;
  open_list.groups[1] = rows;
  open_list.groups[2] = 1u;
}
