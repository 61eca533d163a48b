// A limit for the queries of one step, shared by all pairs.
//
//   isotact::BudgetDispatcher<btCollisionDispatcher> dispatcher(&configuration,
//                                                               {.microseconds = 500});
//
// It takes the place of btCollisionDispatcher and of install(). Each pair gets a share of the
// budget. Pairs that need little get it. The others share the rest by their depth, their speed, and
// whether their last query was cut. A query that runs out of its share stops at a coarse level:
// representatives stand for points that were not tested (SSL14, time-critical haptics). A pair
// without any share keeps the contacts of its last step, at the bodies' new poses. No body passes
// through another one because of this in a guarded world (guarded_world.h): the guard tests paths
// by itself, and holds bodies whose test runs out of a budget of its own.
//
// A node is a tested sphere or point. Edges and triangles of Bullet's shapes count as one each.
// Points tested against triangles do not count, and such a test is not cut.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>

class btCollisionObject;

namespace isotact {

class BulletPlugin;

// 0: no limit.
struct StepBudget {
  double microseconds = 0;  // By the clock, of one thread. Results may vary between runs.
  // The same results in each run. Never exceeded, but by the triangles of a mesh of Bullet's.
  std::uint64_t nodes = 0;
};

struct PairReport {
  const btCollisionObject* body_0 = nullptr;
  const btCollisionObject* body_1 = nullptr;
  bool is_complete = true;
  // The level of the point-sphere tree to which everything was tested; -1: all points, or no query.
  int level = -1;
  // Metres: no point is deeper in the other body than this, if the query was cut. Infinite if
  // nothing is known. For complete queries, the depth of the deepest point is in the contacts.
  double depth_bound = 0;
  std::uint64_t nodes = 0;
  double microseconds = 0;  // 0 without a limit in time
};

struct BudgetReport {
  std::uint64_t nodes = 0;          // of the last step
  double microseconds = 0;          // of all pairs with a shape of ours, in the last step
  std::uint32_t cut = 0;            // pairs whose query was cut, or left out
  std::vector<PairReport> pairs{};  // in the order in which their boxes began to overlap
};

namespace bullet_detail {
class BudgetState;
}

// The budget without a dispatcher of its own: for dispatchers of yours.
class QueryBudget {
 public:
  // Includes install() for the dispatcher.
  QueryBudget(const StepBudget& budget, btCollisionDispatcher& dispatcher);
  QueryBudget(QueryBudget&&) noexcept;
  QueryBudget& operator=(QueryBudget&&) noexcept;
  ~QueryBudget();

  void set_budget(const StepBudget& budget);
  void begin_step();  // Before all pairs are dispatched,
  void end_step();    // and after that.
  const BudgetReport& report() const;

 private:
  std::shared_ptr<bullet_detail::BudgetState> state_;
  std::unique_ptr<BulletPlugin> plugin_;
};

// btCollisionDispatcher or btCollisionDispatcherMt. With threads, each pair has its own share of
// the time, so that a step may take the budget divided by the threads.
template <typename Dispatcher = btCollisionDispatcher>
class BudgetDispatcher : public Dispatcher {
 public:
  // The further arguments are those of the dispatcher: for btCollisionDispatcherMt, its grain.
  template <typename... Arguments>
  explicit BudgetDispatcher(btCollisionConfiguration* configuration, const StepBudget& budget,
                            Arguments&&... arguments)
      : Dispatcher(configuration, std::forward<Arguments>(arguments)...), budget_(budget, *this) {}

  void set_budget(const StepBudget& budget) { budget_.set_budget(budget); }
  const BudgetReport& budget_report() const { return budget_.report(); }

  void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, const btDispatcherInfo& info,
                                 btDispatcher* dispatcher) override {
    budget_.begin_step();
    Dispatcher::dispatchAllCollisionPairs(pairs, info, dispatcher);
    budget_.end_step();
  }

 private:
  QueryBudget budget_;
};

}  // namespace isotact
