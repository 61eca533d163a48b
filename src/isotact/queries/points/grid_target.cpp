#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "isotact/queries/points/detail/target_access.h"
#include "isotact/queries/swept/detail/free_space.h"

namespace isotact::detail {
namespace {

// Target number of blocks per axis. More cull better, but exceed the caches.
constexpr std::int32_t kBlocksAimedAt = 160;
// More than the rounding of a value; in cells.
constexpr double kValueRounding = 1e-3;

// Returns 1, 2, 4 or 8 cells.
std::int32_t choose_block_cells(const Index3& cells) {
  const std::int32_t most = std::max({cells[0], cells[1], cells[2]});
  std::int32_t size = 1;
  while (size < kBrickCells && most / size > kBlocksAimedAt) size *= 2;
  return size;
}

// Returns the smallest value at all nodes on the six sides. The interpolant has no smaller one
// there.
double find_least_on_sides(const BrickField& field) {
  const Index3 cells = field.lattice().cells;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (const std::int32_t side : {0, cells[axis]})
      for (std::int32_t i = 0; i <= cells[u]; ++i)
        for (std::int32_t j = 0; j <= cells[v]; ++j) {
          Index3 at{};
          at[axis] = side, at[u] = i, at[v] = j;
          least = std::min(least, field.node_value(at[0], at[1], at[2]));
        }
  }
  return static_cast<double>(least);
}

void finish(GridTarget& target, const Index3& cells, double cell, std::int32_t block_cells,
            const std::vector<std::uint8_t>& marked, const Index3& blocks, double least_on_sides,
            double most, Threads threads) {
  target.block = cell * block_cells;
  target.quarters = compute_block_distances(blocks, marked, threads);
  target.reach = compute_free_reach(most, least_on_sides) / target.block;
  target.view.quarters = target.quarters.data();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    target.view.blocks[axis] = static_cast<std::uint32_t>(blocks[axis]);
    target.view.size[axis] =
        static_cast<float>(static_cast<double>(cells[axis]) / static_cast<double>(block_cells));
  }
}

Index3 count_blocks(const Index3& cells, std::int32_t block_cells) {
  Index3 blocks{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    blocks[axis] = (cells[axis] + block_cells - 1) / block_cells;
  return blocks;
}

// Marks the blocks of one coarse cell whose nodes, sides included, have a value of at most `most`.
// Between nodes the interpolant is not less than at them. `nodes` has room for a cell's.
void mark_in_brick(const BrickField& field, const Index3& coarse, std::int32_t block_cells,
                   float most, const Index3& blocks, std::span<float> nodes,
                   std::vector<std::uint8_t>& marked) {
  field.cell_nodes(coarse, nodes);
  const std::int32_t n = kBrickCells / block_cells;
  const auto value = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    return nodes[static_cast<std::size_t>((z * kBrickNodes + y) * kBrickNodes + x)];
  };
  for (std::int32_t z = 0; z < n; ++z)
    for (std::int32_t y = 0; y < n; ++y)
      for (std::int32_t x = 0; x < n; ++x) {
        bool counts = false;
        for (std::int32_t k = 0; k <= block_cells && !counts; ++k)
          for (std::int32_t j = 0; j <= block_cells && !counts; ++j)
            for (std::int32_t i = 0; i <= block_cells && !counts; ++i)
              counts = value(x * block_cells + i, y * block_cells + j, z * block_cells + k) <= most;
        if (counts)
          marked[flat_index(blocks, coarse[0] * n + x, coarse[1] * n + y, coarse[2] * n + z)] = 1;
      }
}

// All blocks of a coarse cell.
void mark_whole_brick(const Index3& coarse, std::int32_t block_cells, const Index3& blocks,
                      std::vector<std::uint8_t>& marked) {
  const std::int32_t n = kBrickCells / block_cells;
  for (std::int32_t z = 0; z < n; ++z)
    for (std::int32_t y = 0; y < n; ++y)
      std::fill_n(
          marked.begin() + static_cast<std::ptrdiff_t>(flat_index(
                               blocks, coarse[0] * n, coarse[1] * n + y, coarse[2] * n + z)),
          n, std::uint8_t{1});
}

