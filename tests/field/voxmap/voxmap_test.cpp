#include "isotact/field/voxmap/voxmap.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/field/voxmap/detail/voxmap_layers.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

Lattice lattice_for(const TriangleMesh& mesh, int voxels, int padding = 3) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box);
  return voxmap_lattice(box, std::max({size.x, size.y, size.z}) / voxels, padding);
}

template <typename Visit>
void for_each_voxel(const Index3& n, Visit&& visit) {
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i) visit(Index3{i, j, k});
}

// Points of the triangle in a dense raster: where one lies in the box, they overlap.
bool sampled_overlap(const std::array<Vec3, 3>& t, const Vec3& middle, const Vec3& half) {
  constexpr int kSteps = 60;
  for (int a = 0; a <= kSteps; ++a)
    for (int b = 0; a + b <= kSteps; ++b) {
      const Vec3 p = t[0] + (t[1] - t[0]) * (static_cast<double>(a) / kSteps) +
                     (t[2] - t[0]) * (static_cast<double>(b) / kSteps);
      const Vec3 d = p - middle;
      if (std::fabs(d.x) <= half.x && std::fabs(d.y) <= half.y && std::fabs(d.z) <= half.z)
        return true;
    }
  return false;
}

TEST(TriangleBox, AgreesWithSampling) {
  Random random(1);
  int overlapping = 0;
  constexpr int kTrials = 3000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::array<Vec3, 3> t;
    const Vec3 at = random.in_box({-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5});
    for (Vec3& p : t) p = at + random.in_box({-1, -1, -1}, {1, 1, 1});
    if (trial % 10 == 0) t[2] = t[1];  // a segment
    const Vec3 half = random.in_box({0.2, 0.2, 0.2}, {0.8, 0.8, 0.8});
    const bool found = detail::overlaps_triangle_box(t, {}, half);
    overlapping += found ? 1 : 0;
    // A raster point inside proves overlap; a raster that misses a slightly larger box disproves
    // it.
    if (found) {
      ASSERT_TRUE(sampled_overlap(t, {}, half + Vec3{1, 1, 1} * 0.05));
    } else {
      ASSERT_FALSE(sampled_overlap(t, {}, half));
    }
  }
  EXPECT_GT(overlapping, kTrials / 8);
  EXPECT_LT(overlapping, kTrials * 4 / 5);
}

TEST(TriangleBox, TouchingCounts) {
  const std::array<Vec3, 3> t{Vec3{1, 0, 0}, {2, 1, 0}, {2, -1, 0}};
  EXPECT_TRUE(detail::overlaps_triangle_box(t, {}, {1, 1, 1}));
  EXPECT_FALSE(detail::overlaps_triangle_box(t, {}, {0.999, 1, 1}));
}

// The oracle: every triangle against every voxel, then breadth-first search among six neighbours
// for what is outside and among 26 for the layers.
std::vector<int> layers_by_search(const TriangleMesh& mesh, const Lattice& lattice) {
  const Index3 n = lattice.cells;
  std::vector<int> surface(count(n), 0);
  for_each_voxel(n, [&](const Index3& v) {
    const Vec3 middle{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5};
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      std::array<Vec3, 3> triangle;
      for (std::size_t c = 0; c < 3; ++c)
        triangle[c] = (to_double(corners(mesh, t)[c]) - lattice.origin) / lattice.spacing;
      if (!detail::overlaps_triangle_box(triangle, middle, Vec3{1, 1, 1} * (0.5 + 1e-9))) continue;
      surface[flat_index(n, v[0], v[1], v[2])] = 1;
      break;
    }
  });
  const auto spread = [&](std::deque<Index3> open, std::vector<int>& steps, int reach) {
    while (!open.empty()) {
      const Index3 v = open.front();
      open.pop_front();
      for_each_voxel({3, 3, 3}, [&](const Index3& by) {
        const Index3 w{v[0] + by[0] - 1, v[1] + by[1] - 1, v[2] + by[2] - 1};
        if (std::abs(by[0] - 1) + std::abs(by[1] - 1) + std::abs(by[2] - 1) > reach) return;
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (w[axis] < 0 || w[axis] >= n[axis]) return;
        int& step = steps[flat_index(n, w[0], w[1], w[2])];
        if (step >= 0) return;
        step = steps[flat_index(n, v[0], v[1], v[2])] + 1;
        open.push_back(w);
      });
    }
  };
  std::vector<int> outside(count(n), -1), layer(count(n), -1);
  std::deque<Index3> border, start;
  for_each_voxel(n, [&](const Index3& v) {
    const std::size_t place = flat_index(n, v[0], v[1], v[2]);
    if (surface[place] == 1) {
      outside[place] = 1 << 20;  // a wall
      layer[place] = 0;
      start.push_back(v);
      return;
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (v[axis] == 0 || v[axis] == n[axis] - 1) outside[place] = 0;
    if (outside[place] == 0) border.push_back(v);
  });
  spread(border, outside, 1);
  spread(start, layer, 3);
  for (std::size_t place = 0; place < layer.size(); ++place)
    if (outside[place] >= 0) layer[place] = -layer[place];
  return layer;
}

