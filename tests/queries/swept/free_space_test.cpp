#include "isotact/queries/swept/detail/free_space.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/swept/swept.h"

#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact::detail {
namespace {

std::vector<std::uint8_t> compute_by_brute_force(const Index3& n,
                                                 const std::vector<std::uint8_t>& marked) {
  std::vector<Index3> places;
  std::vector<Index3> all;
  for (std::int32_t z = 0; z < n[2]; ++z)
    for (std::int32_t y = 0; y < n[1]; ++y)
      for (std::int32_t x = 0; x < n[0]; ++x) {
        all.push_back({x, y, z});
        if (marked[all.size() - 1] != 0) places.push_back(all.back());
      }
  std::vector<std::uint8_t> quarters;
  for (const Index3& at : all) {
    double least = 1e9;
    for (const Index3& other : places) {
      double square = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const int gap = std::max(std::abs(at[axis] - other[axis]) - 1, 0);
        square += gap * gap;
      }
      least = std::min(least, square);
    }
    quarters.push_back(
        static_cast<std::uint8_t>(std::min(4 * std::sqrt(least), double{kMostFree})));
  }
  return quarters;
}

// Rows shorter than a chunk, of several chunks, and of a part of one; some marks, one, or none; and
// distances beyond the furthest that is kept.
TEST(FreeSpace, BlockDistancesAreThoseOfBruteForce) {
  Random random(3);
  std::size_t far = 0, near = 0;
  for (const Index3& n : {Index3{7, 5, 6}, Index3{32, 6, 5}, Index3{40, 9, 4}, Index3{100, 3, 3},
                          Index3{3, 90, 4}, Index3{5, 3, 140}})
    for (const int marks : {0, 1, 3, 40}) {
      std::vector<std::uint8_t> marked(count(n));
      for (int i = 0; i < marks; ++i)
        marked[random.below(static_cast<std::uint32_t>(marked.size()))] = 1;
      const std::vector<std::uint8_t> expected = compute_by_brute_force(n, marked);
      for (const int threads : {1, 3})
        EXPECT_EQ(compute_block_distances(n, marked, {threads}), expected)
            << n[0] << ' ' << n[1] << ' ' << n[2] << ", " << marks << " marks";
      for (const std::uint8_t q : expected) (q == kMostFree ? far : near) += 1;
    }
  EXPECT_GT(far, 1000U);
  EXPECT_GT(near, 1000U);
}

// After each edit, the free space that is brought up to date is the one of the whole field; and a
// tracer that follows edits finds what a new one finds.
TEST(FreeSpace, FollowsEdits) {
  EditableField editable(make_shape("gear"), {.resolution = 96, .padding = 16});
  const double margin = 0.3 * editable.field().voxel_size();
  FreeSpace space = build_free_space(editable.field(), margin, 1, {1});
  SweptTracer tracer(editable.field(), {.margin = margin, .threads = {1}});
  const PointSphereTree tree =
      build_point_sphere_tree(sample_vertices(make_sphere({.radius = 0.2, .frequency = 4})));
  Random random(test_seed(17));
  const double size = length(extent(to_double(bounds(editable.mesh()))));
  int moved = 0, stayed = 0, hits = 0;
  for (int edit = 0; edit < test_cases(unless_slow(24, 4)); ++edit) {
    TriangleMesh ball = make_sphere({.radius = size * random.uniform(0.001, 0.06), .frequency = 3});
    const auto vertex = random.below(static_cast<std::uint32_t>(editable.mesh().positions.size()));
    const Vec3f at = editable.mesh().positions[vertex] * 0.9F;
    for (Vec3f& p : ball.positions) p = p + at;
    const EditReport report = editable.replace_triangles(std::span<const std::uint32_t>{}, ball);
    const FreeSpace want = build_free_space(editable.field(), margin, 1, {1});
    FreeSpace got =
        update_free_space(space, editable.field(), margin, 1, report.changed_cells, {1});
    ASSERT_FALSE(report.full_rebuild);
    ASSERT_EQ(got.marked, want.marked);
    ASSERT_EQ(got.quarters, want.quarters);
    ASSERT_EQ(got.reach, want.reach);
    (got.marked == space.marked ? stayed : moved) += 1;
    space = std::move(got);

    tracer = tracer.after_edit(editable.field(), report);
    const SweptTracer anew(editable.field(), {.margin = margin, .threads = {1}});
    SweptResults of_tracer, of_anew;
    const ShellMotion motion{.shell = {.from = Pose{{}, random.unit_vector() * size},
                                       .to = Pose{{}, random.in_unit_ball() * (0.3 * size)}}};
    tracer.trace(tree, motion, of_tracer);
    anew.trace(tree, motion, of_anew);
    ASSERT_EQ(of_tracer.intervals, of_anew.intervals);
    ASSERT_EQ(of_tracer.motions[0].time, of_anew.motions[0].time);
    ASSERT_EQ(of_tracer.motions[0].work.spheres, of_anew.motions[0].work.spheres);
    hits += of_anew.motions[0].hit_count > 0 ? 1 : 0;
  }
  EXPECT_GT(moved, 0);
  EXPECT_GT(stayed, 0);
  EXPECT_GT(hits, 0);
}

}  // namespace
}  // namespace isotact::detail
