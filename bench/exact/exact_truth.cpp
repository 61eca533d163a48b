// Exact answers beside the truth: FCL on the same triangles, all pairs of triangles in long double,
// and exact winding numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "isotact/geometry/bvh/winding.h"
#include "isotact/queries/distance.h"

#include "exact_report.h"
#include "exact_stock.h"
#include "geometry/bvh/triangle_oracle.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kSmall = 500;  // Triangles: all poses are compared with all pairs.
constexpr int kLargePoses = 20;      // Others: so many.

struct Counts {
  int poses = 0, apart = 0, touching = 0, contained = 0, all_pairs = 0;
  int fcl_is_off = 0;  // Its distance is not that of its own triangles.
  int settled = 0;     // Verdicts that differ from FCL's, where long double decides for ours.
  int unclear = 0;     // Winding numbers that are neither about 0 nor about 1.
  int deep = 0;        // Depths beside samples.
  double worst = 0;    // Of distances, beside all pairs, in sizes.
  std::uint64_t most_tests = 0;  // Of a depth.
};

class TruthCheck {
 public:
  TruthCheck(const BodyPair& pair, Report& report, Counts& counts)
      : pair_(pair),
        a_(*pair.first),
        b_(*pair.second),
        report_(report),
        counts_(counts),
        winding_a_(Bvh(a_.bvh)),
        winding_b_(Bvh(b_.bvh)),
        tolerance_(1e-6 * size_of(pair)) {}

  void check(const Pose& pose, Random& random, bool with_all_pairs) {
    ++counts_.poses;
    pose_ = pose;
    const DistanceResult r = distance(a_.shape, {}, b_.shape, pose, {.want_depth = false});
    require(r.exact && r.status == DistanceStatus::kDone, "every answer is exact");
    require(r.lower_bound <= r.distance && r.distance <= r.upper_bound,
            "distances lie between their bounds");
    ++(r.touching ? counts_.touching : r.contained ? counts_.contained : counts_.apart);
    compare_with_fcl(r);
    if (with_all_pairs) compare_with_all_pairs(r);
    compare_contained(r);
    check_depth(r, random);
    check_cut(r, random);
  }

 private:
  void require(bool holds, const std::string& claim, const std::string& detail = {}) {
    if (holds) return;
    const Vec3& t = pose_.translation;
    report_.check(false, claim,
                  fmt::format("{} {} at {} {} {}: {}", a_.name, b_.name, t.x, t.y, t.z, detail));
  }

  double truth_of_all() const { return triangle_oracle::find_distance(a_.mesh, b_.mesh, pose_); }

  void compare_with_fcl(const DistanceResult& r) {
    FclPair peer(a_.fcl, {}, b_.fcl, pose_);
    const FclDistance fcl = peer.distance();
    if (peer.collide() != r.touching) {
      const double truth = truth_of_all();
      require((truth == 0) == r.touching || std::abs(truth) < 1e-15 * size_of(pair_),
              "`touching` is FCL's, or what long double says",
              fmt::format("{}, in truth {}", r.touching, truth));
      ++counts_.settled;
    }
    if (r.distance <= 0) return;  // else contained in an open mesh at most
    if (std::abs(fcl.distance - r.distance) <= tolerance_) return;
    const double truth = truth_of_all();
    require(std::abs(truth - r.distance) <= tolerance_, "distances are FCL's or the truth",
            fmt::format("{}, FCL {}, in truth {}", r.distance, fcl.distance, truth));
    ++counts_.fcl_is_off;
  }