void expect_same_layers(const TriangleMesh& mesh, const Lattice& lattice) {
  const VoxmapResult result = build_voxmap(mesh, lattice);
  const std::vector<int> expected = layers_by_search(mesh, lattice);
  const std::span<const std::int16_t> found = result.voxmap.layers();
  ASSERT_EQ(found.size(), expected.size());
  std::uint64_t inner = 0;
  for (std::size_t n = 0; n < found.size(); ++n) {
    ASSERT_EQ(found[n], expected[n]) << "voxel " << n;
    if (found[n] > 0) ++inner;
  }
  EXPECT_EQ(inner, result.report.inner_voxels);
  EXPECT_FALSE(find_flaw_in_voxmap(result.voxmap.buffer()));
}

TEST(Voxmap, LayersAreThoseOfASearch) {
  const TriangleMesh ball = make_shape("sphere", {{"frequency", 3}});
  expect_same_layers(ball, lattice_for(ball, 17));
  const TriangleMesh ring = make_shape("torus", {{"segments", 16}, {"tube_segments", 8}});
  expect_same_layers(ring, lattice_for(ring, 24));
  expect_same_layers(ring, lattice_for(ring, 9, 0));  // the surface touches the grid's faces
  const TriangleMesh box = make_shape("box");
  expect_same_layers(box, lattice_for(box, 12));  // triangles lie in the faces of voxels
  expect_same_layers(box, {.origin = {-0.9, -0.7, -0.6}, .spacing = 0.11, .cells = {17, 13, 11}});
}

TEST(Voxmap, ChessboardDistancesOfRandomVoxels) {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const Index3 n{1 + static_cast<std::int32_t>(random.below(40)),
                   1 + static_cast<std::int32_t>(random.below(9)),
                   1 + static_cast<std::int32_t>(random.below(9))};
    std::vector<std::uint8_t> mask(count(n), 0);
    std::vector<Index3> sites;
    for_each_voxel(n, [&](const Index3& v) {
      if (random.below(trial % 2 == 0 ? 8 : 300) != 0) return;
      mask[flat_index(n, v[0], v[1], v[2])] = 1;
      sites.push_back(v);
    });
    std::vector<std::int16_t> found(count(n));
    detail::compute_chessboard_distances(mask, n, found, Threads{1 + trial % 3});
    for_each_voxel(n, [&](const Index3& v) {
      int nearest = detail::kNoLayer;
      for (const Index3& s : sites)
        nearest = std::min(nearest, std::max({std::abs(v[0] - s[0]), std::abs(v[1] - s[1]),
                                              std::abs(v[2] - s[2])}));
      ASSERT_EQ(found[flat_index(n, v[0], v[1], v[2])], nearest);
    });
  }
}

TEST(Voxmap, KeepsThePapersSignAndOffersOurs) {
  const TriangleMesh ball = make_shape("sphere");
  const Voxmap map = build_voxmap(ball, lattice_for(ball, 20)).voxmap;
  const Index3 middle = map.voxel_at({0, 0, 0});
  EXPECT_GT(map.layer_value(middle), 4);
  EXPECT_LT(map.signed_layer(middle), -4);
  EXPECT_GT(map.penetration({0, 0, 0}, {0, 1, 0}), 0.2);
  EXPECT_LT(map.distance({0, 0, 0}, {0, 1, 0}), -0.2);
  EXPECT_TRUE(map.is_solid(middle));
  EXPECT_FALSE(map.is_solid({0, 0, 0}));
  EXPECT_LT(map.layer_value({0, 0, 0}), 0);
  EXPECT_LT(map.penetration({0, 9, 0}, {0, 1, 0}), -8);
}

