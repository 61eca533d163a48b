#include "isotact/field/build/build_nodes.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

TriangleMesh holed_blob() {
  TriangleMesh blob = make_blob({.triangles = 4000});
  Random random(7);
  std::erase_if(blob.triangles, [&](const Triangle&) { return random.below(200) == 0; });
  return blob;
}

struct Case {
  TriangleMesh mesh;
  SignMethod sign = SignMethod::kAuto;
};
std::vector<Case> cases() {
  return {{.mesh = make_shape("gear")},
          {.mesh = holed_blob()},
          {.mesh = make_torus({}), .sign = SignMethod::kPseudonormal},
          {.mesh = make_torus({}), .sign = SignMethod::kUnsigned}};
}

Surface prepare(const Case& c, double voxel_size) {
  return prepare_surface(c.mesh, {.sign = c.sign, .voxel_size = voxel_size});
}

// Not a multiple of bricks.
Lattice uneven_lattice(const TriangleMesh& mesh, int cells) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box);
  const double h = std::max({size.x, size.y, size.z}) / (cells - 6);
  Lattice lattice{.origin = box.lower - Vec3{3, 3, 3} * h, .spacing = h};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] = static_cast<std::int32_t>(std::ceil(size[axis] / h)) + 6;
  return lattice;
}

TEST(BuildDenseGrid, AgreesWithTheExactFieldAtEveryNode) {
  for (const Case& c : cases()) {
    const Lattice lattice = uneven_lattice(c.mesh, unless_slow(29, 21));
    const Surface surface = prepare(c, lattice.spacing);
    const DenseGrid fast = build_dense_grid(surface, lattice);
    const DenseGrid slow = sample_on_lattice(ExactField(surface), lattice, {.holds_body = true});
    const Interval error = fast.parts().sample_error, doubt = slow.parts().sample_error;
    EXPECT_LE(error.upper, 0.003 * lattice.spacing);
    ASSERT_EQ(fast.samples().size(), slow.samples().size());
    std::size_t inside = 0;
    for (std::size_t i = 0; i < fast.samples().size(); ++i) {
      const auto a = static_cast<double>(fast.samples()[i]);
      const auto b = static_cast<double>(slow.samples()[i]);
      ASSERT_GE(b + doubt.upper, a + error.lower) << i;
      ASSERT_LE(b + doubt.lower, a + error.upper) << i;
      // A thousandth of a cell away signs are right.
      if (std::abs(b) > 0.0012 * lattice.spacing) {
        ASSERT_NEAR(a, b, 1e-4 * lattice.spacing) << i;
      }
      if (b < 0) ++inside;
    }
    EXPECT_GT(inside, fast.samples().size() / 100);
    EXPECT_LT(inside, fast.samples().size() / 2);
  }
}

TEST(BuildDenseGrid, OfAMeshHasTheLatticeOfTheBricks) {
  const TriangleMesh mesh = holed_blob();
  const DenseGridResult dense = build_dense_grid(mesh, {.resolution = 32});
  const FieldResult bricks = build_field(mesh, {.resolution = 32});
  EXPECT_EQ(dense.grid.lattice(), bricks.report.lattice);
  EXPECT_EQ(dense.sign.holes, bricks.report.sign.holes);
  EXPECT_GT(dense.sign.holes, 0U);
  const Vec3 middle = center(to_double(bounds(mesh)));
  EXPECT_NEAR(dense.grid.value(middle), bricks.field.value(middle), bricks.report.far_error);
}

TEST(BuildDenseGrid, HasTheSameBytesForAnyNumberOfThreads) {
  const TriangleMesh mesh = holed_blob();
  const DenseGrid one = build_dense_grid(mesh, {.resolution = 32, .threads = {1}}).grid;
  for (const int threads : {2, 5}) {
    const DenseGrid other = build_dense_grid(mesh, {.resolution = 32, .threads = {threads}}).grid;
    ASSERT_EQ(one.samples().size(), other.samples().size());
    EXPECT_EQ(0, std::memcmp(one.samples().data(), other.samples().data(), one.memory_bytes()));
    EXPECT_EQ(one.parts().sample_error.upper, other.parts().sample_error.upper);
  }
}

TEST(BuildDenseGrid, RefusesWhatItCannotDo) {
  const TriangleMesh mesh = make_torus({});
  const Surface surface = prepare({.mesh = mesh}, 0.1);
  Lattice lattice = uneven_lattice(mesh, 30);
  EXPECT_THROW(build_dense_grid(surface, lattice, {.max_memory = 1000}), Error);
  lattice.cells[1] /= 2;
  EXPECT_THROW(build_dense_grid(surface, lattice), Error);
  lattice.cells[1] = 0;
  EXPECT_THROW(build_dense_grid(surface, lattice), Error);
}

TEST(BuildFirstOrderField, IsThatOfTheExactField) {
  for (const Case& c : cases()) {
    const Lattice lattice = uneven_lattice(c.mesh, unless_slow(25, 19));
    const Surface surface = prepare(c, lattice.spacing);
    const FirstOrderField fast = build_first_order_field(surface, lattice);
    const FirstOrderField slow = sample_first_order(ExactField(surface), lattice);
    ASSERT_EQ(fast.buffer().size(), slow.buffer().size());
    EXPECT_EQ(0, std::memcmp(fast.buffer().data(), slow.buffer().data(), slow.buffer().size()));
  }
}

}  // namespace
}  // namespace isotact
