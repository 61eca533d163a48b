#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/field/models/min_max_octree.h"
#include "isotact/queries/segments/detail/brick_cells.h"
#include "isotact/queries/segments/detail/index_layout.h"
#include "isotact/queries/segments/detail/segment_slab.h"

namespace isotact {
namespace detail {
namespace {

// Returns a bound of the rounding of a root's position, cells: sums of a few products as large as
// the lattice is wide.
float compute_slab_slack(const Index3& cells) {
  return 1e-3F + static_cast<float>(std::max({cells[0], cells[1], cells[2]})) * 0x1p-19F;
}
constexpr int kLargestCube = 126;

// An index of an earlier version of the field, and the coarse cells that changed since.
struct EarlierIndex {
  const SegmentIndex& index;
  std::span<const Index3> changed_cells;
};

bool have_same_cell(const BrickField& a, const BrickField& b, const Index3& c) {
  const std::uint32_t in_a = a.brick_at(c), in_b = b.brick_at(c);
  if ((in_a == BrickField::kNoBrick) != (in_b == BrickField::kNoBrick)) return false;
  if (in_a != BrickField::kNoBrick &&
      // Bits are compared. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      std::memcmp(&a.bricks()[in_a], &b.bricks()[in_b], sizeof(Brick)) != 0)
    return false;
  float of_a[8], of_b[8];
  BrickCells(a).load_coarse(c, of_a);
  BrickCells(b).load_coarse(c, of_b);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are compared
  return std::memcmp(of_a, of_b, sizeof(of_a)) == 0;
}

std::vector<Index3> find_changed_cells(const BrickField& a, const BrickField& b, Threads threads) {
  const Index3 n = a.coarse_lattice().cells;
  std::vector<std::vector<Index3>> layers(static_cast<std::size_t>(n[2]));
  parallel_for(layers.size(), 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t z = begin; z < end; ++z)
      for (std::int32_t y = 0; y < n[1]; ++y)
        for (std::int32_t x = 0; x < n[0]; ++x) {
          const Index3 cell{x, y, static_cast<std::int32_t>(z)};
          if (!have_same_cell(a, b, cell)) layers[z].push_back(cell);
        }
  });
  std::vector<Index3> changed;
  for (const auto& layer : layers) changed.insert(changed.end(), layer.begin(), layer.end());
  return changed;
}

class IndexBuild {
 public:
  // One of the two is given.
  IndexBuild(const BrickField* field, const DenseGrid* grid, double center, double reach,
             Threads threads)
      : field_(field),
        grid_(grid),
        lattice_(field != nullptr ? field->lattice() : grid->lattice()),
        center_(center),
        reach_(reach),
        // A margin is rounded to float before it is compared with values.
        iso_(static_cast<float>(center)),
        wide_(reach > 0 ? reach + 1e-6 * (std::abs(center) + reach) : 0),
        band_{iso_, static_cast<float>(wide_ / lattice_.spacing)},
        threads_(threads) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      coarse_[axis] = (lattice_.cells[axis] + kBrickCells - 1) / kBrickCells;
      macros_[axis] = (coarse_[axis] + kMacroSide - 1) / kMacroSide;
    }
    sides_.assign(count(macros_), kMixed);
    slab_slack_ = compute_slab_slack(lattice_.cells);
  }

  SegmentIndex run(const EarlierIndex* earlier) {
    earlier_ = earlier;
    if (earlier != nullptr) mark_changed(earlier->changed_cells);
    find_cells();
    const SegmentIndexHeader header = plan();
    const FlatRoom room = make_zeroed_room(header.total_bytes);
    std::memcpy(room.bytes.data(), &header, sizeof(header));
    fill(header, room.bytes.data());
    return view_segment_index({room.bytes, room.owner});
  }

 private:
  static constexpr std::int8_t kMixed = 0;

  // Result of one layer of macro cells.
  struct Layer {
    std::vector<IndexedCell> cells;
    std::vector<SampleBlock> blocks;
    std::vector<IndexedMacro> macros;
    std::vector<MacroMasks> masks;
  };

