#include "isotact/field/build/detail/surface_looks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace isotact::detail {
namespace {

constexpr double kDeep = 4, kLessDeep = 2;  // cells behind the surface: within the band
// Cells from the centre of a piece to its corners. Balls cover no larger ones where the body is
// flat.
constexpr double kMostByDeepBall = 2.7, kMostByBall = 1.6, kMostByLook = 0.8;
constexpr double kReach = 1.25;  // cells from the field's solid to points that need no other
constexpr double kHiddenReach =
    1.1;                          // cells from the body's ball to the same: room for a thin part
constexpr double kSpread = 0.75;  // square cells: variance of interpolation, at most
constexpr double kLargePiece = 4096;         // square cells: work for one thread
constexpr double kMostArea = 1e8;            // square cells
constexpr std::size_t kTriangles = 4096;     // for one thread
constexpr std::size_t kMostSuspects = 2048;  // of one thread's work: 80 kB

struct Piece {
  std::array<Vec3, 3> corners{};
  std::uint32_t triangle = 0;
};

struct Looks {
  SurfaceLooks found;
  std::vector<Piece> large;
};

double area_of(const std::array<Vec3, 3>& c) {
  return 0.5 * length(cross(c[1] - c[0], c[2] - c[0]));
}

std::array<Vec3, 3> corners_of(const Surface& surface, std::size_t triangle) {
  const auto c = corners(surface.mesh, triangle);
  return {to_double(c[0]), to_double(c[1]), to_double(c[2])};
}

// In two, at the middle of the longest side.
std::array<Piece, 2> cut(const Piece& piece) {
  const auto& c = piece.corners;
  std::size_t longest = 0;
  double most = -1;
  for (std::size_t i = 0; i < 3; ++i)
    if (const double l = length_sq(c[(i + 1) % 3] - c[i]); l > most) most = l, longest = i;
  const std::size_t next = (longest + 1) % 3;
  const Vec3 middle = (c[longest] + c[next]) * 0.5;
  std::array<Piece, 2> halves{piece, piece};
  halves[0].corners[next] = middle;
  halves[1].corners[longest] = middle;
  return halves;
}

// One thread's work on triangles in a row.
class Looker {
 public:
  Looker(const BrickField& field, bool is_shell, double scale)
      : field_(field),
        is_shell_(is_shell),
        scale_(scale),
        shrink_(1 / scale),
        h_(field.voxel_size()) {
    const BrickFieldHeader& header = field.header();
    error_ = static_cast<double>(header.sample_error + header.step / 2) / h_ + 0.01;
  }

  void look_at_triangle(const Piece& piece) {
    const double area = area_of(piece.corners);
    if (!(area > 0)) return;
    looks_.found.area += area;
    if (area > kLargePiece * h_ * h_ * scale_ * scale_)
      looks_.large.push_back(piece);
    else
      look(piece, area);
  }

  void look_at_part(const Piece& piece) {
    if (const double area = area_of(piece.corners); area > 0) look(piece, area);
  }

  Looks finish() {
    look_at_batch();
    return std::move(looks_);
  }

 private:
  // Where memory is far away, many at once are several times as fast.
  static constexpr std::size_t kBatch = 256;
  struct Sized {
    Piece piece;
    Vec3 center{}, inward{};
    double area = 0;     // square metres
    double size_sq = 0;  // square cells, from the centre to a corner
  };

  void look(const Piece& piece, double area) {
    const auto& c = piece.corners;
    const Vec3 inward = cross(c[2] - c[0], c[1] - c[0]) / (2 * area);
    const Sized all = measure(piece, inward, area);
    if (is_shell_)
      look_closely(all);
    else
      cut_to(kMostByDeepBall, all, [&](const Sized& part) { add_to_batch(part); });
  }

  Sized measure(const Piece& piece, const Vec3& inward, double area) const {
    const auto& c = piece.corners;
    const Vec3 center = (c[0] + c[1] + c[2]) / 3;
    const double size_sq =
        std::max({length_sq(c[0] - center), length_sq(c[1] - center), length_sq(c[2] - center)});
    return {piece, center, inward, area, size_sq / (h_ * h_ * scale_ * scale_)};
  }

