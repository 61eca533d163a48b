// The deepest point of a surface inside of another body, by branch and bound. Pieces are the boxes
// of the surface's hierarchy, its triangles, and halves of those. Let T be any triangle of the
// other surface: no point x of a piece is deeper than its distance from T.
//   * That distance is a convex function of x. On a box it is largest at a corner.
//   * On a triangle with corners v_k it is at most the mean of its values at the corners, with x's
//     weights. For several triangles T_i, no point is therefore deeper than
//         max over weights w of min over i of sum_k w_k d(v_k, T_i),
//     the value of a matrix game. The weights tell where to look for the next T: a cutting plane.
//     Both bounds come nearer to the truth with the square of the piece's size.
//   * A ball around c without a triangle of the other surface is on one side of it: what is known
//     of c holds for all pieces in the ball.
//   * A ball that holds the piece, cut by a plane so that all triangles in the ball are below: the
//     part above is convex and holds no triangle, so it is on one side. If that is the outside, the
//     part of the piece above is done.
//   * A piece that no triangle of the other surface crosses is on one side, however near they are:
//     that settles parts which fit each other closely.
// Balls and planes trim the area of a triangle and may keep its length: a needle could be trimmed
// without end. So a side is halved after some trims. A piece as short as the rounding of points is
// not split again, and its bound counts in the search's. Hence the search ends.
#include "isotact/queries/detail/exact_depth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "isotact/queries/detail/exact_depth_parts.h"

namespace isotact::detail {
namespace {

// Depths are found to this share of the bodies' size. Closest points are rounded to float, which
// moves them by less than 2^-22 of the coordinates.
constexpr double kDepthTolerance = 1e-6;

enum class Known : std::uint8_t { kUnknown, kInside, kOutside };

// ---- the search ---------------------------------------------------------------------------------

class DeepestSearch {
 public:
  DeepestSearch(const ExactSide& surface, const ExactSide& other, const DepthSettings& settings)
      : mesh_(surface.body.triangles),
        shape_(other.shape),
        other_(other.body),
        other_box_(to_double(other_.triangles.bounds())),
        other_from_surface_(inverse(other.world_from_body) * surface.world_from_body),
        surface_(other_from_surface_),
        tolerance_(kDepthTolerance * (surface.body.size + other_.size)),
        // Of closest points, and of corners in the other's frame.
        slack_(0x1p-21 * (surface.body.size + length(center(to_double(mesh_.bounds()))) +
                          length(other_from_surface_.translation) +
                          length(center(to_double(other_.triangles.bounds()))) + other_.size)),
        // Of heights over planes, which are computed in double all the way.
        fine_(0x1p-23 * slack_),
        by_field_(has_sided_field(other.shape)),
        closed_(is_closed(other.shape)),
        sides_(other.shape),
        caps_(other_, sides_, fine_, 0x1p21 * slack_),
        clear_(other_, fine_, 0x1p21 * slack_) {
    // At least twice the slack, so that it ends.
    tolerance_ = std::max({tolerance_, 2 * slack_, settings.absolute_tolerance});
    relative_ = settings.relative_tolerance;
    max_tests_ = settings.max_tests;
    best_.depth = settings.at_least;
    if (settings.memory != nullptr) {
      if (!*settings.memory) *settings.memory = std::make_shared<Scratch>();
      kept_ = static_cast<Scratch*>(settings.memory->get());
      std::swap(memory_, *kept_);
      memory_.pieces.clear();
      memory_.free.clear();
      memory_.heap.clear();
    }
  }

  ~DeepestSearch() {
    if (kept_ != nullptr) std::swap(memory_, *kept_);
  }
  DeepestSearch(const DeepestSearch&) = delete;
  DeepestSearch& operator=(const DeepestSearch&) = delete;

  Deepest guess() {
    begin_by_field();
    return best_;
  }

  Deepest run() {
    begin_by_field();
    Piece root;
    open(root);
    while (!heap_.empty() && can_improve(heap_.front().bound)) {
      if (max_tests_ > 0 && best_.tests >= max_tests_) {
        best_.gave_up = true;
        best_.bound = std::max(heap_.front().bound, least_bound_);
        return best_;
      }
      std::pop_heap(heap_.begin(), heap_.end());
      Piece piece = pieces_[heap_.back().piece];
      free_.push_back(heap_.back().piece);
      heap_.pop_back();
      open(piece);
    }
    best_.bound = std::max(enough(), least_bound_);
    return best_;
  }

