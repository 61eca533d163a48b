#include "isotact/field/build/build_nodes.h"

#include <chrono>
#include <cmath>

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

}  // namespace

DenseGrid build_dense_grid(const Surface& surface, const Lattice& lattice,
                           const FieldSettings& settings) {
  detail::check_sampling(lattice, {.max_memory = settings.max_memory, .monitor = settings.monitor});
  const Bvh bvh(surface.mesh, {.threads = settings.threads});
  detail::NodeDistances found =
      detail::find_node_distances(surface, bvh, lattice, settings.threads, settings.monitor);
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
  check_memory(build_first_order_field_bytes(lattice, settings.storage), settings.max_memory,
               "the first-order field");
  const ExactField exact(surface, settings.threads);
  const detail::NodeDistances distances = detail::find_node_distances(
      surface, exact.tree().bvh(), lattice, settings.threads, settings.monitor);
  const KnownNodes known{exact, distances, node_counts(lattice), surface.report.shell_offset};
  return detail::sample_first_order(
      &known,
      [](const void* opaque, const Vec3& position, const Index3& node, detail::NodeSample& result) {
        static_cast<const KnownNodes*>(opaque)->sample(position, node, result);
      },
      lattice, settings);
}

}  // namespace isotact
