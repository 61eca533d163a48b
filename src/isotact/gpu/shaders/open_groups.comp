// How many groups the list of open cells needs.
layout(local_size_x = 1) in;
layout(std430, binding = 8) buffer Open { uint open_count; uint open_groups[3]; };
void main() {
  uint count = (open_count + uint(GROUP_SIZE) - 1u) / uint(GROUP_SIZE);
  uint rows = (count + 65534u) / 65535u;
  open_groups[0] = rows == 0u ? 0u : (count + rows - 1u) / rows;
  open_groups[1] = rows;
  open_groups[2] = 1u;
}
