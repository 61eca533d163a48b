#include "isotact/field/surface/surface.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/surface/detail/rims.h"
#include "isotact/field/surface/detail/surface_passes.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/repair.h"

namespace isotact {
namespace {

using surface_detail::EdgeReport;
using surface_detail::Rim;
using Trouble = std::optional<std::string>;  // why winding numbers mean nothing here

// A solid has more volume than this times the cube of its box's diagonal: a wire of a metre with a
// square micrometre across.
constexpr double kLeastVolume = 1e-12;
// Where fans over the holes have less area than this part of the mesh, nobody doubts its sign.
constexpr double kManyHoles = 0.2;
constexpr const char* kNoVolume = "the triangles enclose no volume";
// Rims are stitched where they meet within this part of the box's diagonal, whatever the voxel.
constexpr double kStitch = 1e-5;
// Least part of an open mesh that must have an inside behind it.
constexpr double kLeastBacked = 0.75;
// Membranes of more than this part of the area are openings to be told of: bowls, cut bodies. The
// holes that scanners leave are less (2 % on the Stanford bunny).
constexpr double kWideHoles = 0.03;
// Largest part of space that may have another sign than the rule says.
constexpr double kMostWrong = 0.02;

void check(const TriangleMesh& mesh, const SurfaceSettings& settings) {
  if (!(settings.voxel_size > 0) || !std::isfinite(settings.voxel_size))
    throw Error(
        fmt::format("the voxel size is {}; it must be positive and finite", settings.voxel_size));
  if (!(settings.shell_offset >= 0) || !std::isfinite(settings.shell_offset))
    throw Error(fmt::format("the shell offset is {}; it must be finite and not negative",
                            settings.shell_offset));
  if (const auto flaw = find_flaw(mesh)) throw Error(*flaw);
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  if (mesh.triangles.size() >= kMost)
    throw Error(fmt::format("the mesh has {} triangles; at most {} can be measured",
                            mesh.triangles.size(), kMost - 1));
}

Surface take_clean(const TriangleMesh& mesh, const SurfaceSettings& settings, bool& all_finite) {
  surface_detail::CleanMesh cleaned = surface_detail::clean(mesh);
  Surface surface;
  surface.mesh = std::move(cleaned.mesh);
  surface.nested = settings.nested;
  SignReport& report = surface.report;
  report.dropped_triangles = cleaned.not_finite + cleaned.collapsed;
  all_finite = cleaned.not_finite == 0;
  if (cleaned.not_finite > 0)
    report.warnings.push_back(fmt::format(
        "{} triangles with a corner that is not finite were left out", cleaned.not_finite));
  if (surface.mesh.triangles.empty())
    throw Error(mesh.triangles.empty()
                    ? "the mesh has no triangles"
                    : fmt::format("none of the {} triangles has three distinct, finite corners",
                                  mesh.triangles.size()));
  return surface;
}

Surface make_shell(Surface surface, const SurfaceSettings& settings, std::string reason) {
  SignReport& report = surface.report;
  report.method = SignMethod::kUnsigned;
  report.reason = std::move(reason);
  report.shell_offset = settings.shell_offset > 0 ? settings.shell_offset : settings.voxel_size;
  if (settings.sign != SignMethod::kUnsigned)
    report.warnings.push_back(
        fmt::format("no inside was found ({}): the field is that of a shell, {:.3g} m around the "
                    "triangles",
                    report.reason, report.shell_offset));
  surface.given_triangles = surface.mesh.triangles.size();
  return surface;
}

std::string holes_in_words(const SignReport& report) {
  return fmt::format("{} {} with {} boundary edges", report.holes,
                     report.holes == 1 ? "hole" : "holes", report.hole_edges);
}

bool has_inside(const TriangleMesh& mesh, double volume) {
  const double diagonal = length(extent(to_double(bounds(mesh))));
  return volume > kLeastVolume * diagonal * diagonal * diagonal;
}

// Only called for meshes that do not balance.
class Closing {
 public:
  Closing(Surface& surface, const SurfaceSettings& settings)
      : surface_(surface), settings_(settings), mesh_(surface.mesh), report_(surface.report) {}

