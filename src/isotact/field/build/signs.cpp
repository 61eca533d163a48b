#include "isotact/field/build/detail/signs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "isotact/base/lanes.h"
#include "isotact/field/brick_field.h"

namespace isotact::detail {
namespace {

// Where all nodes are further than half a cell from a closed surface, it passes between no two of
// them, and one line tells the sign of all.
bool has_one_sign(std::span<const float> distance) {
  using Floats = Lanes<float, 4>;
  Floats a(HUGE_VALF), b(HUGE_VALF);
  for (std::size_t i = 0; i < distance.size(); i += 8) {
    a = lesser(load<Floats>(distance.data() + i), a);
    b = lesser(load<Floats>(distance.data() + i + 4), b);
  }
  float least[4];
  store(lesser(a, b), least);
  return std::min({least[0], least[1], least[2], least[3]}) > 0.51F;
}

}  // namespace

void sign_coarse(std::span<float> coarse, const Lattice& lattice, const RowCrossings& rows,
                 Threads threads) {
  const Index3 nodes = node_counts(lattice);
  parallel_for(static_cast<std::size_t>(nodes[2]), 1, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::int32_t z = static_cast<std::int32_t>(begin);
                      z < static_cast<std::int32_t>(end); ++z)
                   for (std::int32_t y = 0; y < nodes[1]; ++y)
                     for (std::int32_t x = 0; x < nodes[0]; x += 32) {
                       const std::int32_t n = std::min(32, nodes[0] - x);
                       std::uint32_t bits = rows.inside_bits(x * kBrickCells, kBrickCells, n,
                                                             y * kBrickCells, z * kBrickCells);
                       for (; bits != 0; bits &= bits - 1) {
                         float& value = coarse[flat_index(nodes, x + std::countr_zero(bits), y, z)];
                         value = -value;
                       }
                     }
               });
}

bool is_coarse_node_inside(const Index3& node, const RowCrossings& rows) {
  return rows.inside_bits(node[0] * kBrickCells, kBrickCells, 1, node[1] * kBrickCells,
                          node[2] * kBrickCells) != 0;
}

void sign_brick(std::span<float> distance, const Index3& cell, const RowCrossings& rows) {
  if (has_one_sign(distance)) {
    const bool inside = rows.inside_bits(cell[0] * kBrickCells, 1, 1, cell[1] * kBrickCells,
                                         cell[2] * kBrickCells) != 0;
    if (inside)
      for (float& d : distance) d = -d;
    return;
  }
  const float first = static_cast<float>(cell[0] * kBrickCells);
  for (std::int32_t z = 0; z < kBrickCells; ++z)
    for (std::int32_t y = 0; y < kBrickCells; ++y) {
      const std::int32_t j = cell[1] * kBrickCells + y, k = cell[2] * kBrickCells + z;
      const std::span<const LineCrossing> row = rows.row(j, k);
      float* at = distance.data() + (z * kBrickCells + y) * kBrickCells;
      // Most lines do not cross the surface between the first and the last node of a brick.
      std::int32_t winding = 0;
      std::size_t next = 0;
      for (; next < row.size() && row[next].x < first; ++next) winding += row[next].delta;
      if (next == row.size() || row[next].x >= first + (kBrickCells - 1)) {
        if (rows.is_inside(winding))
          for (std::int32_t x = 0; x < kBrickCells; ++x) at[x] = -at[x];
        continue;
      }
      std::uint32_t bits = rows.inside_bits(cell[0] * kBrickCells, 1, kBrickCells, j, k);
      for (; bits != 0; bits &= bits - 1) {
        float& value = at[std::countr_zero(bits)];
        value = -value;
      }
    }
}

}  // namespace isotact::detail
