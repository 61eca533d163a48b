#include "isotact/pointshell/point_sphere_tree.h"

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/pointshell/detail/enclosing_ball.h"

namespace isotact {
namespace {

PointShell ball_shell(std::size_t count, std::uint64_t seed = 1) {
  Random random(seed);
  PointShell shell;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 n = random.unit_vector();
    shell.points.push_back(to_float(n * 0.5 + Vec3{3, -2, 1}));
    shell.normals.push_back(to_float(n));
    shell.areas.push_back(static_cast<float>(3.14159 / static_cast<double>(count)));
  }
  shell.covering_radius = 0.1;
  shell.spacing = std::sqrt(3.14159 / static_cast<double>(count));
  shell.how = "random";
  return shell;
}

std::vector<PointSphereTreeSettings> all_kinds() {
  std::vector<PointSphereTreeSettings> kinds;
  for (const int k : {2, 3, 4, 5, 8, 16})
    for (const SphereKind spheres : {SphereKind::kPoints, SphereKind::kNested})
      for (const Clustering clustering : {Clustering::kNearness, Clustering::kNearnessAndNormal})
        for (const double outliers : {0.0, 1.5})
          kinds.push_back({.cluster_size = k,
                           .spheres = spheres,
                           .clustering = clustering,
                           .outlier_factor = outliers});
  return kinds;
}

bool holds(const Spheref& s, const Vec3f& p) {
  return length_sq(p - s.center) <= s.radius * s.radius;  // in floats, as queries do
}

// The oracle: walks down from the root by links alone, and counts what it meets.
struct Walk {
  const PointSphereTree& tree;
  std::set<std::uint32_t> points;
  std::map<int, std::set<std::uint32_t>> representatives;

  void visit(int level, std::uint32_t place, std::vector<Spheref> above) {
    const ShellLevel now = tree.level(level);
    const ShellNode& node = now.nodes[place];
    ASSERT_GT(node.child_count, 0U);
    above.push_back(sphere(now, place));
    representatives[level].insert(node.representative);
    if (level + 1 < tree.level_count()) {
      for (std::uint32_t c = 0; c < node.child_count; ++c)
        visit(level + 1, node.first_child + c, above);
      return;
    }
    for (std::uint32_t p = node.first_child; p < node.first_child + node.child_count; ++p) {
      EXPECT_TRUE(points.insert(p).second);
      for (const Spheref& s : above) EXPECT_TRUE(holds(s, tree.point(p))) << p;
    }
  }
};

TEST(PointSphereTree, EveryPointIsInAllSpheresAboveIt) {
  for (const std::size_t count : {1U, 2U, 3U, 9U, 64U, 65U, 700U}) {
    const PointShell shell = ball_shell(count);
    for (const PointSphereTreeSettings& settings : all_kinds()) {
      const PointSphereTree tree = build_point_sphere_tree(shell, settings);
      EXPECT_EQ(find_flaw_in_point_sphere_tree(tree.buffer()), std::nullopt);
      Walk walk{tree, {}, {}};
      walk.visit(0, 0, {});
      EXPECT_EQ(walk.points.size(), count);
      for (int l = 0; l < tree.level_count(); ++l)
        EXPECT_EQ(walk.representatives[l].size(), tree.level(l).node_count);
      // Each level's representatives are among the next level's.
      for (int l = 0; l + 1 < tree.level_count(); ++l)
        for (const std::uint32_t r : walk.representatives[l])
          EXPECT_TRUE(walk.representatives[l + 1].contains(r));
      for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(tree.point(i), shell.points[tree.original()[i]]);
        EXPECT_EQ(tree.normals()[i], shell.normals[tree.original()[i]]);
        EXPECT_EQ(tree.areas()[i], shell.areas[tree.original()[i]]);
      }
    }
  }
}

