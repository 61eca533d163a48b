// How many groups a list needs, one for each GROUP_SIZE of its entries, spread over x and y.
layout(local_size_x = 1) in;
layout(std430, binding = 3) buffer List { uint count; uint groups[3]; };
void main() {
  uint n = (count + uint(GROUP_SIZE) - 1u) / uint(GROUP_SIZE);
  uint rows = (n + 65534u) / 65535u;
  groups[0] = rows == 0u ? 0u : (n + rows - 1u) / rows;
  groups[1] = rows;
  groups[2] = 1u;
}
