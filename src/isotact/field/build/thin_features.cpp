#include "isotact/field/build/thin_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/detail/surface_looks.h"
#include "isotact/field/lattice.h"

namespace isotact {
namespace {

constexpr double kThickest = 1.25;   // cells: beyond, no wall is lost
constexpr double kFurthest = 1.25;   // cells from the surface to solid that is its own
constexpr double kLeastToEdge = 1;   // cells
constexpr double kRimCells = 2;      // how far the rounding of edges and corners reaches
constexpr double kRodCells = 1.6;    // across; beyond, nothing is lost for lack of width
constexpr double kSafeShell = 0.95;  // cells: more than half a cell's diagonal and the quantisation
constexpr double kLeastKept = 0.8;   // cells a thickness, of the thinnest walls that are no films
constexpr std::size_t kMostPlaces = 16;
constexpr std::size_t kMostSuspects = 32768;
constexpr int kLooks = 4;  // through a wall

using detail::LostPoint;
using detail::Suspect;

struct Found {
  std::vector<LostPoint> lost, bare;
};

class ThinSearch {
 public:
  ThinSearch(const BrickField& field, const Surface& surface, const Bvh& bvh,
             const ThinSettings& settings)
      : field_(field),
        surface_(surface),
        bvh_(bvh),
        settings_(settings),
        is_shell_(surface.report.method == SignMethod::kUnsigned),
        h_(field.voxel_size()) {
    const Aabb box = field.bounds();
    const Vec3 reach = max(box.upper, -box.lower);
    // More than what rounding makes of a point and of the ray's hits.
    least_ = std::max(1e-6 * std::max({reach.x, reach.y, reach.z}), 1e-5 * h_);
  }

  ThinReport run() {
    ThinReport report;
    // A node lies in every ball of this radius, and the field is negative at its centre.
    if (is_shell_ && surface_.report.shell_offset >= kSafeShell * h_) return report;
    const detail::SurfaceLooks looks =
        detail::find_surface_suspects(field_, surface_, settings_.threads, settings_.monitor);
    report.samples = looks.pieces;
    const std::size_t stride = looks.suspects.size() / kMostSuspects + 1;
    const std::size_t count = (looks.suspects.size() + stride - 1) / stride;
    const auto spread = static_cast<double>(stride);
    const Found found = parallel_reduce(
        count, 512, settings_.threads, Found{},
        [&](std::size_t begin, std::size_t end) {
          settings_.monitor.check();
          Found some;
          for (std::size_t i = begin; i < end; ++i) {
            Suspect suspect = looks.suspects[i * stride];
            suspect.area *= spread;
            if (const auto point = examine(suspect))
              some.lost.push_back(*point);
            else
              some.bare.push_back({.position = suspect.position, .area = suspect.area});
          }
          return some;
        },
        [](Found all, const Found& more) {
          all.lost.insert(all.lost.end(), more.lost.begin(), more.lost.end());
          all.bare.insert(all.bare.end(), more.bare.begin(), more.bare.end());
          return all;
        });
    sum_up(found, 2 * h_ * std::sqrt(spread), looks.area, report);
    return report;
  }

 private:
  Vec3 normal_of(std::size_t triangle) const {
    const auto c = corners(surface_.mesh, triangle);
    const Vec3 a = to_double(c[0]);
    return normalized(cross(to_double(c[1]) - a, to_double(c[2]) - a));
  }

  RayHit shoot(const Vec3& from, const Vec3& direction, double t_min, double t_max) const {
    return find_first_hit(bvh_, {.origin = to_float(from),
                                 .direction = to_float(direction),
                                 .t_min = static_cast<float>(t_min),
                                 .t_max = static_cast<float>(t_max)});
  }

  std::optional<LostPoint> examine(const Suspect& at) const {
    LostPoint lost{.position = at.position, .area = at.area, .is_wall = true};
    if (is_shell_) {
      lost.thickness = 2 * surface_.report.shell_offset;
      return lost;
    }
    const Vec3 inward = -normal_of(at.triangle);
    const RayHit hit = shoot(at.position, inward, least_, kThickest * h_);
    const double depth = hit.triangle == kNoTriangle ? kThickest * h_ : static_cast<double>(hit.t);
    const Vec3 middle = at.position + inward * (depth / 2);
    if (!is_lost_wall(at.position, inward, hit)) {
      if (has_solid_near(at.position, inward)) return {};
      lost.gap = kFurthest * h_;
    }
    if (!is_inside(middle, inward)) return {};
    const double across = compute_width(middle, inward);
    lost.is_wall = across > kRodCells * h_;
    lost.thickness = std::min(depth, across);
    return lost;
  }

