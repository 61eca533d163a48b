#include "isotact/field/build/detail/edit_bricks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/models/detail/brick_assembly.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/surface/detail/cell_frame.h"

namespace isotact::detail {
namespace {

constexpr double kCubeRadius = 2.598076211353316;  // of 4^3 nodes: 1.5 sqrt(3)
// Signs come from a surface that seems to be moved by less than this (row_crossings.h), cells.
constexpr double kSnapped = 0.01;

double gap_sq(const Aabb& a, const Aabb& b) {
  return length_sq(max(max(a.lower - b.upper, b.lower - a.upper), Vec3{}));
}

template <typename Visit>
void for_each_set(const CellBits& bits, Visit&& visit) {
  const Index3 blocks = find_parts(bits.cells()).blocks;
  const auto nx = static_cast<std::size_t>(blocks[0]), ny = static_cast<std::size_t>(blocks[1]);
  for (std::size_t w = 0; w < bits.words().size(); ++w)
    for (std::uint64_t left = bits.words()[w]; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      visit(Index3{static_cast<std::int32_t>(w % nx) * kBlockCells + (bit & 3),
                   static_cast<std::int32_t>(w / nx % ny) * kBlockCells + (bit >> 2 & 3),
                   static_cast<std::int32_t>(w / nx / ny) * kBlockCells + (bit >> 4)});
    }
}

// Calls visit(neighbour) for the up to 26 cells around one.
template <typename Visit>
void for_each_neighbour(const Index3& cell, const Index3& cells, Visit&& visit) {
  for (std::int32_t z = std::max(cell[2] - 1, 0); z <= std::min(cell[2] + 1, cells[2] - 1); ++z)
    for (std::int32_t y = std::max(cell[1] - 1, 0); y <= std::min(cell[1] + 1, cells[1] - 1); ++y)
      for (std::int32_t x = std::max(cell[0] - 1, 0); x <= std::min(cell[0] + 1, cells[0] - 1); ++x)
        if (Index3{x, y, z} != cell) visit(Index3{x, y, z});
}

class Rebuild {
 public:
  Rebuild(const EditWork& work, EditReport& report)
      : work_(work),
        report_(report),
        lattice_(work.before.lattice()),
        coarse_(work.before.coarse_lattice()),
        values_(work.before.coarse_values().begin(), work.before.coarse_values().end()),
        touched_(coarse_.cells),
        anew_(coarse_.cells) {
    for (const Aabb& box : find_pieces(work.change))
      pieces_.push_back({(box.lower - lattice_.origin) / lattice_.spacing,
                         (box.upper - lattice_.origin) / lattice_.spacing});
    slack_ = 4 * distances().error() + kSnapped;
    offset_ = work.shell_offset / lattice_.spacing;
    reach_ = work.settings.band + kCellDiagonal;
    rule_ = {.sparse_from = work.before.header().sparse_from,
             .shift = work.marks.rows ? 0 : static_cast<float>(work.shell_offset)};
  }

  BrickField run() {
    const CellBits before = occupied();
    update_coarse();
    update_band();
    update_creases();
    const CellBits after = occupied();
    find_bricks(before, after);
    return assemble(after);
  }

 private:
  const DistancePass& distances() const { return work_.triangles.distances(); }

  // Whether something in the box, no further from the surface than `distance` before the edit, may
  // have another distance or sign after it: a removed triangle may have been nearest, an added one
  // may be, or the sign may change, only within that distance of a piece. Fine cells.
  bool may_change(const Aabb& box, double distance) const {
    const double reach = distance + slack_;
    return std::any_of(pieces_.begin(), pieces_.end(),
                       [&](const Aabb& piece) { return gap_sq(piece, box) <= reach * reach; });
  }

  CellBits occupied() const {
    CellBits bits = work_.marks.band;
    for (std::size_t w = 0; w < bits.words().size(); ++w)
      bits.words()[w] |= work_.marks.creased.words()[w];
    return bits;
  }

  // Coarse nodes, and which cells have a corner whose value is another one now: touched. Even nodes
  // first, where others are interpolated between them.
  void update_coarse() {
    const bool sparse = rule_.sparse_from > 0;
    if (sparse) update_packets(2, [](const Index3&) { return false; });
    const CellBits even = touched_;
    update_packets(1, [&](const Index3& first) { return sparse && touches(even, first); });
  }

  template <typename Also>
  void update_packets(std::int32_t stride, const Also& also) {
    const std::vector<Index3> packets = find_packets(stride, also);
    distances().update_coarse(rule_, stride, packets, values_);
    report_.coarse_nodes_built += 8 * packets.size();
    const Index3 nodes = node_counts(coarse_);
    const auto before = work_.before.coarse_values();
    const bool between = stride == 1 && rule_.sparse_from > 0;
    for (const Index3& p : packets)
      for (std::int32_t i = between ? 1 : 0; i < 8; ++i) {
        const Index3 at{p[0] + stride * (i & 1), p[1] + stride * (i >> 1 & 1),
                        p[2] + stride * (i >> 2)};
        if (at[0] >= nodes[0] || at[1] >= nodes[1] || at[2] >= nodes[2]) continue;
        float& value = values_[flat_index(nodes, at[0], at[1], at[2])];
        if (work_.marks.rows && is_coarse_node_inside(at, *work_.marks.rows)) value = -value;
        if (std::bit_cast<std::uint32_t>(value) !=
            std::bit_cast<std::uint32_t>(before[flat_index(nodes, at[0], at[1], at[2])]))
          touch_around(at);
      }
  }

