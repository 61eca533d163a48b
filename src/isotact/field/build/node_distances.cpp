#include "isotact/field/build/detail/node_distances.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/shared_progress.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/distance_stage.h"
#include "isotact/field/build/detail/marking.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/build/detail/signs.h"
#include "isotact/field/detail/brick_layout.h"

namespace isotact::detail {
namespace {

void check_box(const Lattice& l, const Surface& surface) {
  bool usable = l.spacing > 0 && std::isfinite(l.spacing) && is_finite(l.origin);
  for (const std::int32_t n : l.cells) usable = usable && n >= 1 && n < kMostResolution;
  if (!usable)
    throw Error(
        fmt::format("the lattice needs 1 to {} cells along each axis, of a positive, finite size",
                    kMostResolution - 1));
  const Aabb box = isotact::bounds(l), needed = to_double(isotact::bounds(surface.mesh));
  const double offset = surface.report.shell_offset;
  const Vec3 reach{offset, offset, offset};
  if (!contains(box, needed.lower - reach) || !contains(box, needed.upper + reach))
    throw Error("the surface reaches out of the lattice's box");
}

// Bricks have their own 8 nodes an axis; those on the last planes belong to one brick more.
Lattice add_bricks(const Lattice& lattice) {
  Lattice wider = lattice;
  for (std::int32_t& n : wider.cells) n = (n / kBrickCells + 1) * kBrickCells;
  return wider;
}

CellBits mark_all(const Index3& cells) {
  CellBits bits(cells);
  for (std::int32_t k = 0; k < cells[2]; ++k)
    for (std::int32_t j = 0; j < cells[1]; ++j)
      for (std::int32_t i = 0; i < cells[0]; ++i) bits.set({i, j, k});
  return bits;
}

void raise(std::atomic<float>& most, float value) {
  float seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// A brick's nodes, as far as the lattice has them.
template <typename Visit>
void for_nodes(const Index3& cell, const Index3& nodes, const Visit& visit) {
  Index3 first, end;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = cell[axis] * kBrickCells;
    end[axis] = std::min(first[axis] + kBrickCells, nodes[axis]);
  }
  for (std::int32_t k = first[2]; k < end[2]; ++k)
    for (std::int32_t j = first[1]; j < end[1]; ++j)
      for (std::int32_t i = first[0]; i < end[0]; ++i)
        visit(static_cast<std::size_t>(((k - first[2]) * kBrickCells + j - first[1]) * kBrickCells +
                                       i - first[0]),
              flat_index(nodes, i, j, k));
}

}  // namespace

namespace {

// Takes the values of bricks as they come, from several threads.
class NodeSink {
 public:
  NodeSink(const NodeWork& work, const RowCrossings* rows, double doubtful)
      : nodes_(node_counts(work.lattice)),
        rows_(rows),
        spacing_(static_cast<float>(work.lattice.spacing)),
        shell_(static_cast<float>(work.surface.report.shell_offset)),
        doubtful_(static_cast<float>(doubtful)) {
    found.values.resize(count(nodes_));
    found.doubtful = doubtful;
  }

  void take(const Index3& cell, std::span<float> distance, std::span<const Vec3f> direction) {
    if (rows_ != nullptr) sign_brick(distance, cell, *rows_);
    float most = 0, most_doubtful = 0;
    for_nodes(cell, nodes_, [&](std::size_t in_brick, std::size_t node) {
      const float value = distance[in_brick] * spacing_ - shell_;
      found.values[node] = value;
      if (!direction.empty()) {
        // On the surface the direction is that of its normal, whatever the sign has become.
        const bool inside = distance[in_brick] <= -static_cast<float>(kOnSurface);
        found.gradients[node] = inside ? -direction[in_brick] : direction[in_brick];
      }
      most = std::max(most, std::abs(value));
      if (std::abs(value) < doubtful_) most_doubtful = std::max(most_doubtful, std::abs(value));
    });
    raise(largest_, most);
    raise(largest_doubtful_, most_doubtful);
  }

  NodeDistances finish(double error) {
    found.largest_doubtful = static_cast<double>(largest_doubtful_);
    // Spacing, offset, product and difference are each rounded.
    found.error = error + 0x1p-22 * (static_cast<double>(largest_) + static_cast<double>(shell_));
    return std::move(found);
  }

  NodeDistances found;

 private:
  Index3 nodes_;
  const RowCrossings* rows_;
  float spacing_, shell_, doubtful_;
  std::atomic<float> largest_ = 0, largest_doubtful_ = 0;
};

}  // namespace

NodeDistances find_node_distances(const NodeWork& work) {
  check_box(work.lattice, work.surface);
  const Lattice wider = add_bricks(work.lattice);
  DistanceStage stage(work.surface.mesh, wider, work.device, work.threads, work.find_bvh);
  const std::vector<float> coarse = stage.find_coarse({}, work.monitor);
  std::optional<RowCrossings> rows;
  if (work.surface.report.method != SignMethod::kUnsigned)
    rows.emplace(work.surface, wider, work.threads, work.monitor);
  const double spacing = work.lattice.spacing;
  NodeSink sink(work, rows ? &*rows : nullptr, rows ? stage.signed_error() / 2 * spacing : 0);
  const Index3 cells{wider.cells[0] / kBrickCells, wider.cells[1] / kBrickCells,
                     wider.cells[2] / kBrickCells};
  SharedProgress progress(work.monitor, "distances", count(cells));
  if (work.gradients && stage.on_device() != nullptr) {
    sink.found.gradients.resize(sink.found.values.size());
    std::vector<BrickRequest> bricks;
    for (std::int32_t k = 0; k < cells[2]; ++k)
      for (std::int32_t j = 0; j < cells[1]; ++j)
        for (std::int32_t i = 0; i < cells[0]; ++i)
          bricks.push_back({.cell = {i, j, k}, .whole = true});
    stage.on_device()->for_each_brick({.bricks = bricks, .directions = true}, work.threads,
                                      work.monitor, [&](const BrickDistances& b) {
                                        sink.take(bricks[b.request].cell, b.distance, b.direction);
                                        progress.advance(1);
                                      });
  } else {
    const CellBits all = mark_all(cells);
    stage.for_each_brick({.bits = all, .whole = all, .coarse = coarse, .distances = {0, 0}},
                         work.monitor,
                         [&](const Index3& cell, std::span<float> distance, unsigned) {
                           sink.take(cell, distance, {});
                           progress.advance(1);
                         });
  }
  return sink.finish(stage.error() * spacing);
}

}  // namespace isotact::detail