  bool is_lost_wall(const Vec3& point, const Vec3& inward, const RayHit& hit) const {
    if (hit.triangle == kNoTriangle) return false;
    const double thickness = static_cast<double>(hit.t);
    // Both faces meet at an angle a, in an edge thickness / tan a away.
    const double cosine = dot(inward, normal_of(hit.triangle));
    if (!(cosine > 0)) return false;
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    if (thickness * cosine < kLeastToEdge * h_ * sine) return false;
    for (int i = 1; i <= kLooks; ++i)
      if (!(field_.value(point + inward * (thickness * i / (kLooks + 1))) > 0)) return false;
    return !is_rounded_rim(point + inward * (thickness / 2), inward);
  }

  // Of its own: one that is reached within the body. A rod next to a block does not live in it.
  bool has_solid_near(const Vec3& point, const Vec3& inward) const {
    const Vec3 from = point + inward * least_;
    return walks_into_solid(from) || has_solid_node_near(from, inward);
  }

  bool is_way_free(const Vec3& from, const Vec3& to) const {
    return !is_occluded(
        bvh_, {.origin = to_float(from), .direction = to_float(to - from), .t_min = 0, .t_max = 1});
  }

  // Downhill: that finds it at once behind edges and corners.
  bool walks_into_solid(const Vec3& from) const {
    Vec3 at = from;
    for (int i = 0; i < 8 && length(at - from) <= kFurthest * h_; ++i) {
      const FieldSample here = field_.sample(at);
      if (here.distance <= 0) return is_way_free(from, at);
      const double slope = length(here.gradient);
      if (!(slope > 0)) return false;
      at -= here.gradient * (std::max(here.distance, 0.15 * h_) / slope);
    }
    return false;
  }

  // A cell is solid somewhere only if one of its nodes is, so solid is met on the way to a node.
  bool has_solid_node_near(const Vec3& from, const Vec3& inward) const {
    const Lattice& lattice = field_.lattice();
    const Vec3 at = (from - lattice.origin) / h_;
    Index3 low, high;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      constexpr double kNodes = 2.25;
      const double last = lattice.cells[axis], x = axis == 0 ? at.x : axis == 1 ? at.y : at.z;
      low[axis] = static_cast<std::int32_t>(std::clamp(std::ceil(x - kNodes), 0.0, last));
      high[axis] = static_cast<std::int32_t>(std::clamp(std::floor(x + kNodes), 0.0, last));
    }
    for (std::int32_t k = low[2]; k <= high[2]; ++k)
      for (std::int32_t j = low[1]; j <= high[1]; ++j)
        for (std::int32_t i = low[0]; i <= high[0]; ++i)
          if (const Vec3 node = node_position(i, j, k); dot(node - from, inward) > 0 &&
                                                        field_.node_value(i, j, k) <= 0 &&
                                                        is_solid_towards(from, node))
            return true;
    return false;
  }

  Vec3 node_position(std::int32_t i, std::int32_t j, std::int32_t k) const {
    return field_.lattice().origin + Vec3{h_ * i, h_ * j, h_ * k};
  }

  bool is_solid_towards(const Vec3& from, const Vec3& node) const {
    const double away = length(node - from), reach = kFurthest * h_;
    const Vec3 at = away <= reach ? node : from + (node - from) * (reach / away);
    return field_.value(at) <= 0 && is_way_free(from, at);
  }

  // By the winding number: what lies behind a triangle of a fold need not be the body.
  bool is_inside(const Vec3& point, const Vec3& direction) const {
    std::array<RayHit, 64> buffer;
    const AllHits all =
        find_all_hits(bvh_, {.origin = to_float(point), .direction = to_float(direction)}, buffer);
    int winding = 0;
    for (const RayHit& hit : all.hits)
      winding += dot(direction, normal_of(hit.triangle)) > 0 ? 1 : -1;
    return all.status != AllHitsStatus::kComplete ||
           (surface_.nested == NestedRule::kEvenOdd ? winding % 2 != 0 : winding > 0);
  }

