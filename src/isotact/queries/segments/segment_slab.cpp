#include "isotact/queries/segments/detail/segment_slab.h"

#include <algorithm>
#include <cmath>

#include "isotact/queries/segments/detail/brick_cells.h"

namespace isotact::detail {
namespace {

void load_nodes(const Brick& brick, float step, float margin, float cells_a_metre,
                SlabCells& cells) {
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y) {
      const float tz = static_cast<float>(z) * 0.125F, ty = static_cast<float>(y) * 0.125F;
      const float* c = brick.corner;
      const float first = blend(blend(c[0], c[2], ty), blend(c[4], c[6], ty), tz);
      const float last = blend(blend(c[1], c[3], ty), blend(c[5], c[7], ty), tz);
      const std::int8_t* from = brick.correction + first_sample(0, y, z);
      for (int x = 0; x < kBrickNodes; ++x)
        cells.node[z][y][x] = ((blend(first, last, static_cast<float>(x) * 0.125F) +
                                step * static_cast<float>(from[x])) -
                               margin) *
                              cells_a_metre;
    }
}

// Values are sums and products of a dozen numbers no larger than the corners, at 2^-24 each.
float compute_rounding(const float* corner, float cells_a_metre) {
  float largest = 0;
  for (int i = 0; i < 8; ++i) largest = std::max(largest, std::abs(corner[i]));
  return 2e-6F * largest * cells_a_metre;
}

// Marks the cells that an isosurface of the band may enter, among the first of each axis.
bool find_mixed(SlabCells& cells, float reach, const Index3& most = {8, 8, 8}) {
  const float nearly = reach + 1e-4F + cells.rounding;
  const unsigned row = (1U << static_cast<unsigned>(most[0])) - 1;
  std::uint16_t low[kBrickNodes][kBrickNodes], high[kBrickNodes][kBrickNodes];
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y) {
      unsigned in = 0, out = 0;
      for (int x = 0; x < kBrickNodes; ++x) {
        // Not in one expression: gcc 12's undefined-behaviour sanitizer then computes a different
        // one.
        const float value = cells.node[z][y][x];
        const unsigned bit = 1U << static_cast<unsigned>(x);
        if (value <= nearly) in |= bit;
        if (value >= -nearly) out |= bit;
      }
      low[z][y] = static_cast<std::uint16_t>(in | in >> 1U);
      high[z][y] = static_cast<std::uint16_t>(out | out >> 1U);
    }
  unsigned any = 0;
  for (int z = 0; z < kBrickCells; ++z)
    for (int y = 0; y < kBrickCells; ++y) {
      const unsigned in = low[z][y] | low[z][y + 1] | low[z + 1][y] | low[z + 1][y + 1];
      const unsigned out = high[z][y] | high[z][y + 1] | high[z + 1][y] | high[z + 1][y + 1];
      cells.mixed[z][y] =
          static_cast<std::uint8_t>(z < most[2] && y < most[1] ? in & out & row : 0U);
      any |= cells.mixed[z][y];
    }
  return any != 0;
}

// Adds the slopes along the edges of mixed cells; returns the number of edges per axis.
float add_slopes(const SlabCells& cells, float* sum) {
  if (!cells.is_fine) {
    // As much as a sheet of fine cells.
    constexpr float kSheet = kBrickCells * kBrickCells, kEdge = kSheet / kBrickCells;
    const float* c = cells.corner;
    sum[0] += ((c[1] - c[0]) + (c[3] - c[2]) + (c[5] - c[4]) + (c[7] - c[6])) * kEdge;
    sum[1] += ((c[2] - c[0]) + (c[3] - c[1]) + (c[6] - c[4]) + (c[7] - c[5])) * kEdge;
    sum[2] += ((c[4] - c[0]) + (c[5] - c[1]) + (c[6] - c[2]) + (c[7] - c[3])) * kEdge;
    return 4 * kSheet;
  }
  float count = 0;
  for (int z = 0; z < kBrickCells; ++z)
    for (int y = 0; y < kBrickCells; ++y)
      for (unsigned left = cells.mixed[z][y]; left != 0; left &= left - 1) {
        const int x = __builtin_ctz(left);
        const float *a = &cells.node[z][y][x], *b = &cells.node[z][y + 1][x],
                    *c = &cells.node[z + 1][y][x], *d = &cells.node[z + 1][y + 1][x];
        sum[0] += (a[1] - a[0]) + (b[1] - b[0]) + (c[1] - c[0]) + (d[1] - d[0]);
        sum[1] += (b[0] - a[0]) + (b[1] - a[1]) + (d[0] - c[0]) + (d[1] - c[1]);
        sum[2] += (c[0] - a[0]) + (c[1] - a[1]) + (d[0] - b[0]) + (d[1] - b[1]);
        count += 4;
      }
  return count;
}

struct Extent {
  float least = HUGE_VALF, most = -HUGE_VALF;

