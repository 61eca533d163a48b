#include "step_budget.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "isotact/adapters/bullet/install.h"

namespace isotact {
namespace bullet_detail {
namespace {

thread_local Allowance* opened = nullptr;

// Part of a budget for pairs that begin in the step.
constexpr double kForNewPairs = 1.0 / 16;
constexpr unsigned kShareOfNew = 8;  // Each gets this part of what is left of it.
// A query may need more in the next step, and a cut one surely does.
constexpr double kGrowth = 1.5, kGrowthOfCut = 4, kMoreNodes = 256, kMoreMicroseconds = 4;

// What pairs get of an amount. Those of much weight get the least that they can use, while there is
// enough. They share the rest by weight, but nobody gets more than he wants while others want more.
struct Wish {
  double wanted = 0, least = 0, weight = 1, given = 0;
};
void share_out(double amount, std::vector<Wish>& wishes) {
  std::vector<std::size_t> order(wishes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return wishes[a].weight > wishes[b].weight;
  });
  std::vector<std::size_t> served;
  double weight = 0;
  for (const std::size_t i : order) {
    Wish& w = wishes[i];
    if (w.least > amount) continue;
    w.given = w.least, amount -= w.least, weight += w.weight;
    served.push_back(i);
  }
  if (served.empty()) return;
  const double all = weight;
  std::stable_sort(served.begin(), served.end(), [&](std::size_t a, std::size_t b) {
    const auto more = [&](std::size_t i) {
      return std::max(wishes[i].wanted - wishes[i].least, 0.0) / wishes[i].weight;
    };
    return more(a) < more(b);
  });
  for (const std::size_t i : served) {
    Wish& w = wishes[i];
    const double more =
        std::min(std::max(w.wanted - w.least, 0.0), amount * std::min(w.weight / weight, 1.0));
    w.given += more, amount = std::max(amount - more, 0.0), weight -= w.weight;
  }
  // Wishes are guesses: what nobody wants is for those who were wrong.
  for (const std::size_t i : served) wishes[i].given += amount * wishes[i].weight / all;
}

}  // namespace

OpenAllowance::OpenAllowance(Allowance* allowance) : before_(std::exchange(opened, allowance)) {
  if (allowance != nullptr) allowance->begin();
}
OpenAllowance::~OpenAllowance() { opened = before_; }
Allowance* open_allowance() { return opened; }

ShellResult find_hits_in_budget(const PointSphereTree& tree, const ShellTarget& target,
                                const ShellPlacement& placement, ShellRequest request, double share,
                                ShellPairScratch* memory, ShellScratch& scratch) {
  Allowance* const a = opened;
  const auto run = [&] {
    return memory != nullptr ? find_hits(tree, target, placement, request, *memory, scratch)
                             : find_hits(tree, target, placement, request, scratch);
  };
  if (a == nullptr) return run();
  if (a->is_spent()) {
    a->cut();
    return {.status = a->has_nodes ? ShellStatus::kOutOfWork : ShellStatus::kOutOfTime};
  }
  if (a->has_nodes || a->has_time) request.want_distance = false;
  if (a->has_nodes) {
    const double left = static_cast<double>(a->nodes - a->used_nodes - Allowance::kLeaf) * share;
    request.max_nodes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(left));
  }
  // The caller chooses contacts among the hits.
  constexpr double kNanosecondsAHit = 15;
  if (a->has_time) {
    request.max_microseconds =
        std::max(0.05, share * (a->microseconds - a->reserve - a->used_microseconds()));
    request.nanoseconds_a_hit = kNanosecondsAHit;
  }
  const double before = a->has_time ? a->used_microseconds() : 0;
  const ShellResult result = run();
  if (a->has_time) a->query_microseconds += a->used_microseconds() - before;
  a->used_nodes += result.work.spheres + result.work.points;
  if (result.status != ShellStatus::kComplete) {
    a->level = a->was_cut ? std::min(a->level, result.level) : result.level;
    a->was_cut = true;
    a->lower_bound = std::min(a->lower_bound, result.lower_bound);
  }
  return result;
}

