// Exact answers beside the truth: FCL on the same triangles, all pairs of triangles in long double,
// and exact winding numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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
  double worst = 0;    // Of distances, beside all pairs, in sizes.
};

class TruthCheck {
 public:
  TruthCheck(const BodyPair& pair, Report& report, Counts& counts)
      : pair_(pair),
        a_(*pair.first),
        b_(*pair.second),
        report_(report),
        counts_(counts),
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
  double tolerance_;
  Pose pose_{};
};

// A third anywhere near, a third close to touching, a third around touching.
Pose choose_pose(const BodyPair& pair, int number, Random& random) {
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
                                {"beside all pairs"},
                                {"worst", Of::kOurs, "sizes"},
                                {"FCL off", Of::kPeer},
                                {"verdicts settled", Of::kPeer},
                                {"winding unclear"}}});
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
               counts.all_pairs, counts.worst, counts.fcl_is_off, counts.settled, counts.unclear});
    report.json["truth"].push_back({{"name", group.name},
                                    {"poses", counts.poses},
                                    {"apart", counts.apart},
                                    {"touching", counts.touching},
                                    {"contained", counts.contained},
                                    {"all_pairs", counts.all_pairs},
                                    {"worst", counts.worst},
                                    {"fcl_is_off", counts.fcl_is_off},
                                    {"settled", counts.settled},
                                    {"unclear", counts.unclear}});
  }
  report.check(true, "distances, bounds, touching and contained are the truth's");
}

}  // namespace isotact::bench
