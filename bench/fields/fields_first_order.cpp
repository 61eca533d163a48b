// KGM's Figure 1 as numbers: a first-order field in 16 bits beside zeroth-order ones (plain
// samples, trilinear) that have at least its memory, hence more cells. All are sampled from exact
// distances.
#include <algorithm>
#include <cmath>
#include <functional>

#include "isotact/field/half.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/first_order_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "fields_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kNearPoints = 20000;
constexpr std::size_t kVolumePoints = 60000;
constexpr double kNear = 1;  // cells of the first-order field

// Two cells around the mesh.
Lattice lattice_around(const Aabb& box, int resolution) {
  const Vec3 size = extent(box);
  const double longest = std::max({size.x, size.y, size.z});
  Lattice lattice{.spacing = longest / (resolution - 4)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lattice.cells[axis] =
        std::min(resolution, static_cast<int>(std::ceil(size[axis] / lattice.spacing - 1e-9)) + 4);
    const double middle = 0.5 * (box.lower[axis] + box.upper[axis]);
    lattice.origin[axis] = middle - 0.5 * lattice.spacing * lattice.cells[axis];
  }
  return lattice;
}

double sample_bytes(const Lattice& lattice, double bytes_a_node) {
  return bytes_a_node * static_cast<double>(count(node_counts(lattice)));
}

// The coarsest one whose samples take no less than these bytes.
Lattice lattice_of_size(const Aabb& box, double bytes, double bytes_a_node) {
  int resolution = 8;
  while (sample_bytes(lattice_around(box, resolution), bytes_a_node) < bytes) ++resolution;
  return lattice_around(box, resolution);
}

// Counting in cells, as the first-order field does, is the best that 16 bits can do.
DenseGrid rounded_to_half(const DenseGrid& grid) {
  DenseGridParts parts = grid.parts();
  const double cell = parts.lattice.spacing;
  for (float& sample : parts.samples) {
    const std::uint16_t half = half_from_double(static_cast<double>(sample) / cell);
    sample = static_cast<float>(static_cast<double>(float_from_half(half)) * cell);
  }
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  parts.sample_error = {-kUnknown, kUnknown};
  return DenseGrid(std::move(parts));
}

struct Truth {
  std::vector<Vec3> near, around;
  std::vector<double> near_distances{}, around_distances{};
};

struct Quality {
  std::string kind;
  int resolution = 0;
  double bytes = 0;
  double rms = 0, max = 0;      // cells of the first-order field, within kNear of the surface
  double lost = 0, gained = 0;  // parts of the body's volume
};

Quality judge(const Truth& truth, double cell, const std::function<double(const Vec3&)>& value) {
  Quality quality;
  double squares = 0;
  for (std::size_t i = 0; i < truth.near.size(); ++i) {
    const double error = std::abs(value(truth.near[i]) - truth.near_distances[i]) / cell;
    squares += error * error;
    quality.max = std::max(quality.max, error);
  }
  quality.rms = std::sqrt(squares / static_cast<double>(truth.near.size()));
  double inside = 0;
  for (std::size_t i = 0; i < truth.around.size(); ++i) {
    const bool is_inside = truth.around_distances[i] < 0;
    const bool is_claimed = value(truth.around[i]) < 0;
    inside += is_inside ? 1 : 0;
    quality.lost += is_inside && !is_claimed ? 1 : 0;
    quality.gained += !is_inside && is_claimed ? 1 : 0;
  }
  quality.lost /= inside;
  quality.gained /= inside;
  return quality;
}

template <typename F>
Quality judge_field(std::string kind, double bytes, const F& field, const Truth& truth,
                    double cell) {
  Quality quality = judge(truth, cell, [&](const Vec3& p) { return field.value(p); });
  const Index3& cells = field.lattice().cells;
  quality.kind = std::move(kind);
  quality.resolution = std::max({cells[0], cells[1], cells[2]});
  quality.bytes = bytes;
  return quality;
}

