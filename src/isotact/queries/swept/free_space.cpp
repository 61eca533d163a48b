#include "isotact/queries/swept/detail/free_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace isotact::detail {
namespace {

using Square = std::uint16_t;  // Squared distance in blocks.
constexpr Square kFar = std::numeric_limits<Square>::max();
constexpr std::int32_t kMostBlocks = kMostFree / 4;
constexpr Square kEnough = kMostBlocks * kMostBlocks;  // the square that stands for all larger ones
constexpr std::size_t kChunk = 32;
// More than rounding makes of a value; in cells.
constexpr double kNearly = 1e-3;

// Two blocks d apart along an axis have a gap of |d| - 1 between them, at least zero. The least sum
// of squared gaps over all marked blocks splits into three minima, axis after axis.
class Distances {
 public:
  Distances(const Index3& blocks, const std::vector<std::uint8_t>& marked, Threads threads)
      : n_(blocks), threads_(threads), square_(count(blocks)), next_(count(blocks)) {
    along_x(marked);
    along(1);
    along(2);
  }

  std::vector<std::uint8_t> quarters() const {
    std::array<std::uint8_t, kEnough + 1> table;
    for (std::size_t square = 0; square < table.size(); ++square) {
      const double q = 4 * std::sqrt(static_cast<double>(square));
      table[square] = static_cast<std::uint8_t>(std::min<double>(q, kMostFree));
    }
    std::vector<std::uint8_t> result(square_.size());
    parallel_for(square_.size(), std::size_t{1} << 16U, threads_,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     result[i] = table[std::min<Square>(square_[i], kEnough)];
                 });
    return result;
  }

 private:
  static Square gap_sq(std::int32_t d) {
    const std::int32_t gap = std::max(std::abs(d) - 1, 0);
    return static_cast<Square>(gap * gap);
  }

  void along_x(const std::vector<std::uint8_t>& marked) {
    const auto nx = static_cast<std::size_t>(n_[0]);
    parallel_for(square_.size() / nx, 256, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const std::uint8_t* is_marked = marked.data() + row * nx;
        Square* to = square_.data() + row * nx;
        std::fill_n(to, nx, kFar);
        for (const bool forward : {true, false}) {
          std::int32_t since = kMostBlocks + 2;
          for (std::size_t i = 0; i < nx; ++i) {
            const std::size_t x = forward ? i : nx - 1 - i;
            since = is_marked[x] != 0 ? 0 : since + 1;
            if (since <= kMostBlocks + 1) to[x] = std::min(to[x], gap_sq(since));
          }
        }
      }
    });
  }

  // Chunks of rows along x at a time, the nearest rows first. A row whose gap alone is no less than
  // all that was found changes nothing, nor do the ones behind it. Distances beyond kMostBlocks do
  // not matter.
  void along(std::size_t axis) {
    const auto nx = static_cast<std::size_t>(n_[0]), ny = static_cast<std::size_t>(n_[1]);
    const std::size_t stride = axis == 1 ? nx : nx * ny;
    parallel_for(square_.size() / nx, 64, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const auto at = static_cast<std::int32_t>(axis == 1 ? row % ny : row / ny);
        const Reach reach{.before = std::min(at, kMostBlocks + 1),
                          .after = std::min(n_[axis] - 1 - at, kMostBlocks + 1),
                          .stride = stride};
        const Square* from = square_.data() + row * nx;
        Square* to = next_.data() + row * nx;
        if (nx < kChunk) {
          take_least(from, reach, to, nx);
          continue;
        }
        // The last chunk may cover places of the one before again, with the same result.
        for (std::size_t x = 0; x < nx; x += kChunk) {
          const std::size_t first = std::min(x, nx - kChunk);
          take_least(from + first, reach, to + first,
                     std::integral_constant<std::size_t, kChunk>{});
        }
      }
    });
    square_.swap(next_);
  }

  // Rows that may be looked at, before and after one along an axis.
  struct Reach {
    std::int32_t before, after;
    std::size_t stride;
  };

  template <typename Count>
  static void take_least(const Square* from, const Reach& reach, Square* to, Count n) {
    std::array<Square, kChunk> least;
    std::copy_n(from, std::size_t{n}, least.begin());
    Square greatest = kFar;
    for (std::int32_t d = 1; d <= std::max(reach.before, reach.after); ++d) {
      const Square more = gap_sq(d);
      if (more >= greatest) break;
      const auto most = static_cast<Square>(kFar - more);
      const std::size_t away = static_cast<std::size_t>(d) * reach.stride;
      const Square* const lower = d <= reach.before ? from - away : from + away;
      const Square* const upper = d <= reach.after ? from + away : from - away;
      greatest = 0;
      for (std::size_t x = 0; x < n; ++x) {
        const auto sum = static_cast<Square>(std::min(std::min(lower[x], upper[x]), most) + more);
        least[x] = std::min(least[x], sum);
        greatest = std::max(greatest, least[x]);
      }
    }
    std::copy_n(least.begin(), std::size_t{n}, to);
  }

  Index3 n_;
  Threads threads_;
  std::vector<Square> square_, next_;
};

