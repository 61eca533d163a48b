#include "isotact/field/models/detail/brick_assembly.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "isotact/base/detail/lanes.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/brick_reader.h"
#include "isotact/field/models/detail/trilinear.h"

namespace isotact::detail {
namespace {

using Four = Lanes<float, 4>;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kBrickGrain = 64;

// Largest correction of a distance in a brick, in cells: see brick_field.h.
constexpr double kLargestCorrection = 6.9282032302755091741;  // 4 sqrt(3)
constexpr double kHalfDiagonal = 0.86602540378443864676;      // of a fine cell

// Coarse values along one row of nodes of a brick, as evenly spaced points on a line.
struct Row {
  float first, slope;
};
// The rows of one layer: z first, then y, so that most is done once a layer.
class LayerRows {
 public:
  LayerRows(const float* corner, std::int32_t z) {
    const float t = static_cast<float>(z) * 0.125F;
    for (std::size_t i = 0; i < 4; ++i) edge_[i] = mix(corner[i], corner[i + 4], t);
  }
  Row at(std::int32_t y) const {
    const float t = static_cast<float>(y) * 0.125F;
    const float first = mix(edge_[0], edge_[2], t);
    return {first, mix(edge_[1], edge_[3], t) - first};
  }

 private:
  float edge_[4];
};

constexpr std::size_t sample_index(std::int32_t x, std::int32_t y, std::int32_t z) {
  return static_cast<std::size_t>((z * kBrickNodes + y) * kBrickNodes + x);
}

// Coarse values at nodes 0 to 3 and 4 to 7 of a row.
struct RowLanes {
  Four low, high;
};
RowLanes spread(const Row& row) {
  constexpr float kEighths[8] = {0, 0.125F, 0.25F, 0.375F, 0.5F, 0.625F, 0.75F, 0.875F};
  const Four first(row.first), slope(row.slope);
  return {first + slope * load<Four>(kEighths), first + slope * load<Four>(kEighths + 4)};
}

ValueRange compute_brick_range(const Brick& brick, float step) {
  Four low(std::numeric_limits<float>::infinity()), high(-std::numeric_limits<float>::infinity());
  for (std::int32_t z = 0; z < kBrickNodes; ++z) {
    const LayerRows rows(brick.corner, z);
    for (std::int32_t y = 0; y < kBrickNodes; ++y) {
      const Row row = rows.at(y);
      const RowLanes coarse = spread(row);
      const std::int8_t* at = brick.correction + sample_index(0, y, z);
      const Four a = coarse.low + Four(step) * load_bytes<Four>(at);
      const Four b = coarse.high + Four(step) * load_bytes<Four>(at + 4);
      const Four last(row.first + row.slope + step * static_cast<float>(at[8]));
      low = lesser(lesser(a, b), lesser(last, low));
      high = greater(greater(a, b), greater(last, high));
    }
  }
  float lows[4], highs[4];
  store(low, lows);
  store(high, highs);
  return rounded_out({std::min({lows[0], lows[1], lows[2], lows[3]}),
                      std::max({highs[0], highs[1], highs[2], highs[3]})});
}

// A float rounded up to its upper half, and back.
std::uint16_t round_slope_up(float slope) {
  const auto bits = std::bit_cast<std::uint32_t>(slope);
  return static_cast<std::uint16_t>((bits + 0xffffU) >> 16U);
}

// The largest difference of corrections `apart` bytes from each other, over a run of bytes.
int compute_largest_step(const std::int8_t* from, std::size_t length, std::size_t apart) {
  int most = 0;
  std::size_t i = 0;
#if defined(__SSE4_1__)
  __m128i largest = _mm_setzero_si128();
  const __m128i middle = _mm_set1_epi8(-128);
  const auto load_at = [&](std::size_t at) {
    return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)), middle);
  };
  for (; i + 16 <= length; i += 16) {
    const __m128i a = load_at(i), b = load_at(i + apart);
    largest = _mm_max_epu8(largest, _mm_sub_epi8(_mm_max_epu8(a, b), _mm_min_epu8(a, b)));
  }
  alignas(16) std::uint8_t bytes[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), largest);
  for (const std::uint8_t byte : bytes) most = std::max(most, int{byte});
