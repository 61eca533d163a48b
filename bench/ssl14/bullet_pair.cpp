// Bunny on bunny: both have points and fields, and both ways are taken.
#include <algorithm>
#include <chrono>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/base/random.h"

#include "bullet_fall.h"
#include "bullet_poses.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr double kFaster = 1000;

// Dispatch of two bodies of one shape, at given poses of the first.
struct PairTimes {
  FallTimes times{};
  std::size_t touching = 0;  // poses with contacts
};

PairTimes time_pair(const Bunny& bunny, const OwnedShape& shape, const std::vector<Pose>& poses,
                    std::size_t repeats) {
  Stage stage({.ground = Ground::kNone});
  stage.add(shape, {.inertia = bunny.inertia});
  btRigidBody& moving = stage.add(shape, {.inertia = bunny.inertia});
  PairTimes result;
  std::size_t touching = 0;
  result.times = time_on_poses(poses, repeats, [&](const Pose& pose) {
    stage.detect(moving, pose);
    if (stage.contact_count() > 0) ++touching;
    return stage.microseconds();
  });
  result.touching = touching / repeats;
  return result;
}

FallTimes time_fcl(const FclBodies& bodies, const std::vector<Pose>& poses, std::size_t contacts) {
  return time_on_poses(poses, 2, [&](const Pose& pose) {
    return 1e6 * seconds_of([&] { bodies.count_contacts(pose, contacts, contacts > 1); }).processor;
  });
}

}  // namespace

std::vector<Pose> make_near_poses(const FclBodies& bodies, const NearPoses& settings) {
  Random random(settings.seed);
  std::vector<Pose> poses;
  while (poses.size() < settings.count) {
    const Quat turn = random.rotation();
    const Vec3 direction = random.unit_vector();
    // A line past the middle, so that not only what sticks out meets.
    const Vec3 aside = random.in_unit_ball() * (0.2 * settings.size);
    const auto at = [&](double s) { return Pose{turn, aside + direction * s}; };
    double apart = settings.size, inside = 0;
    if (bodies.count_contacts(at(inside), 1, false) == 0) continue;
    for (int i = 0; i < 24; ++i) {
      const double middle = (apart + inside) / 2;
      (bodies.count_contacts(at(middle), 1, false) > 0 ? inside : apart) = middle;
    }
    poses.push_back(at(inside - random.uniform(settings.least, settings.most)));
  }
  return poses;
}

namespace {

// One depth of overlap.
void run_depth(const Options& options, Stock& stock, Table& table, Report& report,
               const FclBodies& fcl, const OwnedShape& ours, double least, double most) {
  const Bunny& bunny = stock.bunny();
  const auto poses =
      make_near_poses(fcl, {.count = static_cast<std::size_t>(options.quick ? 20 : 100),
                            .size = 0.5,
                            .least = least,
                            .most = most});
  const std::vector<Pose> few(poses.begin(), poses.begin() + (options.quick ? 2 : 5));
  const PairTimes our = time_pair(bunny, ours, poses, 5), same = time_pair(bunny, ours, few, 5);
  const PairTimes hulls = time_pair(bunny, stock.hulls_12(), poses, 3);
  const FallTimes any = time_fcl(fcl, poses, 1), many = time_fcl(fcl, poses, 1000);
  const std::string overlap = fmt::format("{:g} to {:g}", least * 1e3, most * 1e3);
  const auto row = [&](const std::string& name, const FallTimes& t, const FallTimes& base,
                       const std::string& touching) {
    table.row({overlap, name, t.mean, t.median, t.mean / base.mean, touching},
              name.starts_with("ours") ? Of::kOurs : Of::kPeer);
    report.json["pair"]["rows"].push_back(
        {{"most_mm", most * 1e3}, {"name", name}, {"mean_us", t.mean}, {"median_us", t.median}});
  };
  const auto share = [](std::size_t n, std::size_t of) { return fmt::format("{}/{}", n, of); };
  std::vector<double> ratios;
  row("ours, 35,947 points each", our.times, our.times, share(our.touching, poses.size()));
  for (const double margin : {kGImpactMargin, kThinMargin}) {
    const PairTimes gimpact = time_pair(bunny, stock.gimpact(margin), few, 2);
    row(fmt::format("{}, {} poses", stock.gimpact(margin).name, few.size()), gimpact.times,
        same.times, share(gimpact.touching, few.size()));
    ratios.push_back(gimpact.times.mean / same.times.mean);
  }
  row(stock.hulls_12().name, hulls.times, our.times, share(hulls.touching, poses.size()));
  row("FCL collide, one contact", any, our.times, "");
  row("FCL collide, up to 1000 contacts", many, our.times, "");
  report.check(our.touching == poses.size(), "contacts are found at all poses that overlap",
               fmt::format("{} mm: at {} of {}", overlap, our.touching, poses.size()));
  judge(report, "pair", ratios[0] >= kFaster,
        fmt::format("{:.4g} times as fast as GImpact with its margin of 1 cm; wanted {:g}",
                    ratios[0], kFaster));
  judge(report, "pair", ratios[1] >= kFaster,
        fmt::format("{:.4g} times as fast as GImpact with a margin of 1 mm; wanted {:g}", ratios[1],
                    kFaster));
}

}  // namespace

void bench_pair(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "pair",
       .title = "Two bunnies that overlap: microseconds of dispatch",
       .columns = {{"on from where triangles meet", Of::kKey, "mm"},
                   {"way", Of::kKey},
                   {"mean", Of::kOurs, "us", 2},
                   {"median", Of::kOurs, "us", 2},
                   {"over ours", Of::kOurs, "times", 1},
                   {"touching", Of::kOurs}},
       .note = "Fields of 256 cells, both ways. GImpact beside ours at its own few poses."});
  const FclBodies fcl(stock.bunny().closed);
  const OwnedShape ours = make_ours("ours", stock.bunny_vertices(), stock.bunny_field());
  run_depth(options, stock, table, report, fcl, ours, 0, 0.002);
  run_depth(options, stock, table, report, fcl, ours, 0.005, 0.02);
  run_depth(options, stock, table, report, fcl, ours, 0.05, 0.1);
}

}  // namespace isotact::bench
