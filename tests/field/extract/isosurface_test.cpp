#include "isotact/field/extract/isosurface.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/extract/detail/cube_table.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"

namespace isotact {
namespace {

// Values that are noise at every node, as hard as it gets for the table; all of space is its box.
struct NoiseField {
  std::uint64_t seed;

  double value(const Vec3& p) const {
    Random random(seed + static_cast<std::uint64_t>(std::llround(p.x) + 64) +
                  1000 * static_cast<std::uint64_t>(std::llround(p.y) + 64) +
                  1000000 * static_cast<std::uint64_t>(std::llround(p.z) + 64));
    return random.uniform(-1, 1);
  }
  FieldSample sample(const Vec3& p) const { return {value(p), {}}; }
  Aabb bounds() const { return {}; }
  double lipschitz() const { return 10; }
  Interval range(const Aabb&) const { return {-1, 1}; }
  Interval distance_bounds(const Vec3&) const { return {-1e9, 1e9}; }
};

struct BallField {
  double radius;

  double value(const Vec3& p) const { return length(p) - radius; }
  FieldSample sample(const Vec3& p) const { return {value(p), normalized(p)}; }
  Aabb bounds() const { return {{-1e9, -1e9, -1e9}, {1e9, 1e9, 1e9}}; }
  double lipschitz() const { return 1; }
  Interval range(const Aabb& box) const {
    const Vec3 far = max(Vec3{} - box.lower, max(box.upper, box.lower - Vec3{}));
    return {std::sqrt(distance_sq(box, Vec3{})) - radius, length(far) - radius};
  }
  Interval distance_bounds(const Vec3& p) const { return {value(p), value(p)}; }
};

void expect_closed(const TriangleMesh& mesh, const std::string& what) {
  const MeshFlaws flaws = find_flaws(mesh);
  EXPECT_TRUE(flaws.watertight && flaws.watertight_as_stored) << what;
  EXPECT_TRUE(flaws.manifold) << what;
  EXPECT_TRUE(flaws.oriented) << what;
  EXPECT_EQ(flaws.degenerate, 0U) << what;
  EXPECT_EQ(flaws.unreferenced_vertices.count, 0U) << what;
  EXPECT_GT(flaws.volume.value_or(0), 0) << what;
}

TEST(CubeTable, TrianglesUseEveryCutAndNoOther) {
  for (std::uint32_t inner = 0; inner < 256; ++inner) {
    const detail::CubeCase& cube = detail::cube_cases()[inner];
    std::uint32_t cut = 0, used = 0;
    for (std::uint32_t e = 0; e < 12; ++e) {
      const detail::CubeEdge edge = detail::cube_edge(e);
      if (((inner >> edge.lower) & 1U) != ((inner >> edge.upper) & 1U)) cut |= 1U << e;
    }
    for (std::size_t t = 0; t < cube.triangle_count; ++t)
      for (const std::uint8_t e : cube.triangles[t]) used |= 1U << e;
    EXPECT_EQ(cut, cube.edges) << inner;
    EXPECT_EQ(used, cut) << inner;
  }
}

TEST(Isosurface, NoiseGivesClosedManifolds) {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const double level : {0.0, -0.5, 0.7}) {
      const TriangleMesh mesh =
          extract_surface(NoiseField{seed * 7919}, {.cells = {17, 9, 12}}, {.level = level});
      EXPECT_GT(mesh.triangles.size(), 1000U);
      expect_closed(mesh, "noise " + std::to_string(seed));
    }
}

TEST(Isosurface, BallOnALatticeOfItsOwnAndCutByIt) {
  const Lattice lattice{.origin = {-1.5, -1.5, -1.5}, .spacing = 0.05, .cells = {60, 60, 60}};
  const TriangleMesh ball = extract_surface(BallField{1}, lattice, {.level = 0.25});
  expect_closed(ball, "ball");
  const MeshFlaws flaws = find_flaws(ball);
  EXPECT_NEAR(*flaws.volume, 4 * kPi / 3 * 1.25 * 1.25 * 1.25, 0.02);
  EXPECT_NEAR(flaws.area, 4 * kPi * 1.25 * 1.25, 0.04);
  // At 0.8 more the ball is larger than the lattice: a box with rounded corners is left.
  const TriangleMesh cut = extract_surface(BallField{1}, lattice, {.level = 0.8});
  expect_closed(cut, "cut ball");
  EXPECT_LT(*find_flaws(cut).volume, 27);
  EXPECT_NEAR(static_cast<double>(bounds(cut).upper.x), 1.5, 0.001);
}

// The exact volume of a body grown by r around a convex body (Steiner's formula) or a torus.
TEST(Isosurface, GrownAndShrunkenTorusHasTheVolumeOfPappus) {
  const TriangleMesh torus = make_torus({.radius = 0.5, .tube_radius = 0.2});
  const BrickField field = build_field(torus, {.resolution = 64}).field;
  const double h = field.voxel_size();
  for (const double level : {-0.1, -0.03, 0.0, 0.05, 0.12}) {
    const TriangleMesh mesh = extract_surface(field, {.level = level});
    expect_closed(mesh, "torus at " + std::to_string(level));
    const double r = 0.2 + level;
    const MeshFlaws flaws = find_flaws(mesh);
    EXPECT_NEAR(*flaws.volume, 2 * kPi * 0.5 * kPi * r * r, 0.05 * kPi * kPi * r * r) << level;
    EXPECT_NEAR(flaws.area, 2 * kPi * 0.5 * 2 * kPi * r, 0.06 * kPi * kPi * r) << level;
    double worst = 0;
    for (const Vec3f& p : mesh.positions)
      worst = std::max(worst, std::abs(field.value(to_double(p)) - level));
    EXPECT_LT(worst, 0.03 * h) << level;
  }
}

TEST(Isosurface, LeavesTheBoxAndStaysClosed) {
  const BrickField field =
      build_field(make_box({.size_y = 0.6, .size_z = 0.4}), {.resolution = 40}).field;
  double beyond = 0;
  for (const double level : {0.1, 0.3, 1.0}) {
    const TriangleMesh mesh = extract_surface(field, {.level = level});
    expect_closed(mesh, "box at " + std::to_string(level));
    // Steiner: V + A r + M r^2 + 4/3 pi r^3, with the mean width's M of a box. Outside of its box a
    // field is a lower bound: the surface lies outside of the true one, never inside.
    const double exact = 0.24 + 2 * (0.6 + 0.4 + 0.24) * level +
                         kPi * (1 + 0.6 + 0.4) * level * level +
                         4 * kPi / 3 * level * level * level;
    const double volume = *find_flaws(mesh).volume;
    EXPECT_GT(volume, 0.985 * exact) << level;
    EXPECT_LT(volume, 1.8 * exact) << level;
    for (const Vec3f& p : mesh.positions)
      if (!contains(field.bounds(), to_double(p))) beyond += 1;
  }
  EXPECT_GT(beyond, 10000);
}

TEST(Isosurface, EveryShapeIsClosedAtEveryValueAndStride) {
  std::size_t meshes = 0;
  for (const char* name : {"gear", "bowl"}) {
    const BrickField field = build_field(make_shape(name, {}), {.resolution = 48}).field;
    const double h = field.voxel_size();
    for (const double cells : {-1.0, 0.0, 2.5, 9.0})
      for (const int stride : {1, 3}) {
        const TriangleMesh mesh = extract_surface(field, {.level = cells * h, .stride = stride});
        if (mesh.triangles.empty()) continue;
        expect_closed(mesh, std::string(name) + " at " + std::to_string(cells));
        ++meshes;
      }
  }
  EXPECT_GT(meshes, 13U);
}

TEST(Isosurface, SameMeshForAnyNumberOfThreads) {
  const BrickField field = build_field(make_shape("gear", {}), {.resolution = 48}).field;
  const auto hash = [&](int threads) {
    const TriangleMesh mesh = extract_surface(field, {.threads = {threads}});
    return std::array{hash_range(mesh.positions), hash_range(mesh.triangles)};
  };
  EXPECT_EQ(hash(1), hash(2));
  EXPECT_EQ(hash(1), hash(7));
}

TEST(Isosurface, RefusesWhatCannotBeAndIsEmptyWhereThereIsNothing) {
  const BrickField field = build_field(make_sphere({}), {.resolution = 32}).field;
  EXPECT_TRUE(extract_surface(field, {.level = -100}).triangles.empty());
  EXPECT_THROW(extract_surface(field, {.level = std::nan("")}), Error);
  EXPECT_THROW(extract_surface(field, {.level = 1e12}), Error);
  EXPECT_THROW(extract_surface(field, {.level = 1e3}), Error);
  EXPECT_THROW(extract_surface(field, {.stride = 0}), Error);
  EXPECT_THROW(extract_surface(field, {.max_triangles = 100}), Error);
  EXPECT_THROW(extract_surface(BallField{1}, Lattice{}), Error);
  EXPECT_THROW(extract_surface(BallField{1}, {.cells = {1, 1, 2147483647}}), Error);
}

// Where faces lay on planes of nodes, crumbs stood alone at corners and along edges.
TEST(Isosurface, ABoxComesOutInOnePiece) {
  for (const double size : {1.0, 0.3}) {
    const TriangleMesh box = make_box({.size_y = size});
    for (const FieldSettings& settings :
         {FieldSettings{.resolution = 64}, FieldSettings{.voxel_size = 0.02},
          FieldSettings{.resolution = 96, .padding = 9}}) {
      const TriangleMesh surface = extract_surface(build_field(box, settings).field);
      EXPECT_EQ(find_flaws(surface).components, 1U);
    }
  }
}

// What was wrong: minutes of work, and only then too many triangles.
TEST(ExtractSurface, FarOutsideTrianglesAreEstimatedAndRefusedBeforeWork) {
  const BrickField field = build_field(make_torus({}), {.resolution = 24}).field;
  EXPECT_EQ(estimate_triangles(field, 0, 1), 0);  // inside of the box
  const double side = extent(field.bounds()).x;
  for (const double level : {side, 3 * side}) {
    for (const int stride : {1, 3}) {
      const auto made = static_cast<double>(
          extract_surface(field, {.level = level, .stride = stride}).triangles.size());
      EXPECT_GT(estimate_triangles(field, level, stride), made / 2) << level << " " << stride;
      EXPECT_LT(estimate_triangles(field, level, stride), made * 2) << level << " " << stride;
    }
  }
  EXPECT_THROW(extract_surface(field, {.level = 2000 * side}), Error);
  EXPECT_THROW(extract_surface(field, {.level = 1e300}), Error);
}

}  // namespace
}  // namespace isotact