#endif
  for (; i < length; ++i) most = std::max(most, std::abs(from[i + apart] - from[i]));
  return most;
}

// The same between neighbours in each row of a brick.
int compute_largest_step_in_rows(const std::int8_t* from) {
  constexpr std::size_t kRows = kBrickNodes * kBrickNodes;
  int most = 0;
#if defined(__SSE4_1__)
  __m128i largest = _mm_setzero_si128();
  const __m128i middle = _mm_set1_epi8(-128);
  const auto load_at = [&](const std::int8_t* at) {
    return _mm_xor_si128(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)), middle);
  };
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::int8_t* at = from + row * kBrickNodes;
    const __m128i a = load_at(at), b = load_at(at + 1);
    largest = _mm_max_epu8(largest, _mm_sub_epi8(_mm_max_epu8(a, b), _mm_min_epu8(a, b)));
  }
  alignas(16) std::uint8_t bytes[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), largest);
  for (const std::uint8_t byte : bytes) most = std::max(most, int{byte});
#else
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::int8_t* at = from + row * kBrickNodes;
    for (std::size_t i = 0; i < kBrickCells; ++i)
      most = std::max(most, std::abs(at[i + 1] - at[i]));
  }
#endif
  return most;
}

// In a cell, the slope along an axis is a mean of its four edges', so no part of the slope is above
// the steepest edge of its axis. Along an edge, values change by what the coarse interpolant does,
// at most an eighth of its steepest edge along this axis, and by the corrections' difference.
std::uint16_t compute_brick_slope(const Brick& brick, float step, double voxel_size) {
  constexpr std::size_t kRow = kBrickNodes, kSlice = kRow * kRow;
  int steps[3] = {0, 0, 0};
  steps[0] = compute_largest_step_in_rows(brick.correction);
  for (std::size_t z = 0; z < kRow; ++z)
    steps[1] = std::max(steps[1],
                        compute_largest_step(brick.correction + z * kSlice, kSlice - kRow, kRow));
  steps[2] = compute_largest_step(brick.correction, kSlice * kBrickCells, kSlice);
  float slope_sq = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    float steepest = 0;
    for (std::size_t c = 0; c < 8; ++c)
      if ((c >> axis & 1U) == 0)
        steepest = std::max(steepest,
                            std::abs(brick.corner[c + (std::size_t{1} << axis)] - brick.corner[c]));
    const float edge = steepest * 0.125F + step * static_cast<float>(steps[axis]);
    slope_sq += edge * edge;
  }
  return round_slope_up(std::sqrt(slope_sq) / static_cast<float>(voxel_size) * 1.0001F);
}

// Of a cell's corners, a side apart: what no slope in it exceeds, times the side, squared.
float compute_steepest_sq(const float* corner) {
  float sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    float steepest = 0;
    for (std::size_t c = 0; c < 8; ++c)
      if ((c >> axis & 1U) == 0)
        steepest = std::max(steepest, std::abs(corner[c + (std::size_t{1} << axis)] - corner[c]));
    sum += steepest * steepest;
  }
  return sum;
}

// Bits of what is further than half a step beyond a byte.
unsigned count_beyond(const Four& a, const Four& b) {
  const Four most(127.5F), least(-127.5F);
  return bits_of((a > most) | (a < least)) | bits_of((b > most) | (b < least)) << 4U;
}

