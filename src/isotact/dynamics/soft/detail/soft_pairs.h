// Soft bodies near each other: what is near, and how it is held apart.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isotact/dynamics/soft/detail/soft_contact.h"

namespace isotact::detail {

// For bodies with self contact: what is nearer than the thickness at rest.
void note_rest(SoftBody& body);

// By how much the box at the beginning of a step is to be grown on every side, so that all who may
// meet the body overlap it. A body that is hit by a faster one needs room to give way: `others` is
// the longest way of all, which counts up to half an edge. No vertex goes further than this, less
// half of the thickness (limit_ways).
double find_reach(const SoftBody& body, double others);

// Features no further apart than the margin at the beginning of the step. Not for two threads at
// once on one body.
void find_near(SoftPair& pair, std::vector<SoftBody>& bodies);

// Called for a vertex whose way was made shorter; may make it shorter still.
using HoldCheck = std::function<void(SoftBody& body, std::uint32_t vertex)>;

std::uint32_t limit_ways(SoftBody& body, double others, const HoldCheck& check);

// Shortens ways of vertices until no two features meet, whatever the motion. Returns how many.
//
// Why nothing can cross. Surfaces that do not cross at the beginning cross at the first time at
// which a vertex meets a face or an edge an edge. Take such a pair, its nearest points a and b at
// the beginning, and n from b to a. Features are convex, so all of A's vertices are at n.x >= n.a
// there, and all of B's at n.x <= n.b. If at the end, too, all of A's are above all of B's, there
// is a plane between them at both times, and the one that moves evenly from the first to the second
// is between them all the time, because vertices move evenly. They do not meet. If not, all of them
// are held back on their sides of the plane that rests in the middle: ways then end at x0 or
// between x0 and a place on the right side, which stays true when ways get shorter still. As every
// pair is put to rest at most once, this comes to an end. Pairs that were not found are further
// apart at the beginning than their vertices may go together: the margin of a pair is the sum of
// the reaches of both, less what the larger thickness leaves. It holds for what moves by itself:
// pinned vertices have no way, but those of a deformer go where they are told.
std::uint32_t hold_apart(std::span<SoftPair*> pairs, std::vector<SoftBody>& bodies,
                         const HoldCheck& check);

}  // namespace isotact::detail
