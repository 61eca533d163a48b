// The rasteriser under image-space detection, and the maps that it draws, against rays.
#include "isotact/queries/depth/detail/depth_raster.h"

#include <array>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "depth_oracle.h"
#include "support/slow_build.h"

namespace isotact::test {
namespace {

using detail::Fragment;
using detail::RasterPrimitive;
using Pixels = std::map<std::pair<int, int>, std::vector<Fragment>>;

Pixels draw(const RasterPrimitive& primitive, std::int32_t size, bool conservative) {
  Pixels pixels;
  detail::draw_primitive(primitive, {size, 0, size}, conservative, [&](const Fragment& f) {
    pixels[{f.column, f.row}].push_back(f);
  });
  return pixels;
}

// Corners on the places that are hardest: middles, corners and edges of pixels.
detail::RasterPoint hard_point(Random& random, std::int64_t far) {
  const std::int64_t half = detail::kRasterHalf;
  const auto coordinate = [&] {
    const std::int64_t at = static_cast<std::int64_t>(random.below(21)) * half - half;
    return random.below(8) == 0 ? at + static_cast<std::int64_t>(random.below(3)) - 1 : at * far;
  };
  const std::int64_t x = coordinate();
  return {x, coordinate(), random.uniform(0, 2)};
}

// A fan of triangles around a point covers each middle exactly once, or, where the rays from it run
// back and forth, with a sum of signs that is the winding of its rim: for a closed rim around
// the point the same by any apex.
TEST(DepthRaster, NeighboursShareNoPixelAndLeaveNone) {
  Random random(1);
  std::size_t on_edges = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t far = trial % 4 == 3 ? 1'000'000'007 : 1;  // 128 bits
    std::array<detail::RasterPoint, 4> p{};
    for (auto& point : p) point = hard_point(random, far);
    // A tetrahedron: what is crossed inwards is crossed outwards, in every pixel.
    const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    std::map<std::pair<int, int>, int> sums;
    for (const auto& face : faces) {
      RasterPrimitive triangle;
      for (std::size_t k = 0; k < 3; ++k) triangle.at[k] = p[static_cast<std::size_t>(face[k])];
      const auto& [a, b, c] = triangle.at;
      const detail::RasterWide area =
          detail::RasterWide{b.x - a.x} * (c.y - a.y) - detail::RasterWide{b.y - a.y} * (c.x - a.x);
      for (const auto& [pixel, fragments] : draw(triangle, 10, false)) {
        ASSERT_EQ(fragments.size(), 1U);
        sums[pixel] += area > 0 ? 1 : -1;
        EXPECT_GE(fragments[0].z, 0);
        EXPECT_LE(fragments[0].z, 2);
        const std::int64_t x = pixel.first * detail::kRasterSteps + detail::kRasterHalf;
        const std::int64_t y = pixel.second * detail::kRasterSteps + detail::kRasterHalf;
        for (std::size_t k = 0; k < 3; ++k) {
          const auto &u = triangle.at[k], &v = triangle.at[(k + 1) % 3];
          if (detail::RasterWide{v.x - u.x} * (y - u.y) ==
              detail::RasterWide{v.y - u.y} * (x - u.x))
            ++on_edges;
        }
      }
    }
    for (const auto& [pixel, sum] : sums) EXPECT_EQ(sum, 0) << trial;
  }
  EXPECT_GT(on_edges, 3000U);
}

TEST(DepthRaster, WholeSquaresBoundAllPointsOfThePrimitive) {
  Random random(2);
  std::size_t checked = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    RasterPrimitive primitive;
    primitive.kind = trial % 3 == 0 ? DepthPrimitive::kLines : DepthPrimitive::kTriangles;
    for (auto& point : primitive.at) point = hard_point(random, 1);
    if (trial % 5 == 0) primitive.at[2] = primitive.at[0];  // nothing but a line
    if (primitive.kind == DepthPrimitive::kLines) primitive.at[2] = primitive.at[1];
    const Pixels pixels = draw(primitive, 10, true);
    const Pixels middles = draw(primitive, 10, false);
    for (const auto& [pixel, fragments] : middles) {
      if (primitive.kind == DepthPrimitive::kLines) continue;
      ASSERT_TRUE(pixels.contains(pixel));
      EXPECT_TRUE(pixels.at(pixel)[0].holds_middle);
      EXPECT_NEAR(pixels.at(pixel)[0].z, fragments[0].z, 1e-9);
    }
    for (int sample = 0; sample < 20; ++sample) {
      double u = random.uniform(), v = random.uniform();
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const auto& [a, b, c] = primitive.at;
      const auto mix = [&](double i, double j, double k) { return i + (j - i) * u + (k - i) * v; };
      const double x =
          mix(static_cast<double>(a.x), static_cast<double>(b.x), static_cast<double>(c.x)) /
          detail::kRasterSteps;
      const double y =
          mix(static_cast<double>(a.y), static_cast<double>(b.y), static_cast<double>(c.y)) /
          detail::kRasterSteps;
      const double z = mix(a.z, b.z, c.z);
      if (!(x > 0 && y > 0 && x < 10 && y < 10)) continue;
      const auto found = pixels.find({static_cast<int>(x), static_cast<int>(y)});
      ASSERT_NE(found, pixels.end()) << trial;
      EXPECT_LE(found->second[0].low, z);
      EXPECT_GE(found->second[0].high, z);
      ++checked;
    }
  }
  EXPECT_GT(checked, 20000U);
}

