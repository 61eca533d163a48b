#include "isotact/pointshell/point_shell.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/detail/nearest_points.h"
#include "isotact/pointshell/detail/point_blocks.h"
#include "isotact/pointshell/detail/shell_passes.h"

#include "support/small_meshes.h"

namespace isotact {
namespace {

double sum_of(const std::vector<float>& areas) {
  double sum = 0;
  for (const float a : areas) sum += static_cast<double>(a);
  return sum;
}

double area_of(const TriangleMesh& mesh) {
  double area = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    const Vec3 a = to_double(c[0]);
    area += length(cross(to_double(c[1]) - a, to_double(c[2]) - a)) / 2;
  }
  return area;
}

double distance_to_samples(const PointShell& shell, const Vec3& p) {
  double best = 1e300;
  for (const Vec3f& s : shell.points) best = std::min(best, length_sq(to_double(s) - p));
  return std::sqrt(best);
}

// The largest distance that many random points of the surface have: a lower bound of the covering
// radius, by brute force.
double sampled_covering(const TriangleMesh& mesh, const PointShell& shell, int per_triangle) {
  Random random(7);
  double most = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    for (int i = 0; i < per_triangle; ++i) {
      double u = random.uniform(), v = random.uniform();
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const Vec3 a = to_double(c[0]);
      const Vec3 p = a + (to_double(c[1]) - a) * u + (to_double(c[2]) - a) * v;
      most = std::max(most, distance_to_samples(shell, p));
    }
  }
  return most;
}

void expect_good(const TriangleMesh& mesh, const PointShell& shell, int per_triangle) {
  ASSERT_FALSE(shell.points.empty());
  ASSERT_EQ(shell.points.size(), shell.normals.size());
  ASSERT_EQ(shell.points.size(), shell.areas.size());
  const double area = area_of(mesh);
  EXPECT_NEAR(shell.surface_area, area, 1e-6 * area);
  EXPECT_NEAR(sum_of(shell.areas), area, 1e-5 * area);
  const double seen = sampled_covering(mesh, shell, per_triangle);
  EXPECT_LE(seen, shell.covering_radius);
  EXPECT_GE(seen, 0.85 * shell.covering_radius);  // the bound is no guess
  const Bvh bvh(mesh);
  for (std::size_t i = 0; i < shell.points.size(); ++i) {
    EXPECT_LT(find_closest_point(bvh, shell.points[i]).distance, 1e-6F);
    EXPECT_NEAR(static_cast<double>(length(shell.normals[i])), 1, 1e-5);
  }
}

TEST(PointShell, VerticesWithAreasAndRadius) {
  const TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 4});
  const PointShell shell = sample_vertices(mesh);
  EXPECT_EQ(shell.points.size(), mesh.positions.size());
  expect_good(mesh, shell, 40);
  for (std::size_t i = 0; i < shell.points.size(); ++i)
    EXPECT_GT(dot(shell.normals[i], shell.points[i]), 0.49F);
}

TEST(PointShell, EqualVerticesAreMergedOrKept) {
  TriangleMesh soup;  // each triangle with corners of its own
  const TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 2});
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const Vec3f& c : corners(mesh, t)) soup.positions.push_back(c);
    soup.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
  }
  soup.positions.push_back({7, 7, 7});  // used by nobody
  EXPECT_EQ(sample_vertices(soup).points.size(), mesh.positions.size());
  const PointShell all = sample_vertices(soup, {.keep_equal = true});
  EXPECT_EQ(all.points.size(), mesh.triangles.size() * 3);
  EXPECT_NEAR(sum_of(all.areas), area_of(mesh), 1e-5 * area_of(mesh));
}

TEST(PointShell, VerticesOfACoarseBoxGetEdges) {
  const TriangleMesh mesh = make_box({.size_x = 4, .size_y = 1, .size_z = 1});
  const PointShell shell = sample_vertices(mesh, {.edge_spacing = 0.25});
  // Four edges of 16 pieces and eight of 4.
  EXPECT_EQ(shell.edge_points, 4U * 15 + 8U * 3);
  expect_good(mesh, shell, 2000);
}

TEST(PointShell, RepulsionSpreadsEvenly) {
  const TriangleMesh mesh = make_torus({.segments = 48, .tube_segments = 16});
  const PointShell shell = sample_by_repulsion(mesh, {.count = 1000});
  EXPECT_EQ(shell.points.size(), 1000U);
  expect_good(mesh, shell, 20);
  // A hexagonal pattern would have 0.577 spacings; random points have about twice as much.
  EXPECT_LT(shell.covering_radius, 0.8 * shell.spacing);
  const PointShell start = sample_by_repulsion(mesh, {.count = 1000, .rounds = 0});
  EXPECT_LT(shell.covering_radius, 0.8 * start.covering_radius);
}

