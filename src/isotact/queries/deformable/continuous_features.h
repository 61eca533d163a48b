// Meetings of a vertex with a face, or of an edge with an edge, while all four points move
// straight. No meeting is missed: a result of "apart" is proved, including rounding.
#pragma once

#include <array>
#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// A vertex, then the three corners of a face; or the two ends of an edge, then those of another.
// Each point moves at its own constant velocity from its position at t0 to that at t1.
struct FeatureMotion {
  std::array<Vec3, 4> at_t0{}, at_t1{};
};

struct MeetingSettings {
  double separation = 0;    // Metres: they meet as soon as they are no further apart.
  double tolerance = 1e-6;  // Metres: a meeting may be reported if they are further apart by this.
  int max_steps = 256;  // Then the search gives up. Boxes of an inclusion search count as steps.
};

enum class MeetingStatus : std::uint8_t {
  kApart,  // Proved: never as near as the separation.
  // At `time`, no further apart than separation and tolerance (and rounding, about 1e-14 of their
  // size and distance).
  kMeet,
  kGaveUp,  // Neither; they may meet at `time` or later. Treat it as a meeting.
};

struct Meeting {
  MeetingStatus status = MeetingStatus::kApart;
  // In [0, 1]. Before it, they are proved to be further apart than the separation.
  double time = 1;
  int steps = 0;
};

// Uses separating planes. At the current time, the plane midway between the nearest points
// separates the features. Since all points move straight, the time until which it does is known.
// The next plane starts there. Few steps are needed: one or two for features that stay apart, about
// five to a meeting.
//
// A coordinate that is NaN, infinite, or so large that its square overflows gives kGaveUp at time
// 0, unless the others alone separate the two. Settings that are negative or NaN also give kGaveUp.
// Neither throws nor allocates.
Meeting find_meeting_vertex_face(const FeatureMotion& motion, const MeetingSettings& settings = {});
Meeting find_meeting_edge_edge(const FeatureMotion& motion, const MeetingSettings& settings = {});

// The same by inclusion: boxes of time and feature coordinates are halved until they cannot contain
// a meeting or are smaller than the tolerance. (B. Wang et al., A Large-Scale Benchmark and an
// Inclusion-Based Algorithm for Continuous Collision Detection, ACM TOG 40(5), 2021.) This is the
// slow twin, which shares no reasoning with the other. Separation and tolerance are measured on the
// axis with the largest distance. It may therefore report meetings at up to 1.8 times the distance.
// It needs 100,000 steps. Allocates.
Meeting find_meeting_vertex_face_by_inclusion(const FeatureMotion& motion,
                                              const MeetingSettings& settings = {});
Meeting find_meeting_edge_edge_by_inclusion(const FeatureMotion& motion,
                                            const MeetingSettings& settings = {});

}  // namespace isotact
