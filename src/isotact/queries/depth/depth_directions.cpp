#include "isotact/queries/depth/depth_directions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/mesh/predicates.h"

namespace isotact {
namespace {

constexpr std::int32_t kSurveyPixels = 128;
constexpr std::int32_t kMostSamples = 1 << 20, kMostCandidates = 4096;
constexpr int kMostDirections = 64;

struct SurfaceSample {
  Vec3 position{}, normal{};
};

void check_mesh(const TriangleMesh& mesh) {
  if (const auto flaw = find_flaw(mesh)) throw Error("the mesh cannot be used: " + *flaw);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (const Vec3f& p : corners(mesh, i))
      if (!is_finite(p)) throw Error(fmt::format("triangle {} is not finite", i));
}

void check_samples(std::int32_t samples) {
  if (samples < 1 || samples > kMostSamples)
    throw Error(fmt::format("samples must be 1 to {}, not {}", kMostSamples, samples));
}

// Each represents the same area: equal steps along the sum of areas, and positions in each triangle
// by Roberts' R2 sequence.
std::vector<SurfaceSample> sample_surface(const TriangleMesh& mesh, std::int32_t count) {
  std::vector<double> sums(mesh.triangles.size());
  double sum = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto c = corners(mesh, i);
    const Vec3 a = to_double(c[0]);
    sum += length(cross(to_double(c[1]) - a, to_double(c[2]) - a)) / 2;
    sums[i] = sum;
  }
  if (!(sum > 0)) throw Error("the mesh has no area: there is nothing to see");
  std::vector<SurfaceSample> samples;
  samples.reserve(static_cast<std::size_t>(count));
  for (std::int32_t k = 0; k < count; ++k) {
    const double at = (k + 0.5) / count * sum;
    const auto found = std::upper_bound(sums.begin(), sums.end(), at);
    const auto triangle =
        std::min(static_cast<std::size_t>(found - sums.begin()), mesh.triangles.size() - 1);
    double u = 0.5 + k * 0.7548776662466927, v = 0.5 + k * 0.5698402909980532;
    u -= std::floor(u);
    v -= std::floor(v);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const auto c = corners(mesh, triangle);
    const Vec3 a = to_double(c[0]), ab = to_double(c[1]) - a, ac = to_double(c[2]) - a;
    samples.push_back({a + ab * u + ac * v, normalized(cross(ab, ac))});
  }
  return samples;
}

// Offset of ray origins from the surface: more than the rounding of float32, less than any real
// feature.
double skin_of(const TriangleMesh& mesh) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 reach = max(max(-box.lower, box.upper), extent(box));
  return 2e-6 * std::max({reach.x, reach.y, reach.z});
}

std::vector<Vec3> make_candidates(std::int32_t count, bool both_signs) {
  std::vector<Vec3> all;
  for (const Vec3& d : {Vec3{0, 1, 0}, Vec3{0, 0, 1}, Vec3{1, 0, 0}, Vec3{1, 1, 0}, Vec3{1, -1, 0},
                        Vec3{0, 1, 1}, Vec3{0, 1, -1}, Vec3{1, 0, 1}, Vec3{-1, 0, 1}, Vec3{1, 1, 1},
                        Vec3{1, 1, -1}, Vec3{1, -1, 1}, Vec3{-1, 1, 1}})
    all.push_back(normalized(d));
  // A spiral over the upper half of the sphere, advanced by the golden angle.
  for (std::int32_t k = 0; k < count; ++k) {
    const double z = (k + 0.5) / count;
    const SinCos turn = sin_cos(2.399963229728653 * k);
    const double r = std::sqrt(1 - z * z);
    all.push_back({r * turn.cos, r * turn.sin, z});
  }
  if (both_signs) {
    const std::size_t half = all.size();
    for (std::size_t i = 0; i < half; ++i) all.push_back(-all[i]);
  }
  return all;
}

struct Sight {
  std::vector<std::uint8_t> seen, grazing;  // by samples
  // Of the object's map (kIntervals): see DepthDirectionShare.
  std::uint32_t covered = 0, overfull = 0, open = 0;
};

