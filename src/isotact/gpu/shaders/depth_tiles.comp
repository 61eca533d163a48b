// Triangles in tiles of 16 x 16 pixels, as depth_raster.comp has listed them: a work-group each.
layout(local_size_x = 64) in;
#include "depth_frame.glsl"
#include "depth_flat.glsl"
#include "depth_test.glsl"
layout(std430, binding = 2) readonly buffer Items { uvec4 items[]; };  // corner, instance, tile

void main() {
  uvec4 item = items[gl_WorkGroupID.x];
  Instance i = instances[item.y];
  Flat t = make_flat(i, item.x);
  vec2 slope = find_slope(t);
  bool closed = (i.flags & kClosed) != 0u;
  ivec2 start = ivec2(item.zw) * 16 +
                ivec2(gl_LocalInvocationIndex % 16u, gl_LocalInvocationIndex / 16u);
  for (int row = 0; row < 16; row += 4) {
    ivec2 pixel = start + ivec2(0, row);
    float z;
    if (all(lessThan(pixel, isotact_frame.size)) && find_depth(t, pixel, z))
      isotact_test(i.query, i.number, closed, false, t.front, pixel, z, 0, slope);
  }
}
