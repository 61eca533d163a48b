// The passes of a build. Blocks of nodes and lines of the lattice are independent of each other and
// a minimum does not depend on the order, so neither does any byte on the number of threads.
#include "isotact/field/build/build_field.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/detail/row_crossings.h"
#include "isotact/field/models/detail/brick_assembly.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/mesh/triangle.h"

namespace isotact {
namespace {

constexpr std::size_t kManyBlocks = std::size_t{1} << 22U;  // 32 MB of marks

class FieldBuild {
 public:
  // The body is grown by `growth` metres on all sides. Thin parts below `least_extent` metres, and
  // below a cell, do not count.
  FieldBuild(const Surface& surface, const Lattice& lattice, const FieldSettings& settings,
             double growth, double least_extent)
      : surface_(surface), lattice_(lattice), settings_(settings), least_extent_(least_extent) {
    coarse_ = {.origin = lattice.origin, .spacing = lattice.spacing * kBrickCells};
    for (std::size_t axis = 0; axis < 3; ++axis)
      coarse_.cells[axis] = lattice.cells[axis] / kBrickCells;
    offset_ = surface.report.shell_offset + growth;
    detail::check_room(lattice, surface, detail::reach_of(settings, lattice.spacing), offset_);
  }

  FieldResult run() {
    working_bytes_ = detail::working_bytes(lattice_, surface_.mesh.triangles.size());
    check_estimate();
    // Marking takes a bit a coarse cell; where even that is much, the bricks go uncounted.
    if (detail::find_parts(coarse_.cells).block_count > kManyBlocks)
      detail::check_memory(detail::field_bytes(coarse_.cells, 0) + working_bytes_, settings_,
                           "the build, without its bricks,");
    mark_band();
    detail::DistanceStage distances(surface_.mesh, lattice_, settings_.device, settings_.threads,
                                    [this]() -> const Bvh& { return find_bvh(); });
    if (distances.on_device() != nullptr) working_bytes_ += distances.on_device()->host_bytes();
    check_bricks();
    step("coarse distances", 1);
    // Whether a node is sparse is told by its value as it is stored, which signed growth shifts
    // either way: that case does without.
    const bool is_signed = surface_.report.method != SignMethod::kUnsigned;
    const double off = offset_ / lattice_.spacing;
    const double sparse_from =
        is_signed && offset_ != 0
            ? 0
            : detail::compute_sparse_distance(lattice_, settings_, off) * lattice_.spacing;
    std::vector<float> values =
        distances.compute_coarse({.sparse_from = static_cast<float>(sparse_from),
                                  .shift = is_signed ? 0 : static_cast<float>(offset_)},
                                 settings_.monitor);
    std::optional<detail::RowCrossings> rows;
    if (is_signed) {
      step("signs", 2);
      rows.emplace(surface_, lattice_, settings_.threads, settings_.monitor);
      detail::sign_coarse(values, coarse_, *rows, settings_.threads);
    }
    if (is_signed && offset_ != 0)
      for (float& v : values) v -= static_cast<float>(offset_);
    detail::CellBits creased(coarse_.cells);
    if (settings_.tolerance < 1)
      detail::mark_creases(values, coarse_, settings_.tolerance, settings_.threads, creased);
    for (std::size_t w = 0; w < creased.words().size(); ++w) bits_.words()[w] |= creased.words()[w];
    const bool is_ranged = detail::reach_of(settings_, lattice_.spacing) > settings_.band;
    if (is_ranged) mark_doubts(values, distances);
    check_bricks();
    detail::BrickAssembly assembly(
        {.lattice = lattice_,
         .band = settings_.band * lattice_.spacing,
         .range = is_ranged ? settings_.range : 0,
         .sample_error = (rows ? distances.signed_error() : distances.error()) * lattice_.spacing,
         .shell_offset = rows ? 0 : offset_,
         .sparse_from = sparse_from,
         .plain = !rows || offset_ == 0,
         .threads = settings_.threads},
        bits_.words(), values);
    step("bricks", 3);
    // All nodes of every brick: those beyond the band take no memory that is not there, and halve
    // the error there.
    const double reach = settings_.band + detail::kCellDiagonal;
    distances.for_each_brick(
        {bits_, bits_, values, {off - reach, off + reach}, offset_}, settings_.monitor,
        [&](const Index3& cell, std::span<float> distance, unsigned exact) {
          if (rows) detail::sign_brick(distance, cell, *rows);
          const float h = static_cast<float>(lattice_.spacing), shell = static_cast<float>(offset_);
          for (float& d : distance) d = d * h - shell;
          assembly.set(assembly.brick_of(cell), distance, exact);
        });
    step("shared faces", 4);
    FieldResult result{.field = assembly.finish(), .report = {}};
    fill_report(result, assembly, distances);
    if (rows) report_overlap(*rows, result.report);
    if (settings_.keep_thin != KeepThin::kIgnore)
      result.report.thin = find_thin_features(result.field, surface_, find_bvh(),
                                              {.least_extent = least_extent_,
                                               .threads = settings_.threads,
                                               .monitor = settings_.monitor});
    return result;
  }

