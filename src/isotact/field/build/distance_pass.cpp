#include "isotact/field/build/detail/distance_pass.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "isotact/field/build/detail/distance_kernel.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/detail/sparse_nodes.h"
#include "isotact/field/surface/detail/cell_frame.h"
#include "isotact/geometry/bvh/bvh_visit.h"

namespace isotact::detail {

using BaselineKernel = DistanceKernel<Lanes<float, 4>>;

const DistanceKernels kBaselineDistanceKernels = {
    BaselineKernel::refine, BaselineKernel::refine_by_search, BaselineKernel::find_packet};

namespace {

constexpr double kBlockCenter = 7.5;  // of 16^3 nodes, from the first one
// Too far for any minimum; its square is still a float.
constexpr float kHidden = 1e15F;

Index3 unflatten(const Index3& n, std::size_t at) {
  const auto nx = static_cast<std::size_t>(n[0]), ny = static_cast<std::size_t>(n[1]);
  return {static_cast<std::int32_t>(at % nx), static_cast<std::int32_t>(at / nx % ny),
          static_cast<std::int32_t>(at / nx / ny)};
}

Index3 node_of(const Index3& first, std::int32_t stride, unsigned corner) {
  return {first[0] + stride * static_cast<std::int32_t>(corner & 1U),
          first[1] + stride * static_cast<std::int32_t>(corner >> 1U & 1U),
          first[2] + stride * static_cast<std::int32_t>(corner >> 2U)};
}

const DistanceKernels& kernels_for([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2DistanceKernels;
#endif
  return kBaselineDistanceKernels;
}

}  // namespace

struct DistancePass::Scratch {
  std::vector<PacketWork> searches;  // one a part
  std::vector<std::uint32_t> triangles;
  std::vector<NearTriangle> near;
  std::vector<Eight> squares;
  std::vector<EightInPlane> in_plane;
  std::vector<std::uint8_t> masks;
  std::array<std::vector<std::uint32_t>, kRefineLists> lists;
  std::vector<std::array<float, 512>> distance = std::vector<std::array<float, 512>>(8);

