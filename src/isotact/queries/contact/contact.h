// What two bodies have in common where they touch. All queries of pairs give this one type.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"

namespace isotact {

enum class Body : std::uint8_t { kA, kB };

// Which way two bodies are held against each other.
enum class Roles : std::uint8_t {
  kBoth,       // needs a field or points of each body, so that one way at least is possible; takes
               // both ways where they are
  kPointsOfA,  // in the field of B
  kPointsOfB,  // in the field of A
};

// In the world's frame, metres.
struct Contact {
  Vec3 position{};    // midway between the two points
  Vec3 point_on_a{};  //
  Vec3 point_on_b{};  //
  Vec3 normal{};  // unit, from B towards A, as KGM has it. (FCL's goes from the first body to the
                  // second: the opposite)
  double depth = 0;            // positive where the bodies overlap, negative across a gap
  Body sampled_by = Body::kA;  // whose point found it
  std::uint32_t point = 0;     // of that body's pointshell, in the order of its tree
};

}  // namespace isotact