 private:
  const Bvh& find_bvh() {
    if (!bvh_) bvh_.emplace(surface_.mesh, BvhSettings{.threads = settings_.threads});
    return *bvh_;
  }

  void mark_band() {
    step("cells near the surface", 0);
    bits_ = detail::CellBits(coarse_.cells);
    detail::mark_near(surface_.mesh, lattice_,
                      settings_.band + detail::kCellDiagonal + offset_ / lattice_.spacing,
                      settings_.threads, bits_);
    in_band_ = bits_.count_set();
    check_bricks();
  }

  // The exact number of bricks is found soon enough, unless there are far too many.
  void check_estimate() const {
    constexpr double kSlack = 4;
    if (!settings_.accuracy) return;
    const detail::MeshSize size = detail::compute_size(surface_.mesh);
    const FieldPlan plan = detail::estimate(lattice_, size, settings_);
    detail::check_accuracy(static_cast<double>(plan.memory), kSlack, plan, size, settings_);
  }

  void mark_doubts(std::span<const float> values, const detail::DistanceStage& distances) {
    step("distances far away", 2);
    const double h = lattice_.spacing;
    detail::mark_doubts(values, coarse_, find_bvh(),
                        {.range = settings_.range * (1 + 1e-6),  // the header's is a float
                         .offset = offset_,
                         .allowed = 0.5 * detail::kCellDiagonal * h,
                         .sample_error = distances.signed_error() * h},
                        settings_.threads, bits_);
  }

  void check_bricks() const {
    const std::size_t bricks = bits_.count_set();
    if (bricks >= BrickField::kNoBrick)
      throw Error(
          fmt::format("{} bricks are more than a field can number: choose larger voxels", bricks));
    const std::uint64_t needed = detail::field_bytes(coarse_.cells, bricks) + working_bytes_;
    if (settings_.accuracy) {
      const detail::MeshSize size = detail::compute_size(surface_.mesh);
      detail::check_accuracy(static_cast<double>(needed), 1,
                             detail::estimate(lattice_, size, settings_), size, settings_);
    }
    detail::check_memory(needed, settings_, "the build");
  }

  void step(const char* task, std::uint64_t done) const {
    settings_.monitor.check();
    settings_.monitor.report({.task = task, .done = done, .total = 5});
  }

  void fill_report(FieldResult& result, const detail::BrickAssembly& assembly,
                   const detail::DistanceStage& distances) const {
    FieldReport& r = result.report;
    const BrickFieldHeader& h = result.field.header();
    r.sign = surface_.report;
    r.lattice = lattice_;
    r.bytes = h.total_bytes;
    r.bricks = h.brick_count;
    r.bricks_in_band = in_band_;
    r.near_error = static_cast<double>(h.near_error);
    r.far_error = static_cast<double>(h.far_error);
    r.sparse_from = h.sparse_from > 0 ? sparse_error_from(h) : 0;
    r.sparse_error = static_cast<double>(h.sparse_error);
    r.near_reach = std::max(settings_.band * lattice_.spacing, settings_.range);
    if (settings_.accuracy || settings_.range > 0) r.measured = measure(result.field, r.near_reach);
    if (settings_.accuracy && r.near_error > *settings_.accuracy)
      throw Error(fmt::format("the accuracy of {:.6g} m was not reached: {:.6g} m is proved",
                              *settings_.accuracy, r.near_error));
    r.warnings = surface_.report.warnings;
    if (assembly.cut_count() > 0)
      r.warnings.push_back(
          fmt::format("{} samples lie where the sign jumps away from the surface; "
                      "the field is steep there",
                      assembly.cut_count()));
    if (distances.on_device() != nullptr) r.device = settings_.device->name();
    if (!distances.refusal().empty()) r.warnings.push_back(distances.refusal());
  }

