// XB14 section 5 names particle repulsion without details ([BJ08]); this is our own method.
// Particles push each other apart along the surface with a force that ends at kReach spacings, and
// walk along the triangles. All particles move at once, so the result does not depend on threads.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/point_blocks.h"
#include "isotact/pointshell/detail/shell_passes.h"
#include "isotact/pointshell/detail/shell_surface.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {
namespace {

// Chosen by trials on some 260 meshes, for the median of the covering radius after 12 to 16 rounds.
// A larger force makes particles swing about their places.
constexpr double kReach = 1.8;  // Spacings: the first ring of neighbours, not the second.
constexpr double kForce = 0.8;  // Spacings of motion per unit of force.
// Spacings per round, in the first round and in the last. Long moves even out what the start left;
// short ones let particles settle.
constexpr double kLongestMove = 0.5, kLongestMoveAtEnd = 0.05;

void check_settings(const RepulsionShellSettings& s) {
  if ((s.count > 0) == (s.spacing > 0))
    throw Error("pointshell: either a number of points or a spacing must be given");
  if (!(s.spacing >= 0 && std::isfinite(s.spacing)))
    throw Error("pointshell: the spacing must be positive and finite");
  if (s.rounds < 0 || s.rounds > 1000)
    throw Error(fmt::format("pointshell: {} rounds of repulsion, expected 0 to 1000", s.rounds));
}

struct Particles {
  std::vector<Vec3f> points, normals;
  std::vector<std::uint32_t> triangles;  // None for the first ones, which do not move.
  std::size_t fixed = 0;
};

// Places particles in proportion to area. The i-th is at (i + 1/2) / count of the sum over
// triangles. Inside its triangle, it follows a sequence that fills the square evenly (additive
// recurrence with the plastic number).
void start_particles(Particles& p, const detail::ShellSurface& surface, std::size_t count) {
  constexpr double kPlastic = 1.32471795724474602596;
  std::size_t t = 0;
  double before = 0;
  const std::size_t last = surface.triangle_areas.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i);
    const double target = (n + 0.5) / static_cast<double>(count) * surface.area;
    while (t < last && before + surface.triangle_areas[t] < target)
      before += surface.triangle_areas[t++];
    double u = n / kPlastic, v = n / (kPlastic * kPlastic);
    u -= std::floor(u);
    v -= std::floor(v);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const auto c = corners(surface.mesh, t);
    const Vec3 a = to_double(c[0]);
    const Vec3f at = to_float(a + (to_double(c[1]) - a) * u + (to_double(c[2]) - a) * v);
    p.points.push_back(at);
    p.normals.push_back(surface.face_normals[t]);
    p.triangles.push_back(static_cast<std::uint32_t>(t));
  }
}

// Normals of the points of a block, coordinates side by side.
struct NormalBlock {
  float x[detail::PointBlocks::kSize], y[detail::PointBlocks::kSize], z[detail::PointBlocks::kSize];
};

// Sum of pushes from neighbours, four at a time. Distances are in units of the reach, so that no
// size of a mesh matters to the floats.
class Push {
 public:
  Push(const Vec3f& at, const Vec3f& normal, double reach)
      : x_(at.x),
        y_(at.y),
        z_(at.z),
        normal_x_(normal.x),
        normal_y_(normal.y),
        normal_z_(normal.z),
        inverse_(static_cast<float>(1 / reach)),
        normal_(to_double(normal)) {}

  void add(const detail::PointBlocks::Block& points, const NormalBlock& normals) {
    for (std::size_t k = 0; k < detail::PointBlocks::kSize; k += L::kWidth) {
      const L x = (x_ - detail::load<L>(points.x + k)) * inverse_;
      const L y = (y_ - detail::load<L>(points.y + k)) * inverse_;
      const L z = (z_ - detail::load<L>(points.z + k)) * inverse_;
      const L square = x * x + y * y + z * z;
      // False for the particle itself, for others at its place, and for places without a point.
      const auto is_near = (square <= L(1.0F)) & (square > L(0.0F));
      if (detail::bits_of(is_near) == 0) continue;
      const L agreement = normal_x_ * detail::load<L>(normals.x + k) +
                          normal_y_ * detail::load<L>(normals.y + k) +
                          normal_z_ * detail::load<L>(normals.z + k);
      // The other side of a sheet is not a neighbour.
      const auto counts = is_near & (agreement >= L(-0.2F));
      const L distance = detail::square_root(square);
      const L strength = L(1.0F) - distance;
      const L weight = strength * strength / distance;
      const L none(0.0F);
      sum_x_ = sum_x_ + detail::select(counts, x * weight, none);
      sum_y_ = sum_y_ + detail::select(counts, y * weight, none);
      sum_z_ = sum_z_ + detail::select(counts, z * weight, none);
    }
  }