  void make_room() {
    const std::size_t n = triangles.size();
    if (near.size() >= n) return;
    const std::size_t room = n + n / 2 + 64;
    near.resize(room);
    squares.resize(room);
    in_plane.resize(room);
    masks.resize(room + 8);
    for (auto& list : lists) list.resize(8 * room + 8);
  }
};

DistancePass::DistancePass(const TriangleMesh& mesh, const Bvh& bvh, const Lattice& lattice,
                           Threads threads, SimdLevel level)
    : parts_{{&bvh, 0}},
      lattice_(lattice),
      threads_(threads),
      kernels_(kernels_for(level)),
      frames_(make_frames(bvh, mesh, lattice, threads)) {
  const std::int32_t widest = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  error_ = widest * 0x1p-21 + 0x1p-16;
  const Aabb box = bounds(lattice);
  const Vec3 reach = max(box.upper, -box.lower);
  metres_error_ = std::max({std::abs(reach.x), std::abs(reach.y), std::abs(reach.z)}) * 0x1p-22 /
                  lattice.spacing;
}

Index3 DistancePass::coarse_nodes() const {
  return {lattice_.cells[0] / kBrickCells + 1, lattice_.cells[1] / kBrickCells + 1,
          lattice_.cells[2] / kBrickCells + 1};
}

void DistancePass::hide(std::size_t frame) {
  for (float& x : frames_[frame].anchor) x = kHidden;
}

void DistancePass::set_added(const TriangleMesh& mesh, const Bvh& bvh) {
  if (parts_.size() > 1) frames_.resize(parts_[1].first_frame);
  parts_.resize(1, parts_[0]);
  if (bvh.nodes().empty()) return;
  parts_.push_back({&bvh, frames_.size()});
  const std::vector<TriangleFrame> added = make_frames(bvh, mesh, lattice_, threads_);
  frames_.insert(frames_.end(), added.begin(), added.end());
}

PacketWork DistancePass::make_packet_work(const Part& part) const {
  PacketWork work{};
  work.nodes = part.bvh->oriented_nodes().data();
  work.frames = frames_.data() + part.first_frame;
  for (std::size_t axis = 0; axis < 3; ++axis) work.origin[axis] = lattice_.origin[axis];
  work.voxel_size = lattice_.spacing;
  work.slack = static_cast<float>(2 * error_ + metres_error_);
  return work;
}

// One work a part.
void DistancePass::find_packet(const CoarseRule& rule, std::int32_t stride,
                               std::span<PacketWork> works, const Index3& first,
                               std::span<float> values) const {
  const Index3 nodes = coarse_nodes();
  const SparseNodes sparse(values, nodes, rule.sparse_from);
  const bool between = stride == 1 && rule.sparse_from > 0;
  const unsigned interpolated = between ? sparse.compute_interpolated(first) : 0;
  float means[8];
  if (interpolated != 0) sparse.interpolate(first, interpolated, means);
  unsigned wanted = 0;
  for (unsigned i = between ? 1 : 0; i < 8; ++i) {
    const Index3 at = node_of(first, stride, i);
    if (at[0] >= nodes[0] || at[1] >= nodes[1] || at[2] >= nodes[2]) continue;
    if ((interpolated >> i & 1U) != 0)
      values[flat_index(nodes, at[0], at[1], at[2])] = means[i];
    else
      wanted |= 1U << i;
  }
  if (wanted == 0) return;
  for (PacketWork& work : works) {
    work.spacing = kBrickCells * stride;
    for (std::size_t axis = 0; axis < 3; ++axis)
      work.center[axis] =
          static_cast<float>(first[axis] * kBrickCells) + 0.5F * static_cast<float>(work.spacing);
    kernels_.find_packet(work);
  }
  for (unsigned i = 0; i < 8; ++i) {
    if ((wanted >> i & 1U) == 0) continue;
    const Index3 at = node_of(first, stride, i);
    float least = works[0].distance.d[i];
    for (const PacketWork& work : works.subspan(1)) least = std::min(least, work.distance.d[i]);
    values[flat_index(nodes, at[0], at[1], at[2])] =
        least * static_cast<float>(lattice_.spacing) - rule.shift;
  }
}

void DistancePass::find_packets(const CoarseRule& rule, std::int32_t stride, const Monitor& monitor,
                                std::span<float> values) const {
  const std::int32_t width = 2 * stride;  // of a packet
  Index3 packets = coarse_nodes();
  for (std::int32_t& n : packets) n = (n - 1) / width + 1;
  // Cubes of packets, so that what a thread looks at stays in its caches.
  constexpr std::int32_t kCube = 8;
  const Index3 cubes{(packets[0] - 1) / kCube + 1, (packets[1] - 1) / kCube + 1,
                     (packets[2] - 1) / kCube + 1};
  parallel_for(count(cubes), 1, threads_, [&](std::size_t begin, std::size_t) {
    monitor.check();
    std::vector<PacketWork> works;
    for (const Part& part : parts_) works.push_back(make_packet_work(part));
    const Index3 cube = unflatten(cubes, begin);
    for (std::int32_t p = 0; p < kCube * kCube * kCube; ++p) {
      // There and back again: neighbours in time are neighbours in space.
      const std::int32_t row = p / kCube, layer = row / kCube;
      const Index3 packet{
          cube[0] * kCube + (row % 2 == 0 ? p % kCube : kCube - 1 - p % kCube),
          cube[1] * kCube + (layer % 2 == 0 ? row % kCube : kCube - 1 - row % kCube),
          cube[2] * kCube + layer};
      if (packet[0] < packets[0] && packet[1] < packets[1] && packet[2] < packets[2])
        find_packet(rule, stride, works, {width * packet[0], width * packet[1], width * packet[2]},
                    values);
    }
  });
}

std::vector<float> DistancePass::compute_coarse(const CoarseRule& rule,
                                                const Monitor& monitor) const {
  std::vector<float> values(count(coarse_nodes()));
  if (rule.sparse_from > 0) find_packets(rule, 2, monitor, values);
  find_packets(rule, 1, monitor, values);
  return values;
}

void DistancePass::update_coarse(const CoarseRule& rule, std::int32_t stride,
                                 std::span<const Index3> packets, std::span<float> values) const {
  parallel_for(packets.size(), 256, threads_, [&](std::size_t begin, std::size_t end) {
    std::vector<PacketWork> works;
    for (const Part& part : parts_) works.push_back(make_packet_work(part));
    for (std::size_t i = begin; i < end; ++i) find_packet(rule, stride, works, packets[i], values);
  });
}

// Of the centre of the 16^3 nodes that begin at a coarse cell, fine cells: half a cell's diagonal
// away there is a coarse node, except where the lattice ends.
double DistancePass::bound_distance(const BrickWork& work, const Index3& cell) const {
  const Index3 nodes = coarse_nodes();
  Index3 at;
  double apart_sq = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    at[axis] = std::min(cell[axis] + 1, nodes[axis] - 1);
    const double gap = (at[axis] - cell[axis]) * kBrickCells - kBlockCenter;
    apart_sq += gap * gap;
  }
  const double value = static_cast<double>(work.coarse[flat_index(nodes, at[0], at[1], at[2])]);
  // Signed or shifted: the distance itself is one of these at most.
  const double most = std::max(std::abs(value), std::abs(value + work.shift));
  return most / lattice_.spacing + std::sqrt(apart_sq) + error_;
}

// False where there are more than lists are good for.
bool DistancePass::gather(const Aabbf& box, Scratch& s) const {
  s.triangles.clear();
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return visit_blocks_in_box(*part.bvh, box, 0, [&](std::uint32_t block) {
      const std::size_t first = part.first_frame + std::size_t{block} * kBlockWidth;
      for (std::size_t i = first; i < first + kBlockWidth; ++i)
        if (frames_[i].length >= 0) s.triangles.push_back(static_cast<std::uint32_t>(i));
      return s.triangles.size() <= longest_list_;
    });
  });
}

