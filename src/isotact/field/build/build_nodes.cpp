#include "isotact/field/build/build_nodes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/detail/shared_progress.h"
#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact::detail {
namespace {

// Signed distances at all nodes of a lattice, by the passes that also fill bricks.

struct NodeDistances {
  // Metres, x fastest; less the offset of a shell.
  std::vector<float> values;
  // |values| is off by this much at most (unsigned: the values themselves), metres, rounding to
  // float included.
  double error = 0;
  // The sign of values nearer to zero than this may be wrong, metres: grid lines see a surface that
  // is snapped (row_crossings.h). 0 for an unsigned surface.
  double doubtful = 0;
  // The largest |value| among those; 0 where there are none.
  double largest_doubtful = 0;
  // Unit gradients at the nodes, where a device was asked for them; else empty.
  std::vector<Vec3f> gradients;
};

// Throws Error unless the lattice's box holds the surface, and its shell; Cancelled when the
// monitor says so. The same bytes for any number of threads. Cost on one thread: 0.1 to 0.4
// microseconds a node.
struct NodeWork {
  const Surface& surface;
  const Lattice& lattice;
  std::function<const Bvh&()> find_bvh;  // that of the surface's mesh, where it is needed
  DistanceDevice* device = nullptr;
  bool gradients = false;  // only from a device
  Threads threads{};
  Monitor monitor{};
};
NodeDistances compute_node_distances(const NodeWork& work);

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

NodeDistances compute_node_distances(const NodeWork& work) {
  check_box(work.lattice, work.surface);
  const Lattice wider = add_bricks(work.lattice);
  DistanceStage stage(work.surface.mesh, wider, work.device, work.threads, work.find_bvh);
  const std::vector<float> coarse = stage.compute_coarse({}, work.monitor);
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

}  // namespace

}  // namespace isotact::detail

namespace isotact {
namespace {

// An exact field that already knows about how far the surface is from the nodes of a lattice.
struct KnownNodes {
  const ExactField& exact;
  const detail::NodeDistances& distances;
  Index3 nodes;
  double shell_offset;

  void sample(const Vec3& position, const Index3& node, detail::NodeSample& result) const {
    const auto value =
        static_cast<double>(distances.values[flat_index(nodes, node[0], node[1], node[2])]);
    ExactField::Known known{.most_distance = std::abs(value + shell_offset) + distances.error};
    if (std::abs(value) >= distances.doubtful) known.inside = value < 0;
    result.sample = exact.sample(position, known);
    result.bounds = exact.distance_bounds(position, result.sample.distance);
  }
};

// The same where a device has found all there is to know. A sign is that of grid lines, which may
// be wrong on the wrong side of `doubtful`.
struct DeviceNodes {
  const detail::NodeDistances& distances;
  Index3 nodes;