  // Points anywhere about the surface, so many that a bound that does not hold shows.
  FieldReport::Measured measure(const BrickField& field, double reach) const {
    constexpr std::size_t kPoints = 4096;
    const ExactField exact(surface_, settings_.threads);
    Random random(21);
    const double shell = surface_.report.shell_offset, growth = offset_ - shell;
    std::vector<Vec3> points;
    for (std::size_t i = 0; i < kPoints; ++i) {
      const auto t = random.below(static_cast<std::uint32_t>(surface_.mesh.triangles.size()));
      const auto c = corners(surface_.mesh, t);
      double u = random.uniform(), v = random.uniform();
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const double most = i % 2 == 0 ? static_cast<double>(field.header().band) : reach;
      const Vec3 on = to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
      const Vec3 away = random.unit_vector() * (random.uniform(0, most) + offset_);
      points.push_back(to_double(to_float(on + away)));
    }
    std::vector<double> truth(points.size());
    compute_signed_distances(exact, points, truth, settings_.threads);
    std::vector<double> errors;
    FieldReport::Measured result;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!(std::abs(truth[i] - growth) < reach)) continue;
      errors.push_back(std::abs(field.value(points[i]) - (truth[i] - growth)));
      result.mean += errors.back();
    }
    if (errors.empty()) return result;
    std::sort(errors.begin(), errors.end());
    result.points = errors.size();
    result.mean /= static_cast<double>(errors.size());
    result.p99 = errors[errors.size() * 99 / 100];
    result.max = errors.back();
    return result;
  }

  void report_overlap(const detail::RowCrossings& rows, FieldReport& r) const {
    constexpr double kLeastCells = 8, kLeastShare = 1e-4;
    const double inside = rows.inside_cells(), overlap = rows.overlap_cells();
    if (overlap < kLeastCells || overlap < kLeastShare * inside) return;
    const double h = lattice_.spacing;
    r.overlap_volume = overlap * h * h * h;
    r.overlap_share = overlap / inside;
    if (surface_.nested == NestedRule::kEvenOdd) return;  // then such places are outside
    r.warnings.push_back(with_hint(
        fmt::format("parts overlap or lie in one another, in {:.3g} m^3 or {:.2g} % of the body: "
                    "it is solid there, but walls within it count as surface, so that depths near "
                    "them are too small and the field is zero on them; join the parts first (a "
                    "boolean union)",
                    r.overlap_volume, 100 * r.overlap_share),
        Hint::kInnerParts));
  }

