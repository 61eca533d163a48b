// Two moving features as the differences of their vertices, first less second.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "isotact/base/vec.h"
#include "isotact/queries/deformable/continuous_features.h"

namespace isotact::detail {

template <std::size_t N>
struct DifferencesOf {
  std::array<Vec3, N> at_t0{}, at_t1{};

  std::array<Vec3, N> at(double t) const {
    std::array<Vec3, N> now{};
    for (std::size_t i = 0; i < N; ++i) now[i] = lerp(at_t0[i], at_t1[i], t);
    return now;
  }
  // It also requires a finite sum, which is no loss: squares of such numbers overflow anyway.
  bool is_finite() const {
    double sum = 0;
    for (const std::array<Vec3, N>* ends : {&at_t0, &at_t1})
      for (const Vec3& d : *ends) sum += std::abs(d.x) + std::abs(d.y) + std::abs(d.z);
    return std::isfinite(sum);
  }
};

// To the three corners.
inline DifferencesOf<3> differences_vertex_face(const FeatureMotion& motion) {
  DifferencesOf<3> d;
  for (std::size_t i = 0; i < 3; ++i) {
    d.at_t0[i] = motion.at_t0[0] - motion.at_t0[i + 1];
    d.at_t1[i] = motion.at_t1[0] - motion.at_t1[i + 1];
  }
  return d;
}

// Bit 0 of the index: the end of the first edge, bit 1: that of the second.
inline DifferencesOf<4> differences_edge_edge(const FeatureMotion& motion) {
  DifferencesOf<4> d;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t first = i % 2, second = 2 + i / 2;
    d.at_t0[i] = motion.at_t0[first] - motion.at_t0[second];
    d.at_t1[i] = motion.at_t1[first] - motion.at_t1[second];
  }
  return d;
}

// Returns whether all differences, at both ends, are above the separation on one axis, or all
// below: then they are so during the whole motion. Exact for the differences of doubles, since x -
// y <= s implies the same for the rounded x - y. False if every axis has a NaN.
template <std::size_t N>
bool are_apart_on_an_axis(const DifferencesOf<N>& d, double separation) {
  for (std::size_t k = 0; k < 3; ++k) {
    bool above = true, below = true;
    for (std::size_t i = 0; i < N; ++i) {
      above = above && d.at_t0[i][k] > separation && d.at_t1[i][k] > separation;
      below = below && d.at_t0[i][k] < -separation && d.at_t1[i][k] < -separation;
    }
    if (above || below) return true;
  }
  return false;
}

}  // namespace isotact::detail
