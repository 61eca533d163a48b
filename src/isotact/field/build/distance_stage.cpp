#include "isotact/field/build/detail/distance_stage.h"

#include <bit>

#include "isotact/field/detail/brick_layout.h"
#include "isotact/field/detail/sparse_nodes.h"

namespace isotact::detail {
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
                     unsigned interpolated = sparse.find_interpolated({x, y, z});
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

std::vector<float> DistanceStage::find_coarse(const DistancePass::CoarseRule& rule,
                                              const Monitor& monitor) {
  if (pass_) return pass_->find_coarse(rule, monitor);
  std::vector<float> values = on_device_->find_coarse(monitor);
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
