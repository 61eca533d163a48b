// The index of one isosurface (queries/segments/segment_index.h) in three buffers.

// Free cubes, a byte each, four to a word; from place_offset on, of each macro cell its place in
// `nodes`.
layout(std430, binding = kSegmentTablesAt) readonly restrict buffer Tables { uint tables[]; };
// Rows of macro cells; from cell_offset on, of indexed cells.
layout(std430, binding = kSegmentNodesAt) readonly restrict buffer Nodes { uvec4 nodes[]; };
// Sample blocks as they are.
layout(std430, binding = kSegmentSamplesAt) readonly restrict buffer Blocks { uint blocks[]; };

SegmentMacroNode load_macro(uint place) {
  uint at = kMacroNodeRows * place;
  uvec4 a = nodes[at], b = nodes[at + 1u], c = nodes[at + 2u];
  return SegmentMacroNode(uintBitsToFloat(a), uintBitsToFloat(b.x), b.y, b.z, b.w, c);
}

SegmentCellNode load_cell(uint number) {
  uint at = traced.cell_offset + kCellNodeRows * number;
  uvec4 a = nodes[at], b = nodes[at + 1u], c = nodes[at + 2u], d = nodes[at + 3u];
  return SegmentCellNode(uintBitsToFloat(a), uintBitsToFloat(b.x), b.y, b.z, b.w,
                         uintBitsToFloat(c), uintBitsToFloat(d));
}

int load_cube(uint place) {
  return bitfieldExtract(int(tables[place >> 2u]), int(8u * (place & 3u)), 8);
}

// The part of a path between the planes of a slab. Slabs are wider than rounding makes of it.
struct SlabPart {
  float from, to;         // from > to: there is none
  bool is_below, is_above;  // the path's origin
};
SlabPart clip_to_slab(Path path, vec4 slab, float most, float from, float to) {
  vec3 normal = slab.xyz;
  float least = slab.w;
  float at = dot(normal, path.origin), slope = dot(normal, path.direction);
  SlabPart part = SlabPart(from, to, at < least, at > most);
  if (abs(slope) < ALONG_SLAB) {
    if (at < least - 1.0 || at > most + 1.0) part.from = part.to + 1.0;
    return part;
  }
  float inverse = 1.0 / slope;
  float a = (least - at) * inverse, b = (most - at) * inverse;
  part.from = max(from, min(a, b));
  part.to = min(to, max(a, b));
  return part;
}

// Corrections at the four corners of a slice of a cell, from sample `first` of a block on.
vec4 load_corrections(uint block, uint first) {
  uint word = kSampleBlockWords * block + (first >> 2u);
  int shift = int(8u * (first & 3u));
  uint w0 = blocks[word], w1 = blocks[word + 1u];
  // Bytes 0, 1 and 5, 6 from there on: kSampleBlockNodes is 5.
  uint w2 = shift > 8 ? blocks[word + 2u] : 0u;
  uint low = shift == 0 ? w0 : (w0 >> shift) | (w1 << (32 - shift));
  uint high = shift == 0 ? w1 : (w1 >> shift) | (w2 << (32 - shift));
  return vec4(float(bitfieldExtract(int(low), 0, 8)), float(bitfieldExtract(int(low), 8, 8)),
              float(bitfieldExtract(int(high), 8, 8)), float(bitfieldExtract(int(high), 16, 8)));
}

// Corners of the fine cell `cell` (0 to 7 along each axis) of an indexed cell, less margin.
Corners load_fine(Corners coarse, uint block, uvec3 cell) {
  uvec3 in_block = cell & 3u;
  uint first = (in_block.z * kSampleBlockNodes + in_block.y) * kSampleBlockNodes + in_block.x;
  vec4 near = load_corrections(block, first),
       far = load_corrections(block, first + kSampleBlockNodes * kSampleBlockNodes);
  vec4 even = vec4(near.xz, far.xz), odd = vec4(near.yw, far.yw);
  vec3 from = vec3(cell) * 0.125;  // exact
  Corners c = compute_sub_box(coarse, from, from + vec3(0.125));
  precise vec4 fine_even = (c.even + traced.correction_step * even) - vec4(traced.margin);
  precise vec4 fine_odd = (c.odd + traced.correction_step * odd) - vec4(traced.margin);
  return Corners(fine_even, fine_odd);
}
