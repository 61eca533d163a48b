// Input and output of the shaders of image-space detection. C++ and GLSL read this file: see
// base/shader_types.h.
#pragma once

#include "isotact/base/shader_types.h"

#ifdef __cplusplus
#include <cstddef>

namespace isotact::glsl {
#endif

// ---- a detection --------------------------------------------------------------------------------

// Values of DepthFrame::flags. kFrameCountedAlways: windings are also counted for queries with
// hits.
ISOTACT_CONSTANT uint kFrameTwoSided = 1u, kFrameOneSided = 2u, kFrameConservative = 4u,
                      kFrameFindInside = 8u, kFrameCountedAlways = 16u;

// The uniform block of one whole detection.
struct DepthFrame {
  ivec2 size;                    // Pixels of a picture.
  int tiles ISOTACT_DEFAULT(1);  // Pictures side by side in an atlas.
  int layers ISOTACT_DEFAULT(1);
  uint pixels;     // Per picture.
  uint row_words;  // Per row of the mask of hits.
  uint mask_words;
  uint hit_room;
  uint elements;
  uint element_words;
  uint pixel_bits ISOTACT_DEFAULT(1);  // Bits of a pixel's number in its part of the picture.
  uint flags;
  uvec2 part_size;
  uint max_contacts;
  uint result_stride;  // Words.
  uvec4 query_slots[256];
};

// Flags of an element. kPassThin: lines and points.
ISOTACT_CONSTANT uint kPassClosed = 1u, kPassThin = 2u;

// The uniform block of one drawing.
struct DepthPassBlock {
  uint query, element;
  uint flags;  // kPass...
  uint slot;
  vec2 slope;
  float metres, empty;
};

// Pixels along each side of a tile.
ISOTACT_CONSTANT int kDepthTile = 16;

// Regions of a map along each side, and in all. Each has at most one probe, a pixel in which
// windings are counted for each element.
ISOTACT_CONSTANT uint kProbeRegions = 4u, kProbeCount = 16u;
// A probe has the thickness above these bits, which have kProbeMask less the pixel's number in its
// region. 0: there is none.
ISOTACT_CONSTANT uint kProbeBits = 20u, kProbeMask = 0xfffffu;

// Note of an object's map.
struct DepthMapNote {
  vec2 slope;    // Metres of depth per metre across, for a depth of one per pixel.
  float metres;  // The box's whole depth.
  uint covered, overfull, open, lost, empty;
  uint probes[kProbeCount];
};

// Head of the list of the object's surfaces.
struct DepthNodesHead {
  uint count, room;
};

// ---- hits and reports ---------------------------------------------------------------------------

struct DepthHit {
  uint key, pixel;
  float z;
  uint element;  // With kHitBack, kHitContact.
  float reach, value;
  vec2 slope;
};
ISOTACT_CONSTANT uint kHitBack = 0x80000000u, kHitContact = 0x40000000u;

// Parts of a picture along each side, and in all.
ISOTACT_CONSTANT uint kPartSide = 8u, kPartCount = 64u;
// Words of a query: the greatest keys of parts by depth, and by the contact's depth; the number of
// hits; a position within an element.
ISOTACT_CONSTANT uint kPartContacts = 64u, kPartHits = 128u, kPartWithin = 129u, kPartStride = 132u;

// Head of a query's report.
struct DepthResultHead {
  uint pixels, inside, contacts;
  int first_pixel[2];
  int last_pixel[2];
  uint deepest_pixel, deepest_element;
  float deepest_z, depth;
  uint lost, covered, overfull, open, slot;
};
// Its words.
ISOTACT_CONSTANT uint kHeadPixels = 0u, kHeadInside = 1u, kHeadContacts = 2u, kHeadFirstPixel = 3u,
                      kHeadLastPixel = 5u, kHeadDeepestPixel = 7u, kHeadDeepestElement = 8u,
                      kHeadDeepestZ = 9u, kHeadDepth = 10u, kHeadLost = 11u, kHeadCovered = 12u,
                      kHeadOverfull = 13u, kHeadOpen = 14u, kHeadSlot = 15u, kHeadWords = 16u;

struct DepthResultContact {
  uint pixel, element;
  float z, reach;
  vec3 normal;
  float depth;
};
// Its words.
ISOTACT_CONSTANT uint kContactPixel = 0u, kContactElement = 1u, kContactZ = 2u, kContactReach = 3u,
                      kContactNormal = 4u, kContactDepth = 7u, kContactWords = 8u;

// ---- meshes -------------------------------------------------------------------------------------

// Largest number of primitives per cluster and per leaf.
ISOTACT_CONSTANT uint kClusterSize = 128u, kLeafSize = 32u, kClusterLeaves = 4u;

struct MeshCluster {
  vec3 lower;
  uint element;
  vec3 upper;
  uint count;         // Primitives.
  uint first;         // Corner.
  uint kind;          // DepthPrimitive
  uint flags, empty;  // kPass...
};

struct MeshLeaf {
  vec3 lower;
  uint first;  // Corner.
  vec3 upper;
  uint count;  // Primitives.
};
// Shaders read leaves by parts of 16 bytes.
ISOTACT_CONSTANT uint kLeafParts = 2u;

// An element in a query's picture.
struct DrawnInstance {
  Rows3x4 clip_from_element;
  uint number;
  uint flags;  // kPass...
  uint query, empty;
};

// The uniform block of meshes that are culled together.
struct MeshBatch {
  uint elements, first_query;
  vec2 atlas;           // Pixels.
  uvec4 first_visible;  // Per kind.
};

// An indirect draw. For an indirect dispatch, the first three are work-groups along x, y, z.
struct DrawCommand {
  uint count ISOTACT_DEFAULT(0);
  uint instances ISOTACT_DEFAULT(1);
  uint first ISOTACT_DEFAULT(0);
  uint base ISOTACT_DEFAULT(0);
};

// ---- a detection in one dispatch ----------------------------------------------------------------

// Input of a detection, a block of uniforms in rows of 16 bytes. It has this head, one OnceQuery
// per query, instances, then entries: cluster | instance << 16. Every GPU accepts as many rows;
// larger inputs take several passes.
ISOTACT_CONSTANT uint kOnceRows = 1024u, kInstanceRows = 4u;
struct OnceHead {
  uint elements, element_words;
  uint stride;  // Words.
  uint serial;
};
struct OnceQuery {
  uint slot;
  uint entries, entry_count;  // The first, in words.
  uint groups;                // Tested tiles.
};

// A tile of a map that the object covers.
struct CoveredTile {
  uint number ISOTACT_DEFAULT(0);
  float near ISOTACT_DEFAULT(0);  // Fractions of the box's depth.
  float far ISOTACT_DEFAULT(0);
  uint has_probe ISOTACT_DEFAULT(0);  // 1: some pixel counts windings of each element.
};

ISOTACT_CONSTANT uint kOnceNoteWords = 200u;  // Per query.
// Largest number of elements, and words with one bit for each.
ISOTACT_CONSTANT uint kOnceElements = 1024u, kOnceElementWords = 32u;

// ---- bindings -----------------------------------------------------------------------------------
// Programs that have nothing in common use a number for different things. draw_program.h lists ours
// for callers.

// Uniform buffers.
ISOTACT_CONSTANT int kDepthFrameAt = 30;
ISOTACT_CONSTANT int kDepthPassAt = 31, kDepthBatchAt = 31, kDepthOnceAt = 31;
// Storage buffers.
ISOTACT_CONSTANT int kDepthCornersAt = 0, kDepthInstancesAt = 1, kDepthVisibleAt = 2,
                     kDepthClustersAt = 3, kDepthLeavesAt = 3, kDepthCommandsAt = 4,
                     kDepthCoveredAt = 4, kDepthTilesAt = 5, kDepthNotesAt = 5;
ISOTACT_CONSTANT int kDepthIntervalsAt = 8, kDepthMapsAt = 9, kDepthMaskAt = 10, kDepthPartsAt = 11,
                     kDepthHitsAt = 12, kDepthSumsAt = 13, kDepthBitsAt = 14, kDepthWindingsAt = 15,
                     kDepthResultsAt = 15;
ISOTACT_CONSTANT int kDepthHeadsAt = 10, kDepthNodesAt = 11, kDepthTileBoundsAt = 12;
// Texture units.
ISOTACT_CONSTANT int kObjectFarUnit = 8, kObjectNearUnit = 9, kEnvironmentDepthUnit = 10,
                     kEnvironmentSurfaceUnit = 11;
// For mesh_corners.vert.
ISOTACT_CONSTANT int kMeshRowsLocation = 1;

#ifdef __cplusplus
static_assert(sizeof(DepthFrame) == 64 + 4096 && sizeof(DepthPassBlock) == 32);
static_assert(sizeof(DepthMapNote) == 96 && sizeof(DepthHit) == 32);
static_assert(kProbeCount == kProbeRegions * kProbeRegions);
static_assert(kPartCount == kPartSide * kPartSide && kPartHits == 2 * kPartCount);
static_assert(sizeof(MeshCluster) == 48 && sizeof(MeshBatch) == 32 && sizeof(DrawCommand) == 16);
static_assert(sizeof(MeshLeaf) == 16 * kLeafParts && kClusterSize == kClusterLeaves * kLeafSize);
static_assert(sizeof(DrawnInstance) == 16 * kInstanceRows);
static_assert(sizeof(OnceHead) == 16 && sizeof(OnceQuery) == 16 && sizeof(CoveredTile) == 16);
static_assert(kOnceElements == 32 * kOnceElementWords);

static_assert(sizeof(DepthResultHead) == 4 * kHeadWords &&
              offsetof(DepthResultHead, pixels) == 4 * kHeadPixels &&
              offsetof(DepthResultHead, inside) == 4 * kHeadInside &&
              offsetof(DepthResultHead, contacts) == 4 * kHeadContacts &&
              offsetof(DepthResultHead, first_pixel) == 4 * kHeadFirstPixel &&
              offsetof(DepthResultHead, last_pixel) == 4 * kHeadLastPixel &&
              offsetof(DepthResultHead, deepest_pixel) == 4 * kHeadDeepestPixel &&
              offsetof(DepthResultHead, deepest_element) == 4 * kHeadDeepestElement &&
              offsetof(DepthResultHead, deepest_z) == 4 * kHeadDeepestZ &&
              offsetof(DepthResultHead, depth) == 4 * kHeadDepth &&
              offsetof(DepthResultHead, lost) == 4 * kHeadLost &&
              offsetof(DepthResultHead, covered) == 4 * kHeadCovered &&
              offsetof(DepthResultHead, overfull) == 4 * kHeadOverfull &&
              offsetof(DepthResultHead, open) == 4 * kHeadOpen &&
              offsetof(DepthResultHead, slot) == 4 * kHeadSlot);
static_assert(sizeof(DepthResultContact) == 4 * kContactWords &&
              offsetof(DepthResultContact, pixel) == 4 * kContactPixel &&
              offsetof(DepthResultContact, element) == 4 * kContactElement &&
              offsetof(DepthResultContact, z) == 4 * kContactZ &&
              offsetof(DepthResultContact, reach) == 4 * kContactReach &&
              offsetof(DepthResultContact, normal) == 4 * kContactNormal &&
              offsetof(DepthResultContact, depth) == 4 * kContactDepth);

}  // namespace isotact::glsl

namespace isotact::detail {

using glsl::CoveredTile, glsl::DepthFrame, glsl::DepthMapNote, glsl::DepthPassBlock,
    glsl::DepthResultContact, glsl::DepthResultHead, glsl::DrawCommand, glsl::DrawnInstance,
    glsl::MeshBatch, glsl::MeshCluster, glsl::MeshLeaf, glsl::OnceHead, glsl::OnceQuery;
using glsl::kFrameConservative, glsl::kFrameCountedAlways, glsl::kFrameFindInside,
    glsl::kFrameOneSided, glsl::kFrameTwoSided, glsl::kPassClosed, glsl::kPassThin;

}  // namespace isotact::detail
#endif
