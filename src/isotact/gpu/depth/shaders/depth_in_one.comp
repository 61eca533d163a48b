// A whole detection in one dispatch, for an answer that somebody waits for: what is started twice, or
// has to wait for all others, costs more than work done twice. A work-group takes a tile of 16 x 16
// pixels of the object's map, a lane a pixel: all that is found in a pixel stays in registers. Each
// tile finds the triangles over it by itself, from the clusters that the CPU's tree has left: by
// boxes of leaves, then by triangles. The last tile that is done writes the report.
//
// Same answers as depth_triangles.comp, depth_tiles.comp, depth_within.comp and depth_finish.comp.
#include "depth_frame.glsl"
layout(local_size_x = kDepthTile * kDepthTile) in;
#include "depth_flat.glsl"

layout(std140, binding = kDepthOnceAt) uniform Ask { uvec4 ask[kOnceRows]; };
layout(std430, binding = kDepthLeavesAt) readonly buffer Leaves { vec4 leaf_parts[]; };
layout(std430, binding = kDepthCoveredAt) readonly buffer Covered { CoveredTile covered[]; };
layout(std430, binding = kDepthNotesAt) coherent buffer Notes { uint notes[]; };
layout(std430, binding = kDepthIntervalsAt) readonly buffer Intervals { vec2 intervals[]; };
layout(std430, binding = kDepthMapsAt) readonly buffer Maps { DepthMapNote maps[]; };
layout(std430, binding = kDepthHitsAt) coherent buffer Hits { DepthHit hits[]; };
layout(std430, binding = kDepthSumsAt) coherent buffer Sums { int sums[]; };
layout(std430, binding = kDepthResultsAt) coherent writeonly buffer Results { uint results[]; };

const uint kNone = 0xffffffffu, kMostWords = kOnceElementWords;
const uint kLanes = uint(kDepthTile * kDepthTile), kTileSide = uint(kDepthTile);
const ivec2 kSize = ivec2(WIDTH, HEIGHT);  // as in isotact_frame; as constants, which divide faster
const float kPixelRoom = 1.0 / 64, kDepthRoom = 1e-6;
// Notes of a query. What is a least thing is kept turned over, so that all begins with zeros.
const uint kDone = 0u, kPixels = 1u, kFirstX = 2u, kFirstY = 3u, kLastX = 4u, kLastY = 5u,
           kWithin = 6u, kKeys = 8u, kMet = 136u, kAround = 168u, kNoteStride = kOnceNoteWords;

uint get_word(uint word) { return ask[word >> 2][word & 3u]; }

OnceHead get_head() {
  uvec4 h = ask[0];
  return OnceHead(h.x, h.y, h.z, h.w);
}

OnceQuery get_query(uint number) {
  uvec4 q = ask[1u + number];
  return OnceQuery(q.x, q.y, q.z, q.w);
}

DrawnInstance get_instance(uint number) {
  uint at = 1u + gl_NumWorkGroups.y + kInstanceRows * number;
  DrawnInstance i;
  for (uint row = 0u; row < 3u; ++row) i.clip_from_element[row] = uintBitsToFloat(ask[at + row]);
  uvec4 rest = ask[at + 3u];
  i.number = rest.x;
  i.flags = rest.y;
  i.query = rest.z;
  i.empty = rest.w;
  return i;
}

MeshLeaf load_leaf(uint leaf) {
  vec4 a = leaf_parts[kLeafParts * leaf], b = leaf_parts[kLeafParts * leaf + 1u];
  return MeshLeaf(a.xyz, floatBitsToUint(a.w), b.xyz, floatBitsToUint(b.w));
}