  void compare_with_all_pairs(const DistanceResult& r) {
    ++counts_.all_pairs;
    const double truth = truth_of_all();
    require((truth == 0) == r.touching, "`touching` is that of all pairs",
            fmt::format("{}, in truth {}", r.touching, truth));
    if (r.distance <= 0) return;  // else contained in an open mesh at most
    counts_.worst = std::max(counts_.worst, std::abs(truth - r.distance) / size_of(pair_));
    require(std::abs(truth - r.distance) <= tolerance_, "distances are those of all pairs",
            fmt::format("{}, in truth {}", r.distance, truth));
    require(r.lower_bound <= truth, "lower bounds are bounds",
            fmt::format("{}, in truth {}", r.lower_bound, truth));
    const double rounding = 0x1p-44 * (2 * size_of(pair_) + length(pose_.translation));
    require(r.upper_bound >= truth - rounding, "upper bounds are bounds to rounding",
            fmt::format("{}, in truth {}", r.upper_bound, truth));
  }

  void compare_contained(const DistanceResult& r) {
    if (r.touching) return;
    const Nesting nesting = find_nesting(a_, b_, pose_);
    if (nesting.is_unclear) {
      ++counts_.unclear;
      return;
    }
    require(r.contained == (nesting.most > 0.5), "`contained` is what winding numbers say",
            fmt::format("{}, winding number {}", r.contained, nesting.most));
  }

  // Points inside of the other body are not deeper than the bound, and bounds are near each other.
  void check_depth(const DistanceResult& r, Random& random) {
    if (r.distance > 0) return;
    ++counts_.deep;
    const DistanceResult deep = distance(a_.shape, {}, b_.shape, pose_);
    counts_.most_tests = std::max(counts_.most_tests, deep.work.tests);
    const bool is_closed = a_.balanced && b_.balanced;  // else insides end in mid-air
    require(deep.exact && (deep.status == DistanceStatus::kDone || !is_closed),
            "every depth is found");
    require(deep.lower_bound <= deep.distance && deep.distance <= deep.upper_bound &&
                deep.distance <= 0,
            "depths lie between their bounds", fmt::format("{}", deep.distance));
    if (!is_closed) return;
    const double scale =
        a_.size + b_.size + length(a_.middle) + length(b_.middle) + length(pose_.translation);
    require(deep.distance - deep.lower_bound <= 4e-6 * scale, "bounds of depths are near",
            fmt::format("{} and {}", deep.distance, deep.lower_bound));
    const double deepest = std::max(sample_depth(a_, winding_b_, inverse(pose_), random),
                                    sample_depth(b_, winding_a_, pose_, random));
    require(deepest <= -deep.lower_bound + 1e-6 * scale, "no sampled point is deeper",
            fmt::format("{}, bound {}", deepest, -deep.lower_bound));
  }

  static double sample_depth(const BenchBody& of, const WindingTree& in, const Pose& in_from_of,
                             Random& random) {
    double deepest = 0;
    for (int i = 0; i < 50; ++i) {
      const auto c =
          corners(of.mesh, random.below(static_cast<std::uint32_t>(of.mesh.triangles.size())));
      const double u = random.uniform(), v = random.uniform() * (1 - u);
      const Vec3 p = to_double(c[0]) * (1 - u - v) + to_double(c[1]) * u + to_double(c[2]) * v;
      const Vec3f x = to_float(transform_point(in_from_of, p));
      const double depth = double{find_closest_point(in.bvh(), x).distance};
      if (depth > deepest && compute_winding_number(in, x) > 0.9) deepest = depth;
    }
    return deepest;
  }

  // Bounds at a random cut-off, and a threshold.
  void check_cut(const DistanceResult& r, Random& random) {
    if (r.distance <= 0) return;  // else contained in an open mesh at most
    const auto limit = static_cast<std::uint64_t>(std::pow(10, random.uniform(0, 3)));
    const DistanceResult cut =
        distance(a_.shape, {}, b_.shape, pose_, {.max_tests = limit, .want_depth = false});
    require(cut.lower_bound <= r.distance && cut.upper_bound >= r.distance - 1e-12 * size_of(pair_),
            "bounds hold at any limit");
    const double rounding = 1e-12 * size_of(pair_);
    const double reach = r.distance * random.uniform(0, 2);
    const DistanceResult within =
        distance(a_.shape, {}, b_.shape, pose_, {.max_distance = reach, .want_depth = false});
    require(within.lower_bound <= r.distance && within.upper_bound >= r.distance - rounding &&
                (r.distance > reach || std::abs(within.distance - r.distance) <= rounding),
            "bounds hold at any greatest distance");
    const DistanceResult near =
        distance(a_.shape, {}, b_.shape, pose_, {.near_enough = reach, .want_depth = false});
    require(near.lower_bound <= r.distance && near.upper_bound >= r.distance - rounding &&
                (near.status == DistanceStatus::kNearEnough) == (near.upper_bound <= reach),
            "bounds hold at any threshold");
  }