 private:
  struct Piece {
    double bound = 0;  // no point is deeper
    Vec3 corner[3]{};  // of a triangle
    std::uint32_t child = 0;
    bool is_triangle = false, is_clipped = false;
    std::uint8_t trims = 0;  // since its longest side was halved
    Known known = Known::kUnknown;
    std::uint8_t near_count = 0;
    std::uint8_t outer = 0;              // a corner that is outside, ...
    double reach = 0;                    // ... and how far from it all is: 0 if there is none
    Vec3 probe{};                        // a point of it, ...
    double probe_free = 0;               // ... and no triangle of the other surface is nearer
    std::uint32_t near[kMostColumns]{};  // triangles of the other surface, to bound it
    Game game{};                         // distances of the corners from them, ...
    bool is_fresh = true;                // ... unless these are yet to be computed
  };
  struct Entry {
    double bound;
    std::uint32_t piece;
    bool operator<(const Entry& other) const {
      return bound != other.bound ? bound < other.bound : piece < other.piece;
    }
  };
  struct Near {
    std::uint32_t triangle = kNoTriangle;
    double distance = std::numeric_limits<double>::infinity();  // metres
    Vec3 point{};
  };

  // Deeper points than this are searched for.
  double enough() const { return best_.depth + tolerance_ + relative_ * best_.depth; }
  bool can_improve(double bound) const { return bound > enough(); }

  Near distance_from(const Vec3& x, std::uint32_t triangle) const {
    const Vec3 point = find_near_point(x, detail::corners_of(other_, triangle));
    return {triangle, length(point - x), point};
  }

  void set_best(const Near& near, const Vec3& point) {
    best_.depth = near.distance;
    best_.point = point;
    best_.nearest = near.point;
  }

  // The nearest point of the other surface. `first`: some point of it. If that is further than
  // `enough`, one that is as near will do.
  Near find_nearest(const Vec3& x, const Near& first, double enough = -1) const {
    const auto reach = static_cast<float>(first.distance * (1 + 0x1p-20));
    const double stop = first.distance > enough ? enough : -1;
    const std::uint32_t found = find_near_triangle(other_.triangles, to_float(x), reach, stop);
    return found == kNoTriangle ? first : distance_from(x, found);
  }

  // A guess: some paths down the hierarchy to where the field is deepest. The corners found there
  // are measured exactly, so that a depth is known from the start.
  void begin_by_field() {
    if (!shape_.can_have_field()) return;
    const AnyField& field = shape_.any_field();
    struct Step {
      double value = 0;
      std::uint32_t child = 0;
      bool operator<(const Step& other) const { return value < other.value; }
    };
    constexpr std::size_t kPaths = 4;
    std::array<Step, kPaths> steps{};  // the first is the root
    std::array<Step, kPaths * kNodeWidth> next;
    std::size_t step_count = 1;
    struct Corner {
      double value = 0;
      Vec3 at{};
    };
    Corner deepest[2];
    while (step_count > 0) {
      std::size_t next_count = 0;
      for (std::size_t s = 0; s < step_count; ++s) {
        const Step& step = steps[s];
        if ((step.child & kBlockBit) != 0) {
          const TriangleBlock& block = mesh_.blocks()[step.child & ~kBlockBit];
          for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
            for (int k = 0; k < 3; ++k) {
              const Vec3 at = surface_.corner_at(block, lane, k);
              const double value = field.value(at);
              if (value < deepest[0].value) {
                deepest[1] = deepest[0];
                deepest[0] = {value, at};
              } else if (value < deepest[1].value && value > deepest[0].value) {
                deepest[1] = {value, at};
              }
            }
          continue;
        }
        const OrientedNode& node = mesh_.oriented_nodes()[step.child];
        const PlacedSurface::BoxFrame frame = surface_.place_frame(node);
        for (std::uint32_t i = 0; i < node.child_count; ++i) {
          Vec3 half[3];
          const Vec3 middle = PlacedSurface::place_child(node, frame, i, half);
          const double radius =
              std::sqrt(length_sq(half[0]) + length_sq(half[1]) + length_sq(half[2]));
          const double value = field.value(middle) - radius;
          if (-value > best_.depth) next[next_count++] = {value, node.child[i]};
        }
      }
      std::sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(next_count));
      step_count = std::min(next_count, kPaths);
      std::copy_n(next.begin(), step_count, steps.begin());
    }
    for (const Corner& corner : deepest) {
      if (!(-corner.value > best_.depth)) continue;
      const Near near = find_nearest(corner.at, {});
      if (near.distance > best_.depth &&
          sides_.is_inside(corner.at, std::max(0.0, near.distance - slack_)))
        set_best(near, corner.at);
    }
  }