struct MeshTruth {
  WindingTree tree;

  explicit MeshTruth(const TriangleMesh& mesh) : tree(mesh) {}
  double distance(const Vec3& p) const {
    const auto d = static_cast<double>(find_closest_point(tree.bvh(), to_float(p)).distance);
    return compute_winding_number(tree, to_float(p)) > 0.5 ? -d : d;
  }
};

TEST(Voxmap, BoundsOfLayersAndOfBothMethodsHoldTheDistance) {
  const TriangleMesh knot = make_shape("knot", {{"segments", 96}, {"tube_segments", 12}});
  const Lattice lattice = lattice_for(knot, 20);
  const MeshTruth truth(knot);
  const Voxmap layers = build_voxmap(knot, lattice).voxmap;
  const Voxmap exact = build_voxmap(knot, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  const Voxmap walked = build_voxmap(knot, lattice,
                                     {.encoding = VoxmapEncoding::kSupport,
                                      .closest = ClosestPointMethod::kLayerWalk})
                            .voxmap;
  int inside = 0;
  for_each_voxel(lattice.cells, [&](const Index3& v) {
    const double d = truth.distance(layers.voxel_center(v));
    inside += d < 0 ? 1 : 0;
    ASSERT_TRUE(contains(layers.distance_bounds_of_voxel(v), d));
    ASSERT_TRUE(contains(exact.distance_bounds_of_voxel(v), d));
    ASSERT_TRUE(contains(walked.distance_bounds_of_voxel(v), d));
    ASSERT_NEAR(exact.distance_of_voxel(v), d, 1e-6);
    ASSERT_EQ(exact.layer_value(v), layers.layer_value(v));
    // Both methods name points of the surface.
    for (const Voxmap* map : {&exact, &walked})
      ASSERT_NEAR(truth.distance(map->closest_point_of_voxel(v)), 0, 1e-6);
  });
  EXPECT_GT(inside, 200);
}

// SSL14's walk against the exact distance: never nearer; how much further is what it costs.
TEST(Voxmap, TheLayerWalkIsRightAtTheSurfaceAndTooFarElsewhere) {
  const TriangleMesh ring = make_shape("torus");
  const Lattice lattice = lattice_for(ring, 40);
  const Voxmap exact = build_voxmap(ring, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  const VoxmapResult walked = build_voxmap(
      ring, lattice,
      {.encoding = VoxmapEncoding::kSupport, .closest = ClosestPointMethod::kLayerWalk});
  std::size_t near = 0, near_good = 0;
  for (std::size_t n = 0; n < exact.support().size(); ++n) {
    const double e = std::fabs(exact.support()[n].penetration);
    const double w = std::fabs(walked.voxmap.support()[n].penetration);
    ASSERT_GE(w, e - 1e-6);
    const int layer = std::abs(exact.support()[n].layer);
    if (layer == 0) {
      ASSERT_NEAR(w, e, 1e-6);
    }
    if (layer < 1 || layer > 2) continue;
    ++near;
    if (w - e < 0.5 * lattice.spacing) ++near_good;
  }
  EXPECT_EQ(walked.report.walked_voxels + walked.report.surface_voxels, count(lattice.cells));
  EXPECT_GT(near, 2000U);
  EXPECT_GT(near_good * 10, near * 8);  // most within half a voxel
}

// A point near the surface, with the normal of a body that touches there: the surface's own.
TEST(Voxmap, EquationsFourAndFiveAgreeWithTheDistance) {
  const TriangleMesh ball = make_shape("sphere", {{"frequency", 16}});
  const Lattice lattice = lattice_for(ball, 18);
  const double s = lattice.spacing;
  const Voxmap layers = build_voxmap(ball, lattice).voxmap;
  const Voxmap scaled =
      build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kScaled, .precision = 4}).voxmap;
  const Voxmap support = build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  const MeshTruth truth(ball);
  Random random(2);
  double worst_layers = 0, worst_scaled = 0, worst_support = 0;
  for (int n = 0; n < 2000; ++n) {
    const Vec3 out = random.unit_vector();
    const Vec3 p = out * (0.5 + random.uniform(-3, 3) * s);
    const double penetration = -truth.distance(p);
    worst_layers = std::max(worst_layers, std::fabs(layers.penetration(p, out) - penetration));
    worst_scaled = std::max(worst_scaled, std::fabs(scaled.penetration(p, out) - penetration));
    worst_support =
        std::max(worst_support, std::fabs(support.interpolated_penetration(p) - penetration));
  }
  // Layers count voxels along axes: diagonally a layer is up to sqrt(3) s thick.
  EXPECT_LT(worst_layers, 3.5 * s);
  // One tangent plane a voxel is off by the square of half a diagonal over twice the radius, which
  // three voxels below the surface is 6 s: 0.0625 s. Then facets, and 10^-4 m lost by truncation.
  EXPECT_LT(worst_scaled, 0.08 * s);
  EXPECT_LT(worst_support, 0.08 * s);
}

