// Common parts of the fast search and the slow one: start of particles, cutting of cells, and
// selection of hits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/queries/intersection/intersection_plan.h"

namespace isotact::detail {

inline std::uint32_t grid_count(const IdfPairRecord& r) {
  return static_cast<std::uint32_t>(count({r.cells[0], r.cells[1], r.cells[2]}));
}

// Returns the centre of a cell of the sampling grid, x fastest.
inline Vec3f cell_middle(const IdfPairRecord& r, std::int32_t i, std::int32_t j, std::int32_t k) {
  return {r.box_min[0] + (static_cast<float>(i) + 0.5F) * r.cell_size[0],
          r.box_min[1] + (static_cast<float>(j) + 0.5F) * r.cell_size[1],
          r.box_min[2] + (static_cast<float>(k) + 0.5F) * r.cell_size[2]};
}

// Returns the start of a particle; those from grid_count on are seeds.
Vec3f start_of(const IdfPairRecord& record, const IdfPlan& plan, IdfSampling sampling,
               std::uint32_t particle);

// Cells of a level: their centres, and the cells of the sampling grid that contain them. Capacity
// only grows, so that it is not cleared for each pair.
struct IdfCells {
  std::array<std::vector<float>, 3> at;
  std::vector<std::uint32_t> particle;
  std::size_t count = 0;

  void reserve(std::size_t most) {
    if (most <= particle.size()) return;
    for (std::vector<float>& coordinate : at) coordinate.resize(most);
    particle.resize(most);
  }
  Vec3f middle(std::size_t i) const { return {at[0][i], at[1][i], at[2][i]}; }
  void add(const Vec3f& middle, std::uint32_t number) {  // Within the reserved capacity.
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis][count] = middle[axis];
    particle[count++] = number;
  }
};

// Limits of cutting: levels, and cells of a pair per level. If that does not suffice for the
// requested resolution, the result has the one that was reached.
inline constexpr int kMostIdfLevels = 12;
inline constexpr std::size_t kMostIdfCells = std::size_t{1} << 20U;

// One level of cutting: sizes are those of cells of the level.
struct IdfLevel {
  int number = 0;  // 0: the sampling grid.
  float half_diagonal = 0;
  float quarter[3] = {};  // A quarter of the sides.
  float most = 0;         // Largest floor at the centre of a cell that may contain a contact.
};
IdfLevel make_level(const IdfPairRecord& record, int number);
float resolution_of(const IdfPairRecord& record, const IdfLevel& level);
// Returns whether cells of this level, of which `left` may contain a contact, are to be cut.
bool is_worth_cutting(const IdfPairRecord& record, const IdfLevel& level, std::size_t left,
                      const IdfSettings& settings);
// Adds the eight parts of a cell of this level.
void cut_cell(const Vec3f& middle, std::uint32_t particle, const IdfLevel& level, IdfCells& to);

// Result of a pair.
struct IdfPairResult {
  std::uint32_t arrived = 0;
  float resolution = 0;
  std::uint64_t cut_particles = 0;  // In addition to those of the plan.
  std::uint64_t evaluations = 0;
};

// Joins the results of pairs. `hits` are the selected ones, in any order.
void finish_result(std::span<IdfHit> hits, std::span<const IdfPairResult> found,
                   std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
                   const IdfPlan& plan, const IdfSettings& settings, IdfResult& result,
                   IdfScratch& scratch);

}  // namespace isotact::detail
