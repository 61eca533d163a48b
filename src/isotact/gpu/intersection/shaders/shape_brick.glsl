// A brick field out of its flat buffer (field/models/brick_field.h has the layout): interpolated coarse
// corners, plus interpolated corrections where there is a brick.
layout(std430, binding = kIdfBricksAt) readonly buffer BrickWords { uint brick_words[]; };

// Value and slope, along x, y and z, of eight corners: c0 those at z = 0, c1 at z = 1.
vec4 mix_corners(vec4 c0, vec4 c1, vec3 t) {
  vec4 x = mix(vec4(c0.xz, c1.xz), vec4(c0.yw, c1.yw), t.x);  // the four edges along x
  vec2 y = mix(x.xz, x.yw, t.y);
  vec4 rise_x = vec4(c0.yw - c0.xz, c1.yw - c1.xz);
  vec2 x_y = mix(rise_x.xz, rise_x.yw, t.y);
  return vec4(mix(x_y.x, x_y.y, t.z), mix(x.y - x.x, x.w - x.z, t.z), y.y - y.x,
              mix(y.x, y.y, t.z));
}

float brick_sample(uint at) {
  return float(bitfieldExtract(int(brick_words[at >> 2u]), int(at & 3u) * 8, 8));
}

// In the box: slope a cell and value, both in metres. u in cells, inside.
vec4 sample_bricks(uint base, vec3 u, ivec3 fine_cells) {
  ivec3 cell = min(ivec3(u), fine_cells - 1);
  vec3 t = u - vec3(cell);
  uvec3 coarse = uvec3(cell) >> 3u, fine = uvec3(cell) & 7u;
  vec3 coarse_t = (vec3(fine) + t) * 0.125;
  uvec3 nodes = uvec3(brick_words[base + kWordCoarseCells], brick_words[base + kWordCoarseCells + 1u],
                      brick_words[base + kWordCoarseCells + 2u]);
  uvec3 blocks = (nodes + 3u) >> 2u;
  nodes += 1u;
  uvec3 b = coarse >> 2u, in_block = coarse & 3u;
  uint block = base + (brick_words[base + kWordBlockOffset] >> 2u) +
               kBlockWords * ((b.z * blocks.y + b.y) * blocks.x + b.x);
  uvec2 occupied = uvec2(brick_words[block], brick_words[block + 1u]);
  uint bit = in_block.z * 16u + in_block.y * 4u + in_block.x;
  uint word = bit < 32u ? occupied.x : occupied.y, shift = bit & 31u;
  bool has_brick = (word >> shift & 1u) != 0u;
  vec4 low, high;
  uint brick = 0u;
  if (has_brick) {
    uint before = uint(bitCount(word & ((1u << shift) - 1u)));
    if (bit >= 32u) before += uint(bitCount(occupied.x));
    brick = base + (brick_words[base + kWordBrickOffset] >> 2u) +
            kBrickWords * (brick_words[block + kWordFirstBrick] + before);
    low = uintBitsToFloat(uvec4(brick_words[brick], brick_words[brick + 1u],
                                brick_words[brick + 2u], brick_words[brick + 3u]));
    high = uintBitsToFloat(uvec4(brick_words[brick + 4u], brick_words[brick + 5u],
                                 brick_words[brick + 6u], brick_words[brick + 7u]));
  } else {
    uint at = base + (brick_words[base + kWordCoarseOffset] >> 2u) +
              (coarse.z * nodes.y + coarse.y) * nodes.x + coarse.x;
    uint up = at + nodes.x * nodes.y;
    low = uintBitsToFloat(uvec4(brick_words[at], brick_words[at + 1u], brick_words[at + nodes.x],
                                brick_words[at + nodes.x + 1u]));
    high = uintBitsToFloat(uvec4(brick_words[up], brick_words[up + 1u], brick_words[up + nodes.x],
                                 brick_words[up + nodes.x + 1u]));
  }
  vec4 r = mix_corners(low, high, coarse_t) * vec4(0.125, 0.125, 0.125, 1.0);
  if (!has_brick) return r;
  uint first = 4u * brick + kFirstCorrection +
               (fine.z * kNodesOfBrick + fine.y) * kNodesOfBrick + fine.x;
  uint above = first + kNodesOfBrick * kNodesOfBrick;
  low = vec4(brick_sample(first), brick_sample(first + 1u), brick_sample(first + kNodesOfBrick),
             brick_sample(first + kNodesOfBrick + 1u));
  high = vec4(brick_sample(above), brick_sample(above + 1u), brick_sample(above + kNodesOfBrick),
              brick_sample(above + kNodesOfBrick + 1u));
  return r + uintBitsToFloat(brick_words[base + kWordStep]) * mix_corners(low, high, t);
}

// p0: half of the box, cells a metre.
vec4 sample_brick(ShapeRecord s, vec3 at) {
  vec3 u = clamp(at, -s.p0.xyz, s.p0.xyz);
  vec4 r = sample_bricks(s.first_word, u + s.p0.xyz, ivec3(2.0 * s.p0.xyz + 0.5));
  return extend_outside(r * s.p0.w, at - u);
}
