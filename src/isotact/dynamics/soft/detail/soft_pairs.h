// Soft bodies near each other: what is near, and how it is held apart.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isotact/dynamics/soft/detail/soft_contact.h"

namespace isotact::detail {

// For bodies with self contact: what is nearer than the thickness at rest.
void note_rest(SoftBody& body);

// By how much the box of a body's ways is to be grown on every side, so that contacts have room to
// push it. A body that is hit by a faster one needs more: `others` is the longest way of all, which
// counts up to half an edge. No vertex ends outside of that box.
double find_room(const SoftBody& body, double others);

void note_prediction(SoftBody& body);  // before it is pushed
void update_off(SoftBody& body);       // after
// Where vertices would end without contacts.
inline const std::vector<Vec3>& predicted_of(const SoftBody& body) {
  return body.pushed ? body.predicted : body.x;
}

// Features that may meet if no vertex ends further from where it would end without contacts than
// both bodies together may have, which is the pair's margin. See hold_apart. Not for two threads at
// once on one body.
void find_near(SoftPair& pair, std::vector<SoftBody>& bodies);

// Features that may meet on the ways as they are now, or on shorter ones.
void find_on_ways(SoftPair& pair, std::vector<SoftBody>& bodies);

// Called for a vertex whose way was made shorter; may make it shorter still.
using HoldCheck = std::function<void(SoftBody& body, std::uint32_t vertex)>;

// Shortens ways of vertices until no two features that are near meet. Returns how many times.
//
// Why nothing can cross. Surfaces that do not cross at the beginning cross at the first time at
// which a vertex meets a face or an edge an edge. Take such a pair, its nearest points a and b at
// the beginning, and n from b to a. Features are convex, so all of A's vertices are at n.x >= n.a
// there, and all of B's at n.x <= n.b. If at the end, too, all of A's are above all of B's, there
// is a plane between them at both times, and the one that moves evenly from the first to the second
// is between them all the time, because vertices move evenly. They do not meet. If not, all of them
// are held back on their sides of the plane that rests in the middle: ways then end at x0 or
// between x0 and a place on the right side, which stays true when ways get shorter still. As every
// pair is put to rest at most once, this comes to an end.
//
// Features that are not in the list: boxes of their ways without contacts, in a frame that goes
// with the two bodies, are further apart than the margin on some axis; or they are further apart at
// the beginning than these ways and the margin together. Ends that are off by e_a and e_b bring
// them nearer by no more than e_a + e_b. As long as that is below the margin, they do not meet.
// Where it is not, the list is made anew by the ways as they are then
// (SoftWorld::State::hold_apart): boxes of ways hold those of ways that are made shorter, so that
// this list stays true.
//
// It holds for what moves by itself: pinned vertices have no way, but those of a deformer go where
// they are told.
std::uint32_t hold_apart(std::span<SoftPair*> pairs, std::vector<SoftBody>& bodies,
                         const HoldCheck& check);

// Points of a rigid body that rests, and faces that may meet them on the ways as they are now, or
// on shorter ones: vertices alone would let a thin part of it through between them.
void find_points_on_ways(SoftBody& body, RigidSide& rigid, std::vector<TrianglePair>& candidates,
                         std::vector<FeatureContact>& near);
// Shortens ways until no face meets one of these points; for the same reason as above. `fixed` goes
// with `near`, and must be kept from call to call: each is put to rest once.
std::uint32_t hold_off_points(SoftBody& body, std::span<const FeatureContact> near,
                              std::vector<bool>& fixed, const HoldCheck& check);

}  // namespace isotact::detail