  Trouble run(EdgeReport edges) {
    stitch_rims(edges);
    if (edges.same_direction > 0) {
      if (Trouble trouble = make_consistent()) return trouble;
      edges = surface_detail::find_edges(mesh_, settings_.threads);
    }
    std::vector<Rim> rims = surface_detail::gather_rims(mesh_, edges.net);
    if (Trouble trouble = turn_outward(rims)) return trouble;
    if (report_.turned_components > 0)  // which turned rims, too
      rims = surface_detail::gather_rims(mesh_,
                                         surface_detail::find_edges(mesh_, settings_.threads).net);
    const bool doubtful = is_doubtful(rims);
    if (Trouble trouble = doubtful ? look_behind(rims) : std::nullopt) return trouble;
    const TriangleMesh given = mesh_;
    close(rims);
    if (Trouble trouble = doubtful ? compare_signs(given) : std::nullopt) return trouble;
    surface_.given_triangles = given.triangles.size();
    surface_.mesh = std::move(mesh_);
    surface_.report = std::move(report_);
    return std::nullopt;
  }

 private:
  // A mesh whose triangles share no vertices but for rounding falls apart into as many pieces.
  bool is_cracked(const EdgeReport& edges) const {
    return edges.parts >= 8 && 4 * std::size_t{edges.parts} > mesh_.triangles.size();
  }

  void stitch_rims(EdgeReport& edges) {
    const double diagonal = length(extent(to_double(bounds(mesh_))));
    try_stitch(edges, kStitch * diagonal, 0.95);
    for (const double part : {0.125, 0.5})
      if (is_cracked(edges)) try_stitch(edges, part * settings_.voxel_size, 0.3);
  }

  // Keeps what it does where no more than `worth` of the net edges are left.
  void try_stitch(EdgeReport& edges, double tolerance, double worth) {
    surface_detail::StitchResult stitched = surface_detail::stitch(mesh_, edges.net, tolerance);
    if (stitched.merged == 0 || stitched.mesh.triangles.empty()) return;
    EdgeReport after = surface_detail::find_edges(stitched.mesh, settings_.threads);
    if (static_cast<double>(after.net.size()) > worth * static_cast<double>(edges.net.size()))
      return;
    mesh_ = std::move(stitched.mesh);
    edges = std::move(after);
    report_.dropped_triangles += stitched.collapsed;
    report_.warnings.push_back(
        fmt::format("{} vertices on open edges were merged with others up to {:.3g} m away",
                    stitched.merged, stitched.longest_move));
  }

  Trouble make_consistent() {
    OrientResult oriented = orient(mesh_, {.threads = settings_.threads});
    if (oriented.non_orientable > 0)
      return fmt::format("{} of {} components are one-sided, like a Moebius strip",
                         oriented.non_orientable, oriented.components);
    report_.consistent_components = oriented.made_consistent;
    mesh_ = std::move(oriented.mesh);
    return std::nullopt;
  }

  // Which way parts face is seen when their holes are closed, however roughly.
  Trouble turn_outward(std::span<const Rim> rims) {
    TriangleMesh closed = mesh_;
    for (const Rim& rim : rims) surface_detail::add_fan(closed, rim);
    const surface_detail::TurnResult turned = surface_detail::turn_inward_parts(
        closed, surface_detail::find_edges(closed, settings_.threads), settings_.threads);
    if (!has_inside(closed, turned.volume)) return kNoVolume;
    report_.turned_components = turned.turned;
    std::copy_n(closed.triangles.begin(), mesh_.triangles.size(), mesh_.triangles.begin());
    return std::nullopt;
  }

  void close(std::span<const Rim> rims) {
    const std::size_t given = mesh_.triangles.size();
    const double area = surface_detail::compute_area(mesh_);
    const surface_detail::MembraneReport membranes =
        surface_detail::add_membranes(mesh_, rims,
                                      {.voxel_size = settings_.voxel_size,
                                       .threads = settings_.threads,
                                       .monitor = settings_.monitor});
    report_.holes = rims.size();
    report_.hole_edges = count_edges(rims);
    for (const Rim& rim : rims)
      report_.largest_hole = std::max(report_.largest_hole, 2 * rim.radius);
    report_.membrane_triangles = mesh_.triangles.size() - given;
    report_.membrane_area = surface_detail::compute_area(mesh_) - area;
    report_.membrane_share = report_.membrane_area / area;
    if (membranes.plain > 0)
      report_.warnings.push_back(
          fmt::format("{} holes are closed by plain fans, since the surface of winding number 1/2 "
                      "could not be followed there",
                      membranes.plain));
  }