  // The shortest way through the body across the given one, of four; infinite beyond four cells.
  double compute_width(const Vec3& middle, const Vec3& across) const {
    const Vec3 axis = std::abs(across.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 u = normalized(cross(across, axis)), v = cross(across, u);
    double width = std::numeric_limits<double>::infinity();
    for (const Vec3& direction : {u, v, normalized(u + v), normalized(u - v)})
      width =
          std::min(width, static_cast<double>(shoot(middle, direction, 0, kRimCells * h_).t) +
                              static_cast<double>(shoot(middle, -direction, 0, kRimCells * h_).t));
    return width;
  }

  // Whether the wall ends near its middle, and is there further back: then it is only rounded off.
  bool is_rounded_rim(const Vec3& middle, const Vec3& across) const {
    const Vec3 back = find_return(middle, across);
    if (length_sq(back) < 0.5) return false;
    int in_a_row = 0;
    for (const double cells : {1.0, 1.5, 2.0, 2.5, 3.0, 3.5}) {
      in_a_row = field_.value(middle + back * (cells * h_)) <= 0 ? in_a_row + 1 : 0;
      if (in_a_row == 2) return true;
    }
    return false;
  }

  // Away from all rims within two cells: faces that are met along the wall and look that way. Where
  // a curved wall is left through its side, that is passed at a low angle. Rims on both sides of a
  // strip or rod cancel.
  Vec3 find_return(const Vec3& middle, const Vec3& across) const {
    const Vec3 axis = std::abs(across.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 u = normalized(cross(across, axis)), v = cross(across, u);
    std::array<Vec3, 4> rims;
    std::size_t count = 0;
    Vec3 back{};
    for (const Vec3& direction : {u, -u, v, -v}) {
      const RayHit hit = shoot(middle, direction, 0, kRimCells * h_);
      if (hit.triangle == kNoTriangle) continue;
      const Vec3 out = normal_of(hit.triangle);
      if (dot(direction, out) < 0.5) continue;
      const Vec3 rim = normalized(out - across * dot(across, out));
      if (std::any_of(rims.begin(), rims.begin() + count,
                      [&](const Vec3& r) { return dot(r, rim) > 0.7; }))
        continue;
      rims[count++] = rim;
      back -= rim;
    }
    return back;
  }

  void sum_up(const Found& found, double near, double area, ThinReport& report) const {
    const double least_extent = std::max(settings_.least_extent, h_);
    const double film = kFilmCells * least_extent;
    std::vector<detail::LostPart> parts =
        detail::gather_lost_parts(found.lost, found.bare, near, h_);
    double film_area = 0;
    for (const detail::LostPart& part : parts) {
      if (part.place.extent < least_extent)
        report.crumbs += part.place.samples;
      else if (part.typical_thickness < film)
        film_area += part.place.area;
    }
    std::erase_if(parts, [&](const auto& part) { return part.place.extent < least_extent; });
    const bool tell_apart = film_area < kFilmShare * area;
    for (detail::LostPart& part : parts) {
      part.place.is_film = tell_apart && part.typical_thickness < film;
      // What tapers to nothing is not to be had at its end either.
      if (tell_apart)
        part.voxel_size_to_keep = std::max(part.voxel_size_to_keep, kLeastKept * film);
      add(part, report);
    }
    if (!(area > 0)) return;
    report.lost_share = report.lost_area / area;
    report.film_share = report.film_area / area;
  }

  static void add(const detail::LostPart& part, ThinReport& report) {
    const auto lowest = [](bool first, double a, double b) { return first ? b : std::min(a, b); };
    const ThinPlace& place = part.place;
    if (report.places.size() < kMostPlaces) report.places.push_back(place);
    if (place.is_film) {
      report.thinnest_film = lowest(report.films++ == 0, report.thinnest_film, place.thickness);
      report.film_area += place.area;
      return;
    }
    const bool first = report.parts++ == 0;
    report.lost += place.samples;
    report.lost_area += place.area;
    report.thinnest = lowest(first, report.thinnest, place.thickness);
    report.voxel_size_to_keep = lowest(first, report.voxel_size_to_keep, part.voxel_size_to_keep);
    report.growth_to_keep = std::max(report.growth_to_keep, part.growth_to_keep);
  }

  const BrickField& field_;
  const Surface& surface_;
  const Bvh& bvh_;
  const ThinSettings& settings_;
  bool is_shell_;
  double h_;
  double least_ = 0;
};

// Two digits, and no powers of ten for what is large.
std::string format_plain(double x) {
  return x < 9.95 ? fmt::format("{:.2g}", x) : fmt::format("{:.0f}", x);
}

std::string format_place(const Vec3& p) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", p.x, p.y, p.z);
}

// The thinnest of the films, or of the parts that are none. There is one, unless all places told of
// are of the other kind.
const ThinPlace* find_thinnest(const ThinReport& report, bool film) {
  const ThinPlace* thinnest = nullptr;
  for (const ThinPlace& place : report.places)
    if (place.is_film == film && (thinnest == nullptr || place.thickness < thinnest->thickness))
      thinnest = &place;
  return thinnest;
}

// "walls as thin as 0.001 m, 0.5 of a cell of 0.002 m, such as at (1, 2, 3)"
std::string describe_thinnest(const ThinReport& report, double voxel_size) {
  const ThinPlace* place = find_thinnest(report, false);
  const double cells = report.thinnest / voxel_size;
  // Slivers and folds lose what is thick enough, too.
  std::string text =
      cells < 1 ? fmt::format("{} as thin as {:.3g} m, {:.2g} of a cell of {:.3g} m",
                              place == nullptr || place->is_wall ? "walls" : "rods or tips",
                              report.thinnest, cells, voxel_size)
                : fmt::format("cells of {:.3g} m do not show them", voxel_size);
  if (place != nullptr) text += ", such as at " + format_place(place->position);
  return text;
}

}  // namespace

ThinReport find_thin_features(const BrickField& field, const Surface& surface, const Bvh& bvh,
                              const ThinSettings& settings) {
  return ThinSearch(field, surface, bvh, settings).run();
}

std::string describe(const ThinReport& report, double voxel_size) {
  if (report.lost == 0) return {};
  const bool one = report.parts == 1;
  const double asked = report.refined_from > 0 ? report.refined_from : voxel_size;
  std::string text =
      fmt::format("{} part{} of the surface {} missing in the field, {} m^2 or {} % of it: {}",
                  report.parts, one ? "" : "s", one ? "is" : "are", format_plain(report.lost_area),
                  format_plain(100 * report.lost_share), describe_thinnest(report, asked));
  if (report.refined_from > 0)
    text += fmt::format("; cells were made smaller, {:.3g} m{}", voxel_size,
                        report.memory_limited ? ", as far as the memory limit allows" : "");
  if (report.offset > 0)
    text += fmt::format("; the body was grown by {:.3g} m on all sides", report.offset);
  if (report.refined_from > 0 || report.offset > 0)
    return text + (report.lost_afterwards > 0
                       ? fmt::format("; {} m^2 of their surface are lost all the same",
                                     format_plain(report.area_afterwards))
                       : std::string("; now they are there"));
  if (report.memory_limited)
    return text + fmt::format(
                      "; cells of {:.3g} m would keep them, but the memory limit allows no "
                      "smaller ones",
                      report.voxel_size_to_keep);
  return with_hint(text + fmt::format("; cells of {:.3g} m keep them", report.voxel_size_to_keep),
                   Hint::kThinParts);
}

std::string describe_films(const ThinReport& report, double voxel_size) {
  const bool acted = report.refined_from > 0 || report.offset > 0;
  const std::size_t count = acted ? report.films_afterwards : report.films;
  if (count == 0) return {};
  const double asked = report.refined_from > 0 ? report.refined_from : voxel_size;
  std::string text = fmt::format("{} film{} thinner than 1/8 of a cell of {:.3g} m", count,
                                 count == 1 ? "" : "s", asked);
  if (report.films > 0)
    text += fmt::format(", {} % of the surface", format_plain(100 * report.film_share));
  if (const ThinPlace* place = find_thinnest(report, true))
    text += fmt::format(", such as at {}, {:.3g} m thin", format_place(place->position),
                        place->thickness);
  return text +
         fmt::format(
             ", {} missing in the field and cannot be kept by finer cells; where the mesh folds "
             "over itself nothing is lost, but a sheet that matters must be made thicker",
             count == 1 ? "is" : "are");
}

}  // namespace isotact
