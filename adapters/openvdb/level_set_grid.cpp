#include "level_set_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace isotact::detail {
namespace {

// A narrow band at 4096 fills about one block in a hundred. If the few leaves of a file lie so far
// apart that the table of blocks would be far larger, it is not a level set of a body.
constexpr double kMostBlocks = 1 << 20;
constexpr double kMostBlocksPerLeaf = 4096;
constexpr std::size_t kMostTileLeaves = 65536;

constexpr std::int32_t floor8(std::int32_t i) { return i & ~7; }

SparseLevelSet make_empty(const VdbTree& tree, Index3& first) {
  SparseLevelSet result;
  double blocks = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = floor8(tree.lower[axis]);
    const std::int64_t cells = std::int64_t{tree.upper[axis]} - first[axis];
    blocks *= static_cast<double>(cells / kLeafNodes + 1);
    if (cells < 0 || cells >= (1 << 20)) throw Error(fmt::format("{} voxels along an axis", cells));
    result.lattice.cells[axis] = std::max(static_cast<std::int32_t>(cells), 1);
    result.lattice.origin[axis] = tree.origin[axis] + tree.spacing * first[axis];
  }
  const auto leaf_count = static_cast<double>(tree.leaves.size());
  if (blocks > std::max(kMostBlocks, kMostBlocksPerLeaf * leaf_count))
    throw Error(fmt::format("{} leaves spread over {} blocks are no level set of a body",
                            leaf_count, blocks));
  result.lattice.spacing = tree.spacing;
  result.background = tree.background;
  result.blocks.assign(count(block_counts(result.lattice)), SparseLevelSet::kOutside);
  return result;
}

LevelSetLeaf constant_leaf(float value) {
  LevelSetLeaf leaf;
  leaf.active.fill(~std::uint64_t{0});
  leaf.values.fill(value);
  return leaf;
}

// Tiles outside the leaves: the sign of the inactive ones, leaves for the active ones.
void fill_tiles(const VdbTree& tree, const Index3& first, SparseLevelSet& result,
                std::vector<PlacedLeaf>& more) {
  const Index3 counts = block_counts(result.lattice);
  for (std::int32_t z = 0; z < counts[2]; ++z)
    for (std::int32_t y = 0; y < counts[1]; ++y)
      for (std::int32_t x = 0; x < counts[0]; ++x) {
        std::int32_t& block = result.blocks[flat_index(counts, x, y, z)];
        if (block >= 0) continue;
        const Index3 at{first[0] + 8 * x, first[1] + 8 * y, first[2] + 8 * z};
        const Tile tile = tree.tile(at);
        block = tile.value < 0 ? SparseLevelSet::kInside : SparseLevelSet::kOutside;
        if (!tile.active) continue;
        if (more.size() >= kMostTileLeaves)
          throw Error("has large constant regions that count as active: no level set");
        more.push_back({at, constant_leaf(tile.value)});
      }
}

}  // namespace

SparseLevelSet assemble_level_set(VdbTree tree) {
  if (tree.leaves.empty()) throw Error("the grid has no voxels");
  if (!(tree.background > 0 && std::isfinite(tree.background)))
    throw Error("the grid's background is not positive: no level set");
  Index3 first{};
  SparseLevelSet result = make_empty(tree, first);
  const Index3 counts = block_counts(result.lattice);
  const auto place_of = [&](const PlacedLeaf& leaf) {
    Index3 at;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      at[axis] = (leaf.first[axis] - first[axis]) / kLeafNodes;
      if (leaf.first[axis] < first[axis] || at[axis] >= counts[axis]) return result.blocks.size();
    }
    return flat_index(counts, at[0], at[1], at[2]);
  };
  // Leaves without active voxels may lie outside the relevant box.
  std::erase_if(tree.leaves,
                [&](const PlacedLeaf& l) { return place_of(l) == result.blocks.size(); });
  for (const PlacedLeaf& leaf : tree.leaves) result.blocks[place_of(leaf)] = 0;
  std::vector<PlacedLeaf> more;
  fill_tiles(tree, first, result, more);
  std::move(more.begin(), more.end(), std::back_inserter(tree.leaves));
  std::sort(tree.leaves.begin(), tree.leaves.end(),
            [&](const PlacedLeaf& a, const PlacedLeaf& b) { return place_of(a) < place_of(b); });
  result.leaves.reserve(tree.leaves.size());
  for (const PlacedLeaf& leaf : tree.leaves) {
    result.blocks[place_of(leaf)] = static_cast<std::int32_t>(result.leaves.size());
    result.leaves.push_back(leaf.leaf);
  }
  if (const auto flaw = find_flaw(result)) throw Error(*flaw);
  return result;
}

double require_cubes(const Vec3& origin, const Vec3& x, const Vec3& y, const Vec3& z) {
  const double side = (x - origin).x;
  const double slack = 1e-6 * std::abs(side);
  const bool are_cubes = side > 0 && std::isfinite(side) && is_finite(origin) &&
                         length(x - origin - Vec3{side, 0, 0}) <= slack &&
                         length(y - origin - Vec3{0, side, 0}) <= slack &&
                         length(z - origin - Vec3{0, 0, side}) <= slack;
  if (!are_cubes) throw Error("the grid's voxels are not cubes along the axes; resample it first");
  return side;
}

}  // namespace isotact::detail