// Rounds to the nearest whole number, to even from halfway, and cuts to a byte. Returns a bit for
// each that had to be cut. Halves of the row that are not exact become zero.
unsigned quantise_row(const float* distance, const Row& row, float steps_a_metre, unsigned exact,
                      std::int8_t* to) {
  if (exact == 0) {
    std::memset(to, 0, 8);
    return 0;
  }
  const RowLanes coarse = spread(row);
  const Four a = (load<Four>(distance) - coarse.low) * Four(steps_a_metre);
  const Four b = (load<Four>(distance + 4) - coarse.high) * Four(steps_a_metre);
  const Four most(127.0F), least(-127.0F);
  const Four in_a = greater(lesser(a, most), least), in_b = greater(lesser(b, most), least);
  unsigned cut = bits_of(in_a != a) | bits_of(in_b != b) << 4U;
  if (cut != 0) cut = count_beyond(a, b);  // rounding alone reaches a little over the last step
#if defined(__SSE2__)
  const __m128i words = _mm_packs_epi32(_mm_cvtps_epi32(in_a.v), _mm_cvtps_epi32(in_b.v));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
#else
  for (int i = 0; i < 4; ++i) {
    to[i] = static_cast<std::int8_t>(std::lrint(in_a.v[i]));
    to[i + 4] = static_cast<std::int8_t>(std::lrint(in_b.v[i]));
  }
#endif
  if (exact == 1) std::memset(to + 4, 0, 4);
  if (exact == 2) std::memset(to, 0, 4);
  const unsigned kept = (exact & 1U) * 0x0fU | (exact >> 1U) * 0xf0U;
  return cut & kept;
}

// Places 3 x 3 x 3: a brick and its neighbours, or the parts of a brick's nodes: on a lower side,
// within, on an upper side, along each axis.
constexpr std::int32_t kPlaces = 27;
constexpr Index3 offset_of(std::int32_t place) {
  return {place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1};
}

// Bit n: the neighbour in place n shares the nodes of this part.
constexpr std::array<std::uint32_t, kPlaces> find_sharers() {
  std::array<std::uint32_t, kPlaces> sharers{};
  for (std::int32_t part = 0; part < kPlaces; ++part)
    for (std::int32_t n = 0; n < kPlaces; ++n) {
      const Index3 to = offset_of(part), by = offset_of(n);
      bool shares = true;
      for (std::size_t axis = 0; axis < 3; ++axis)
        shares = shares && (by[axis] == 0 || by[axis] == to[axis]);
      if (shares) sharers[static_cast<std::size_t>(part)] |= 1U << static_cast<unsigned>(n);
    }
  return sharers;
}
constexpr std::array<std::uint32_t, kPlaces> kSharers = find_sharers();

// Nodes of a part along one axis.
struct NodeSpan {
  std::int32_t first, count;
};
constexpr NodeSpan span_of(std::int32_t offset) {
  return offset == 0 ? NodeSpan{1, kBrickCells - 1} : NodeSpan{offset < 0 ? 0 : kBrickCells, 1};
}

}  // namespace

// Large buffers begin on a huge page, and ask for such: a build touches every page of them once.
AlignedBuffer::AlignedBuffer(std::size_t size) : size_(size) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21U;
  const std::size_t alignment = size < 4 * kHugePage ? kAlignment : kHugePage;
  data_ = {static_cast<std::byte*>(::operator new (size, std::align_val_t{alignment})),
           AlignedFree{alignment}};
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Advice alone: whole pages of the buffer, and it does not matter if it is refused.
  if (alignment == kHugePage) ::madvise(data_.get(), size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}

void AlignedFree::operator()(std::byte* p) const {
  ::operator delete (p, std::align_val_t{alignment});
}