TEST(Voxmap, ScalesAsEquationOneDoes) {
  EXPECT_EQ(std::trunc(1.61803 * detail::power_of_ten(3)), 1618);
  const TriangleMesh ball = make_shape("sphere");
  const Lattice lattice = lattice_for(ball, 16);
  const Voxmap support = build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  const Voxmap scaled =
      build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kScaled, .precision = 3}).voxmap;
  for (std::size_t n = 0; n < scaled.scaled().size(); ++n)
    ASSERT_EQ(scaled.scaled()[n], std::trunc(support.support()[n].penetration * 1000));
  for_each_voxel(lattice.cells, [&](const Index3& v) {
    ASSERT_NEAR(scaled.distance_of_voxel(v), support.distance_of_voxel(v), 1e-3);
  });
  // 0.9 m at the corners: 10^10 times that is too much for 32 bits, 10^9 is not.
  const auto build_with = [&](int precision) {
    return build_voxmap(ball, lattice,
                        {.encoding = VoxmapEncoding::kScaled, .precision = precision});
  };
  EXPECT_NO_THROW(build_with(9));
  EXPECT_THROW(build_with(10), Error);
  EXPECT_THROW(build_with(13), Error);
}

TEST(Voxmap, SupportMapBecomesAContinuousField) {
  const TriangleMesh ring = make_shape("torus");
  const Lattice lattice = lattice_for(ring, 24);
  const FirstOrderField field = to_first_order_field(
      build_voxmap(ring, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap);
  EXPECT_EQ(field.header().holds_body, 1U);
  const MeshTruth truth(ring);
  Random random(3);
  for (int n = 0; n < 2000; ++n) {
    const Vec3 p = random.in_box(field.bounds().lower - Vec3{1, 1, 1} * 0.1,
                                 field.bounds().upper + Vec3{1, 1, 1} * 0.1);
    const double d = truth.distance(p);
    ASSERT_TRUE(contains(field.distance_bounds(p), d));
    if (std::fabs(d) < 1.5 * lattice.spacing) {
      ASSERT_NEAR(field.value(p), d, 0.1 * lattice.spacing);
    }
  }
  EXPECT_THROW(to_first_order_field(build_voxmap(ring, lattice).voxmap), Error);
}

TEST(Voxmap, SameBytesForAnyNumberOfThreads) {
  const TriangleMesh knot = make_shape("knot", {{"segments", 96}, {"tube_segments", 12}});
  const Lattice lattice = lattice_for(knot, unless_slow(24, 16));
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport})
    for (const ClosestPointMethod closest :
         {ClosestPointMethod::kExact, ClosestPointMethod::kLayerWalk}) {
      const auto bytes = [&](int threads) {
        const Voxmap map =
            build_voxmap(knot, lattice,
                         {.encoding = encoding, .closest = closest, .threads = {threads}})
                .voxmap;
        return std::vector<std::byte>(map.buffer().begin(), map.buffer().end());
      };
      const std::vector<std::byte> one = bytes(1);
      EXPECT_EQ(one, bytes(2));
      EXPECT_EQ(one, bytes(5));
    }
}

