// The passes of a build. Blocks of nodes and lines of the lattice are independent of each other and
// a minimum does not depend on the order, so neither does any byte on the number of threads.
#include "isotact/field/build/build_field.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/build/detail/marking.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/build/detail/signs.h"
#include "isotact/field/detail/brick_assembly.h"
#include "isotact/field/detail/brick_layout.h"

namespace isotact {
namespace {

class FieldBuild {
 public:
  FieldBuild(const Surface& surface, const Lattice& lattice, const FieldSettings& settings)
      : surface_(surface), lattice_(lattice), settings_(settings) {
    coarse_ = {.origin = lattice.origin, .spacing = lattice.spacing * kBrickCells};
    for (std::size_t axis = 0; axis < 3; ++axis)
      coarse_.cells[axis] = lattice.cells[axis] / kBrickCells;
    offset_ = surface.report.shell_offset;
  }

  FieldResult run() {
    // Per triangle: hierarchy, frame, lists of slabs; per line of nodes: crossings.
    working_bytes_ = surface_.mesh.triangles.size() * 320 +
                     count(node_counts(coarse_)) * sizeof(float) +
                     static_cast<std::size_t>(lattice_.cells[1]) *
                         static_cast<std::size_t>(lattice_.cells[2]) * 24;
    detail::check_memory(detail::field_bytes(coarse_.cells, 0) + working_bytes_, settings_,
                         "the build");
    mark_band();
    const Bvh bvh(surface_.mesh, {.threads = settings_.threads});
    const detail::DistancePass distances(surface_.mesh, bvh, lattice_, settings_.threads);
    step("coarse distances", 1);
    std::vector<float> values = distances.find_coarse(settings_.monitor);
    std::optional<detail::RowCrossings> rows;
    if (surface_.report.method == SignMethod::kUnsigned) {
      for (float& v : values) v -= static_cast<float>(offset_);
    } else {
      step("signs", 2);
      rows.emplace(surface_, lattice_, settings_.threads, settings_.monitor);
      detail::sign_coarse(values, coarse_, *rows, settings_.threads);
    }
    detail::CellBits creased(coarse_.cells);
    if (settings_.tolerance < 1)
      detail::mark_creases(values, coarse_, settings_.tolerance, settings_.threads, creased);
    for (std::size_t w = 0; w < creased.words().size(); ++w) bits_.words()[w] |= creased.words()[w];
    check_bricks();
    detail::BrickAssembly assembly({.lattice = lattice_,
                                    .band = settings_.band * lattice_.spacing,
                                    .sample_error = distances.error() * lattice_.spacing,
                                    .shell_offset = offset_,
                                    .threads = settings_.threads},
                                   bits_.words(), values);
    step("bricks", 3);
    const double off = offset_ / lattice_.spacing, reach = settings_.band + detail::kCellDiagonal;
    distances.for_each_brick(
        {bits_, creased, values, {off - reach, off + reach}, offset_}, settings_.monitor,
        [&](const Index3& cell, std::span<float> distance, unsigned exact) {
          if (rows) detail::sign_brick(distance, cell, *rows);
          const float h = static_cast<float>(lattice_.spacing), shell = static_cast<float>(offset_);
          for (float& d : distance) d = d * h - shell;
          assembly.set(assembly.brick_of(cell), distance, exact);
        });
    step("shared faces", 4);
    FieldResult result{.field = assembly.finish(), .report = {}};
    fill_report(result, assembly);
    return result;
  }

 private:
  void mark_band() {
    step("cells near the surface", 0);
    bits_ = detail::CellBits(coarse_.cells);
    detail::mark_near(surface_.mesh, lattice_,
                      settings_.band + detail::kCellDiagonal + offset_ / lattice_.spacing,
                      settings_.threads, bits_);
    in_band_ = bits_.count_set();
    check_bricks();
  }

  void check_bricks() const {
    const std::size_t bricks = bits_.count_set();
    if (bricks >= BrickField::kNoBrick)
      throw Error(
          fmt::format("{} bricks are more than a field can number: choose larger voxels", bricks));
    detail::check_memory(detail::field_bytes(coarse_.cells, bricks) + working_bytes_, settings_,
                         "the build");
  }

  void step(const char* task, std::uint64_t done) const {
    settings_.monitor.check();
    settings_.monitor.report({.task = task, .done = done, .total = 5});
  }

  void fill_report(FieldResult& result, const detail::BrickAssembly& assembly) const {
    FieldReport& r = result.report;
    const BrickFieldHeader& h = result.field.header();
    r.sign = surface_.report;
    r.lattice = lattice_;
    r.bytes = h.total_bytes;
    r.bricks = h.brick_count;
    r.bricks_in_band = in_band_;
    r.near_error = static_cast<double>(h.near_error);
    r.far_error = static_cast<double>(h.far_error);
    r.warnings = surface_.report.warnings;
    if (assembly.cut_count() > 0)
      r.warnings.push_back(
          fmt::format("{} samples lie where the sign jumps away from the surface; "
                      "the field is steep there",
                      assembly.cut_count()));
  }

  const Surface& surface_;
  Lattice lattice_, coarse_;
  const FieldSettings& settings_;
  double offset_ = 0;
  detail::CellBits bits_;
  std::size_t in_band_ = 0;
  std::uint64_t working_bytes_ = 0;
};

}  // namespace

FieldResult build_field(const Surface& surface, const Lattice& lattice,
                        const FieldSettings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  FieldResult result = FieldBuild(surface, lattice, settings).run();
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

FieldResult build_field(const TriangleMesh& mesh, const FieldSettings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const Lattice lattice = detail::make_lattice(to_double(bounds(mesh)), settings);
  const Surface surface = prepare_surface(mesh, {.sign = settings.sign,
                                                 .nested = settings.nested,
                                                 .voxel_size = lattice.spacing,
                                                 .shell_offset = settings.shell_offset,
                                                 .threads = settings.threads,
                                                 .monitor = settings.monitor});
  FieldResult result = build_field(surface, lattice, settings);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace isotact