  // Whether the field knows that a ball is outside of the other body.
  bool is_outside(const Vec3& c, double radius) const {
    return by_field_ && shape_.any_field().distance_bounds(c).lower > radius;
  }

  void open(Piece& piece) {
    if (piece.is_triangle)
      split(piece);
    else if ((piece.child & kBlockBit) == 0)
      open_node(piece);
    else
      open_block(piece);
  }

  void push(const Piece& piece) {
    if (!can_improve(piece.bound)) return;
    std::uint32_t index = static_cast<std::uint32_t>(pieces_.size());
    if (free_.empty()) {
      pieces_.push_back(piece);
    } else {
      index = free_.back();
      free_.pop_back();
      pieces_[index] = piece;
    }
    heap_.push_back({piece.bound, index});
    std::push_heap(heap_.begin(), heap_.end());
  }

  void open_node(const Piece& parent) {
    const OrientedNode& node = mesh_.oriented_nodes()[parent.child];
    const PlacedSurface::BoxFrame frame = surface_.place_frame(node);
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      Vec3 half[3];
      const Vec3 middle = PlacedSurface::place_child(node, frame, i, half);
      Piece piece;
      piece.child = node.child[i];
      piece.known = parent.known;
      if (parent.near_count > 0) piece.near[0] = parent.near[0];
      piece.near_count = std::min<std::uint8_t>(parent.near_count, 1);
      bound_box(piece, middle, half);
      push(piece);
    }
  }

  void bound_box(Piece& piece, const Vec3& c, const Vec3 (&half)[3]) {
    ++best_.tests;
    Vec3 reach{};
    for (std::size_t k = 0; k < 3; ++k)
      for (const Vec3& h : half) reach[k] += std::abs(h[k]);
    for (std::size_t k = 0; k < 3; ++k)
      if (c[k] - reach[k] > other_box_.upper[k] + slack_ ||
          c[k] + reach[k] < other_box_.lower[k] - slack_)
        return;
    const double radius =
        std::sqrt(length_sq(half[0]) + length_sq(half[1]) + length_sq(half[2])) + slack_;
    if (piece.known == Known::kUnknown && is_outside(c, radius)) return;
    const auto bound_by = [&](const Near& near) {
      double bound = near.distance + radius;
      if (!can_improve(bound)) return bound;
      double furthest = 0;
      for (unsigned corner = 0; corner < 8; ++corner) {
        Vec3 v = c;
        for (unsigned k = 0; k < 3; ++k) v += half[k] * ((corner >> k & 1U) != 0 ? 1.0 : -1.0);
        furthest = std::max(furthest, distance_from(v, near.triangle).distance);
      }
      return std::min(bound, furthest + slack_);
    };
    Near near;
    double bound = std::numeric_limits<double>::infinity();
    if (piece.near_count > 0) {
      near = distance_from(c, piece.near[0]);
      bound = bound_by(near);
      if (!can_improve(bound)) return;
    }
    const Near nearest = find_nearest(c, near);
    if (nearest.triangle != near.triangle) bound = std::min(bound, bound_by(nearest));
    if (!can_improve(bound)) return;
    if (piece.known == Known::kUnknown && nearest.distance > radius) {
      piece.known = sides_.is_inside(c, std::max(0.0, nearest.distance - slack_)) ? Known::kInside
                                                                                  : Known::kOutside;
      if (piece.known == Known::kOutside) return;
    }
    // From a point inside, the line up to the cap's plane leaves the body.
    const auto lowest_along = [&](const Vec3& up) {
      double lowest = 0;
      for (const Vec3& h : half) lowest -= std::abs(dot(up, h));
      return lowest;
    };
    const auto limit_along = [&](const Vec3& up) {
      return std::min(radius, lowest_along(up) + enough() - 2 * slack_);
    };
    Cap cap;
    caps_.set_hints(&nearest.triangle, 1);
    if (closed_ && piece.known == Known::kUnknown &&
        caps_.find(c, std::numbers::sqrt2 * radius, nearest.triangle, limit_along, cap) &&
        cap.height >= -radius && !can_improve(cap.height - lowest_along(cap.up) + slack_))
      return;
    piece.bound = bound;
    piece.near[0] = nearest.triangle;
    piece.near_count = 1;
  }

