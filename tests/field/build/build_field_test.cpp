// From meshes to brick fields, held against exact distances and winding numbers.
#include "isotact/field/build/build_field.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "field/field_points.h"
#include "field/models/joined.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

TriangleMesh holed_sphere() {
  TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 12});
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return mesh.positions[t[0]].y > 0.42F || mesh.positions[t[1]].x < -0.46F;
  });
  return mesh;
}

struct Truth {
  double p99 = 0, worst = 0;  // cells, nearer than four
  std::size_t near = 0, inside = 0, sparse = 0;
};

// Holds a field against the exact one of the same surface, near the surface and in the box.
Truth compare(const TriangleMesh& mesh, const FieldSettings& settings, std::size_t points) {
  const FieldResult built = build_field(mesh, settings);
  EXPECT_EQ(find_flaw_in_brick_field(built.field.buffer()), std::nullopt);
  const double h = built.field.voxel_size();
  const ExactField exact(prepare_surface(mesh, {.sign = settings.sign,
                                                .nested = settings.nested,
                                                .voxel_size = h,
                                                .shell_offset = settings.shell_offset}));
  Random random(11);
  Truth truth;
  std::vector<double> errors;
  for (std::size_t i = 0; i < points; ++i) {
    const Vec3 p =
        rounded(i % 2 == 0 ? random_surface_point(mesh, random) + random.in_unit_ball() * (4 * h)
                           : random_in_box(built.field.bounds(), random));
    const double d = exact.value(p), value = built.field.value(p);
    const double off = std::abs(value - d);
    truth.inside += d < 0 ? 1 : 0;
    if (std::abs(d) > h) {
      EXPECT_EQ(value < 0, d < 0) << p.x << " " << p.y << " " << p.z;
    }
    if (std::abs(d) < 4 * h) {
      errors.push_back(off / h);
      EXPECT_LE(off, built.report.near_error);
    }
    const bool is_sparse =
        built.report.sparse_from > 0 && std::abs(value) >= built.report.sparse_from;
    truth.sparse += is_sparse ? 1 : 0;
    EXPECT_LE(off, is_sparse ? built.report.sparse_error : built.report.far_error);
    const Interval bounds = built.field.distance_bounds(p);
    EXPECT_LE(bounds.lower, d + 1e-4 * h);
    EXPECT_GE(bounds.upper, d - 1e-4 * h);
  }
  truth.near = errors.size();
  truth.p99 = quantile(errors, 0.99);
  truth.worst = quantile(errors, 1);
  return truth;
}

TEST(BuildField, IsRightOnSmoothShapes) {
  for (const TriangleMesh& mesh : {make_sphere({.radius = 0.5, .frequency = 24}),
                                   make_torus({.segments = 192, .tube_segments = 64})}) {
    const std::size_t points = unless_slow(4000U, 800U);
    const Truth truth = compare(mesh, {.resolution = unless_slow(128, 80)}, points);
    EXPECT_GT(truth.near, points / 4);
    EXPECT_GT(truth.inside, points / 40);
    EXPECT_LT(truth.p99, 0.1);
    EXPECT_LT(truth.worst, 0.1);
  }
}

// Far away coarse nodes are interpolated, and bounds know of it.
TEST(BuildField, IsRightFarFromTheSurface) {
  FieldSettings settings{.resolution = 400, .padding = 160};
  const std::size_t points = unless_slow(1000U, 100U);
  EXPECT_GT(compare(make_shape("nut", {}), settings, 3 * points).sparse, points);
  if (!kSlowBuild) {
    EXPECT_GT(compare(holed_sphere(), settings, points).sparse, points * 3 / 10);
  }
  settings.sign = SignMethod::kUnsigned;
  EXPECT_GT(compare(make_shape("nut", {}), settings, points).sparse, points * 3 / 10);
  if (kSlowBuild) return;
  settings.keep_thin = KeepThin::kOffset;
  compare(make_shape("nut", {}), settings, points);
  settings.tolerance = 0.05;
  settings.band = 12;
  compare(make_shape("nut", {}), settings, points);
}

