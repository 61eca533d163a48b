// Parts of the search for the deepest point: bounds of depths by matrix games, the side of a point,
// caps of balls that are outside of a body, and triangles that no triangle of a body crosses.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isotact/base/detail/lanes.h"
#include "isotact/queries/detail/exact_body.h"

namespace isotact::detail {

// ---- matrix games -------------------------------------------------------------------------------

inline constexpr int kMostColumns = 3;

struct Game {
  double value[3][kMostColumns];  // of corners and triangles
  int columns = 0;
};

struct GameResult {
  double bound = std::numeric_limits<double>::infinity();  // the game's value, or above
  double weight[3] = {1, 0, 0};
};

// A solution has a square part in which all rows and all columns count alike (Shapley and Snow,
// 1950). Each part gives weights of columns; any weights bound the value, so that rounding only
// loosens the bound.
class GameSolver {
 public:
  explicit GameSolver(const Game& game) : g_(game) {}

  // Ends early if the value is seen to be at most `enough`.
  GameResult solve(double enough) {
    for (int i = 0; i < g_.columns; ++i) take_one(i);
    for (int i = 0; i < g_.columns && best_.bound > enough; ++i) {
      for (int j = i + 1; j < g_.columns; ++j) {
        take_two(i, j);
        for (int k = j + 1; k < g_.columns; ++k) take_three(i, j, k);
      }
    }
    return best_;
  }

 private:
  void take(const int* columns, const double* share, int count, const double (&weight)[3]) {
    double bound = 0;
    for (const auto& row : g_.value) {
      double sum = 0;
      for (int i = 0; i < count; ++i) sum += share[i] * row[columns[i]];
      bound = std::max(bound, sum);
    }
    if (!(bound < best_.bound)) return;
    best_.bound = bound;
    std::copy(std::begin(weight), std::end(weight), best_.weight);
  }

  void take_one(int column) {
    int row = 0;
    for (int r = 1; r < 3; ++r)
      if (g_.value[r][column] > g_.value[row][column]) row = r;
    double weight[3] = {0, 0, 0};
    weight[row] = 1;
    const double share = 1;
    take(&column, &share, 1, weight);
  }

  // Two rows r and s whose means under shares of both columns are equal.
  void take_two(int i, int j) {
    const int columns[2] = {i, j};
    for (int r = 0; r < 3; ++r)
      for (int s = r + 1; s < 3; ++s) {
        const double a = g_.value[r][i], b = g_.value[r][j], c = g_.value[s][i], d = g_.value[s][j];
        const double sum = a - b - c + d;
        if (sum == 0) continue;
        const double of_i = (d - b) / sum, of_r = (d - c) / sum;
        if (!(of_i > 0 && of_i < 1 && of_r > 0 && of_r < 1)) continue;
        double weight[3] = {0, 0, 0};
        weight[r] = of_r;
        weight[s] = 1 - of_r;
        const double share[2] = {of_i, 1 - of_i};
        take(columns, share, 2, weight);
      }
  }

  void take_three(int i, int j, int k) {
    const int columns[3] = {i, j, k};
    Vec3 row[3], column[3];
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) {
        row[r][c] = g_.value[r][columns[c]];
        column[c][r] = row[r][c];
      }
    // The shares are the row sums of the adjugate matrix, up to their own sum.
    const Vec3 shares = cross(row[1] - row[0], row[2] - row[0]);
    const Vec3 weights = cross(column[1] - column[0], column[2] - column[0]);
    const double share_sum = shares.x + shares.y + shares.z,
                 weight_sum = weights.x + weights.y + weights.z;
    const double share[3] = {shares.x / share_sum, shares.y / share_sum, shares.z / share_sum};
    const double weight[3] = {weights.x / weight_sum, weights.y / weight_sum,
                              weights.z / weight_sum};
    for (int c = 0; c < 3; ++c)
      if (!(share[c] >= 0 && weight[c] >= 0)) return;  // NaN, too
    take(columns, share, 3, weight);
  }

  const Game& g_;
  GameResult best_{};
};

