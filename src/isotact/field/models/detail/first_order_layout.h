// Where the parts of a first-order field's buffer lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/field/flat_buffer.h"
#include "isotact/field/half.h"
#include "isotact/field/models/detail/first_order_cell.h"
#include "isotact/field/models/first_order_field.h"

namespace isotact::detail {

using FloatRange = std::array<float, 2>;

// Of a level n >= 1, a node of which spans 2^(n+1) cells along each axis.
constexpr Index3 first_order_tree_dims(const Index3& cells, unsigned level) {
  Index3 dims = cells;
  for (std::int32_t& n : dims)
    n = static_cast<std::int32_t>((static_cast<std::uint32_t>(n) + (2U << level) - 1) >>
                                  (level + 1));
  return dims;
}

struct FirstOrderLayout {
  unsigned level_count = 0;
  std::size_t texel_offset = 0, tree_offset = 0, tree_nodes = 0, total_bytes = 0;
};

// Needs cells of 1 to kMaxFirstOrderCells an axis: then nothing overflows.
constexpr FirstOrderLayout compute_first_order_layout(const Index3& cells,
                                                      FirstOrderStorage storage) {
  FirstOrderLayout layout;
  const std::size_t nodes = count({cells[0] + 1, cells[1] + 1, cells[2] + 1});
  layout.texel_offset = sizeof(FirstOrderHeader);
  layout.tree_offset = round_up_to_alignment(
      layout.texel_offset + nodes * (storage == FirstOrderStorage::kHalf ? 8 : 16));
  for (;;) {
    const Index3 dims = first_order_tree_dims(cells, ++layout.level_count);
    layout.tree_nodes += count(dims);
    if (count(dims) == 1) break;
  }
  layout.total_bytes =
      round_up_to_alignment(layout.tree_offset + layout.tree_nodes * sizeof(FloatRange));
  return layout;
}

// The texels of a buffer, in either storage.
struct TexelView {
  const std::byte* texels = nullptr;
  FirstOrderStorage storage = FirstOrderStorage::kFloat32;
  Index3 nodes{};

  const float* floats() const { return reinterpret_cast<const float*>(texels); }
  const std::uint16_t* halves() const { return reinterpret_cast<const std::uint16_t*>(texels); }
  std::array<float, 4> at(std::size_t node) const {
    std::array<float, 4> texel{};
    for (std::size_t c = 0; c < 4; ++c)
      texel[c] = storage == FirstOrderStorage::kHalf ? float_from_half(halves()[4 * node + c])
                                                     : floats()[4 * node + c];
    return texel;
  }
  // Needs finite texels.
  FirstOrderCell cell(const Index3& at_cell) const {
    const std::size_t first = flat_index(nodes, at_cell[0], at_cell[1], at_cell[2]);
    const auto nx = static_cast<std::size_t>(nodes[0]), ny = static_cast<std::size_t>(nodes[1]);
    FirstOrderCell cell;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const std::size_t node =
          first + (corner & 1U) + (corner >> 1U & 1U) * nx + (corner >> 2U) * nx * ny;
      const auto component = [&](std::size_t c) {
        return static_cast<double>(storage == FirstOrderStorage::kHalf
                                       ? float_from_finite_half(halves()[4 * node + c])
                                       : floats()[4 * node + c]);
      };
      cell.a[corner] = {component(0), component(1), component(2)};
      cell.f[corner] = component(3);
    }
    return cell;
  }
};

// What is computed from the texels alone, by the builder and again by the validator.
struct FirstOrderSummary {
  double lipschitz = 0;
  std::vector<FloatRange> tree;
};
FirstOrderSummary summarise(const TexelView& texels, const Index3& cells, Threads threads);

}  // namespace isotact::detail