// Nodes that are distances among those that are interpolated bring values below sparse_from that
// are off by more than far_error: seen on small bodies so far apart that a block is just sparse.
TEST(BuildField, SparseErrorsBeginEarlyEnough) {
  TriangleMesh mesh;
  const auto add = [&](const Vec3& at) {
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (const Vec3f& corner :
         {Vec3f{0, 0, 0}, Vec3f{0.01F, 0, 0}, Vec3f{0, 0.01F, 0}, Vec3f{0, 0, 0.01F}})
      mesh.positions.push_back(corner + to_float(at));
    for (const Triangle& t :
         {Triangle{0, 2, 1}, Triangle{0, 1, 3}, Triangle{0, 3, 2}, Triangle{1, 2, 3}})
      mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  };
  for (int i = 0; i < 8; ++i)
    add(normalized(
            Vec3{(i & 1) != 0 ? 1.0 : -1.0, (i & 2) != 0 ? 1.0 : -1.0, (i & 4) != 0 ? 1.0 : -1.0}) *
        70.87);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const double side : {-64.7, 64.7}) {
      Vec3 at{};
      at[axis] = side;
      add(at);
    }
  const Surface surface = prepare_surface(mesh, {.voxel_size = 1});
  const FieldResult built =
      build_field(surface, {.origin = {-104, -104, -104}, .spacing = 1, .cells = {208, 208, 208}},
                  {.voxel_size = 1, .tolerance = 1, .keep_thin = KeepThin::kIgnore});
  const ExactField exact(surface);
  int sparse = 0;
  Random random(19);
  for (int i = 0; i < 4000; ++i) {
    const Vec3 p = random.in_box({-20, -20, -20}, {20, 20, 20});
    const double value = built.field.value(p);
    const bool is_sparse = std::abs(value) >= built.report.sparse_from;
    sparse += is_sparse ? 1 : 0;
    EXPECT_LE(std::abs(value - exact.value(p)),
              is_sparse ? built.report.sparse_error : built.report.far_error);
  }
  EXPECT_GT(sparse, 400);
}

// The middle of a ball is far from all of its surface, too.
TEST(BuildField, IsRightFarInside) {
  const std::size_t points = unless_slow(3000U, 600U);
  const Truth truth =
      compare(make_sphere({.radius = 0.5, .frequency = 10}), {.resolution = 320}, points);
  EXPECT_GT(truth.sparse, points / 15);
}

TEST(BuildField, IsRightOnEdgesAndThreads) {
  for (const char* shape :
       unless_slow<std::vector<const char*>>({"gear", "knot", "box", "bolt"}, {"gear", "bolt"})) {
    const std::size_t points = unless_slow(3000U, 600U);
    const Truth truth =
        compare(make_shape(shape, {}), {.resolution = unless_slow(128, 96)}, points);
    EXPECT_GT(truth.near, points / 6) << shape;
    EXPECT_LT(truth.p99, 0.4) << shape;  // edges round off
    EXPECT_LT(truth.worst, 0.6) << shape;
  }
}

TEST(BuildField, SignsEveryKindOfMesh) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 10});
  const TriangleMesh small = make_sphere({.radius = 0.25, .frequency = 6});
  TriangleMesh some_flipped = ball;
  for (std::size_t i = 0; i < some_flipped.triangles.size(); i += 7)
    std::swap(some_flipped.triangles[i][1], some_flipped.triangles[i][2]);
  struct Case {
    const char* name;
    TriangleMesh mesh;
    NestedRule nested;
  };
  const Case cases[] = {
      {"clean", ball, NestedRule::kWinding},
      {"inward", turned(ball), NestedRule::kWinding},
      {"flipped", some_flipped, NestedRule::kWinding},
      {"holed", holed_sphere(), NestedRule::kWinding},
      {"nested", joined(ball, small), NestedRule::kWinding},
      {"nested, even-odd", joined(ball, small), NestedRule::kEvenOdd},
      {"cavity", joined(ball, turned(small)), NestedRule::kWinding},
      {"overlapping", joined(ball, ball, {0.4F, 0.1F, 0}), NestedRule::kWinding},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::size_t points = unless_slow(1500U, 300U);
    const Truth truth =
        compare(c.mesh, {.resolution = unless_slow(64, 48), .nested = c.nested}, points);
    EXPECT_GT(truth.inside, points / 30);
  }
}