  // One short side: cut across the two long ones, into about as many pieces as it is long. (Halving
  // the longest side would leave a piece as long as the whole, and give length^1.6 of them.) Where
  // no side is short it is flat, and two halves of its longest side have one each.
  template <typename Visit>
  bool cut_needle(double wanted, const Sized& whole, const Visit& visit) const {
    const auto& c = whole.piece.corners;
    std::size_t tip = 0;  // opposite to the shortest side
    double side_sq[3];
    for (std::size_t i = 0; i < 3; ++i) {
      side_sq[i] = length_sq(c[(i + 1) % 3] - c[(i + 2) % 3]);
      if (side_sq[i] < side_sq[tip]) tip = i;
    }
    const double longest_sq = std::max({side_sq[0], side_sq[1], side_sq[2]});
    if (side_sq[tip] > 0.16 * longest_sq) return false;
    const Vec3 p = c[tip], q = c[(tip + 1) % 3] - p, r = c[(tip + 2) % 3] - p;
    const int n = static_cast<int>(std::sqrt(longest_sq) / (wanted * h_ * scale_)) + 1;
    const double inverse = 1.0 / n;
    const auto visit_part = [&](const Vec3& x, const Vec3& y, const Vec3& z) {
      Piece part = whole.piece;
      part.corners = {x, y, z};
      cut_to(wanted, measure(part, whole.inward, area_of(part.corners)), visit);
    };
    for (int k = 0; k < n; ++k) {
      const Vec3 a = p + q * (k * inverse), b = p + r * (k * inverse);
      const Vec3 next_a = p + q * ((k + 1) * inverse), next_b = p + r * ((k + 1) * inverse);
      visit_part(a, next_a, next_b);
      if (k > 0) visit_part(a, next_b, b);
    }
    return true;
  }

  // Into similar ones of the size wanted, in cells; slivers so that they are less so.
  template <typename Visit>
  void cut_to(double wanted, const Sized& whole, const Visit& visit) const {
    constexpr double kSliver = 0.3;  // of the area of the square over its size
    const auto& c = whole.piece.corners;
    if (whole.size_sq <= wanted * wanted) return visit(whole);
    if (whole.area < kSliver * whole.size_sq * h_ * h_ * scale_ * scale_) {
      if (!cut_needle(wanted, whole, visit))
        for (const Piece& half : cut(whole.piece))
          cut_to(wanted, measure(half, whole.inward, whole.area / 2), visit);
      return;
    }
    const int n = static_cast<int>(std::sqrt(whole.size_sq) / wanted) + 1;
    const Vec3 u = (c[1] - c[0]) / n, v = (c[2] - c[0]) / n, third = (u + v) / 3;
    Sized part = whole;
    part.area /= n * n;
    part.size_sq /= n * n;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n - j; ++i) {
        const Vec3 a = c[0] + u * i + v * j;
        part.piece.corners = {a, a + u, a + v};
        part.center = a + third;
        visit(part);
        if (i + 1 == n - j) continue;
        part.piece.corners = {a + u + v, a + v, a + u};
        part.center = a + third * 2;
        visit(part);
      }
  }

  void add_to_batch(const Sized& part) {
    ++looks_.found.pieces;
    if (is_covered(part)) return;
    batch_.push_back(part);
    points_.push_back(to_float(part.center + part.inward * (kDeep * h_)));
    if (batch_.size() == kBatch) look_at_batch();
  }