BrickView view_bricks(const BrickField& field) {
  constexpr std::size_t kBlockCells = 4;  // Coarse cells of a BrickBlock.
  BrickView view{};
  view.coarse = field.coarse_values().data();
  view.blocks = field.blocks().data();
  view.bricks = field.bricks().data();
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.cells[axis] = static_cast<std::uint32_t>(field.lattice().cells[axis]);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t coarse = view.cells[axis] / kBrickCells;
    view.nodes[axis] = coarse + 1;
    view.block_count[axis] = (coarse + kBlockCells - 1) / kBlockCells;
  }
  view.step = field.header().step;
  view.cell = static_cast<float>(field.voxel_size());
  return view;
}

}  // namespace

GridTarget prepare_grid(const BrickField& field, double max_margin, Threads threads) {
  GridTarget target;
  target.field = field;
  target.bricks = view_bricks(field);
  target.max_margin = max_margin;
  const Lattice& lattice = field.lattice();
  target.origin = lattice.origin;
  const std::int32_t block_cells = choose_block_cells(lattice.cells);
  const Index3 blocks = count_blocks(lattice.cells, block_cells);
  const Index3 coarse = count_blocks(lattice.cells, kBrickCells);
  const double most = max_margin + kValueRounding * lattice.spacing;
  std::vector<std::uint8_t> marked(count(blocks));
  // Coarse cells have blocks of their own: layers do not write to the same entries.
  parallel_for(
      static_cast<std::size_t>(coarse[2]), 1, threads, [&](std::size_t begin, std::size_t end) {
        std::array<float, kBrickSamples> nodes;
        for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
          for (std::int32_t y = 0; y < coarse[1]; ++y)
            for (std::int32_t x = 0; x < coarse[0]; ++x) {
              const Index3 cell{x, y, z};
              const ValueRange range = field.cell_range(cell);
              if (static_cast<double>(range.min) > most) continue;
              if (range.max <= static_cast<float>(most))
                mark_whole_brick(cell, block_cells, blocks, marked);
              else
                mark_in_brick(field, cell, block_cells, static_cast<float>(most), blocks, nodes,
                              marked);
            }
      });
  finish(target, lattice.cells, lattice.spacing, block_cells, marked, blocks,
         find_least_on_sides(field), most, threads);
  return target;
}

// A voxel counts if a point in it may be as near as the margin: its value, and half of its diagonal
// for the local part of equation 4 (or 5, whose gradient is a unit vector or shorter).
GridTarget prepare_grid(const Voxmap& voxmap, double max_margin, Threads threads) {
  GridTarget target;
  target.voxmap = voxmap;
  target.max_margin = max_margin;
  const Lattice& lattice = voxmap.lattice();
  target.origin = lattice.origin;
  const std::int32_t block_cells = choose_block_cells(lattice.cells);
  const Index3 blocks = count_blocks(lattice.cells, block_cells);
  const double local = 0.5 * std::sqrt(3.0) * (1 + 1e-3) * lattice.spacing;
  const double most = max_margin + kValueRounding * lattice.spacing;
  std::vector<std::uint8_t> marked(count(blocks));
  double least_on_sides = std::numeric_limits<double>::infinity();
  const auto is_side = [](std::int32_t i, std::int32_t n) { return i == 0 || i == n - 1; };
  for (std::int32_t z = 0; z < lattice.cells[2]; ++z)
    for (std::int32_t y = 0; y < lattice.cells[1]; ++y)
      for (std::int32_t x = 0; x < lattice.cells[0]; ++x) {
        const double least = voxmap.distance_of_voxel({x, y, z}) - local;
        if (least <= most)
          marked[flat_index(blocks, x / block_cells, y / block_cells, z / block_cells)] = 1;
        if (is_side(x, lattice.cells[0]) || is_side(y, lattice.cells[1]) ||
            is_side(z, lattice.cells[2]))
          least_on_sides = std::min(least_on_sides, least);
      }
  finish(target, lattice.cells, lattice.spacing, block_cells, marked, blocks, least_on_sides, most,
         threads);
  return target;
}

}  // namespace isotact::detail