// A block with a value up to this is marked, metres.
double find_most(const Lattice& lattice, double margin) {
  // Traces use a float for it.
  const double traced = static_cast<double>(static_cast<float>(margin));
  return std::max(margin, traced) + kNearly * lattice.spacing;
}

void set_reach(FreeSpace& space, const Lattice& lattice, double most, double least_on_sides) {
  space.reach = compute_free_reach(most, least_on_sides) / (lattice.spacing * kFreeBlockCells);
}

template <typename LeastOfBlock>
FreeSpace build(const Lattice& lattice, double margin, double least_on_sides, Threads threads,
                LeastOfBlock&& least_of_block) {
  FreeSpace space;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    space.blocks[axis] = (lattice.cells[axis] + kFreeBlockCells - 1) / kFreeBlockCells;
    space.size[axis] = static_cast<float>(lattice.cells[axis]) / kFreeBlockCells;
  }
  const double most = find_most(lattice, margin);
  space.marked.assign(count(space.blocks), 0);
  parallel_for(static_cast<std::size_t>(space.blocks[2]), 1, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t z = begin; z < end; ++z)
                   for (std::int32_t y = 0; y < space.blocks[1]; ++y)
                     for (std::int32_t x = 0; x < space.blocks[0]; ++x) {
                       const auto k = static_cast<std::int32_t>(z);
                       const double least = static_cast<double>(least_of_block(Index3{x, y, k}));
                       if (least <= most) space.marked[flat_index(space.blocks, x, y, k)] = 1;
                     }
               });
  space.quarters = compute_block_distances(space.blocks, space.marked, threads);
  set_reach(space, lattice, most, least_on_sides);
  return space;
}

}  // namespace

std::vector<std::uint8_t> compute_block_distances(const Index3& blocks,
                                                  const std::vector<std::uint8_t>& marked,
                                                  Threads threads) {
  return Distances(blocks, marked, threads).quarters();
}

double compute_free_reach(double margin, double least_on_sides) {
  if (margin < least_on_sides) return 0;
  return least_on_sides >= 0 ? std::sqrt(margin * margin - least_on_sides * least_on_sides)
                             : margin - least_on_sides;
}

FreeSpace build_free_space(const BrickField& field, double margin, double least_on_sides,
                           Threads threads) {
  return build(field.lattice(), margin, least_on_sides, threads,
               [&](const Index3& block) { return field.cell_range(block).min; });
}

FreeSpace update_free_space(FreeSpace earlier, const BrickField& field, double margin,
                            double least_on_sides, std::span<const Index3> changed_cells,
                            Threads threads) {
  FreeSpace space = std::move(earlier);
  const double most = find_most(field.lattice(), margin);
  bool changed = false;
  for (const Index3& block : changed_cells) {  // Coarse cells are the blocks.
    const bool is_marked = static_cast<double>(field.cell_range(block).min) <= most;
    std::uint8_t& marked = space.marked[flat_index(space.blocks, block[0], block[1], block[2])];
    changed = changed || (marked != 0) != is_marked;
    marked = is_marked ? 1 : 0;
  }
  if (changed) space.quarters = compute_block_distances(space.blocks, space.marked, threads);
  set_reach(space, field.lattice(), most, least_on_sides);
  return space;
}

FreeSpace build_free_space(const DenseGrid& grid, double margin, double least_on_sides,
                           Threads threads) {
  const Lattice& lattice = grid.lattice();
  const Index3 nodes = node_counts(lattice);
  return build(lattice, margin, least_on_sides, threads, [&](const Index3& block) {
    float least = std::numeric_limits<float>::infinity();
    Index3 first{}, last{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      first[axis] = block[axis] * kFreeBlockCells;
      last[axis] = std::min(first[axis] + kFreeBlockCells, lattice.cells[axis]);
    }
    for (std::int32_t z = first[2]; z <= last[2]; ++z)
      for (std::int32_t y = first[1]; y <= last[1]; ++y)
        for (std::int32_t x = first[0]; x <= last[0]; ++x)
          least = std::min(least, grid.samples()[flat_index(nodes, x, y, z)]);
    return least;
  });
}

}  // namespace isotact::detail
