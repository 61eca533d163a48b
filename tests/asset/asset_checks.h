// What the tests of assets share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <gtest/gtest.h>

#include "isotact/geometry/primitives/primitives.h"

namespace isotact {

inline TriangleMesh small_torus(double scale = 1) {
  return make_torus({.radius = 0.1 * scale, .tube_radius = 0.03 * scale});
}

inline void expect_same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

}  // namespace isotact
