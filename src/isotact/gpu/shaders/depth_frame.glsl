// What is the same for all of one detection. detail/depth_frame.h has the same on the CPU's side.
// Names carry a prefix, or sit in a block with a name, since this is linked with callers' shaders.
layout(std140, binding = 30) uniform IsotactFrame {
  ivec2 size;  // of a picture
  int tiles;   // pictures side by side in an atlas
  int layers;
  uint pixels;     // of a picture
  uint row_words;  // of a row of the mask of hits
  uint mask_words;
  uint hit_room;
  uint elements;
  uint element_words;
  uint pixel_bits;  // of a pixel's number in its part of the picture
  uint flags;
  uvec2 part_size;
  uint max_contacts;
  uint result_stride;  // words
  uvec4 query_slots[256];
} isotact_frame;

const uint kTwoSided = 1u, kOneSided = 2u, kConservative = 4u, kFindInside = 8u,
           kCountedAlways = 16u;  // windings, of queries with hits, too
const uint kClosed = 1u, kThin = 2u;  // of an element; thin: lines and points
bool isotact_is(uint flag) { return (isotact_frame.flags & flag) != 0u; }

uint isotact_slot(uint query) { return isotact_frame.query_slots[query >> 2][query & 3u]; }
// Where a picture begins in an atlas.
ivec2 isotact_origin(uint tile) {
  int t = int(tile);
  return ivec2(t % isotact_frame.tiles, t / isotact_frame.tiles) * isotact_frame.size;
}

// Of an object's map. Probes: pixels in which windings are counted for each element, one in each of
// 4 x 4 regions: thickness << 20 | (0xfffff - the pixel's number there), 0
// where there is none.
struct IsotactMap {
  vec2 slope;    // metres of depth a metre across, for a depth of one a pixel
  float metres;  // of the box's whole depth
  uint covered, overfull, open, lost, empty;
  uint probes[16];
};

uint isotact_probe_of(ivec2 pixel, out uint region) {
  ivec2 part = (isotact_frame.size + 3) / 4;
  ivec2 r = pixel / part, local = pixel - r * part;
  region = uint(r.y * 4 + r.x);
  return 0xfffffu - uint(local.y * part.x + local.x);
}

// Depths are between 0 and 1.
const vec2 kNoInterval = vec2(2, -1);