TEST(BuildField, SaysWherePartsOverlap) {
  const TriangleMesh box = make_box({.size_x = 1, .size_y = 1, .size_z = 1});
  const auto report = [](const TriangleMesh& mesh, NestedRule nested, int threads) {
    return build_field(mesh, {.resolution = 64, .nested = nested, .threads = {threads}}).report;
  };
  const TriangleMesh overlapping = joined(box, box, {0.5F, 0.5F, 0.5F});
  const FieldReport two = report(overlapping, NestedRule::kWinding, 1);
  EXPECT_NEAR(two.overlap_volume, 0.125, 0.01);
  EXPECT_NEAR(two.overlap_share, 0.125 / 1.875, 0.005);
  ASSERT_EQ(two.warnings.size(), 1U);
  EXPECT_NE(two.warnings[0].find("parts overlap"), std::string::npos) << two.warnings[0];
  const FieldReport again = report(overlapping, NestedRule::kWinding, 3);
  EXPECT_EQ(again.overlap_volume, two.overlap_volume);
  EXPECT_EQ(again.warnings, two.warnings);
  // Where it is a cavity, it is none of the body's.
  const FieldReport odd = report(overlapping, NestedRule::kEvenOdd, 1);
  EXPECT_GT(odd.overlap_volume, 0.1);
  EXPECT_TRUE(odd.warnings.empty());
  EXPECT_EQ(report(box, NestedRule::kWinding, 1).overlap_volume, 0);
  EXPECT_EQ(report(joined(box, box, {1.5F, 0, 0}), NestedRule::kWinding, 1).overlap_volume, 0);
}

// Two boxes with a side in common: no zeros in the middle.
TEST(BuildField, PartsThatShareASideHaveNoWallBetweenThem) {
  const TriangleMesh box = make_box({.size_x = 1, .size_y = 1, .size_z = 1});
  const FieldResult built = build_field(joined(box, box, {1, 0, 0}), {.resolution = 64});
  EXPECT_NEAR(built.field.value({0.5, 0, 0}), -0.5, 0.05);
  EXPECT_EQ(built.report.overlap_volume, 0);
  EXPECT_EQ(built.report.sign.cancelled_pairs, 2U);
}

// A soup has no inside: the field is the shell around its triangles.
TEST(BuildField, FallsBackToAShell) {
  Random random(12);
  TriangleMesh soup;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const Vec3 middle = random.in_unit_ball();
    for (int k = 0; k < 3; ++k)
      soup.positions.push_back(to_float(middle + random.in_unit_ball() * 0.2));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const FieldResult built = build_field(soup, {.resolution = 64});
  EXPECT_EQ(built.report.sign.method, SignMethod::kUnsigned);
  EXPECT_FALSE(built.report.sign.reason.empty());
  EXPECT_GT(compare(soup, {.resolution = 64}, 2000).inside, 100U);
}

// A shell thicker than the padding once left the box, and values outside of it were no lower
// bounds.
TEST(BuildField, BoxesHoldThickShells) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 10});
  const FieldResult built = build_field(
      ball, {.resolution = unless_slow(64, 24), .sign = SignMethod::kUnsigned, .shell_offset = 2});
  Random random(14);
  int outside = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random.in_unit_ball() * 8.0;
    const double d = std::abs(length(p) - 0.5) - 2;
    outside += contains(built.field.bounds(), p) ? 0 : 1;
    EXPECT_LE(built.field.value(p), d + built.report.far_error);
    const Interval bounds = built.field.distance_bounds(p);
    EXPECT_LE(bounds.lower, d + 0.01);
    EXPECT_GE(bounds.upper, d - 0.01);
  }
  EXPECT_GT(outside, 500);
}

// Corrections are zero towards cells without bricks, which makes the field steep there: the bound
// must know of it.
TEST(BuildField, NoCellIsSteeperThanTheBound) {
  for (const char* shape : {"gear", "box", "bolt"}) {
    const BrickField field = build_field(make_shape(shape, {}), {.resolution = 48}).field;
    const Lattice& l = field.lattice();
    double steepest = 0;
    for (std::int32_t z = 0; z < l.cells[2]; ++z)
      for (std::int32_t y = 0; y < l.cells[1]; ++y)
        for (std::int32_t x = 0; x < l.cells[0]; ++x) {
          const double v = static_cast<double>(field.node_value(x, y, z));
          const Vec3 slope{static_cast<double>(field.node_value(x + 1, y, z)) - v,
                           static_cast<double>(field.node_value(x, y + 1, z)) - v,
                           static_cast<double>(field.node_value(x, y, z + 1)) - v};
          steepest = std::max(steepest, length(slope) / l.spacing);
        }
    EXPECT_GE(field.lipschitz(), steepest) << shape;
    EXPECT_GT(steepest, 1.0) << shape;
    EXPECT_LT(field.lipschitz(), 8.0) << shape;
  }
}

