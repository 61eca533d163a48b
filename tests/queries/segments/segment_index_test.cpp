#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/segments/detail/batch_tracer.h"
#include "isotact/queries/segments/detail/segment_slab.h"

#include "queries/points/shape_field.h"

namespace isotact::detail {
namespace {

enum class Claim { kNone, kFree, kSlabOfMacro, kFreeCell, kSlabOfCell, kFreeBlock, kCount };

struct Told {
  Claim by;
  bool inside;
};

// Below or above a slab, by a good deal.
bool is_beside(const SegmentSlab& slab, const Vec3& at, unsigned sides, bool& inside) {
  double on = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    on += static_cast<double>(slab.normal[axis]) * at[axis];
  if (on > static_cast<double>(slab.least) && on < static_cast<double>(slab.most)) return false;
  inside = (sides >> (on >= static_cast<double>(slab.most) ? 1U : 0U) & 1U) != 0;
  return true;
}

// What the index says of the side of a point, given in cells.
Told ask(const SegmentIndex& index, const Vec3& at, std::size_t octant) {
  Index3 macro{}, coarse{}, fine{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fine[axis] = static_cast<std::int32_t>(at[axis]);
    coarse[axis] = fine[axis] / kBrickCells;
    macro[axis] = fine[axis] / kMacroCells;
  }
  const std::size_t n = flat_index(index.macros, macro[0], macro[1], macro[2]);
  const int cube = index.free_cubes[octant * count(index.macros) + n];
  if (cube != 0) return {Claim::kFree, cube < 0};
  const std::uint32_t place = index.place_of(n);
  const IndexedMacro& entry = index.occupied_macros[place];
  bool inside = false;
  if (is_beside(entry.slab, at, entry.inside, inside)) return {Claim::kSlabOfMacro, inside};
  const auto bit = static_cast<unsigned>(((coarse[2] & 3) * 4 + (coarse[1] & 3)) * 4) +
                   static_cast<unsigned>(coarse[0] & 3);
  const MacroMasks& masks = index.masks[place];
  if ((masks.indexed >> bit & 1U) == 0) return {Claim::kFreeCell, (masks.inside >> bit & 1U) != 0};
  const std::uint64_t before = masks.indexed & ((std::uint64_t{1} << bit) - 1);
  const IndexedCell& cell =
      index.cells[entry.first + static_cast<std::uint32_t>(__builtin_popcountll(before))];
  if (is_beside(cell.slab, at, cell.inside, inside)) return {Claim::kSlabOfCell, inside};
  if (cell.first_block == IndexedCell::kNoBlocks) return {Claim::kNone, false};
  const auto block =
      static_cast<unsigned>((fine[0] >> 2 & 1) | (fine[1] >> 2 & 1) << 1 | (fine[2] >> 2 & 1) << 2);
  if ((cell.blocks >> block & 1) != 0) return {Claim::kNone, false};
  return {Claim::kFreeBlock, (cell.inside_blocks >> block & 1) != 0};
}

// Every place that the index puts on one side is there, and every kind of claim is made.
TEST(SegmentIndex, TellsTheSideOfAPlace) {
  int claims[static_cast<int>(Claim::kCount)] = {};
  for (const char* shape : {"gear", "knot", "bowl"}) {
    const BrickField field = make_field(shape, 64);
    const Lattice& lattice = field.lattice();
    for (const double cells : {0.0, -1.3, 2.5, 12.0}) {
      const double margin = cells * field.voxel_size();
      const SegmentIndex index = build_segment_index(field, {.center = margin, .reach = 0, .threads = {1}});
      Random random(5);
      for (int i = 0; i < 10000; ++i) {
        Vec3 p = random.in_box(field.bounds().lower, field.bounds().upper);
        // Half of them near the isosurface.
        if (i % 2 == 0)
          for (int step = 0; step < 3; ++step) {
            const FieldSample s = field.sample(p);
            p -= s.gradient * ((s.distance - margin) / std::max(0.1, length_sq(s.gradient)));
            if (step == 2) p += random.in_unit_ball() * (2 * field.voxel_size());
            if (!contains(field.bounds(), p)) p = center(field.bounds());
          }
        Vec3 at = (p - lattice.origin) * (1 / lattice.spacing);
        for (std::size_t axis = 0; axis < 3; ++axis)
          at[axis] = std::clamp(at[axis], 0.0, lattice.cells[axis] - 1e-9);
        const Told told = ask(index, at, static_cast<std::size_t>(i) & 7U);
        ++claims[static_cast<int>(told.by)];
        if (told.by != Claim::kNone) {
          ASSERT_EQ(told.inside, field.value(p) <= margin)
              << shape << " margin " << cells << " claim " << static_cast<int>(told.by);
        }
      }
    }
  }
  for (const int n : claims) EXPECT_GT(n, 100);
}

// Cubes against all of their macro cells; none could be larger.
TEST(SegmentIndex, CubesAreFreeAndLargest) {
  const BrickField field = make_field("knot", 192);
  const SegmentIndex index = build_segment_index(field, {.reach = 0, .threads = {2}});
  const Index3 m = index.macros;
  const auto is_free = [&](std::size_t octant, const Index3& from, int size) {
    for (int k = 0; k < size * size * size; ++k) {
      const int by[3] = {k % size, k / size % size, k / size / size};
      Index3 c = from;
      bool in_box = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        c[axis] += (octant >> axis & 1U) != 0 ? -by[axis] : by[axis];
        in_box = in_box && c[axis] >= 0 && c[axis] < m[axis];
      }
      if (in_box && index.free_cubes[flat_index(m, c[0], c[1], c[2])] == 0) return false;
    }
    return true;
  };
  int large = 0;
  for (std::size_t octant = 0; octant < 8; ++octant)
    for (std::int32_t z = 0; z < m[2]; ++z)
      for (std::int32_t y = 0; y < m[1]; ++y)
        for (std::int32_t x = 0; x < m[0]; ++x) {
          const int cube =
              std::abs(int{index.free_cubes[octant * count(m) + flat_index(m, x, y, z)]});
          if (cube > 30) continue;  // reaches out of the box
          ASSERT_TRUE(is_free(octant, {x, y, z}, cube));
          ASSERT_FALSE(is_free(octant, {x, y, z}, cube + 1));
          large += cube > 1 ? 1 : 0;
        }
  EXPECT_GT(large, 10);
}

// Kernels for wide processors give the bits of the others.
TEST(SegmentIndex, KernelsGiveTheSameBits) {
  if (simd_level_of_cpu() == SimdLevel::kBaseline) GTEST_SKIP() << "this processor has one kernel";
  std::size_t found = 0;
  for (const char* shape : {"gear", "terrain"}) {
    const BrickField field = make_field(shape, 80);
    for (const double cells : {0.0, 6.0}) {
      const auto margin = static_cast<float>(cells * field.voxel_size());
      const SegmentIndex index = build_segment_index(
          field, {.center = static_cast<double>(margin), .reach = 0, .threads = {1}});
      BatchTracer narrow(field, index, margin, SimdLevel::kBaseline),
          wide(field, index, margin, SimdLevel::kAvx2);
      Random random(8);
      for (std::size_t batch = 0; batch < 10; ++batch) {
        std::vector<Segment> segments(kBatchSegments - batch);
        for (Segment& s : segments) {
          s.from = to_float(random.in_box(field.bounds().lower, field.bounds().upper));
          s.to = to_float(random.in_box(field.bounds().lower, field.bounds().upper));
          if (random.below(4) == 0) s.to[random.below(3)] *= 3;
        }
        SegmentWork a, b;
        narrow.run(segments, a);
        wide.run(segments, b);
        ASSERT_EQ(a.nodes, b.nodes);
        ASSERT_EQ(a.cells, b.cells);
        ASSERT_EQ(a.cubics, b.cubics);
        std::vector<SegmentInterval> of_narrow, of_wide;
        for (std::size_t i = 0; i < segments.size(); ++i) {
          ASSERT_EQ(narrow.is_sure(i), wide.is_sure(i));
          if (!narrow.is_sure(i)) continue;
          narrow.append(i, Mode::kAll, of_narrow);
          wide.append(i, Mode::kAll, of_wide);
        }
        ASSERT_EQ(of_narrow, of_wide);
        found += of_wide.size();
      }
    }
  }
  EXPECT_GT(found, 2000U);
}

}  // namespace
}  // namespace isotact::detail
