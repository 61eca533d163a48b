#include "isotact/queries/detail/segment_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/field/min_max_octree.h"
#include "isotact/queries/detail/brick_cells.h"

namespace isotact::detail {
namespace {

// More than rounding makes of the place of a root, cells: sums of a few products as large as the
// lattice is wide.
float find_slab_slack(const Index3& cells) {
  return 1e-3F + static_cast<float>(std::max({cells[0], cells[1], cells[2]})) * 0x1p-19F;
}
constexpr std::int32_t kMostDistance = 126;

// Values at the nodes of a brick, less iso, in cells.
struct BrickValues {
  float at[kBrickNodes][kBrickNodes][kBrickNodes];  // z, y, x

  BrickValues(const Brick& brick, float step, float iso, float cells_a_metre) {
    for (int z = 0; z < kBrickNodes; ++z)
      for (int y = 0; y < kBrickNodes; ++y) {
        const float tz = static_cast<float>(z) * 0.125F, ty = static_cast<float>(y) * 0.125F;
        const float* c = brick.corner;
        const float first = blend(blend(c[0], c[2], ty), blend(c[4], c[6], ty), tz);
        const float last = blend(blend(c[1], c[3], ty), blend(c[5], c[7], ty), tz);
        const std::int8_t* from = brick.correction + first_sample(0, y, z);
        for (int x = 0; x < kBrickNodes; ++x)
          at[z][y][x] = ((blend(first, last, static_cast<float>(x) * 0.125F) +
                          step * static_cast<float>(from[x])) -
                         iso) *
                        cells_a_metre;
      }
  }
};

// Bit x of [z][y]: the fine cell has corners on both sides, or so nearly that rounding may decide.
using MixedRows = std::uint8_t[kBrickCells][kBrickCells];

bool find_mixed(const BrickValues& v, MixedRows& mixed) {
  constexpr float kNearly = 1e-4F;
  std::uint16_t low[kBrickNodes][kBrickNodes], high[kBrickNodes][kBrickNodes];
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y) {
      unsigned in = 0, out = 0;
      for (int x = 0; x < kBrickNodes; ++x) {
        // Not in one expression: gcc 12's undefined-behaviour sanitizer computes another one then.
        const float value = v.at[z][y][x];
        const unsigned bit = 1U << static_cast<unsigned>(x);
        if (value <= kNearly) in |= bit;
        if (value >= -kNearly) out |= bit;
      }
      low[z][y] = static_cast<std::uint16_t>(in | in >> 1U);
      high[z][y] = static_cast<std::uint16_t>(out | out >> 1U);
    }
  unsigned any = 0;
  for (int z = 0; z < kBrickCells; ++z)
    for (int y = 0; y < kBrickCells; ++y) {
      const unsigned in = low[z][y] | low[z][y + 1] | low[z + 1][y] | low[z + 1][y + 1];
      const unsigned out = high[z][y] | high[z][y + 1] | high[z + 1][y] | high[z + 1][y + 1];
      mixed[z][y] = static_cast<std::uint8_t>(in & out);
      any |= mixed[z][y];
    }
  return any != 0;
}

// The mean slope of the mixed cells, and what that leaves.
void fit_slab(const BrickValues& v, const MixedRows& mixed, float slack, IndexedCell& cell) {
  float sum[3] = {0, 0, 0}, count = 0;
  std::uint16_t nodes[kBrickNodes][kBrickNodes] = {};  // corners of mixed cells
  for (int z = 0; z < kBrickCells; ++z)
    for (int y = 0; y < kBrickCells; ++y) {
      const unsigned row = mixed[z][y];
      const auto both = static_cast<std::uint16_t>(row | row << 1U);
      for (int k = 0; k < 4; ++k)
        nodes[z + (k >> 1)][y + (k & 1)] =
            static_cast<std::uint16_t>(nodes[z + (k >> 1)][y + (k & 1)] | both);
      for (unsigned left = row; left != 0; left &= left - 1) {
        const int x = __builtin_ctz(left);
        const float a0 = v.at[z][y][x], a1 = v.at[z][y][x + 1], b0 = v.at[z][y + 1][x],
                    b1 = v.at[z][y + 1][x + 1], c0 = v.at[z + 1][y][x], c1 = v.at[z + 1][y][x + 1],
                    d0 = v.at[z + 1][y + 1][x], d1 = v.at[z + 1][y + 1][x + 1];
        sum[0] += (a1 - a0) + (b1 - b0) + (c1 - c0) + (d1 - d0);
        sum[1] += (b0 - a0) + (b1 - a1) + (d0 - c0) + (d1 - c1);
        sum[2] += (c0 - a0) + (c1 - a1) + (d0 - b0) + (d1 - b1);
        count += 4;
      }
    }
  for (int axis = 0; axis < 3; ++axis) cell.normal[axis] = sum[axis] / count;
  float least = HUGE_VALF, most = -HUGE_VALF;
  for (int z = 0; z < kBrickNodes; ++z)
    for (int y = 0; y < kBrickNodes; ++y)
      for (unsigned left = nodes[z][y]; left != 0; left &= left - 1) {
        const int x = __builtin_ctz(left);
        const float on =
            (cell.normal[0] * static_cast<float>(x) + cell.normal[1] * static_cast<float>(y)) +
            cell.normal[2] * static_cast<float>(z);
        const float rest = on - v.at[z][y][x];
        least = std::min(least, rest);
        most = std::max(most, rest);
      }
  float shift = 0;
  for (int axis = 0; axis < 3; ++axis)
    shift += cell.normal[axis] * static_cast<float>(int{cell.at[axis]} * kBrickCells);
  cell.least = (least + shift) - slack;
  cell.most = (most + shift) + slack;
}

class IndexBuild {
 public:
  IndexBuild(const BrickField& field, float iso, Threads threads)
      : field_(field), iso_(iso), threads_(threads), coarse_(field.coarse_lattice().cells) {
    for (std::size_t axis = 0; axis < 3; ++axis) index_.macros[axis] = (coarse_[axis] + 1) / 2;
    sides_.resize(count(coarse_));
    slab_slack_ = find_slab_slack(field.lattice().cells);
  }

