#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "isotact/field/build/detail/plan.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/surface/detail/cell_frame.h"
#include "isotact/geometry/mesh/triangle.h"

namespace isotact::detail {
namespace {

constexpr std::int64_t kFewCells = 100;
constexpr double kFloatSlack = 0.02;  // cells: what float coordinates make of any lattice
constexpr double kHalfCell = 0.5 * kBrickCells;  // of a coarse cell, in fine ones

// Cells first to last, both included.
struct CellBox {
  Index3 first, last;
};

class TriangleMarker {
 public:
  TriangleMarker(const Vec3& a, const Vec3& b, const Vec3& c, double reach, CellBits& bits)
      : a_(a),
        b_(b),
        c_(c),
        low_(min(min(a, b), c)),
        high_(max(max(a, b), c)),
        reach_(reach),
        bits_(bits) {
    // Below a millionth of a cell in height, the normal's direction is noise: leave it out.
    const Vec3 across = cross(b - a, c - a);
    const double longest =
        std::sqrt(std::max({length_sq(b - a), length_sq(c - b), length_sq(a - c)}));
    normal_ = length(across) > 1e-6 * longest ? normalized(across) : Vec3{};
    reach_sq_ = reach * reach;
  }

  void mark() {
    CellBox all;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double last = static_cast<double>(bits_.cells()[axis] - 1);
      all.first[axis] = static_cast<std::int32_t>(
          std::clamp(std::floor((low_[axis] - reach_) / kBrickCells - 1e-9), 0.0, last));
      all.last[axis] = static_cast<std::int32_t>(
          std::clamp(std::floor((high_[axis] + reach_) / kBrickCells + 1e-9), 0.0, last));
    }
    visit(all);
  }

 private:
  // Halves a box of cells until it is beyond reach or small. Halving a side of n cells ends after
  // log2 n steps: the depth of calls is at most 3 x 13 + 1.
  void visit(const CellBox& box) {  // NOLINT(misc-no-recursion)
    Vec3 center, half;
    std::size_t longest = 0;
    std::int64_t cells = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double begin = static_cast<double>(box.first[axis]);
      const double end = static_cast<double>(box.last[axis]) + 1;
      center[axis] = 0.5 * (begin + end) * kBrickCells;
      half[axis] = (end - begin) * kHalfCell;
      if (half[axis] > half[longest]) longest = axis;
      cells *= box.last[axis] - box.first[axis] + 1;
    }
    if (cells <= kFewCells) return mark_cells(box);
    if (is_beyond(center, half)) return;
    const std::int32_t middle = (box.first[longest] + box.last[longest]) / 2;
    CellBox part = box;
    part.last[longest] = middle;
    visit(part);
    part = box;
    part.first[longest] = middle + 1;
    visit(part);
  }

  // One by one, by the plane and the box alone.
  void mark_cells(const CellBox& box) {
    const double plane_reach =
        reach_ + kHalfCell * (std::abs(normal_.x) + std::abs(normal_.y) + std::abs(normal_.z));
    Index3 cell;
    for (cell[2] = box.first[2]; cell[2] <= box.last[2]; ++cell[2]) {
      const double gap_z = gap_along(2, cell[2]), height_z = height_along(2, cell[2]);
      for (cell[1] = box.first[1]; cell[1] <= box.last[1]; ++cell[1]) {
        const double gap_y = gap_along(1, cell[1]), height_y = height_along(1, cell[1]) + height_z;
        const double gap_sq = gap_y * gap_y + gap_z * gap_z;
        if (gap_sq > reach_sq_) continue;
        for (cell[0] = box.first[0]; cell[0] <= box.last[0]; ++cell[0]) {
          const double gap_x = gap_along(0, cell[0]);
          if (gap_x * gap_x + gap_sq <= reach_sq_ &&
              std::abs(height_along(0, cell[0]) + height_y) <= plane_reach && !bits_.at(cell) &&
              !is_beyond_nearest(cell))
            bits_.set(cell);
        }
      }
    }
  }

