#include <algorithm>

#include "isotact/field/models/min_max_octree.h"
#include "isotact/queries/segments/detail/brick_cells.h"
#include "isotact/queries/segments/detail/segment_slab.h"

namespace isotact::detail {
namespace {

// Returns a bound of the rounding of a root's position, cells: sums of a few products as large as
// the lattice is wide.
float compute_slab_slack(const Index3& cells) {
  return 1e-3F + static_cast<float>(std::max({cells[0], cells[1], cells[2]})) * 0x1p-19F;
}
constexpr int kLargestCube = 126;

class IndexBuild {
 public:
  IndexBuild(const BrickField& field, float margin, Threads threads)
      : field_(field), iso_(margin), threads_(threads), coarse_(field.coarse_lattice().cells) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      index_.macros[axis] = (coarse_[axis] + kMacroSide - 1) / kMacroSide;
    sides_.resize(count(coarse_));
    slab_slack_ = compute_slab_slack(field.lattice().cells);
  }

  SegmentIndex run() {
    find_cells();
    number_macros();
    find_cubes();
    return std::move(index_);
  }

 private:
  static constexpr std::int8_t kMixed = 0;

  // Result of one layer of macro cells.
  struct Layer {
    std::vector<IndexedCell> cells;
    std::vector<SampleBlock> blocks;
    std::vector<IndexedMacro> macros;
    std::vector<MacroMasks> masks;
    std::vector<std::uint32_t> numbers;
  };

  // Layer by layer, so that cells are in the order of macro cells.
  void find_cells() {
    std::vector<Layer> layers(static_cast<std::size_t>(index_.macros[2]));
    parallel_for(layers.size(), 1, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<SlabCells> room(kMacroSide * kMacroSide * kMacroSide);
      for (std::size_t z = begin; z < end; ++z)
        for (std::int32_t y = 0; y < index_.macros[1]; ++y)
          for (std::int32_t x = 0; x < index_.macros[0]; ++x)
            look_at_macro({x, y, static_cast<std::int32_t>(z)}, room, layers[z]);
    });
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    std::size_t blocks = 0;
    for (const Layer& layer : layers) blocks += layer.blocks.size();
    index_.blocks.reserve(blocks);
    for (Layer& layer : layers) {
      const auto first = static_cast<std::uint32_t>(index_.cells.size()),
                 first_block = static_cast<std::uint32_t>(index_.blocks.size());
      for (IndexedMacro& m : layer.macros) m.first += first;
      for (IndexedCell& cell : layer.cells)
        if (cell.first_block != IndexedCell::kNoBlocks) cell.first_block += first_block;
      append(index_.blocks, layer.blocks);
      std::vector<SampleBlock>().swap(layer.blocks);
      append(index_.cells, layer.cells);
      append(index_.occupied_macros, layer.macros);
      append(index_.masks, layer.masks);
      append(occupied_numbers_, layer.numbers);
    }
  }

  void look_at_macro(const Index3& macro, std::vector<SlabCells>& room, Layer& layer) {
    IndexedMacro entry{};
    entry.first = static_cast<std::uint32_t>(layer.cells.size());
    MacroMasks masks{};
    const SlabCells* parts[kMacroSide * kMacroSide * kMacroSide];
    std::size_t count = 0;
    Index3 lower{}, upper{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      entry.at[axis] = static_cast<std::int16_t>(macro[axis]);
      lower[axis] = kMacroSide * macro[axis];
      upper[axis] = std::min(lower[axis] + kMacroSide, coarse_[axis]);
    }
    for (std::int32_t z = lower[2]; z < upper[2]; ++z)
      for (std::int32_t y = lower[1]; y < upper[1]; ++y)
        for (std::int32_t x = lower[0]; x < upper[0]; ++x) {
          const auto i = static_cast<unsigned>(
              ((z - lower[2]) * kMacroSide + (y - lower[1])) * kMacroSide + (x - lower[0]));
          if (look_at({x, y, z}, room[count], layer)) {
            masks.indexed |= std::uint64_t{1} << i;
            parts[count] = &room[count];
            ++count;
          } else if (side_of({x, y, z}) < 0) {
            masks.inside |= std::uint64_t{1} << i;
          }
        }
    if (count == 0) return;
    entry.slab = fit_slab(parts, count, slab_slack_);
    entry.inside = static_cast<std::uint8_t>(find_sides(entry.slab, lower, upper));
    layer.macros.push_back(entry);
    layer.masks.push_back(masks);
    layer.numbers.push_back(
        static_cast<std::uint32_t>(flat_index(index_.macros, macro[0], macro[1], macro[2])));
  }

  std::int8_t& side_of(const Index3& c) { return sides_[flat_index(coarse_, c[0], c[1], c[2])]; }

  // Returns whether the isosurface may be in a coarse cell; otherwise stores the cell's side.
  bool look_at(const Index3& c, SlabCells& part, Layer& layer) {
    std::int8_t& side = side_of(c);
    const BlockSide known = classify(field_.cell_range(c), static_cast<double>(iso_));
    side = known == BlockSide::kOutside ? 1 : known == BlockSide::kInside ? -1 : kMixed;
    if (side != kMixed) return false;
    const std::uint32_t brick = field_.brick_at(c);
    if (!load_slab_cells(field_, c, brick, iso_, part)) {
      side = part.node[0][0][0] > 0 ? 1 : -1;
      return false;
    }
    IndexedCell cell{};
    const SlabCells* parts[1] = {&part};
    cell.slab = fit_slab(parts, 1, slab_slack_);
    cell.inside =
        static_cast<std::uint8_t>(find_sides(cell.slab, c, {c[0] + 1, c[1] + 1, c[2] + 1}));
    if (brick == BrickField::kNoBrick) {
      cell.first_block = IndexedCell::kNoBlocks;
      BrickCells(field_).load_coarse(c, cell.corner);
    } else {
      cell.first_block = static_cast<std::uint32_t>(layer.blocks.size());
      std::copy_n(field_.bricks()[brick].corner, 8, cell.corner);
      for (unsigned i = 0; i < 8; ++i) add_block(part, field_.bricks()[brick], i, cell, layer);
    }
    layer.cells.push_back(cell);
    return true;
  }

