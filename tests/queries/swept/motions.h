// Motions for tests and benchmarks, and how near bodies come in them by samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/queries/swept/motion.h"

namespace isotact {

inline constexpr MotionModel kAllModels[] = {MotionModel::kStraight, MotionModel::kConstantRates,
                                             MotionModel::kScrew, MotionModel::kPolynomial};

inline Pose random_pose(Random& random, double furthest) {
  return {random.rotation(), random.in_unit_ball() * furthest};
}

// Of both bodies, each some `furthest` away from the origin.
inline ShellMotion random_motion(Random& random, double furthest) {
  ShellMotion motion;
  for (BodyMotion* body : {&motion.shell, &motion.field}) {
    body->from = random_pose(random, furthest);
    body->to = random_pose(random, furthest);
    body->pivot = random.in_unit_ball();
  }
  return motion;
}

// Where a static test says how far bodies are apart at a time.
using DistanceAt = std::function<double(double)>;

struct Sampled {
  double least = std::numeric_limits<double>::infinity(), time = 0;
};

// The least at equal times of [from, to], refined at the lowest minima by golden sections.
inline Sampled sample_distance(const DistanceAt& distance_at, double from, double to, int times) {
  constexpr int kMostMinima = 8, kSteps = 48;
  constexpr double kGolden = 0.6180339887498949;
  std::vector<double> values(static_cast<std::size_t>(times) + 1);
  const auto time_of = [&](std::size_t k) {
    return from + (to - from) * static_cast<double>(k) / times;
  };
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = distance_at(time_of(k));
  std::vector<std::size_t> minima;
  for (std::size_t k = 0; k < values.size(); ++k)
    if ((k == 0 || values[k] <= values[k - 1]) &&
        (k + 1 == values.size() || values[k] < values[k + 1]))
      minima.push_back(k);
  std::sort(minima.begin(), minima.end(),
            [&](std::size_t i, std::size_t k) { return values[i] < values[k]; });
  if (minima.size() > kMostMinima) minima.resize(kMostMinima);
  Sampled best;
  const auto take = [&](double value, double time) {
    if (value < best.least) best = {value, time};
    return value;
  };
  for (const std::size_t k : minima) {
    take(values[k], time_of(k));
    double begin = time_of(k == 0 ? 0 : k - 1), end = time_of(std::min(k + 1, values.size() - 1));
    double left = end - kGolden * (end - begin), right = begin + kGolden * (end - begin);
    double at_left = take(distance_at(left), left), at_right = take(distance_at(right), right);
    for (int i = 0; i < kSteps && best.least > 0; ++i) {
      if (at_left < at_right) {
        end = right;
        right = left;
        at_right = at_left;
        left = end - kGolden * (end - begin);
        at_left = take(distance_at(left), left);
      } else {
        begin = left;
        left = right;
        at_left = at_right;
        right = begin + kGolden * (end - begin);
        at_right = take(distance_at(right), right);
      }
    }
  }
  return best;
}

}  // namespace isotact