void lay_out(BrickFieldHeader& h) {
  const BrickParts parts = find_parts(h);
  std::uint64_t end = sizeof(BrickFieldHeader);
  const auto place = [&end](std::uint64_t bytes) {
    const std::uint64_t at = end;
    end = (end + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  h.level_count = static_cast<std::uint32_t>(parts.level_count);
  h.coarse_offset = place(parts.coarse_count * sizeof(float));
  h.block_offset = place(parts.block_count * sizeof(BrickBlock));
  h.range_offset = place(std::uint64_t{h.brick_count} * sizeof(ValueRange));
  h.tree_offset = place(parts.tree_count * sizeof(ValueRange));
  h.brick_offset = place(std::uint64_t{h.brick_count} * sizeof(Brick));
  h.total_bytes = end;
}

BrickAssembly::BrickAssembly(const AssemblySettings& settings,
                             std::span<const std::uint64_t> occupied, std::span<const float> coarse)
    : settings_(settings) {
  const double voxel = settings.lattice.spacing;
  BrickFieldHeader h{};
  std::memcpy(h.magic, "ISOBRICK", sizeof(h.magic));
  h.version = 1;
  h.brick_cells = kBrickCells;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    assert(settings.lattice.cells[axis] % kBrickCells == 0);
    h.origin[axis] = settings.lattice.origin[axis];
    h.coarse_cells[axis] = settings.lattice.cells[axis] / kBrickCells;
  }
  h.voxel_size = voxel;
  for (const std::uint64_t bits : occupied)
    h.brick_count += static_cast<std::uint32_t>(std::popcount(bits));
  // Rounded up, so that the largest correction is 127 steps at most.
  h.step = std::nextafter(static_cast<float>(kLargestCorrection * voxel / 127),
                          std::numeric_limits<float>::infinity());
  const double fine_error = settings.sample_error + 0.5 * static_cast<double>(h.step);
  h.near_error = static_cast<float>((kHalfDiagonal * voxel + fine_error) * 1.0001);
  h.far_error = static_cast<float>((kLargestCorrection * voxel + fine_error) * 1.0001);
  h.sparse_from = static_cast<float>(settings.sparse_from);
  h.sparse_error =
      static_cast<float>((2 * kLargestCorrection * voxel + settings.sample_error) * 1.0001);
  h.band = static_cast<float>(settings.band);
  h.range = static_cast<float>(settings.range);
  h.sample_error = static_cast<float>(settings.sample_error * 1.0001);
  h.shell_offset = static_cast<float>(settings.shell_offset);
  h.open = settings.open ? 1 : 0;
  h.plain = settings.plain ? 1 : 0;
  lay_out(h);
  buffer_ = AlignedBuffer(h.total_bytes);
  std::byte* data = buffer_.bytes().data();
  const BrickParts parts = find_parts(h);
  header_ = reinterpret_cast<BrickFieldHeader*>(data);
  *header_ = h;
  coarse_ = {reinterpret_cast<float*>(data + h.coarse_offset), parts.coarse_count};
  blocks_ = {reinterpret_cast<BrickBlock*>(data + h.block_offset), parts.block_count};
  ranges_ = {reinterpret_cast<ValueRange*>(data + h.range_offset), h.brick_count};
  tree_ = {reinterpret_cast<ValueRange*>(data + h.tree_offset), parts.tree_count};
  bricks_ = {reinterpret_cast<Brick*>(data + h.brick_offset), h.brick_count};
  const auto clear_behind = [data](const auto& part, std::uint64_t next) {
    std::byte* end = reinterpret_cast<std::byte*>(part.data() + part.size());
    std::fill(end, data + next, std::byte{});
  };
  clear_behind(coarse_, h.block_offset);
  clear_behind(blocks_, h.range_offset);
  clear_behind(ranges_, h.tree_offset);
  clear_behind(tree_, h.brick_offset);
  block_counts_ = parts.blocks;
  assert(coarse.size() == coarse_.size() && occupied.size() == blocks_.size());
  std::copy(coarse.begin(), coarse.end(), coarse_.begin());
  number_bricks(occupied);
}

void BrickAssembly::number_bricks(std::span<const std::uint64_t> occupied) {
  const Index3 blocks = find_parts(*header_).blocks;
  cells_.reserve(bricks_.size());
  std::size_t b = 0;
  for (std::int32_t z = 0; z < blocks[2]; ++z)
    for (std::int32_t y = 0; y < blocks[1]; ++y)
      for (std::int32_t x = 0; x < blocks[0]; ++x, ++b) {
        blocks_[b] = {occupied[b], static_cast<std::uint32_t>(cells_.size()), 0};
        for (std::uint64_t left = occupied[b]; left != 0; left &= left - 1) {
          const int bit = std::countr_zero(left);
          cells_.push_back({x * kBlockCells + (bit & 3), y * kBlockCells + (bit >> 2 & 3),
                            z * kBlockCells + (bit >> 4)});
        }
      }
}

std::size_t BrickAssembly::brick_of(const Index3& cell) const {
  return BrickReader::brick_in(blocks_[flat_index(block_counts_, cell[0] / kBlockCells,
                                                  cell[1] / kBlockCells, cell[2] / kBlockCells)],
                               cell[0], cell[1], cell[2]);
}

void BrickAssembly::set(std::size_t number, std::span<const float> distance, unsigned exact) {
  assert(distance.size() == 512);
  Brick& brick = bricks_[number];
  const Index3 cell = cells_[number];
  const Index3 nodes{header_->coarse_cells[0] + 1, header_->coarse_cells[1] + 1,
                     header_->coarse_cells[2] + 1};
  for (std::int32_t c = 0; c < 8; ++c)
    brick.corner[c] =
        coarse_[flat_index(nodes, cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2))];
  const float steps_a_metre = 1 / header_->step;
  std::size_t cut = 0;
  unsigned inexact = 0;  // cubes with a sample that was cut
  for (std::int32_t z = 0; z < kBrickCells; ++z) {
    const LayerRows rows(brick.corner, z);
    for (std::int32_t y = 0; y < kBrickCells; ++y) {
      const int first_cube = (z >> 2) * 4 + (y >> 2) * 2;
      const unsigned beyond = quantise_row(distance.data() + (z * kBrickCells + y) * kBrickCells,
                                           rows.at(y), steps_a_metre, exact >> first_cube & 3U,
                                           brick.correction + sample_index(0, y, z));
      if (beyond == 0) continue;
      cut += static_cast<std::size_t>(std::popcount(beyond));
      if ((beyond & 0x0fU) != 0) inexact |= 1U << first_cube;
      if ((beyond & 0xf0U) != 0) inexact |= 2U << first_cube;
    }
  }
  brick.exact = static_cast<std::uint8_t>(exact & ~inexact);
  brick.correction[0] = 0;  // the corner itself
  std::fill(std::begin(brick.unused), std::end(brick.unused), std::int8_t{});
  if (cut > 0) cut_ += cut;
}