// Triangles over the tile, some at a time. Places are steps of the grid, from the middle of the tile's
// first pixel: whole numbers, as corners are snapped. Corners are counter-clockwise. With a pixel's
// place d in the tile, its middle is on the inner side of an edge where
// along_x d.x + along_y d.y >= least.
const uint kFaces = 32u;  // four lanes each
shared ivec2 spots[3u * kFaces];        // corners, not yet in order
shared float spot_depths[3u * kFaces];
// Three edges: along_x, along_y, least; in the fourth place z in the middle of the tile's first
// pixel, how far that and the slope may be off, flags. Then slope of z a pixel, corner, element.
shared ivec4 faces[4u * kFaces];
shared double face_edges[3u * kFaces];  // at the first pixel's middle
shared uint face_rows[kFaces];          // a bit for each 8 x 4 pixels that it may cover
shared uint warp_faces[8];              // of each 8 x 4 pixels: a bit a face
const uint kFaceFront = 1u, kFaceClosed = 2u;

shared uint leaf_count, candidate_count, last_group;
shared uvec2 near_leaves[kLanes];  // first corner; instance << 8 | count
const uint kCandidates = 256u;
// Candidates: place in near_leaves << 8 | triangle there. In the end, the report.
const uint kRecordRoom = kHeadWords + kContactWords * CONTACT_COUNT + kMostWords;
shared uint pool[kRecordRoom > kCandidates ? kRecordRoom : kCandidates];
// Little of it, so that all tiles run at once.
#ifdef CONTACTS
const uint kParts = 2u * kPartCount;
#else
const uint kParts = kPartCount;
#endif
shared uint told, any_hit, within, met[kMostWords], keys[kParts], hit_rows[kTileSide];
shared uint check, greatest, greatest_pixel, contacts, around_whom, places[kParts / 2u];

#include "depth_once_faces.glsl"
#include "depth_once_pixels.glsl"
#include "depth_once_report.glsl"

void main() {
  uint me = gl_LocalInvocationIndex, number = gl_WorkGroupID.y;
  OnceQuery query = get_query(number);
  if (gl_WorkGroupID.x >= query.groups) return;
  CoveredTile of = covered[query.slot * TILES + gl_WorkGroupID.x];
  const int across = (WIDTH + kDepthTile - 1) / kDepthTile;
  ivec2 place = ivec2(int(of.number) % across, int(of.number) / across);
  TileBox tile = TileBox(place * kDepthTile, of.near, of.far);
  Pixel pixel;
  // What is read is not needed for a while.
  read_solids(pixel, query.slot, tile.first);
  if (me == 0u) told = any_hit = within = 0u;
  if (me < kMostWords) met[min(me, kMostWords - 1u)] = 0u;
  if (me < kParts) keys[min(me, kParts - 1u)] = 0u;
  if (me < kTileSide) hit_rows[min(me, kTileSide - 1u)] = 0u;
  bool begun = false;
  uint leaf_total = kClusterLeaves * query.entry_count;
  for (uint first = 0u; first < leaf_total; first += kLanes) {
    if (me == 0u) leaf_count = 0u;
    barrier();
    uint item = first + me;
    if (item < leaf_total)
      list_leaf(tile, get_word(query.entries + item / kClusterLeaves), item % kClusterLeaves);
    barrier();
    uint some = 0u, step = kLanes, leaf_end = leaf_count;
    while (some < leaf_end) {
      if (me == 0u) candidate_count = 0u;
      barrier();
      uint end = min(some + step, leaf_end);
      for (uint which = some + me / 32u; which < end; which += kLanes / 32u)
        list_candidate(tile, min(which, kLanes - 1u), me % 32u);
      barrier();
      if (candidate_count > kCandidates) {
        // Again, of so few leaves that there is room for all. (Nobody begins before all know.)
        step = kCandidates / 32u;
        barrier();
        continue;
      }
      some = end;
      if (candidate_count == 0u) continue;
      if (!begun) begin_pixel(pixel, query.slot, of.has_probe != 0u);
      begun = true;
      test_candidates(tile, pixel, number, query.slot);
    }
  }
  if (begun) note_within(pixel, number * kNoteStride);
  barrier();
  if (told != 0u) {
    tell(pixel, number, tile.first);
    memoryBarrierBuffer();
    barrier();
  }
  if (me == 0u) last_group = atomicAdd(notes[number * kNoteStride + kDone], 1u);
  barrier();
  if (last_group + 1u != query.groups) return;
  memoryBarrierBuffer();
  finish(number, query.slot);
}