// First order first.
std::vector<Quality> measure(const TriangleMesh& mesh, const ExactField& exact, int resolution) {
  const Aabb box = to_double(exact.tree().bvh().bounds());
  const Lattice lattice = lattice_around(box, resolution);
  const double bytes = sample_bytes(lattice, 8);
  Truth truth{.near = points_near(mesh, kNear * lattice.spacing, kNearPoints, 7),
              .around = points_in(box, kVolumePoints, 8)};
  truth.near_distances.resize(truth.near.size());
  truth.around_distances.resize(truth.around.size());
  compute_signed_distances(exact, truth.near, truth.near_distances);
  compute_signed_distances(exact, truth.around, truth.around_distances);

  const FirstOrderField first = sample_first_order(exact, lattice);
  const Lattice lattice32 = lattice_of_size(box, bytes, 4),
                lattice16 = lattice_of_size(box, bytes, 2);
  const DenseGrid zeroth32 = sample_on_lattice(exact, lattice32, {.holds_body = true});
  const DenseGrid zeroth16 =
      rounded_to_half(sample_on_lattice(exact, lattice16, {.holds_body = true}));
  const double cell = lattice.spacing;
  return {judge_field("first order, 16 bits", bytes, first, truth, cell),
          judge_field("zeroth, 32 bits", sample_bytes(lattice32, 4), zeroth32, truth, cell),
          judge_field("zeroth, 16 bits", sample_bytes(lattice16, 2), zeroth16, truth, cell)};
}

void show(const std::string& shape, const std::vector<Quality>& rows, Table& table,
          Report& report) {
  for (const Quality& q : rows) {
    table.row({shape, rows[0].resolution, q.kind, q.resolution, 1e-3 * q.bytes, q.rms,
               q.rms / rows[0].rms, q.max, 100 * q.lost, 100 * q.gained});
    report.json["first_order"].push_back({{"shape", shape},
                                          {"kind", q.kind},
                                          {"resolution", q.resolution},
                                          {"bytes", q.bytes},
                                          {"rms", q.rms},
                                          {"max", q.max},
                                          {"lost", q.lost},
                                          {"gained", q.gained}});
  }
}

}  // namespace

void bench_first_order(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "first-order",
       .paper = "KGM",
       .place = "Figure 1",
       .title = "Fields of the same memory: first order beside plain samples, in numbers",
       .columns = {{"shape", Of::kKey},
                   {"cells of first order", Of::kKey},
                   {"kind", Of::kKey},
                   {"cells", Of::kOurs},
                   {"memory", Of::kOurs, "kB", 1},
                   {"rms", Of::kOurs, "cells", 4},
                   {"over first order", Of::kOurs, "times", 2},
                   {"max", Of::kOurs, "cells", 3},
                   {"volume lost", Of::kOurs, "%", 3},
                   {"volume gained", Of::kOurs, "%", 3}},
       .note = fmt::format("KGM shows a picture. Samples only count as memory. Errors within {} "
                           "cell of the surface, in cells of the first-order field; volume of the "
                           "body lost and gained by wrong signs.",
                           kNear)});
  // Third order of error against second: it shows where surfaces are smooth, not on sharp edges.
  for (const std::string name : {"knot", "torus", "gear", "bunny"}) {
    const TriangleMesh mesh = name == "bunny" ? stock.mesh() : make_shape(name);
    const Aabb box = to_double(bounds(mesh));
    const double voxel_size = length(extent(box)) / 256;
    const ExactField exact(prepare_surface(mesh, {.voxel_size = voxel_size}));
    for (const int resolution :
         options.quick ? std::vector<int>{16, 32} : std::vector<int>{16, 32, 64}) {
      const std::vector<Quality> rows = measure(mesh, exact, resolution);
      show(name, rows, table, report);
      const bool smooth = name == "knot" || name == "torus";
      if (smooth)
        report.check(rows[0].rms < rows[1].rms,
                     "on smooth shapes first order errs less than plain samples of the same memory",
                     fmt::format("{} at {} cells", name, resolution));
    }
  }
}

}  // namespace isotact::bench
