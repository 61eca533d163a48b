// What both sides of KGM's method, CPU and GPU, begin with: a record for each pair, so that both
// move the same particles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/queries/intersection_field.h"

namespace isotact {

// As the shader reads it (std430). The pair's frame has its origin in the middle of the box and the
// axes of the world: floats are small there, wherever the pair is.
struct IdfPairRecord {
  // Three rows of four: a point of the pair's frame in metres of the unscaled shape.
  float a_from_pair[12];
  float b_from_pair[12];
  float box_min[3];
  std::uint32_t shape_a;
  float cell_size[3];  // of the sampling grid; zero along a side of no length
  std::uint32_t shape_b;
  std::int32_t cells[3];
  float cull_slope;        // of find_cell_cull
  float scale_a, scale_b;  // values of the shapes times these are metres
  float epsilon;
  // Where a floor in the middle of a cell is above this plus epsilon, no point of the cell is in
  // contact: find_cell_cull(half_diagonal), below.
  float cell_cull;
  float depth_scale;  // of the order of contacts: 65534 / (the largest depth possible + epsilon)
  std::uint32_t first_seed, seed_count;
  std::int32_t slots[3];  // parts of the box for the deepest contacts, or voxels
  std::uint32_t first_slot;
  float half_diagonal;  // metres, of a cell
  float lipschitz;      // the larger one of both shapes
  float error;          // metres, scaled: of find_cell_cull; may be infinite
  float block_cull;     // as cell_cull, of a block of 4^3 cells: find_block_cull
  float rounding;       // metres: of a difference of two values, computed in float or by a filter
};
static_assert(sizeof(IdfPairRecord) == 208 && offsetof(IdfPairRecord, box_min) == 96 &&
              offsetof(IdfPairRecord, cells) == 128 && offsetof(IdfPairRecord, scale_a) == 144 &&
              offsetof(IdfPairRecord, first_seed) == 164 && offsetof(IdfPairRecord, slots) == 172 &&
              offsetof(IdfPairRecord, half_diagonal) == 188);

struct IdfPlan {
  std::vector<IdfPairRecord> records;       // those without a common box have no cells
  std::vector<Vec3> world_from_pair;        // origins
  std::vector<std::uint32_t> particle_end;  // sums of particles, seeds included: KGM's array C
  std::vector<Vec3f> seeds;                 // in the pair's frame
  std::uint32_t slot_count = 0;
};

// Where one of both floors in the middle of a region is above this plus epsilon, nothing in it is
// in contact, metres: min(cull_slope r, r + error) + rounding, no point of the region being further
// from its middle than r. A floor is a lower bound of the true distance, but for the shape's error:
// the value of formulas and of brick fields; for texels what their nearest node allows
// (find_texel_floor). If both bodies were within epsilon of some place in the region, they would be
// within epsilon + r of its middle. Errors of brick fields are large away from the surface: there
// the slope of their values is the better bound of small regions; and where they are above epsilon
// all over the region, the field's own body is not in contact. Errors of nodes are part of
// rounding.
float find_cell_cull(const IdfPairRecord& record, float half_diagonal);

// Of blocks of so many cells an axis, or all where there are fewer. Blocks at the grid's end that
// are smaller count as whole ones.
inline constexpr std::int32_t kIdfBlockCells = 4;  // of block_cull
float find_block_cull(const IdfPairRecord& record, std::int32_t cells);

// The same pair with fewer samples.
IdfPairRecord coarsen(const IdfPairRecord& record, int samples);

// What any_contact means for the other settings.
IdfSettings without_contradictions(const IdfSettings& settings);

// Keeps the memory of `plan`. Throws Error as intersect_fields does. The box of a pair is what the
// boxes of both bodies have in common, each grown by epsilon; a plane cuts off what is in front of
// it, in place of a box.
void plan_intersections(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                        std::span<const IdfPair> pairs, const IdfSettings& settings,
                        const IdfState& state, IdfPlan& plan);

// A particle that has arrived, in the pair's frame.
struct IdfHit {
  float position[3];
  std::uint32_t particle;
  float normal[3];  // unit, from B to A
  float depth;      // metres
  std::uint32_t pair;
  std::uint32_t on_a;  // 1: the position is on A's surface, 0: on B's
  std::uint32_t unused[2];
};
static_assert(sizeof(IdfHit) == 48);

// What holds a ball of this radius, in metres, has the middle of a cell in it, of cells that were
// cut so often: no point of a cell is further from its middle than half the diagonal.
float find_resolution(const IdfPairRecord& record, int level);

// Leaves those of one pair's hits that the settings ask for: of each part of its box (`slots`) the
// deepest, and the first few of them. All where the record has no slots. In the order of contacts.
void select_hits(const IdfPairRecord& record, const IdfSettings& settings,
                 std::vector<IdfHit>& hits);

// Sorts by pair, depth and particle, makes contacts of them and keeps seeds where asked to: up to
// 16 a pair, spread over its contacts from the deepest to the flattest; those of other pairs are
// forgotten. Sets all of `result`: arrived by the hits that are there, evaluations to zero,
// particles and resolution to those of the plan. Who left hits out or cut cells corrects that.
void collect_hits(std::span<IdfHit> hits, std::span<const IdfBody> bodies,
                  std::span<const IdfPair> pairs, const IdfPlan& plan, const IdfSettings& settings,
                  IdfState& state, IdfResult& result);

}  // namespace isotact