  // Along the way from the cell's centre to the nearest point of the triangle: a triangle is
  // convex, so it lies behind the plane across that way, and the gap between that and the cell is a
  // lower bound of the distance, nearly always the best.
  bool is_beyond_nearest(const Index3& cell) const {
    const Vec3f center{static_cast<float>(cell[0]) * kBrickCells + static_cast<float>(kHalfCell),
                       static_cast<float>(cell[1]) * kBrickCells + static_cast<float>(kHalfCell),
                       static_cast<float>(cell[2]) * kBrickCells + static_cast<float>(kHalfCell)};
    const TrianglePoint nearest =
        find_closest_point_on_triangle(center, to_float(a_), to_float(b_), to_float(c_));
    const double far = std::sqrt(nearest.distance_sq);
    const Vec3 offset = nearest.point - to_double(center);
    const double cell_part = kHalfCell *
                             (std::abs(offset.x) + std::abs(offset.y) + std::abs(offset.z)) /
                             std::max(far, 1e-9);
    return far - cell_part > reach_ + kFloatSlack;
  }

  // Between a cell and the triangle's box.
  double gap_along(std::size_t axis, std::int32_t cell) const {
    const double begin = static_cast<double>(cell) * kBrickCells;
    const double gap = std::max(low_[axis] - (begin + kBrickCells), begin - high_[axis]);
    return gap > 0 ? gap : 0;
  }
  // An axis' part in the height of a cell's centre over the plane.
  double height_along(std::size_t axis, std::int32_t cell) const {
    return normal_[axis] * (static_cast<double>(cell) * kBrickCells + kHalfCell - a_[axis]);
  }

  bool is_beyond(const Vec3& center, const Vec3& half) const {
    double gap_sq = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double gap = std::max({low_[axis] - (center[axis] + half[axis]),
                                   (center[axis] - half[axis]) - high_[axis], 0.0});
      gap_sq += gap * gap;
    }
    if (gap_sq > reach_sq_) return true;
    const double off_plane = std::abs(dot(normal_, center - a_)) -
                             (half.x * std::abs(normal_.x) + half.y * std::abs(normal_.y) +
                              half.z * std::abs(normal_.z));
    if (off_plane > reach_) return true;
    // Long thin triangles fill little of their box: three more axes, across each edge in the plane.
    return is_beyond_edge(a_, b_, c_, center, half) || is_beyond_edge(b_, c_, a_, center, half) ||
           is_beyond_edge(c_, a_, b_, center, half);
  }

  // Outwards of an edge, in the triangle's plane. The gap along any unit direction is at most the
  // distance.
  bool is_beyond_edge(const Vec3& from, const Vec3& to, const Vec3& apex, const Vec3& center,
                      const Vec3& half) const {
    const Vec3 out = normalized(cross(to - from, normal_));
    const double side = dot(out, apex - from) > 0 ? -1.0 : 1.0;
    const double gap =
        side * dot(out, center - from) -
        (half.x * std::abs(out.x) + half.y * std::abs(out.y) + half.z * std::abs(out.z));
    return gap > reach_;
  }

  Vec3 a_, b_, c_, low_, high_, normal_;
  double reach_, reach_sq_;
  CellBits& bits_;
};

}  // namespace

CellBits::CellBits(const Index3& cells)
    : cells_(cells), blocks_(find_parts(cells).blocks), words_(count(blocks_), 0) {}

std::size_t CellBits::word_of(const Index3& c) const {
  return flat_index(blocks_, c[0] / kBlockCells, c[1] / kBlockCells, c[2] / kBlockCells);
}

unsigned CellBits::bit_of(const Index3& c) {
  return static_cast<unsigned>((c[2] & 3) << 4 | (c[1] & 3) << 2 | (c[0] & 3));
}