void DistancePass::compute_eighths(const BrickWork& bricks, const Index3& cell, unsigned wanted,
                                   unsigned whole, Scratch& s, const BrickVisitor& visit) const {
  constexpr double kRadius = 1.7320508075688773 * kBlockCenter;
  RefineWork work{};
  Aabbf box;
  // A nearest triangle of some node is no further than this from the box of the nodes.
  const double reach = bound_distance(bricks, cell) + kRadius + 4 * error_;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    work.center[axis] =
        static_cast<float>(cell[axis] * kBrickCells) + static_cast<float>(kBlockCenter);
    const double c =
        lattice_.origin[axis] + static_cast<double>(work.center[axis]) * lattice_.spacing;
    const double half = (kBlockCenter + reach) * lattice_.spacing;
    const double rounding = 0x1p-22 * (std::abs(c) + half);
    box.lower[axis] = static_cast<float>(c - half - rounding);
    box.upper[axis] = static_cast<float>(c + half + rounding);
  }
  const bool by_lists = gather(box, s);
  s.make_room();
  work.frames = frames_.data();
  work.triangles = s.triangles.data();
  work.triangle_count = s.triangles.size();
  work.bricks = wanted;
  work.whole = whole;
  work.wanted_from = static_cast<float>(bricks.distances.from - 2 * error_);
  work.wanted_to = static_cast<float>(bricks.distances.to + 2 * error_);
  std::uint8_t exact[8];
  work.exact = exact;
  work.near = s.near.data();
  work.squares = s.squares.data();
  work.in_plane = s.in_plane.data();
  work.masks = s.masks.data();
  for (std::size_t l = 0; l < kRefineLists; ++l) work.lists[l] = s.lists[l].data();
  work.slack = static_cast<float>(4 * error_);
  work.distance = reinterpret_cast<float(*)[512]>(s.distance.data());
  work.room = std::min(s.near.size(), longest_list_);
  work.searches = s.searches.data();
  work.search_count = s.searches.size();
  (by_lists ? kernels_.refine : kernels_.refine_by_search)(work);
  for (unsigned b = 0; b < 8; ++b)
    if ((wanted >> b & 1U) != 0)
      visit({cell[0] + static_cast<std::int32_t>(b & 1U),
             cell[1] + static_cast<std::int32_t>(b >> 1U & 1U),
             cell[2] + static_cast<std::int32_t>(b >> 2U)},
            s.distance[b], exact[b]);
}

void DistancePass::for_each_brick(const BrickWork& work, const Monitor& monitor,
                                  const BrickVisitor& visit) const {
  const CellBits& bits = work.bits;
  const Index3 blocks = find_parts(bits.cells()).blocks;
  // Bits of the eighth of a block that begins at bit `first`.
  const auto eighth = [](std::uint64_t word, unsigned first) {
    unsigned bricks = 0;
    for (unsigned b = 0; b < 8; ++b)
      bricks |= static_cast<unsigned>(
                    word >> (first + (b & 1U) + (b >> 1U & 1U) * 4 + (b >> 2U) * 16) & 1U)
                << b;
    return bricks;
  };
  parallel_for(bits.words().size(), 4, threads_, [&](std::size_t begin, std::size_t end) {
    monitor.check();
    Scratch scratch;
    for (const Part& part : parts_) scratch.searches.push_back(make_packet_work(part));
    for (std::size_t w = begin; w < end; ++w) {
      const std::uint64_t word = bits.words()[w];
      if (word == 0) continue;
      const Index3 block = unflatten(blocks, w);
      for (unsigned part = 0; part < 8; ++part) {
        const unsigned first = (part & 1U) * 2 + (part >> 1U & 1U) * 8 + (part >> 2U) * 32;
        const unsigned bricks = eighth(word, first);
        if (bricks == 0) continue;
        compute_eighths(work,
                        {block[0] * 4 + static_cast<std::int32_t>(part & 1U) * 2,
                         block[1] * 4 + static_cast<std::int32_t>(part >> 1U & 1U) * 2,
                         block[2] * 4 + static_cast<std::int32_t>(part >> 2U) * 2},
                        bricks, eighth(work.whole.words()[w], first), scratch, visit);
      }
    }
  });
}