TEST(PointSphereTree, ClustersAreNearlyFull) {
  const PointShell shell = ball_shell(5000);
  for (const int k : {4, 8}) {
    const PointSphereTree tree = build_point_sphere_tree(shell, {.cluster_size = k});
    const int last = tree.level_count() - 1;
    std::uint32_t most = 0;
    for (const ShellNode& node : tree.level(last).nodes) most = std::max(most, node.child_count);
    EXPECT_EQ(most, static_cast<std::uint32_t>(k));
    EXPECT_GT(5000.0 / tree.level(last).node_count, 0.65 * k);
    // Spheres shrink as their content does.
    for (int l = 1; l < tree.level_count(); ++l)
      EXPECT_LT(tree.header().levels[l].mean_radius, tree.header().levels[l - 1].mean_radius);
  }
}

TEST(PointSphereTree, EveryLevelSamplesTheWholeObject) {
  const PointShell shell = ball_shell(3000);
  const PointSphereTree tree = build_point_sphere_tree(shell, {.cluster_size = 8});
  for (int l = 0; l < tree.level_count(); ++l) {
    double furthest = 0;  // of any point from the level's nearest representative
    for (std::uint32_t i = 0; i < tree.point_count(); ++i) {
      double nearest = 1e9;
      for (const ShellNode& node : tree.level(l).nodes)
        if (node.child_count > 0)
          nearest = std::min(nearest, length(to_double(tree.point(i)) -
                                             to_double(tree.point(node.representative))));
      furthest = std::max(furthest, nearest);
    }
    EXPECT_LE(furthest + tree.covering_radius(), tree.covering_radius(l));
    // A node's share of the ball, as a disc: coverage follows from how many there are.
    EXPECT_LE(furthest, 3 * std::sqrt(1.0 / tree.level(l).node_count)) << l;
  }
}

TEST(PointSphereTree, SameBytesForAnyNumberOfThreads) {
  const PointShell shell = ball_shell(20000);
  for (const double outliers : {0.0, 2.0}) {
    std::set<std::uint64_t> hashes;
    for (const int threads : {1, 2, 7}) {
      const PointSphereTree tree =
          build_point_sphere_tree(shell, {.outlier_factor = outliers, .threads = {threads}});
      hashes.insert(hash_bytes(tree.buffer()));
    }
    EXPECT_EQ(hashes.size(), 1U);
  }
}

float widest_leaf(const PointSphereTree& tree) {
  return tree.header().levels[tree.level_count() - 1].max_radius;
}

// Points in two clumps far apart.
PointShell two_clumps(std::size_t first, std::size_t second) {
  PointShell shell = ball_shell(first + second);
  for (std::size_t i = 0; i < first + second; ++i)
    shell.points[i] = {(i < first ? 0.0F : 100.0F) + 0.01F * static_cast<float>(i), 0, 0};
  return shell;
}

TEST(PointSphereTree, SplitsFollowGaps) {
  // Halves of four and four would mix them.
  EXPECT_LT(widest_leaf(build_point_sphere_tree(two_clumps(5, 3), {.cluster_size = 4})), 1);
}

TEST(PointSphereTree, OutliersLeaveTheirClusters) {
  // Sixteen points fill a tree of two levels: a cluster of both clumps cannot be helped.
  const PointShell full = two_clumps(9, 7);
  EXPECT_GT(widest_leaf(build_point_sphere_tree(full, {.cluster_size = 4})), 40);
  EXPECT_LT(widest_leaf(build_point_sphere_tree(full, {.cluster_size = 4, .outlier_factor = 1.5})),
            1);
}

TEST(PointSphereTree, EqualPointsAndLinesHaveTreesToo) {
  for (const PointSphereTreeSettings& settings : all_kinds()) {
    PointShell shell = ball_shell(300);
    for (Vec3f& p : shell.points) p = {1, 2, 3};
    const PointSphereTree same = build_point_sphere_tree(shell, settings);
    EXPECT_EQ(find_flaw_in_point_sphere_tree(same.buffer()), std::nullopt);
    EXPECT_EQ(same.bounding_sphere().radius, 0);
    for (std::size_t i = 0; i < 300; ++i)  // far apart, and tiny
      shell.points[i] = {i % 2 == 0 ? 1e15F : 1e-30F * static_cast<float>(i), 0, 0};
    const PointSphereTree line = build_point_sphere_tree(shell, settings);
    EXPECT_EQ(find_flaw_in_point_sphere_tree(line.buffer()), std::nullopt);
  }
}

