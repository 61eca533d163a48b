#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "isotact/pointshell/detail/nearest_points.h"
#include "isotact/pointshell/detail/shell_passes.h"

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

PieceBounds compute_bounds(const Piece& p, std::span<const Vec3f> samples) {
  double lower = 0, upper_sq = std::numeric_limits<double>::infinity();
  for (const Corner& from : p.corner) {
    lower = std::max(lower, from.distance);
    const Vec3 sample = to_double(samples[from.nearest]);
    double furthest_sq = 0;
    for (const Corner& to : p.corner)
      furthest_sq = std::max(furthest_sq, length_sq(to.at - sample));
    upper_sq = std::min(upper_sq, furthest_sq);
  }
  return {lower, std::sqrt(upper_sq)};
}

bool is_of_one(const Piece& p) {
  return p.corner[0].nearest == p.corner[1].nearest && p.corner[1].nearest == p.corner[2].nearest;
}

// The corner opposite to the longest edge, and that edge's length.
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

// A part of a list of candidates.
struct CandidateRange {
  std::size_t begin = 0, end = 0;
  bool is_known = false;
  std::size_t count() const { return end - begin; }
};

// Samples that may be nearest to a point of a piece, coordinates side by side. The list of a piece
// follows that of the piece that it is a half of.
class Candidates {
 public:
  static constexpr std::size_t kMost = 256;  // Per list.

  std::size_t size() const { return indices_.size(); }
  void add(const Vec3& at, std::uint32_t index) {
    x_.push_back(at.x);
    y_.push_back(at.y);
    z_.push_back(at.z);
    indices_.push_back(index);
  }
  void resize(std::size_t size) {
    x_.resize(size);
    y_.resize(size);
    z_.resize(size);
    indices_.resize(size);
  }

  // Appends the candidates of a list that are within reach. Each is written, and the next one
  // replaces it if it was not: no branch to guess wrong.
  CandidateRange narrow(const CandidateRange& known, const Vec3& center, double reach) {
    CandidateRange range{size(), size(), true};
    resize(range.begin + known.count());
    for (std::size_t i = known.begin; i < known.end; ++i) {
      const Vec3 at{x_[i], y_[i], z_[i]};
      x_[range.end] = at.x;
      y_[range.end] = at.y;
      z_[range.end] = at.z;
      indices_[range.end] = indices_[i];
      range.end += static_cast<std::size_t>(length_sq(at - center) <= reach * reach);
    }
    resize(range.end);
    return range;
  }

  // As NearestPoints::find.
  NearestPoint find_nearest(const Vec3& at, const CandidateRange& range) const {
    double squares[kMost];
    const std::size_t count = range.count();
    NearestPoint best;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = range.begin + i;
      squares[i] = length_sq(Vec3{x_[k] - at.x, y_[k] - at.y, z_[k] - at.z});
    }
    for (std::size_t i = 0; i < count; ++i)
      best.distance_sq = squares[i] < best.distance_sq ? squares[i] : best.distance_sq;
    for (std::size_t i = 0; i < count; ++i)
      if (squares[i] == best.distance_sq)
        best.index = std::min(best.index, indices_[range.begin + i]);
    return best;
  }

 private:
  std::vector<double> x_, y_, z_;
  std::vector<std::uint32_t> indices_;
};

class Measure {
 public:
  Measure(const ShellSurface& surface, const PointShell& shell, const ShellSettings& settings,
          double piece_size)
      : surface_(surface),
        samples_(shell.points),
        // Far enough for pieces up to some two spacings long.
        nearby_(shell.points, shell.spacing * 4, settings.threads),
        tolerance_(settings.covering_tolerance),
        size_(shell.spacing * piece_size),
        // Areas are summed as whole numbers, so that threads may add in any order.
        unit_(surface.area * 0x1p-60),
        sums_(shell.points.size(), 0),
        at_vertices_(surface.mesh.positions.size()) {
    find_at_vertices(settings);
  }

