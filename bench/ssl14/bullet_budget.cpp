// Queries of a pile within a budget of each step (SSL14's future work), and a nut on its bolt.
#include <algorithm>
#include <array>
#include <cmath>

#include "isotact/adapters/bullet/bullet.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "bullet_report.h"
#include "bullet_stage.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

// Also measures the processor's time of the whole dispatch: other processes do not disturb that.
class TimedBudgetDispatcher final : public BudgetDispatcher<> {
 public:
  using BudgetDispatcher::BudgetDispatcher;
  void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, const btDispatcherInfo& info,
                                 btDispatcher* dispatcher) override {
    microseconds = 1e6 * seconds_of([&] {
                           BudgetDispatcher::dispatchAllCollisionPairs(pairs, info, dispatcher);
                         }).processor;
  }
  double microseconds = 0;
};

struct PileResult {
  std::vector<double> microseconds{}, nodes{}, processor{};  // One per step.
  double cut = 0;                                            // Share of the pairs.
  double lowest = 0;                                         // Metres, of the centres.
  int passed = 0;                                            // Bodies below the floor.
};

PileResult run_pile(const OwnedShape& shape, const StepBudget& budget, int bodies, int steps) {
  btDefaultCollisionConfiguration configuration;
  TimedBudgetDispatcher dispatcher(&configuration, budget);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  GuardedWorld<btDiscreteDynamicsWorld> world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -10, 0});
  btBoxShape floor_shape({2, 1, 2});
  btRigidBody floor(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &floor_shape));
  floor.setWorldTransform(to_bullet(Pose{{}, {0, -1, 0}}));
  world.addRigidBody(&floor);
  Random random(7);
  std::vector<std::unique_ptr<btRigidBody>> all;
  btVector3 inertia;
  shape.shape->calculateLocalInertia(1, inertia);
  for (int i = 0; i < bodies; ++i) {
    all.push_back(std::make_unique<btRigidBody>(
        btRigidBody::btRigidBodyConstructionInfo(1, nullptr, shape.shape.get(), inertia)));
    all.back()->setWorldTransform(to_bullet(
        Pose{random.rotation(), {0.3 * (i % 3 - 1), 0.2 + 0.3 * (i / 9), 0.3 * (i / 3 % 3 - 1)}}));
    all.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(all.back().get());
  }
  PileResult result;
  double cut = 0, pairs = 0;
  for (int s = 0; s < steps; ++s) {
    world.stepSimulation(btScalar(1.0 / 120), 0);
    const BudgetReport& report = dispatcher.budget_report();
    result.microseconds.push_back(report.microseconds);
    result.processor.push_back(dispatcher.microseconds);
    result.nodes.push_back(static_cast<double>(report.nodes));
    cut += report.cut, pairs += static_cast<double>(report.pairs.size());
  }
  result.cut = pairs > 0 ? cut / pairs : 0;
  result.lowest = 1e9;
  for (const auto& body : all) {
    const double y = pose_of(*body).translation.y;
    result.lowest = std::min(result.lowest, y);
    result.passed += y < 0 ? 1 : 0;
    world.removeRigidBody(body.get());
  }
  world.removeRigidBody(&floor);
  return result;
}

double share_within(const std::vector<double>& values, double most) {
  return static_cast<double>(
             std::count_if(values.begin(), values.end(), [&](double v) { return v <= most; })) /
         static_cast<double>(values.size());
}

}  // namespace

void bench_budget(const Options& options, Stock&, Report& report) {
  const int bodies = 27, steps = options.quick ? 100 : 1000;
  TriangleMesh mesh = make_shape("gear");
  const Vec3f side = extent(bounds(mesh));
  for (Vec3f& p : mesh.positions) p = p * (0.2F / std::max({side.x, side.y, side.z}));
  const OwnedShape gear = own("gear", cook_bullet_shape(mesh));
  Table table = report.table(
      {.id = "budget",
       .title = fmt::format("A pile of {} gears of 0.2 m in a guarded world: its queries, {} steps",
                            bodies, steps),
       .columns = {{"budget", Of::kKey},
                   {"nodes a step", Of::kOurs, "", 0},
                   {"median", Of::kOurs, "us", 0},
                   {"p99", Of::kOurs, "us", 0},
                   {"p99.9", Of::kOurs, "us", 0},
                   {"within half", Of::kOurs, "%", 1},
                   {"within three quarters", Of::kOurs, "%", 1},
                   {"within it", Of::kOurs, "%", 2},
                   {"by the clock", Of::kOurs, "%", 2},
                   {"pairs cut", Of::kOurs, "%", 1},
                   {"bodies under the floor", Of::kOurs}},
       .note = "120 Hz. Processor's time of all dispatch; by the clock, of the queries."});
  const StepBudget budgets[] = {{},
                                {.microseconds = 2000},
                                {.microseconds = 1000},
                                {.microseconds = 500},
                                {.nodes = 50'000},
                                {.nodes = 10'000}};
  for (const StepBudget& budget : budgets) {
    const PileResult r = run_pile(gear, budget, bodies, steps);
    const bool by_nodes = budget.nodes > 0, by_time = budget.microseconds > 0;
    const double limit = by_nodes  ? static_cast<double>(budget.nodes)
                         : by_time ? budget.microseconds
                                   : 1e300;
    const std::vector<double>& used = by_nodes ? r.nodes : r.processor;
    const double within = share_within(by_nodes ? r.nodes : r.microseconds, limit);
    const std::string name = by_nodes  ? fmt::format("{:g} nodes", limit)
                             : by_time ? fmt::format("{:g} us", limit)
                                       : std::string("none");
    table.row({name, quantile(r.nodes, 0.5), quantile(r.processor, 0.5),
               quantile(r.processor, 0.99), quantile(r.processor, 0.999),
               100 * share_within(used, limit / 2), 100 * share_within(used, 0.75 * limit),
               100 * share_within(used, limit), 100 * within, 100 * r.cut, r.passed},
              Of::kOurs);
    report.json["budget"]["rows"].push_back({{"name", name},
                                             {"within", share_within(used, limit)},
                                             {"within_by_clock", within},
                                             {"cut", r.cut},
                                             {"passed", r.passed}});
    report.check(r.passed == 0, "no body of the pile passes the floor", name);
    if (by_nodes)
      report.check(within == 1, "no step exceeds a budget in nodes", name);
    else if (by_time)
      judge(report, "budget", share_within(used, limit) >= 0.999,
            fmt::format("{}: the processor's time of {:.2f} % of the steps is within it; wanted "
                        "99.9",
                        name, 100 * share_within(used, limit)));
  }
}

}  // namespace isotact::bench