  // Returns the motion along the surface.
  Vec3 compute_move(double spacing, double longest) const {
    const Vec3 sum = to_double(Vec3f{total(sum_x_), total(sum_y_), total(sum_z_)});
    const Vec3 push = (sum - normal_ * dot(sum, normal_)) * (kForce * spacing);
    const double l = length(push);
    return l > longest ? push * (longest / l) : push;
  }

 private:
  using L = detail::Lanes<float, 4>;
  static float total(const L& lanes) {
    return (lanes.v[0] + lanes.v[1]) + (lanes.v[2] + lanes.v[3]);
  }

  L x_, y_, z_, normal_x_, normal_y_, normal_z_, inverse_;
  L sum_x_{0.0F}, sum_y_{0.0F}, sum_z_{0.0F};
  Vec3 normal_;
};

// All particles in the order of blocks, so that neighbours are also near each other in memory.
class Rounds {
 public:
  Rounds(const Particles& p, const detail::ShellSurface& surface, double spacing,
         const ShellSettings& settings)
      : surface_(surface),
        spacing_(spacing),
        settings_(settings),
        blocks_(p.points, settings.threads),
        points_(p.points.size()),
        normals_(blocks_.count()),
        triangles_(p.points.size(), kNoTriangle),
        moved_(p.points.size()) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const std::uint32_t from = blocks_.order()[i];
      points_[i] = p.points[from];
      set_normal(i, p.normals[from]);
      if (from >= p.fixed) triangles_[i] = p.triangles[from - p.fixed];
    }
  }

  // No particle moves further than `longest`, in metres.
  void run_round(double longest) {
    constexpr std::size_t kGroup = 4;  // Blocks that share a search of the tree.
    const std::size_t groups = (blocks_.count() + kGroup - 1) / kGroup;
    const std::vector<std::uint32_t> blocked = parallel_reduce(
        groups, 16, settings_.threads, std::vector<std::uint32_t>{},
        [&](std::size_t begin, std::size_t end) {
          std::vector<std::uint32_t> near_group, near, some_blocked;
          for (std::size_t g = begin; g < end; ++g) {
            const std::size_t first = g * kGroup, last = std::min(first + kGroup, blocks_.count());
            blocks_.list_near_any(first, last, reach(), near_group);
            for (std::size_t b = first; b < last; ++b) {
              blocks_.narrow(b, reach(), near_group, near);
              walk_block(b, near, longest, some_blocked);
            }
          }
          return some_blocked;
        },
        [](std::vector<std::uint32_t> a, const std::vector<std::uint32_t>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
    search(blocked, longest);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (triangles_[i] == kNoTriangle) continue;
      triangles_[i] = moved_[i].triangle;
      points_[i] = moved_[i].point;
      set_normal(i, surface_.face_normals[moved_[i].triangle]);
    }
    blocks_.move(points_, settings_.threads);
  }

  // Points and normals. Positions were rounded in each round: the nearest place of the triangle
  // counts.
  void write(Particles& p) const {
    parallel_for(points_.size(), 1024, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t to = blocks_.order()[i];
        if (to < p.fixed) continue;
        const auto [a, b, c] = corners(surface_.mesh, triangles_[i]);
        const TrianglePoint at = find_closest_point_on_triangle(points_[i], a, b, c);
        p.points[to] = to_float(at.point);
        p.normals[to] = detail::normal_at(
            surface_, {.triangle = triangles_[i], .feature = at.feature, .point = {}});
      }
    });
  }

 private:
  static constexpr std::size_t kBlock = detail::PointBlocks::kSize;

  double reach() const { return kReach * spacing_; }
  Vec3f normal_at(std::size_t i) const {
    const NormalBlock& block = normals_[i / kBlock];
    return {block.x[i % kBlock], block.y[i % kBlock], block.z[i % kBlock]};
  }
  void set_normal(std::size_t i, const Vec3f& normal) {
    NormalBlock& block = normals_[i / kBlock];
    block.x[i % kBlock] = normal.x;
    block.y[i % kBlock] = normal.y;
    block.z[i % kBlock] = normal.z;
  }

  struct Moved {
    std::uint32_t triangle;
    Vec3f point;
  };

  void walk_block(std::size_t block, std::span<const std::uint32_t> near, double longest,
                  std::vector<std::uint32_t>& blocked) {
    for (std::size_t i = blocks_.begin(block); i < blocks_.end(block); ++i)
      if (triangles_[i] != kNoTriangle && !walk(i, near, longest))
        blocked.push_back(static_cast<std::uint32_t>(i));
  }

  // Sets the next position of a particle. Returns false if the walk there was blocked: `moved_` is
  // then where the particle would be without a surface.
  bool walk(std::size_t i, std::span<const std::uint32_t> near, double longest) {
    Push push(points_[i], normal_at(i), reach());
    for (const std::uint32_t b : near) push.add(blocks_.block(b), normals_[b]);
    const Vec3 from = to_double(points_[i]), move = push.compute_move(spacing_, longest);
    const detail::WalkResult walk = detail::walk_on_surface(surface_, triangles_[i], from, move);
    const bool arrived = walk.status == detail::WalkStatus::kArrived;
    moved_[i] = {walk.triangle, to_float(arrived ? walk.point : from + move)};
    return arrived;
  }

  // Particles may pass borders, and cracks between parts that do not share vertices: there the
  // nearest place of the whole surface counts.
  void search(std::span<const std::uint32_t> blocked, double longest) {
    if (blocked.empty()) return;
    if (!bvh_) bvh_.emplace(surface_.mesh, BvhSettings{.threads = settings_.threads});
    // A particle was on the surface before, up to rounding. So the surface is no further away than
    // the particle has moved.
    const auto furthest = static_cast<float>(longest + spacing_ * 0.1);
    parallel_for(blocked.size(), 64, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::uint32_t i = blocked[k];
        const ClosestPoint next = find_closest_point(*bvh_, moved_[i].point, furthest);
        moved_[i] = next.triangle != kNoTriangle ? Moved{next.triangle, next.point}
                                                 : Moved{triangles_[i], points_[i]};
      }
    });
  }

  const detail::ShellSurface& surface_;
  double spacing_;
  const ShellSettings& settings_;
  detail::PointBlocks blocks_;
  std::vector<Vec3f> points_;
  std::vector<NormalBlock> normals_;
  std::vector<std::uint32_t> triangles_;  // None for particles that do not move.
  std::vector<Moved> moved_;
  std::optional<Bvh> bvh_;  // Once it is needed.
};

}  // namespace