// And are no wider than they must be: the depths of a slope, over a pixel and a hair.
TEST(DepthRaster, BoundsOfASlopeAreTight) {
  RasterPrimitive slope;
  slope.at = {detail::RasterPoint{0, 0, 0},
              {10 * detail::kRasterSteps, 0, 10},
              {0, 10 * detail::kRasterSteps, 0}};
  const Pixels pixels = draw(slope, 10, true);
  const Fragment& f = pixels.at({3, 2})[0];
  EXPECT_NEAR(f.low, 3, 1e-4);
  EXPECT_NEAR(f.high, 4, 1e-4);
}

TEST(DepthRaster, ALineTakesOnePixelAColumn) {
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    // A chain of three, drawn as one line: each column between its ends once.
    std::array<detail::RasterPoint, 4> p{};
    for (std::size_t k = 0; k < 4; ++k) {
      p[k].x = static_cast<std::int64_t>(k) * 3 * detail::kRasterSteps +
               static_cast<std::int64_t>(random.below(2)) * detail::kRasterHalf;
      p[k].y = 5 * detail::kRasterSteps + static_cast<std::int64_t>(random.below(65536)) - 32768;
      p[k].z = static_cast<double>(p[k].x);
    }
    std::map<int, int> columns;
    for (std::size_t k = 0; k < 3; ++k) {
      RasterPrimitive line;
      line.kind = DepthPrimitive::kLines;
      line.at = {p[k], p[k + 1], p[k + 1]};
      if (trial % 2 == 0) std::swap(line.at[0], line.at[1]), line.at[2] = line.at[1];
      for (const auto& [pixel, fragments] : draw(line, 12, false)) {
        ASSERT_EQ(fragments.size(), 1U);
        ++columns[pixel.first];
        const double middle = pixel.first + 0.5;
        EXPECT_NEAR(fragments[0].z, middle * detail::kRasterSteps, 1e-6);
        const double t = (middle * detail::kRasterSteps - static_cast<double>(p[k].x)) /
                         static_cast<double>(p[k + 1].x - p[k].x);
        const double y = static_cast<double>(p[k].y) + t * static_cast<double>(p[k + 1].y - p[k].y);
        EXPECT_EQ(pixel.second, static_cast<int>(std::floor(y / detail::kRasterSteps)));
      }
    }
    for (const auto& [column, count] : columns) EXPECT_EQ(count, 1);
    EXPECT_GE(columns.size(), 8U);
  }
}

TEST(DepthRaster, MapsAreThoseOfRays) {
  Random random(4);
  const TriangleMesh meshes[] = {make_box({}), make_torus({.segments = 12, .tube_segments = 6}),
                                 make_knot({.segments = 36, .tube_segments = 4}),
                                 make_bowl({.thickness = 0.02, .segments = 8}),
                                 make_sphere({.frequency = 2})};
  std::vector<DepthMesh> parts;
  for (const TriangleMesh& mesh : meshes) parts.push_back(make_depth_mesh(mesh));
  std::size_t pixels = 0, undecided = 0, covered = 0, deep = 0;
  for (int trial = 0; trial < unless_slow(500, 60); ++trial) {
    const std::size_t shape = static_cast<std::size_t>(trial) % parts.size();
    std::vector<DepthElement> object = {make_depth_element(parts[shape], {}, 0, true)};
    Aabb box = to_double(bounds(meshes[shape]));
    if (trial % 3 == 0) {  // two that overlap are one
      const Pose shifted{random.rotation(), extent(box) * random.uniform(-0.5, 0.5)};
      object.push_back(make_depth_element(parts[0], shifted, 1, true));
      for (const Vec3& p : parts[0].positions) extend(box, transform_point(shifted, p));
    }
    const DepthView view = make_depth_view(box, random.unit_vector());
    const DepthSettings settings{.width = 24, .height = 17, .layers = 8};
    const DepthMap map = draw_depth_map(object, view, settings);
    EXPECT_EQ(map.overfull, 0U);
    EXPECT_EQ(map.open, 0U);
    const auto triangles = project(object, inverse(view.object_from_view), view, 24, 17);
    for (std::int32_t row = 0; row < 17; ++row)
      for (std::int32_t column = 0; column < 24; ++column) {
        const RaySolid solid = find_solid(cast_ray(triangles, view, column, row));
        ++pixels;
        if (!solid.sure) {
          ++undecided;
          continue;
        }
        covered += solid.parts.empty() ? 0U : 1U;
        deep += solid.parts.size() > 1 ? 1U : 0U;
        for (std::size_t layer = 0; layer < 8; ++layer) {
          const DepthMap::Interval& found =
              map.intervals[(layer * 17 + static_cast<std::size_t>(row)) * 24 +
                            static_cast<std::size_t>(column)];
          ASSERT_EQ(found.near <= found.far, layer < solid.parts.size()) << trial;
          if (layer >= solid.parts.size()) continue;
          const auto& [near, far] = solid.parts[layer];
          EXPECT_NEAR(found.near, near.z, near.doubt);
          EXPECT_NEAR(found.far, far.z, far.doubt);
        }
      }
  }
  EXPECT_GT(covered, pixels / 5);
  EXPECT_GT(deep, pixels / 50);
  EXPECT_LT(undecided, pixels / 50);
}

}  // namespace
}  // namespace isotact::test