TEST(PointSphereTree, NormalsKeepTheSidesOfASheetApart) {
  PointShell shell;
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const float side = i % 2 == 0 ? 1.0F : -1.0F;
    shell.points.push_back({static_cast<float>(random.uniform()),
                            static_cast<float>(random.uniform()), 0.001F * side});
    shell.normals.push_back({0, 0, side});
    shell.areas.push_back(0.001F);
  }
  shell.spacing = 0.03;
  const auto mixed = [&](Clustering clustering) {
    const PointSphereTree tree = build_point_sphere_tree(shell, {.clustering = clustering});
    int count = 0;
    for (const ShellNode& node : tree.level(tree.level_count() - 1).nodes)
      for (std::uint32_t p = 1; p < node.point_count; ++p)
        if (tree.point(node.first_point + p).z * tree.point(node.first_point).z < 0) {
          ++count;
          break;
        }
    return count;
  };
  const int near = mixed(Clustering::kNearness);
  EXPECT_GT(near, 100);
  EXPECT_LT(mixed(Clustering::kNearnessAndNormal), near / 3);
}

// All balls through up to four points; the smallest that holds all is the answer.
double brute_force_radius(const std::vector<Vec3>& p) {
  const auto radius_at = [&](const Vec3& c) {
    double most = 0;
    for (const Vec3& q : p) most = std::max(most, length(q - c));
    return most;
  };
  double best = 1e30;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = i + 1; j < p.size(); ++j) {
      best = std::min(best, radius_at((p[i] + p[j]) * 0.5));
      for (std::size_t k = j + 1; k < p.size(); ++k) {
        const Vec3 a = p[j] - p[i], b = p[k] - p[i], n = cross(a, b);
        const Vec3 to = cross(a * length_sq(b) - b * length_sq(a), n) * -1.0 / (2 * length_sq(n));
        best = std::min(best, radius_at(p[i] + to));
        for (std::size_t l = k + 1; l < p.size(); ++l) {
          const Vec3 c = p[l] - p[i];
          const double det = 2 * dot(a, cross(b, c));
          const Vec3 up =
              cross(b, c) * length_sq(a) + cross(c, a) * length_sq(b) + cross(a, b) * length_sq(c);
          best = std::min(best, radius_at(p[i] + up / det));
        }
      }
    }
  return best;
}

TEST(EnclosingBall, IsTheSmallest) {
  Random random(11);
  int with_four = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 2 + random.below(9);
    const double flat = random.below(3) == 0 ? 1e-3 : 1;  // near a plane, as surfaces are
    std::vector<float> x, y, z;
    std::vector<Vec3> p;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3f q = to_float(random.in_box({-1, -1, -flat}, {1, 1, flat}));
      p.push_back(to_double(q));
      x.push_back(q.x);
      y.push_back(q.y);
      z.push_back(q.z);
    }
    const Sphere ball = detail::compute_enclosing_ball(detail::PointColumns{x, y, z});
    const double measured =
        detail::distance_to_furthest(detail::PointColumns{x, y, z}, ball.center);
    const double expected = n == 2 ? length(p[1] - p[0]) / 2 : brute_force_radius(p);
    EXPECT_NEAR(measured, expected, 1e-7 * expected) << round;
    int touching = 0;
    for (const Vec3& q : p) touching += length(q - ball.center) > expected * (1 - 1e-7) ? 1 : 0;
    with_four += touching >= 4 ? 1 : 0;
  }
  EXPECT_GT(with_four, 40);
}

