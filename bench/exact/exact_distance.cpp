// Distances and depths: times beside FCL's distance.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "isotact/geometry/bvh/winding.h"
#include "isotact/queries/distance.h"

#include "exact_report.h"
#include "exact_stock.h"
#include "geometry/bvh/triangle_oracle.h"

namespace isotact::bench {
namespace {

// The least of some runs, in microseconds: noise only adds.
template <typename Work>
double least_time(int runs, Work&& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    least = std::min(least, std::chrono::duration<double, std::micro>(end - start).count());
  }
  return least;
}

struct Times {
  std::vector<double> fcl, ours;  // microseconds, one per pose
};

constexpr double kGaps[] = {0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5};  // of the bodies' size

int pose_count(const Options& options) {
  if (options.poses > 0) return options.poses;
  return options.quick ? 42 : options.full ? 2100 : 420;
}

// The distance of the two triangles that FCL names, in long double.
double settle(const BodyPair& pair, const Pose& pose, const FclDistance& fcl) {
  using namespace triangle_oracle;
  if (fcl.triangle_a < 0 || fcl.triangle_b < 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::sqrt(triangle_distance_sq(
      corners_of(pair.first->mesh, static_cast<std::size_t>(fcl.triangle_a), {}),
      corners_of(pair.second->mesh, static_cast<std::size_t>(fcl.triangle_b), pose))));
}

// Ours beside FCL's: equal to a millionth of the size, unless FCL's triangles say otherwise.
bool is_right(const BodyPair& pair, const Pose& pose, const DistanceResult& ours,
              const FclDistance& fcl) {
  const double tolerance = 1e-6 * size_of(pair);
  if (!ours.exact || ours.lower_bound > ours.distance || ours.upper_bound < ours.distance)
    return false;
  if (ours.touching) return fcl.distance <= tolerance;
  if (ours.contained) return true;  // the depth is not FCL's
  if (std::abs(ours.distance - fcl.distance) <= tolerance) return true;
  // FCL's own rounding: its triangles are further apart than it says, or ours are nearer.
  const double truth = settle(pair, pose, fcl);
  return ours.distance <= truth + tolerance;
}

void warm(const BodyPair& pair) {
  prepare(pair.first->shape, DistanceRequest{});
  prepare(pair.second->shape, DistanceRequest{});
}

void time_pose(const BodyPair& pair, const Pose& pose, const DistanceRequest& request, Times& times,
               DistanceResult& ours, FclDistance& fcl) {
  FclPair peer(pair.first->fcl, {}, pair.second->fcl, pose);
  const auto run_ours = [&] {
    ours = distance(pair.first->shape, {}, pair.second->shape, pose, request);
  };
  const auto run_fcl = [&] { fcl = peer.distance(); };
  const double first_ours = least_time(2, run_ours), first_fcl = least_time(2, run_fcl);
  times.ours.push_back(std::min(first_ours, least_time(2, run_ours)));
  times.fcl.push_back(std::min(first_fcl, least_time(1, run_fcl)));
}

std::vector<Column> columns_of(const char* key) {
  return {{key, Of::kKey},
          {"poses", Of::kKey},
          {"FCL p50", Of::kPeer, "us"},
          {"FCL p99", Of::kPeer, "us"},
          {"FCL max", Of::kPeer, "us"},
          {"p50", Of::kOurs, "us"},
          {"p99", Of::kOurs, "us"},
          {"max", Of::kOurs, "us"},
          {"p50 faster", Of::kOurs, "times"},
          {"p99 faster", Of::kOurs, "times"},
          {"max faster", Of::kOurs, "times"}};
}

struct TimeQuantiles {
  double fcl[3], ours[3];
};

TimeQuantiles summarise(const Times& times) {
  const auto of = [](const std::vector<double>& all, double(&out)[3]) {
    out[0] = quantile(all, 0.5);
    out[1] = quantile(all, 0.99);
    out[2] = quantile(all, 1);
  };
  TimeQuantiles s{};
  of(times.fcl, s.fcl);
  of(times.ours, s.ours);
  return s;
}

void tell(Table& table, const std::string& name, const Times& times) {
  const TimeQuantiles s = summarise(times);
  table.row({name, times.ours.size(), s.fcl[0], s.fcl[1], s.fcl[2], s.ours[0], s.ours[1], s.ours[2],
             s.fcl[0] / s.ours[0], s.fcl[1] / s.ours[1], s.fcl[2] / s.ours[2]});
}

Json to_json(const std::string& name, const Times& times) {
  const TimeQuantiles s = summarise(times);
  return {{"name", name},           {"poses", times.ours.size()}, {"fcl_p50_us", s.fcl[0]},
          {"fcl_p99_us", s.fcl[1]}, {"fcl_max_us", s.fcl[2]},     {"p50_us", s.ours[0]},
          {"p99_us", s.ours[1]},    {"max_us", s.ours[2]}};
}

// Points of one surface inside of the other body must not be deeper than was said. An open mesh has
// no inside that has a depth.
bool no_point_is_deeper(const BodyPair& pair, const Pose& pose, double depth) {
  Random random(5);
  const auto check = [&](const BenchBody& of, const BenchBody& in, const Pose& in_from_of) {
    if (!in.balanced) return true;
    const WindingTree tree(Bvh(in.bvh));
    for (int i = 0; i < 200; ++i) {
      const auto c =
          corners(of.mesh, random.below(static_cast<std::uint32_t>(of.mesh.triangles.size())));
      const double u = random.uniform(), v = random.uniform() * (1 - u);
      const Vec3 p = to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
      const Vec3f x = to_float(transform_point(in_from_of, p));
      const double d = double{find_closest_point(in.bvh, x).distance};
      if (d > depth + 2e-6 * size_of(pair) && compute_winding_number(tree, x) > 0.9) return false;
    }
    return true;
  };
  return check(*pair.first, *pair.second, inverse(pose)) && check(*pair.second, *pair.first, pose);
}

}  // namespace