// A node on faces, edges or corners of a brick is shared by all cells around. If all of them have
// bricks, the one in which it is an own node (0 to 7 an axis) has its correction and the others
// copy it. If not, the field there must be the coarse interpolant, which needs a correction of
// zero. All sharers come to the same verdict, so nobody writes what another one reads.
void BrickAssembly::bind(std::size_t number) {
  Brick& brick = bricks_[number];
  std::uint32_t around[kPlaces];
  const std::uint32_t present = find_neighbours(cells_[number], around);
  for (std::int32_t part = 0; part < kPlaces; ++part) {
    if (part == kPlaces / 2) continue;
    const std::uint32_t sharers = kSharers[static_cast<std::size_t>(part)];
    const bool shared = (present & sharers) == sharers;
    const Index3 to = offset_of(part);
    // In the owner, upper sides of this brick are lower ones.
    const Index3 by{std::max(to[0], 0), std::max(to[1], 0), std::max(to[2], 0)};
    const std::int32_t owner = (by[2] + 1) * 9 + (by[1] + 1) * 3 + by[0] + 1;
    if (shared && owner == kPlaces / 2) continue;
    const NodeSpan x = span_of(to[0]), y = span_of(to[1]), z = span_of(to[2]);
    const std::int8_t* from = nullptr;
    if (shared)
      from = bricks_[around[owner]].correction + sample_index(x.first - by[0] * kBrickCells,
                                                              y.first - by[1] * kBrickCells,
                                                              z.first - by[2] * kBrickCells);
    std::int8_t* at = brick.correction + sample_index(x.first, y.first, z.first);
    for (std::int32_t k = 0; k < z.count; ++k)
      for (std::int32_t j = 0; j < y.count; ++j) {
        const std::size_t row = sample_index(0, j, k);
        if (x.count == 1)
          at[row] = from != nullptr ? from[row] : std::int8_t{0};
        else if (from != nullptr)
          std::memcpy(at + row, from + row, kBrickCells - 1);
        else
          std::memset(at + row, 0, kBrickCells - 1);
      }
  }
}

