// An impulse between two bodies, rigid ones or links of multibodies. Private to the plug-in.
#pragma once

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

#include "isotact/base/vec.h"

namespace isotact::bullet_detail {

// Ends the approach of two bodies at a place of the world; they bounce by their restitution.
// `normal`: unit vector, from b to a. Does nothing if they part there, or if neither can move. No
// energy is added: the impulse is that of one contact.
void push_apart_at(btCollisionObject& a, btCollisionObject& b, const Vec3& place,
                   const Vec3& normal);

}  // namespace isotact::bullet_detail
