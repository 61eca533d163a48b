// The default field: sparse, adaptive, quantised, in one flat buffer that is file, memory map and
// GPU buffer at once.
//
// It has two levels. The coarse one covers the whole box: exact distances at nodes 8 cells apart,
// float32. Each coarse cell that is near the surface, or in which the field bends, has a brick of
// 8^3 cells with 9^3 samples. A sample is a correction: the number that must be added to the
// trilinear interpolant of the eight coarse corners to get the distance there.
//
// There are three reasons for corrections. A sample on a face towards a cell without brick is zero,
// so both sides interpolate the same four corners. The field is therefore continuous across levels
// whatever the quantisation, because quantisation keeps zero. Neighbouring bricks share the samples
// of their common face, so the field is continuous there as well. And a correction cannot be large.
// Distances change no faster than space. So at a point with interpolation weights w_i at corners
// x_i a correction is at most
//   sum w_i |x - x_i| <= sqrt(sum w_i |x - x_i|^2) = 8 h sqrt(u(1-u) + v(1-v) + w(1-w)) <= 4
//   sqrt(3) h.
// One byte with steps of 4 sqrt(3) h / 127 = 0.0546 h therefore never overflows, and its error is
// at most 0.0273 h.
//
// Far from the surface every other coarse node is enough, and those between are interpolated: see
// sparse_from in the header, and detail/sparse_nodes.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/lattice.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr int kBrickCells = 8;  // Per axis.
inline constexpr int kBrickNodes = kBrickCells + 1;
inline constexpr int kBrickSamples = kBrickNodes * kBrickNodes * kBrickNodes;

// One cell of the coarse level, refined.
struct alignas(64) Brick {
  float corner[8];  // Coarse values, metres; bit 0 of the index is x, bit 1 y, bit 2 z.
  std::int8_t correction[kBrickSamples];  // In steps of BrickFieldHeader::step; x fastest.
  // Bit x + 2 y + 4 z: the samples of this cube of 4^3 nodes are distances. Cubes further away than
  // the band may keep the coarse interpolant, with corrections of zero.
  std::uint8_t exact;
  // No slope in the brick is steeper: the upper half of a float, rounded up.
  std::uint16_t slope;
  std::int8_t unused[4];
};
static_assert(sizeof(Brick) == 768 && offsetof(Brick, correction) == 32);
static_assert(offsetof(Brick, exact) == 761 && offsetof(Brick, slope) == 762);

// The cells among 4^3 coarse ones that have bricks: bit x + 4 y + 16 z. Bricks are numbered in the
// order of blocks (x fastest) and of bits.
struct BrickBlock {
  std::uint64_t occupied;
  std::uint32_t first_brick;  // Number of the first one.
  std::uint32_t unused;
};
static_assert(sizeof(BrickBlock) == 16);

// The start of the flat buffer. Offsets are bytes from its start, multiples of 64.
struct BrickFieldHeader {
  char magic[8];              // "ISOBRICK"
  std::uint32_t version;      // 1
  std::uint32_t brick_cells;  // 8
  double origin[3];           // metres
  double voxel_size;          // Metres, side of a fine cell.
  std::int32_t coarse_cells[3];
  std::uint32_t brick_count;
  float step;  // Metres per unit of correction.
  float lipschitz;
  float near_error;           // Metres: |value - true distance| nearer than `band`.
  float far_error;            // Metres: the same elsewhere, up to sparse_error_from().
  float band;                 // metres
  float sample_error;         // Metres: error of coarse samples; fine ones add half a step.
  std::uint32_t level_count;  // Levels of the tree above the coarse cells.
  float shell_offset;         // Metres; 0 for a signed field.
  std::uint64_t total_bytes;
  std::uint64_t coarse_offset;  // float[nz + 1][ny + 1][nx + 1]
  std::uint64_t block_offset;   // BrickBlock[ceil(nz / 4)][ceil(ny / 4)][ceil(nx / 4)]
  std::uint64_t range_offset;   // ValueRange[brick_count]
  // ValueRange: level 1 first, in which a node spans 2^3 coarse cells, then 4^3, to one root; dims
  // are rounded up.
  std::uint64_t tree_offset;
  std::uint64_t brick_offset;  // Brick[brick_count]
  std::uint32_t open;          // 1: the surface may leave the box, 0: it does not.
  // Metres. If the eight even coarse nodes around 2^3 coarse cells are as far from zero, nodes
  // between them are interpolated. This applies to nodes that no other cells share. 0: nowhere.
  float sparse_from;
  float sparse_error;   // Metres: |value - true distance| from sparse_error_from() on.
  float range;          // Metres: near_error is valid up to here, too; 0: up to `band`.
  std::uint32_t plain;  // 1: |value + shell_offset| is the distance to a closed set; 0: perhaps not
  std::uint8_t unused[92];
};
static_assert(sizeof(BrickFieldHeader) == 256 && offsetof(BrickFieldHeader, total_bytes) == 96);

