// Of each tile of an object's map: from where to where it is solid, at most.
layout(std430, binding = kDepthTilesAt) readonly buffer Tiles { vec2 tiles[]; };

const float kDepthRoom = 1e-6;  // rounding

vec2 get_tile(uint slot, ivec2 tile) {
  ivec2 across = (isotact_frame.size + (kDepthTile - 1)) / kDepthTile;
  return tiles[slot * uint(across.x * across.y) + uint(tile.y * across.x + tile.x)];
}
