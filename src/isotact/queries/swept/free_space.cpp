#include "isotact/queries/detail/free_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isotact::detail {
namespace {

using Square = std::uint16_t;  // of a distance in blocks
constexpr Square kFar = std::numeric_limits<Square>::max();
constexpr std::int32_t kMostBlocks = kMostFree / 4;
// More than rounding makes of a value; in cells.
constexpr double kNearly = 1e-3;

// Two blocks d apart along an axis have a gap of |d| - 1 between them, at least none. The least sum
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
    std::vector<std::uint8_t> result(square_.size());
    for (std::size_t i = 0; i < square_.size(); ++i) {
      const double q = 4 * std::sqrt(static_cast<double>(square_[i]));
      result[i] = static_cast<std::uint8_t>(std::min<double>(q, kMostFree));
    }
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

  // Rows along x at a time. Distances beyond kMostBlocks do not matter.
  void along(std::size_t axis) {
    const auto nx = static_cast<std::size_t>(n_[0]), ny = static_cast<std::size_t>(n_[1]);
    const std::size_t stride = axis == 1 ? nx : nx * ny;
    parallel_for(square_.size() / nx, 64, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        Square* to = next_.data() + row * nx;
        std::fill_n(to, nx, kFar);
        const auto at = static_cast<std::int32_t>(axis == 1 ? row % ny : row / ny);
        const std::int32_t first = std::max(at - kMostBlocks - 1, 0);
        const std::int32_t last = std::min(at + kMostBlocks + 1, n_[axis] - 1);
        for (std::int32_t other = first; other <= last; ++other) {
          const Square* from = square_.data() + row * nx +
                               static_cast<std::size_t>(other) * stride -
                               static_cast<std::size_t>(at) * stride;
          take_least(from, gap_sq(other - at), to, nx);
        }
      }
    });
    square_.swap(next_);
  }

  static void take_least(const Square* from, Square more, Square* to, std::size_t n) {
    const auto most = static_cast<Square>(kFar - more);
    for (std::size_t x = 0; x < n; ++x) {
      const auto sum = static_cast<Square>(std::min(from[x], most) + more);
      to[x] = std::min(to[x], sum);
    }
  }

  Index3 n_;
  Threads threads_;
  std::vector<Square> square_, next_;
};

template <typename LeastOfBlock>
FreeSpace build(const Lattice& lattice, double iso, double least_on_sides, Threads threads,
                LeastOfBlock&& least_of_block) {
  FreeSpace space;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    space.blocks[axis] = (lattice.cells[axis] + kFreeBlockCells - 1) / kFreeBlockCells;
    space.size[axis] = static_cast<float>(lattice.cells[axis]) / kFreeBlockCells;
  }
  // Traces take a float for it.
  const double traced = static_cast<double>(static_cast<float>(iso));
  const double most = std::max(iso, traced) + kNearly * lattice.spacing;
  std::vector<std::uint8_t> marked(count(space.blocks));
  parallel_for(static_cast<std::size_t>(space.blocks[2]), 1, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t z = begin; z < end; ++z)
                   for (std::int32_t y = 0; y < space.blocks[1]; ++y)
                     for (std::int32_t x = 0; x < space.blocks[0]; ++x) {
                       const auto k = static_cast<std::int32_t>(z);
                       const double least = static_cast<double>(least_of_block(Index3{x, y, k}));
                       if (least <= most) marked[flat_index(space.blocks, x, y, k)] = 1;
                     }
               });
  space.quarters = find_block_distances(space.blocks, marked, threads);
  space.reach = find_free_reach(most, least_on_sides) / (lattice.spacing * kFreeBlockCells);
  return space;
}

}  // namespace

std::vector<std::uint8_t> find_block_distances(const Index3& blocks,
                                               const std::vector<std::uint8_t>& marked,
                                               Threads threads) {
  return Distances(blocks, marked, threads).quarters();
}

double find_free_reach(double iso, double least_on_sides) {
  if (iso < least_on_sides) return 0;
  return least_on_sides >= 0 ? std::sqrt(iso * iso - least_on_sides * least_on_sides)
                             : iso - least_on_sides;
}

FreeSpace build_free_space(const BrickField& field, double iso, double least_on_sides,
                           Threads threads) {
  return build(field.lattice(), iso, least_on_sides, threads,
               [&](const Index3& block) { return field.cell_range(block).min; });
}

FreeSpace build_free_space(const DenseGrid& grid, double iso, double least_on_sides,
                           Threads threads) {
  const Lattice& lattice = grid.lattice();
  const Index3 nodes = node_counts(lattice);
  return build(lattice, iso, least_on_sides, threads, [&](const Index3& block) {
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