// ---- triangles ----------------------------------------------------------------------------------

using Corners = std::array<Vec3, 3>;

inline Corners corners_of(const ExactBody& body, std::uint32_t triangle) {
  const auto t = isotact::corners(*body.mesh, triangle);
  return {to_double(t[0]), to_double(t[1]), to_double(t[2])};
}

inline Vec3 unit_normal_of(const Corners& t) {
  const Vec3 across = cross(t[1] - t[0], t[2] - t[0]);
  const double area = length(across);
  return area > 0 ? across * (1 / area) : Vec3{};
}

// A point of the triangle about as near to p as its nearest one, by the regions of the plane around
// it (Ericson, Real-Time Collision Detection, 5.1.5). Bounds may use any point of the triangle, so
// rounding and degenerate triangles do no harm.
inline Vec3 find_near_point(const Vec3& p, const Corners& t) {
  const Vec3 &a = t[0], &b = t[1], &c = t[2];
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vec3 bp = p - b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return d1 > d3 ? a + ab * (d1 / (d1 - d3)) : a;
  const Vec3 cp = p - c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return d2 > d6 ? a + ac * (d2 / (d2 - d6)) : a;
  const double va = d3 * d6 - d5 * d4, e = d4 - d3, f = d5 - d6;
  if (va <= 0 && e >= 0 && f >= 0) return e + f > 0 ? b + (c - b) * (e / (e + f)) : b;
  const double sum = va + vb + vc;
  return sum > 0 ? a + ab * (vb / sum) + ac * (vc / sum) : a;
}

struct TriangleParts {
  Corners part[2]{};
  std::size_t count = 0;
};

// The rest of a triangle without the triangle at a corner, in the ball of radius `reach` there.
inline TriangleParts cut_corner(const Corners& t, std::size_t corner, double reach) {
  const Vec3 &v = t[corner], &a = t[(corner + 1) % 3], &b = t[(corner + 2) % 3];
  const double to_a = length(a - v), to_b = length(b - v);
  const bool has_a = to_a > reach, has_b = to_b > reach;
  const Vec3 on_a = has_a ? v + (a - v) * (reach / to_a) : a;
  const Vec3 on_b = has_b ? v + (b - v) * (reach / to_b) : b;
  TriangleParts parts;
  if (has_a) parts.part[parts.count++] = {on_a, a, b};
  if (has_b) parts.part[parts.count++] = {on_a, b, on_b};
  return parts;
}

// The part of a triangle below a plane.
inline TriangleParts cut_below(const Corners& t, const Vec3& on_plane, const Vec3& up) {
  Vec3 kept[4];
  std::size_t count = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 &from = t[k], &to = t[(k + 1) % 3];
    const double start = dot(up, from - on_plane), end = dot(up, to - on_plane);
    if (start <= 0) kept[count++] = from;
    if ((start <= 0) != (end <= 0)) kept[count++] = from + (to - from) * (start / (start - end));
  }
  TriangleParts parts;
  for (std::size_t k = 2; k < count; ++k)
    parts.part[parts.count++] = {kept[0], kept[k - 1], kept[k]};
  return parts;
}

// ---- sides --------------------------------------------------------------------------------------

// Which points are inside of a body, by balls that no triangle enters.
class SideScratch {
 public:
  explicit SideScratch(const Shape& shape) : shape_(shape) {}

  // No triangle is nearer to x than `free`.
  bool is_inside(const Vec3& x, double free) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!(length_sq(x - balls_[i].center) < balls_[i].radius_sq)) continue;
      if (i > 0) std::swap(balls_[i], balls_[i / 2]);
      return balls_[i / 2].is_inside;
    }
    const bool inside = detail::is_inside(shape_, x, free);
    Ball& ball = balls_[count_ < kMost ? count_++ : kMost / 2 + next_++ % (kMost / 2)];
    ball = {x, free * free * (1 - 1e-9), inside};
    return inside;
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Ball {
    Vec3 center{};
    double radius_sq = 0;
    bool is_inside = false;
  };

  const Shape& shape_;
  std::array<Ball, kMost> balls_{};
  std::size_t count_ = 0, next_ = 0;
};