  // Layer by layer, so that cells are in the order of macro cells.
  void find_cells() {
    layers_.resize(static_cast<std::size_t>(macros_[2]));
    parallel_for(layers_.size(), 1, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<SlabCells> room(kMacroSide * kMacroSide * kMacroSide);
      for (std::size_t z = begin; z < end; ++z)
        for (std::int32_t y = 0; y < macros_[1]; ++y)
          for (std::int32_t x = 0; x < macros_[0]; ++x) {
            const Index3 macro{x, y, static_cast<std::int32_t>(z)};
            if (!take_from_earlier(macro, layers_[z])) look_at_macro(macro, room, layers_[z]);
          }
    });
  }

  SegmentIndexHeader plan() const {
    std::size_t occupied = 0, cells = 0, blocks = 0;
    for (const Layer& layer : layers_) {
      occupied += layer.macros.size();
      cells += layer.cells.size();
      blocks += layer.blocks.size();
    }
    constexpr std::size_t kMost = 0xfffffffeU;
    if (std::max({occupied, cells, blocks}) > kMost || count(macros_) > kMost)
      throw Error("an index of segments: the field has more cells than 32 bits number");
    SegmentIndexHeader header{};
    header.center = center_;
    header.reach = reach_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      header.cells[axis] = lattice_.cells[axis];
      header.macros[axis] = macros_[axis];
    }
    header.occupied_count = static_cast<std::uint32_t>(occupied);
    header.cell_count = static_cast<std::uint32_t>(cells);
    header.block_count = static_cast<std::uint32_t>(blocks);
    if (field_ != nullptr) {
      header.field_header = hash_bytes(field_->buffer().first(sizeof(BrickFieldHeader)));
      header.field_hash = hash_bytes(field_->buffer());
    }
    return plan_index(header);
  }

  template <typename T>
  static T* part(std::byte* start, std::uint64_t offset) {
    return reinterpret_cast<T*>(start + offset);
  }

  void fill(const SegmentIndexHeader& header, std::byte* start) {
    auto* macros = part<IndexedMacro>(start, header.occupied_macros);
    auto* masks = part<MacroMasks>(start, header.masks);
    auto* cells = part<IndexedCell>(start, header.cell_offset);
    auto* blocks = part<SampleBlock>(start, header.blocks);
    auto* occupied = part<std::uint64_t>(start, header.occupied);
    std::uint32_t first = 0, first_block = 0;
    for (Layer& layer : layers_) {
      for (IndexedMacro& m : layer.macros) {
        m.first += first;
        const std::size_t n = flat_index(macros_, m.at[0], m.at[1], m.at[2]);
        occupied[n / 64] |= std::uint64_t{1} << n % 64;
      }
      for (IndexedCell& cell : layer.cells)
        if (cell.first_block != IndexedCell::kNoBlocks) cell.first_block += first_block;
      first += static_cast<std::uint32_t>(layer.cells.size());
      first_block += static_cast<std::uint32_t>(layer.blocks.size());
      macros = std::copy(layer.macros.begin(), layer.macros.end(), macros);
      masks = std::copy(layer.masks.begin(), layer.masks.end(), masks);
      cells = std::copy(layer.cells.begin(), layer.cells.end(), cells);
      blocks = std::copy(layer.blocks.begin(), layer.blocks.end(), blocks);
      layer = {};
    }
    auto* rank = part<std::uint32_t>(start, header.rank);
    std::uint32_t before = 0;
    for (std::size_t w = 0; w < count(macros_) / 64 + 1; ++w) {
      rank[w] = before;
      before += static_cast<std::uint32_t>(__builtin_popcountll(occupied[w]));
    }
    occupied_ = occupied;
    auto* const cubes = part<std::int8_t>(start, header.free_cubes);
    if (has_earlier_sides())
      std::copy_n(earlier_->index.free_cubes.begin(), 8 * count(macros_), cubes);
    else
      find_cubes(cubes);
  }

  // Marks the macro cells around changed cells. One cell more: a node on a cell's side may have its
  // value from a brick beside it.
  void mark_changed(std::span<const Index3> cells) {
    changed_.assign(count(macros_), 0);
    for (const Index3& c : cells) {
      Index3 lower{}, upper{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        lower[axis] = std::max(c[axis] - 1, 0) / kMacroSide;
        upper[axis] = std::min(c[axis] + 1, coarse_[axis] - 1) / kMacroSide;
      }
      for (std::int32_t z = lower[2]; z <= upper[2]; ++z)
        for (std::int32_t y = lower[1]; y <= upper[1]; ++y)
          for (std::int32_t x = lower[0]; x <= upper[0]; ++x)
            changed_[flat_index(macros_, x, y, z)] = 1;
    }
  }

  // Copies a macro cell around which nothing changed.
  bool take_from_earlier(const Index3& macro, Layer& layer) {
    if (earlier_ == nullptr || changed_[flat_index(macros_, macro[0], macro[1], macro[2])] != 0)
      return false;
    const SegmentIndex& from = earlier_->index;
    const std::size_t n = flat_index(macros_, macro[0], macro[1], macro[2]);
    if (from.free_cubes[n] != 0) {
      sides_[n] = from.free_cubes[n] < 0 ? -1 : 1;
      return true;
    }
    const std::uint32_t place = from.place_of(n);
    const IndexedMacro& old = from.occupied_macros[place];
    const MacroMasks& masks = from.masks[place];
    layer.macros.push_back(old);
    layer.macros.back().first = static_cast<std::uint32_t>(layer.cells.size());
    layer.masks.push_back(masks);
    const auto cells = static_cast<std::uint32_t>(__builtin_popcountll(masks.indexed));
    for (std::uint32_t i = old.first; i < old.first + cells; ++i) {
      IndexedCell cell = from.cells[i];
      if (cell.first_block != IndexedCell::kNoBlocks) {
        const auto blocks = static_cast<unsigned>(__builtin_popcount(cell.blocks));
        const auto samples = from.blocks.subspan(cell.first_block, blocks);
        cell.first_block = static_cast<std::uint32_t>(layer.blocks.size());
        layer.blocks.insert(layer.blocks.end(), samples.begin(), samples.end());
      }
      layer.cells.push_back(cell);
    }
    return true;
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
    std::int8_t& side = sides_[flat_index(macros_, macro[0], macro[1], macro[2])];
    // The tree's second level has the macro cells.
    if (field_ != nullptr && field_->header().level_count >= 2) {
      side = side_of(
          field_->tree_level(2)[flat_index(field_->tree_dims(2), macro[0], macro[1], macro[2])]);
      if (side != kMixed) return;
    }
    std::int8_t last = kMixed;
    for (std::int32_t z = lower[2]; z < upper[2]; ++z)
      for (std::int32_t y = lower[1]; y < upper[1]; ++y)
        for (std::int32_t x = lower[0]; x < upper[0]; ++x) {
          const auto i = static_cast<unsigned>(
              ((z - lower[2]) * kMacroSide + (y - lower[1])) * kMacroSide + (x - lower[0]));
          const std::int8_t found = look_at({x, y, z}, room[count], layer);
          if (found == kMixed) {
            masks.indexed |= std::uint64_t{1} << i;
            parts[count] = &room[count];
            ++count;
            continue;
          }
          last = found;
          if (found < 0) masks.inside |= std::uint64_t{1} << i;
        }
    if (count == 0) {
      side = last;  // All of them: no isosurface lies between them.
      return;
    }
    entry.slab = fit_slab(parts, count, slab_slack_);
    entry.inside = static_cast<std::uint8_t>(compute_sides(entry.slab, lower, upper));
    layer.macros.push_back(entry);
    layer.masks.push_back(masks);
  }

  // The side of a part for all isosurfaces of the index.
  std::int8_t side_of(const ValueRange& range) const {
    const double iso = static_cast<double>(iso_);
    const BlockSide high = classify(range, iso + wide_), low = classify(range, iso - wide_);
    return high == BlockSide::kOutside ? 1 : low == BlockSide::kInside ? -1 : kMixed;
  }

  // Returns the side of a coarse cell, or kMixed if an isosurface may be in it: then it is added.
  std::int8_t look_at(const Index3& c, SlabCells& part, Layer& layer) {
    IndexedCell cell{};
    std::uint32_t brick = BrickField::kNoBrick;
    if (field_ != nullptr) {
      const std::int8_t side = side_of(field_->cell_range(c));
      if (side != kMixed) return side;
      brick = field_->brick_at(c);
    }
    if (!(field_ != nullptr ? load_slab_cells(*field_, c, brick, band_, part)
                            : load_slab_cells(*grid_, c, band_, part)))
      return part.node[0][0][0] > 0 ? 1 : -1;
    const SlabCells* parts[1] = {&part};
    cell.slab = fit_slab(parts, 1, slab_slack_);
    cell.inside =
        static_cast<std::uint8_t>(compute_sides(cell.slab, c, {c[0] + 1, c[1] + 1, c[2] + 1}));
    if (field_ != nullptr && brick == BrickField::kNoBrick) {
      cell.first_block = IndexedCell::kNoBlocks;
      BrickCells(*field_).load_coarse(c, cell.corner);
    } else {
      cell.first_block = static_cast<std::uint32_t>(layer.blocks.size());
      const Brick* const samples = field_ != nullptr ? &field_->bricks()[brick] : nullptr;
      if (samples != nullptr) std::copy_n(samples->corner, 8, cell.corner);
      for (unsigned i = 0; i < 8; ++i) add_block(part, samples, i, cell, layer);
    }
    layer.cells.push_back(cell);
    return kMixed;
  }

  // Adds one of a brick's 2^3 blocks, if an isosurface may be in it.
  static void add_block(const SlabCells& part, const Brick* brick, unsigned i, IndexedCell& cell,
                        Layer& layer) {
    const int x = kIndexBlockCells * static_cast<int>(i & 1U),
              y = kIndexBlockCells * static_cast<int>(i >> 1U & 1U),
              z = kIndexBlockCells * static_cast<int>(i >> 2U & 1U);
    unsigned mixed = 0;
    for (int k = z; k < z + kIndexBlockCells; ++k)
      for (int j = y; j < y + kIndexBlockCells; ++j) mixed |= unsigned{part.mixed[k][j]} >> x & 15U;
    const auto bit = static_cast<std::uint8_t>(1U << i);
    if (mixed == 0) {
      if (part.node[z][y][x] <= 0) cell.inside_blocks |= bit;
      return;
    }
    cell.blocks |= bit;
    if (brick == nullptr) return;
    SampleBlock& block = layer.blocks.emplace_back();
    std::int8_t* to = block.correction;
    for (int k = z; k < z + kBlockNodes; ++k)
      for (int j = y; j < y + kBlockNodes; ++j)
        to = std::copy_n(brick->correction + first_sample(x, j, k), kBlockNodes, to);
  }

  // For a box of coarse cells: tests whether its outermost corners below and above the slab are
  // inside (segment_slab.h).
  unsigned compute_sides(const SegmentSlab& slab, const Index3& lower, const Index3& upper) const {
    unsigned sides = 0;
    for (unsigned above = 0; above < 2; ++above) {
      Index3 c{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        c[axis] = std::min(
            ((slab.normal[axis] > 0) == (above == 1) ? upper[axis] : lower[axis]) * kBrickCells,
            lattice_.cells[axis]);
      const auto value =
          static_cast<double>(field_ != nullptr ? field_->node_value(c[0], c[1], c[2])
                                                : grid_->node_value(c[0], c[1], c[2]));
      const double iso = static_cast<double>(iso_);
      if (above == 0 || wide_ == 0 ? value <= iso + wide_ : value < iso - wide_)
        sides |= 1U << above;
    }
    return sides;
  }

  // The cubes follow from these.
  bool has_earlier_sides() const {
    if (earlier_ == nullptr) return false;
    for (std::size_t n = 0; n < count(macros_); ++n) {
      const std::int8_t cube = earlier_->index.free_cubes[n];
      if ((cube == 0) != is_occupied(n) || (cube != 0 && (cube < 0) != (sides_[n] < 0)))
        return false;
    }
    return true;
  }

  bool is_occupied(std::size_t macro) const {
    return (occupied_[macro / 64] >> macro % 64 & 1U) != 0;
  }

  // The cube at a macro cell is one larger than the least of those at its seven neighbours into the
  // octant. The box's end limits none.
  void find_cubes(std::int8_t* cubes) const {
    parallel_for(8, 1, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t octant = begin; octant < end; ++octant)
        find_cubes_of(octant, cubes + octant * count(macros_));
    });
  }

  void find_cubes_of(std::size_t octant, std::int8_t* cubes) const {
    const Index3 m = macros_;
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
          cubes[n] = static_cast<std::int8_t>(int{sides_[n]} * (least + 1));
        }
  }

  const BrickField* field_;
  const DenseGrid* grid_;
  Lattice lattice_;
  double center_, reach_;  // Metres.
  float iso_;
  double wide_;  // Metres: the reach, with an allowance for rounding.
  IsoBand band_;
  float slab_slack_ = 0;
  Threads threads_;
  Index3 coarse_{}, macros_{};
  const EarlierIndex* earlier_ = nullptr;
  std::vector<std::uint8_t> changed_;  // Macro cells to compute, if there is an earlier index.
  std::vector<Layer> layers_;
  std::vector<std::int8_t> sides_;  // Of macro cells without isosurface.
  const std::uint64_t* occupied_ = nullptr;
};

}  // namespace