  const BodyPair& pair_;
  const BenchBody &a_, &b_;
  Report& report_;
  Counts& counts_;
  WindingTree winding_a_, winding_b_;
  double tolerance_;
  Pose pose_{};
};

// As they are assembled; a third anywhere near, a third close to touching, a third around touching.
Pose choose_pose(const BodyPair& pair, int number, Random& random) {
  if (number == 0) return {};
  const double size = size_of(pair);
  if (number % 3 == 0) {
    const Quat rotation = random.rotation();
    return {.rotation = rotation,
            .translation = pair.first->middle - rotate(rotation, pair.second->middle) +
                           random.in_unit_ball() * (0.8 * size)};
  }
  if (number % 3 == 1)
    return place_at_gap(pair, size * std::pow(10, random.uniform(-6, -1)), random);
  return place_overlapping(pair, size * std::pow(10, random.uniform(-7, -1.5)), random);
}

}  // namespace

void bench_truth(const Options& options, Report& report) {
  const std::vector<PairGroup> groups = make_truth_groups(options.quick);
  std::size_t pairs = 0;
  for (const PairGroup& group : groups) pairs += group.pairs.size();
  const int count = options.count > 0 ? options.count
                    : options.quick   ? 300
                    : options.full    ? 20'000
                                      : 2'000;
  Table table =
      report.table({.id = "exact-truth",
                    .title = fmt::format("{} poses of {} pairs beside the truth", count, pairs),
                    .columns = {{"bodies", Of::kKey},
                                {"poses", Of::kKey},
                                {"apart"},
                                {"touching"},
                                {"contained"},
                                {"depths"},
                                {"most tests", Of::kOurs},
                                {"beside all pairs"},
                                {"worst", Of::kOurs, "sizes"},
                                {"FCL off", Of::kPeer},
                                {"verdicts settled", Of::kPeer},
                                {"winding unclear"}}});
  int contained = 0;
  for (const PairGroup& group : groups) {
    Counts counts;
    for (std::size_t p = 0; p < group.pairs.size(); ++p) {
      const BodyPair& pair = group.pairs[p];
      TruthCheck check(pair, report, counts);
      const bool is_small =
          pair.first->mesh.triangles.size() < kSmall && pair.second->mesh.triangles.size() < kSmall;
      Random random(static_cast<std::uint64_t>(options.seed), p);
      for (int i = 0; i < count / static_cast<int>(pairs); ++i)
        check.check(choose_pose(pair, i, random), random, is_small || i < kLargePoses);
    }
    table.row({group.name, counts.poses, counts.apart, counts.touching, counts.contained,
               counts.deep, counts.most_tests, counts.all_pairs, counts.worst, counts.fcl_is_off,
               counts.settled, counts.unclear});
    contained += counts.contained;
    report.json["truth"].push_back({{"name", group.name},
                                    {"poses", counts.poses},
                                    {"apart", counts.apart},
                                    {"touching", counts.touching},
                                    {"contained", counts.contained},
                                    {"depths", counts.deep},
                                    {"most_tests", counts.most_tests},
                                    {"all_pairs", counts.all_pairs},
                                    {"worst", counts.worst},
                                    {"fcl_is_off", counts.fcl_is_off},
                                    {"settled", counts.settled},
                                    {"unclear", counts.unclear}});
  }
  report.check(contained > 0, "some bodies are inside of the other");
  report.check(true, "distances, bounds, touching and contained are the truth's");
}

}  // namespace isotact::bench