// Two nested open bowls: the membrane between their rims bulges out of the mesh's box.
TEST(BuildField, BoxesHoldMembranes) {
  TriangleMesh bowls = make_sphere({.radius = 0.5, .frequency = 12});
  bowls = joined(bowls, turned(make_sphere({.radius = 0.45, .frequency = 12})));
  std::erase_if(bowls.triangles, [&](const Triangle& t) {
    return bowls.positions[t[0]].z > 0 && bowls.positions[t[1]].z > 0;
  });
  EXPECT_EQ(find_flaw_in_brick_field(build_field(bowls, {.resolution = 128}).field.buffer()),
            std::nullopt);
  const Surface ball = prepare_surface(make_sphere({}), {.voxel_size = 0.05});
  const Lattice half{.origin = {0, 0, 0}, .spacing = 0.05, .cells = {32, 32, 32}};
  EXPECT_THROW(build_field(ball, half, {}), Error);
  EXPECT_THROW(
      build_field(ball, {.origin = {-1, -1, -1}, .spacing = 0.05, .cells = {50, 50, 50}}, {}),
      Error);
}

// Faces that run almost along grid lines once put crossings anywhere within their triangles, and
// nodes tens of cells away got the wrong sign.
TEST(BuildField, SignsPrismsThatLieAlmostAlongLines) {
  Random random(15);
  for (int i = 0; i < 40; ++i) {
    TriangleMesh prism = make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.6});
    const double h = 1.0 / (64 - 12);
    for (Vec3f& p : prism.positions) p.y += static_cast<float>(random.uniform(-0.02, 0.02) * h);
    const FieldResult built = build_field(prism, {.resolution = 64});
    const ExactField exact(prepare_surface(prism, {.voxel_size = h}));
    const Index3 n = built.field.lattice().cells;
    for (int k = 0; k < 400; ++k) {
      const Index3 at{static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n[0]))),
                      static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n[1]))),
                      static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n[2])))};
      const double d = exact.value(node_position(built.field.lattice(), at[0], at[1], at[2]));
      if (std::abs(d) < 0.2 * h) continue;
      EXPECT_EQ(built.field.node_value(at[0], at[1], at[2]) < 0, d < 0);
    }
  }
}

// Needles and collinear triangles, whose normals are noise.
TEST(BuildField, MeasuresSlivers) {
  Random random(16);
  TriangleMesh soup;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const Vec3 a = random.in_unit_ball(), b = random.in_unit_ball();
    const Vec3 c =
        lerp(a, b, random.uniform(0.0, 1.0)) + random.in_unit_ball() * (i % 3 == 0 ? 0.0 : 1e-6);
    for (const Vec3& p : {a, b, c}) soup.positions.push_back(to_float(p));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const Truth truth =
      compare(soup, {.resolution = 96, .sign = SignMethod::kUnsigned, .tolerance = 1}, 4000);
  EXPECT_GT(truth.near, 1000U);
}

TEST(BuildField, GivesTheSameBytesForAnyNumberOfThreads) {
  const TriangleMesh mesh = joined(make_shape("knot", {}), holed_sphere(), {2, 0, 0});
  std::uint64_t first = 0;
  for (const int threads : {1, 2, 7}) {
    const FieldResult built = build_field(mesh, {.resolution = 96, .threads = {threads}});
    const std::uint64_t hash = hash_bytes(built.field.buffer());
    if (threads == 1) first = hash;
    EXPECT_EQ(hash, first) << threads;
  }
}