  // Result of one chunk of triangles.
  struct Found {
    double lower = 0;            // Lower bound of the covering radius.
    double upper = 0;            // Upper bound over finished pieces.
    std::vector<Piece> pending;  // Pieces that may have to be halved further.
  };

  Found measure_triangles(std::size_t begin, std::size_t end) {
    Found found{.lower = at_vertices_lower_, .pending = {}};
    Candidates candidates;
    for (std::size_t t = begin; t < end; ++t) {
      const Triangle& v = surface_.mesh.triangles[t];
      Piece p{.corner = {}, .area = surface_.triangle_areas[t]};
      for (std::size_t k = 0; k < 3; ++k)
        p.corner[k] = make_corner(to_double(surface_.mesh.positions[v[k]]), at_vertices_[v[k]]);
      share_out(p, {}, candidates, found);
    }
    return found;
  }

  // Returns the bounds of a piece. It is halved until they differ by at most `step` or the upper
  // one is below `good`.
  PieceBounds refine(const Piece& p, double good, double step) const {
    const PieceBounds b = compute_bounds(p, samples_);
    if (b.upper <= good || b.upper - b.lower <= step || is_of_one(p)) return b;
    const std::size_t k = find_longest(p).opposite;
    const auto [first, second] = halve(p, k, find_nearest(middle_beside(p, k), p, k));
    return join(refine(first, good, step), refine(second, good, step));
  }

  double tolerance() const { return tolerance_; }
  float area(std::size_t i) const {
    return static_cast<float>(static_cast<double>(sums_[i]) * unit_);
  }

 private:
  static Corner make_corner(const Vec3& at, const NearestPoint& nearest) {
    return {at, nearest.index, std::sqrt(nearest.distance_sq)};
  }

  // Searches once for all triangles that share a vertex.
  void find_at_vertices(const ShellSettings& settings) {
    double furthest = 0;
    for (std::uint32_t v = 0; v < at_vertices_.size(); ++v)
      for (std::size_t axis = 0; surface_.is_used(v) && axis < 3; ++axis)
        furthest = std::max(furthest, std::abs(double{surface_.mesh.positions[v][axis]}));
    constexpr double kRounding = 1e-14;  // Rounding of sixty halvings, each by at most 2^-53.
    slack_ = kRounding * furthest;
    parallel_for(at_vertices_.size(), 1024, settings.threads,
                 [&](std::size_t begin, std::size_t end) {
                   settings.monitor.check();
                   std::uint32_t hint = kNoPoint;
                   for (std::size_t v = begin; v < end; ++v) {
                     if (!surface_.is_used(static_cast<std::uint32_t>(v))) continue;
                     at_vertices_[v] = nearby_.find(to_double(surface_.mesh.positions[v]), hint);
                     hint = at_vertices_[v].index;
                   }
                 });
    for (const NearestPoint& nearest : at_vertices_)
      if (nearest.index != kNoPoint)
        at_vertices_lower_ = std::max(at_vertices_lower_, std::sqrt(nearest.distance_sq));
  }

  static Vec3 middle_beside(const Piece& p, std::size_t k) {
    return (p.corner[(k + 1) % 3].at + p.corner[(k + 2) % 3].at) * 0.5;
  }
  NearestPoint find_nearest(const Vec3& at, const Piece& p, std::size_t k) const {
    return nearby_.find(at, p.corner[(k + 1) % 3].nearest);
  }
  static std::pair<Piece, Piece> halve(const Piece& p, std::size_t k, const NearestPoint& nearest) {
    const Corner &a = p.corner[(k + 1) % 3], &b = p.corner[(k + 2) % 3];
    const Corner middle = make_corner(middle_beside(p, k), nearest);
    return {{{p.corner[k], a, middle}, p.area / 2}, {{p.corner[k], middle, b}, p.area / 2}};
  }

