#include "fields/compare_bricks.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

TEST(CompareBricks, FindsNothingBetweenEquals) {
  const BrickField field = build_field(make_torus({}), {.resolution = 48}).field;
  const BrickDifference d = compare_bricks(field, field);
  EXPECT_EQ(d.bricks, field.bricks().size());
  EXPECT_EQ(d.other_bricks + d.other_cubes + d.other_samples, 0U);
  EXPECT_EQ(d.most_off, 0);
  EXPECT_TRUE(is_as_promised(d, field, field));
}

// Fields with other bands have other cubes and bricks, all of them beyond the narrower band; that
// the wider field has them is its promise.
TEST(CompareBricks, TellsWhatOnlyOneFieldHas) {
  const TriangleMesh mesh = make_torus({});
  const Surface surface = prepare_surface(mesh, {.voxel_size = 0.05});
  const Lattice lattice = plan_lattice(mesh, {.resolution = 64, .band = 6});
  const BrickField narrow = build_field(surface, lattice, {.band = 2}).field;
  const BrickField wide = build_field(surface, lattice, {.band = 6}).field;
  const BrickDifference d = compare_bricks(narrow, wide);
  EXPECT_GT(d.bricks, 0U);
  EXPECT_GT(d.other_bricks, 0U);
  EXPECT_GT(d.other_cubes, 10U);
  EXPECT_GT(d.nearest_other, 2 * lattice.spacing);
  EXPECT_LT(d.nearest_other, 6 * lattice.spacing);
  EXPECT_LE(d.most_off, static_cast<double>(narrow.header().step));
  EXPECT_FALSE(is_as_promised(d, narrow, wide));
}

TEST(CompareBricks, SeesAShiftOfAFractionOfACell) {
  const TriangleMesh mesh = make_torus({});
  const Lattice lattice = plan_lattice(mesh, {.resolution = 48, .band = 8});
  const SurfaceSettings shell{.sign = SignMethod::kUnsigned,
                              .voxel_size = lattice.spacing,
                              .shell_offset = lattice.spacing};
  SurfaceSettings thicker = shell;
  thicker.shell_offset *= 1.2;
  const BrickField a = build_field(prepare_surface(mesh, shell), lattice, {}).field;
  const BrickField b = build_field(prepare_surface(mesh, thicker), lattice, {}).field;
  const BrickDifference d = compare_bricks(a, b);
  EXPECT_NEAR(d.most_off, 0.2 * lattice.spacing, static_cast<double>(a.header().step));
  EXPECT_FALSE(is_as_promised(d, a, b));
  const BrickField other = build_field(mesh, {.resolution = 32}).field;
  EXPECT_THROW(compare_bricks(a, other), Error);
}

}  // namespace
}  // namespace isotact