PointShell sample_by_repulsion(const TriangleMesh& mesh, const RepulsionShellSettings& settings) {
  check_settings(settings);
  const ShellSettings& common = settings.common;
  const detail::ShellSurface surface = detail::prepare_shell_surface(mesh, common);
  const double wanted =
      settings.count > 0
          ? settings.count
          : std::max(1.0, std::ceil(detail::points_for(surface.area, settings.spacing)));
  detail::check_point_count(wanted, common);
  const auto count = static_cast<std::size_t>(wanted);
  PointShell shell;
  shell.spacing =
      settings.spacing > 0 ? settings.spacing : detail::spacing_for(surface.area, wanted);
  shell.how = fmt::format("repulsion, {} rounds", settings.rounds);
  Particles particles;
  if (common.sample_edges && count > 1) {
    detail::EdgeSamples edges = detail::sample_edges_for_shell(
        surface, common.sharp_degrees, shell.spacing, count / 2, common.threads);
    particles.fixed = edges.points.size();
    particles.points = std::move(edges.points);
    particles.normals = std::move(edges.normals);
  }
  shell.edge_points = particles.fixed;
  start_particles(particles, surface, count - particles.fixed);
  Rounds rounds(particles, surface, shell.spacing, common);
  for (int round = 0; round < settings.rounds; ++round) {
    common.monitor.check();
    common.monitor.report({.task = "spreading points",
                           .done = static_cast<std::uint64_t>(round),
                           .total = static_cast<std::uint64_t>(settings.rounds)});
    const double done = settings.rounds > 1 ? round / (settings.rounds - 1.0) : 0;
    rounds.run_round(shell.spacing * (kLongestMove + (kLongestMoveAtEnd - kLongestMove) * done));
  }
  rounds.write(particles);
  shell.points = std::move(particles.points);
  shell.normals = std::move(particles.normals);
  detail::measure_shell(surface, shell, common);
  return shell;
}

}  // namespace isotact
