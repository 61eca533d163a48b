#include "isotact/field/build/thin_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isotact/field/lattice.h"

namespace isotact {
namespace {

constexpr double kThickest = 1.25;     // cells: beyond, no wall is lost
constexpr double kSamplesPerCell = 2;  // square cell
constexpr double kLeastToEdge = 1;     // cells
constexpr double kRimCells = 2;        // how far the rounding of edges and corners reaches
constexpr double kKeep = 0.8;          // cells a wall's thickness: 0.9 and what curvature takes
constexpr double kScraps = 1.5e-4;     // of the surface: folds and slivers that scans are full of
constexpr std::size_t kMostPlaces = 16;
constexpr int kLooks = 4;  // through a wall

struct Lost {
  Vec3 position{};
  double thickness = 0;
};

class ThinSearch {
 public:
  ThinSearch(const BrickField& field, const Surface& surface, const Bvh& bvh,
             const ThinSettings& settings)
      : field_(field), surface_(surface), bvh_(bvh), settings_(settings) {
    const Aabb box = field.bounds();
    const Vec3 reach = max(box.upper, -box.lower);
    // More than what rounding makes of a point and of the ray's hits.
    least_ = std::max(1e-6 * std::max({reach.x, reach.y, reach.z}), 1e-5 * field.voxel_size());
  }

  ThinReport run() {
    ThinReport report;
    add_up_areas();
    const double total = ends_.empty() ? 0 : ends_.back(), h = field_.voxel_size();
    if (!(total > 0)) return report;
    const double wanted = kSamplesPerCell * total / (h * h);
    report.samples = wanted < static_cast<double>(settings_.max_samples)
                         ? static_cast<std::size_t>(wanted) + 1
                         : settings_.max_samples;
    report.area_per_sample = total / static_cast<double>(report.samples);
    const std::vector<Lost> lost = parallel_reduce(
        report.samples, 2048, settings_.threads, std::vector<Lost>{},
        [&](std::size_t begin, std::size_t end) { return look(begin, end, report); },
        [](std::vector<Lost> all, const std::vector<Lost>& more) {
          all.insert(all.end(), more.begin(), more.end());
          return all;
        });
    sum_up(lost, report);
    return report;
  }

 private:
  void add_up_areas() {
    const std::size_t n = surface_.given_triangles;
    ends_.resize(n);
    double sum = 0;
    for (std::size_t t = 0; t < n; ++t) {
      const auto c = corners(surface_.mesh, t);
      const Vec3 a = to_double(c[0]);
      sum += 0.5 * length(cross(to_double(c[1]) - a, to_double(c[2]) - a));
      ends_[t] = sum;
    }
  }

  // Samples begin to end: evenly spaced along the sum of areas, so that each triangle gets its
  // share, and spread in it by a sequence that leaves no gaps (Roberts 2018, the plastic number).
  std::vector<Lost> look(std::size_t begin, std::size_t end, const ThinReport& report) const {
    std::vector<Lost> lost;
    const auto area_at = [&](std::size_t i) {
      return (static_cast<double>(i) + 0.5) * report.area_per_sample;
    };
    auto at = std::lower_bound(ends_.begin(), ends_.end(), area_at(begin));
    for (std::size_t i = begin; i < end; ++i) {
      while (at != ends_.end() && *at < area_at(i)) ++at;
      if (at == ends_.end()) break;
      const auto triangle = static_cast<std::size_t>(at - ends_.begin());
      double u = static_cast<double>(i) * 0.7548776662466927;
      double v = static_cast<double>(i) * 0.5698402909980532;
      u -= std::floor(u), v -= std::floor(v);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      if (const double thickness = find_lost_thickness(triangle, u, v); thickness > 0)
        lost.push_back({point_on(triangle, u, v), thickness});
    }
    return lost;
  }

  Vec3 point_on(std::size_t triangle, double u, double v) const {
    const auto c = corners(surface_.mesh, triangle);
    const Vec3 a = to_double(c[0]);
    return a + (to_double(c[1]) - a) * u + (to_double(c[2]) - a) * v;
  }

  Vec3 normal_of(std::size_t triangle) const {
    const auto c = corners(surface_.mesh, triangle);
    const Vec3 a = to_double(c[0]);
    return normalized(cross(to_double(c[1]) - a, to_double(c[2]) - a));
  }

  // Of the wall behind a point, or 0 where it is thick or still there.
  double find_lost_thickness(std::size_t triangle, double u, double v) const {
    const Vec3 point = point_on(triangle, u, v);
    const double h = field_.voxel_size();
    if (surface_.report.method == SignMethod::kUnsigned)
      return field_.value(point) > 0 ? 2 * surface_.report.shell_offset : 0;
    const Vec3 inward = -normal_of(triangle);
    // Half a cell behind the surface nearly all bodies are there: one look is all that most points
    // cost.
    if (!(field_.value(point + inward * (0.5 * h)) > 0)) return 0;
    const RayHit hit = find_first_hit(bvh_, {.origin = to_float(point),
                                             .direction = to_float(inward),
                                             .t_min = static_cast<float>(least_),
                                             .t_max = static_cast<float>(kThickest * h)});
    if (hit.triangle == kNoTriangle) return 0;
    const double thickness = static_cast<double>(hit.t);
    // Both faces meet at an angle a, in an edge thickness / tan a away.
    const double cosine = dot(inward, normal_of(hit.triangle));
    if (!(cosine > 0)) return 0;
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    if (thickness * cosine < kLeastToEdge * h * sine) return 0;
    for (int i = 1; i <= kLooks; ++i)
      if (!(field_.value(point + inward * (thickness * i / (kLooks + 1))) > 0)) return 0;
    const Vec3 middle = point + inward * (thickness / 2);
    return is_inside(middle, inward) && !is_rounded_rim(middle, inward) ? thickness : 0;
  }

