// Contacts from other sources for Bullet's solver. An example is image-space detection of bodies
// that are only drawn (queries/depth/depth_map.h, gpu/depth/depth_detector.h).
//
//   btEmptyShape nothing;                       // Represents everything that is drawn.
//   btRigidBody drawn(0, nullptr, &nothing);
//   GivenContacts contacts(dispatcher, ship, drawn);
//   ...
//   contacts.set(report.contacts, step);        // For the current poses.
//   world.stepSimulation(step, 0);              // One step for each set of contacts.
#pragma once

#include <memory>
#include <span>

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

#include "isotact/queries/contact/contact.h"

class btDispatcher;

namespace isotact {

// Owns a manifold between two bodies. They, and the dispatcher, must outlive it. Bullet's own
// detection is independent of it: if the two have shapes that meet, both kinds of contacts count.
class GivenContacts {
 public:
  GivenContacts(btDispatcher& dispatcher, const btCollisionObject& a, const btCollisionObject& b);
  ~GivenContacts();
  GivenContacts(const GivenContacts&) = delete;
  GivenContacts& operator=(const GivenContacts&) = delete;

  // Replaces the former contacts: takes the deepest, and up to three that spread widest, since
  // Bullet's manifolds have four. Contacts near one of the step before continue with its impulses
  // (warm starting). None: they are apart. `time_step` is in seconds.
  void set(std::span<const Contact> contacts, double time_step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