class SightSurvey {
 public:
  SightSurvey(const TriangleMesh& mesh, const DepthDirectionSettings& settings)
      : settings_(settings), part_(make_depth_mesh(mesh)) {
    check_mesh(mesh);
    check(settings);
    samples_ = sample_surface(mesh, settings.samples);
    box_ = to_double(bounds(mesh));
    skin_ = skin_of(mesh);
    if (!of_intervals()) bvh_ = Bvh(mesh, {.threads = settings.threads});
    const double angle = settings.grazing_degrees * (kPi / 180);
    least_cosine_ = sin_cos(angle).cos;
  }

  std::size_t sample_count() const { return samples_.size(); }
  const SurfaceSample& sample(std::size_t i) const { return samples_[i]; }
  bool of_intervals() const { return settings_.method == DepthMethod::kIntervals; }

  // What is steep to a direction, and the rest as if it was seen: nothing is drawn or traced.
  Sight look_roughly(const Vec3& direction) const {
    Sight sight{.seen = std::vector<std::uint8_t>(samples_.size(), 1),
                .grazing = std::vector<std::uint8_t>(samples_.size())};
    for (std::size_t i = 0; i < samples_.size(); ++i)
      sight.grazing[i] = std::abs(dot(samples_[i].normal, direction)) < least_cosine_ ? 1 : 0;
    if (of_intervals())
      for (std::size_t i = 0; i < samples_.size(); ++i) sight.seen[i] = 1 - sight.grazing[i];
    return sight;
  }

  Sight look(const Vec3& direction) const {
    Sight sight = look_roughly(direction);
    if (of_intervals()) {
      look_through(direction, sight);
    } else {
      for (std::size_t i = 0; i < samples_.size(); ++i)
        sight.seen[i] = is_free(samples_[i], direction) ||
                                (settings_.two_sided && is_free(samples_[i], -direction))
                            ? 1
                            : 0;
    }
    return sight;
  }

 private:
  DepthMap draw(const Vec3& direction) const {
    const DepthElement object[] = {make_depth_element(part_, {}, 0, true)};
    return draw_depth_map(object, make_depth_view(box_, direction),
                          {.width = kSurveyPixels,
                           .height = kSurveyPixels,
                           .layers = kMostDepthLayers,
                           .threads = settings_.threads});
  }

  static void check(const DepthDirectionSettings& s) {
    check_samples(s.samples);
    check_depth_settings({.method = s.method, .layers = s.layers});
    if (s.candidates < 0 || s.candidates > kMostCandidates)
      throw Error(fmt::format("candidates must be 0 to {}, not {}", kMostCandidates, s.candidates));
    if (s.max_directions < 1 || s.max_directions > kMostDirections)
      throw Error(
          fmt::format("max_directions must be 1 to {}, not {}", kMostDirections, s.max_directions));
    if (!(s.wanted_share >= 0 && s.wanted_share <= 1 && s.least_gain >= 0 && s.least_gain <= 1))
      throw Error("wanted_share and least_gain must lie within 0 and 1");
    if (!(s.grazing_degrees > 0 && s.grazing_degrees <= 90))
      throw Error(fmt::format("grazing_degrees must be above 0, to 90, not {}", s.grazing_degrees));
  }

  bool is_free(const SurfaceSample& sample, const Vec3& direction) const {
    return !is_occluded(bvh_, {.origin = to_float(sample.position + sample.normal * skin_),
                               .direction = to_float(direction)});
  }

