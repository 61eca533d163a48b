// Our cost a pair beside FCL's on the exact triangles, bunny against bunny.
#include <algorithm>
#include <cmath>

#include "support/measure.h"
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

// The other role only where the first one has no contact, as for FCL one contact is enough.
void trace_either(const SweptTracer& tracer, const Shell& shell, const BothRoles& motions,
                  std::size_t count) {
  SweptResults results;
  tracer.trace(shell.tree, motions.role(0).first(count), results);
  std::vector<ShellMotion> left;
  for (std::size_t i = 0; i < count; ++i)
    if (results.motions[i].point == kNoPoint) left.push_back(motions.role(1)[i]);
  tracer.trace(shell.tree, left, results);
}

Pose pose_at(const ShellMotion& motion, double time) {
  const AffineMap map = compute_map(motion, time);
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
std::vector<double> find_first_times(const BrickField& field, double margin, const Shell& shell,
                                     const BothRoles& motions, std::size_t count) {
  const SweptTracer tracer(field, {.margin = margin, .mode = Mode::kFirst, .threads = {1}});
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

struct Variant {
  std::string name;
  std::function<void(std::size_t count)> run;  // on the first pairs
  std::size_t most_pairs = 100'000;
  double seconds = 0;  // a pair
};

void measure(std::vector<Variant*> variants, std::size_t count) {
  std::vector<Contender> contenders;
  for (Variant* variant : variants)
    contenders.push_back(
        {.work = [variant, count] { variant->run(std::min(count, variant->most_pairs)); },
         .max_runs = 9});
  const std::vector<Seconds> times = medians_of(contenders);
  for (std::size_t i = 0; i < variants.size(); ++i)
    variants[i]->seconds = times[i].processor / as_double(std::min(count, variants[i]->most_pairs));
}

Variant static_fcl(std::string name, const FclBodies& bodies, const std::vector<Pose>& poses,
                   std::size_t most_contacts, bool with_contacts) {
  return {std::move(name), [&bodies, &poses, most_contacts, with_contacts](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
              bodies.count_contacts(poses[i], most_contacts, with_contacts);
          }};
}

Variant ours(std::string name, const SweptTracer& tracer, const Shell& shell,
             const BothRoles& motions) {
  const bool is_any = tracer.settings().mode == Mode::kAny;
  return {std::move(name), [&tracer, &shell, &motions, is_any](std::size_t count) {
            is_any ? trace_either(tracer, shell, motions, count)
                   : trace_both(tracer, shell, motions, count);
          }};
}

// ---- answers ------------------------------------------------------------------------------------

constexpr std::size_t kManyTimes = 1001;

bool is_close(double a, double b) {
  return (a <= 1) == (b <= 1) && (a > 1 || std::abs(a - b) <= 2.0 / (kManyTimes - 1));
}

// Held against FCL's static tests at many times. Where two surfaces meet, a sample is within the
// covering radius of the place, and the field has no more than that plus its error there: the first
// contact at that margin is no later. And where a sample is deeper than the field's error, surfaces
// meet: FCL must say so at that very time.
void compare_times(const Shell& shell, const FclBodies& fcl, const BothRoles& motions,
                   const std::vector<double>& theirs, Report& report, Json& json) {
  const BrickField& field = shell.body->field;
  const BrickFieldHeader& h = field.header();
  const double cell = field.voxel_size(), radius = shell.tree.covering_radius();
  const double slack = cell / 16;  // paths are chains that are off by up to 1/32 cell
  const double near = static_cast<double>(h.near_error) + slack;
  const double far = static_cast<double>(std::max(h.near_error, h.far_error)) + slack;
  const double more = radius + (radius + near > static_cast<double>(h.band) ? far : near);
  const std::size_t n = theirs.size();
  const std::vector<double> mine = find_first_times(field, 0, shell, motions, n),
                            early = find_first_times(field, more, shell, motions, n),
                            late = find_first_times(field, -near, shell, motions, n);
  std::size_t close = 0, apart = 0, only_mine = 0, only_theirs = 0, unexplained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_mine = mine[i] <= 1, is_theirs = theirs[i] <= 1;
    if (is_close(mine[i], theirs[i]))
      ++close;
    else if (is_mine != is_theirs)
      ++(is_mine ? only_mine : only_theirs);
    else
      ++apart;
    const bool too_late = is_theirs && early[i] > theirs[i];
    const bool too_early =
        late[i] <= 1 && fcl.count_contacts(pose_at(motions.given[i], late[i]), 1, false) == 0;
    unexplained += too_late || too_early ? 1U : 0U;
  }
  report.note(fmt::format(
      "Our first contact beside FCL's tests at {} times, {} pairs: {} agree within two of these, "
      "{} "
      "are further apart, {} are only ours, {} only FCL's; {} are not explained by covering radius "
      "and errors.",
      kManyTimes, n, close, apart, only_mine, only_theirs, unexplained));
  json["answers"] = {{"pairs", n},
                     {"agree", close},
                     {"apart", apart},
                     {"only_ours", only_mine},
                     {"only_fcl", only_theirs},
                     {"unexplained", unexplained}};
  report.check(unexplained == 0,
               "first contacts differ from FCL's by no more than covering radius and errors allow",
               fmt::format("{} of {}", unexplained, n));
}

// ---- the table ----------------------------------------------------------------------------------

// Advancement costs seconds a pair: as many as there is time for, each once.
void run_advancement(const Shell& shell, const FclBodies& fcl, const Tracers& tracers,
                     const BothRoles& motions, const std::vector<double>& times, double limit,
                     Report& report, Json& json) {
  std::size_t n = 0, wrong = 0;
  double seconds = 0;
  for (; n < motions.given.size() && seconds < limit; ++n) {
    double time = 0;
    seconds += seconds_of([&] { time = fcl.advance(motions.given[n].shell); }).processor;
    wrong += is_close(time, times[n]) ? 0U : 1U;
  }
  const double theirs = seconds / as_double(n);
  Variant first = ours("first", tracers.first, shell, motions),
          all = ours("all", tracers.tree, shell, motions);
  measure({&first, &all}, n);
  report.note(fmt::format(
      "FCL continuousCollide by conservative advancement: {:.0f} us a pair on {} pairs, where ours "
      "takes {:.1f} for the first contact and {:.1f} for all points: {:.0f} and {:.0f} times "
      "faster. "
      "{} of its answers are not those of its own tests at {} times (fcl issues 120 and 555).",
      theirs * 1e6, n, first.seconds * 1e6, all.seconds * 1e6, theirs / first.seconds,
      theirs / all.seconds, wrong, kManyTimes));
  report.aim(theirs / first.seconds >= 1000,
             "the first contact a thousand times faster than FCL's conservative advancement");
  json["advancement"] = {{"pairs", n},
                         {"wrong", wrong},
                         {"seconds", theirs},
                         {"ours_first", first.seconds},
                         {"ours_all", all.seconds},
                         {"times_faster_first", theirs / first.seconds},
                         {"times_faster_all", theirs / all.seconds}};
}

void run_pairs(const std::string& what, const Shell& shell, const FclBodies& fcl,
               const std::vector<ShellMotion>& straight, double advancement_limit, Report& report) {
  const BothRoles rates(with_model(straight, MotionModel::kConstantRates)), lines(straight);
  const std::vector<Pose> begin = poses_at(rates.given, 0), middle = poses_at(rates.given, 0.5);
  const BothRoles rest_begin = rest_at(begin), rest_middle = rest_at(middle);
  const Tracers tracers(shell.body->field);
  const std::size_t n = straight.size();
  std::vector<double> times(n);

  const auto sample_times = [&](std::string name, std::size_t tests) {
    return Variant{std::move(name), [&, tests](std::size_t count) {
                     for (std::size_t i = 0; i < count; ++i)
                       times[i] = fcl.sample_times(rates.given[i].shell, tests);
                   }};
  };
  Variant variants[] = {
      static_fcl("FCL collide, first pose", fcl, begin, 1, false),
      ours("ours at rest, first pose, any point", tracers.any, shell, rest_begin),
      static_fcl("FCL collide, middle pose", fcl, middle, 1, false),
      ours("ours at rest, middle pose, any point", tracers.any, shell, rest_middle),
      static_fcl("FCL collide, middle pose, all contacts", fcl, middle, 100'000, true),
      ours("ours at rest, middle pose, all points", tracers.tree, shell, rest_middle),
      sample_times("FCL continuousCollide, 10 static tests (its default)", 10),
      ours("ours moving, any contact", tracers.any, shell, rates),
      sample_times("FCL continuousCollide, 1,001 static tests", kManyTimes),
      ours("ours moving, first contact", tracers.first, shell, rates),
      ours("ours moving, all points", tracers.tree, shell, rates),
      ours("ours moving straight, any contact", tracers.any, shell, lines),
      ours("ours moving straight, first contact", tracers.first, shell, lines),
      ours("ours moving straight, all points", tracers.tree, shell, lines),
  };
  std::vector<Variant*> all;
  for (Variant& variant : variants) all.push_back(&variant);
  variants[10].most_pairs = 100;  // all points of a chain of pieces take long
  measure(all, n);
  sample_times("", kManyTimes).run(n);

  Json json;
  Table table = report.table({.id = what.starts_with("random") ? "fcl-random" : "fcl-steps",
                              .title = fmt::format("Beside FCL: {}, {} pairs", what, n),
                              .columns = {{"way", Of::kKey}, {"a pair", Of::kOurs, "us", 1}},
                              .note = "Bunny against bunny, both roles of ours."});
  for (const Variant* variant : all) {
    table.row({variant->name, variant->seconds * 1e6},
              variant->name.starts_with("FCL") ? Of::kPeer : Of::kOurs);
    json["seconds"][variant->name] = variant->seconds;
  }
  const double any = variants[2].seconds / variants[3].seconds,
               contacts = variants[4].seconds / variants[5].seconds,
               moving = variants[2].seconds / variants[9].seconds,
               tests = variants[8].seconds / variants[9].seconds;
  report.note(fmt::format(
      "Times faster than static collide (middle pose): at rest {:.2f}, all contacts {:.1f}; first "
      "contact of the whole motion {:.2f}, beside all contacts {:.1f}. Beside continuousCollide by "
      "1,001 static tests: first contact {:.1f} times faster.",
      any, contacts, moving, variants[4].seconds / variants[9].seconds, tests));
  report.aim(any >= 1, what + ": at rest no slower than FCL's static collide");
  json["times_faster"] = {
      {"static_any", any},
      {"static_all", contacts},
      {"static_beside_moving_first", moving},
      {"static_all_beside_moving_first", variants[4].seconds / variants[9].seconds},
      {"continuous_by_many_tests", tests}};
  compare_times(shell, fcl, rates, times, report, json);
  if (advancement_limit > 0)
    run_advancement(shell, fcl, tracers, rates, times, advancement_limit, report, json);
  report.json["fcl"][what] = json;
}

}  // namespace

void bench_fcl(const Options& options, Stock& stock, Report& report) {
  const Shell& shell = stock.bunny_closed();
  const FclBodies fcl(shell.body->mesh);
  report.note(fmt::format(
      "Bunny against bunny, {} triangles each; ours: {} points. FCL answers for whole triangles, "
      "and "
      "only whether surfaces meet. Ours answers for points (nothing deeper than the covering "
      "radius, "
      "{:.1f} cells, is missed) in a field with an error of {:.2f} cells, and knows inside from "
      "outside.",
      shell.body->mesh.triangles.size(), shell.tree.point_count(),
      shell.tree.covering_radius() / shell.body->field.voxel_size(),
      static_cast<double>(shell.body->field.header().near_error) / shell.body->field.voxel_size()));
  run_pairs("random poses in the threefold box", shell, fcl,
            make_random_pairs(shell, options.quick ? 200 : 1000),
            options.quick  ? 10
            : options.full ? 300
                           : 40,
            report);
  // Where bodies touch at the start, advancement is one static test.
  run_pairs("small steps near contact", shell, fcl,
            make_small_steps(shell, options.quick ? 100 : 500), 0, report);
}

}  // namespace isotact::bench