// ---- boxes --------------------------------------------------------------------------------------

// The hierarchy of a surface in the frame of another body.
class PlacedSurface {
 public:
  explicit PlacedSurface(const Pose& other_from_surface)
      : rotation_(to_matrix(other_from_surface.rotation)),
        translation_(other_from_surface.translation) {}

  Vec3 place(const Vec3& p) const { return rotation_ * p + translation_; }

  struct BoxFrame {
    Vec3 origin{}, axis[3]{};
  };
  BoxFrame place_frame(const OrientedNode& node) const {
    BoxFrame frame;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 a{double{node.axes[i][0]}, double{node.axes[i][1]}, double{node.axes[i][2]}};
      frame.axis[i] = {dot(rotation_.rows[0], a), dot(rotation_.rows[1], a),
                       dot(rotation_.rows[2], a)};
    }
    frame.origin =
        place(Vec3{double{node.origin[0]}, double{node.origin[1]}, double{node.origin[2]}});
    return frame;
  }
  // The middle of a child's box, and half its sides.
  static Vec3 place_child(const OrientedNode& node, const BoxFrame& frame, std::uint32_t child,
                          Vec3 (&half)[3]) {
    Vec3 middle = frame.origin;
    for (std::size_t k = 0; k < 3; ++k) {
      const float lower = static_cast<float>(node.lower[k][child]) * node.step[k];
      const float upper = static_cast<float>(node.upper[k][child]) * node.step[k];
      middle += frame.axis[k] * (0.5 * (double{lower} + double{upper}));
      half[k] = frame.axis[k] * (0.5 * (double{upper} - double{lower}));
    }
    return middle;
  }
  Vec3 corner_at(const TriangleBlock& block, int lane, int k) const {
    return place(Vec3{double{block.corner[k][0][lane]}, double{block.corner[k][1][lane]},
                      double{block.corner[k][2][lane]}});
  }

 private:
  Mat3 rotation_;
  Vec3 translation_;
};

// ---- caps ---------------------------------------------------------------------------------------

// A plane: points in a ball that are above it are outside of a body.
struct Cap {
  Vec3 up{};
  double height = 0;  // over the ball's center
};

class CapSearch {
 public:
  // `fine`: rounding of heights, `size`: of all coordinates, in metres.
  CapSearch(const ExactBody& other, SideScratch& sides, double fine, double size)
      : other_(other), sides_(sides), fine_(fine), size_(size) {}

  // Triangles that are known to be near the balls that come next.
  void set_hints(const std::uint32_t* triangles, int count) {
    hint_count_ = count;
    std::copy_n(triangles, count, hints_);
  }

  // Triangles are outward, but in soups: both directions are tried.
  template <typename Limit>
  bool find(const Vec3& c, double radius, std::uint32_t triangle, Limit&& limit_along, Cap& cap) {
    const Vec3 up = unit_normal_of(corners_of(other_, triangle));
    if (length_sq(up) == 0) return false;
    for (const double sign : {1.0, -1.0}) {
      bool is_open = false;
      if (find_along(c, radius, up * sign, limit_along(up * sign), cap, is_open)) return true;
      if (!is_open) return false;
    }
    return false;
  }

  // is_open: no triangle is above the plane, whatever side that is.
  bool find_along(const Vec3& c, double radius, const Vec3& up, double limit, Cap& cap,
                  bool& is_open) {
    double height = 0;
    is_open = find_reach(c, radius, up, std::min(0.9 * radius, limit), height);
    if (!is_open) return false;
    height += fine_;
    // The ball in the middle of the part above.
    const double above = radius - height;
    cap = {up, height};
    return !sides_.is_inside(c + up * (height + 0.5 * above), 0.5 * above);
  }

