// The shares of pairs in the budget of a step. Private to the plug-in.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>

#include "isotact/adapters/bullet/budget.h"
#include "isotact/queries/points/shell_query.h"

namespace isotact::bullet_detail {

using BudgetClock = std::chrono::steady_clock;

// What one pair, or one test of the guard, may do, and what it has done.
struct Allowance {
  // The most that one opened node or a short list of edges adds: queries stop so much before.
  static constexpr std::uint64_t kLeaf = 64;

  bool has_nodes = false, has_time = false;  // Limited.
  std::uint64_t nodes = 0;
  double microseconds = 0;
  double reserve = 4;  // Microseconds for work beside the queries; at first a guess.

  BudgetClock::time_point start{};
  std::uint64_t used_nodes = 0;
  double query_microseconds = 0;
  bool was_cut = false;
  int level = -1;  // The coarsest of all queries; -1: all points.
  // Metres: no distance is less, if a query was cut.
  double lower_bound = std::numeric_limits<double>::infinity();

  void begin() {
    used_nodes = 0, query_microseconds = 0, was_cut = false, level = -1;
    lower_bound = std::numeric_limits<double>::infinity();
    if (has_time) start = BudgetClock::now();
  }
  double used_microseconds() const {
    return std::chrono::duration<double, std::micro>(BudgetClock::now() - start).count();
  }
  // A query is left out: nothing is known.
  void cut() {
    was_cut = true, level = 0;
    lower_bound = -std::numeric_limits<double>::infinity();
  }
  bool is_spent() const {
    return (has_nodes && used_nodes + kLeaf > nodes) ||
           (has_time && used_microseconds() + reserve >= microseconds);
  }
};

// Queries of this thread count for an allowance while it is open. None may be open before.
class OpenAllowance {
 public:
  explicit OpenAllowance(Allowance* allowance);
  OpenAllowance(const OpenAllowance&) = delete;
  OpenAllowance& operator=(const OpenAllowance&) = delete;
  ~OpenAllowance();

 private:
  Allowance* before_;
};
// Null if none is open.
Allowance* open_allowance();

// find_hits within the allowance of this thread, if one is open. `share`: the part of the rest of
// it that this query may use. A query that was cut has a status other than kComplete; if nothing
// was left, it has no hits and knows no bound. The separate search of a distance is left out if
// work is limited, since no budget limits it.
ShellResult find_hits_in_budget(const PointSphereTree& tree, const ShellTarget& target,
                                const ShellPlacement& placement, ShellRequest request, double share,
                                ShellPairScratch* memory, ShellScratch& scratch);

struct BudgetPair {
  const btCollisionObject* body_0 = nullptr;
  const btCollisionObject* body_1 = nullptr;
  Allowance allowance{};
  bool is_new = true, was_run = false;
  double weight = 1;
  double microseconds = 0;  // of its last turn
  int waited = 0;           // steps without a share
};

class BudgetState {
 public:
  explicit BudgetState(const StepBudget& budget) : budget_(budget) {}
  void set_budget(const StepBudget& budget) { budget_ = budget; }

  BudgetPair& add(const btCollisionObject* body_0, const btCollisionObject* body_1);
  void remove(BudgetPair& pair);
  void begin_step();
  void end_step();
  const BudgetReport& report() const { return report_; }

  // Of the time of the step. Pairs whose turn took longer than their share leave less for others.
  void spend(double microseconds) { spent_.fetch_add(microseconds, std::memory_order_relaxed); }
  // Whether there is no time for a turn as short as this pair has them.
  bool is_over(const Allowance& a) const {
    return a.has_time &&
           spent_.load(std::memory_order_relaxed) + a.reserve >= budget_.microseconds * kForTurns;
  }

 private:
  // The rest is for pairs that are left out, and for the last one that is not.
  static constexpr double kForTurns = 0.8;

  std::mutex mutex_;
  StepBudget budget_;
  std::list<BudgetPair> pairs_;
  std::uint64_t free_nodes_ = 0;  // for pairs that are made in the step
  double free_microseconds_ = 0;
  std::atomic<double> spent_{0};
  BudgetReport report_{};
};

}  // namespace isotact::bullet_detail
