// How near does a moving pointshell come to a body?
#pragma once

#include <cstdint>

#include "isotact/export.h"
#include "isotact/queries/swept/swept.h"

namespace ISOTACT_PUBLIC isotact {

struct ApproachSettings {
  // The points of the field's own body. Outside of its box a field is only a lower bound of the
  // distance (field.h); with these it is known there to within their covering radius.
  const PointSphereTree* field_points = nullptr;
  double tolerance = 0.1;            // cells of the field: the distance is at most this too large
  double path_tolerance = 1.0 / 32;  // cells, as in SweptSettings
  std::uint64_t max_values = 4'000'000;  // values of the field before giving up
};

enum class ApproachStatus : std::uint8_t { kDone, kGaveUp };

struct ApproachResult {
  ApproachStatus status = ApproachStatus::kDone;
  double distance = 0;       // metres: the field's value where it is least, negative inside
  double lower_bound = 0;    // metres: nowhere is it less; wide where it gave up
  double time = 0;           // 0 to 1
  std::uint32_t point = 0;   // in the order of the tree
  std::uint64_t values = 0;  // of the field that were read
};

// Best first over the tree and over halves of time. The motion must be without flaw. Cost: some
// thousand values of the field; more for shells whose points are all about as near.
ApproachResult find_closest_approach(const BrickField& field, const PointSphereTree& tree,
                                     const ShellMotion& motion,
                                     const ApproachSettings& settings = {});
// For a field of any kind, such as an analytic ground; `cell` (metres) stands for one of its cells.
ApproachResult find_closest_approach(const AnyField& field, double cell,
                                     const PointSphereTree& tree, const ShellMotion& motion,
                                     const ApproachSettings& settings = {});

}  // namespace isotact
