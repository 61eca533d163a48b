// The common start of KGM's method on the CPU and the GPU: a record for each pair, so that both
// move the same particles.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/export.h"
#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/intersection/intersection_layout.h"

namespace ISOTACT_PUBLIC isotact {

struct IdfPlan {
  std::vector<IdfPairRecord> records;  // Pairs without a common box have no cells.
  std::vector<Vec3> world_from_pair;   // Origins.
  // Prefix sums of particles, including seeds: KGM's array C.
  std::vector<std::uint32_t> particle_end;
  std::vector<Vec3f> seeds;  // In the pair's frame.
  std::uint32_t slot_count = 0;
};

// Returns a threshold in metres. If one of both floors at the centre of a region is above it plus
// margin, nothing in the region is in contact. It is min(cull_slope r, r + error) + rounding, if no
// point of the region is further from its centre than r.
//
// A floor is a lower bound of the true distance, except for the shape's error. It is the value of
// formulas and of brick fields; for texels, it is the bound of their nearest node
// (compute_texel_floor). If both bodies were within margin of some position in the region, they
// would be within margin + r of its centre. Errors of brick fields are large away from the surface.
// There, the slope of their values is the better bound for small regions. If values are above
// margin all over the region, the field's own body is not in contact. Errors of nodes are part of
// rounding.
float compute_cell_cull(const IdfPairRecord& record, float half_diagonal);

// The same for blocks of so many cells per axis, or all if there are fewer. block_cull is that of
// kIdfBlockCells. Smaller blocks at the grid's end count as whole ones.
float compute_block_cull(const IdfPairRecord& record, std::int32_t cells);

// Returns the same pair with fewer samples.
IdfPairRecord coarsen(const IdfPairRecord& record, int samples);

// Applies any_contact to the other settings.
IdfSettings without_contradictions(const IdfSettings& settings);

// Keeps the memory of `plan`. Throws Error as intersect_fields does. The box of a pair is the
// intersection of the boxes of both bodies, each grown by margin. A plane cuts off the part in
// front of it instead of using a box.
void plan_intersections(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                        std::span<const IdfPair> pairs, const IdfSettings& settings, IdfPlan& plan,
                        const IdfScratch& scratch);

// Returns a radius in metres: every ball of this radius contains the centre of a cell after that
// many cuts. No point of a cell is further from its centre than half the diagonal.
float compute_resolution(const IdfPairRecord& record, int level);

// Keeps the hits of one pair that the settings request: the deepest of each part of its box
// (`slots`), and the first few of them. Keeps all if the record has no slots. The result is in the
// order of contacts.
void select_hits(const IdfPairRecord& record, const IdfSettings& settings,
                 std::vector<IdfHit>& hits);

// Sorts by pair, depth and particle and makes contacts. Keeps seeds if requested: up to 16 per
// pair, spread over its contacts from the deepest to the shallowest. Seeds of other pairs are
// dropped. Sets all of `result`: arrived to the number of given hits, evaluations to zero,
// particles and resolution to those of the plan. Callers that left out hits or cut cells correct
// these.
void collect_hits(std::span<IdfHit> hits, std::span<const IdfBody> bodies,
                  std::span<const IdfPair> pairs, const IdfPlan& plan, const IdfSettings& settings,
                  IdfResult& result, IdfScratch& scratch);

}  // namespace isotact