void bench_distance(const Options& options, Report& report) {
  const std::vector<PairGroup> groups = make_timed_groups(options.quick);
  Table table = report.table({.id = "exact-distance",
                              .title = "Exact distance, from touching to half their size apart",
                              .columns = columns_of("bodies")});
  std::vector<Times> by_gap(std::size(kGaps));
  int wrong = 0;
  for (const PairGroup& group : groups) {
    Random random(31);
    Times times;
    for (const BodyPair& pair : group.pairs) warm(pair);
    for (int i = 0; i < pose_count(options); ++i) {
      const std::size_t gap = static_cast<std::size_t>(i) % std::size(kGaps);
      const BodyPair& pair = group.pairs[static_cast<std::size_t>(i) % group.pairs.size()];
      const Pose pose = place_at_gap(pair, kGaps[gap] * size_of(pair), random);
      DistanceResult ours;
      FclDistance fcl;
      time_pose(pair, pose, {}, times, ours, fcl);
      by_gap[gap].fcl.push_back(times.fcl.back());
      by_gap[gap].ours.push_back(times.ours.back());
      if (is_right(pair, pose, ours, fcl)) continue;
      ++wrong;
      report.check(false, "distances are FCL's",
                   fmt::format("{} {}: {} instead of {}", pair.first->name, pair.second->name,
                               ours.distance, fcl.distance));
    }
    tell(table, group.name, times);
    report.json["distance"].push_back(to_json(group.name, times));
    const TimeQuantiles s = summarise(times);
    report.aim(s.fcl[0] >= 5 * s.ours[0], group.name + ": the median is 5 times FCL's speed");
    report.aim(s.fcl[1] >= s.ours[1] && s.fcl[2] >= s.ours[2],
               group.name + ": p99 and maximum are no slower than FCL's");
  }
  report.check(wrong == 0, "distances are FCL's to a millionth of the size");
  Table gaps = report.table({.id = "exact-distance-gaps",
                             .title = "The same by the distance of the bodies",
                             .columns = columns_of("share of their size")});
  for (std::size_t i = 0; i < std::size(kGaps); ++i)
    tell(gaps, fmt::format("{}", kGaps[i]), by_gap[i]);
}

