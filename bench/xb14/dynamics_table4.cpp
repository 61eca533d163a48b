// XB14's Table 4: a body falls onto its fixed twin and the ground. The world runs with the tree;
// the motion of every frame is kept and traced again by the tree and point by point, between the
// two bodies only, which is what the paper times.
#include <algorithm>

#include "isotact/base/hash.h"
#include "isotact/field/models/analytic.h"
#include "isotact/queries/swept/swept.h"

#include "dynamics_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr BodyId kTwin = 1, kBody = 2;  // after the ground
// Point by point: no more than so many points are traced a role.
constexpr std::size_t kMostPoints = 100'000'000;
// So many points' worth of frames are also stepped point by point, from the first contact on.
constexpr std::size_t kSteppedPoints = 10'000'000;

struct Model {
  DropModel model;
  std::size_t frames;
  double paper_linear, paper_tree;  // XB14 Table 4, seconds; 0: not there
  Quat rotation;
  double shift;  // of its centre of mass along x, from that of the twin
};

// Drops that stay in touch for long, which is the dearer kind: bunnies slide off each other, bowls
// nest, dragons hook up.
const Model kModels[] = {
    {DropModel::kBunnySmall, 2600, 8, 2.5, rotation_about({0, 0, 1}, 3.1), 0.02},
    {DropModel::kBunny, 2600, 0, 0, rotation_about({0, 0, 1}, 3.1), 0},
    {DropModel::kBowl, 2000, 20.3, 4.5, rotation_about({1, 0, 0}, 0.3), 0.02},
    {DropModel::kDragon, 1160, 671.6, 2.6, rotation_about({0, 1, 0}, 2.0), 0.02},
};

constexpr double kStep = 5e-4;  // seconds
constexpr double kGap = 0.02;   // between the two at the start, metres, straight down

// Straight above the twin, as far as it goes down from there, and up again by the gap.
Pose find_start(const DropBody& body, const Model& model) {
  const Vec3 c = body.mass.center, turned = rotate(model.rotation, c);
  const auto pose_at = [&](double height) {
    return Pose{model.rotation, Vec3{c.x + model.shift, height, c.z} - turned};
  };
  constexpr double kFrom = 0.6, kTo = 0.1;
  const ShellMotion motion{.shell = {pose_at(kFrom), pose_at(kTo), c}, .field = at_rest({})};
  const SweptTracer tracer(body.field(), {.mode = Mode::kFirst, .threads = {1}});
  SweptResults results;
  double first = 1;
  for (const ShellMotion& m : {motion, exchange_roles(motion)}) {
    tracer.trace(body.tree(), m, results);
    if (results.motions[0].point != kNoPoint)
      first = std::min(first, static_cast<double>(results.motions[0].time));
  }
  return pose_at(kFrom + (kTo - kFrom) * first + kGap);
}

World make_drop(const DropBody& body, const Model& model, ShellTraversal traversal) {
  // A square centimetre of 1e9 N/m^3 on both has K h^2 / m = 0.01 at 1 kg: far from 4.
  const SurfaceMaterial rubber{.stiffness = 1e9, .damping_ratio = 1, .friction = 0.4};
  WorldSettings settings = make_paper_world(kStep, ContactRule::kContinuous, ForceLaw::kOurs);
  settings.traversal = traversal;
  World world(settings);
  world.add_body({.name = "ground",
                  .kind = BodyKind::kStatic,
                  .shape = Shape::from_analytic(PlaneField{}),
                  .material = rubber});
  world.add_body(
      {.name = "twin", .kind = BodyKind::kStatic, .shape = body.shape, .material = rubber});
  world.add_body({.name = "body",
                  .shape = body.shape,
                  .mass = body.mass,
                  .pose = find_start(body, model),
                  .material = rubber});
  return world;
}

struct Drop {
  std::vector<ShellMotion> motions{};  // of the body against the twin
  SweptWork work{};
  PhaseTimes seconds{};
  double processor = 0;      // seconds, of the steps
  std::size_t touching = 0;  // frames
  double deepest = 0;
  std::size_t first_contact = 0;
  std::vector<std::byte> at_contact{};
  double energy_start = 0, energy_most = 0;  // J, without springs, from the ground up
  std::vector<std::uint64_t> hashes{};       // after each frame
};

