// Our cost a pair beside FCL's on the exact triangles, bunny against bunny.
#include <algorithm>
#include <cmath>

#include "measure.h"
#include "swept_peer.h"
#include "swept_report.h"

namespace isotact::bench {
namespace {

double as_double(std::size_t n) { return static_cast<double>(n); }

std::vector<ShellMotion> exchange_all(std::vector<ShellMotion> motions) {
  for (ShellMotion& motion : motions) motion = exchange_roles(motion);
  return motions;
}

// The same motions for the points of either body in the field of the other.
struct BothRoles {
  std::vector<ShellMotion> given, exchanged;

  explicit BothRoles(std::vector<ShellMotion> motions)
      : given(std::move(motions)), exchanged(exchange_all(given)) {}
  std::span<const ShellMotion> role(int i) const { return i == 0 ? given : exchanged; }
};

void trace_both(const SweptTracer& tracer, const Shell& shell, const BothRoles& motions,
                std::size_t count) {
  for (const int role : {0, 1}) trace_all(tracer, shell.tree, motions.role(role).first(count));
}

Pose pose_at(const ShellMotion& motion, double time) {
  const AffineMap map = find_map(motion, time);
  return {to_quat(map.linear), map.offset};
}

std::vector<Pose> poses_at(std::span<const ShellMotion> motions, double time) {
  std::vector<Pose> poses;
  for (const ShellMotion& motion : motions) poses.push_back(pose_at(motion, time));
  return poses;
}

BothRoles rest_at(std::span<const Pose> poses) {
  std::vector<ShellMotion> motions;
  for (const Pose& pose : poses) motions.push_back({.shell = at_rest(pose)});
  return BothRoles(std::move(motions));
}

// The first contact of either role.
std::vector<double> find_first_times(const BrickField& field, double iso, const Shell& shell,
                                     const BothRoles& motions, std::size_t count) {
  const SweptTracer tracer(field, {.iso = iso, .mode = SweptMode::kFirst, .threads = {1}});
  std::vector<double> times(count, FclBodies::kNoTime);
  SweptResults results;
  for (const int role : {0, 1}) {
    tracer.trace(shell.tree, motions.role(role).first(count), results);
    for (std::size_t i = 0; i < count; ++i)
      times[i] = std::min(times[i], static_cast<double>(results.motions[i].time));
  }
  return times;
}

// ---- times --------------------------------------------------------------------------------------

struct Way {
  std::string name;
  std::function<void(std::size_t count)> run;  // on the first pairs
  double seconds = 0;                          // a pair
};

void measure(std::vector<Way*> ways, std::size_t count) {
  std::vector<Contender> contenders;
  for (Way* way : ways)
    contenders.push_back({.work = [way, count] { way->run(count); }, .max_runs = 9});
  const std::vector<Seconds> times = medians_of(contenders);
  for (std::size_t i = 0; i < ways.size(); ++i)
    ways[i]->seconds = times[i].processor / as_double(count);
}

Way static_fcl(std::string name, const FclBodies& bodies, const std::vector<Pose>& poses,
               std::size_t most_contacts, bool with_contacts) {
  return {std::move(name), [&bodies, &poses, most_contacts, with_contacts](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
              bodies.count_contacts(poses[i], most_contacts, with_contacts);
          }};
}

Way ours(std::string name, const SweptTracer& tracer, const Shell& shell,
         const BothRoles& motions) {
  return {std::move(name), [&tracer, &shell, &motions](std::size_t count) {
            trace_both(tracer, shell, motions, count);
          }};
}

// ---- answers ------------------------------------------------------------------------------------

// Where two surfaces touch, a sample is within the covering radius of the place, and the field has
// no more than that plus its error there: the first contact at that iso is no later. And a sample
// that is deeper than the field's error is inside, so that surfaces have met before.
void compare_times(const Shell& shell, const BothRoles& motions, const std::vector<double>& theirs,
                   Report& report, Json& json) {
  const BrickField& field = shell.body->field;
  const double cell = field.voxel_size(), radius = shell.tree.covering_radius();
  const double near = static_cast<double>(field.header().near_error),
               far = static_cast<double>(field.header().far_error);
  const double band = static_cast<double>(field.header().band);
  // Advancement ends a hundred-thousandth of the time before contact; paths have 1/32 cell.
  const double slack = 0.1 * cell;
  const double more = radius + (radius + near > band ? std::max(near, far) : near) + slack;
  const std::size_t n = theirs.size();
  const std::vector<double> mine = find_first_times(field, 0, shell, motions, n),
                            early = find_first_times(field, more, shell, motions, n),
                            late = find_first_times(field, -near - slack, shell, motions, n);
  std::size_t both = 0, only_mine = 0, only_theirs = 0, apart = 0, unexplained = 0;
  std::vector<double> differences;  // cells of the fastest point's way
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_mine = mine[i] <= 1, is_theirs = theirs[i] <= 1;
    both += is_mine && is_theirs ? 1U : 0U;
    only_mine += is_mine && !is_theirs ? 1U : 0U;
    only_theirs += !is_mine && is_theirs ? 1U : 0U;
    if (is_mine && is_theirs) {
      const BodyMotion& m = motions.given[i].shell;
      const double turn =
          2 * std::acos(std::min(1.0, std::abs((conjugate(m.from.rotation) * m.to.rotation).w)));
      const double way = length(transform_point(m.to, m.pivot) - transform_point(m.from, m.pivot)) +
                         turn * static_cast<double>(shell.tree.bounding_sphere().radius);
      differences.push_back(std::abs(mine[i] - theirs[i]) * way / cell);
      apart += differences.back() * cell > radius + cell ? 1U : 0U;
    }
    const double tolerance = 2e-5;
    unexplained += early[i] > theirs[i] + tolerance || theirs[i] > late[i] + tolerance ? 1U : 0U;
  }
  report.print(
      "  times of contact, of {} pairs: {} both, {} only ours, {} only FCL's; where both, the "
      "fastest point is {:.2f} cells apart in the median, {:.1f} at most, and in {} more than the "
      "covering radius ({:.1f} cells) and a cell; {} not explained by covering radius and errors\n",
      n, both, only_mine, only_theirs, quantile(differences, 0.5), quantile(differences, 1), apart,
      radius / cell, unexplained);
  json["answers"] = {{"pairs", n},
                     {"both", both},
                     {"only_ours", only_mine},
                     {"only_fcl", only_theirs},
                     {"median_cells_apart", quantile(differences, 0.5)},
                     {"most_cells_apart", quantile(differences, 1)},
                     {"more_than_covering_radius_apart", apart},
                     {"unexplained", unexplained}};
  report.check(unexplained == 0, fmt::format("{} times of contact differ from FCL's by more than "
                                             "covering radius and errors allow",
                                             unexplained));
}

// ---- the table ----------------------------------------------------------------------------------

struct Verdict {
  double continuous = 0, standing = 0;  // times faster
};

Verdict run_pairs(const std::string& what, const Shell& shell, const FclBodies& fcl,
                  const std::vector<ShellMotion>& straight, double fcl_seconds, Report& report) {
  const BothRoles rates(with_model(straight, MotionModel::kConstantRates)), lines(straight);
  const std::vector<Pose> begin = poses_at(rates.given, 0), middle = poses_at(rates.given, 0.5);
  const BothRoles rest_begin = rest_at(begin), rest_middle = rest_at(middle);
  const Tracers tracers(shell.body->field);
  const std::size_t n = straight.size();

  // Advancement costs seconds a pair: as many as there is time for, each once.
  std::vector<double> theirs;
  double advancing = 0;
  while (theirs.size() < n && advancing < fcl_seconds)
    advancing += seconds_of([&] {
                   theirs.push_back(fcl.advance(rates.given[theirs.size()].shell));
                 }).processor;
  advancing /= as_double(theirs.size());
  Way some_first = ours("", tracers.first, shell, rates),
      some_all = ours("", tracers.tree, shell, rates);
  measure({&some_first, &some_all}, theirs.size());

  Way ten{"FCL continuousCollide, ten static tests (its default)", [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) fcl.sample_times(rates.given[i].shell, 10);
          }};
  Way at_begin = static_fcl("FCL collide, first pose", fcl, begin, 1, false),
      at_middle = static_fcl("FCL collide, middle pose", fcl, middle, 1, false),
      contacts = static_fcl("FCL collide, middle pose, all contacts", fcl, middle, 100'000, true);
  Way our_begin = ours("ours at rest, first pose, any point", tracers.first, shell, rest_begin),
      our_middle = ours("ours at rest, middle pose, any point", tracers.first, shell, rest_middle),
      our_contacts =
          ours("ours at rest, middle pose, all points", tracers.tree, shell, rest_middle),
      first = ours("ours moving, first contact", tracers.first, shell, rates),
      all = ours("ours moving, all points", tracers.tree, shell, rates),
      first_line = ours("ours moving straight, first contact", tracers.first, shell, lines),
      all_line = ours("ours moving straight, all points", tracers.tree, shell, lines);
  std::vector<Way*> ways{&ten,          &at_begin, &at_middle, &contacts,   &our_begin, &our_middle,
                         &our_contacts, &first,    &all,       &first_line, &all_line};
  measure(ways, n);

  Json json;
  report.print("  {} ({} pairs): microseconds a pair, both roles of ours\n", what, n);
  for (const Way* way : ways) {
    report.print("    {:<56} {:>10.1f}\n", way->name, way->seconds * 1e6);
    json[way->name] = way->seconds;
  }
  report.print("    {:<56} {:>10.1f}  ours on these: first {:.1f}, all {:.1f}\n",
               fmt::format("FCL continuousCollide, advancement, {} pairs", theirs.size()),
               advancing * 1e6, some_first.seconds * 1e6, some_all.seconds * 1e6);
  json["FCL continuousCollide, advancement"] = {{"pairs", theirs.size()},
                                                {"seconds", advancing},
                                                {"ours_first", some_first.seconds},
                                                {"ours_all", some_all.seconds}};
  compare_times(shell, rates, theirs, report, json);
  const Verdict verdict{advancing / some_first.seconds, at_middle.seconds / our_middle.seconds};
  const double moving = at_middle.seconds / first.seconds;
  const auto met = [](bool is_met) { return is_met ? "met" : "NOT MET"; };
  report.print(
      "    first contact beside continuousCollide: {:.0f} times faster (1,000 asked for: {}); all "
      "points {:.0f} times\n    beside static collide at the middle pose: at rest {:.2f} times "
      "faster ({}), moving {:.2f} times ({})\n",
      verdict.continuous, met(verdict.continuous >= 1000), advancing / some_all.seconds,
      verdict.standing, met(verdict.standing >= 1), moving, met(moving >= 1));
  json["times_faster"] = {{"continuous_first", verdict.continuous},
                          {"continuous_all", advancing / some_all.seconds},
                          {"static_at_rest", verdict.standing},
                          {"static_moving", moving}};
  report.json["fcl"][what] = json;
  return verdict;
}

}  // namespace

void bench_fcl(const Options& options, Stock& stock, Report& report) {
  const Shell& shell = stock.bunny_closed();
  const FclBodies fcl(shell.body->mesh);
  report.print(
      "\nBeside FCL: bunny against bunny, {} triangles each; ours: {} points\n"
      "  FCL answers for whole triangles, and only whether surfaces meet. Ours answers for points "
      "(nothing\n  deeper than the covering radius, {:.1f} cells, is missed) in a field with an "
      "error of {:.2f} cells,\n  and knows inside from outside.\n",
      shell.body->mesh.triangles.size(), shell.tree.point_count(),
      shell.tree.covering_radius() / shell.body->field.voxel_size(),
      static_cast<double>(shell.body->field.header().near_error) / shell.body->field.voxel_size());
  const double seconds = options.quick ? 10 : options.full ? 300 : 40;
  run_pairs("random poses in the threefold box", shell, fcl,
            make_random_pairs(shell, options.quick ? 200 : 1000), seconds, report);
  run_pairs("small steps near contact", shell, fcl,
            make_small_steps(shell, options.quick ? 100 : 500), seconds, report);
}

}  // namespace isotact::bench
