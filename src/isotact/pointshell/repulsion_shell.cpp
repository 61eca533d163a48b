// XB14 section 5 names particle repulsion without details ([BJ08]); this is our own method.
// Particles push each other apart along the surface with a force that ends at kReach spacings. An
// exact search of the triangles brings them back to the surface. All particles move at once, so the
// result does not depend on threads.
#include <algorithm>
#include <cmath>
#include <optional>
#include <cstdlib>
#include <cstdio>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/pointshell/detail/measure.h"
#include "isotact/pointshell/detail/point_blocks.h"
#include "isotact/pointshell/detail/projection.h"
#include "isotact/pointshell/detail/sharp_edges.h"
#include "isotact/pointshell/detail/surface_walk.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {
namespace {

constexpr double kReach = 1.6;         // Spacings: the first ring of neighbours, not the second.
constexpr double kLongestMove = 0.35;  // Spacings per round.
constexpr double kForce = 0.9;         // Spacings of motion per unit of force.

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

// Sum of pushes from neighbours, in the order of their positions.
class Push {
 public:
  Push(const Vec3f& at, const Vec3f& normal, double reach)
      : at_(to_double(at)), normal_(to_double(normal)), reach_(reach) {}

  void add(const Vec3f& point, const Vec3f& normal) {
    const Vec3 from = at_ - to_double(point);
    const double distance_sq = length_sq(from);
    if (distance_sq == 0 || distance_sq > reach_ * reach_) return;
    // The other side of a sheet is not a neighbour.
    if (dot(to_double(normal), normal_) < -0.2) return;
    const double distance = std::sqrt(distance_sq);
    const double strength = 1 - distance / reach_;
    sum_ += from * (strength * strength / distance);
  }

  // Returns the motion along the surface.
  Vec3 find_move(double spacing) const {
    const Vec3 push = (sum_ - normal_ * dot(sum_, normal_)) * (kForce * spacing);
    const double l = length(push), longest = kLongestMove * spacing;
    return l > longest ? push * (longest / l) : push;
  }

 private:
  Vec3 at_, normal_;
  double reach_;
  Vec3 sum_{};
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
        normals_(p.points.size()),
        triangles_(p.points.size(), kNoTriangle),
        moved_(p.points.size()) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const std::uint32_t from = blocks_.order()[i];
      points_[i] = p.points[from];
      normals_[i] = p.normals[from];
      if (from >= p.fixed) triangles_[i] = p.triangles[from - p.fixed];
    }
  }

  void run_round() {
    const std::vector<std::uint32_t> blocked = parallel_reduce(
        blocks_.count(), 64, settings_.threads, std::vector<std::uint32_t>{},
        [&](std::size_t begin, std::size_t end) {
          std::vector<std::uint32_t> near, some_blocked;
          for (std::size_t b = begin; b < end; ++b) {
            blocks_.list_near(b, reach(), near);
            for (std::size_t i = blocks_.begin(b); i < blocks_.end(b); ++i)
              if (triangles_[i] != kNoTriangle && !walk(i, near))
                some_blocked.push_back(static_cast<std::uint32_t>(i));
          }
          return some_blocked;
        },
        [](std::vector<std::uint32_t> a, const std::vector<std::uint32_t>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
    search(blocked);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (triangles_[i] == kNoTriangle) continue;
      triangles_[i] = moved_[i].triangle;
      points_[i] = moved_[i].point;
      normals_[i] = surface_.face_normals[moved_[i].triangle];
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
  double reach() const { return kReach * spacing_; }

  struct Moved {
    std::uint32_t triangle;
    Vec3f point;
  };

  // Sets the next position of a particle. Returns false if the walk there was blocked: `moved_` is
  // then where the particle would be without a surface.
  bool walk(std::size_t i, std::span<const std::uint32_t> near) {
    Push push(points_[i], normals_[i], reach());
    blocks_.for_each_within(points_[i], reach(), near, [&](std::uint32_t j) {
      if (j != i) push.add(points_[j], normals_[j]);
    });
    const Vec3 from = to_double(points_[i]), move = push.find_move(spacing_);
    const detail::WalkResult walk =
        detail::walk_on_surface(surface_, triangles_[i], from, move);
    const bool arrived = walk.status == detail::WalkStatus::kArrived;
    moved_[i] = {walk.triangle, to_float(arrived ? walk.point : from + move)};
    return arrived;
  }

  // Particles may pass borders, and cracks between parts that do not share vertices: there the
  // nearest place of the whole surface counts.
  void search(std::span<const std::uint32_t> blocked) {
    if (blocked.empty()) return;
    blocked_ += blocked.size();
    if (!bvh_) bvh_.emplace(surface_.mesh, BvhSettings{.threads = settings_.threads});
    // A particle was on the surface before, up to rounding. So the surface is no further away than
    // the particle has moved.
    const auto furthest = static_cast<float>(spacing_ * kLongestMove * 1.5);
    parallel_for(blocked.size(), 64, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::uint32_t i = blocked[k];
        const ClosestPoint next = find_closest_point(*bvh_, moved_[i].point, furthest);
        moved_[i] = next.triangle != kNoTriangle ? Moved{next.triangle, next.point}
                                                 : Moved{triangles_[i], points_[i]};
      }
    });
  }

 public:
  std::size_t blocked_ = 0;
 private:
  const detail::ShellSurface& surface_;
  double spacing_;
  const ShellSettings& settings_;
  detail::PointBlocks blocks_;
  std::vector<Vec3f> points_, normals_;
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
    rounds.run_round();
  }
  rounds.write(particles);
  if(getenv("DBG")) fprintf(stderr,"blocked %zu\n",rounds.blocked_);
  shell.points = std::move(particles.points);
  shell.normals = std::move(particles.normals);
  detail::measure_shell(surface, shell, common);
  return shell;
}

}  // namespace isotact
