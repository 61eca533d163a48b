// Ordinary contacts (queries/contact.h) as forces: a spring, a damper and friction in each. For
// contacts of a moment, from any query: image-space detection (queries/depth_map.h), intersection
// fields, or the caller's own. World has its own contacts, over whole steps (contact_force.h).
#pragma once

#include <span>

#include "isotact/dynamics/rigid_body.h"
#include "isotact/queries/contact.h"

namespace isotact {

struct ContactLoadSettings {
  // Of all contacts together: each has an equal share, so that the number of contacts that a query
  // gives does not matter.
  double stiffness = 1e4;  // N/m
  double damping = 100;    // N s/m, against the growth of depth; contacts never pull
  double friction = 0.5;   // Coulomb's coefficient,
  double creep = 0.01;  // reached at this speed, m/s: below it friction is a damper, so that what
                        // rests on a slope creeps down, at this speed at most
};

// What acts on the body, which is A of the contacts (its normals point to it), with the rest of the
// world at rest. Add gravity, and kick(). A step of symplectic Euler is stable for steps below
// 2 sqrt(m / stiffness) and 2 m / damping (and friction's damper, friction * weight / creep).
Load find_contact_load(const RigidBody& body, std::span<const Contact> contacts,
                       const ContactLoadSettings& settings);

}  // namespace isotact