  void open_block(const Piece& parent) {
    const TriangleBlock& block = mesh_.blocks()[parent.child & ~kBlockBit];
    for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane) {
      Piece piece = parent;
      piece.is_triangle = piece.is_fresh = true;
      for (int k = 0; k < 3; ++k) piece.corner[k] = surface_.corner_at(block, lane, k);
      if (is_far_from_box(piece)) continue;
      piece.probe = (piece.corner[0] + piece.corner[1] + piece.corner[2]) * (1.0 / 3);
      if (piece.known != Known::kUnknown || !could_clip(piece)) {
        bound_triangle(piece);
        push(piece);
      }
    }
  }

  // Whether a first bound, or clipping, settled the piece.
  bool could_clip(const Piece& piece) {
    double most = 0;
    for (const Vec3& v : piece.corner)
      most = std::max(most, distance_from(v, piece.near[0]).distance);
    return !can_improve(most + slack_) || is_flush(piece) || clip(piece);
  }

  void split(Piece& piece) {
    double longest_sq = 0;
    for (std::size_t k = 0; k < 3; ++k)
      longest_sq = std::max(longest_sq, length_sq(piece.corner[(k + 1) % 3] - piece.corner[k]));
    if (longest_sq <= 0.25 * slack_ * slack_) {
      least_bound_ = std::max(least_bound_, piece.bound);
      return;
    }
    if (piece.known == Known::kUnknown && piece.probe_free > 0 &&
        clear_.is_clear(corners_of(piece), piece.near, piece.near_count)) {
      if (!sides_.is_inside(piece.probe, piece.probe_free)) return;
      piece.known = Known::kInside;
    }
    if (is_flush(piece)) return;
    constexpr double kMuch = 0.4;
    constexpr std::uint8_t kMostTrims = 4;
    if (piece.trims < kMostTrims && piece.reach * piece.reach > kMuch * kMuch * longest_sq)
      push_parts(piece, cut_corner(corners_of(piece), piece.outer, piece.reach), false);
    else if (piece.trims == kMostTrims || piece.known == Known::kInside || piece.is_clipped ||
             !clip(piece))
      halve(piece);
  }

  static Corners corners_of(const Piece& piece) {
    return {piece.corner[0], piece.corner[1], piece.corner[2]};
  }

  void push_parts(const Piece& parent, const TriangleParts& parts, bool is_clipped) {
    for (std::size_t i = 0; i < parts.count; ++i) {
      Piece piece = parent;
      piece.is_clipped = is_clipped;
      piece.is_fresh = true;
      ++piece.trims;
      piece.reach = 0;
      std::copy(parts.part[i].begin(), parts.part[i].end(), piece.corner);
      bound_triangle(piece);
      push(piece);
    }
  }

  // Whether the piece, moved out of the other body by what is enough, is clear of it and outside.
  // The line from a point of the piece that is inside then meets the other surface, so that no
  // point is deeper. Bodies that touch without overlapping would else be cut to dust around the
  // place. An open body may end in mid-air on that line: points so near to its end are not searched
  // for. Directions are tried away from the other surface's nearest point, across that surface,
  // across the piece on both sides, and between both surfaces if they face each other.
  bool is_flush(const Piece& piece) {
    const Near near = distance_from(piece.probe, piece.near[piece.near_count - 1]);
    const bool is_inside = piece.known == Known::kInside;
    const Vec3 away = (piece.probe - near.point) * ((is_inside ? -1 : 1) / near.distance);
    if (near.distance > fine_ && moves_out(piece, away)) return true;
    const Vec3 theirs = unit_normal_of(detail::corners_of(other_, piece.near[0])),
               mine = unit_normal_of(corners_of(piece));
    const double cosine = dot(mine, theirs);
    if (moves_out(piece, theirs)) return true;
    if (is_inside) return false;
    if (cosine < 1 - 1e-12 && moves_out(piece, mine)) return true;
    if (cosine > 1e-12 - 1 && moves_out(piece, -mine)) return true;
    return cosine < -0.5 && cosine > 1e-12 - 1 && moves_out(piece, normalized(theirs - mine));
  }

  bool moves_out(const Piece& piece, const Vec3& up) {
    const Vec3 by = up * (enough() - 2 * fine_);
    const Corners moved{piece.corner[0] + by, piece.corner[1] + by, piece.corner[2] + by};
    if (!clear_.is_clear(moved, piece.near, piece.near_count)) return false;
    Vec3 x = (moved[0] + moved[1] + moved[2]) * (1.0 / 3);
    // The side of a point further out is known sooner.
    const Vec3 further = x + up * length(x - moved[0]);
    if (clear_.is_clear({x, further, further}, nullptr, 0)) x = further;
    const double free = find_nearest(x, distance_from(x, piece.near[0])).distance - slack_;
    return free > 0 && !sides_.is_inside(x, free);
  }

  // Pushes the part of the piece below a plane above which all is outside. False if there is no
  // such plane.
  bool clip(const Piece& piece) {
    caps_.set_hints(piece.near, piece.near_count);
    const Vec3 c = (piece.corner[0] + piece.corner[1] + piece.corner[2]) * (1.0 / 3);
    double radius_sq = 0;
    for (const Vec3& v : piece.corner) radius_sq = std::max(radius_sq, length_sq(v - c));
    // A good part of the piece must be above.
    const auto limit_along = [&](const Vec3& up) {
      double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
      for (const Vec3& v : piece.corner) {
        highest = std::max(highest, dot(up, v - c));
        lowest = std::min(lowest, dot(up, v - c));
      }
      return highest - 0.1 * (highest - lowest) - slack_;
    };
    Cap cap;
    if (!caps_.find(c, std::sqrt(radius_sq) + slack_, piece.near[0], limit_along, cap))
      return false;
    const Vec3 on_plane = c + cap.up * cap.height;
    push_parts(piece, cut_below(corners_of(piece), on_plane, cap.up), true);
    return true;
  }

  void halve(const Piece& parent) {
    std::size_t longest = 0;
    double most = -1;
    for (std::size_t k = 0; k < 3; ++k)
      if (const double l = length_sq(parent.corner[(k + 1) % 3] - parent.corner[k]); l > most) {
        most = l;
        longest = k;
      }
    const Vec3 middle = (parent.corner[longest] + parent.corner[(longest + 1) % 3]) * 0.5;
    double of_middle[kMostColumns];
    for (int i = 0; i < parent.near_count; ++i)
      of_middle[i] = distance_from(middle, parent.near[i]).distance;
    for (std::size_t replaced : {longest, (longest + 1) % 3}) {
      Piece piece = parent;
      piece.is_clipped = false;
      piece.trims = 0;
      piece.corner[replaced] = middle;
      std::copy_n(of_middle, parent.near_count, piece.game.value[replaced]);
      bound_triangle(piece);
      push(piece);
    }
  }

  static bool knows(const Piece& piece, std::uint32_t triangle) {
    return std::find(piece.near, piece.near + piece.near_count, triangle) !=
           piece.near + piece.near_count;
  }

  void set_column(Game& game, const Piece& piece, int column) const {
    for (std::size_t k = 0; k < 3; ++k)
      game.value[k][column] = distance_from(piece.corner[k], piece.near[column]).distance;
  }

  // Outside of the other body's box.
  bool is_far_from_box(const Piece& piece) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const double a = piece.corner[0][k], b = piece.corner[1][k], c = piece.corner[2][k];
      if (std::min({a, b, c}) > other_box_.upper[k] + slack_ ||
          std::max({a, b, c}) < other_box_.lower[k] - slack_)
        return true;
    }
    return false;
  }

  // The bound becomes 0 if the piece is done.
  void bound_triangle(Piece& piece) {
    ++best_.tests;
    piece.bound = 0;
    if (is_far_from_box(piece)) return;
    Game& game = piece.game;
    game.columns = piece.near_count;
    if (piece.is_fresh)
      for (int i = 0; i < game.columns; ++i) set_column(game, piece, i);
    piece.is_fresh = false;
    constexpr int kMostCuts = 6;
    for (int cut = 0; cut < kMostCuts; ++cut) {
      GameResult result = GameSolver(game).solve(enough() - slack_);
      const double bound = result.bound + slack_;
      if (!can_improve(bound)) return;
      const Vec3 x = piece.corner[0] * result.weight[0] + piece.corner[1] * result.weight[1] +
                     piece.corner[2] * result.weight[2];
      Near first;
      for (int i = 0; i < game.columns; ++i)
        if (const Near near = distance_from(x, piece.near[i]); near.distance < first.distance)
          first = near;
      const Near nearest = find_nearest(x, first);
      double radius_sq = 0;
      for (const Vec3& v : piece.corner) radius_sq = std::max(radius_sq, length_sq(v - x));
      const double radius = std::sqrt(radius_sq) + slack_;
      const bool is_apart = nearest.distance > radius;
      piece.probe = x;
      piece.probe_free = std::max(0.0, nearest.distance - slack_);
      const bool improves = nearest.distance > best_.depth;
      bool is_inside = piece.known == Known::kInside;
      if (piece.known == Known::kUnknown && (is_apart || improves)) {
        is_inside = sides_.is_inside(x, piece.probe_free);
        if (is_apart) piece.known = is_inside ? Known::kInside : Known::kOutside;
      }
      if (piece.known == Known::kOutside) return;
      piece.reach = 0;
      if (improves && !is_inside)
        for (std::uint8_t k = 0; k < 3; ++k)
          if (result.weight[k] == 1) {
            piece.outer = k;
            piece.reach = piece.probe_free;
          }
      if (is_inside && improves) set_best(nearest, x);
      const double least = std::min(bound, nearest.distance + radius);
      if (!can_improve(least)) return;
      piece.bound = least;
      if (knows(piece, nearest.triangle)) return;
      int column = game.columns;
      if (column == kMostColumns) {  // in place of the one that bounds x the least
        column = 0;
        double most = -1;
        for (int i = 0; i < kMostColumns; ++i) {
          double sum = 0;
          for (int k = 0; k < 3; ++k) sum += result.weight[k] * game.value[k][i];
          if (sum > most) {
            most = sum;
            column = i;
          }
        }
      } else {
        ++game.columns;
        ++piece.near_count;
      }
      piece.near[column] = nearest.triangle;
      set_column(game, piece, column);
    }
  }

  const Bvh& mesh_;
  const Shape& shape_;
  const ExactBody& other_;
  Aabb other_box_;
  Pose other_from_surface_;
  PlacedSurface surface_;
  double tolerance_, slack_, fine_, relative_ = 0;
  double least_bound_ = 0;  // metres; of pieces that are too short to be split
  bool by_field_;           // Its field tells sides wherever its bounds are of one sign.
  bool closed_;             // The other body: whoever leaves it crosses a triangle.
  std::uint64_t max_tests_ = 0;
  SideScratch sides_;
  CapSearch caps_;
  ClearSearch clear_;
  Deepest best_{};
  struct Scratch {
    std::vector<Piece> pieces{};
    std::vector<std::uint32_t> free{};
    std::vector<Entry> heap{};
  };
  Scratch memory_{};
  Scratch* kept_ = nullptr;  // the caller's
  std::vector<Piece>& pieces_ = memory_.pieces;
  std::vector<std::uint32_t>& free_ = memory_.free;
  std::vector<Entry>& heap_ = memory_.heap;
};

}  // namespace

Deepest guess_deepest(const ExactSide& surface, const ExactSide& other) {
  return DeepestSearch(surface, other, {}).guess();
}

Deepest find_deepest(const ExactSide& surface, const ExactSide& other,
                     const DepthSettings& settings) {
  return DeepestSearch(surface, other, settings).run();
}

}  // namespace isotact::detail
