#include "isotact/dynamics/contact_load.h"

#include <algorithm>

namespace isotact {

Load find_contact_load(const RigidBody& body, std::span<const Contact> contacts,
                       const ContactLoadSettings& settings) {
  Load load;
  if (contacts.empty()) return load;
  const double share = 1 / static_cast<double>(contacts.size());
  for (const Contact& contact : contacts) {
    const Vec3 velocity = velocity_at(body, contact.position);
    const double growth = -dot(velocity, contact.normal);  // of depth
    const double push =
        std::max(0.0, share * (settings.stiffness * contact.depth + settings.damping * growth));
    const Vec3 slip = velocity + contact.normal * growth;
    const double speed = length(slip);
    Vec3 force = contact.normal * push;
    if (speed > 0) force -= slip * (settings.friction * push / std::max(speed, settings.creep));
    load += {force, cross(contact.position - body.state.center, force)};
  }
  return load;
}

}  // namespace isotact