  void sample(const Index3& node, detail::NodeSample& result) const {
    const std::size_t at = flat_index(nodes, node[0], node[1], node[2]);
    const auto value = static_cast<double>(distances.values[at]);
    result.sample = {.distance = value, .gradient = to_double(distances.gradients[at])};
    double error = distances.error;
    if (std::abs(value) < distances.doubtful) error += 2 * std::abs(value);
    result.bounds = {value - error, value + error};
  }
};

}  // namespace

DenseGrid build_dense_grid(const Surface& surface, const Lattice& lattice,
                           const FieldSettings& settings) {
  detail::check_sampling(lattice, {.max_memory = settings.max_memory, .monitor = settings.monitor});
  std::optional<Bvh> bvh;
  detail::NodeDistances found = detail::compute_node_distances(
      {.surface = surface,
       .lattice = lattice,
       .find_bvh = [&]() -> const Bvh& {
         return bvh.emplace(surface.mesh, BvhSettings{.threads = settings.threads});
       },
       .device = settings.device,
       .threads = settings.threads,
       .monitor = settings.monitor});
  // With the wrong sign a sample is off by twice its size.
  const double error = found.error + 2 * found.largest_doubtful;
  return DenseGrid({.lattice = lattice,
                    .samples = std::move(found.values),
                    .sample_error = {-error, error},
                    .holds_body = true},
                   settings.threads);
}

DenseGridResult build_dense_grid(const TriangleMesh& mesh, const FieldSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const Lattice planned = plan_lattice(mesh, settings);
  Surface surface = prepare_surface(mesh, {.sign = settings.sign,
                                           .nested = settings.nested,
                                           .voxel_size = planned.spacing,
                                           .shell_offset = settings.shell_offset,
                                           .threads = settings.threads,
                                           .monitor = settings.monitor});
  const Lattice lattice = detail::make_room(planned, to_double(bounds(mesh)), surface, settings);
  DenseGridResult result{.grid = build_dense_grid(surface, lattice, settings),
                         .sign = std::move(surface.report)};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

double build_first_order_field_bytes(const Lattice& lattice, FirstOrderStorage storage) {
  return first_order_build_bytes(lattice, storage) + dense_grid_bytes(lattice);
}

FirstOrderField build_first_order_field(const Surface& surface, const Lattice& lattice,
                                        const FirstOrderSettings& settings) {
  detail::check_sampling(lattice, {.monitor = settings.monitor});
  const double gradients = settings.device != nullptr ? 3 * dense_grid_bytes(lattice) : 0;
  check_memory(build_first_order_field_bytes(lattice, settings.storage) + gradients,
               settings.max_memory, "the first-order field");
  std::optional<ExactField> exact;
  const auto find_exact = [&]() -> const ExactField& {
    return exact ? *exact : exact.emplace(surface, settings.threads);
  };
  const detail::NodeDistances distances = detail::compute_node_distances(
      {.surface = surface,
       .lattice = lattice,
       .find_bvh = [&]() -> const Bvh& { return find_exact().tree().bvh(); },
       .device = settings.device,
       .gradients = settings.device != nullptr,
       .threads = settings.threads,
       .monitor = settings.monitor});
  if (!distances.gradients.empty()) {
    const DeviceNodes known{distances, node_counts(lattice)};
    return detail::sample_first_order(
        &known,
        [](const void* opaque, const Vec3&, const Index3& node, detail::NodeSample& result) {
          static_cast<const DeviceNodes*>(opaque)->sample(node, result);
        },
        lattice, settings);
  }
  const KnownNodes known{find_exact(), distances, node_counts(lattice),
                         surface.report.shell_offset};
  return detail::sample_first_order(
      &known,
      [](const void* opaque, const Vec3& position, const Index3& node, detail::NodeSample& result) {
        static_cast<const KnownNodes*>(opaque)->sample(position, node, result);
      },
      lattice, settings);
}

FieldTexels build_texels(const TriangleMesh& mesh, const TexelSettings& settings) {
  constexpr int kLeastCells = 8, kPadding = 2;
  if (settings.cells < kLeastCells || settings.cells > kMaxFirstOrderCells - 2 * kPadding - 2)
    throw Error(fmt::format("cells is {}; {} to {} are possible", settings.cells, kLeastCells,
                            kMaxFirstOrderCells - 2 * kPadding - 2));
  const Vec3 size = extent(to_double(bounds(mesh)));
  const double longest = std::max({size.x, size.y, size.z});
  if (mesh.triangles.empty() || !(longest > 0) || !std::isfinite(longest))
    throw Error("texels: the mesh has no triangles, or no size");
  const double spacing = longest / settings.cells;
  const Surface surface = prepare_surface(mesh, {.sign = settings.sign,
                                                 .nested = settings.nested,
                                                 .voxel_size = spacing,
                                                 .threads = settings.threads});
  if (settings.report != nullptr) *settings.report = surface.report;
  const Vec3 grown = Vec3{1, 1, 1} * surface.report.shell_offset;
  Aabb body = to_double(bounds(surface.mesh));
  body = {body.lower - grown, body.upper + grown};
  Lattice lattice{.origin = body.lower - Vec3{1, 1, 1} * (kPadding * spacing), .spacing = spacing};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] =
        static_cast<std::int32_t>(std::ceil(extent(body)[axis] / spacing - 1e-6)) + 2 * kPadding;
  const FirstOrderField field =
      build_first_order_field(surface, lattice, {.threads = settings.threads});
  return settings.order == TexelOrder::kFirst
             ? make_first_order_texels(field, body, settings.threads)
             : make_zeroth_order_texels(field, body, settings.threads);
}

}  // namespace isotact
