#include "isotact/pointshell/detail/measure.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "isotact/pointshell/detail/nearest_points.h"

namespace isotact::detail {
namespace {

struct Corner {
  Vec3 at;
  std::uint32_t nearest;
  double distance;
};

struct Piece {
  Corner corner[3];
  double area;
};

struct PieceBounds {
  double lower, upper;
};

PieceBounds join(const PieceBounds& a, const PieceBounds& b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

PieceBounds find_bounds(const Piece& p, std::span<const Vec3f> samples) {
  PieceBounds b{0, std::numeric_limits<double>::infinity()};
  for (const Corner& from : p.corner) {
    b.lower = std::max(b.lower, from.distance);
    const Vec3 sample = to_double(samples[from.nearest]);
    double furthest = 0;
    for (const Corner& to : p.corner) furthest = std::max(furthest, length(to.at - sample));
    b.upper = std::min(b.upper, furthest);
  }
  return b;
}

bool is_of_one(const Piece& p) {
  return p.corner[0].nearest == p.corner[1].nearest && p.corner[1].nearest == p.corner[2].nearest;
}

// Which corner is opposite of the longest edge, and that edge's length.
struct LongestEdge {
  std::size_t opposite = 0;
  double length = 0;
};
LongestEdge find_longest(const Piece& p) {
  LongestEdge longest;
  for (std::size_t k = 0; k < 3; ++k) {
    const double l = length(p.corner[(k + 2) % 3].at - p.corner[(k + 1) % 3].at);
    if (l > longest.length) longest = {k, l};
  }
  return longest;
}

class Measure {
 public:
  Measure(const ShellSurface& surface, const PointShell& shell, const ShellSettings& settings,
          double piece_size)
      : surface_(surface),
        samples_(shell.points),
        nearest_(shell.points, settings.threads),
        tolerance_(settings.covering_tolerance),
        size_(shell.spacing * piece_size),
        // Areas are summed as whole numbers, so that threads may add in any order.
        unit_(surface.area * 0x1p-60),
        sums_(shell.points.size(), 0) {}

  // Of one chunk of triangles.
  struct Found {
    double lower = 0;            // of the covering radius
    double upper = 0;            // of pieces that are done
    std::vector<Piece> pending;  // pieces that may have to be halved further
  };

  Found measure_triangles(std::size_t begin, std::size_t end) {
    Found found;
    for (std::size_t t = begin; t < end; ++t) {
      const auto c = corners(surface_.mesh, t);
      Piece p{.corner = {}, .area = surface_.triangle_areas[t]};
      std::uint32_t hint = kNoPoint;
      for (std::size_t k = 0; k < 3; ++k) {
        p.corner[k] = look(to_double(c[k]), hint);
        hint = p.corner[k].nearest;
      }
      share_out(p, found);
    }
    return found;
  }

  // The bounds of a piece, halved until they differ by `step` at most or the upper one is below
  // `good`.
  PieceBounds refine(const Piece& p, double good, double step) const {
    const PieceBounds b = find_bounds(p, samples_);
    if (b.upper <= good || b.upper - b.lower <= step || is_of_one(p)) return b;
    const auto [first, second] = halve(p);
    return join(refine(first, good, step), refine(second, good, step));
  }

  double tolerance() const { return tolerance_; }
  float area(std::size_t i) const {
    return static_cast<float>(static_cast<double>(sums_[i]) * unit_);
  }

 private:
  Corner look(const Vec3& at, std::uint32_t hint) const {
    const NearestPoint n = nearest_.find(at, hint);
    return {at, n.index, std::sqrt(n.distance_sq)};
  }

  std::pair<Piece, Piece> halve(const Piece& p) const {
    const std::size_t k = find_longest(p).opposite;
    const Corner &a = p.corner[(k + 1) % 3], &b = p.corner[(k + 2) % 3];
    const Corner middle = look((a.at + b.at) * 0.5, a.nearest);
    return {{{p.corner[k], a, middle}, p.area / 2}, {{p.corner[k], middle, b}, p.area / 2}};
  }

  void add(std::uint32_t sample, double area) {
    std::atomic_ref(sums_[sample])
        .fetch_add(static_cast<std::int64_t>(std::nearbyint(area / unit_)),
                   std::memory_order_relaxed);
  }

  void share_out(const Piece& p, Found& found) {
    if (!is_of_one(p) && find_longest(p).length > size_) {
      const auto [first, second] = halve(p);
      share_out(first, found);
      share_out(second, found);
      return;
    }
    for (const Corner& c : p.corner) add(c.nearest, p.area / 3);
    const PieceBounds b = find_bounds(p, samples_);
    found.lower = std::max(found.lower, b.lower);
    if (is_of_one(p) || b.upper <= found.lower * (1 + tolerance_))
      found.upper = std::max(found.upper, b.upper);
    else
      found.pending.push_back(p);
  }

  const ShellSurface& surface_;
  std::span<const Vec3f> samples_;
  NearestPoints nearest_;
  double tolerance_, size_, unit_;
  std::vector<std::int64_t> sums_;
};

}  // namespace

void measure_shell(const ShellSurface& surface, PointShell& shell, const ShellSettings& settings,
                   double piece_size) {
  Measure measure(surface, shell, settings, piece_size);
  const std::size_t n = surface.mesh.triangles.size();
  const std::size_t grain = std::clamp<std::size_t>(n / 256, 1, 1024);
  using Found = Measure::Found;
  Found all = parallel_reduce(
      n, grain, settings.threads, Found{},
      [&](std::size_t begin, std::size_t end) {
        settings.monitor.check();
        return measure.measure_triangles(begin, end);
      },
      [](Found a, Found b) {
        a.lower = std::max(a.lower, b.lower);
        a.upper = std::max(a.upper, b.upper);
        a.pending.insert(a.pending.end(), b.pending.begin(), b.pending.end());
        return a;
      });
  // Coarsely first: the better the lower bound, the fewer pieces are looked at closely.
  double lower = std::max(all.lower, shell.spacing * 1e-3), refined = 0;
  for (const double tolerance : {std::max(0.2, measure.tolerance()), measure.tolerance()}) {
    const double good = lower * (1 + tolerance), step = lower * tolerance;
    const PieceBounds found = parallel_reduce(
        all.pending.size(), 64, settings.threads, PieceBounds{0, 0},
        [&](std::size_t begin, std::size_t end) {
          settings.monitor.check();
          PieceBounds most{0, 0};
          for (std::size_t i = begin; i < end; ++i)
            most = join(most, measure.refine(all.pending[i], good, step));
          return most;
        },
        join);
    lower = std::max(lower, found.lower);
    refined = found.upper;
  }
  constexpr double kRounding = 1 + 1e-12;  // distances and middles are good to some 1e-15
  shell.covering_radius = std::max(all.upper, refined) * kRounding;
  shell.surface_area = surface.area;
  shell.areas.resize(shell.points.size());
  for (std::size_t i = 0; i < shell.points.size(); ++i) shell.areas[i] = measure.area(i);
}

}  // namespace isotact::detail