TEST(EnclosingBall, SurvivesWhatIsDegenerate) {
  const std::vector<float> same(9, 0.3F);
  EXPECT_EQ(detail::compute_enclosing_ball(detail::PointColumns{same, same, same}).radius, 0);
  std::vector<float> line, zero, ring_x, ring_y;
  for (int i = 0; i < 50; ++i) {
    line.push_back(static_cast<float>(i));
    zero.push_back(0);
    ring_x.push_back(i % 4 == 0 ? 1.0F : i % 4 == 2 ? -1.0F : 0.0F);
    ring_y.push_back(i % 4 == 1 ? 1.0F : i % 4 == 3 ? -1.0F : 0.0F);
  }
  EXPECT_NEAR(detail::compute_enclosing_ball(detail::PointColumns{line, zero, zero}).radius, 24.5,
              1e-9);
  EXPECT_NEAR(detail::compute_enclosing_ball(detail::PointColumns{ring_x, ring_y, zero}).radius, 1,
              1e-9);
}

// Of balls: no centre nearby needs a smaller radius.
TEST(EnclosingBall, OfBallsCannotShrink) {
  Random random(12);
  for (int round = 0; round < 300; ++round) {
    std::vector<Sphere> balls;
    const std::size_t n = 1 + random.below(12);
    for (std::size_t i = 0; i < n; ++i)
      balls.push_back({random.in_box({-1, -1, -1}, {1, 1, 1}), random.uniform(0, 0.8)});
    const Sphere ball = detail::compute_enclosing_ball(balls);
    const double radius = detail::distance_to_furthest(balls, ball.center);
    EXPECT_NEAR(radius, ball.radius, 1e-8 * radius);
    for (int step = 0; step < 60; ++step) {
      const Vec3 moved = ball.center + random.unit_vector() * random.uniform(1e-4, 0.1);
      EXPECT_GE(detail::distance_to_furthest(balls, moved), radius * (1 - 1e-8));
    }
  }
}

TEST(PointSphereTree, NestedSpheresAreLarger) {
  const PointShell shell = ball_shell(4000);
  const PointSphereTree points = build_point_sphere_tree(shell);
  const PointSphereTree nested = build_point_sphere_tree(shell, {.spheres = SphereKind::kNested});
  for (int l = 0; l + 1 < points.level_count(); ++l)
    EXPECT_GT(nested.header().levels[l].mean_radius, points.header().levels[l].mean_radius);
}

TEST(PointSphereTree, RefusesBadInput) {
  EXPECT_THROW(build_point_sphere_tree({}), Error);
  PointShell shell = ball_shell(10);
  EXPECT_THROW(build_point_sphere_tree(shell, {.cluster_size = 1}), Error);
  EXPECT_THROW(build_point_sphere_tree(shell, {.cluster_size = 17}), Error);
  EXPECT_THROW(build_point_sphere_tree(shell, {.outlier_factor = 0.5}), Error);
  EXPECT_THROW(build_point_sphere_tree(shell, {.max_memory = 100}), Error);
  shell.points[3].y = std::nanf("");
  EXPECT_THROW(build_point_sphere_tree(shell), Error);
  shell = ball_shell(10);
  shell.areas.pop_back();
  EXPECT_THROW(build_point_sphere_tree(shell), Error);
}

// Any byte of the buffer may be changed: it is refused, or the tree can be walked.
TEST(PointSphereTree, HostileBuffersAreRefusedOrSafe) {
  const PointSphereTree tree = build_point_sphere_tree(ball_shell(40), {.cluster_size = 4});
  Random random(5);
  int refused = 0, cases = 0;
  for (const Check check : {Check::kHeader, Check::kDeep})
    for (std::size_t at = 0; at < tree.buffer().size(); at += check == Check::kDeep ? 3 : 1) {
      const FlatRoom room = make_flat_room(tree.buffer().size());
      std::memcpy(room.bytes.data(), tree.buffer().data(), room.bytes.size());
      const auto value = static_cast<std::byte>(random.below(256));
      if (room.bytes[at] == value) continue;
      room.bytes[at] = value;
      ++cases;
      if (find_flaw_in_point_sphere_tree(room.bytes, check)) {
        ++refused;
        continue;
      }
      const PointSphereTree changed = PointSphereTree::from_buffer(room.bytes, room.owner, check);
      std::uint64_t sum = changed.how().size();
      for (int l = 0; l < changed.level_count(); ++l)
        for (const ShellNode& node : changed.level(l).nodes)
          if (node.child_count > 0 && l + 1 < changed.level_count())
            sum += changed.level(l + 1).nodes[node.first_child + node.child_count - 1].parent;
      EXPECT_LT(sum, std::uint64_t{1} << 40U);
    }
  EXPECT_GT(refused, cases / 4);
  for (std::size_t size = 0; size < tree.buffer().size(); size += 61) {
    const FlatBuffer cut = copy_to_flat_buffer(tree.buffer().first(size));
    EXPECT_TRUE(find_flaw_in_point_sphere_tree(cut.bytes)) << size;
  }
}

