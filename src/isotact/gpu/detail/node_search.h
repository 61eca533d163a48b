// Nearest triangles of lattice nodes by compute shaders: what GpuFieldBuilder is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/build/distance_device.h"
#include "isotact/gpu/buffer.h"
#include "isotact/gpu/detail/triangle_tree.h"
#include "isotact/gpu/program.h"

namespace isotact::detail {

enum class SearchResult : std::uint8_t {
  kDistance,   // float, cells
  kDirection,  // three floats of a unit vector (BrickDistances) and the distance
  kTriangle,   // number of a frame in the tree
};
inline constexpr std::size_t kSearchResults = 3;
constexpr std::size_t bytes_of(SearchResult r) { return r == SearchResult::kDirection ? 16 : 4; }

// Compiled once.
struct SearchPrograms {
  SearchPrograms();
  GpuProgram coarse;
  std::array<GpuProgram, kSearchResults> nodes;
};

struct BrickOnGpu {  // as in brick_nodes.comp
  std::int32_t cell[3];
  std::int32_t whole;
};

// The buffers that a batch of bricks needs, for reuse.
struct BrickBatch {
  GpuBuffer bricks, exact, results;
};

class NodeSearch {
 public:
  // The lattice's cells are multiples of 8. The programs must outlive this.
  NodeSearch(const SearchPrograms& programs, const TriangleTree& tree, const Lattice& lattice);

  const Index3& coarse_nodes() const { return coarse_nodes_; }
  const GpuBuffer& coarse_distances() const { return coarse_distances_; }
  // Cells. As for the processor (DistancePass::error), twice that: a GPU's square root may be off
  // by three units in the last place, and sums may be made in any order.
  double error() const { return error_; }

  // Both only begin it: results are there for what is dispatched or read next.
  void find_coarse();
  struct Wanted {
    double from, to;
  };
  void find_bricks(std::span<const BrickOnGpu> bricks, const Wanted& wanted, SearchResult result,
                   BrickBatch& batch) const;
  // Binds the tree for a program that includes nearest.glsl.
  void prepare(const GpuProgram& program) const;

 private:
  const SearchPrograms& programs_;
  std::vector<std::uint32_t> level_begin_;
  GpuBuffer frames_, boxes_, coarse_distances_;
  Index3 coarse_nodes_{};
  double error_ = 0;
};

}  // namespace isotact::detail