  // Adds one of a brick's 2^3 blocks, if the isosurface may be in it.
  static void add_block(const SlabCells& part, const Brick& brick, unsigned i, IndexedCell& cell,
                        Layer& layer) {
    const int x = kIndexBlockCells * static_cast<int>(i & 1U),
              y = kIndexBlockCells * static_cast<int>(i >> 1U & 1U),
              z = kIndexBlockCells * static_cast<int>(i >> 2U);
    unsigned mixed = 0;
    for (int k = z; k < z + kIndexBlockCells; ++k)
      for (int j = y; j < y + kIndexBlockCells; ++j) mixed |= unsigned{part.mixed[k][j]} >> x & 15U;
    const auto bit = static_cast<std::uint8_t>(1U << i);
    if (mixed == 0) {
      if (part.node[z][y][x] <= 0) cell.inside_blocks |= bit;
      return;
    }
    cell.blocks |= bit;
    SampleBlock& block = layer.blocks.emplace_back();
    std::int8_t* to = block.correction;
    for (int k = z; k < z + kBlockNodes; ++k)
      for (int j = y; j < y + kBlockNodes; ++j)
        to = std::copy_n(brick.correction + first_sample(x, j, k), kBlockNodes, to);
  }

  // For a box of coarse cells: tests whether its outermost corners below and above the slab are
  // inside.
  unsigned find_sides(const SegmentSlab& slab, const Index3& lower, const Index3& upper) const {
    unsigned sides = 0;
    for (unsigned above = 0; above < 2; ++above) {
      Index3 c{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        c[axis] =
            ((slab.normal[axis] > 0) == (above == 1) ? upper[axis] : lower[axis]) * kBrickCells;
      if (field_.node_value(c[0], c[1], c[2]) <= iso_) sides |= 1U << above;
    }
    return sides;
  }

  void number_macros() {
    const std::size_t words = count(index_.macros) / 64 + 1;
    index_.occupied.assign(words, 0);
    index_.rank.assign(words, 0);
    for (const std::uint32_t n : occupied_numbers_)
      index_.occupied[n / 64] |= std::uint64_t{1} << n % 64;
    std::uint32_t before = 0;
    for (std::size_t w = 0; w < words; ++w) {
      index_.rank[w] = before;
      before += static_cast<std::uint32_t>(__builtin_popcountll(index_.occupied[w]));
    }
  }

  bool is_occupied(std::size_t macro) const {
    return (index_.occupied[macro / 64] >> macro % 64 & 1U) != 0;
  }

  // The cube at a macro cell is one larger than the least of those at its seven neighbours into the
  // octant. The box's end limits none.
  void find_cubes() {
    const Index3 m = index_.macros;
    index_.free_cubes.assign(8 * count(m) + 4, 0);  // Four bytes are read at once.
    parallel_for(8, 1, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t octant = begin; octant < end; ++octant)
        find_cubes_of(octant, index_.free_cubes.data() + octant * count(m));
    });
  }

  void find_cubes_of(std::size_t octant, std::int8_t* cubes) const {
    const Index3 m = index_.macros;
    Index3 step{};
    for (std::size_t axis = 0; axis < 3; ++axis) step[axis] = (octant >> axis & 1U) != 0 ? -1 : 1;
    // From the octant's far end.
    const auto place = [&](std::size_t axis, std::int32_t i) {
      return step[axis] < 0 ? i : m[axis] - 1 - i;
    };
    for (std::int32_t k = 0; k < m[2]; ++k)
      for (std::int32_t j = 0; j < m[1]; ++j)
        for (std::int32_t i = 0; i < m[0]; ++i) {
          const Index3 at{place(0, i), place(1, j), place(2, k)};
          const std::size_t n = flat_index(m, at[0], at[1], at[2]);
          if (is_occupied(n)) continue;
          int least = kLargestCube;
          for (int beside = 1; beside < 8; ++beside) {
            const Index3 c{at[0] + ((beside & 1) != 0 ? step[0] : 0),
                           at[1] + ((beside & 2) != 0 ? step[1] : 0),
                           at[2] + ((beside & 4) != 0 ? step[2] : 0)};
            if (c[0] < 0 || c[1] < 0 || c[2] < 0 || c[0] >= m[0] || c[1] >= m[1] || c[2] >= m[2])
              continue;
            least = std::min(least, std::abs(int{cubes[flat_index(m, c[0], c[1], c[2])]}));
          }
          const int side = int{sides_[flat_index(coarse_, kMacroSide * at[0], kMacroSide * at[1],
                                                 kMacroSide * at[2])]};
          cubes[n] = static_cast<std::int8_t>(side * (least + 1));
        }
  }

  const BrickField& field_;
  float iso_;
  float slab_slack_ = 0;
  Threads threads_;
  Index3 coarse_;
  SegmentIndex index_;
  std::vector<std::int8_t> sides_;
  std::vector<std::uint32_t> occupied_numbers_;
};

}  // namespace

SegmentIndex build_segment_index(const BrickField& field, float margin, Threads threads) {
  return IndexBuild(field, margin, threads).run();
}

}  // namespace isotact::detail
