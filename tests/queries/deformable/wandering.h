// Boxes that wander and bend in a cube, and the comparison of broad phases on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/queries/broad_phase/broad_phase.h"

namespace isotact {

struct WanderSettings {
  std::size_t count = 100;
  double side = 10, speed = 0.05;
  double least_size = 0.6, most_size = 1.4;  // half extents, evenly over their logarithms
  double rest = 0;                           // part of the steps in which one stays
  double teleport = 0;                       // part of the steps in which one jumps
};

class Wanderers {
 public:
  Wanderers(const WanderSettings& settings, std::uint64_t seed)
      : settings_(settings), random_(seed) {
    for (std::size_t i = 0; i < settings.count; ++i) {
      const double size =
          std::exp(random_.uniform(std::log(settings.least_size), std::log(settings.most_size)));
      bodies_.push_back({place(), random_.in_box({0.5, 0.5, 0.5}, {1, 1, 1}) * size,
                         random_.in_unit_ball() * settings.speed});
      boxes.push_back(box_of(bodies_.back()));
    }
  }

  void step() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (random_.uniform() < settings_.rest) continue;
      Body& body = bodies_[i];
      body.center += body.velocity;
      for (std::size_t k = 0; k < 3; ++k)
        if (body.center[k] < 0 || body.center[k] > settings_.side)
          body.velocity[k] = std::copysign(body.velocity[k], settings_.side / 2 - body.center[k]);
      if (random_.uniform() < settings_.teleport) body.center = place();
      boxes[i] = box_of(body);
    }
  }

  std::vector<Aabb> boxes;

 private:
  struct Body {
    Vec3 center, half, velocity;
  };

  Vec3 place() {
    return random_.in_box({0, 0, 0}, {settings_.side, settings_.side, settings_.side});
  }
  Aabb box_of(const Body& body) {
    const Vec3 half = body.half * random_.uniform(0.97, 1);
    return {body.center - half, body.center + half};
  }

  WanderSettings settings_;
  Random random_;
  std::vector<Body> bodies_;
};

inline std::vector<ObjectPair> list(std::span<const ObjectPair> pairs) {
  return {pairs.begin(), pairs.end()};
}

// Whether both have the same pairs and events.
inline void expect_same_pairs(const BroadPhase& got, const BroadPhase& want) {
  ASSERT_EQ(got.pairs().size(), want.pairs().size());
  ASSERT_EQ(list(got.pairs()), list(want.pairs()));
  ASSERT_EQ(list(got.begun()), list(want.begun()));
  ASSERT_EQ(list(got.ended()), list(want.ended()));
}

}  // namespace isotact