void append(TriangleMesh& mesh, const TriangleMesh& other, bool turned) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  for (const Triangle& t : other.triangles)
    mesh.triangles.push_back({first + t[0], first + t[turned ? 2 : 1], first + t[turned ? 1 : 2]});
}

TriangleMesh nested_balls(bool turned) {
  TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 6});
  append(mesh, make_sphere({.radius = 0.3, .frequency = 5}), turned);
  return mesh;
}

// With two voxels or so between, every map knows all sides that the field knows.
void expect_sides_of_the_field(const Surface& surface, const Lattice& lattice) {
  const ExactField exact(surface);
  const Voxmap layers = build_voxmap(surface, lattice).voxmap;
  const Voxmap support =
      build_voxmap(surface, lattice, {.encoding = VoxmapEncoding::kSupport}).voxmap;
  ASSERT_FALSE(find_flaw_in_voxmap(layers.buffer()));
  ASSERT_FALSE(find_flaw_in_voxmap(support.buffer()));
  int inside = 0, outside = 0;
  for_each_voxel(lattice.cells, [&](const Index3& v) {
    const double distance = exact.value(layers.voxel_center(v));
    ASSERT_NEAR(support.distance_of_voxel(v), distance, 1e-6);
    ASSERT_EQ(support.signed_layer(v), layers.signed_layer(v));
    if (std::fabs(distance) <= lattice.spacing) return;
    ++(distance < 0 ? inside : outside);
    ASSERT_EQ(layers.signed_layer(v) < 0, distance < 0) << distance;
    ASSERT_NE(layers.signed_layer(v), 0);
  });
  EXPECT_GT(inside, 300);
  EXPECT_GT(outside, 1000);
  const Voxmap again = decompress_layers(compress_layers(layers));
  ASSERT_EQ(again.buffer().size(), layers.buffer().size());
  EXPECT_EQ(std::memcmp(again.buffer().data(), layers.buffer().data(), layers.buffer().size()), 0);
}

TEST(Voxmap, AgreesWithTheFieldOnCavitiesAndNestedParts) {
  const TriangleMesh hollow = nested_balls(true), nested = nested_balls(false);
  const Lattice lattice = lattice_for(hollow, unless_slow(22, 15));
  const SurfaceSettings by_winding{.voxel_size = lattice.spacing},
      even_odd{.nested = NestedRule::kEvenOdd, .voxel_size = lattice.spacing};
  expect_sides_of_the_field(prepare_surface(hollow, by_winding), lattice);
  expect_sides_of_the_field(prepare_surface(hollow, even_odd), lattice);
  expect_sides_of_the_field(prepare_surface(nested, by_winding), lattice);
  expect_sides_of_the_field(prepare_surface(nested, even_odd), lattice);
  const auto at_middle = [&](const TriangleMesh& mesh, NestedRule rule) {
    const Voxmap map =
        build_voxmap(mesh, lattice, {.encoding = VoxmapEncoding::kSupport, .nested = rule}).voxmap;
    return map.distance_of_voxel(map.voxel_at({0, 0, 0}));
  };
  // The voxel's centre lies up to half its diagonal off the middle of the ball, whose flat faces
  // are a little nearer than its radius.
  const double least = 0.97 * 0.3 - 0.87 * lattice.spacing;
  EXPECT_GT(at_middle(hollow, NestedRule::kWinding), least);
  EXPECT_LT(at_middle(nested, NestedRule::kWinding), -least);
  EXPECT_GT(at_middle(nested, NestedRule::kEvenOdd), least);
}

TEST(Voxmap, AgreesWithTheFieldOnShells) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 6});
  const Lattice lattice = lattice_for(ball, unless_slow(28, 18), unless_slow(6, 4));
  const Surface shell = prepare_surface(
      ball, {.sign = SignMethod::kUnsigned, .voxel_size = lattice.spacing, .shell_offset = 0.1});
  expect_sides_of_the_field(shell, lattice);
  EXPECT_THROW(build_voxmap(shell, lattice_for(ball, 28, 1)), Error);
  EXPECT_THROW(build_voxmap(shell, lattice,
                            {.encoding = VoxmapEncoding::kSupport,
                             .closest = ClosestPointMethod::kLayerWalk}),
               Error);
  const Voxmap map = build_voxmap(ball, lattice,
                                  {.encoding = VoxmapEncoding::kSupport,
                                   .sign = SignMethod::kUnsigned,
                                   .shell_offset = 0.1})
                         .voxmap;
  EXPECT_GT(map.distance_of_voxel(map.voxel_at({0, 0, 0})), 0.3);
  EXPECT_LT(map.distance_of_voxel(map.voxel_at({0.5, 0, 0})), -0.05);
}

