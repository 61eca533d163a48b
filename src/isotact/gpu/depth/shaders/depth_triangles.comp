// Meshes against queries, without the graphics pipeline: for GPUs whose strength is computing. Clusters
// and primitives are culled as in depth_cull.comp; what covers few pixels is tested here, the rest
// is listed for depth_tiles.comp, by blocks of tiles. No lane does much alone: that would be what
// all others wait for.
#define FEW_TILES 4
#include "depth_cull_tests.glsl"
layout(local_size_x = kClusterSize) in;
#include "depth_flat.glsl"
#include "depth_test.glsl"
layout(std430, binding = kDepthVisibleAt) writeonly buffer Items { uvec4 items[]; };
// Of dispatches: of surfaces, of windings.
layout(std430, binding = kDepthCommandsAt) buffer Commands { DrawCommand commands[3]; };
#ifdef WINDINGS
#define groups commands[1].count
#else
#define groups commands[0].count
#endif

const int kFewPixels = 16, kFewBlocks = 4;
shared uint wide_count;
shared uint wide[kClusterSize];

void test_triangle(DrawnInstance i, Flat t, vec2 slope, ivec2 first, ivec2 last) {
  bool closed = (i.flags & kPassClosed) != 0u;
  for (int y = first.y; y <= last.y; ++y)
    for (int x = first.x; x <= last.x; ++x) {
      float z;
      if (compute_depth(t, ivec2(x, y), z))
        isotact_test(i.query, i.number, closed, false, t.front, ivec2(x, y), z, 0, slope);
    }
}

// The pixels whose middles lie in a triangle's box.
void compute_pixels(Flat t, out ivec2 first, out ivec2 last) {
  dvec2 lower = min(t.at[0], min(t.at[1], t.at[2])), upper = max(t.at[0], max(t.at[1], t.at[2]));
  dvec2 size = dvec2(isotact_frame.size);
  first = ivec2(ceil(clamp(lower - 0.5lf, dvec2(0), size)));
  last = min(ivec2(floor(clamp(upper - 0.5lf, dvec2(-1), size))), isotact_frame.size - 1);
}

// Blocks of tiles that a triangle's box reaches.
struct Blocks {
  ivec2 first, count;
};
Blocks find_blocks(ivec2 first, ivec2 last) {
  ivec2 block = ivec2(kDepthTile * kBlockTiles);
  Blocks b;
  b.first = first / block;
  b.count = last / block - b.first + 1;
  return b;
}
ivec2 find_block(Blocks b, int k) { return b.first + ivec2(k % b.count.x, k / b.count.x); }

// `place`: of the item. False where there is no room.
bool list_block(uint number, uint corner, ivec2 block, uint place) {
  if (place >= batch.first_visible.x) return false;
  items[place] = uvec4(corner, number, uint(block.x), uint(block.y));
  return true;
}

// Where there is no room in the list: here, slowly.
void test_block(DrawnInstance i, Flat t, ivec2 block, ivec2 first, ivec2 last) {
  ivec2 start = block * (kDepthTile * kBlockTiles);
  test_triangle(i, t, compute_slope(t), max(first, start),
                min(last, start + kDepthTile * kBlockTiles - 1));
}

// One pixel a column (or row, where the line is steeper), from the lower end up to, not with, the
// upper one.
void test_line(DrawnInstance i, uint corner) {
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

void test_point(DrawnInstance i, uint corner) {
  vec3 clip = to_clip(i, corner);
  dvec2 at = floor(to_picture(clip));
  if (at.x < 0 || at.y < 0 || at.x >= isotact_frame.size.x || at.y >= isotact_frame.size.y) return;
  isotact_test(i.query, i.number, false, true, true, ivec2(at), 0.5 * clip.z + 0.5, 0, vec2(0));
}

void main() {
  MeshCluster cluster = clusters[gl_WorkGroupID.x];
  uint number = (batch.first_query + gl_WorkGroupID.y) * batch.elements + cluster.element;
  DrawnInstance instance = instances[number];
#ifdef WINDINGS
  // Only whether it is around an object that nothing shows in.
  if (!may_surround(instance.flags) || isotact_has_hit(instance.query)) return;
  bool front = true;
#else
  bool front = false;
#endif
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
      compute_pixels(t, first, last);
      ivec2 pixels = max(last - first + 1, ivec2(0));
      if (t.area != 0 && pixels.x * pixels.y > 0) {
        Blocks blocks = find_blocks(first, last);
        int count = blocks.count.x * blocks.count.y;
        if (pixels.x * pixels.y <= kFewPixels) {
          test_triangle(instance, t, compute_slope(t), first, last);
        } else if (count <= kFewBlocks) {
          uint place = atomicAdd(groups, uint(count)), lost = 0u;
          for (int k = 0; k < count; ++k)
            if (!list_block(number, corner, find_block(blocks, k), place + uint(k))) {
              ++lost;
              test_block(instance, t, find_block(blocks, k), first, last);
            }
          // Places below the room have been written, each once: only what is beyond is given back.
          if (lost > 0u) atomicAdd(groups, 0u - lost);
        } else {
          wide[atomicAdd(wide_count, 1u)] = corner;
        }
      }
    }
  }
  barrier();
  // All lanes share the blocks of each wide one.
  for (uint w = 0u; w < wide_count; ++w) {
    Flat t = make_flat(instance, wide[w]);
    ivec2 first, last;
    compute_pixels(t, first, last);
    Blocks blocks = find_blocks(first, last);
    for (int k = int(me); k < blocks.count.x * blocks.count.y; k += int(kClusterSize)) {
      ivec2 block = find_block(blocks, k);
      if (list_block(number, wide[w], block, atomicAdd(groups, 1u))) continue;
      atomicAdd(groups, 0xffffffffu);
      test_block(instance, t, block, first, last);
    }
  }
}
