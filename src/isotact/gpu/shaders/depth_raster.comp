// Meshes against queries, without the graphics pipeline: for GPUs whose strength is computing. Clusters
// and primitives are culled as in depth_cull.comp; what covers few pixels is tested here, the rest
// is listed by tiles of 16 x 16 pixels for depth_tiles.comp.
layout(local_size_x = 128) in;
#include "depth_cull.glsl"
#include "depth_flat.glsl"
#include "depth_test.glsl"
layout(std430, binding = 2) writeonly buffer Items { uvec4 items[]; };  // corner, instance, tile
layout(std430, binding = 4) buffer Groups { uint groups; };

const int kFewPixels = 16, kFewTiles = 24;
shared uint wide_count;
shared uint wide[128];

void test_triangle(Instance i, Flat t, vec2 slope, ivec2 first, ivec2 last) {
  bool closed = (i.flags & kClosed) != 0u;
  for (int y = first.y; y <= last.y; ++y)
    for (int x = first.x; x <= last.x; ++x) {
      float z;
      if (find_depth(t, ivec2(x, y), z))
        isotact_test(i.query, i.number, closed, false, t.front, ivec2(x, y), z, 0, slope);
    }
}

// The pixels whose middles lie in a triangle's box.
void find_pixels(Flat t, out ivec2 first, out ivec2 last) {
  dvec2 lower = min(t.at[0], min(t.at[1], t.at[2])), upper = max(t.at[0], max(t.at[1], t.at[2]));
  dvec2 size = dvec2(isotact_frame.size);
  first = ivec2(ceil(clamp(lower - 0.5lf, dvec2(0), size)));
  last = min(ivec2(floor(clamp(upper - 0.5lf, dvec2(-1), size))), isotact_frame.size - 1);
}

// Whether the triangle passes the tile where the object is.
bool meets_tile(Flat t, vec2 slope, uint slot, ivec2 tile, bool front) {
  ivec2 across = (isotact_frame.size + 15) / 16;
  vec2 solid = tiles[slot * uint(across.x * across.y) + uint(tile.y * across.x + tile.x)];
  if (solid.x > solid.y) return false;
  dvec2 middle = dvec2(tile * 16 + 8);
  double z = 0;
  for (int k = 0; k < 3; ++k) {
    dvec2 a = t.at[(k + 1) % 3], b = t.at[(k + 2) % 3], side = abs(b - a);
    double e = find_edge(a, b, middle);
    if (e + 8 * (side.x + side.y) < 0) return false;
    z += e * double(t.z[k]);
  }
  float at = float(z / t.area), reach = 8 * (abs(slope.x) + abs(slope.y)) + kDepthRoom;
  float lower = max(at - reach, min(t.z.x, min(t.z.y, t.z.z)) - kDepthRoom);
  float upper = min(at + reach, max(t.z.x, max(t.z.y, t.z.z)) + kDepthRoom);
  return lower <= solid.y && (front || upper >= solid.x);
}

void list_tile(Instance i, uint number, Flat t, vec2 slope, uint corner, ivec2 tile, bool front) {
  if (!meets_tile(t, slope, isotact_slot(i.query), tile, front)) return;
  uint place = atomicAdd(groups, 1u);
  if (place < batch.first_visible.x) {
    items[place] = uvec4(corner, number, uint(tile.x), uint(tile.y));
    return;
  }
  // No room: here, slowly.
  atomicAdd(groups, 0xffffffffu);
  test_triangle(i, t, slope, tile * 16, min(tile * 16 + 15, isotact_frame.size - 1));
}

// One pixel a column (or row, where the line is steeper), from the lower end up to, not with, the
// upper one.
void test_line(Instance i, uint corner) {
  vec3 clip_a = to_clip(i, corner), clip_b = to_clip(i, corner + 1u);
  dvec2 a = to_picture(clip_a), b = to_picture(clip_b);
  float za = 0.5 * clip_a.z + 0.5, zb = 0.5 * clip_b.z + 0.5;
  bool steep = abs(b.y - a.y) > abs(b.x - a.x);
  if (steep) {
    a = a.yx;
    b = b.yx;
  }
  if (a.x > b.x) {
    dvec2 p = a;
    a = b;
    b = p;
    float z = za;
    za = zb;
    zb = z;
  }
  if (a.x == b.x) return;
  ivec2 size = steep ? isotact_frame.size.yx : isotact_frame.size;
  int first = int(ceil(clamp(a.x - 0.5lf, 0.0lf, double(size.x))));
  for (int x = first; x < size.x && double(x) + 0.5lf < b.x; ++x) {
    double part = (double(x) + 0.5lf - a.x) / (b.x - a.x);
    double y = a.y + (b.y - a.y) * part;
    if (y < 0 || y >= size.y) continue;
    ivec2 pixel = ivec2(x, int(floor(y)));
    isotact_test(i.query, i.number, false, true, true, steep ? pixel.yx : pixel,
                 za + (zb - za) * float(part), 0, vec2(0));
  }
}

void test_point(Instance i, uint corner) {
  vec3 clip = to_clip(i, corner);
  dvec2 at = floor(to_picture(clip));
  if (at.x < 0 || at.y < 0 || at.x >= isotact_frame.size.x || at.y >= isotact_frame.size.y) return;
  isotact_test(i.query, i.number, false, true, true, ivec2(at), 0.5 * clip.z + 0.5, 0, vec2(0));
}

void main() {
  Cluster cluster = clusters[gl_WorkGroupID.x];
  uint number = (batch.first_query + gl_WorkGroupID.y) * batch.elements + cluster.element;
  Instance instance = instances[number];
  bool front = may_surround(cluster.flags);
  if (!may_show(cluster, instance, front)) return;

  uint me = gl_LocalInvocationIndex;
  if (me == 0u) wide_count = 0u;
  barrier();
  uint corner_count = 3u - cluster.kind, corner = cluster.first + me * corner_count;
  if (me < cluster.count && is_visible(instance, cluster, me, corner_count, front)) {
    if (corner_count == 1u) {
      test_point(instance, corner);
    } else if (corner_count == 2u) {
      test_line(instance, corner);
    } else {
      Flat t = make_flat(instance, corner);
      ivec2 first, last;
      find_pixels(t, first, last);
      ivec2 pixels = max(last - first + 1, ivec2(0));
      ivec2 span = last / 16 - first / 16 + 1;
      if (t.area != 0 && pixels.x * pixels.y > 0) {
        if (pixels.x * pixels.y <= kFewPixels) {
          test_triangle(instance, t, find_slope(t), first, last);
        } else if (span.x * span.y <= kFewTiles) {
          vec2 slope = find_slope(t);
          for (int y = first.y / 16; y <= last.y / 16; ++y)
            for (int x = first.x / 16; x <= last.x / 16; ++x)
              list_tile(instance, number, t, slope, corner, ivec2(x, y), front);
        } else {
          wide[atomicAdd(wide_count, 1u)] = corner;
        }
      }
    }
  }
  barrier();
  // All lanes share the tiles of each wide one.
  for (uint w = 0u; w < wide_count; ++w) {
    Flat t = make_flat(instance, wide[w]);
    vec2 slope = find_slope(t);
    ivec2 first, last;
    find_pixels(t, first, last);
    ivec2 start = first / 16, span = last / 16 - start + 1;
    for (int k = int(me); k < span.x * span.y; k += 128)
      list_tile(instance, number, t, slope, wide[w], start + ivec2(k % span.x, k / span.x), front);
  }
}
