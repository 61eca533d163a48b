#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/gpu/build/detail/node_search.h"
#include "isotact/gpu/build/field_builder.h"
#include "isotact/gpu/core/detail/gl_names.h"

namespace isotact {

namespace detail {

// A batch of bricks in progress. Kept for the next build: memory that the GPU can write to is slow
// to allocate.
struct BrickSlot {
  BrickSlot(std::size_t result_bytes, std::size_t most_bricks)
      : results(result_bytes), exact(most_bricks * sizeof(std::uint32_t)) {}
  BrickBatch on_gpu;
  Readback results, exact;
  std::vector<BrickOnGpu> bricks;
  std::size_t first = 0;
};

inline constexpr std::size_t kSlots = 3;  // One is computed, one is transferred, one is read.

}  // namespace detail

struct GpuFieldBuilder::State {
  explicit State(const GpuInfo& of);

  GpuInfo info;
  detail::SearchPrograms search;
  detail::SearchScratch memory;  // Memory of the last search.
  detail::TreeBuilder trees;
  GpuBuffer slab;                // For the last first-order texture: triangles of nodes.
  GpuProgram largest_b, texels;  // first_order_texels.comp.

  std::array<std::optional<detail::BrickSlot>, detail::kSlots> slots;
  std::size_t batch_bytes = 0;  // Results.

  // Returns the largest number of bricks of a batch whose results fit into one buffer and `most`
  // bytes.
  std::size_t most_bricks(detail::SearchResult result, std::size_t most) const;
  // Returns the reason if the tree of a mesh or the coarse nodes of a lattice are too large for one
  // buffer each. Otherwise returns an empty text.
  std::string find_refusal(std::size_t triangles, const Lattice& lattice) const;
};

}  // namespace isotact