 private:
  // The height over c along a direction below which all triangles in a ball around c are. False if
  // it is above the limit, or if that takes too long to know. Triangles that are known to be near,
  // and the one that was too high last time, come first; then children that reach highest: those
  // below the best so far are not opened.
  bool find_reach(const Vec3& c, double radius, const Vec3& up, double limit, double& highest) {
    using F = Lanes<float, 4>;
    constexpr int kMostNodes = 48;
    const double wide = radius + fine_;
    highest = -radius;
    const auto take = [&](const Corners& t, std::uint32_t triangle) {
      const double height = compute_height(t, wide, up, highest);
      if (!(height > highest)) return;
      highest = height;
      if (height > limit) blocker_ = triangle;
    };
    const auto take_triangle = [&](std::uint32_t triangle) {
      Corners t = corners_of(other_, triangle);
      for (Vec3& v : t) v -= c;
      take(t, triangle);
      return highest <= limit;
    };
    for (int i = 0; i < hint_count_; ++i)
      if (!take_triangle(hints_[i])) return false;
    if (blocker_ != kNoTriangle && !take_triangle(blocker_)) return false;
    struct Step {
      float height;  // no triangle below reaches higher
      std::uint32_t child;
    };
    std::array<Step, 7 * kMostNodes + 8> stack;
    std::size_t size = 0;
    stack[size++] = {std::numeric_limits<float>::infinity(), 0};
    // In float: a box is left out only if it is further than the ball, or below, by more than
    // rounding.
    const float pad = static_cast<float>(radius + size_) * 0x1p-20F;
    const float far = static_cast<float>(wide) + pad, far_sq = far * far * (1 + 0x1p-20F);
    const F center[3] = {F(static_cast<float>(c.x)), F(static_cast<float>(c.y)),
                         F(static_cast<float>(c.z))};
    const F along[3] = {F(static_cast<float>(up.x)), F(static_cast<float>(up.y)),
                        F(static_cast<float>(up.z))};
    // Triangles that may be in the ball, and higher than that.
    const auto find_lanes = [&](const TriangleBlock& block, float known) {
      F off(0.0F), over[3] = {F(pad), F(pad), F(pad)};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        F x[3];
        for (std::size_t k = 0; k < 3; ++k) {
          x[k] = load<F>(block.corner[k][axis]) - center[axis];
          over[k] = over[k] + x[k] * along[axis];
        }
        const F out =
            greater(greater(lesser(lesser(x[0], x[1]), x[2]), -greater(greater(x[0], x[1]), x[2])),
                    F(0.0F));
        off = off + out * out;
      }
      // False for the NaN of lanes without a triangle.
      return bits_of((greater(greater(over[0], over[1]), over[2]) >= F(known)) &
                     (off <= F(far_sq)));
    };
    for (int nodes = 0; size > 0;) {
      const Step step = stack[--size];
      if (static_cast<double>(step.height) <= highest) continue;
      if ((step.child & kBlockBit) != 0) {
        const TriangleBlock& block = other_.triangles.blocks()[step.child & ~kBlockBit];
        for (unsigned lanes = find_lanes(block, static_cast<float>(highest)); lanes != 0;
             lanes &= lanes - 1) {
          const int lane = __builtin_ctz(lanes);
          Corners t;
          for (std::size_t k = 0; k < 3; ++k)
            t[k] = Vec3{double{block.corner[k][0][lane]}, double{block.corner[k][1][lane]},
                        double{block.corner[k][2][lane]}} -
                   c;
          take(t, block.triangle[lane]);
        }
        if (highest > limit) return false;
        continue;
      }
      if (++nodes > kMostNodes) return false;

      const BvhNode& node = other_.triangles.nodes()[step.child];
      float off_sq[kNodeWidth], height[kNodeWidth];
      for (int i = 0; i < kNodeWidth; i += 4) {
        F off(0.0F), over(pad);
        for (std::size_t k = 0; k < 3; ++k) {
          const F lower = load<F>(node.lower[k] + i) - center[k],
                  upper = load<F>(node.upper[k] + i) - center[k];
          const F out = greater(greater(lower, -upper), F(0.0F));
          off = off + out * out;
          over = over + greater(lower * along[k], upper * along[k]);
        }
        store(off, off_sq + i);
        store(over, height + i);
      }
      const auto known = static_cast<float>(highest);
      const std::size_t first = size;
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        if (off_sq[i] > far_sq || height[i] < known) continue;
        std::size_t at = size++;
        for (; at > first && stack[at - 1].height > height[i]; --at) stack[at] = stack[at - 1];
        stack[at] = {height[i], node.child[i]};
      }
    }
    return true;
  }

  // How high the part of a triangle inside of the ball around the origin is, or above; -radius if
  // there is none, or if it is below `known`.
  double compute_height(const Corners& t, double radius, const Vec3& up, double known) const {
    double highest = std::max({dot(up, t[0]), dot(up, t[1]), dot(up, t[2])});
    if (highest <= known) return -radius;
    // The circle in which the triangle's plane cuts the ball.
    const Vec3 across = cross(t[1] - t[0], t[2] - t[0]);
    if (const double area = length(across); area > 0) {
      const double off = dot(across, t[0]) / area, along = dot(across, up) / area;
      if (std::abs(off) > radius) return -radius;
      highest = std::min(highest, off * along + fine_ + 0x1p-25 * radius +
                                      std::sqrt(std::max(0.0, radius * radius - off * off) *
                                                std::max(0.0, 1 - along * along)));
      if (highest <= known) return -radius;
    }
    return length_sq(find_near_point({}, t)) > radius * radius ? -radius : highest;
  }

  const ExactBody& other_;
  SideScratch& sides_;
  double fine_, size_;
  std::uint32_t hints_[kMostColumns]{}, blocker_ = kNoTriangle;
  int hint_count_ = 0;
};