// A strip of paper, folded along parallel lines: a straight line on the paper is a straight walk on
// the mesh.
class FoldedStrip {
 public:
  static constexpr int kAcross = 9, kAlong = 6;  // Cells.

  explicit FoldedStrip(Random& random) : size_(std::pow(10.0, random.uniform(-4, 4))) {
    Vec3 at{random.uniform(-3, 3) * size_, random.uniform(-3, 3) * size_, 0};
    double angle = random.uniform(0, 6.28);
    for (int i = 0; i <= kAcross; ++i) {
      const Vec3 tangent{std::cos(angle), std::sin(angle), 0};
      const double width = random.uniform(0.05, 1) * size_;
      places_.push_back(at);
      tangents_.push_back(tangent);
      begins_.push_back(i == 0 ? 0 : begins_.back() + widths_.back());
      widths_.push_back(width);
      at += tangent * width;
      angle += random.uniform(-1.7, 1.7);  // Less than the fold that is another side.
    }
    for (int i = 0; i <= kAcross; ++i)
      for (int j = 0; j <= kAlong; ++j)
        mesh_.positions.push_back(to_float(fold(begins_[static_cast<std::size_t>(i)], j * size_)));
    for (std::uint32_t i = 0; i < kAcross; ++i)
      for (std::uint32_t j = 0; j < kAlong; ++j) add_cell(i * (kAlong + 1) + j, random);
  }

  const TriangleMesh& mesh() const { return mesh_; }
  double size() const { return size_; }
  double width() const { return begins_.back(); }
  double height() const { return kAlong * size_; }
  const Vec3& tangent(double u) const { return tangents_[piece(u)]; }
  // Where the place (u, v) of the paper is.
  Vec3 fold(double u, double v) const {
    const std::size_t i = piece(u);
    return places_[i] + tangents_[i] * (u - begins_[i]) + Vec3{0, 0, v};
  }
  std::uint32_t triangle_at(double u, double v) const {
    const auto cell = 2 * (piece(u) * kAlong + static_cast<std::size_t>(v / size_));
    const auto distance_sq = [&](std::size_t t) {
      const auto [a, b, c] = corners(mesh_, t);
      return find_closest_point_on_triangle(to_float(fold(u, v)), a, b, c).distance_sq;
    };
    return static_cast<std::uint32_t>(distance_sq(cell) < distance_sq(cell + 1) ? cell : cell + 1);
  }

 private:
  std::size_t piece(double u) const {
    std::size_t i = 0;
    while (i + 1 < begins_.size() && begins_[i + 1] <= u) ++i;
    return i;
  }
  void add_cell(std::uint32_t a, Random& random) {
    const std::uint32_t b = a + kAlong + 1, c = b + 1, d = a + 1;
    const bool turned = random.uniform() < 0.5;
    Triangle first = turned ? Triangle{a, b, d} : Triangle{a, b, c};
    Triangle second = turned ? Triangle{b, c, d} : Triangle{a, c, d};
    for (Triangle* t : {&first, &second}) {
      std::rotate(t->begin(), t->begin() + static_cast<int>(random.uniform(0, 2.99)), t->end());
      mesh_.triangles.push_back(*t);
    }
  }

  double size_;
  std::vector<Vec3> places_, tangents_;
  std::vector<double> begins_, widths_;
  TriangleMesh mesh_;
};

TEST(SurfaceWalk, IsALineOnThePaperThatTheSurfaceIsFoldedFrom) {
  Random random(311);
  int folds = 0, blocked = 0, arrived = 0;
  for (int round = 0; round < 40; ++round) {
    const FoldedStrip strip(random);
    const auto surface = detail::prepare_shell_surface(strip.mesh(), {});
    for (int i = 0; i < 25; ++i) {
      const double u = random.uniform(0.001, 0.999) * strip.width();
      const double v = random.uniform(0.001, 0.999) * strip.height();
      const double du = random.uniform(-2, 2) * strip.size();
      const double dv = random.uniform(-2, 2) * strip.size();
      const Vec3 from = strip.fold(u, v);
      const auto walk = detail::walk_on_surface(surface, strip.triangle_at(u, v), from,
                                                strip.tangent(u) * du + Vec3{0, 0, dv});
      const double margin = 1e-4 * strip.size();  // Vertices are rounded to float.
      const double out =
          std::max({-(u + du), u + du - strip.width(), -(v + dv), v + dv - strip.height()});
      if (std::abs(out) < margin) continue;
      ASSERT_EQ(walk.status == detail::WalkStatus::kArrived, out < 0) << round << " " << i;
      if (out > 0) {
        ++blocked;
        continue;
      }
      ++arrived;
      EXPECT_LT(length(walk.point - strip.fold(u + du, v + dv)), margin) << round << " " << i;
      const auto [a, b, c] = corners(surface.mesh, walk.triangle);
      EXPECT_LT(
          std::sqrt(find_closest_point_on_triangle(to_float(walk.point), a, b, c).distance_sq),
          margin);
      folds += length(strip.tangent(u) - strip.tangent(u + du)) > 0.1 ? 1 : 0;
    }
  }
  EXPECT_GT(folds, 150);
  EXPECT_GT(blocked, 150);
  EXPECT_GT(arrived, 400);
}

