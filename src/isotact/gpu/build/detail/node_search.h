// Nearest triangles of lattice nodes by compute shaders: what GpuFieldBuilder is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isotact/field/build/distance_device.h"
#include "isotact/gpu/buffer.h"
#include "isotact/gpu/detail/triangle_tree.h"
#include "isotact/gpu/program.h"

namespace isotact::detail {

enum class SearchResult : std::uint8_t {
  kDistance,   // float, cells
  kDirection,  // three floats of a unit vector (BrickDistances) and the distance
  kTriangle,   // number of a frame in the tree, or ~0 where none was wanted
};
constexpr std::size_t bytes_of(SearchResult r) { return r == SearchResult::kDirection ? 16 : 4; }

// Compiled once.
struct SearchPrograms {
  SearchPrograms();
  GpuProgram coarse, bricks;
  std::array<GpuProgram, 2> walks;  // the steps of dense_nodes.comp
  GpuProgram distances, directions;
};

// Buffers that outlast a search: memory of the GPU is slow to get.
struct SearchMemory {
  GpuBuffer frames, boxes, coarse_distances;
  GpuBuffer walks, group_seeds, triangles;
};

struct BrickOnGpu {  // as in brick_work.glsl
  std::int32_t cell[3];
  std::int32_t whole;
};

// The buffers that a batch of bricks needs beside those, for reuse.
struct BrickBatch {
  GpuBuffer bricks, exact, results;
};
inline constexpr std::size_t kMostBricksOfBatch = 65535;  // work-groups along x

class NodeSearch {
 public:
  // The lattice's cells are multiples of 8. The programs must outlive this, and so must the memory,
  // which is borrowed: another search at the same time gets its own.
  NodeSearch(const SearchPrograms& programs, SearchMemory& spare, const TriangleTree& tree,
             const Lattice& lattice);
  NodeSearch(const NodeSearch&) = delete;
  NodeSearch& operator=(const NodeSearch&) = delete;
  ~NodeSearch() { spare_ = std::move(memory_); }

  const Index3& coarse_nodes() const { return coarse_nodes_; }
  const GpuBuffer& coarse_distances() const { return memory_.coarse_distances; }
  // Cells. As for the processor (DistancePass::error), twice that: a GPU's square root may be off
  // by three units in the last place, and sums may be made in any order.
  double error() const { return error_; }

  // Both only begin it: results are there for what is dispatched or read next.
  void find_coarse();
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
  SearchMemory& spare_;
  SearchMemory memory_;
  std::vector<std::uint32_t> level_begin_;
  Index3 coarse_nodes_{};
  double error_ = 0;
};

}  // namespace isotact::detail
