// How many groups the parts of a list of open cells need: eight of each.
layout(local_size_x = 1) in;
layout(std430, binding = 7) buffer Open { uint open_count; uint open_groups[3]; };
layout(std430, binding = 6) buffer Hits { uint hit_count; uint most_open; };
uniform uint open_room;
void main() {
  most_open = max(most_open, open_count);
  uint count = (8u * min(open_count, open_room) + uint(GROUP_SIZE) - 1u) / uint(GROUP_SIZE);
  uint rows = (count + 65534u) / 65535u;
  open_groups[0] = rows == 0u ? 0u : (count + rows - 1u) / rows;
  open_groups[1] = rows;
  open_groups[2] = 1u;
}