  bool is_doubtful(std::span<const Rim> rims) const {
    double fans = 0;
    for (const Rim& rim : rims) fans += rim.fan_area;
    return fans > kManyHoles * surface_detail::compute_area(mesh_);
  }

  Trouble look_behind(std::span<const Rim> rims) const {
    const double backed = surface_detail::compute_backed_share(mesh_, settings_.threads);
    if (backed >= kLeastBacked) return std::nullopt;
    return fmt::format("only {:.0f} % of the area have an inside behind them ({} open edges)",
                       100 * backed, count_edges(rims));
  }

  Trouble compare_signs(const TriangleMesh& given) const {
    const double wrong =
        surface_detail::compute_wrong_share(given, mesh_, settings_.voxel_size, settings_.threads);
    if (wrong <= kMostWrong) return std::nullopt;
    return fmt::format("{} leave too little to close them by", holes_in_words(report_));
  }

  static std::size_t count_edges(std::span<const Rim> rims) {
    std::size_t count = 0;
    for (const Rim& rim : rims) count += rim.edges.size();
    return count;
  }

  Surface& surface_;
  const SurfaceSettings& settings_;
  TriangleMesh mesh_;
  SignReport report_;
};

void warn_of_membranes(SignReport& report) {
  if (report.membrane_share <= kWideHoles) return;
  const bool one = report.holes == 1;
  const std::string closed = fmt::format(
      "{} by membranes of {:.3g} m^2, {:.2g} % of the surface ({} {:.3g} m across): the field is "
      "solid behind {}, so nothing can enter there",
      one ? "an opening is closed" : fmt::format("{} openings are closed", report.holes),
      report.membrane_area, 100 * report.membrane_share, one ? "it is" : "the largest is",
      report.largest_hole, one ? "it" : "them");
  report.warnings.push_back(with_hint(closed, Hint::kOpenings));
}

// Whether the middle of a triangle lies within a body. The same for all on the same corners.
bool is_within(const WindingTree& body, const TriangleMesh& mesh, Triangle t, NestedRule nested) {
  std::sort(t.begin(), t.end());
  const Vec3 middle = (to_double(mesh.positions[t[0]]) + to_double(mesh.positions[t[1]]) +
                       to_double(mesh.positions[t[2]])) /
                      3;
  const long winding = std::lround(compute_winding_number(body, to_float(middle)));
  return nested == NestedRule::kEvenOdd ? winding % 2 != 0 : winding > 0;
}

TriangleMesh without(const TriangleMesh& mesh, std::span<const std::uint8_t> gone) {
  TriangleMesh left{.positions = mesh.positions, .triangles = {}};
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (t >= gone.size() || gone[t] == 0) left.triangles.push_back(mesh.triangles[t]);
  return left;
}

// Triangles on the same corners that face opposite ways cancel in every winding number, and leave
// every edge balanced. Within a body they are a wall that is none, where two parts touch. Elsewhere
// they are sheets without thickness, and stay, since distances to them mean something.
void drop_cancelling_pairs(Surface& surface, Threads threads) {
  std::vector<std::uint8_t> gone =
      surface_detail::find_cancelling(surface.mesh, surface.given_triangles);
  if (std::find(gone.begin(), gone.end(), 1) == gone.end()) return;
  const TriangleMesh rest = without(surface.mesh, gone);
  if (rest.triangles.empty()) return;
  const WindingTree body(rest, {.threads = threads});
  parallel_for(gone.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      if (gone[t] != 0 && !is_within(body, surface.mesh, surface.mesh.triangles[t], surface.nested))
        gone[t] = 0;
  });
  const auto dropped = static_cast<std::size_t>(std::count(gone.begin(), gone.end(), 1));
  if (dropped == 0) return;
  surface.mesh = without(surface.mesh, gone);
  surface.given_triangles -= dropped;
  SignReport& report = surface.report;
  report.cancelled_pairs = dropped / 2;
  report.dropped_triangles += dropped;
  report.warnings.push_back(fmt::format(
      "{} pairs of triangles within the body lie on each other and face opposite sides: "
      "they were left out, so that parts which share a side are one body",
      report.cancelled_pairs));
}

// Some files have every face twice, once for each side, for the sake of rendering. What they
// enclose is seen with one of each.
Trouble take_one_side(Surface& surface, const SurfaceSettings& settings) {
  RemoveResult single = remove_duplicates(surface.mesh);
  if (single.removed == 0) return kNoVolume;
  Surface one_sided;
  one_sided.nested = surface.nested;
  one_sided.mesh = std::move(single.mesh);
  one_sided.report = surface.report;
  one_sided.report.dropped_triangles += single.removed;
  one_sided.report.warnings.push_back(fmt::format(
      "{} triangles that lie on others were dropped, since they cancel those", single.removed));
  // What balanced before may now face either way, or be open.
  if (Trouble trouble = Closing(one_sided, settings)
                            .run(surface_detail::find_edges(one_sided.mesh, settings.threads)))
    return trouble;
  surface = std::move(one_sided);
  return std::nullopt;
}

Trouble take_closed(Surface& surface, const EdgeReport& edges, const SurfaceSettings& settings) {
  const surface_detail::TurnResult turned =
      surface_detail::turn_inward_parts(surface.mesh, edges, settings.threads);
  if (!has_inside(surface.mesh, turned.volume)) return take_one_side(surface, settings);
  surface.report.turned_components = turned.turned;
  surface.given_triangles = surface.mesh.triangles.size();
  return std::nullopt;
}

std::string reason_for_winding(const SignReport& report) {
  if (report.holes > 0) return fmt::format("open: {}, closed by membranes", holes_in_words(report));
  if (report.consistent_components > 0)
    return fmt::format("closed, after {} components were made consistent",
                       report.consistent_components);
  return "closed and oriented";
}

void check_for_pseudonormals(const TriangleMesh& mesh, const SurfaceSettings& settings) {
  const MeshFlaws flaws = find_flaws(mesh, {.self_intersections = true,
                                            .max_examples = 1,
                                            .threads = settings.threads,
                                            .monitor = settings.monitor});
  const SelfIntersections& crossings = *flaws.self_intersections;
  const bool crosses = crossings.crossing + crossings.overlapping + crossings.touching > 0;
  if (flaws.watertight && flaws.manifold && flaws.oriented && !crosses && crossings.complete)
    return;
  std::string why;
  for (const std::string& flaw : describe(flaws)) why += (why.empty() ? "" : "; ") + flaw;
  throw Error(fmt::format(
      "sign by pseudonormals needs a closed, manifold, oriented mesh free of self-intersection; "
      "found: {}",
      why.empty() ? "too many overlapping boxes to search for self-intersections" : why));
}

}  // namespace