bool CellBits::at(const Index3& cell) const {
  const std::atomic_ref<std::uint64_t> word(const_cast<std::uint64_t&>(words_[word_of(cell)]));
  return (word.load(std::memory_order_relaxed) >> bit_of(cell) & 1U) != 0;
}

void CellBits::set(const Index3& cell) {
  std::atomic_ref<std::uint64_t> word(words_[word_of(cell)]);
  const std::uint64_t bit = std::uint64_t{1} << bit_of(cell);
  if ((word.load(std::memory_order_relaxed) & bit) == 0)
    word.fetch_or(bit, std::memory_order_relaxed);
}

void CellBits::clear(const Index3& cell) {
  words_[word_of(cell)] &= ~(std::uint64_t{1} << bit_of(cell));
}

std::size_t CellBits::count_set() const {
  std::size_t n = 0;
  for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
  return n;
}

void mark_near(const TriangleMesh& mesh, const Lattice& lattice, double reach, Threads threads,
               CellBits& bits) {
  const double rounding = 1e-6;
  parallel_for(mesh.triangles.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const auto c = corners(mesh, t);
      TriangleMarker(to_cells(lattice, c[0]), to_cells(lattice, c[1]), to_cells(lattice, c[2]),
                     reach + rounding, bits)
          .mark();
    }
  });
}

namespace {

class DoubtTest {
 public:
  DoubtTest(std::span<const float> coarse, const Lattice& lattice, const Bvh& bvh,
            const DoubtRule& rule)
      : coarse_(coarse), lattice_(lattice), nodes_(node_counts(lattice)), bvh_(bvh), rule_(rule) {
    far_sq_ = 0.75 * lattice.spacing * lattice.spacing;
    const Aabb box = bounds(lattice);
    const Vec3 reach = max(max(box.upper, -box.lower), Vec3{});
    // The hierarchy's points and ours are floats.
    rounding_ = 0x1p-22 * std::max({reach.x, reach.y, reach.z});
  }

  bool is_doubtful(const Index3& cell) {
    double distance[8];
    double least = HUGE_VAL;
    for (std::int32_t i = 0; i < 8; ++i) {
      const auto value = static_cast<double>(coarse_[flat_index(
          nodes_, cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2))]);
      distance[i] = std::abs(value + rule_.offset);
      least = std::min(least, distance[i]);
    }
    const double e = rule_.sample_error;
    if (least > rule_.range + rule_.offset + std::sqrt(far_sq_) + e) return false;
    const double m = least - e;
    if (!(m > 0 && m * m > far_sq_)) return true;
    const double over = m - std::sqrt(m * m - far_sq_) + e;
    if (over > rule_.allowed) return true;
    const double most_under = rule_.allowed - over - e - rounding_;
    if (compute_under(cell, distance, last_) <= most_under) return false;
    const Vec3 center =
        node_position(lattice_, cell[0], cell[1], cell[2]) + Vec3{0.5, 0.5, 0.5} * lattice_.spacing;
    const ClosestPoint nearest = find_closest_point(
        bvh_, to_float(center),
        static_cast<float>((distance[0] + e + std::sqrt(far_sq_) + rounding_) * 1.0001));
    if (nearest.triangle == kNoTriangle) return true;
    last_ = to_double(nearest.point);
    return !(compute_under(cell, distance, last_) <= most_under);
  }

 private:
  double compute_under(const Index3& cell, const double* distance, const Vec3& surface) const {
    double under = 0;
    for (std::int32_t i = 0; i < 8; ++i) {
      const Vec3 corner =
          node_position(lattice_, cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2));
      under = std::max(under, length(corner - surface) - distance[i]);
    }
    return under;
  }

  std::span<const float> coarse_;
  Lattice lattice_;
  Index3 nodes_;
  const Bvh& bvh_;
  DoubtRule rule_;
  double far_sq_, rounding_;
  Vec3 last_{HUGE_VAL, 0, 0};  // Of the cell before, which is often good enough; none yet.
};

}  // namespace

