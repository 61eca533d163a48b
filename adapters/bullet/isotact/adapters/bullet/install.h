// One call registers Isotact's shapes with a dispatcher.
//
//   btDefaultCollisionConfiguration configuration;
//   btCollisionDispatcher dispatcher(&configuration);
//   const auto isotact = isotact::install(dispatcher);
#pragma once

#include <memory>

class btCollisionDispatcher;

namespace isotact {

namespace bullet_detail {
struct CreateFunctions;
class BudgetState;
}  // namespace bullet_detail

// Must live as long as the dispatcher is used: it owns the functions that the dispatcher calls. It
// may be destroyed before or after the dispatcher itself.
class BulletPlugin {
 public:
  // `budget`: that of a QueryBudget (budget.h), or none.
  explicit BulletPlugin(btCollisionDispatcher& dispatcher,
                        const std::shared_ptr<bullet_detail::BudgetState>& budget = nullptr);
  BulletPlugin(BulletPlugin&&) noexcept;
  BulletPlugin& operator=(BulletPlugin&&) noexcept;
  ~BulletPlugin();

 private:
  std::unique_ptr<bullet_detail::CreateFunctions> functions_;
};

// Registers ours against plane, box, sphere, capsule, cylinder, cone, hull and every other convex
// shape, triangle mesh, height field, GImpact mesh, and ours. It covers both orders, contacts and
// closest points (contactTest, contactPairTest). Bullet handles compounds: their children come here
// one by one. Soft bodies get contacts at their nodes and faces. Other pairs (Bullet's own signed
// distance fields) are an error that is reported once (report.h), and have no contact. Call it
// after btGImpactCollisionAlgorithm::registerAlgorithm, which would replace pairs.
[[nodiscard]] BulletPlugin install(btCollisionDispatcher& dispatcher);

}  // namespace isotact