  // Whether an even node has changed that bounds one of the 2^3 blocks around the first node, on
  // which the nodes of its packet depend: then the cells around it are touched.
  bool touches(const CellBits& even, const Index3& first) const {
    const Index3 nodes = node_counts(coarse_);
    for (std::int32_t i = 0; i < 27; ++i) {
      const Index3 at{first[0] + 2 * (i % 3 - 1), first[1] + 2 * (i / 3 % 3 - 1),
                      first[2] + 2 * (i / 9 - 1)};
      if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= nodes[0] || at[1] >= nodes[1] ||
          at[2] >= nodes[2])
        continue;
      if (even.at({std::min(at[0], coarse_.cells[0] - 1), std::min(at[1], coarse_.cells[1] - 1),
                   std::min(at[2], coarse_.cells[2] - 1)}))
        return true;
    }
    return false;
  }

  // First nodes of the packets with a node that may change.
  template <typename Also>
  std::vector<Index3> find_packets(std::int32_t stride, const Also& also) const {
    const Index3 nodes = node_counts(coarse_);
    const std::int32_t width = 2 * stride;
    const auto layers = static_cast<std::size_t>((nodes[2] - 1) / width + 1);
    std::vector<std::vector<Index3>> found(layers);
    parallel_for(layers, 1, work_.settings.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t layer = begin; layer < end; ++layer) {
        const std::int32_t z = width * static_cast<std::int32_t>(layer);
        for (std::int32_t y = 0; y < nodes[1]; y += width)
          for (std::int32_t x = 0; x < nodes[0]; x += width)
            if (may_packet_change({x, y, z}, stride) || also(Index3{x, y, z}))
              found[layer].push_back({x, y, z});
      }
    });
    std::vector<Index3> packets;
    for (const auto& layer : found) packets.insert(packets.end(), layer.begin(), layer.end());
    return packets;
  }

  // Judged by values before the edit. One that was interpolated changes with the nodes around it,
  // and stays what it is while they do.
  bool may_packet_change(const Index3& first, std::int32_t stride) const {
    const Index3 nodes = node_counts(coarse_);
    const auto before = work_.before.coarse_values();
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 n{first[0] + stride * (i & 1), first[1] + stride * (i >> 1 & 1),
                     first[2] + stride * (i >> 2)};
      if (n[0] >= nodes[0] || n[1] >= nodes[1] || n[2] >= nodes[2]) continue;
      const double value = static_cast<double>(before[flat_index(nodes, n[0], n[1], n[2])]);
      const double distance = std::abs(value + work_.shell_offset) / lattice_.spacing;
      const Vec3 at =
          Vec3{static_cast<double>(n[0]), static_cast<double>(n[1]), static_cast<double>(n[2])} *
          static_cast<double>(kBrickCells);
      if (may_change({at, at}, distance)) return true;
    }
    return false;
  }

  void touch_around(const Index3& node) {
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 cell{node[0] - (i & 1), node[1] - (i >> 1 & 1), node[2] - (i >> 2)};
      if (cell[0] >= 0 && cell[1] >= 0 && cell[2] >= 0 && cell[0] < coarse_.cells[0] &&
          cell[1] < coarse_.cells[1] && cell[2] < coarse_.cells[2])
        touched_.set(cell);
    }
  }

  // A cell that a removed triangle had marked keeps its mark if one that is there marks it, which
  // then is not further from the removed one than twice the reach and a cell.
  void update_band() {
    const double reach = reach_ + offset_;
    const auto mark = [&](const TriangleMesh& mesh) {
      CellBits bits(coarse_.cells);
      mark_near(mesh, lattice_, reach, work_.settings.threads, bits);
      return bits;
    };
    std::vector<Aabb> boxes;
    for (const Aabb& piece : pieces_)
      boxes.push_back({lattice_.origin + piece.lower * lattice_.spacing,
                       lattice_.origin + piece.upper * lattice_.spacing});
    const CellBits gone = mark(work_.change.removed_mesh);
    const CellBits still =
        mark(work_.triangles.gather(boxes, (2 * reach + kBrickCells + 1) * lattice_.spacing));
    const CellBits added = mark(work_.change.added_mesh);
    auto band = work_.marks.band.words();
    for (std::size_t w = 0; w < band.size(); ++w)
      band[w] =
          (band[w] & ~gone.words()[w]) | (still.words()[w] & gone.words()[w]) | added.words()[w];
  }

  void update_creases() {
    if (work_.settings.tolerance >= 1) return;
    CellBits& creased = work_.marks.creased;
    for_each_set(touched_, [&](const Index3& cell) {
      if (is_creased(values_, coarse_, work_.settings.tolerance, cell))
        creased.set(cell);
      else
        creased.clear(cell);
    });
  }

  // Bricks to compute: those that are new, those with a new neighbour (the samples they share were
  // zero and are not any more), those whose corners or own samples may have changed. A crease comes
  // or goes only with a corner.
  void find_bricks(const CellBits& before, const CellBits& after) {
    for_each_set(after, [&](const Index3& cell) {
      if (!before.at(cell)) {
        anew_.set(cell);
        for_each_neighbour(cell, coarse_.cells, [&](const Index3& n) {
          if (after.at(n)) anew_.set(n);
        });
      } else if (touched_.at(cell) || may_brick_change(cell)) {
        anew_.set(cell);
      }
    });
    report_.bricks = after.count_set();
    report_.bricks_built = anew_.count_set();
    CellBits bound = anew_;
    for_each_set(anew_, [&](const Index3& cell) {
      for_each_neighbour(cell, coarse_.cells, [&](const Index3& n) {
        if (after.at(n)) bound.set(n);
      });
    });
    for_each_set(before, [&](const Index3& cell) {
      if (after.at(cell)) return;
      touched_.set(cell);
      for_each_neighbour(cell, coarse_.cells, [&](const Index3& n) {
        if (after.at(n)) bound.set(n);
      });
    });
    for_each_set(bound, [&](const Index3& cell) {
      bound_.push_back(cell);
      touched_.set(cell);
    });
    report_.bricks_bound = bound_.size();
  }

  // Of samples that are stored, the range bounds distances. Whether a cube is exact depends on the
  // distance of its centre, before or after the edit, only where that is not beyond those wanted.
  bool may_brick_change(const Index3& cell) const {
    const std::uint32_t number = work_.before.brick_at(cell);
    const ValueRange range = work_.before.brick_ranges()[number];
    const double error = static_cast<double>(work_.before.header().step) +
                         static_cast<double>(work_.before.header().sample_error);
    const double furthest = std::max(std::abs(static_cast<double>(range.min) + work_.shell_offset),
                                     std::abs(static_cast<double>(range.max) + work_.shell_offset));
    const double wanted = offset_ + reach_ + kCubeRadius;
    const Vec3 lower = Vec3{static_cast<double>(cell[0]), static_cast<double>(cell[1]),
                            static_cast<double>(cell[2])} *
                       static_cast<double>(kBrickCells);
    return may_change({lower, lower + Vec3{1, 1, 1} * static_cast<double>(kBrickCells)},
                      std::max((furthest + error) / lattice_.spacing, wanted));
  }

  BrickField assemble(const CellBits& after) {
    BrickAssembly assembly(
        {.lattice = lattice_,
         .band = work_.settings.band * lattice_.spacing,
         .sample_error = (work_.marks.rows ? distances().signed_error() : distances().error()) *
                         lattice_.spacing,
         .shell_offset = work_.shell_offset,
         .sparse_from = static_cast<double>(rule_.sparse_from),
         .plain = true,
         .threads = work_.settings.threads},
        after.words(), values_);
    const BrickField& before = work_.before;
    parallel_for(assembly.brick_count(), 1024, work_.settings.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t b = begin; b < end; ++b) {
                     const Index3 cell = assembly.cell_of(b);
                     if (anew_.at(cell)) continue;
                     const std::uint32_t old = before.brick_at(cell);
                     assembly.adopt(b, before.bricks()[old], before.brick_ranges()[old]);
                   }
                 });
    distances().for_each_brick(
        {anew_, after, values_, {offset_ - reach_, offset_ + reach_}, work_.shell_offset}, {},
        [&](const Index3& cell, std::span<float> distance, unsigned exact) {
          if (work_.marks.rows) sign_brick(distance, cell, *work_.marks.rows);
          const float h = static_cast<float>(lattice_.spacing);
          const float shell = static_cast<float>(work_.shell_offset);
          for (float& d : distance) d = d * h - shell;
          assembly.set(assembly.brick_of(cell), distance, exact);
        });
    std::vector<Index3> cells;
    for_each_set(touched_, [&](const Index3& cell) { cells.push_back(cell); });
    report_.changed_cells = cells;
    return assembly.finish({.before = before, .bound = bound_, .cells = cells});
  }

  const EditWork& work_;
  EditReport& report_;
  Lattice lattice_, coarse_;
  std::vector<float> values_;
  DistancePass::CoarseRule rule_{};
  CellBits touched_;  // cells whose range may change
  CellBits anew_;     // bricks to compute
  std::vector<Index3> bound_;
  std::vector<Aabb> pieces_;  // of the change, fine cells
  double slack_ = 0, offset_ = 0, reach_ = 0;
};

}  // namespace

BrickField rebuild_changed(const EditWork& work, EditReport& report) {
  return Rebuild(work, report).run();
}

}  // namespace isotact::detail