  void look_at_batch() {
    std::array<float, kBatch> values;
    sample_field(field_, points_, std::span(values).first(points_.size()), {}, {1});
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (is_covered(batch_[i])) continue;
      set_ball(to_double(points_[i]), static_cast<double>(values[i]));
      if (!is_covered(batch_[i])) look_closely(batch_[i]);
    }
    batch_.clear();
    points_.clear();
  }

  void look_closely(const Sized& whole) {
    if (is_shell_)
      return cut_to(kMostByLook, whole, [&](const Sized& part) {
        ++looks_.found.pieces;
        look_behind(part, 0);
      });
    cut_to(kMostByBall, whole, [&](const Sized& part) {
      if (is_covered(part)) return;
      const Vec3 deep = part.center + part.inward * (kLessDeep * h_);
      set_ball(deep, field_.value(deep));
      if (is_covered(part)) return;
      cut_to(kMostByLook, part, [&](const Sized& small) { look_behind(small, 0.5 * h_); });
    });
  }

  void look_behind(const Sized& part, double depth) {
    if (field_.value(part.center + part.inward * depth) > 0)
      add_suspect({part.center, part.area, part.piece.triangle});
  }

  // A sheet may be all suspects: then only every second one is kept, every fourth, ..., standing
  // for its neighbours too.
  void add_suspect(Suspect suspect) {
    std::vector<Suspect>& all = looks_.found.suspects;
    if (passed_++ % stride_ != 0) return;
    suspect.area *= static_cast<double>(stride_);
    all.push_back(suspect);
    if (all.size() < kMostSuspects) return;
    for (std::size_t i = 0; 2 * i < all.size(); ++i) {
      all[i] = all[2 * i];
      all[i].area *= 2;
    }
    all.resize((all.size() + 1) / 2);
    stride_ *= 2;
    passed_ = 0;
  }

  bool is_covered(const Sized& part) const {
    const auto is_near = [&](const Vec3& corner) {
      return length_sq(part.center + (corner - part.center) * shrink_ - ball_) <= reach_sq_;
    };
    const auto& c = part.piece.corners;
    return is_near(c[0]) && is_near(c[1]) && is_near(c[2]);
  }

  void set_ball(const Vec3& at, double value) {
    const double depth = -value / h_ - error_;
    const double radius_sq = depth * depth - kSpread;
    if (!(depth > 0) || !(radius_sq > 0)) return;
    const double radius = std::sqrt(radius_sq), solid = radius - error_;
    const double solid_sq = solid * solid - kSpread;
    if (!(solid > 0) || !(solid_sq > 0)) return;
    const double reach = std::min(std::sqrt(solid_sq) + kReach, radius + kHiddenReach) * h_;
    ball_ = at;
    reach_sq_ = reach * reach;
  }

  const BrickField& field_;
  bool is_shell_;
  double scale_, shrink_;
  double h_, error_;  // metres, cells
  Vec3 ball_{};       // the last one
  double reach_sq_ = -1;
  std::size_t stride_ = 1, passed_ = 0;
  std::vector<Sized> batch_;
  std::vector<Vec3f> points_;
  Looks looks_;
};

Looks join(Looks all, Looks&& more) {
  if (all.found.pieces == 0 && all.large.empty()) return std::move(more);
  all.found.pieces += more.found.pieces;
  all.found.area += more.found.area;
  all.found.suspects.insert(all.found.suspects.end(), more.found.suspects.begin(),
                            more.found.suspects.end());
  all.large.insert(all.large.end(), more.large.begin(), more.large.end());
  return all;
}

// Large triangles, cut until one thread can take each.
std::vector<Piece> cut_large(const std::vector<Piece>& large, double most_area) {
  std::vector<Piece> done, open = large;
  std::reverse(open.begin(), open.end());
  while (!open.empty()) {
    const Piece piece = open.back();
    open.pop_back();
    if (area_of(piece.corners) <= most_area) {
      done.push_back(piece);
      continue;
    }
    const auto halves = cut(piece);
    open.push_back(halves[1]);
    open.push_back(halves[0]);
  }
  return done;
}

double compute_area(const Surface& surface, Threads threads) {
  return parallel_reduce(
      surface.given_triangles, 16384, threads, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t t = begin; t < end; ++t) sum += area_of(corners_of(surface, t));
        return sum;
      },
      [](double a, double b) { return a + b; });
}

}  // namespace

SurfaceLooks find_surface_suspects(const BrickField& field, const Surface& surface, Threads threads,
                                   const Monitor& monitor) {
  const double h = field.voxel_size();
  const bool is_shell = surface.report.method == SignMethod::kUnsigned;
  const double cells = compute_area(surface, threads) / (h * h);
  const double scale = std::sqrt(std::max(1.0, cells / kMostArea));
  Looks all = parallel_reduce(
      surface.given_triangles, kTriangles, threads, Looks{},
      [&](std::size_t begin, std::size_t end) {
        monitor.check();
        Looker looker(field, is_shell, scale);
        for (std::size_t t = begin; t < end; ++t)
          looker.look_at_triangle({corners_of(surface, t), static_cast<std::uint32_t>(t)});
        return looker.finish();
      },
      join);
  const std::vector<Piece> pieces = cut_large(all.large, kLargePiece * h * h * scale * scale);
  Looks more = parallel_reduce(
      pieces.size(), 4, threads, Looks{},
      [&](std::size_t begin, std::size_t end) {
        monitor.check();
        Looker looker(field, is_shell, scale);
        for (std::size_t i = begin; i < end; ++i) looker.look_at_part(pieces[i]);
        return looker.finish();
      },
      join);
  return join(std::move(all), std::move(more)).found;
}

}  // namespace isotact::detail