// Numbers of the bricks around a cell, itself included, and a bit for each that is there. Beyond
// the box there are none: on its sides, too, the field is the coarse interpolant.
std::uint32_t BrickAssembly::find_neighbours(const Index3& cell, std::uint32_t* around) const {
  // Along each axis, for -1, 0 and 1: the block, as a step in their array, and the bit in it.
  std::size_t block[3][3];
  unsigned bit[3][3];
  bool is_there[3][3];
  std::size_t stride = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t at = cell[axis] + static_cast<std::int32_t>(k) - 1;
      is_there[axis][k] = at >= 0 && at < header_->coarse_cells[axis];
      block[axis][k] = static_cast<std::size_t>(std::max(at, 0) / kBlockCells) * stride;
      bit[axis][k] = (static_cast<unsigned>(at) & 3U) << (2 * axis);
    }
    stride *= static_cast<std::size_t>(block_counts_[axis]);
  }
  std::uint32_t present = 0;
  for (std::size_t n = 0; n < kPlaces; ++n) {
    const std::size_t x = n % 3, y = n / 3 % 3, z = n / 9;
    if (!(is_there[0][x] && is_there[1][y] && is_there[2][z])) continue;
    const BrickBlock& there = blocks_[block[0][x] + block[1][y] + block[2][z]];
    const unsigned place = bit[0][x] | bit[1][y] | bit[2][z];
    if ((there.occupied >> place & 1U) == 0) continue;
    const std::uint64_t before = there.occupied & ((std::uint64_t{1} << place) - 1);
    around[n] = there.first_brick + static_cast<std::uint32_t>(std::popcount(before));
    present |= 1U << n;
  }
  return present;
}

ValueRange BrickAssembly::compute_cell_range(const Index3& cell) const {
  const std::size_t brick = brick_of(cell);
  if (brick != BrickField::kNoBrick) return ranges_[brick];
  const Index3 nodes{header_->coarse_cells[0] + 1, header_->coarse_cells[1] + 1,
                     header_->coarse_cells[2] + 1};
  ValueRange r{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (std::int32_t c = 0; c < 8; ++c) {
    const float v =
        coarse_[flat_index(nodes, cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2))];
    r = {std::min(r.min, v), std::max(r.max, v)};
  }
  return rounded_out(r);
}

ValueRange BrickAssembly::compute_tree_range(int level, const Index3& node,
                                             std::span<const ValueRange> below) const {
  const Index3 cells{header_->coarse_cells[0], header_->coarse_cells[1], header_->coarse_cells[2]};
  const Index3 dims = tree_dims(cells, level - 1);
  ValueRange r{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (std::int32_t c = 0; c < 8; ++c) {
    const Index3 at{2 * node[0] + (c & 1), 2 * node[1] + (c >> 1 & 1), 2 * node[2] + (c >> 2)};
    if (at[0] >= dims[0] || at[1] >= dims[1] || at[2] >= dims[2]) continue;
    const ValueRange child =
        level == 1 ? compute_cell_range(at) : below[flat_index(dims, at[0], at[1], at[2])];
    r = {std::min(r.min, child.min), std::max(r.max, child.max)};
  }
  return r;
}

void BrickAssembly::build_tree() {
  const Index3 cells{header_->coarse_cells[0], header_->coarse_cells[1], header_->coarse_cells[2]};
  std::span<ValueRange> below{}, level = tree_;
  for (int l = 1; l <= static_cast<int>(header_->level_count); ++l) {
    const Index3 dims = tree_dims(cells, l);
    parallel_for(static_cast<std::size_t>(dims[2]), 1, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::int32_t z = static_cast<std::int32_t>(begin);
                        z < static_cast<std::int32_t>(end); ++z)
                     for (std::int32_t y = 0; y < dims[1]; ++y)
                       for (std::int32_t x = 0; x < dims[0]; ++x)
                         level[flat_index(dims, x, y, z)] = compute_tree_range(l, {x, y, z}, below);
                 });
    below = level.first(count(dims));
    level = level.subspan(count(dims));
  }
}

