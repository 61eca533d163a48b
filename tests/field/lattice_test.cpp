#include "isotact/field/lattice.h"

#include <limits>

#include <gtest/gtest.h>

namespace isotact {
namespace {

const Lattice kSmallLattice{.origin = {1, 2, 3}, .spacing = 0.5, .cells = {2, 3, 4}};

TEST(Lattice, CountsNodesAndFindsThem) {
  EXPECT_EQ(count(node_counts(kSmallLattice)), 3U * 4 * 5);
  EXPECT_EQ(node_position(kSmallLattice, 2, 3, 4), (Vec3{2, 3.5, 5}));
  EXPECT_EQ(flat_index(node_counts(kSmallLattice), 2, 3, 4), 59U);
}

TEST(Lattice, LocatesPointsOnFacesInTheUpperCell) {
  const CellPoint at = locate(kSmallLattice, {1.5, 2.25, 3});
  EXPECT_EQ(at.cell, (Index3{1, 0, 0}));
  EXPECT_EQ(at.fraction, (Vec3f{0, 0.5F, 0}));
}

TEST(Lattice, ClampsWhatLiesOutside) {
  const CellPoint at = locate(kSmallLattice, {9, -9, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(at.cell, (Index3{1, 0, 0}));
  EXPECT_EQ(at.fraction, (Vec3f{1, 0, 0}));
}

}  // namespace
}  // namespace isotact
