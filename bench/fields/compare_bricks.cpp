#include "fields/compare_bricks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "isotact/base/error.h"

namespace isotact {
namespace {

constexpr std::int32_t kCubeNodes = 4;

double between(double a, double b, double t) { return a + (b - a) * t; }

double value_at(const Brick& brick, float step, std::int32_t x, std::int32_t y, std::int32_t z) {
  double row[4];
  for (std::size_t i = 0; i < 4; ++i)
    row[i] = between(static_cast<double>(brick.corner[2 * i]),
                     static_cast<double>(brick.corner[2 * i + 1]), x / 8.0);
  const double coarse =
      between(between(row[0], row[1], y / 8.0), between(row[2], row[3], y / 8.0), z / 8.0);
  return coarse +
         static_cast<double>(step) * brick.correction[(z * kBrickNodes + y) * kBrickNodes + x];
}

class Comparison {
 public:
  Comparison(const BrickField& a, const BrickField& b)
      : a_(a), b_(b), step_a_(a.header().step), step_b_(b.header().step) {
    // Samples on faces towards cells without brick are zero. Where both fields have the same
    // bricks, they are so in both; else faces are left out.
    const auto blocks_a = a.blocks(), blocks_b = b.blocks();
    const bool same = std::equal(
        blocks_a.begin(), blocks_a.end(), blocks_b.begin(), blocks_b.end(),
        [](const BrickBlock& x, const BrickBlock& y) { return x.occupied == y.occupied; });
    first_node_ = same ? 0 : 1;
  }

  BrickDifference look_at_blocks(std::size_t begin, std::size_t end) const {
    BrickDifference d;
    for (std::size_t i = begin; i < end; ++i) {
      const BrickBlock &of_a = a_.blocks()[i], &of_b = b_.blocks()[i];
      std::size_t next_a = of_a.first_brick, next_b = of_b.first_brick;
      for (std::uint64_t left = of_a.occupied | of_b.occupied; left != 0; left &= left - 1) {
        const std::uint64_t bit = left & (~left + 1);
        const Brick* in_a = (of_a.occupied & bit) != 0 ? &a_.bricks()[next_a++] : nullptr;
        const Brick* in_b = (of_b.occupied & bit) != 0 ? &b_.bricks()[next_b++] : nullptr;
        ++(in_a != nullptr && in_b != nullptr ? d.bricks : d.other_bricks);
        for (std::int32_t cube = 0; cube < 8; ++cube) look_at_cube(in_a, in_b, cube, d);
      }
    }
    return d;
  }

 private:
  // Only a brick's own nodes: the others are copies of its neighbours'.
  template <typename Visit>
  void visit_nodes(std::int32_t cube, const Visit& visit) const {
    const std::int32_t x0 = (cube & 1) * kCubeNodes, y0 = (cube >> 1 & 1) * kCubeNodes,
                       z0 = (cube >> 2) * kCubeNodes;
    for (std::int32_t z = std::max(z0, first_node_); z < z0 + kCubeNodes; ++z)
      for (std::int32_t y = std::max(y0, first_node_); y < y0 + kCubeNodes; ++y)
        for (std::int32_t x = std::max(x0, first_node_); x < x0 + kCubeNodes; ++x) visit(x, y, z);
  }

  void look_at_cube(const Brick* in_a, const Brick* in_b, std::int32_t cube,
                    BrickDifference& d) const {
    const bool exact_a = in_a != nullptr && (in_a->exact >> cube & 1) != 0;
    const bool exact_b = in_b != nullptr && (in_b->exact >> cube & 1) != 0;
    if (!exact_a && !exact_b) return;
    if (exact_a && exact_b) {
      visit_nodes(cube, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
        const std::int32_t at = (z * kBrickNodes + y) * kBrickNodes + x;
        if (in_a->correction[at] != in_b->correction[at]) ++d.other_samples;
        const double off = value_at(*in_a, step_a_, x, y, z) - value_at(*in_b, step_b_, x, y, z);
        d.most_off = std::max(d.most_off, std::abs(off));
      });
      return;
    }
    ++d.other_cubes;
    visit_nodes(cube, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
      const double value =
          exact_a ? value_at(*in_a, step_a_, x, y, z) : value_at(*in_b, step_b_, x, y, z);
      d.nearest_other = std::min(d.nearest_other, std::abs(value));
    });
  }

  const BrickField &a_, &b_;
  float step_a_, step_b_;
  std::int32_t first_node_ = 0;
};

}  // namespace

BrickDifference compare_bricks(const BrickField& a, const BrickField& b, Threads threads) {
  if (!(a.lattice() == b.lattice())) throw Error("fields on different lattices are compared");
  const Comparison comparison(a, b);
  return parallel_reduce(
      a.blocks().size(), 16, threads, BrickDifference{},
      [&](std::size_t begin, std::size_t end) { return comparison.look_at_blocks(begin, end); },
      [](BrickDifference all, const BrickDifference& more) {
        all.bricks += more.bricks;
        all.other_bricks += more.other_bricks;
        all.other_cubes += more.other_cubes;
        all.other_samples += more.other_samples;
        all.most_off = std::max(all.most_off, more.most_off);
        all.nearest_other = std::min(all.nearest_other, more.nearest_other);
        return all;
      });
}

bool is_as_promised(const BrickDifference& difference, const BrickField& a, const BrickField& b) {
  const BrickFieldHeader &of_a = a.header(), &of_b = b.header();
  const auto error_of = [](const BrickFieldHeader& h) {
    return static_cast<double>(h.sample_error) + 0.5001 * static_cast<double>(h.step);
  };
  return difference.most_off <= error_of(of_a) + error_of(of_b) &&
         difference.nearest_other >= static_cast<double>(std::max(of_a.band, of_b.band));
}

}  // namespace isotact