  const Surface& surface_;
  Lattice lattice_, coarse_;
  const FieldSettings& settings_;
  double least_extent_;
  double offset_ = 0;
  std::optional<Bvh> bvh_;  // once it is needed
  detail::CellBits bits_;
  std::size_t in_band_ = 0;
  std::uint64_t working_bytes_ = 0;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// In cells. A body grown by this much has every point of its surface well inside: half the diagonal
// of a cell, and the quantisation.
constexpr double kSafeGrowth = 0.95;

FieldResult build_and_grow(const Surface& surface, const Lattice& lattice,
                           const FieldSettings& settings, double least_extent) {
  FieldResult result = FieldBuild(surface, lattice, settings, 0, least_extent).run();
  if (settings.keep_thin != KeepThin::kOffset || result.report.thin.lost == 0) return result;
  ThinReport thin = std::move(result.report.thin);
  const double most = kSafeGrowth * lattice.spacing;
  for (const double growth : {std::min(thin.growth_to_keep, most), most}) {
    thin.offset = growth;
    result = FieldBuild(surface, lattice, settings, growth, least_extent).run();
    if (result.report.thin.lost == 0) break;
  }
  thin.lost_afterwards = result.report.thin.lost;
  thin.area_afterwards = result.report.thin.lost_area;
  thin.films_afterwards = result.report.thin.films;
  result.report.thin = std::move(thin);
  return result;
}

FieldResult build_from_mesh(const TriangleMesh& mesh, const FieldSettings& settings,
                            double least_extent) {
  const Aabb box = to_double(bounds(mesh));
  const Lattice lattice = plan_lattice(mesh, settings);
  const auto surface =
      std::make_shared<const Surface>(prepare_surface(mesh, {.sign = settings.sign,
                                                             .nested = settings.nested,
                                                             .voxel_size = lattice.spacing,
                                                             .shell_offset = settings.shell_offset,
                                                             .threads = settings.threads,
                                                             .monitor = settings.monitor}));
  FieldResult result = build_and_grow(*surface, detail::make_room(lattice, box, *surface, settings),
                                      settings, least_extent);
  result.surface = surface;
  return result;
}

// With cells of the wished size, or of the smallest one that the memory limit allows (or whatever
// else forbids them); nothing where that would not be smaller than those of the last build.
std::optional<FieldResult> build_finer(const TriangleMesh& mesh, FieldSettings settings,
                                       double wished, double least_extent, const FieldReport& last,
                                       bool& limited) {
  constexpr double kStep = 1.15, kWorthIt = 0.95;
  const double h = last.lattice.spacing;
  // Memory goes with the surface in square cells, more or less.
  const double fitting =
      0.85 * h *
      std::sqrt(static_cast<double>(last.bytes) / static_cast<double>(settings.max_memory));
  for (double size = wished; size < kWorthIt * h; size = std::max(size * kStep, fitting)) {
    settings.voxel_size = size;
    try {
      return build_from_mesh(mesh, settings, least_extent);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {  // of the size: the mesh and the other settings have been built before
      limited = true;
    }
  }
  return std::nullopt;
}

// Once may not be enough: a part may be thinner in places than where it was lost. Tips always end
// within a cell, however small, so what counts is parts larger than a cell was at first.
void refine(const TriangleMesh& mesh, const FieldSettings& settings, FieldResult& result) {
  constexpr int kTries = 3;
  constexpr std::uint64_t kMostBytes = 4'000'000'000;
  ThinReport thin = result.report.thin;
  const double first_size = result.report.lattice.spacing;
  FieldSettings finer = settings;
  finer.resolution.reset();
  finer.accuracy.reset();  // kept all the more
  if (finer.max_memory == 0) finer.max_memory = kMostBytes;
  ThinReport last = thin;
  for (int i = 0; i < kTries && last.lost > 0 && !thin.memory_limited; ++i) {
    std::optional<FieldResult> next = build_finer(mesh, finer, last.voxel_size_to_keep, first_size,
                                                  result.report, thin.memory_limited);
    if (!next) break;
    result = std::move(*next);
    last = result.report.thin;
    thin.refined_from = first_size;
    if (last.lost > 0) thin.thinnest = std::min(thin.thinnest, last.thinnest);
  }
  thin.lost_afterwards = last.lost;
  thin.area_afterwards = last.lost_area;
  thin.films_afterwards = last.films;
  result.report.thin = std::move(thin);
}

void add_thin_warning(FieldReport& report) {
  for (std::string text : {describe(report.thin, report.lattice.spacing),
                           describe_films(report.thin, report.lattice.spacing)})
    if (!text.empty()) report.warnings.push_back(std::move(text));
}

}  // namespace

std::string_view name(KeepThin keep) {
  switch (keep) {
    case KeepThin::kIgnore:
      return "ignore";
    case KeepThin::kReport:
      return "report";
    case KeepThin::kRefine:
      return "refine";
    case KeepThin::kOffset:
      return "offset";
  }
  return "";
}

FieldPlan plan_field(const TriangleMesh& mesh, const FieldSettings& settings) {
  return detail::estimate(plan_lattice(mesh, settings), detail::compute_size(mesh), settings);
}

Lattice plan_lattice(const TriangleMesh& mesh, const FieldSettings& settings) {
  return detail::make_lattice(to_double(bounds(mesh)), settings);
}

FieldResult build_field(const Surface& surface, const Lattice& lattice,
                        const FieldSettings& settings) {
  const Stopwatch watch;
  FieldSettings own = settings;
  own.accuracy.reset();  // the cells are given
  FieldResult result = build_and_grow(surface, lattice, own, 0);
  add_thin_warning(result.report);
  result.report.seconds = watch.seconds();
  return result;
}

FieldResult build_field(const TriangleMesh& mesh, const FieldSettings& settings) {
  const Stopwatch watch;
  FieldResult result = build_from_mesh(mesh, settings, 0);
  if (settings.keep_thin == KeepThin::kRefine && result.report.thin.lost > 0)
    refine(mesh, settings, result);
  add_thin_warning(result.report);
  result.report.seconds = watch.seconds();
  return result;
}

std::string describe(const FieldSettings& settings) {
  // All members by name: one that is added later does not compile before it was thought of here.
  const auto& [resolution, voxel_size, accuracy, range, padding, sign, nested, shell_offset, band,
               tolerance, keep_thin, max_memory, threads, monitor, device] = settings;
  static_cast<void>(max_memory);
  static_cast<void>(threads);
  static_cast<void>(monitor);
  static_cast<void>(device);  // its fields are as good, and the same but for rounding
  std::string size;
  if (voxel_size) size = fmt::format("\"voxel_size\":{}", *voxel_size);
  if (accuracy) size += fmt::format("{}\"accuracy\":{}", size.empty() ? "" : ",", *accuracy);
  if (resolution || !(voxel_size || accuracy))
    size += fmt::format("{}\"resolution\":{}", size.empty() ? "" : ",", resolution.value_or(128));
  if (range > 0) size += fmt::format(",\"range\":{}", range);
  return fmt::format(
      "{{{},\"padding\":{},\"sign\":\"{}\",\"nested\":\"{}\",\"shell_offset\":{},\"band\":{},"
      "\"tolerance\":{},\"keep_thin\":\"{}\"}}",
      size, padding, name(sign), nested == NestedRule::kEvenOdd ? "even-odd" : "winding",
      shell_offset, band, tolerance, name(keep_thin));
}

}  // namespace isotact
