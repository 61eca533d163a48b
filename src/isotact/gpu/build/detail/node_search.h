// Nearest triangles of lattice nodes by compute shaders: the parts of GpuFieldBuilder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isotact/field/build/distance_device.h"
#include "isotact/gpu/build/detail/triangle_tree.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/program.h"

namespace isotact::detail {

enum class SearchResult : std::uint8_t {
  kDistance,   // Float, cells.
  kDirection,  // Three floats of a unit vector (BrickDistances) and the distance.
  kTriangle,   // Number of a frame in the tree, or ~0 if none was requested.
};
constexpr std::size_t bytes_of(SearchResult r) { return r == SearchResult::kDirection ? 16 : 4; }

// Compiled once.
struct SearchPrograms {
  SearchPrograms();
  GpuProgram coarse, bricks;
  std::array<GpuProgram, 2> walks;  // The steps of dense_nodes.comp.
  GpuProgram distances, directions;
};

// Buffers that outlast a search: memory of the GPU is slow to allocate.
struct SearchScratch {
  GpuBuffer frames, boxes, coarse_distances;
  GpuBuffer walks, group_seeds, triangles;
};

using glsl::BrickOnGpu;

// The further buffers of a batch of bricks, for reuse.
struct BrickBatch {
  GpuBuffer bricks, exact, results;
};
inline constexpr std::size_t kMostBricksOfBatch = 65535;  // Work-groups along x.

class NodeSearch {
 public:
  // The lattice's cells are multiples of 8. The programs and the memory must outlive this object.
  // The memory is borrowed: another search at the same time gets its own.
  NodeSearch(const SearchPrograms& programs, SearchScratch& spare, const TriangleTree& tree,
             const Lattice& lattice);
  NodeSearch(const NodeSearch&) = delete;
  NodeSearch& operator=(const NodeSearch&) = delete;
  ~NodeSearch() { spare_ = std::move(memory_); }

  const Index3& coarse_nodes() const { return coarse_nodes_; }
  const GpuBuffer& coarse_distances() const { return memory_.coarse_distances; }
  // Cells. Twice the value of the CPU (DistancePass::error). A GPU's square root may be off by
  // three units in the last place, and sums may be computed in any order.
  double error() const { return error_; }

  // Both only start it: the next dispatch or read sees the results.
  void compute_coarse();
  struct Wanted {
    double from, to;
  };
  // At most kMostBricksOfBatch.
  void find_bricks(std::span<const BrickOnGpu> bricks, const Wanted& wanted, SearchResult result,
                   BrickBatch& batch);
  // Binds the tree for a program that includes nearest.glsl.
  void prepare(const GpuProgram& program) const;

 private:
  void prepare(const GpuProgram& program, std::size_t bricks, const Wanted& wanted) const;

  const SearchPrograms& programs_;
  SearchScratch& spare_;
  SearchScratch memory_;
  std::vector<std::uint32_t> level_begin_;
  Index3 coarse_nodes_{};
  double error_ = 0;
};

}  // namespace isotact::detail