TEST(Voxmap, TurnedMeshesHaveTheirInsideAndOpenOnesAreClosed) {
  TriangleMesh ball = make_shape("sphere", {{"frequency", 4}});
  const Lattice lattice = lattice_for(ball, 20);
  const VoxmapResult closed = build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kSupport});
  for (Triangle& t : ball.triangles) std::swap(t[0], t[1]);
  const VoxmapResult turned = build_voxmap(ball, lattice, {.encoding = VoxmapEncoding::kSupport});
  EXPECT_EQ(closed.report.inner_voxels, turned.report.inner_voxels);
  for (std::size_t n = 0; n < closed.voxmap.support().size(); ++n)
    ASSERT_NEAR(closed.voxmap.support()[n].penetration, turned.voxmap.support()[n].penetration,
                1e-7);
  ball.triangles.resize(ball.triangles.size() - 1);
  EXPECT_NEAR(static_cast<double>(build_voxmap(ball, lattice).report.inner_voxels),
              static_cast<double>(closed.report.inner_voxels),
              0.05 * static_cast<double>(closed.report.inner_voxels));
}

TEST(Voxmap, SpeaksBetweenPassesAndStopsWhenTold) {
  const TriangleMesh ball = make_shape("sphere");
  const Lattice lattice = lattice_for(ball, 10);
  std::uint64_t last = 0, total = 0;
  CancelToken cancel;
  VoxmapSettings settings{.encoding = VoxmapEncoding::kSupport,
                          .monitor = {.on_progress =
                                          [&](const ProgressReport& r) {
                                            EXPECT_GE(r.done, last);
                                            last = r.done;
                                            total = r.total;
                                          },
                                      .cancel = &cancel}};
  build_voxmap(ball, lattice, settings);
  EXPECT_EQ(last, 5U);
  EXPECT_EQ(total, 5U);
  last = 0;
  cancel.cancel();
  EXPECT_THROW(build_voxmap(ball, lattice, settings), Cancelled);
}

TEST(Voxmap, RefusesBadInputBeforeTakingMemory) {
  const TriangleMesh ball = make_shape("sphere");
  Lattice lattice = lattice_for(ball, 16);
  EXPECT_THROW(build_voxmap(TriangleMesh{}, lattice), Error);
  EXPECT_THROW(build_voxmap(Surface{}, lattice), Error);
  EXPECT_THROW(build_voxmap(ball, {.origin = {}, .spacing = 0.1, .cells = {4, 4, 4}}), Error);
  EXPECT_THROW(build_voxmap(ball, lattice, {.max_memory = 10000}), Error);
  lattice.cells = {16384, 16384, 16384};
  EXPECT_THROW(build_voxmap(ball, lattice, {.max_memory = 1U << 30U}), Error);
  EXPECT_THROW(build_voxmap(ball, lattice), Error);  // 22 TB: more than machines have
  lattice.cells = {0, 5, 5};
  EXPECT_THROW(build_voxmap(ball, lattice), Error);
  EXPECT_THROW(voxmap_lattice(to_double(bounds(ball)), 1e-6), Error);
}

TEST(Voxmap, CompressesLayersWithoutLoss) {
  for (const char* shape : {"sphere", "torus", "box", "gear"}) {
    const TriangleMesh mesh = make_shape(shape);
    const Voxmap map = build_voxmap(mesh, lattice_for(mesh, 40)).voxmap;
    const std::vector<std::byte> code = compress_layers(map);
    EXPECT_LT(code.size() * 20, map.buffer().size()) << shape;
    const Voxmap again = decompress_layers(code);
    ASSERT_EQ(again.buffer().size(), map.buffer().size());
    EXPECT_EQ(std::memcmp(again.buffer().data(), map.buffer().data(), map.buffer().size()), 0);
    EXPECT_THROW(decompress_layers(code, map.buffer().size() - 1), Error);
  }
}

