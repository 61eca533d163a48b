#include "isotact/field/build/detail/node_distances.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/shared_progress.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/distance_pass.h"
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

NodeDistances find_node_distances(const Surface& surface, const Bvh& bvh, const Lattice& lattice,
                                  Threads threads, const Monitor& monitor) {
  check_box(lattice, surface);
  const Lattice wider = add_bricks(lattice);
  const Index3 nodes = node_counts(lattice);
  const DistancePass pass(surface.mesh, bvh, wider, threads);
  const std::vector<float> coarse = pass.find_coarse({}, monitor);
  std::optional<RowCrossings> rows;
  if (surface.report.method != SignMethod::kUnsigned)
    rows.emplace(surface, wider, threads, monitor);
  NodeDistances found{.values = std::vector<float>(count(nodes))};
  found.doubtful = rows ? pass.signed_error() / 2 * lattice.spacing : 0;
  const auto h = static_cast<float>(lattice.spacing);
  const auto shell = static_cast<float>(surface.report.shell_offset);
  const auto doubtful = static_cast<float>(found.doubtful);
  std::atomic<float> largest_doubtful = 0, largest = 0;
  const CellBits all = mark_all(
      {wider.cells[0] / kBrickCells, wider.cells[1] / kBrickCells, wider.cells[2] / kBrickCells});
  SharedProgress progress(monitor, "distances", all.count_set());
  pass.for_each_brick({.bits = all, .whole = all, .coarse = coarse, .distances = {0, 0}}, monitor,
                      [&](const Index3& cell, std::span<float> distance, unsigned) {
                        if (rows) sign_brick(distance, cell, *rows);
                        float most = 0, most_doubtful = 0;
                        for_nodes(cell, nodes, [&](std::size_t in_brick, std::size_t node) {
                          const float value = distance[in_brick] * h - shell;
                          found.values[node] = value;
                          most = std::max(most, std::abs(value));
                          if (std::abs(value) < doubtful)
                            most_doubtful = std::max(most_doubtful, std::abs(value));
                        });
                        raise(largest, most);
                        raise(largest_doubtful, most_doubtful);
                        progress.advance(1);
                      });
  found.largest_doubtful = static_cast<double>(largest_doubtful);
  // Spacing, offset, product and difference are each rounded.
  found.error = pass.error() * lattice.spacing +
                0x1p-22 * (static_cast<double>(largest) + surface.report.shell_offset);
  return found;
}

}  // namespace isotact::detail