BudgetPair& BudgetState::add(const btCollisionObject* body_0, const btCollisionObject* body_1) {
  const std::scoped_lock lock(mutex_);
  BudgetPair& pair = pairs_.emplace_back();
  pair.body_0 = body_0, pair.body_1 = body_1;
  Allowance& a = pair.allowance;
  a.has_nodes = budget_.nodes > 0, a.has_time = budget_.microseconds > 0;
  a.nodes = free_nodes_ / kShareOfNew, a.microseconds = free_microseconds_ / kShareOfNew;
  free_nodes_ -= a.nodes, free_microseconds_ -= a.microseconds;
  return pair;
}

void BudgetState::remove(BudgetPair& pair) {
  const std::scoped_lock lock(mutex_);
  pairs_.remove_if([&](const BudgetPair& p) { return &p == &pair; });
}

void BudgetState::begin_step() {
  const auto nodes = static_cast<double>(budget_.nodes);
  free_nodes_ = static_cast<std::uint64_t>(nodes * kForNewPairs);
  free_microseconds_ = budget_.microseconds * kForNewPairs;
  std::vector<Wish> by_nodes, by_time;
  constexpr double kAll = 1e12, kLeastMicroseconds = 0.5, kOfWaiting = 4;
  for (BudgetPair& p : pairs_) {
    const Allowance& a = p.allowance;
    const double growth = a.was_cut ? kGrowthOfCut : kGrowth;
    const auto used = static_cast<double>(a.used_nodes);
    const double weight = p.weight + kOfWaiting * p.waited;
    if (p.was_run && !(a.was_cut && a.used_nodes == 0)) p.waited = 0;
    by_nodes.push_back({.wanted = p.is_new ? kAll : growth * used + kMoreNodes,
                        .least = 2.0 * Allowance::kLeaf,
                        .weight = weight});
    by_time.push_back({.wanted = p.is_new ? kAll : growth * p.microseconds + kMoreMicroseconds,
                       .least = a.reserve + kLeastMicroseconds,
                       .weight = weight});
  }
  share_out(nodes - static_cast<double>(free_nodes_), by_nodes);
  share_out(kForTurns * budget_.microseconds - free_microseconds_, by_time);
  spent_.store(0, std::memory_order_relaxed);
  std::size_t i = 0;
  for (BudgetPair& p : pairs_) {
    Allowance& a = p.allowance;
    a.has_nodes = budget_.nodes > 0, a.has_time = budget_.microseconds > 0;
    a.nodes = static_cast<std::uint64_t>(by_nodes[i].given);
    a.microseconds = by_time[i].given;
    ++i;
    p.was_run = false;
  }
}

void BudgetState::end_step() {
  report_.nodes = 0, report_.microseconds = 0, report_.cut = 0;
  report_.pairs.clear();
  for (BudgetPair& p : pairs_) {
    if (!p.was_run) continue;
    p.is_new = false;
    const Allowance& a = p.allowance;
    report_.nodes += a.used_nodes;
    report_.microseconds += p.microseconds;
    report_.cut += a.was_cut ? 1 : 0;
    report_.pairs.push_back({.body_0 = p.body_0,
                             .body_1 = p.body_1,
                             .is_complete = !a.was_cut,
                             .level = a.level,
                             .depth_bound = a.was_cut ? std::max(-a.lower_bound, 0.0) : 0,
                             .nodes = a.used_nodes,
                             .microseconds = p.microseconds});
  }
}

}  // namespace bullet_detail

QueryBudget::QueryBudget(const StepBudget& budget, btCollisionDispatcher& dispatcher)
    : state_(std::make_shared<bullet_detail::BudgetState>(budget)),
      plugin_(std::make_unique<BulletPlugin>(dispatcher, state_)) {}
QueryBudget::QueryBudget(QueryBudget&&) noexcept = default;
QueryBudget& QueryBudget::operator=(QueryBudget&&) noexcept = default;
QueryBudget::~QueryBudget() = default;
void QueryBudget::set_budget(const StepBudget& budget) { state_->set_budget(budget); }
void QueryBudget::begin_step() { state_->begin_step(); }
void QueryBudget::end_step() { state_->end_step(); }
const BudgetReport& QueryBudget::report() const { return state_->report(); }

}  // namespace isotact
