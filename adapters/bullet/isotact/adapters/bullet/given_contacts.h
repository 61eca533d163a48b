// Contacts from elsewhere for Bullet's solver: of a query of the caller's, such as image-space
// detection of what is only ever drawn (queries/depth_map.h, gpu/depth_detector.h).
//
//   btEmptyShape nothing;                       // stands for all that is drawn
//   btRigidBody drawn(0, nullptr, &nothing);
//   GivenContacts contacts(dispatcher, ship, drawn);
//   ...
//   contacts.set(report.contacts, step);        // for the poses as they are now
//   world.stepSimulation(step, 0);              // one step for each set of contacts
#pragma once

#include <memory>
#include <span>

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

#include "isotact/queries/contact.h"

class btDispatcher;

namespace isotact {

// Owns a manifold between two bodies. They, and the dispatcher, must outlive it. Bullet's own
// detection does not know of it: where the two have shapes that meet, both kinds of contacts count.
class GivenContacts {
 public:
  GivenContacts(btDispatcher& dispatcher, const btCollisionObject& a, const btCollisionObject& b);
  ~GivenContacts();
  GivenContacts(const GivenContacts&) = delete;
  GivenContacts& operator=(const GivenContacts&) = delete;

  // Takes the place of those before: the deepest, and up to three that spread widest, since a
  // manifold of Bullet's holds four. Those near to one of the step before go on from its impulses
  // (warm starting). None: they are apart. `time_step` in seconds.
  void set(std::span<const Contact> contacts, double time_step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