std::string_view name(SignMethod method) {
  switch (method) {
    case SignMethod::kAuto:
      return "auto";
    case SignMethod::kPseudonormal:
      return "pseudonormal";
    case SignMethod::kWinding:
      return "winding";
    case SignMethod::kUnsigned:
      return "unsigned";
  }
  return "";
}

Surface prepare_surface(const TriangleMesh& mesh, const SurfaceSettings& settings) {
  check(mesh, settings);
  bool all_finite = true;
  Surface surface = take_clean(mesh, settings, all_finite);
  EdgeReport edges = surface_detail::find_edges(surface.mesh, settings.threads);
  surface.report.watertight = all_finite && edges.not_two == 0;
  // Where triangles lie on others, so do their edges.
  const bool may_cancel = settings.drop_cancelling_pairs && edges.not_two > 0;
  settings.monitor.check();
  if (settings.sign == SignMethod::kUnsigned)
    return make_shell(std::move(surface), settings, "asked for");
  if (settings.sign == SignMethod::kPseudonormal) check_for_pseudonormals(surface.mesh, settings);

  const Trouble trouble = edges.net.empty() ? take_closed(surface, edges, settings)
                                            : Closing(surface, settings).run(std::move(edges));
  if (trouble && settings.sign != SignMethod::kAuto)
    throw Error(fmt::format("this mesh has no sign: {}", *trouble));
  if (trouble) return make_shell(std::move(surface), settings, *trouble);
  surface.report.method =
      settings.sign == SignMethod::kPseudonormal ? SignMethod::kPseudonormal : SignMethod::kWinding;
  surface.report.reason = reason_for_winding(surface.report);
  warn_of_membranes(surface.report);
  if (may_cancel) drop_cancelling_pairs(surface, settings.threads);
  if (surface.report.turned_components > 0)
    surface.report.warnings.push_back(
        fmt::format("{} faced inwards and {} turned over",
                    surface.report.turned_components == 1
                        ? std::string("one part")
                        : fmt::format("{} parts", surface.report.turned_components),
                    surface.report.turned_components == 1 ? "was" : "were"));
  return surface;
}

}  // namespace isotact