TEST(BuildField, GivesTheSameBitsOnEveryProcessor) {
  if (simd_level_of_cpu() == SimdLevel::kBaseline) GTEST_SKIP() << "no wider kernels here";
  const TriangleMesh mesh = make_shape("gear", {});
  const Surface surface = prepare_surface(mesh, {.voxel_size = 0.01});
  const FieldResult built = build_field(mesh, {.resolution = 64});
  const Bvh bvh(surface.mesh);
  const Lattice& lattice = built.report.lattice;
  const detail::DistancePass narrow(surface.mesh, bvh, lattice, {1}, SimdLevel::kBaseline);
  const detail::DistancePass wide(surface.mesh, bvh, lattice, {1}, SimdLevel::kAvx2);
  EXPECT_EQ(narrow.compute_coarse({}, {}), wide.compute_coarse({}, {}));
  const std::vector<float> coarse = narrow.compute_coarse({}, {});
  detail::CellBits all({lattice.cells[0] / 8, lattice.cells[1] / 8, lattice.cells[2] / 8});
  detail::mark_near(surface.mesh, lattice, 5, {1}, all);
  std::uint64_t hashes[2] = {0, 0};
  const detail::DistancePass* passes[2] = {&narrow, &wide};
  for (int i = 0; i < 2; ++i)
    passes[i]->for_each_brick({all, all, coarse, {-10, 10}, 0}, {},
                              [&](const Index3&, std::span<float> distance, unsigned exact) {
                                hashes[i] = hash_range(distance, hashes[i] + exact);
                              });
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], 0U);
}

// By lists of triangles, by walks through the hierarchy, and by lists that walks make: one result.
TEST(DistancePass, ListsAndWalksGiveTheSameBits) {
  const std::map<std::string, double> small_gear{{"teeth", 8}, {"bore_radius", 0.005}};
  for (const bool round : {false, true}) {
    const TriangleMesh mesh =
        round ? make_sphere({.radius = 0.5, .frequency = unless_slow(24, 10)})
              : make_shape("gear", kSlowBuild ? small_gear : std::map<std::string, double>{});
    const Surface surface = prepare_surface(mesh, {.voxel_size = 0.02});
    const Lattice lattice = plan_lattice(mesh, {.resolution = unless_slow(48, 32)});
    const Bvh bvh(surface.mesh);
    detail::CellBits near({lattice.cells[0] / 8, lattice.cells[1] / 8, lattice.cells[2] / 8});
    detail::mark_near(surface.mesh, lattice, 5, {1}, near);
    detail::CellBits whole(near.cells());
    for (std::size_t w = 0; w < whole.words().size(); ++w)
      whole.words()[w] = near.words()[w] & 0x3333cccc3333ccccULL;  // every other one
    for (const SimdLevel level : {SimdLevel::kBaseline, simd_level()}) {
      std::vector<std::uint64_t> hashes;
      for (const std::size_t longest : {std::size_t{1} << 30U, std::size_t{0}, std::size_t{150}}) {
        detail::DistancePass pass(surface.mesh, bvh, lattice, {1}, level);
        pass.set_longest_list(longest);
        const std::vector<float> coarse = pass.compute_coarse({}, {});
        hashes.push_back(0);
        pass.for_each_brick({near, whole, coarse, {-5.8, 5.8}, 0}, {},
                            [&](const Index3&, std::span<float> distance, unsigned exact) {
                              hashes.back() = hash_range(distance, hashes.back() + exact);
                            });
      }
      EXPECT_EQ(hashes[0], hashes[1]);
      EXPECT_EQ(hashes[0], hashes[2]);
    }
  }
}

// Every sample of the coarse level and of bricks, against brute force.
TEST(BuildField, SamplesAreExact) {
  for (const char* shape : {"nut", "bowl"}) {
    const TriangleMesh mesh = make_shape(shape, {});
    const FieldResult built = build_field(mesh, {.resolution = 64});
    const ExactField exact(prepare_surface(mesh, {.voxel_size = built.field.voxel_size()}));
    const BrickFieldHeader& h = built.field.header();
    const Lattice coarse = built.field.coarse_lattice();
    const Index3 nodes = node_counts(coarse);
    for (std::int32_t z = 0; z < nodes[2]; ++z)
      for (std::int32_t y = 0; y < nodes[1]; ++y)
        for (std::int32_t x = 0; x < nodes[0]; ++x)
          EXPECT_NEAR(static_cast<double>(built.field.coarse_values()[flat_index(nodes, x, y, z)]),
                      exact.value(node_position(coarse, x, y, z)),
                      static_cast<double>(h.sample_error));
    Random random(13);
    int checked = 0;
    const int points = unless_slow(20000, 4000);
    for (int i = 0; i < points; ++i) {
      const Vec3 p = random_in_box(built.field.bounds(), random);
      const CellPoint at = locate(built.field.lattice(), p);
      const Vec3 node = node_position(built.field.lattice(), at.cell[0], at.cell[1], at.cell[2]);
      const double d = exact.value(node);
      if (std::abs(d) > 5 * built.field.voxel_size()) continue;
      ++checked;
      EXPECT_NEAR(static_cast<double>(built.field.node_value(at.cell[0], at.cell[1], at.cell[2])),
                  d, static_cast<double>(h.sample_error) + 0.51 * static_cast<double>(h.step));
    }
    EXPECT_GT(checked, points / 10);
  }
}