void mark_doubts(std::span<const float> coarse, const Lattice& lattice, const Bvh& bvh,
                 const DoubtRule& rule, Threads threads, CellBits& bits) {
  const Index3 cells = lattice.cells;
  parallel_for(
      static_cast<std::size_t>(cells[2]) * static_cast<std::size_t>(cells[1]), 8, threads,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          DoubtTest test(coarse, lattice, bvh, rule);
          const auto z = static_cast<std::int32_t>(row / static_cast<std::size_t>(cells[1]));
          const auto y = static_cast<std::int32_t>(row % static_cast<std::size_t>(cells[1]));
          for (std::int32_t x = 0; x < cells[0]; ++x) {
            if (!test.is_doubtful({x, y, z})) continue;
            for (std::int32_t k = std::max(z - 1, 0); k <= std::min(z + 1, cells[2] - 1); ++k)
              for (std::int32_t j = std::max(y - 1, 0); j <= std::min(y + 1, cells[1] - 1); ++j)
                for (std::int32_t i = std::max(x - 1, 0); i <= std::min(x + 1, cells[0] - 1); ++i)
                  bits.set({i, j, k});
          }
        }
      });
}

namespace {

class CreaseTest {
 public:
  CreaseTest(const Lattice& lattice, double tolerance)
      : side_(static_cast<float>(lattice.spacing)), wanted_(static_cast<float>(tolerance)) {
    const Index3 nodes = node_counts(lattice);
    up_ = static_cast<std::size_t>(nodes[0]);
    deep_ = up_ * static_cast<std::size_t>(nodes[1]);
    // A crease at most this far away can be off by that much.
    const float furthest = tolerance > 0 ? 0.5F * side_ / wanted_ : HUGE_VALF;
    limit_ = furthest + 2 * side_;
  }

  // From a cell's first corner.
  bool operator()(const float* row) const {
    if (wanted_ == 0) return true;
    if (std::abs(row[0]) > limit_) return false;
    const float c0 = row[0], c1 = row[1], c2 = row[up_], c3 = row[up_ + 1];
    const float c4 = row[deep_], c5 = row[deep_ + 1], c6 = row[deep_ + up_],
                c7 = row[deep_ + up_ + 1];
    const float gx = (c1 - c0) + (c3 - c2) + (c5 - c4) + (c7 - c6);
    const float gy = (c2 - c0) + (c3 - c1) + (c6 - c4) + (c7 - c5);
    const float gz = (c4 - c0) + (c5 - c1) + (c6 - c2) + (c7 - c3);
    const float slope_sq = (gx * gx + gy * gy + gz * gz) / (16 * side_ * side_);
    const float off = 0.5F * side_ * std::sqrt(std::max(0.0F, 1 - slope_sq));
    const float middle = 0.125F * (c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7);
    return off > wanted_ * std::abs(middle);
  }

 private:
  float side_, wanted_, limit_;
  std::size_t up_, deep_;
};

}  // namespace

void mark_creases(std::span<const float> coarse, const Lattice& lattice, double tolerance,
                  Threads threads, CellBits& bits) {
  const Index3 nodes = node_counts(lattice);
  const CreaseTest is_creased_at(lattice, tolerance);
  parallel_for(static_cast<std::size_t>(lattice.cells[2]), 1, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::int32_t z = static_cast<std::int32_t>(begin);
                      z < static_cast<std::int32_t>(end); ++z)
                   for (std::int32_t y = 0; y < lattice.cells[1]; ++y) {
                     const float* row = coarse.data() + flat_index(nodes, 0, y, z);
                     for (std::int32_t x = 0; x < lattice.cells[0]; ++x, ++row)
                       if (is_creased_at(row)) bits.set({x, y, z});
                   }
               });
}

bool is_creased(std::span<const float> coarse, const Lattice& lattice, double tolerance,
                const Index3& cell) {
  return CreaseTest(lattice, tolerance)(
      coarse.data() + flat_index(node_counts(lattice), cell[0], cell[1], cell[2]));
}

}  // namespace isotact::detail
