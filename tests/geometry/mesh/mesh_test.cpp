#include "isotact/geometry/mesh/mesh.h"

#include <limits>

#include <gtest/gtest.h>

namespace isotact {
namespace {

TEST(Mesh, FindFlawNamesTheTriangleAndTheIndex) {
  const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 1, 3}}};
  EXPECT_EQ(find_flaw(mesh).value_or(""), "triangle 1: index 3 is out of range (3 positions)");
}

TEST(Mesh, BoundsSkipUnreferencedAndNonFinitePositions) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, nan, 0}, {9, 9, 9}}, {{0, 1, 2}}};
  EXPECT_EQ(bounds(mesh), (Aabbf{{0, 0, 0}, {1, 0, 0}}));
}

}  // namespace
}  // namespace isotact