// ---- crossings ----------------------------------------------------------------------------------

// Whether a triangle is clear of a surface: then all of it is on one side, however near it is.
class ClearSearch {
 public:
  // `fine`: rounding of heights, `size`: of all coordinates, in metres.
  ClearSearch(const ExactBody& other, double fine, double size)
      : other_(other), fine_(fine), size_(size) {}

  // False also if that takes too long to know.
  bool is_clear(const Corners& piece, const std::uint32_t* hints, int hint_count) {
    set_piece(piece);
    for (int i = 0; i < hint_count; ++i)
      if (!is_apart(corners_of(other_, hints[i]))) return false;
    if (blocker_ != kNoTriangle && !is_apart(corners_of(other_, blocker_))) return false;
    constexpr int kMostNodes = 256;
    std::array<std::uint32_t, 7 * kMostNodes + 8> stack;
    std::size_t size = 0;
    stack[size++] = 0;
    for (int nodes = 0; size > 0;) {
      const std::uint32_t child = stack[--size];
      if ((child & kBlockBit) != 0) {
        if (!is_apart(other_.triangles.blocks()[child & ~kBlockBit])) return false;
        continue;
      }
      if (++nodes > kMostNodes) return false;
      const BvhNode& node = other_.triangles.nodes()[child];
      const std::uint32_t last = node.child_count;
      for (unsigned lanes = choose_children(node); lanes != 0; lanes &= lanes - 1)
        if (const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes)); lane < last)
          stack[size++] = node.child[lane];
    }
    return true;
  }

 private:
  using F = Lanes<float, 4>;

  void set_piece(const Corners& piece) {
    center_ = (piece[0] + piece[1] + piece[2]) * (1.0 / 3);
    Vec3 lower, upper;
    for (std::size_t k = 0; k < 3; ++k) {
      piece_[k] = piece[k] - center_;
      lower = k == 0 ? piece_[0] : min(lower, piece_[k]);
      upper = k == 0 ? piece_[0] : max(upper, piece_[k]);
    }
    normal_ = unit_normal_of(piece_);
    // In float: a box is left out only if it is off by more than rounding.
    const double pad = 0x1p-20 * (length(upper - lower) + size_);
    for (std::size_t k = 0; k < 3; ++k) {
      at_[k] = F(static_cast<float>(center_[k]));
      lower_[k] = F(static_cast<float>(lower[k] - pad));
      upper_[k] = F(static_cast<float>(upper[k] + pad));
      along_[k] = F(static_cast<float>(normal_[k]));
    }
    pad_ = F(static_cast<float>(pad));
  }

  // Boxes that meet the piece's box and its plane.
  unsigned choose_children(const BvhNode& node) const {
    unsigned found = 0;
    for (int i = 0; i < kNodeWidth; i += 4) {
      F least = -pad_, most = pad_, outside(-1.0F);
      for (std::size_t k = 0; k < 3; ++k) {
        const F low = load<F>(node.lower[k] + i) - at_[k],
                high = load<F>(node.upper[k] + i) - at_[k];
        outside = greater(outside, greater(low - upper_[k], lower_[k] - high));
        least = least + lesser(low * along_[k], high * along_[k]);
        most = most + greater(low * along_[k], high * along_[k]);
      }
      found |= bits_of((outside <= F(0.0F)) & (least <= F(0.0F)) & (most >= F(0.0F))) << i;
    }
    return found;
  }

  bool is_apart(const TriangleBlock& block) {
    F least(std::numeric_limits<float>::infinity()), most = -least, outside(-1.0F), height[3];
    for (F& h : height) h = F(0.0F);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      F x[3];
      for (std::size_t k = 0; k < 3; ++k) {
        x[k] = load<F>(block.corner[k][axis]) - at_[axis];
        height[k] = height[k] + x[k] * along_[axis];
      }
      outside = greater(outside, greater(lesser(lesser(x[0], x[1]), x[2]) - upper_[axis],
                                         lower_[axis] - greater(greater(x[0], x[1]), x[2])));
    }
    least = lesser(lesser(height[0], height[1]), height[2]);
    most = greater(greater(height[0], height[1]), height[2]);
    // False for the NaN of lanes without a triangle.
    for (unsigned lanes = bits_of((outside <= F(0.0F)) & (least <= pad_) & (most >= -pad_));
         lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t triangle = block.triangle[__builtin_ctz(lanes)];
      if (triangle == kNoTriangle || is_apart(corners_of(other_, triangle))) continue;
      blocker_ = triangle;
      return false;
    }
    return true;
  }

  // By a plane between the triangles: along one of them, along two edges, or through an edge.
  bool is_apart(Corners t) const {
    for (Vec3& v : t) v -= center_;
    const Vec3 normal = unit_normal_of(t);
    if (separates(normal_, t) || separates(normal, t)) return true;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 mine = piece_[(i + 1) % 3] - piece_[i], theirs = t[(i + 1) % 3] - t[i];
      if (separates(unit(cross(normal_, mine)), t) || separates(unit(cross(normal, theirs)), t))
        return true;
      for (std::size_t k = 0; k < 3; ++k)
        if (separates(unit(cross(mine, t[(k + 1) % 3] - t[k])), t)) return true;
    }
    return false;
  }

  static Vec3 unit(const Vec3& v) {
    const double size = length(v);
    return size > 0 ? v * (1 / size) : Vec3{};
  }

  bool separates(const Vec3& along, const Corners& t) const {
    const double a[3] = {dot(along, piece_[0]), dot(along, piece_[1]), dot(along, piece_[2])},
                 b[3] = {dot(along, t[0]), dot(along, t[1]), dot(along, t[2])};
    return std::min({a[0], a[1], a[2]}) > std::max({b[0], b[1], b[2]}) + fine_ ||
           std::max({a[0], a[1], a[2]}) < std::min({b[0], b[1], b[2]}) - fine_;
  }

  const ExactBody& other_;
  double fine_, size_;
  Vec3 center_{}, normal_{};
  Corners piece_{};  // around its center
  F at_[3]{F(0.0F), F(0.0F), F(0.0F)}, lower_[3]{F(0.0F), F(0.0F), F(0.0F)},
      upper_[3]{F(0.0F), F(0.0F), F(0.0F)}, along_[3]{F(0.0F), F(0.0F), F(0.0F)}, pad_{F(0.0F)};
  std::uint32_t blocker_ = kNoTriangle;
};

}  // namespace isotact::detail
