#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/gpu/detail/node_search.h"
#include "isotact/gpu/detail/readback.h"
#include "isotact/gpu/field_builder.h"

namespace isotact {

namespace detail {

// A batch of bricks on its way. Kept for the next build: memory that the GPU can write to is slow
// to get.
struct BrickSlot {
  BrickSlot(std::size_t result_bytes, std::size_t most_bricks)
      : results(result_bytes), exact(most_bricks * sizeof(std::uint32_t)) {}
  BrickBatch on_gpu;
  Readback results, exact;
  std::vector<BrickOnGpu> bricks;
  std::size_t first = 0;
};

inline constexpr std::size_t kSlots = 3;  // one is computed, one comes back, one is read

}  // namespace detail

struct GpuFieldBuilder::State {
  explicit State(const GpuInfo& of);

  GpuInfo info;
  detail::SearchPrograms search;
  detail::SearchMemory memory;  // of the last search
  detail::TreeBuilder trees;
  GpuBuffer slab;                // of the last first-order texture: triangles of nodes
  GpuProgram largest_b, texels;  // first_order_texels.comp

  std::array<std::optional<detail::BrickSlot>, detail::kSlots> slots;
  std::size_t batch_bytes = 0;  // of results

  // The most bricks of a batch whose results fit into one buffer and `most` bytes.
  std::size_t most_bricks(detail::SearchResult result, std::size_t most) const;
  // Why the tree of a mesh and the coarse nodes of a lattice are too much for one buffer each, or
  // an empty text.
  std::string find_refusal(std::size_t triangles, const Lattice& lattice) const;
};

}  // namespace isotact