TEST(SurfaceWalk, DoesNotPassKnifeEdgesOrPagesOfABook) {
  // Two pages at an edge, folded by nearly half a turn, and then a third one.
  TriangleMesh mesh{.positions = {{0, 0, 0}, {0, 1, 0}, {1, 0.5F, 0}, {1, 0.5F, 0.1F}},
                    .triangles = {{0, 1, 2}, {1, 0, 3}}};
  const Vec3 from{0.2, 0.5, 0}, move{-0.5, 0, 0};
  const auto walk = [&] {
    return detail::walk_on_surface(detail::prepare_shell_surface(mesh, {}), 0, from, move);
  };
  EXPECT_EQ(walk().status, detail::WalkStatus::kBlocked);
  mesh.positions[3] = {-1, 0.5F, 0.1F};
  EXPECT_EQ(walk().status, detail::WalkStatus::kArrived);
  mesh.positions.push_back({-1, 0.5F, -1});
  mesh.triangles.push_back({1, 0, 4});
  EXPECT_EQ(walk().status, detail::WalkStatus::kBlocked);
}

TEST(PointBlocks, ListsOfGroupsNarrowToThoseOfBlocks) {
  Random random(312);
  for (const std::size_t count : {1U, 8U, 9U, 100U, 3001U}) {
    std::vector<Vec3f> points(count);
    for (Vec3f& p : points) p = to_float(random.in_box({0, 0, 0}, {1, 1, 0.1}));
    const detail::PointBlocks blocks(points);
    std::vector<std::uint32_t> group, narrowed, listed;
    for (const double reach : {0.0, 0.05, 0.3})
      for (std::size_t first = 0; first < blocks.count(); first += 4) {
        const std::size_t last = std::min(first + 4, blocks.count());
        blocks.list_near_any(first, last, reach, group);
        for (std::size_t b = first; b < last; ++b) {
          blocks.narrow(b, reach, group, narrowed);
          blocks.list_near(b, reach, listed);
          EXPECT_EQ(narrowed, listed);
        }
      }
  }
}

TEST(PointShell, RepulsionSamplesEdgesAndCorners) {
  const TriangleMesh mesh = make_box({.size_x = 1, .size_y = 1, .size_z = 1, .segments = 3});
  const PointShell shell = sample_by_repulsion(mesh, {.spacing = 0.1});
  expect_good(mesh, shell, 200);
  const auto on_edges = [](const Vec3f& p) {
    int faces = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      faces += std::abs(std::abs(p[axis]) - 0.5F) < 1e-6F ? 1 : 0;
    return faces;
  };
  EXPECT_EQ(shell.edge_points, 8U + 12U * 9U);
  int corners = 0;
  for (std::size_t i = 0; i < shell.edge_points; ++i) {
    EXPECT_GE(on_edges(shell.points[i]), 2);
    corners += on_edges(shell.points[i]) == 3 ? 1 : 0;
    // Mean normals: as far from each face.
    const Vec3f& n = shell.normals[i];
    const float most = std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)});
    EXPECT_NEAR(most, on_edges(shell.points[i]) == 3 ? 0.57735F : 0.70711F, 1e-4F);
  }
  EXPECT_EQ(corners, 8);
}