Drop run_drop(const DropBody& body, const Model& model, std::size_t frames, Report& report) {
  World world = make_drop(body, model, ShellTraversal::kTree);
  Drop drop;
  drop.energy_start = world.energies().total();
  Pose from = world.pose(kBody);
  for (std::size_t i = 0; i < frames; ++i) {
    std::vector<std::byte> before;
    if (drop.at_contact.empty()) before = world.save();
    drop.processor += seconds_of([&] { world.step(); }).processor;
    const StepReport& r = world.report();
    const Pose to = world.pose(kBody);
    drop.motions.push_back({.shell = {from, to, body.mass.center}, .field = at_rest({})});
    from = to;
    drop.work += r.work;
    drop.seconds.broad += r.seconds.broad;
    drop.seconds.detection += r.seconds.detection;
    drop.seconds.forces += r.seconds.forces;
    drop.seconds.motion += r.seconds.motion;
    for (const PairContact& contact : world.contacts())
      drop.touching += contact.pair.a == kTwin && contact.points > 0 ? 1U : 0U;
    drop.deepest = std::max(drop.deepest, r.depth);
    drop.energy_most = std::max(drop.energy_most, r.energies.kinetic + r.energies.potential);
    drop.hashes.push_back(world.hash());
    if (drop.at_contact.empty() && r.points > 0) {
      drop.first_contact = i;
      drop.at_contact = std::move(before);
    }
  }
  const std::string what = fmt::format("{}, {} points", body.name, body.point_count());
  report.check(!world.trouble(), "no world is in trouble", what);
  report.check(!drop.at_contact.empty(), "the falling body touches its twin", what);
  report.check(
      drop.energy_most < drop.energy_start * 1.01, "no energy is gained",
      fmt::format("{}: from {:.4f} to {:.4f} J", what, drop.energy_start, drop.energy_most));
  report.check(drop.deepest < 0.02, "nothing is deeper than a tenth of its size", what);
  return drop;
}

// The same world, point by point, from the frame before the first contact on.
std::size_t step_linear(const DropBody& body, const Model& model, const Drop& drop,
                        Report& report) {
  if (drop.at_contact.empty()) return 0;
  World world = make_drop(body, model, ShellTraversal::kLinear);
  world.restore(drop.at_contact);
  const std::size_t frames =
      std::min(kSteppedPoints / body.point_count() + 1, drop.hashes.size() - drop.first_contact);
  bool equal = true;
  for (std::size_t i = 0; i < frames; ++i) {
    world.step();
    equal = equal && world.hash() == drop.hashes[drop.first_contact + i];
  }
  report.check(equal, "point by point the world goes the same way, to the hash of each frame",
               fmt::format("{}, {} points", body.name, body.point_count()));
  return frames;
}

struct Replayed {
  double seconds = 0;
  SweptWork work{};
  std::uint64_t hash = 0;
};

// Both roles of every n-th frame.
Replayed replay(const DropBody& body, const std::vector<ShellMotion>& motions, std::size_t nth,
                ShellTraversal traversal) {
  const SweptTracer tracer(body.field(), {.traversal = traversal, .threads = {1}});
  SweptResults results;
  Replayed replayed;
  for (std::size_t i = nth / 2; i < motions.size(); i += nth)
    for (const ShellMotion& motion : {motions[i], exchange_roles(motions[i])}) {
      replayed.seconds += seconds_of([&] { tracer.trace(body.tree(), motion, results); }).processor;
      replayed.work += results.motions[0].work;
      replayed.hash = hash_range(results.hits, replayed.hash);
      replayed.hash = hash_range(results.intervals, replayed.hash);
    }
  return replayed;
}

double as_double(std::size_t n) { return static_cast<double>(n); }

struct Row {
  std::size_t frames = 0, linear_frames = 0, nth = 1;
  double linear = 0;  // seconds, of all frames
  Replayed tree{};
  Drop drop{};
  std::size_t stepped = 0;  // point by point, by the world

  double share(double PhaseTimes::*phase) const {
    const PhaseTimes& s = drop.seconds;
    return s.*phase / (s.broad + s.detection + s.forces + s.motion);
  }
};

Row measure(const Options& options, const DropBody& body, const Model& model, Report& report) {
  Row row{.frames = options.quick ? model.frames / 4 : model.frames};
  row.drop = run_drop(body, model, row.frames, report);
  row.stepped = step_linear(body, model, row.drop, report);
  const std::size_t most = options.quick ? kMostPoints / 10 : kMostPoints;
  row.nth = body.point_count() * row.frames / most + 1;
  const std::vector<ShellMotion>& motions = row.drop.motions;
  row.tree = replay(body, motions, 1, ShellTraversal::kTree);
  const Replayed sampled =
      row.nth > 1 ? replay(body, motions, row.nth, ShellTraversal::kTree) : row.tree;
  const Replayed linear = replay(body, motions, row.nth, ShellTraversal::kLinear);
  report.check(linear.hash == sampled.hash,
               "the tree finds the hits and intervals of point by point",
               fmt::format("{}, {} points", body.name, body.point_count()));
  row.linear_frames = (row.frames - row.nth / 2 + row.nth - 1) / row.nth;
  row.linear = linear.seconds * as_double(row.frames) / as_double(row.linear_frames);
  return row;
}