TEST(PointSphereTree, TheValidatorNamesWhatIsWrong) {
  const PointSphereTree tree = build_point_sphere_tree(ball_shell(200));
  const PointSphereTreeHeader& h = tree.header();
  const auto flaw_with = [&](std::uint64_t at, auto value) {
    const FlatRoom room = make_flat_room(tree.buffer().size());
    std::memcpy(room.bytes.data(), tree.buffer().data(), room.bytes.size());
    std::memcpy(room.bytes.data() + at, &value, sizeof value);
    return find_flaw_in_point_sphere_tree(room.bytes).value_or("none");
  };
  const ShellLevelEntry& leaves = h.levels[h.level_count - 1];
  const auto expect = [](const std::string& flaw, const std::string& part) {
    EXPECT_NE(flaw.find(part), std::string::npos) << flaw;
  };
  expect(flaw_with(h.x_offset + 4 * 17, 9.0F), "does not hold point 17");
  expect(flaw_with(h.x_offset + 4 * 17, std::nanf("")), "point 17 is not finite");
  expect(flaw_with(h.normal_offset, 9.0F), "normal 0");
  expect(flaw_with(h.area_offset, -1.0F), "area 0");
  expect(flaw_with(h.original_offset, 500U), "which cannot be");
  expect(flaw_with(h.levels[0].group_offset + 96, 0.3F), "level 0, node 0: its sphere");
  expect(flaw_with(leaves.node_offset + 4, 3000000000U), "too many children");
  expect(flaw_with(leaves.node_offset + 16, 199U), "representative is not below");
  expect(flaw_with(leaves.node_offset + 28, 0.0F), "reach");
  expect(flaw_with(h.levels[1].node_offset, 800000U), "children begin at 800000");
  expect(flaw_with(std::uint64_t{12}, 33U), "33 levels");
  expect(flaw_with(std::uint64_t{16}, 0U), "0 points");
  expect(flaw_with(h.z_offset + 4 * 200, 1.0F), "not zero");
  EXPECT_EQ(flaw_with(std::uint64_t{8}, 1U), "none");
}

TEST(PointSphereTree, GoesThroughAnAsset) {
  const PointSphereTree tree = build_point_sphere_tree(ball_shell(500));
  Asset asset;
  EXPECT_FALSE(find_point_sphere_tree(asset));
  set_point_sphere_tree(asset, tree);
  set_point_sphere_tree(asset, tree);  // replaces
  const Asset again = decode_asset(encode_asset(asset), "part.isotact");
  const auto found = find_point_sphere_tree(again);
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::equal(found->buffer().begin(), found->buffer().end(), tree.buffer().begin(),
                         tree.buffer().end()));
  EXPECT_EQ(found->how(), "random");
  const std::vector<std::byte> rubbish(200, std::byte{7});
  Asset bad;
  bad.file_name = "bad.isotact";
  bad.raw.push_back({SectionKind::kPointshell, copy_to_flat_buffer(rubbish)});
  try {
    find_point_sphere_tree(bad);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bad.isotact"), std::string::npos);
  }
}

}  // namespace
}  // namespace isotact