  // Uses the largest number of layers: this shows the pixels that have more than the caller's.
  void look_through(const Vec3& direction, Sight& sight) const {
    const DepthMap map = draw(direction);
    count_pixels(map, sight);
    const Pose view_from_object = inverse(map.view.object_from_view);
    constexpr std::size_t kArea = std::size_t{kSurveyPixels} * kSurveyPixels;
    const auto pixel_of = [](double at, double half) {
      const auto pixel = static_cast<std::int32_t>(std::floor((at / half + 1) * kSurveyPixels / 2));
      return static_cast<std::size_t>(std::clamp(pixel, 0, kSurveyPixels - 1));
    };
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const Vec3 p = transform_point(view_from_object, samples_[i].position);
      const std::size_t pixel =
          pixel_of(p.y, map.view.half_size.y) * kSurveyPixels + pixel_of(p.x, map.view.half_size.x);
      const auto layers = static_cast<std::size_t>(settings_.layers);
      bool overfull = false;
      if (layers < static_cast<std::size_t>(kMostDepthLayers)) {
        const DepthMap::Interval& next = map.intervals[layers * kArea + pixel];
        overfull = next.near <= next.far;
      }
      sight.seen[i] = sight.grazing[i] == 0 && !overfull ? 1 : 0;
    }
  }

  // What a map with the caller's layers would count: pixels that need one layer more are overfull.
  void count_pixels(const DepthMap& map, Sight& sight) const {
    sight.covered = map.covered;
    sight.open = map.open;
    sight.overfull = map.overfull;
    if (settings_.layers == kMostDepthLayers) return;
    constexpr std::size_t kArea = std::size_t{kSurveyPixels} * kSurveyPixels;
    const auto next =
        map.intervals.begin() +
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(settings_.layers) * kArea);
    sight.overfull = static_cast<std::uint32_t>(
        std::count_if(next, next + static_cast<std::ptrdiff_t>(kArea),
                      [](const DepthMap::Interval& i) { return i.near <= i.far; }));
  }

  DepthDirectionSettings settings_;
  DepthMesh part_;
  std::vector<SurfaceSample> samples_;
  Bvh bvh_;
  Aabb box_{};
  double skin_ = 0, least_cosine_ = 0;
};

std::size_t count_set(const std::vector<std::uint8_t>& flags) {
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), 1));
}

// Adds one direction after the other to a report.
class SightAccount {
 public:
  explicit SightAccount(const SightSurvey& survey)
      : survey_(survey), seen_(survey.sample_count()), grazing_(survey.sample_count(), 1) {}

  std::size_t gain_of(const Sight& sight) const {
    std::size_t gain = 0;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      gain += sight.seen[i] != 0 && seen_[i] == 0 ? 1U : 0U;
    return gain;
  }
  void add(const Vec3& direction, const Sight& sight) {
    const DepthDirectionShare share{.direction = direction,
                                    .seen = share_of(count_set(sight.seen)),
                                    .gained = share_of(gain_of(sight)),
                                    .grazing = share_of(count_set(sight.grazing)),
                                    .covered = sight.covered,
                                    .overfull = sight.overfull,
                                    .open = sight.open};
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      seen_[i] = seen_[i] | sight.seen[i];
      grazing_[i] = grazing_[i] & sight.grazing[i];
    }
    compliance_.directions.push_back(share);
  }
  double seen() const { return share_of(count_set(seen_)); }
  DepthCompliance finish() {
    compliance_.seen = seen();
    compliance_.unseen = share_of(seen_.size() - count_set(seen_));
    compliance_.grazing = compliance_.directions.empty() ? 0 : share_of(count_set(grazing_));
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (seen_[i] == 0) compliance_.worst = survey_.sample(i).position;
    return std::move(compliance_);
  }

 private:
  double share_of(std::size_t samples) const {
    return static_cast<double>(samples) / static_cast<double>(seen_.size());
  }

  const SightSurvey& survey_;
  std::vector<std::uint8_t> seen_, grazing_;
  DepthCompliance compliance_;
};

struct Candidate {
  Vec3 direction{};
  Sight sight{};  // if it is not exact, more is seen than there is
  std::size_t grazing = 0;
  bool is_exact = false;
};

struct BestCandidate {
  std::size_t index = 0, gain = 0;
};

// The candidate that adds most; of equals the one with less grazing surface, then the first. A
// rough sight sees all that the exact one does, so its gain is a bound: whoever comes first by
// bounds and is exact is the best of all. Only candidates that come first are drawn.
BestCandidate find_best(const SightSurvey& survey, const SightAccount& account,
                        std::vector<Candidate>& candidates) {
  std::vector<std::size_t> gains;
  for (const Candidate& c : candidates) gains.push_back(account.gain_of(c.sight));
  while (true) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates.size(); ++i)
      if (gains[i] > gains[best] ||
          (gains[i] == gains[best] && candidates[i].grazing < candidates[best].grazing))
        best = i;
    Candidate& first = candidates[best];
    if (first.is_exact) return {best, gains[best]};
    first.sight = survey.look(first.direction);
    first.is_exact = true;
    gains[best] = account.gain_of(first.sight);
  }
}

