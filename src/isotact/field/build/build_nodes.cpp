#include "isotact/field/build/build_nodes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/memory_limit.h"
#include "isotact/field/build/detail/node_distances.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/exact_field.h"

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
  detail::NodeDistances found = detail::find_node_distances(
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
  const detail::NodeDistances distances = detail::find_node_distances(
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