void bench_threshold(const Options& options, Report& report) {
  const std::vector<PairGroup> groups = make_timed_groups(options.quick);
  Table table = report.table(
      {.id = "exact-threshold",
       .title = "Are they further apart than a hundredth of their size?",
       .columns = columns_of("share of their size"),
       .note = "All groups. FCL knows no threshold: its times are those of its distance."});
  std::vector<Times> by_gap(std::size(kGaps));
  Random random(33);
  bool all_right = true;
  for (const PairGroup& group : groups) {
    for (const BodyPair& pair : group.pairs) warm(pair);
    for (int i = 0; i < pose_count(options) / 2; ++i) {
      const std::size_t gap = static_cast<std::size_t>(i) % std::size(kGaps);
      const BodyPair& pair = group.pairs[static_cast<std::size_t>(i) % group.pairs.size()];
      const Pose pose = place_at_gap(pair, kGaps[gap] * size_of(pair), random);
      const double threshold = 0.01 * size_of(pair);
      DistanceResult ours;
      FclDistance fcl;
      time_pose(pair, pose, {.max_distance = threshold, .want_depth = false}, by_gap[gap], ours,
                fcl);
      const bool is_close = std::abs(fcl.distance - threshold) <= 1e-6 * size_of(pair);
      all_right =
          all_right && (is_close || std::isinf(ours.distance) == (fcl.distance > threshold));
    }
  }
  report.check(all_right, "thresholds agree with FCL's distances");
  for (std::size_t i = 0; i < std::size(kGaps); ++i) {
    tell(table, fmt::format("{}", kGaps[i]), by_gap[i]);
    report.json["threshold"].push_back(to_json(fmt::format("{}", kGaps[i]), by_gap[i]));
  }
}

void bench_depth(const Options& options, Report& report) {
  const std::vector<PairGroup> groups = make_timed_groups(options.quick);
  Table table = report.table(
      {.id = "exact-depth",
       .title = "Signed depth of bodies that overlap",
       .columns = columns_of("bodies"),
       .note = "FCL says only that they touch: its times are those of its distance of zero."});
  constexpr double kDepths[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.2};
  int wrong = 0;
  for (const PairGroup& group : groups) {
    Random random(32);
    Times times, verdicts;
    for (const BodyPair& pair : group.pairs) warm(pair);
    for (int i = 0; i < pose_count(options) / 2; ++i) {
      const BodyPair& pair = group.pairs[static_cast<std::size_t>(i) % group.pairs.size()];
      const double depth = kDepths[static_cast<std::size_t>(i) % std::size(kDepths)];
      const Pose pose = place_overlapping(pair, depth * size_of(pair), random);
      DistanceResult ours;
      FclDistance fcl;
      time_pose(pair, pose, {.want_depth = false}, verdicts, ours, fcl);
      time_pose(pair, pose, {}, times, ours, fcl);
      if (!ours.touching) {  // it passed by
        times.ours.pop_back();
        times.fcl.pop_back();
        verdicts.ours.pop_back();
        verdicts.fcl.pop_back();
        continue;
      }
      if (ours.exact && is_right(pair, pose, ours, fcl) &&
          no_point_is_deeper(pair, pose, -ours.distance))
        continue;
      ++wrong;
      report.check(false, "no point is deeper",
                   fmt::format("{} {}: {}", pair.first->name, pair.second->name, ours.distance));
    }
    tell(table, group.name, times);
    tell(table, "  without depth", verdicts);
    report.json["depth"].push_back(to_json(group.name, times));
    report.aim(quantile(times.ours, 0.5) < 500, group.name + ": the median is under 0.5 ms");
  }
  report.check(wrong == 0, "no sampled point is deeper than the depth");
}

}  // namespace isotact::bench