TEST(BuildField, RefusesImpossibleSettings) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 4});
  const auto message = [&](const FieldSettings& s) -> std::string {
    try {
      build_field(ball, s);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({.resolution = 64, .voxel_size = 0.1}).find("choose one"), std::string::npos);
  EXPECT_NE(message({.resolution = 0}).find("resolution 0"), std::string::npos);
  EXPECT_NE(message({.resolution = 1 << 20}).find("resolution"), std::string::npos);
  EXPECT_NE(message({.voxel_size = -1.0}).find("voxel size"), std::string::npos);
  EXPECT_NE(message({.voxel_size = 1e-9}).find("cells"), std::string::npos);
  EXPECT_NE(message({.resolution = 64, .padding = 40}).find("padding"), std::string::npos);
  EXPECT_NE(message({.resolution = 512, .max_memory = 1 << 20}).find("MB"), std::string::npos);
  EXPECT_NE(message({.tolerance = -1}).find("tolerance"), std::string::npos);
  EXPECT_THROW(build_field(TriangleMesh{}, {}), Error);
  TriangleMesh point = ball;
  for (Vec3f& p : point.positions) p = {1, 2, 3};
  EXPECT_THROW(build_field(point, {}), Error);
}

TEST(BuildField, StopsWhenCancelled) {
  CancelToken cancel;
  FieldSettings settings{.resolution = 128};
  settings.monitor.cancel = &cancel;
  settings.monitor.on_progress = [&](const ProgressReport& report) {
    if (report.done == 2) cancel.cancel();
  };
  EXPECT_THROW(build_field(make_shape("gear", {}), settings), Cancelled);
}

// A mesh far from the origin, where floats are coarse, and one that is tiny.
TEST(BuildField, WorksFarAwayAndAtAnySize) {
  for (const float scale : {1e-6F, 1.0F, 1e5F}) {
    TriangleMesh mesh = make_torus({.segments = 48, .tube_segments = 24});
    for (Vec3f& p : mesh.positions) p = p * scale + Vec3f{100, -50, 20} * scale;
    const Truth truth = compare(mesh, {.resolution = 64}, 1000);
    EXPECT_LT(truth.p99, 0.2);
  }
}

// Of a triangle whose corners lie on one line, the ends were lost where a node lay in the plane
// that stood in for its own: it was as near as that plane.
TEST(DistancePass, FlatTrianglesEndWhereTheyEnd) {
  TriangleMesh mesh;
  mesh.positions = {{0, 0, 0}, {0.25F, 0, 0}, {1, 0, 0}};
  mesh.triangles = {{0, 1, 2}};
  const Lattice lattice{.origin = {-2, -2, -2}, .spacing = 0.125, .cells = {32, 32, 32}};
  const Bvh bvh(mesh);
  for (const SimdLevel level : {SimdLevel::kBaseline, simd_level()}) {
    const detail::DistancePass pass(mesh, bvh, lattice, {}, level);
    const std::vector<float> found = pass.compute_coarse({}, {});
    for (std::int32_t i = 0; i < 125; ++i) {
      const Vec3 at = node_position({.origin = {-2, -2, -2}, .spacing = 1, .cells = {4, 4, 4}},
                                    i % 5, i / 5 % 5, i / 25);
      const double x = at.x - std::clamp(at.x, 0.0, 1.0);
      EXPECT_NEAR(static_cast<double>(found[static_cast<std::size_t>(i)]),
                  length(Vec3{x, at.y, at.z}), 1e-5)
          << at.x << " " << at.y << " " << at.z;
    }
  }
}

}  // namespace
}  // namespace isotact