bool is_visible(const Bvh& bvh, const Vec3& from, const Vec3& to) {
  return !is_occluded(bvh,
                      {.origin = to_float(from), .direction = to_float(to - from), .t_max = 1.0F});
}

}  // namespace

DepthCompliance choose_depth_directions(const TriangleMesh& mesh,
                                        const DepthDirectionSettings& settings) {
  const SightSurvey survey(mesh, settings);
  const bool both_signs = !survey.of_intervals() && !settings.two_sided;
  const std::vector<Vec3> candidates = make_candidates(settings.candidates, both_signs);
  std::vector<Candidate> rated(candidates.size());
  parallel_for(candidates.size(), 1, settings.threads, [&](std::size_t i, std::size_t) {
    // Rays of the other methods have no bound that is worth having.
    rated[i] = {.direction = candidates[i],
                .sight = survey.of_intervals() ? survey.look_roughly(candidates[i])
                                               : survey.look(candidates[i]),
                .is_exact = !survey.of_intervals()};
    rated[i].grazing = count_set(rated[i].sight.grazing);
  });
  SightAccount account(survey);
  for (int k = 0; k < settings.max_directions; ++k) {
    const BestCandidate best = find_best(survey, account, rated);
    const double share = static_cast<double>(best.gain) / static_cast<double>(settings.samples);
    if (k > 0 && (best.gain == 0 || share < settings.least_gain)) break;
    account.add(rated[best.index].direction, rated[best.index].sight);
    if (account.seen() >= settings.wanted_share) break;
  }
  return account.finish();
}

DepthCompliance check_depth_directions(const TriangleMesh& mesh, std::span<const Vec3> directions,
                                       const DepthDirectionSettings& settings) {
  const SightSurvey survey(mesh, settings);
  SightAccount account(survey);
  for (const Vec3& direction : directions) {
    const Vec3 unit = normalized(direction);
    if (!is_finite(direction) || !(length_sq(unit) > 0.5))
      throw Error("a direction must be finite and not zero");
    account.add(unit, survey.look(unit));
  }
  return account.finish();
}

double compute_visible_share(const TriangleMesh& walls, const Vec3& centre,
                             std::span<const Vec3> points, Threads threads) {
  check_mesh(walls);
  if (!is_finite(centre)) throw Error("the centre is not finite");
  if (points.empty()) return 1;
  const Bvh bvh(walls, {.threads = threads});
  const std::size_t visible = parallel_reduce(
      points.size(), 1024, threads, std::size_t{0},
      [&](std::size_t begin, std::size_t end) {
        std::size_t sum = 0;
        for (std::size_t i = begin; i < end; ++i)
          sum += is_visible(bvh, centre, points[i]) ? 1U : 0U;
        return sum;
      },
      [](std::size_t a, std::size_t b) { return a + b; });
  return static_cast<double>(visible) / static_cast<double>(points.size());
}

StarZone check_star_zone(const TriangleMesh& zone, const Vec3& centre, std::int32_t samples,
                         Threads threads) {
  check_mesh(zone);
  check_samples(samples);
  const Vec3f at = to_float(centre);
  StarZone result{.is_star_convex = true};
  // Take a closed surface that winds once around the centre, and whose triangles all show their
  // inner side to it. It maps one to one to a sphere around the centre: each ray has exactly one
  // position.
  for (std::size_t i = 0; i < zone.triangles.size() && result.is_star_convex; ++i) {
    const auto c = corners(zone, i);
    result.is_star_convex = are_collinear(c[0], c[1], c[2]) || orient3d(c[0], c[1], c[2], at) < 0;
  }
  if (std::abs(brute_force::compute_winding_number(zone, at) - 1) > 0.01) {
    result.is_star_convex = false;
    return result;  // Outside: nothing is visible.
  }
  std::vector<Vec3> points;
  const double skin = skin_of(zone);
  std::size_t turned_away = 0;
  for (const SurfaceSample& sample : sample_surface(zone, samples)) {
    const Vec3 inner = sample.position - sample.normal * skin;
    if (dot(sample.normal, sample.position - centre) > 0)
      points.push_back(inner);
    else
      ++turned_away;
  }
  const double seen =
      compute_visible_share(zone, centre, points, threads) * static_cast<double>(points.size());
  result.visible_share = seen / static_cast<double>(points.size() + turned_away);
  return result;
}

}  // namespace isotact
