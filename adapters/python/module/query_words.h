// What single queries and batches share: requests from words, and gradients of distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"

#include "arrays.h"
#include "module.h"

namespace isotact::python {

inline Accuracy to_accuracy(const std::string& word) {
  return static_cast<Accuracy>(find_word(word, "accuracy", {"best", "field", "exact"}));
}

// A body without a second pose rests.
inline BodyMotion to_motion(const py::object& from, const py::object& to, const char* from_name,
                            const char* to_name) {
  const Pose start = to_pose(from, from_name);
  return to.is_none() ? at_rest(start) : BodyMotion{start, to_pose(to, to_name), {}};
}

inline MotionModel to_motion_model(const std::string& word) {
  return static_cast<MotionModel>(
      find_word(word, "motion", {"straight", "rates", "screw", "polynomial"}));
}

struct CollideWords {
  std::string accuracy, mode, method;
  double margin;
  std::uint32_t max_contacts;
  bool want_distance, want_force;
  double stiffness;
  std::uint64_t max_tests;

  CollideRequest request() const {
    CollideRequest r{.accuracy = to_accuracy(accuracy), .margin = margin};
    r.mode = find_word(mode, "mode", {"all", "any"}) == 0 ? Mode::kAll : Mode::kAny;
    r.method = static_cast<Method>(
        find_word(method, "method", {"auto", "points", "idf", "depth", "swept"}));
    r.max_contacts = max_contacts;
    r.want_distance = want_distance;
    r.want_force = want_force;
    if (stiffness > 0) r.force.stiffness = stiffness;
    r.max_tests = max_tests;
    return r;
  }
};

// Of the distance between the bodies with respect to small motions of one of them: a translation,
// and a rotation vector about the body's origin, both in the world's frame. By the envelope theorem
// the nearest points may be held fixed on their bodies.
inline void write_gradient(const Vec3& normal, const Vec3& point, const Vec3& origin, double sign,
                           double* to) {
  const Vec3 turn = cross(point - origin, normal);
  for (std::size_t k = 0; k < 3; ++k) {
    to[k] = sign * normal[k];
    to[3 + k] = sign * turn[k];
  }
}

inline DistanceRequest distance_request(const std::string& accuracy, double max_distance,
                                        bool want_depth, bool want_separation, double relative,
                                        double absolute, double near_enough,
                                        std::uint64_t max_tests) {
  return {.accuracy = to_accuracy(accuracy),
          .relative_tolerance = relative,
          .absolute_tolerance = absolute,
          .max_distance = max_distance,
          .max_tests = max_tests,
          .near_enough = near_enough,
          .want_depth = want_depth,
          .want_separation = want_separation};
}

inline constexpr double kFar = std::numeric_limits<double>::infinity();

}  // namespace isotact::python