SegmentIndex build_segment_index(const DenseGrid& grid, double margin, Threads threads) {
  return IndexBuild(nullptr, &grid, margin, 0, threads).run(nullptr);
}

}  // namespace detail

SegmentIndex build_segment_index(const BrickField& field, const SegmentIndexSettings& settings) {
  const double reach = settings.reach.value_or(kIndexReach * field.voxel_size());
  if (!std::isfinite(settings.center) || !std::isfinite(reach) || reach < 0)
    throw Error(fmt::format(
        "an index of segments with the centre {} and the reach {}: both must be finite, and the "
        "reach not negative",
        settings.center, reach));
  return detail::IndexBuild(&field, nullptr, settings.center, reach, settings.threads).run(nullptr);
}

SegmentIndex update_segment_index(const BrickField& field, const BrickField& earlier_field,
                                  const SegmentIndex& earlier, Threads threads) {
  if (!belongs_to(earlier, earlier_field))
    throw Error(
        "the index to update is not that of the earlier field: build it with build_segment_index");
  // The same cells, and the same meaning of their samples.
  const bool comparable = field.lattice() == earlier_field.lattice() &&
                          field.header().step == earlier_field.header().step;
  const std::vector<Index3> changed =
      comparable ? detail::find_changed_cells(field, earlier_field, threads)
                 : std::vector<Index3>{};
  const detail::EarlierIndex old{earlier, changed};
  return detail::IndexBuild(&field, nullptr, earlier.center, earlier.reach, threads)
      .run(comparable ? &old : nullptr);
}

SegmentIndex update_segment_index(const BrickField& field, const EditReport& edit,
                                  const SegmentIndex& earlier, Threads threads) {
  const auto has_cells = [&] {
    const Index3& cells = field.lattice().cells;
    const std::int32_t* const of = earlier.header().cells;
    return of[0] == cells[0] && of[1] == cells[1] && of[2] == cells[2];
  };
  if (earlier.buffer.bytes.empty() || earlier.header().field_header != edit.header_before ||
      !has_cells())
    throw Error(
        "the index to update is not that of the field before the edit: build it with "
        "build_segment_index");
  const detail::EarlierIndex old{earlier, edit.changed_cells};
  return detail::IndexBuild(&field, nullptr, earlier.center, earlier.reach, threads)
      .run(edit.full_rebuild ? nullptr : &old);
}

}  // namespace isotact