void BrickAssembly::update_tree(const Changes& changes) {
  const std::span<const ValueRange> before{changes.before.tree_level(1).data(), tree_.size()};
  std::copy(before.begin(), before.end(), tree_.begin());
  const Index3 cells{header_->coarse_cells[0], header_->coarse_cells[1], header_->coarse_cells[2]};
  std::vector<Index3> nodes(changes.cells.begin(), changes.cells.end());
  std::span<ValueRange> below{}, level = tree_;
  for (int l = 1; l <= static_cast<int>(header_->level_count); ++l) {
    const Index3 dims = tree_dims(cells, l);
    for (Index3& node : nodes) node = {node[0] / 2, node[1] / 2, node[2] / 2};
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const Index3& n : nodes)
      level[flat_index(dims, n[0], n[1], n[2])] = compute_tree_range(l, n, below);
    below = level.first(count(dims));
    level = level.subspan(count(dims));
  }
}

void BrickAssembly::bind_and_measure(std::size_t number) {
  bind(number);
  ranges_[number] = compute_brick_range(bricks_[number], header_->step);
  bricks_[number].slope = compute_brick_slope(bricks_[number], header_->step, header_->voxel_size);
}

void BrickAssembly::adopt(std::size_t number, const Brick& finished, const ValueRange& range) {
  bricks_[number] = finished;
  ranges_[number] = range;
}

BrickField BrickAssembly::finish() {
  parallel_for(bricks_.size(), kBrickGrain, settings_.threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t b = begin; b < end; ++b) bind_and_measure(b);
               });
  build_tree();
  return release();
}

BrickField BrickAssembly::finish(const Changes& changes) {
  parallel_for(changes.bound.size(), kBrickGrain, settings_.threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t i = begin; i < end; ++i)
                   bind_and_measure(brick_of(changes.bound[i]));
               });
  update_tree(changes);
  return release();
}

// The steepest slope of all: of bricks as they know it, of other cells from their corners. Outside
// of the box the extension is no steeper, unless the box may cut the body: then it adds a slope of
// 1 across the side to the one along it.
void BrickAssembly::compute_lipschitz() {
  const Index3 cells{header_->coarse_cells[0], header_->coarse_cells[1], header_->coarse_cells[2]};
  const Index3 nodes{cells[0] + 1, cells[1] + 1, cells[2] + 1};
  float steepest = 1;
  for (const Brick& brick : bricks_) steepest = std::max(steepest, slope_of(brick.slope));
  const float side = static_cast<float>(header_->voxel_size) * kBrickCells;
  const float coarse = parallel_reduce(
      static_cast<std::size_t>(cells[2]), 1, settings_.threads, 0.0F,
      [&](std::size_t begin, std::size_t) {
        const auto z = static_cast<std::int32_t>(begin);
        float most_sq = 0;
        for (std::int32_t y = 0; y < cells[1]; ++y)
          for (std::int32_t x = 0; x < cells[0]; ++x) {
            if (brick_of({x, y, z}) != BrickField::kNoBrick) continue;
            float corner[8];
            for (std::int32_t c = 0; c < 8; ++c)
              corner[c] = coarse_[flat_index(nodes, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))];
            most_sq = std::max(most_sq, compute_steepest_sq(corner));
          }
        return std::sqrt(most_sq);
      },
      [](float a, float b) { return std::max(a, b); });
  steepest = std::max(steepest, coarse / side);
  if (header_->open != 0) steepest = std::sqrt(1 + steepest * steepest);
  header_->lipschitz = steepest * 1.001F;  // more than rounding of values adds up to over a cell
}

BrickField BrickAssembly::release() {
  compute_lipschitz();
  const auto owner = std::make_shared<AlignedBuffer>(std::move(buffer_));
  return BrickField::from_buffer(owner->bytes(), owner, Check::kHeader);
}

}  // namespace isotact::detail
