#include "isotact/scene/parse/detail/figures.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/geometry/repair/flaws.h"

namespace isotact {
namespace {

TEST(Figures, HaveThePapersNumbersOfVertices) {
  for (const FigureInfo& info : figure_catalogue()) {
    SCOPED_TRACE(info.name);
    const TriangleMesh mesh = make_figure(info.name);
    EXPECT_EQ(mesh.positions.size(), info.vertices);
    const MeshFlaws flaws = find_flaws(mesh, {.self_intersections = true});
    EXPECT_TRUE(flaws.watertight && flaws.manifold && flaws.oriented && !flaws.inward);
    EXPECT_EQ(flaws.degenerate, 0U);
    EXPECT_EQ(flaws.components, 1U);
    EXPECT_EQ(flaws.self_intersections->crossing + flaws.self_intersections->overlapping, 0U);
    const Vec3f size = extent(bounds(mesh));
    EXPECT_GT(std::max({size.x, size.y, size.z}), 0.35F);
    EXPECT_LT(std::max({size.x, size.y, size.z}), 0.75F);
  }
}

TEST(Figures, HaveTheSameBytesEverywhere) {
  std::uint64_t hash = 0;
  for (const FigureInfo& info : figure_catalogue()) {
    const TriangleMesh mesh = make_figure(info.name);
    hash = hash_range(mesh.triangles, hash_range(mesh.positions, hash));
  }
  EXPECT_EQ(hash, 0x9076fef706a4ebc4U) << std::hex << "0x" << hash;
}

TEST(Figures, UnknownNamesAreErrors) {
  try {
    make_figure("prawn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean pawn?"), std::string::npos)
        << error.what();
  }
}

TEST(Sheet, IsFlatWithItsFrontUp) {
  const TriangleMesh mesh = make_sheet(2, 1, 4, 3);
  ASSERT_EQ(mesh.positions.size(), 20U);
  ASSERT_EQ(mesh.triangles.size(), 24U);
  double area = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    const Vec3f n = cross(c[1] - c[0], c[2] - c[0]);
    EXPECT_GT(n.y, 0);
    area += static_cast<double>(length(n)) / 2;
  }
  EXPECT_NEAR(area, 2, 1e-6);
  EXPECT_EQ(find_flaws(mesh).components, 1U);
}

}  // namespace
}  // namespace isotact