// Returns the |value| from which sparse_error is valid instead of far_error. Among sparse cells
// there may be nodes that are distances, on a face shared with cells that are not sparse. They are
// within 8 sqrt(2) fine cells of an even node, so values are below sparse_from by no more than that
// and their own error.
inline double sparse_error_from(const BrickFieldHeader& h) {
  if (h.sparse_from == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(h.sparse_from) - 12 * h.voxel_size;
}

// Immutable; copies share the buffer. Any number of threads may query it.
class BrickField {
 public:
  BrickField() = default;  // Empty: no query is allowed.

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it (a vector, a mapped file).
  // Throws Error if find_flaw_in_brick_field names a flaw.
  static BrickField from_buffer(std::span<const std::byte> buffer,
                                std::shared_ptr<const void> owner, Check check = Check::kDeep);
  std::span<const std::byte> buffer() const { return buffer_; }

  // The Field concept. Cost of a value: some 20 ns in the caches, 100 ns from memory.
  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  // The same for several points; `samples` has the same length.
  void sample(std::span<const Vec3> points, std::span<FieldSample> samples) const;
  Aabb bounds() const { return isotact::bounds(lattice_); }
  double lipschitz() const { return static_cast<double>(header().lipschitz); }
  Interval range(const Aabb& box) const;
  // Cost: some 200 ns. sample_bounds is tighter.
  Interval distance_bounds(const Vec3& point) const;

  // The parts of the field.
  const BrickFieldHeader& header() const {
    return *reinterpret_cast<const BrickFieldHeader*>(buffer_.data());
  }
  const Lattice& lattice() const { return lattice_; }  // Lattice of the fine cells.
  Lattice coarse_lattice() const;
  double voxel_size() const { return lattice_.spacing; }
  std::span<const float> coarse_values() const { return coarse_; }
  std::span<const BrickBlock> blocks() const { return blocks_; }
  std::span<const Brick> bricks() const { return bricks_; }
  std::span<const ValueRange> brick_ranges() const { return ranges_; }
  std::span<const ValueRange> tree_level(int level) const;  // 1 to header().level_count.
  Index3 tree_dims(int level) const;                        // Level 0: the coarse cells themselves.

  static constexpr std::uint32_t kNoBrick = 0xffffffffU;
  std::uint32_t brick_at(const Index3& coarse_cell) const;  // kNoBrick if there is none.
  // Exact: range of the brick or the corners.
  ValueRange cell_range(const Index3& coarse_cell) const;
  // Returns the stored value at a fine node inside the box; outside of bricks, that of the coarse
  // interpolant.
  float node_value(std::int32_t i, std::int32_t j, std::int32_t k) const;
  // The same bits at all kBrickSamples nodes of a coarse cell, x fastest, some thirty times faster.
  void cell_nodes(const Index3& coarse_cell, std::span<float> values) const;

 private:
  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_;
  Lattice lattice_{};
  double cells_per_metre_ = 1;
  std::span<const float> coarse_{};
  std::span<const BrickBlock> blocks_{};
  std::span<const ValueRange> ranges_{};
  std::span<const ValueRange> tree_{};
  std::span<const Brick> bricks_{};
  Index3 coarse_cells_{}, block_counts_{};
};

// Describes what is wrong with a buffer that claims to be a brick field: the part and the position.
// A deep check also compares redundant parts with each other (corners, shared faces, ranges), so a
// field that passes it keeps the contract of field.h.
std::optional<std::string> find_flaw_in_brick_field(std::span<const std::byte> buffer,
                                                    Check check = Check::kDeep);

// Evaluates many points at once, several times faster than one by one: the memory of the next
// points is prefetched while the first ones are computed. Returns the same bits as sample() rounded
// to float. Spans of results must be as long as points, or empty if they are not wanted.
void sample_field(const BrickField& field, std::span<const Vec3f> points, std::span<float> values,
                  std::span<Vec3f> gradients, Threads threads = {});

// Bounds of the true distance at many points: distance_bounds, and upper bounds of its size from a
// descent to the surface. It is as near as the nearest exact samples on that path say. Away from
// edges both lie within a fraction of a cell. Sizes must agree. Cost: some microseconds per point.
void sample_bounds(const BrickField& field, std::span<const Vec3> points,
                   std::span<Interval> bounds, Threads threads = {});

}  // namespace isotact
