// When a vertex meets a face, or an edge an edge, while all four points go straight ways. No
// meeting is missed: what is called apart was proved so, rounding included.
#pragma once

#include <array>
#include <cstdint>

#include "isotact/base/vec.h"

namespace isotact {

// A vertex, then the three corners of a face; or the two ends of an edge, then those of another.
// Each point moves at its own constant velocity from its place at t0 to that at t1.
struct FeatureMotion {
  std::array<Vec3, 4> at_t0{}, at_t1{};
};

struct MeetingSettings {
  double separation = 0;    // metres: they meet as soon as they are no further apart
  double tolerance = 1e-6;  // metres: a meeting may be told where they are further apart by this
  int max_steps = 256;      // then the search gives up: boxes of an inclusion search count, too
};

enum class MeetingStatus : std::uint8_t {
  kApart,   // proved: never as near as the separation
  kMeet,    // at `time`, no further apart than separation and tolerance (and rounding, some 1e-14
            // of their size and distance)
  kGaveUp,  // neither; they may meet at `time` or later. To be treated as a meeting
};

struct Meeting {
  MeetingStatus status = MeetingStatus::kApart;
  double time = 1;  // in [0, 1]: before it they are apart by more than the separation, proved
  int steps = 0;
};

// By planes: at the time reached, the plane midway between the nearest points parts the features,
// and as all points go straight it is known until when; from there the next. Needs few steps: one
// or two for features that stay apart, some five to a meeting.
//
// A coordinate that is no number, infinite, or so large that its square overflows gives kGaveUp at
// time 0, unless the others alone tell the two apart. Settings that are negative or no numbers give
// kGaveUp, too. Neither throws nor allocates.
Meeting find_meeting_vertex_face(const FeatureMotion& motion, const MeetingSettings& settings = {});
Meeting find_meeting_edge_edge(const FeatureMotion& motion, const MeetingSettings& settings = {});

// The same by inclusion: boxes of time and places on the features, halved until they cannot hold a
// meeting or are smaller than the tolerance (B. Wang et al., A Large-Scale Benchmark and an
// Inclusion-Based Algorithm for Continuous Collision Detection, ACM TOG 40(5), 2021). The slow
// twin, which shares no reasoning with the other. The separation is that of the axis on which they
// are furthest apart, and so is the tolerance: it may tell meetings where points are up to 1.8
// times as far from each other. Give it 100,000 steps. Allocates.
Meeting find_meeting_vertex_face_by_inclusion(const FeatureMotion& motion,
                                              const MeetingSettings& settings = {});
Meeting find_meeting_edge_edge_by_inclusion(const FeatureMotion& motion,
                                            const MeetingSettings& settings = {});

}  // namespace isotact