TEST(PointShell, SurfaceVoxelsAreThinned) {
  const TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 6});
  const Lattice lattice = voxmap_lattice({{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, 0.06);
  const Voxmap map = build_voxmap(mesh, lattice).voxmap;
  const PointShell shell = sample_surface_voxels(mesh, map, {.common = {.sample_edges = false}});
  expect_good(mesh, shell, 10);
  EXPECT_NEAR(shell.spacing, 0.06 * std::sqrt(2.0), 1e-9);
  EXPECT_LE(shell.covering_radius, (std::sqrt(3.0) + std::sqrt(2.0)) * 0.06);
  for (std::size_t i = 0; i < shell.points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GE(length(to_double(shell.points[i]) - to_double(shell.points[j])), shell.spacing);
  const Voxmap scaled = build_voxmap(mesh, lattice, {.encoding = VoxmapEncoding::kScaled}).voxmap;
  EXPECT_THROW(sample_surface_voxels(mesh, scaled), Error);
  EXPECT_THROW(sample_surface_voxels(make_sphere({.radius = 30}), map), Error);
}

TEST(PointShell, SoupsAndSliversAreCoveredToo) {
  Random random(21);
  for (int round = 0; round < 4; ++round) {
    TriangleMesh mesh = test::make_soup(random, 25, 0.3);
    if (round % 2 == 1)  // thin as needles
      for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        mesh.positions[3 * t + 2] = mesh.positions[3 * t + 1] + Vec3f{0, 1e-4F, 1e-5F};
    expect_good(mesh, sample_by_repulsion(mesh, {.count = 400, .rounds = 6}), 150);
    expect_good(mesh, sample_vertices(mesh), 150);
  }
}

TEST(PointShell, NormalsFromTheField) {
  PointShell shell = sample_vertices(make_sphere({.radius = 0.5, .frequency = 3}));
  take_normals(shell, AnyField{SphereField{.radius = 0.5}});
  for (std::size_t i = 0; i < shell.points.size(); ++i)
    EXPECT_LT(length(shell.normals[i] - normalized(shell.points[i])), 1e-5F);
}

TEST(PointShell, SameForAnyNumberOfThreads) {
  const TriangleMesh mesh = make_bowl({.segments = 32});
  std::set<std::uint64_t> hashes;
  for (const int threads : {1, 2, 5}) {
    const PointShell shell =
        sample_by_repulsion(mesh, {.common = {.threads = {threads}}, .count = 3000, .rounds = 4});
    const double radius[] = {shell.covering_radius};
    hashes.insert(hash_range(
        shell.points, hash_range(shell.normals, hash_range(shell.areas, hash_range(radius)))));
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST(PointShell, RefusesBadInput) {
  const TriangleMesh box = make_box({});
  EXPECT_THROW(sample_vertices({}), Error);
  EXPECT_THROW(sample_by_repulsion({}, {.count = 10}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.count = 10, .spacing = 1}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.spacing = 1e-9}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.spacing = std::nan("")}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.count = 4000000000U}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.common = {.max_memory = 10000}, .count = 100000}), Error);
  EXPECT_THROW(sample_by_repulsion(box, {.common = {.sharp_degrees = 200}, .count = 10}), Error);
  TriangleMesh flat = box;  // all in one point
  for (Vec3f& p : flat.positions) p = {};
  EXPECT_THROW(sample_vertices(flat), Error);
  TriangleMesh broken = box;
  broken.triangles[0][0] = 1000;
  EXPECT_THROW(sample_vertices(broken), Error);
  EXPECT_EQ(sample_by_repulsion(box, {.count = 1}).points.size(), 1U);
}

TEST(NearestPoints, AgreesWithBruteForce) {
  Random random(2);
  std::vector<Vec3f> points;
  for (int i = 0; i < 1000; ++i)  // on a coarse lattice: many are equal, many as far
    points.push_back({static_cast<float>(random.below(12)), static_cast<float>(random.below(12)),
                      static_cast<float>(random.below(6))});
  const detail::NearestPoints search(points);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 at = random.in_box({-2, -2, -2}, {14, 14, 8});
    std::uint32_t best = 0;
    std::size_t within = 0;
    for (std::uint32_t k = 0; k < points.size(); ++k) {
      const double d = length_sq(to_double(points[k]) - at);
      if (d < length_sq(to_double(points[best]) - at)) best = k;
      within += d <= 9 ? 1 : 0;
    }
    EXPECT_EQ(search.find(at).index, best);
    EXPECT_EQ(search.find(at, random.below(1000)).index, best);
    std::size_t found = 0;
    search.for_each_within(at, 3, [&](std::uint32_t, double) { ++found; });
    EXPECT_EQ(found, within);
  }
}

TEST(Thinning, KeepsDistanceAndCoversAll) {
  Random random(4);
  std::vector<Vec3f> points;
  for (int i = 0; i < 3000; ++i) points.push_back(to_float(random.in_unit_ball()));
  const auto stay = detail::thin(points, 0.2);
  const std::set<std::uint32_t> kept(stay.begin(), stay.end());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    double nearest = 1e9;
    for (const std::uint32_t k : stay)
      if (k != i) nearest = std::min(nearest, length(to_double(points[k]) - to_double(points[i])));
    if (kept.contains(i))
      EXPECT_GE(nearest, 0.2);
    else
      EXPECT_LT(nearest, 0.2);
  }
}

}  // namespace
}  // namespace isotact
