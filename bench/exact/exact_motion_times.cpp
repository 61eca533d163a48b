// Times of exact first contacts beside FCL: static tests at 21 times, and conservative advancement.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "isotact/queries/continuous_collide.h"

#include "exact_report.h"
#include "exact_stock.h"
#include "support/measure.h"
#include "xb14/swept_peer.h"

namespace isotact::bench {
namespace {

constexpr int kTests = 21;
constexpr std::size_t kMostPairs = 8;  // of a group

double least_microseconds(int runs, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) least = std::min(least, seconds_of(work).wall * 1e6);
  return least;
}

struct Kind {
  const char* name;
  BodyMotion (*make)(const BodyPair& pair, Random& random);  // of B; A rests at the origin
};

// Between two poses in the threefold box of A.
BodyMotion cross_box(const BodyPair& pair, Random& random) {
  const Aabb box = to_double(pair.first->bvh.bounds());
  const Vec3 middle = center(box), half = extent(box) * 1.5, of_b = pair.second->middle;
  BodyMotion m;
  for (Pose* pose : {&m.from, &m.to}) {
    pose->rotation = random.rotation();
    pose->translation = random.in_box(middle - half, middle + half) - rotate(pose->rotation, of_b);
  }
  m.pivot = of_b;
  return m;
}

BodyMotion step_about(const BodyPair& pair, const Pose& pose, const Vec3& half, double turn,
                      Random& random) {
  const Quat half_turn = rotation_about(random.unit_vector(), turn / 2);
  const Vec3 of_b = pair.second->middle, middle = transform_point(pose, of_b);
  BodyMotion m;
  m.from.rotation = conjugate(half_turn) * pose.rotation;
  m.to.rotation = half_turn * pose.rotation;
  m.from.translation = middle - half - rotate(m.from.rotation, of_b);
  m.to.translation = middle + half - rotate(m.to.rotation, of_b);
  m.pivot = of_b;
  return m;
}

// Passes by at a hundredth of the size, or hits on the way.
BodyMotion pass(const BodyPair& pair, Random& random) {
  const double size = size_of(pair);
  return step_about(pair, place_at_gap(pair, 0.01 * size, random),
                    random.unit_vector() * (0.5 * size), 1, random);
}

// A hundredth of the size, at a gap of a thousandth.
BodyMotion small_step(const BodyPair& pair, Random& random) {
  const double size = size_of(pair);
  return step_about(pair, place_at_gap(pair, 0.001 * size, random),
                    random.unit_vector() * (0.005 * size), 0.05, random);
}

constexpr Kind kKinds[] = {
    {"across the box", cross_box}, {"passing", pass}, {"small steps", small_step}};

struct Times {
  std::vector<double> ours, tests, advance;  // microseconds, one per motion
  std::vector<double> ours_beside_advance;
  int contacts = 0, missed = 0, wrong_advance = 0;
};

// Poses are made beforehand, and the first contact ends it: the least that sampling can cost.
double time_tests(const FclBodies& fcl, const BodyMotion& motion, int runs, bool& hits) {
  std::vector<Pose> poses;
  for (int k = 0; k < kTests; ++k)
    poses.push_back(compute_pose(motion, static_cast<double>(k) / (kTests - 1)));
  return least_microseconds(runs, [&] {
    hits = std::any_of(poses.begin(), poses.end(),
                       [&](const Pose& pose) { return fcl.count_contacts(pose, 1, false) > 0; });
  });
}

void time_group(const PairGroup& group, const Kind& kind, int count, double advance_limit,
                std::uint64_t seed, Times& times, Report& report) {
  const std::size_t step = std::max<std::size_t>(1, group.pairs.size() / kMostPairs);
  const std::size_t pairs = (group.pairs.size() + step - 1) / step;
  const int each = std::max(1, count / static_cast<int>(pairs));
  double advanced = 0;  // seconds
  for (std::size_t p = 0; p < pairs; ++p) {
    const BodyPair& pair = group.pairs[p * step];
    const FclBodies fcl(pair.second->mesh, pair.first->mesh);
    Random random(seed, p);
    ContinuousScratch scratch;
    const ContinuousRequest request{.accuracy = Accuracy::kExact};
    prepare(pair.first->shape, request);
    prepare(pair.second->shape, request);
    for (int i = 0; i < each; ++i) {
      const BodyMotion motion = kind.make(pair, random);
      ContinuousResult ours;
      const auto run_ours = [&] {
        ours = continuous_collide(pair.second->shape, motion, pair.first->shape, at_rest({}),
                                  request, scratch);
      };
      bool hits = false;
      const double ours_first = least_microseconds(2, run_ours);
      const double tests = time_tests(fcl, motion, 2, hits);
      const double best = std::min(ours_first, least_microseconds(1, run_ours));
      times.ours.push_back(best);
      times.tests.push_back(tests);
      const bool touches = ours.status == ContinuousStatus::kContact;
      times.contacts += touches ? 1 : 0;
      times.missed += touches && !hits ? 1 : 0;
      report.check(
          touches || !hits, "what static tests hit is found",
          fmt::format("{}, {}: {} {}", group.name, kind.name, pair.first->name, pair.second->name));
      // Advancement takes up to seconds: a share of its time for each pair.
      const double share = advance_limit * static_cast<double>(p + 1) / static_cast<double>(pairs);
      if (advanced >= share) continue;
      double time = 0;
      const double advance = least_microseconds(1, [&] { time = fcl.advance(motion); });
      advanced += advance * 1e-6;
      times.advance.push_back(advance);
      times.ours_beside_advance.push_back(best);
      const bool says_contact = time != FclBodies::kNoTime;
      times.wrong_advance +=
          says_contact != touches || (touches && std::abs(time - ours.time_of_contact) > 1e-3) ? 1
                                                                                               : 0;
    }
  }
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

void bench_motion_times(const Options& options, Report& report) {
  const int count = options.poses > 0 ? options.poses
                    : options.quick   ? 24
                    : options.full    ? 800
                                      : 160;
  const double advance_limit = options.quick ? 2 : options.full ? 40 : 8;  // seconds
  const std::vector<PairGroup> groups = make_timed_groups(options.quick);
  Table beside = report.table(
      {.id = "exact-motion-times",
       .title = fmt::format("First contacts beside FCL's static test at {} times", kTests),
       .columns = {{"bodies", Of::kKey},
                   {"motions", Of::kKey},
                   {"n", Of::kKey},
                   {"in contact"},
                   {"missed by FCL", Of::kPeer},
                   {"FCL p50", Of::kPeer, "us"},
                   {"ours p50", Of::kOurs, "us"},
                   {"FCL p99", Of::kPeer, "us"},
                   {"ours p99", Of::kOurs, "us"},
                   {"FCL max", Of::kPeer, "us"},
                   {"ours max", Of::kOurs, "us"},
                   {"times faster, p50"},
                   {"all together"}},
       .note = "FCL's poses are made beforehand, and it ends at the first hit. Ours is exact "
               "continuous_collide, kFirst."});
  struct Advanced {
    std::string bodies;
    const char* motions;
    Times times;
  };
  std::vector<Advanced> all;
  for (const PairGroup& group : groups)
    for (const Kind& kind : kKinds) {
      Times t;
      time_group(group, kind, count, advance_limit, static_cast<std::uint64_t>(options.seed), t,
                 report);
      const double times_faster = quantile(t.tests, 0.5) / quantile(t.ours, 0.5);
      beside.row({group.name, kind.name, t.ours.size(), t.contacts, t.missed,
                  quantile(t.tests, 0.5), quantile(t.ours, 0.5), quantile(t.tests, 0.99),
                  quantile(t.ours, 0.99), quantile(t.tests, 1), quantile(t.ours, 1), times_faster,
                  sum(t.tests) / sum(t.ours)});
      report.aim(
          times_faster >= 1 && quantile(t.ours, 0.99) <= quantile(t.tests, 0.99),
          fmt::format("{}, {}: no slower than {} static tests", group.name, kind.name, kTests));
      report.json["motion_times"].push_back({{"bodies", group.name},
                                             {"motions", kind.name},
                                             {"count", t.ours.size()},
                                             {"contacts", t.contacts},
                                             {"missed_by_fcl", t.missed},
                                             {"times_faster", times_faster},
                                             {"times_faster_sum", sum(t.tests) / sum(t.ours)}});
      all.push_back({group.name, kind.name, std::move(t)});
    }
  Table advance =
      report.table({.id = "exact-motion-advancement",
                    .title = "The same beside FCL's conservative advancement",
                    .columns = {{"bodies", Of::kKey},
                                {"motions", Of::kKey},
                                {"n", Of::kKey},
                                {"wrong", Of::kPeer},
                                {"FCL p50", Of::kPeer, "us"},
                                {"ours p50", Of::kOurs, "us"},
                                {"FCL max", Of::kPeer, "us"},
                                {"ours max", Of::kOurs, "us"},
                                {"times faster, p50"},
                                {"all together"}},
                    .note = "As many motions as there is time for. Wrong: another verdict than the "
                            "exact one, or a time that is off by more than a thousandth."});
  for (const Advanced& a : all) {
    const Times& t = a.times;
    if (t.advance.empty()) continue;
    const double times_faster = quantile(t.advance, 0.5) / quantile(t.ours_beside_advance, 0.5);
    const double together = sum(t.advance) / sum(t.ours_beside_advance);
    advance.row({a.bodies, a.motions, t.advance.size(), t.wrong_advance, quantile(t.advance, 0.5),
                 quantile(t.ours_beside_advance, 0.5), quantile(t.advance, 1),
                 quantile(t.ours_beside_advance, 1), times_faster, together});
    report.aim(times_faster >= 1000,
               fmt::format("{}, {}: a thousand times faster than conservative advancement",
                           a.bodies, a.motions));
    report.json["advancement"].push_back({{"bodies", a.bodies},
                                          {"motions", a.motions},
                                          {"count", t.advance.size()},
                                          {"wrong", t.wrong_advance},
                                          {"times_faster", times_faster},
                                          {"times_faster_sum", together}});
  }
}

}  // namespace isotact::bench