namespace {

// What DistancePass does while it measures: nodes between sparse ones become their means. Only odd
// nodes are written and only even ones read, so layers may go in any order.
void interpolate_sparse(float sparse_from, const Index3& nodes, Threads threads,
                        std::span<float> values) {
  const SparseNodes sparse(values, nodes, sparse_from);
  parallel_for(static_cast<std::size_t>((nodes[2] + 1) / 2), 1, threads,
               [&](std::size_t layer, std::size_t) {
                 const std::int32_t z = 2 * static_cast<std::int32_t>(layer);
                 for (std::int32_t y = 0; y < nodes[1]; y += 2)
                   for (std::int32_t x = 0; x < nodes[0]; x += 2) {
                     unsigned interpolated = sparse.compute_interpolated({x, y, z});
                     if (interpolated == 0) continue;
                     float means[8];
                     sparse.interpolate({x, y, z}, interpolated, means);
                     for (; interpolated != 0; interpolated &= interpolated - 1) {
                       const auto i = static_cast<std::int32_t>(std::countr_zero(interpolated));
                       const Index3 at{x + (i & 1), y + (i >> 1 & 1), z + (i >> 2)};
                       if (at[0] < nodes[0] && at[1] < nodes[1] && at[2] < nodes[2])
                         values[flat_index(nodes, at[0], at[1], at[2])] = means[i];
                     }
                   }
               });
}

std::vector<BrickRequest> list_bricks(const CellBits& bits, const CellBits& whole) {
  std::vector<BrickRequest> list;
  list.reserve(bits.count_set());
  const Index3 blocks = find_parts(bits.cells()).blocks;
  std::size_t w = 0;
  for (std::int32_t z = 0; z < blocks[2]; ++z)
    for (std::int32_t y = 0; y < blocks[1]; ++y)
      for (std::int32_t x = 0; x < blocks[0]; ++x, ++w)
        for (std::uint64_t word = bits.words()[w]; word != 0; word &= word - 1) {
          const auto bit = static_cast<std::int32_t>(std::countr_zero(word));
          list.push_back({.cell = {4 * x + (bit & 3), 4 * y + (bit >> 2 & 3), 4 * z + (bit >> 4)},
                          .whole = (whole.words()[w] >> bit & 1U) != 0});
        }
  return list;
}

}  // namespace

DistanceStage::DistanceStage(const TriangleMesh& mesh, const Lattice& lattice,
                             DistanceDevice* device, Threads threads,
                             const std::function<const Bvh&()>& find_bvh)
    : lattice_(lattice), threads_(threads) {
  if (device != nullptr) on_device_ = device->open(mesh, lattice, threads, refusal_);
  if (!on_device_) pass_.emplace(mesh, find_bvh(), lattice, threads);
}

std::vector<float> DistanceStage::compute_coarse(const DistancePass::CoarseRule& rule,
                                                 const Monitor& monitor) {
  if (pass_) return pass_->compute_coarse(rule, monitor);
  std::vector<float> values = on_device_->compute_coarse(monitor);
  const auto h = static_cast<float>(lattice_.spacing);
  parallel_for(values.size(), 65536, threads_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = values[i] * h - rule.shift;
  });
  if (rule.sparse_from > 0)
    interpolate_sparse(rule.sparse_from,
                       {lattice_.cells[0] / kBrickCells + 1, lattice_.cells[1] / kBrickCells + 1,
                        lattice_.cells[2] / kBrickCells + 1},
                       threads_, values);
  return values;
}

void DistanceStage::for_each_brick(const DistancePass::BrickWork& work, const Monitor& monitor,
                                   const DistancePass::BrickVisitor& visit) {
  if (pass_) return pass_->for_each_brick(work, monitor, visit);
  const std::vector<BrickRequest> bricks = list_bricks(work.bits, work.whole);
  on_device_->for_each_brick(
      {.bricks = bricks, .wanted_from = work.distances.from, .wanted_to = work.distances.to},
      threads_, monitor, [&](const BrickDistances& brick) {
        visit(bricks[brick.request].cell, brick.distance, brick.exact);
      });
}

}  // namespace isotact::detail
