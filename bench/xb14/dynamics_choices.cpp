// What each choice of XB14 costs or loses: undamped bounces of a blob off its fixed twin and the
// ground, with one choice at a time; and what its tree and its root search miss on one of these
// falls.
#include <chrono>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"

#include "dynamics_report.h"

namespace isotact::bench {
namespace {

constexpr double kStep = 5e-4, kStiffness = 2e8, kSeconds = 0.5;

struct Choice {
  const char* name;
  void (*set)(WorldSettings&);
};
const Choice kChoices[] = {
    {"ours, explicit", [](WorldSettings&) {}},
    {"points' normals", [](WorldSettings& s) { s.forces.direction = ForceDirection::kPoint; }},
    {"20 midpoints", [](WorldSettings& s) { s.forces.quadrature = Quadrature::kMidpoint; }},
    {"Euler sub-steps", [](WorldSettings& s) { s.forces.handles = HandleRule::kEuler; }},
    {"one stiffness a point", [](WorldSettings& s) { s.forces.weights = PointWeight::kEqual; }},
    {"turns by Euler", [](WorldSettings& s) { s.turns = TurnRule::kEuler; }},
    {"5-step roots", [](WorldSettings& s) { s.roots = RootSearch::kPaper; }},
    {"spheres at isosurfaces", [](WorldSettings& s) { s.traversal = ShellTraversal::kPaper; }},
    {"point by point", [](WorldSettings& s) { s.traversal = ShellTraversal::kLinear; }},
    {"all of the paper's",
     [](WorldSettings& s) {
       s = make_paper_world(s.step, s.contact, ForceLaw::kPaper);
       s.forces.handles = HandleRule::kEuler;
       s.forces.weights = PointWeight::kEqual;
       s.roots = RootSearch::kPaper;
       s.traversal = ShellTraversal::kPaper;
     }},
    {"ours, implicit", [](WorldSettings& s) { s.solve = ForceSolve::kImplicit; }},
    {"ours, own forces", [](WorldSettings& s) { s.solve = ForceSolve::kStep; }}};

struct Bounces {
  double gain = 0, loss = 0;  // of energy, as shares of the drop's; the worst
  double deepest = 0;         // metres
  double seconds = 0;         // a step
  std::uint64_t points = 0;   // in contact, summed over steps
};

Bounces run_bounces(const DropBody& body, const Choice& choice, int seeds) {
  Bounces b;
  std::size_t steps = 0;
  double time = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    WorldSettings settings = make_paper_world(kStep, ContactRule::kContinuous, ForceLaw::kOurs);
    choice.set(settings);
    World world(settings);
    const BodyId ground =
        world.add_body({.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
    const BodyId twin = world.add_body({.kind = BodyKind::kStatic, .shape = body.shape});
    const Quat turn = random.rotation();
    const Vec3 start{0.01 * seed, 0.4, 0};
    const BodyId id = world.add_body({.shape = body.shape,
                                      .mass = body.mass,
                                      .pose = {turn, start - rotate(turn, body.mass.center)}});
    for (const BodyId other : {ground, twin})
      world.set_pair_material(other, id, {.stiffness = kStiffness, .damping = 0, .friction = 0});
    const double drop = body.mass.mass * 9.81 * start.y;
    // Velocities of symplectic Euler are those of the middle of a step.
    const Vec3 half = settings.solve == ForceSolve::kStep ? Vec3{} : Vec3{0, -4.905 * kStep, 0};
    const auto energy = [&] {
      const Energies e = world.energies();
      return e.kinetic + e.potential + dot(world.body(id).state.momentum, half);
    };
    const double before = energy();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < static_cast<int>(kSeconds / kStep); ++i) {
      const StepReport& report = world.step();
      ++steps;
      b.points += report.points;
      b.deepest = std::max(b.deepest, report.depth);
      const double change = (energy() - before) / drop;
      if (report.points > 0) continue;
      b.gain = std::max(b.gain, change);
      b.loss = std::max(b.loss, -change);
    }
    time += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  b.seconds = time / static_cast<double>(steps);
  return b;
}

void bench_bounces(const DropBody& body, const Options& options, Report& report, Json& json) {
  Table table = report.table(
      {.id = "choices",
       .paper = "XB14",
       .place = "Sections 3 and 4",
       .title = "Undamped bounces, with one choice of the paper at a time",
       .columns = {{"choice", Of::kKey},
                   {"energy gained, worst", Of::kOurs, "%", 3},
                   {"energy lost, worst", Of::kOurs, "%", 3},
                   {"deepest", Of::kOurs, "mm", 2},
                   {"points in contact", Of::kOurs, "", 0},
                   {"time per step", Of::kOurs, "us", 0}},
       .note = "Steps of 0.5 ms, which are a fifth of a radian of the spring. Energy in flight."});
  for (const Choice& choice : kChoices) {
    const Bounces b = run_bounces(body, choice, options.quick ? 1 : 5);
    table.row({choice.name, b.gain * 100, b.loss * 100, b.deepest * 1e3,
               static_cast<double>(b.points), b.seconds * 1e6});
    json["bounces"].push_back({{"choice", choice.name},
                               {"gain", b.gain},
                               {"loss", b.loss},
                               {"deepest", b.deepest},
                               {"points", b.points},
                               {"seconds", b.seconds}});
    if (std::string_view(choice.name) == "ours, own forces")
      report.check(b.gain < 1e-3 && b.loss < 5e-3, "own forces keep the energy of undamped bounces",
                   fmt::format("gained {:.2e}, lost {:.2e}", b.gain, b.loss));
  }
}

// Hits that a way to search misses, over motions through the twin.
void bench_searches(const DropBody& body, const Options& options, Report& report, Json& json) {
  Table table = report.table({.id = "searches",
                              .title = "What the paper's searches miss",
                              .columns = {{"search", Of::kKey},
                                          {"hits", Of::kOurs, "", 0},
                                          {"lost points", Of::kOurs, "", 0},
                                          {"lost intervals", Of::kOurs, "", 0},
                                          {"time per motion", Of::kOurs, "us", 1}},
                              .note = "Random motions of the blob past its twin, by a tenth of "
                                      "its size at most. One thread, no memory between motions."});
  Random random(7);
  std::vector<ShellMotion> motions;
  for (int i = 0; i < (options.quick ? 100 : 2000); ++i) {
    ShellMotion m;
    m.shell.from = {random.rotation(), random.unit_vector() * random.uniform(0.1, 0.2)};
    m.shell.to = {
        rotation_about(random.unit_vector(), random.uniform(0, 0.1)) * m.shell.from.rotation,
        m.shell.from.translation + random.unit_vector() * random.uniform(0, 0.02)};
    motions.push_back(m);
  }
  struct Search {
    const char* name;
    SweptSettings settings;
  };
  const Search searches[] = {
      {"ours", {.threads = {1}}},
      {"5-step roots", {.roots = RootSearch::kPaper, .threads = {1}}},
      {"spheres at isosurfaces", {.traversal = ShellTraversal::kPaper, .threads = {1}}},
      {"both", {.traversal = ShellTraversal::kPaper, .roots = RootSearch::kPaper, .threads = {1}}}};
  std::size_t hits = 0, intervals = 0;
  for (const Search& search : searches) {
    const SweptTracer tracer(body.field(), search.settings);
    SweptResults results;
    const auto begin = std::chrono::steady_clock::now();
    tracer.trace(body.tree(), motions, results);
    const double time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (hits == 0) hits = results.hits.size(), intervals = results.intervals.size();
    const auto lost = [](std::size_t all, std::size_t found) {
      return static_cast<double>(all) - static_cast<double>(found);
    };
    const double each = time / static_cast<double>(motions.size());
    table.row({search.name, static_cast<double>(results.hits.size()),
               lost(hits, results.hits.size()), lost(intervals, results.intervals.size()),
               each * 1e6});
    json["searches"].push_back({{"search", search.name},
                                {"hits", results.hits.size()},
                                {"intervals", results.intervals.size()},
                                {"seconds", each}});
  }
}

}  // namespace

void bench_choices(const Options& options, Report& report) {
  Json json;
  const DropBody body = make_blob_body(777);
  bench_bounces(body, options, report, json);
  bench_searches(body, options, report, json);
  report.json["choices"] = json;
}

}  // namespace isotact::bench
