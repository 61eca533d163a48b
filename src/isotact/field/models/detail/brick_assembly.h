// From sampled bricks to the flat buffer. A builder says which coarse cells have bricks, and gets
// the buffer with its blocks and corners filled in. It writes the corrections of each brick's own
// 8^3 nodes. Then finish() does the work that binds bricks together: shared faces, zeros towards
// cells without brick, ranges and the tree.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/field/models/brick_field.h"

namespace isotact::detail {

struct AlignedFree {
  std::size_t alignment = 64;
  void operator()(std::byte* p) const;
};

// Memory whose start is aligned as the buffer needs it, and which is not cleared first.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size);
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte, AlignedFree> data_;
  std::size_t size_ = 0;
};

struct AssemblySettings {
  Lattice lattice{};  // of fine cells; a multiple of 8 an axis
  double band = 0;    // metres
  double range = 0;   // metres; see BrickFieldHeader
  double sample_error = 0;
  double shell_offset = 0;
  double sparse_from = 0;  // metres; see BrickFieldHeader
  bool open = false;       // the surface may leave the box
  bool plain = false;      // see BrickFieldHeader
  Threads threads{};
};

class BrickAssembly {
 public:
  // One bit a coarse cell, in the order of BrickBlocks. Coarse values are metres at the nodes.
  BrickAssembly(const AssemblySettings& settings, std::span<const std::uint64_t> occupied,
                std::span<const float> coarse);

  std::size_t brick_count() const { return bricks_.size(); }
  Index3 cell_of(std::size_t brick) const { return cells_[brick]; }
  std::size_t brick_of(const Index3& cell) const;

  // Stores a brick's own nodes: node (x, y, z), each 0 to 7, has distance[64 z + 8 y + x], metres.
  // Only cubes of 4^3 nodes whose bit is set in `exact` (see Brick) count. Bricks may be set from
  // different threads. The correction is rounded to nearest.
  void set(std::size_t number, std::span<const float> distance, unsigned exact = 0xff);
  // Corrections beyond a byte are cut: that only happens where the distances change faster than
  // space, and then a warning is due.
  std::size_t cut_count() const { return cut_.load(); }

  BrickField finish();

  // For local edits, instead of set() and finish(). Takes over a brick of a finished field on the
  // same lattice. Its corners and own nodes are the same, and its neighbours were there before. The
  // finish() below binds only the given bricks (all that were set, and those beside bricks that
  // were set or are gone). It updates the tree only above the given cells (of these bricks, and all
  // whose corners or bricks changed).
  void adopt(std::size_t number, const Brick& finished, const ValueRange& range);
  struct Changes {
    const BrickField& before;
    std::span<const Index3> bound;  // cells of the bricks to bind
    std::span<const Index3> cells;
  };
  BrickField finish(const Changes& changes);

 private:
  void number_bricks(std::span<const std::uint64_t> occupied);
  void bind(std::size_t number);
  std::uint32_t find_neighbours(const Index3& cell, std::uint32_t* around) const;
  void bind_and_measure(std::size_t number);
  ValueRange compute_cell_range(const Index3& cell) const;
  // The range of a node of the tree, from the level below, which is not needed above the cells.
  ValueRange compute_tree_range(int level, const Index3& node,
                                std::span<const ValueRange> below) const;
  void build_tree();
  void update_tree(const Changes& changes);
  void compute_lipschitz();
  BrickField release();

  AssemblySettings settings_;
  AlignedBuffer buffer_;
  BrickFieldHeader* header_ = nullptr;
  std::span<float> coarse_{};
  std::span<BrickBlock> blocks_{};
  std::span<ValueRange> ranges_{};
  std::span<ValueRange> tree_{};
  std::span<Brick> bricks_{};
  Index3 block_counts_{};
  std::vector<Index3> cells_;
  std::atomic<std::size_t> cut_{0};
};

}  // namespace isotact::detail