void print_row(const DropBody& body, const Model& model, const Row& row, Table& table) {
  const double n = as_double(row.frames);
  const bool in_paper = model.paper_tree > 0;
  table.row({body.name, body.point_count(), row.frames, cell_if(in_paper, model.paper_linear),
             cell_if(in_paper, model.paper_tree),
             cell_if(in_paper, model.paper_linear / model.paper_tree), row.linear, row.tree.seconds,
             row.linear / row.tree.seconds, row.linear_frames, as_double(row.tree.work.spheres) / n,
             as_double(row.tree.work.points) / n, as_double(row.tree.work.segments) / n,
             row.drop.seconds.detection, row.drop.processor,
             100 * row.share(&PhaseTimes::detection), 100 * row.share(&PhaseTimes::forces),
             100 * as_double(row.drop.touching) / n});
}

Json to_json(const DropBody& body, const Model& model, const Row& row) {
  const double n = as_double(row.frames);
  return {{"model", body.name},
          {"how", body.how},
          {"points", body.point_count()},
          {"frames", row.frames},
          {"step", kStep},
          {"paper_linear_seconds", model.paper_linear},
          {"paper_tree_seconds", model.paper_tree},
          {"linear_seconds", row.linear},
          {"linear_frames", row.linear_frames},
          {"tree_seconds", row.tree.seconds},
          {"ratio", row.linear / row.tree.seconds},
          {"spheres_a_frame", as_double(row.tree.work.spheres) / n},
          {"points_a_frame", as_double(row.tree.work.points) / n},
          {"segments_a_frame", as_double(row.tree.work.segments) / n},
          {"world_detection_seconds", row.drop.seconds.detection},
          {"world_seconds", row.drop.processor},
          {"detection_share", row.share(&PhaseTimes::detection)},
          {"force_share", row.share(&PhaseTimes::forces)},
          {"frames_touching", row.drop.touching},
          {"frames_stepped_linear", row.stepped},
          {"deepest", row.drop.deepest},
          {"hash", fmt::format("{:016x}", row.drop.hashes.back())}};
}

}  // namespace

void bench_table4(const Options& options, Report& report) {
  Table table = report.table(
      {.id = "table4",
       .paper = "XB14",
       .place = "Table 4",
       .title = "Detection between a falling body and its fixed twin: seconds for all frames",
       .columns = {{"model", Of::kKey},
                   {"points", Of::kKey},
                   {"frames", Of::kKey},
                   {"linear", Of::kPaper, "s", 1},
                   {"hierarchy", Of::kPaper, "s", 1},
                   {"ratio", Of::kPaper, "", 1},
                   {"linear", Of::kOurs, "s"},
                   {"tree", Of::kOurs, "s"},
                   {"ratio", Of::kOurs, "", 1},
                   {"frames of linear", Of::kOurs},
                   {"spheres a frame", Of::kOurs, "", 0},
                   {"points a frame", Of::kOurs, "", 0},
                   {"traced a frame", Of::kOurs, "", 0},
                   {"detection in the world", Of::kOurs, "s"},
                   {"whole world", Of::kOurs, "s"},
                   {"detection's share", Of::kOurs, "%", 0},
                   {"forces' share", Of::kOurs, "%", 0},
                   {"frames that touch", Of::kOurs, "%", 0}},
       .note =
           fmt::format("Both roles, fields of {} cells. Where linear was run on some frames only, "
                       "its seconds are scaled to all. World: the whole run, the ground "
                       "included; detection there by the clock. The paper's drops are not ours.",
                       options.resolution())});
  Json rows = Json::array();
  for (const Model& model : kModels) {
    if (options.quick && model.model == DropModel::kDragon) continue;
    const DropBody body = make_drop_body(model.model, options);
    const Row row = measure(options, body, model, report);
    print_row(body, model, row, table);
    rows.push_back(to_json(body, model, row));
  }
  report.json["table4"] = rows;
}

}  // namespace isotact::bench