  // By the winding number: what lies behind a triangle of a fold need not be the body.
  bool is_inside(const Vec3& point, const Vec3& way) const {
    std::array<RayHit, 64> buffer;
    const AllHits all =
        find_all_hits(bvh_, {.origin = to_float(point), .direction = to_float(way)}, buffer);
    int winding = 0;
    for (const RayHit& hit : all.hits) winding += dot(way, normal_of(hit.triangle)) > 0 ? 1 : -1;
    return all.status != AllHitsStatus::kComplete ||
           (surface_.nested == NestedRule::kEvenOdd ? winding % 2 != 0 : winding > 0);
  }

  // Whether the wall ends near its middle, and is there further back: then it is only rounded off.
  bool is_rounded_rim(const Vec3& middle, const Vec3& across) const {
    const double h = field_.voxel_size();
    const Vec3 back = find_way_back(middle, across);
    if (length_sq(back) < 0.5) return false;
    int in_a_row = 0;
    for (const double cells : {1.0, 1.5, 2.0, 2.5, 3.0, 3.5}) {
      in_a_row = field_.value(middle + back * (cells * h)) <= 0 ? in_a_row + 1 : 0;
      if (in_a_row == 2) return true;
    }
    return false;
  }

  // Away from all rims within two cells: faces that are met along the wall and look that way. Where
  // a curved wall is left through its side, that is passed at a low angle. Rims on both sides of a
  // strip or rod cancel.
  Vec3 find_way_back(const Vec3& middle, const Vec3& across) const {
    const Vec3 axis = std::abs(across.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 u = normalized(cross(across, axis)), v = cross(across, u);
    std::array<Vec3, 4> rims;
    std::size_t count = 0;
    Vec3 back{};
    for (const Vec3& way : {u, -u, v, -v}) {
      const RayHit hit =
          find_first_hit(bvh_, {.origin = to_float(middle),
                                .direction = to_float(way),
                                .t_max = static_cast<float>(kRimCells * field_.voxel_size())});
      if (hit.triangle == kNoTriangle) continue;
      const Vec3 out = normal_of(hit.triangle);
      if (dot(way, out) < 0.5) continue;
      const Vec3 rim = normalized(out - across * dot(across, out));
      if (std::any_of(rims.begin(), rims.begin() + count,
                      [&](const Vec3& r) { return dot(r, rim) > 0.7; }))
        continue;
      rims[count++] = rim;
      back -= rim;
    }
    return back;
  }

  void sum_up(const std::vector<Lost>& lost, ThinReport& report) const {
    if (lost.empty()) return;
    report.lost = lost.size();
    report.lost_share = static_cast<double>(lost.size()) / static_cast<double>(report.samples);
    std::vector<double> thicknesses;
    for (const Lost& l : lost) thicknesses.push_back(l.thickness);
    std::sort(thicknesses.begin(), thicknesses.end());
    report.thinnest = thicknesses.front();
    const auto scraps = static_cast<std::size_t>(kScraps * static_cast<double>(report.samples));
    if (lost.size() > scraps) report.voxel_size_to_keep = kKeep * thicknesses[scraps];
    const Lattice coarse = field_.coarse_lattice();
    std::vector<std::pair<Index3, ThinPlace>> places;
    for (const Lost& l : lost)
      places.push_back({locate(coarse, l.position).cell,
                        {.position = l.position, .thickness = l.thickness, .samples = 1}});
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t merged = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      ThinPlace& place = places[merged].second;
      if (places[i].first != places[merged].first) {
        places[++merged] = places[i];
        continue;
      }
      ++place.samples;
      if (places[i].second.thickness < place.thickness) {
        place.thickness = places[i].second.thickness;
        place.position = places[i].second.position;
      }
    }
    places.resize(merged + 1);
    std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
      return a.second.samples > b.second.samples;
    });
    for (std::size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i)
      report.places.push_back(places[i].second);
  }

  const BrickField& field_;
  const Surface& surface_;
  const Bvh& bvh_;
  const ThinSettings& settings_;
  std::vector<double> ends_;  // sum of the areas up to each given triangle
  double least_ = 0;
};

}  // namespace

ThinReport find_thin_features(const BrickField& field, const Surface& surface, const Bvh& bvh,
                              const ThinSettings& settings) {
  return ThinSearch(field, surface, bvh, settings).run();
}

std::string describe(const ThinReport& report, double voxel_size) {
  if (report.voxel_size_to_keep == 0) return {};
  const ThinPlace& place = *std::min_element(
      report.places.begin(), report.places.end(),
      [](const ThinPlace& a, const ThinPlace& b) { return a.thickness < b.thickness; });
  std::string text = fmt::format(
      "walls as thin as {:.3g} m, such as at ({:.4g}, {:.4g}, {:.4g}), are thinner than a cell of "
      "{:.3g} m",
      report.thinnest, place.position.x, place.position.y, place.position.z,
      report.refined_from > 0 ? report.refined_from : voxel_size);
  if (report.refined_from > 0)
    text += fmt::format(": cells were made smaller, {:.3g} m", voxel_size);
  if (report.offset > 0)
    text += fmt::format(": the body was grown by {:.3g} m on all sides", report.offset);
  if (report.refined_from > 0 || report.offset > 0) {
    if (report.lost_afterwards > 0)
      text += fmt::format("; at {} of {} points they are lost all the same", report.lost_afterwards,
                          report.samples);
    return text;
  }
  return text + fmt::format(
                    " and vanish ({:.2g} % of the surface): build with voxels of {:.3g} m, or keep "
                    "them by --keep-thin refine or offset",
                    100 * report.lost_share, report.voxel_size_to_keep);
}

}  // namespace isotact