  SegmentIndex run() {
    find_cells();
    number_macros();
    find_distances();
    return std::move(index_);
  }

 private:
  static constexpr std::int8_t kMixed = 0;

  // Layer by layer of macro cells, so that cells come in the order of macro cells.
  void find_cells() {
    const auto layers = static_cast<std::size_t>(index_.macros[2]);
    std::vector<std::vector<IndexedCell>> found(layers);
    std::vector<std::vector<IndexedMacro>> macros(layers);
    std::vector<std::vector<std::uint32_t>> numbers(layers);
    parallel_for(layers, 1, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t z = begin; z < end; ++z)
        for (std::int32_t y = 0; y < index_.macros[1]; ++y)
          for (std::int32_t x = 0; x < index_.macros[0]; ++x) {
            const Index3 macro{x, y, static_cast<std::int32_t>(z)};
            IndexedMacro entry{static_cast<std::uint32_t>(found[z].size()), 0};
            for (unsigned i = 0; i < 8; ++i) {
              const Index3 c{2 * x + static_cast<std::int32_t>(i & 1U),
                             2 * y + static_cast<std::int32_t>(i >> 1U & 1U),
                             2 * macro[2] + static_cast<std::int32_t>(i >> 2U)};
              if (c[0] < coarse_[0] && c[1] < coarse_[1] && c[2] < coarse_[2] &&
                  look_at(c, found[z]))
                entry.cells |= 1U << i;
            }
            if (entry.cells == 0) continue;
            macros[z].push_back(entry);
            numbers[z].push_back(static_cast<std::uint32_t>(
                flat_index(index_.macros, macro[0], macro[1], macro[2])));
          }
    });
    for (std::size_t z = 0; z < layers; ++z) {
      const auto first = static_cast<std::uint32_t>(index_.cells.size());
      for (IndexedMacro& m : macros[z]) m.first += first;
      index_.cells.insert(index_.cells.end(), found[z].begin(), found[z].end());
      index_.occupied_macros.insert(index_.occupied_macros.end(), macros[z].begin(),
                                    macros[z].end());
      occupied_numbers_.insert(occupied_numbers_.end(), numbers[z].begin(), numbers[z].end());
    }
  }

  // Whether the isosurface may be in a coarse cell; else notes the cell's side.
  bool look_at(const Index3& c, std::vector<IndexedCell>& found) {
    std::int8_t& side = sides_[flat_index(coarse_, c[0], c[1], c[2])];
    const BlockSide known = classify(field_.cell_range(c), static_cast<double>(iso_));
    side = known == BlockSide::kOutside ? 1 : known == BlockSide::kInside ? -1 : kMixed;
    if (side != kMixed) return false;
    IndexedCell cell{};
    for (std::size_t axis = 0; axis < 3; ++axis) cell.at[axis] = static_cast<std::int16_t>(c[axis]);
    cell.brick = field_.brick_at(c);
    if (cell.brick == BrickField::kNoBrick) {
      cell.least = -std::numeric_limits<float>::max();
      cell.most = std::numeric_limits<float>::max();
    } else {
      const auto cells_a_metre = static_cast<float>(1 / field_.voxel_size());
      const BrickValues values(field_.bricks()[cell.brick], field_.header().step, iso_,
                               cells_a_metre);
      MixedRows mixed;
      if (!find_mixed(values, mixed)) {
        side = values.at[0][0][0] > 0 ? 1 : -1;
        return false;
      }
      fit_slab(values, mixed, slab_slack_, cell);
    }
    found.push_back(cell);
    return true;
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

  // Squared gaps between macro cells and indexed coarse cells in coarse cells, axis after axis: the
  // least sum over all indexed cells splits into three minima.
  void find_distances() {
    constexpr std::int32_t kFar = 1 << 28;
    const Index3 m = index_.macros;
    const auto gap_sq = [](std::int32_t macro, std::int32_t cell) {
      const std::int32_t gap = std::max({0, 2 * macro - (cell + 1), cell - (2 * macro + 2)});
      return gap * gap;
    };
    // Along x: the nearest mixed cell before and behind.
    const Index3 rows{m[0], coarse_[1], coarse_[2]};
    std::vector<std::int32_t> along_x(count(rows), kFar);
    for (const IndexedCell& c : index_.cells)
      for (std::int32_t x = 0; x < m[0]; ++x) {
        std::int32_t& to = along_x[flat_index(rows, x, c.at[1], c.at[2])];
        to = std::min(to, gap_sq(x, c.at[0]));
      }
    const Index3 planes{m[0], m[1], coarse_[2]};
    std::vector<std::int32_t> along_y(count(planes), kFar);
    parallel_for(
        static_cast<std::size_t>(coarse_[2]), 1, threads_, [&](std::size_t begin, std::size_t end) {
          for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
            for (std::int32_t y = 0; y < m[1]; ++y)
              for (std::int32_t cell = 0; cell < coarse_[1]; ++cell)
                take_least(along_x, flat_index(rows, 0, cell, z), gap_sq(y, cell), along_y,
                           flat_index(planes, 0, y, z));
        });
    std::vector<std::int32_t> all(count(m), kFar);
    parallel_for(
        static_cast<std::size_t>(m[2]), 1, threads_, [&](std::size_t begin, std::size_t end) {
          for (auto z = static_cast<std::int32_t>(begin); z < static_cast<std::int32_t>(end); ++z)
            for (std::int32_t cell = 0; cell < coarse_[2]; ++cell)
              for (std::int32_t y = 0; y < m[1]; ++y)
                take_least(along_y, flat_index(planes, 0, y, cell), gap_sq(z, cell), all,
                           flat_index(m, 0, y, z));
        });
    index_.free_distance.resize(count(m) + 4);  // four bytes are read at once
    for (std::int32_t z = 0; z < m[2]; ++z)
      for (std::int32_t y = 0; y < m[1]; ++y)
        for (std::int32_t x = 0; x < m[0]; ++x) {
          const std::size_t n = flat_index(m, x, y, z);
          if ((index_.occupied[n / 64] >> n % 64 & 1U) != 0) continue;
          // Half a macro cell to a coarse one, quarters are stored; rounded down.
          const double quarters = 2 * std::sqrt(static_cast<double>(all[n]));
          const auto distance =
              static_cast<std::int32_t>(std::min(quarters, static_cast<double>(kMostDistance)));
          const std::int8_t side = sides_[flat_index(coarse_, 2 * x, 2 * y, 2 * z)];
          index_.free_distance[n] = static_cast<std::int8_t>(side * (distance + 1));
        }
  }

  void take_least(const std::vector<std::int32_t>& from, std::size_t at, std::int32_t more,
                  std::vector<std::int32_t>& to, std::size_t to_at) const {
    const std::int32_t* a = from.data() + at;
    std::int32_t* b = to.data() + to_at;
    for (std::int32_t x = 0; x < index_.macros[0]; ++x) b[x] = std::min(b[x], a[x] + more);
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

SegmentIndex build_segment_index(const BrickField& field, float iso, Threads threads) {
  return IndexBuild(field, iso, threads).run();
}

}  // namespace isotact::detail