  // Returns the samples that may be nearest to a point of this piece. Let u be the upper bound of
  // compute_bounds, and let the piece lie within r of c. Such a sample is within u of that point
  // and u + r of c. Halves, and their halves, lie within the piece except for rounding (slack_), so
  // its list is valid for them as well. If there are very many samples, the list is left unknown.
  CandidateRange narrow(const Piece& p, const LongestEdge& longest, const CandidateRange& known,
                        Candidates& candidates) const {
    constexpr std::size_t kFew = 12;
    if (known.is_known && known.count() <= kFew) return known;
    const Vec3 c = middle_beside(p, longest.opposite);
    double radius_sq = 0;
    for (const Corner& corner : p.corner) radius_sq = std::max(radius_sq, length_sq(corner.at - c));
    const double reach =
        (compute_bounds(p, samples_).upper + std::sqrt(radius_sq)) * (1 + 1e-9) + slack_;
    if (known.is_known) return candidates.narrow(known, c, reach);
    CandidateRange range{candidates.size(), 0, true};
    if (!nearby_.for_each_within(
            c, reach, p.corner[(longest.opposite + 1) % 3].nearest,
            [&](std::uint32_t i) { candidates.add(to_double(samples_[i]), i); }))
      return {};
    range.end = candidates.size();
    if (range.count() <= Candidates::kMost) return range;
    candidates.resize(range.begin);
    return {};
  }

  std::int64_t count_units(double area) const {
    return static_cast<std::int64_t>(std::nearbyint(area / unit_));
  }
  void add(std::uint32_t sample, std::int64_t units) {
    std::atomic_ref(sums_[sample]).fetch_add(units, std::memory_order_relaxed);
  }

  void share_out(const Piece& p, const CandidateRange& known, Candidates& candidates,
                 Found& found) {
    if (is_of_one(p)) {
      add(p.corner[0].nearest, 3 * count_units(p.area / 3));
      const PieceBounds b = compute_bounds(p, samples_);
      found.lower = std::max(found.lower, b.lower);
      found.upper = std::max(found.upper, b.upper);
      return;
    }
    const LongestEdge longest = find_longest(p);
    if (longest.length > size_) {
      const std::size_t before = candidates.size();
      const CandidateRange range = narrow(p, longest, known, candidates);
      const Vec3 middle = middle_beside(p, longest.opposite);
      const auto [first, second] =
          halve(p, longest.opposite,
                range.is_known ? candidates.find_nearest(middle, range)
                               : find_nearest(middle, p, longest.opposite));
      share_out(first, range, candidates, found);
      share_out(second, range, candidates, found);
      candidates.resize(before);
      return;
    }
    const std::int64_t units = count_units(p.area / 3);
    for (const Corner& c : p.corner) add(c.nearest, units);
    // No point of the piece is further than its longest edge from a corner. Most pieces stay below
    // a bound of the result by that alone.
    double least = p.corner[0].distance;
    for (const Corner& c : p.corner) {
      least = std::min(least, c.distance);
      found.lower = std::max(found.lower, c.distance);
    }
    if (least + longest.length <= std::max(found.upper, found.lower)) return;
    const PieceBounds b = compute_bounds(p, samples_);
    found.lower = std::max(found.lower, b.lower);
    if (b.upper <= found.lower * (1 + tolerance_))
      found.upper = std::max(found.upper, b.upper);
    else
      found.pending.push_back(p);
  }

  const ShellSurface& surface_;
  std::span<const Vec3f> samples_;
  NearbySamples nearby_;
  double tolerance_, size_, unit_, slack_ = 0;
  std::vector<std::int64_t> sums_;
  std::vector<NearestPoint> at_vertices_;
  // The largest distance at a vertex: pieces below it need no halving, whichever comes first.
  double at_vertices_lower_ = 0;
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
  // A coarse pass comes first: the better the lower bound, the fewer pieces are refined.
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
  constexpr double kRounding = 1 + 1e-12;  // Distances and midpoints are accurate to about 1e-15.
  shell.covering_radius = std::max(all.upper, refined) * kRounding;
  shell.surface_area = surface.area;
  shell.areas.resize(shell.points.size());
  for (std::size_t i = 0; i < shell.points.size(); ++i) shell.areas[i] = measure.area(i);
}

}  // namespace isotact::detail