  void add(float value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// g . x - phi at the corners of mixed cells, with x relative to the first corner of the coarse
// cell.
Extent compute_rest(const SlabCells& cells, const float* g) {
  Extent rest;
  if (!cells.is_fine) {
    for (int k = 0; k < 8; ++k) {
      const float on = (g[0] * static_cast<float>(k & 1) + g[1] * static_cast<float>(k >> 1 & 1)) +
                       g[2] * static_cast<float>(k >> 2);
      rest.add(on * kBrickCells - cells.corner[k]);
    }
    return rest;
  }
  std::uint16_t nodes[kBrickNodes][kBrickNodes] = {};
  for (int z = 0; z < kBrickCells; ++z)
    for (int y = 0; y < kBrickCells; ++y) {
      const unsigned row = cells.mixed[z][y];
      const auto both = static_cast<std::uint16_t>(row | row << 1U);
      for (int k = 0; k < 4; ++k)
        nodes[z + (k >> 1)][y + (k & 1)] =
            static_cast<std::uint16_t>(nodes[z + (k >> 1)][y + (k & 1)] | both);
    }
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y)
      for (unsigned left = nodes[z][y]; left != 0; left &= left - 1) {
        const int x = __builtin_ctz(left);
        const float on = (g[0] * static_cast<float>(x) + g[1] * static_cast<float>(y)) +
                         g[2] * static_cast<float>(z);
        rest.add(on - cells.node[z][y][x]);
      }
  return rest;
}

// A coarse cell beside a brick computes its values there with other operations. Parts that a slab
// skips must be too far from zero for that to matter.
float compute_slack_of_corners(const SlabCells& cells) {
  float largest = 0;
  for (const float c : cells.corner) largest = std::max(largest, std::abs(c));
  return 2 * kDoubtful * largest;
}

}  // namespace

bool load_slab_cells(const BrickField& field, const Index3& coarse, std::uint32_t brick,
                     const IsoBand& band, SlabCells& cells) {
  cells.lower = {coarse[0] * kBrickCells, coarse[1] * kBrickCells, coarse[2] * kBrickCells};
  cells.is_fine = brick != BrickField::kNoBrick;
  const auto cells_a_metre = static_cast<float>(1 / field.voxel_size());
  if (cells.is_fine) {
    cells.rounding = compute_rounding(field.bricks()[brick].corner, cells_a_metre);
    load_nodes(field.bricks()[brick], field.header().step, band.center, cells_a_metre, cells);
    return find_mixed(cells, band.reach);
  }
  BrickCells(field).load_coarse(coarse, cells.corner);
  cells.rounding = compute_rounding(cells.corner, cells_a_metre);
  for (float& c : cells.corner) c = (c - band.center) * cells_a_metre;
  return true;
}

bool load_slab_cells(const DenseGrid& grid, const Index3& coarse, const IsoBand& band,
                     SlabCells& cells) {
  const Index3& size = grid.lattice().cells;
  const auto cells_a_metre = static_cast<float>(1 / grid.lattice().spacing);
  cells.lower = {coarse[0] * kBrickCells, coarse[1] * kBrickCells, coarse[2] * kBrickCells};
  cells.is_fine = true;
  Index3 most{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    most[axis] = std::min(kBrickCells, size[axis] - cells.lower[axis]);
  // Nodes beyond the grid repeat its last ones; their cells are never mixed.
  float least = HUGE_VALF, largest = -HUGE_VALF;
  for (std::int32_t z = 0; z < kBrickNodes; ++z)
    for (std::int32_t y = 0; y < kBrickNodes; ++y)
      for (std::int32_t x = 0; x < kBrickNodes; ++x) {
        const float value = (grid.node_value(cells.lower[0] + std::min(x, most[0]),
                                             cells.lower[1] + std::min(y, most[1]),
                                             cells.lower[2] + std::min(z, most[2])) -
                             band.center) *
                            cells_a_metre;
        cells.node[z][y][x] = value;
        least = std::min(least, value);
        largest = std::max(largest, value);
      }
  // As compute_rounding, of values that were given less margin.
  cells.rounding = 2e-6F * (std::max(largest, -least) + std::abs(band.center) * cells_a_metre);
  const float nearly = band.reach + 1e-4F + cells.rounding;
  return least <= nearly && largest >= -nearly && find_mixed(cells, band.reach, most);
}

SegmentSlab fit_slab(const SlabCells* const* cells, std::size_t count, float slack) {
  float sum[3] = {0, 0, 0}, edges = 0;
  for (std::size_t i = 0; i < count; ++i) edges += add_slopes(*cells[i], sum);
  SegmentSlab slab{{sum[0] / edges, sum[1] / edges, sum[2] / edges}, 0, 0};
  // Rounding of g . x grows with g.
  const float steep = std::max(
      1.0F, std::abs(slab.normal[0]) + std::abs(slab.normal[1]) + std::abs(slab.normal[2]));
  Extent all;
  for (std::size_t i = 0; i < count; ++i) {
    const Extent rest = compute_rest(*cells[i], slab.normal);
    float shift = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      shift += slab.normal[axis] * static_cast<float>(cells[i]->lower[axis]);
    const float more = slack * steep + cells[i]->rounding +
                       (cells[i]->is_fine ? 0 : compute_slack_of_corners(*cells[i]));
    all.add((rest.least + shift) - more);
    all.add((rest.most + shift) + more);
  }
  slab.least = all.least;
  slab.most = all.most;
  return slab;
}

}  // namespace isotact::detail