void expect_corrupted_code_is_refused(const TriangleMesh& mesh) {
  const Voxmap map = build_voxmap(mesh, lattice_for(mesh, 14)).voxmap;
  const std::vector<std::byte> code = compress_layers(map);
  Random random(4);
  int refused = 0, harmless = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    std::vector<std::byte> bad = code;
    const auto reach = trial % 2 == 0 ? 256U : static_cast<std::uint32_t>(bad.size());
    bad[random.below(reach)] ^= static_cast<std::byte>(1U << random.below(8));
    if (trial % 7 == 0) bad.resize(random.below(static_cast<std::uint32_t>(bad.size())));
    try {
      const Voxmap odd = decompress_layers(bad, 1U << 20U);
      ASSERT_FALSE(find_flaw_in_voxmap(odd.buffer()));
      ++harmless;  // the origin or the voxel size have changed
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1250);
  EXPECT_GT(harmless, 0);
}

TEST(Voxmap, CorruptedCodeIsRefused) {
  expect_corrupted_code_is_refused(make_shape("torus"));
  expect_corrupted_code_is_refused(nested_balls(true));  // its code tells sides of regions too
}

TEST(Voxmap, CorruptedBuffersAreRefusedOrHarmless) {
  const TriangleMesh ring = make_shape("torus");
  const Lattice lattice = lattice_for(ring, 12);
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    const Voxmap map = build_voxmap(ring, lattice, {.encoding = encoding}).voxmap;
    FlatRoom copy = make_zeroed_room(map.buffer().size());
    Random random(6);
    int refused = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      std::memcpy(copy.bytes.data(), map.buffer().data(), copy.bytes.size());
      const auto reach = trial % 2 == 0 ? 256U : static_cast<std::uint32_t>(copy.bytes.size());
      copy.bytes[random.below(reach)] ^= static_cast<std::byte>(1U << random.below(8));
      if (find_flaw_in_voxmap(copy.bytes)) {
        ++refused;
        continue;
      }
      const Voxmap odd = Voxmap::from_buffer(copy.bytes, copy.owner);
      ASSERT_TRUE(std::isfinite(odd.penetration({0.1, 0.2, 0.3}, {0, 1, 0})));
    }
    // Half of the changes lie in the header. Any int32 is a scaled distance.
    EXPECT_GT(refused, encoding == VoxmapEncoding::kLayers ? 850 : 300);
    for (std::size_t size = 0; size < copy.bytes.size(); size += 64)
      ASSERT_TRUE(find_flaw_in_voxmap(copy.bytes.first(size)));
  }
}

// Node by node against the mesh itself. Of walked maps nothing is said.
TEST(Voxmap, GridsAreDistancesToWithinTheirError) {
  const TriangleMesh knot = make_shape("knot");
  const Lattice lattice = lattice_for(knot, 40);
  const ExactField exact(prepare_surface(knot, {.voxel_size = lattice.spacing}));
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    const DenseGrid grid =
        to_dense_grid(build_voxmap(knot, lattice, {.encoding = encoding}).voxmap);
    const Interval error = grid.parts().sample_error;
    EXPECT_LT(error.upper, 1.4 * lattice.spacing);
    EXPECT_TRUE(grid.parts().holds_body);
    const Index3 n = node_counts(grid.lattice());
    int inside = 0;
    Random random(7);
    for (int trial = 0; trial < 4000; ++trial) {
      Index3 at;
      for (std::size_t axis = 0; axis < 3; ++axis)
        at[axis] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n[axis])));
      const double stored = static_cast<double>(grid.node_value(at[0], at[1], at[2]));
      const double distance = exact.value(node_position(grid.lattice(), at[0], at[1], at[2]));
      ASSERT_GE(distance - stored, error.lower);
      ASSERT_LE(distance - stored, error.upper);
      inside += stored < 0 ? 1 : 0;
    }
    EXPECT_GT(inside, 200);
  }
  const Voxmap walked = build_voxmap(knot, lattice,
                                     {.encoding = VoxmapEncoding::kSupport,
                                      .closest = ClosestPointMethod::kLayerWalk})
                            .voxmap;
  EXPECT_FALSE(std::isfinite(to_dense_grid(walked).parts().sample_error.upper));
}

}  // namespace
}  // namespace isotact
