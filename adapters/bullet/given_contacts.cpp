#include "isotact/adapters/bullet/given_contacts.h"

#include <cstddef>
#include <vector>

#include "manifolds.h"

namespace isotact {

using bullet_detail::Candidate;

struct GivenContacts::State {
  const btCollisionObject &a, &b;
  bullet_detail::Manifolds manifolds;
  std::vector<Candidate> candidates;
};

GivenContacts::GivenContacts(btDispatcher& dispatcher, const btCollisionObject& a,
                             const btCollisionObject& b)
    : state_(new State{a, b, {dispatcher, nullptr}, {}}) {}

GivenContacts::~GivenContacts() = default;

void GivenContacts::set(std::span<const Contact> contacts, double time_step) {
  constexpr double kRecoverySpeed = 1;  // m/s: deep overlaps must not be ejected.
  constexpr double kNearness = 0.02;    // Metres, as Bullet's own breaking threshold.
  std::vector<Candidate>& all = state_->candidates;
  all.clear();
  for (const Contact& contact : contacts)
    all.push_back({.key = all.size() + 1,  // None is the same from step to step: positions decide.
                   .on_0 = contact.point_on_a,
                   .on_1 = contact.point_on_b,
                   .normal = contact.normal,
                   .distance = -contact.depth});
  const bullet_detail::Choice choice = choose_contacts(all, {}, 0, bullet_detail::kMostChosen);
  Candidate chosen[bullet_detail::kMostChosen];
  for (std::size_t i = 0; i < choice.count; ++i) chosen[i] = all[choice.index[i]];
  const auto wrap = [](const btCollisionObject& body) {
    return btCollisionObjectWrapper(nullptr, body.getCollisionShape(), &body,
                                    body.getWorldTransform(), -1, -1);
  };
  const btCollisionObjectWrapper wrap_a = wrap(state_->a), wrap_b = wrap(state_->b);
  state_->manifolds.begin();
  if (choice.count > 0)
    state_->manifolds.write(
        0, std::span(chosen, choice.count), wrap_a, wrap_b,
        {.time_step = time_step, .nearness = kNearness, .recovery_speed = kRecoverySpeed});
  state_->manifolds.end();
}

}  // namespace isotact
