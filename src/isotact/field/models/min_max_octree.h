// The octree of XB14, section 3.2: [min, max] of the field over every node's cells, built bottom-up
// from the cells to one root. A segment's walk through a grid can skip whole blocks that the
// isosurface does not enter. It is kept as the paper has it, for comparison and as a reference.
//
// WHEN A BLOCK MAY BE SKIPPED. The paper says: if sigma <= min or sigma >= max. With inside meaning
// value <= sigma, as in the paper's section 3, the first half of that is wrong for equality. If
// sigma == min, the block's lowest points are inside: a segment that touches there would lose its
// contact. Worse, suppose the isosurface runs along a face between cells. The paper skips the block
// below (sigma >= max) and the block above (sigma <= min). A segment that goes straight through the
// surface is then never tested. A flat face of a body on a node plane is common in test scenes, not
// an exception. So here
//   sigma <  min: all of the block is outside, skip;
//   sigma >= max: all of it is inside, skip, since value == sigma is inside and nothing changes;
//   else: descend.
// A trilinear value never leaves the range of its cell's samples, so this loses nothing. And
// neighbours never disagree. The points of a common face belong to both blocks, so they cannot be
// all outside in one and all inside in the other. Every change of side therefore happens in a block
// that is not skipped (or outside of the box).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/models/dense_grid.h"

namespace ISOTACT_PUBLIC isotact {

enum class BlockSide : std::uint8_t {
  kMixed,    // May contain both, no skip.
  kOutside,  // value > sigma everywhere in it.
  kInside,   // value <= sigma everywhere in it.
};
constexpr BlockSide classify(const ValueRange& range, double sigma) {
  if (sigma < static_cast<double>(range.min)) return BlockSide::kOutside;
  if (sigma >= static_cast<double>(range.max)) return BlockSide::kInside;
  return BlockSide::kMixed;
}

struct OctreeSkip {
  BlockSide side = BlockSide::kMixed;  // Mixed: not even the cell may be skipped.
  int level = -1;                      // Level of the node: 2^level cells per axis; -1 if mixed.
  // Its cells, upper excluded, cut at the grid; empty if mixed.
  Index3 lower{}, upper{};

  friend bool operator==(const OctreeSkip&, const OctreeSkip&) = default;
};

struct OctreeSettings {
  // Whether to store the ranges of single cells, as the paper does, or to read the eight samples on
  // demand. They are seven eighths of the tree: at 1024 cells per axis 8.6 of 9.8 GB. (The paper's
  // tree takes 17.1 GB.)
  bool store_leaves = true;
  std::uint64_t max_memory = 0;  // Bytes for the tree; 0: the memory of the machine.
  Threads threads{};
};

// Returns the bytes of a tree over so many cells. It is a double, since hostile numbers must not
// overflow.
double octree_bytes(const Index3& cells, bool store_leaves);

// Immutable; keeps the grid's samples alive. Any number of threads may query it.
//
// The root spans 2^k cells per axis, the least power that covers the longest side. Nodes that lie
// outside of the grid as a whole are empty: they are not stored, and contain no cell to query.
class MinMaxOctree {
 public:
  // Throws Error if the tree would not fit into max_memory, before allocating.
  explicit MinMaxOctree(DenseGrid grid, const OctreeSettings& settings = {});

  // The octree of a grid of which only nodes from `lower` to below `upper` may differ from those of
  // the earlier tree's grid. The nodes of the tree above them are computed anew, in the memory of
  // the earlier tree, if that is moved here. Throws Error for another lattice, and for nodes that
  // the grid does not have.
  MinMaxOctree(MinMaxOctree earlier, DenseGrid grid, const Index3& lower, const Index3& upper);

  // Returns the largest node around the cell that may be skipped, from the root downwards as in the
  // paper. The cell must lie in the grid. Cost: up to k + 1 steps, each a read from memory.
  OctreeSkip compute_largest_skip(const Index3& cell, double sigma) const {
    return compute_largest_skip(cell, sigma, level_count() - 1);
  }
  // The same for a search that knows that no node around the cell above a level may be skipped.
  // Level -1: nor the cell itself.
  OctreeSkip compute_largest_skip(const Index3& cell, double sigma, int top_level) const;

  const DenseGrid& grid() const { return grid_; }
  int level_count() const { return static_cast<int>(dims_.size()); }  // k + 1; level 0: the cells.
  bool stores_leaves() const { return stores_leaves_; }
  const Index3& level_dims(int level) const { return dims_[static_cast<std::size_t>(level)]; }
  // x fastest. Level 0 is empty if leaves are not stored.
  std::span<const ValueRange> level_ranges(int level) const {
    return levels_[static_cast<std::size_t>(level)];
  }
  ValueRange node_range(int level, const Index3& node) const;
  std::uint64_t memory_bytes() const;

 private:
  DenseGrid grid_;
  bool stores_leaves_;
  std::vector<Index3> dims_;
  std::vector<std::vector<ValueRange>> levels_;
};

// Compares every node with its children and every cell with the grid's samples. A flaw reads "level
// 2, node (1, 0, 3): stores [0.1, 0.5], its children span [0.1, 0.6]". Cost: one pass over tree and
// grid.
std::optional<std::string> find_flaw(const MinMaxOctree& octree, const DenseGrid& grid);

namespace brute_force {
// The brute-force version: reads all samples of each block. Cost: those of the whole grid and more.
OctreeSkip compute_largest_skip(const DenseGrid& grid, const Index3& cell, double sigma);
}  // namespace brute_force

}  // namespace isotact
