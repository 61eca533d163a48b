#include "isotact/gpu/build/detail/triangle_tree.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "isotact/field/surface/frames.h"

namespace isotact::detail {
namespace {

using Place = TreeBuilder::Place;

void halve(std::span<Place> places, std::size_t first_half) {
  std::array<float, 3> low{HUGE_VALF, HUGE_VALF, HUGE_VALF};
  std::array<float, 3> high{-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
  for (const Place& p : places)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], p.center[axis]);
      high[axis] = std::max(high[axis], p.center[axis]);
    }
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(first_half),
                   places.end(), [longest](const Place& a, const Place& b) {
                     return a.center[longest] != b.center[longest]
                                ? a.center[longest] < b.center[longest]
                                : a.triangle < b.triangle;
                   });
}

// Returns the position of a cell of a grid of 2^bits per axis on Hilbert's curve: consecutive cells
// are adjacent. (Skilling, Programming the Hilbert curve, 2004, describes the rotation of its
// axes.)
std::uint32_t compute_place_on_curve(std::array<std::uint32_t, 3> x, unsigned bits) {
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1U)
    for (std::uint32_t& xi : x) {
      if ((xi & q) != 0) {
        x[0] ^= q - 1;
      } else {
        const std::uint32_t t = (x[0] ^ xi) & (q - 1);
        x[0] ^= t;
        xi ^= t;
      }
    }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t t = 0;
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1U)
    if ((x[2] & q) != 0) t ^= q - 1;
  std::uint32_t place = 0;
  for (unsigned bit = bits; bit-- > 0;)
    for (const std::uint32_t xi : x) place = place << 1U | ((xi ^ t) >> bit & 1U);
  return place;
}

struct Digit {
  unsigned shift, bits;
};

// Sorts by position on the curve, then by number.
class CurveSort {
 public:
  CurveSort(std::vector<Place>& places, std::vector<Place>& sorted,
            std::vector<std::uint32_t>& keys)
      : places_(places), sorted_(sorted), keys_(keys) {
    sorted_.resize(places_.size());
    keys_.resize(places_.size());
  }

  void run(const Lattice& lattice, Threads threads) {
    constexpr std::size_t kFew = std::size_t{1} << 18U;
    if (places_.size() <= kFew) {
      compute_keys(lattice, 5, threads);
      sort_by({0, 15});
    } else {
      compute_keys(lattice, 7, threads);
      sort_by({0, 11});
      sort_by({11, 10});
    }
  }

 private:
  void compute_keys(const Lattice& lattice, unsigned bits, Threads threads) {
    const std::int32_t widest = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
    const auto side = static_cast<float>(1U << bits);
    const float scale = side / (3 * static_cast<float>(widest));
    parallel_for(places_.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::array<std::uint32_t, 3> cell;
        for (std::size_t axis = 0; axis < 3; ++axis)
          cell[axis] = static_cast<std::uint32_t>(
              std::clamp(places_[i].center[axis] * scale, 0.0F, side - 1));
        keys_[i] = compute_place_on_curve(cell, bits);
      }
    });
  }

  // One pass of a counting sort. Entries have their triangle, which is their number before the
  // first pass: keys need not move.
  void sort_by(Digit digit) {
    const std::uint32_t mask = (1U << digit.bits) - 1;
    const auto digit_of = [&](std::uint32_t key) { return key >> digit.shift & mask; };
    std::vector<std::uint32_t> next(std::size_t{mask} + 2, 0);
    for (const std::uint32_t key : keys_) ++next[digit_of(key) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const Place& p : places_) sorted_[next[digit_of(keys_[p.triangle])]++] = p;
    std::swap(places_, sorted_);
  }

  std::vector<Place>&places_, &sorted_;
  std::vector<std::uint32_t>& keys_;
};

// Work of one thread at a time: a part of the curve. It is a power of two of blocks, so that its
// first levels are complete.
constexpr std::size_t kStretch = 2 * kTreeBlock * kTreeWidth * kTreeWidth;  // Triangles.
constexpr std::size_t kStretchLevels = 3;

// Recursive halves, down to blocks, each cut along its longest side. First halves are full, so that
// nodes of the complete tree are unions of them.
void sort_into_blocks(std::span<Place> stretch) {
  for (std::size_t capacity = kStretch; capacity > kTreeBlock; capacity /= 2)
    for (std::size_t begin = 0; begin < stretch.size(); begin += capacity) {
      const std::size_t size = std::min(capacity, stretch.size() - begin);
      if (size > capacity / 2) halve(stretch.subspan(begin, size), capacity / 2);
    }
}

using Corners = std::array<Vec3, 3>;  // Cells.

Vec3 any_across(const Vec3& w) {
  return normalized(cross(w, std::abs(w.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
}

// Input for the axes of a box. Sums over triangles, so that those of boxes can be added.
struct Moments {
  Vec3 area{};              // Twice the area, along the normals.
  Vec3 sum{};               // Sum of corners.
  Vec3 squares{}, mixed{};  // Sums over corners: xx, yy, zz; yz, zx, xy.
  double corners = 0;

  void add(const Corners& t) {
    area += cross(t[1] - t[0], t[2] - t[0]);
    for (const Vec3& p : t) {
      sum += p;
      squares += Vec3{p.x * p.x, p.y * p.y, p.z * p.z};
      mixed += Vec3{p.y * p.z, p.z * p.x, p.x * p.y};
    }
    corners += 3;
  }
  void add(const Moments& m) {
    area += m.area, sum += m.sum, squares += m.squares, mixed += m.mixed;
    corners += m.corners;
  }
};

// Returns the direction of the largest spread of the corners in the plane perpendicular to w.
Vec3 compute_spread(const Moments& m, const Vec3& w) {
  const Vec3 u = any_across(w), v = cross(w, u), mean = m.sum / m.corners;
  const Vec3 s = m.squares / m.corners, o = m.mixed / m.corners;
  const auto covariance = [&](const Vec3& a, const Vec3& b) {
    return s.x * a.x * b.x + s.y * a.y * b.y + s.z * a.z * b.z + o.x * (a.y * b.z + a.z * b.y) +
           o.y * (a.z * b.x + a.x * b.z) + o.z * (a.x * b.y + a.y * b.x) -
           dot(mean, a) * dot(mean, b);
  };
  const double xx = covariance(u, u), xy = covariance(u, v), yy = covariance(v, v);
  // The eigenvector of the larger eigenvalue, by the longer of two formulas for it.
  const double half = 0.5 * (xx - yy), root = std::sqrt(half * half + xy * xy);
  const double a = half >= 0 ? half + root : xy, b = half >= 0 ? xy : root - half;
  const double size = std::sqrt(a * a + b * b);
  return size > 0 ? (u * a + v * b) / size : u;
}

struct Axes {
  Vec3 axis[3];
};
Axes compute_axes(const Moments& m) {
  const double size = length(m.area);
  const Vec3 w = size > 0 ? m.area / size : Vec3{0, 0, 1};
  const Vec3 u = compute_spread(m, w);
  return {{u, cross(w, u), w}};
}

void store(const Vec3& from, float* to) {
  to[0] = static_cast<float>(from.x), to[1] = static_cast<float>(from.y),
  to[2] = static_cast<float>(from.z);
}

Vec3 load(const float* from) {
  return {static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2])};
}

float round_up(double x) {
  return std::nextafter(static_cast<float>(x), std::numeric_limits<float>::infinity());
}

// Along the axes of a box.
struct Extent {
  Vec3 low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  void add(std::size_t axis, double from, double to) {
    low[axis] = std::min(low[axis], from);
    high[axis] = std::max(high[axis], to);
  }
};

// The search's slack covers the rounding of axes and positions.
TurnedBox make_box(const Axes& axes, const Extent& extent) {
  TurnedBox box{};
  const Vec3 middle = (extent.low + extent.high) * 0.5, half = (extent.high - extent.low) * 0.5;
  const auto& [u, v, w] = axes.axis;
  store(u * middle.x + v * middle.y + w * middle.z, box.center);
  store(u, box.u);
  store(v, box.v);
  store(w, box.w);
  box.half_u = round_up(half.x), box.half_v = round_up(half.y), box.half_w = round_up(half.z);
  return box;
}

TurnedBox make_box_of_triangles(const Moments& m, std::span<const Corners> triangles) {
  const Axes axes = compute_axes(m);
  Extent extent;
  for (const Corners& t : triangles)
    for (const Vec3& p : t)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double at = dot(p, axes.axis[axis]);
        extent.add(axis, at, at);
      }
  return make_box(axes, extent);
}

// Slightly too large if the children's boxes have other orientations.
TurnedBox make_box_of_boxes(const Moments& m, std::span<const TurnedBox> children) {
  const Axes axes = compute_axes(m);
  Extent extent;
  for (const TurnedBox& child : children)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Vec3& along = axes.axis[axis];
      const double at = dot(load(child.center), along);
      const double reach = static_cast<double>(child.half_u) * std::abs(dot(load(child.u), along)) +
                           static_cast<double>(child.half_v) * std::abs(dot(load(child.v), along)) +
                           static_cast<double>(child.half_w) * std::abs(dot(load(child.w), along));
      extent.add(axis, at - reach, at + reach);
    }
  return make_box(axes, extent);
}

constexpr TurnedBox empty_box() {
  // Squares of the distance must still be floats, and larger than any.
  constexpr float kFar = -1e18F;
  return {.center = {0, 0, 0},
          .half_u = kFar,
          .u = {1, 0, 0},
          .half_v = kFar,
          .v = {0, 1, 0},
          .half_w = kFar,
          .w = {0, 0, 1},
          .unused = 0};
}

std::size_t divide_up(std::size_t n, std::size_t by) { return (n - 1) / by + 1; }

// Sets levels and allocates them.
void lay_out(std::size_t triangles, TriangleTree& tree) {
  const std::size_t blocks = divide_up(triangles, kTreeBlock);
  tree.frames.resize(blocks * kTreeBlock);
  tree.level_begin.clear();
  std::size_t end = 0;
  for (std::size_t count = blocks;; count = divide_up(count, kTreeWidth)) {
    tree.level_begin.push_back(static_cast<std::uint32_t>(end));
    const std::size_t next = end + divide_up(count, kTreeWidth) * kTreeWidth;
    tree.boxes.resize(next);
    std::fill(tree.boxes.begin() + static_cast<std::ptrdiff_t>(end + count), tree.boxes.end(),
              empty_box());
    end = next;
    if (count <= kTreeWidth) break;
  }
  assert(tree.level_begin.size() <= kTreeMaxLevel);
}

class TreeBuild {
 public:
  TreeBuild(const TriangleMesh& mesh, const Lattice& lattice, Threads threads,
            std::vector<Place>& places, TriangleTree& tree)
      : mesh_(mesh), lattice_(lattice), threads_(threads), places_(places), tree_(tree) {
    lay_out(mesh.triangles.size(), tree);
  }

  void find_places() {
    places_.resize(mesh_.triangles.size());
    parallel_for(places_.size(), 4096, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        places_[t].triangle = static_cast<std::uint32_t>(t);
        const Corners c = corners_of(places_[t]);
        store(c[0] + c[1] + c[2], places_[t].center);
      }
    });
  }

  // For positions along the curve.
  void fill() {
    const std::size_t n = mesh_.triangles.size();
    const std::size_t top = divide_up(n, width_of(kStretchLevels - 1));
    std::vector<Moments> moments(top);  // For the boxes on a part's last level.
    parallel_for(divide_up(n, kStretch), 1, threads_,
                 [&](std::size_t stretch, std::size_t) { fill_stretch(stretch, moments); });
    for (std::size_t level = kStretchLevels; level < tree_.level_begin.size(); ++level)
      moments = join_level(level, moments);
  }

 private:
  // Triangles of a box.
  static constexpr std::size_t width_of(std::size_t level) { return kTreeBlock << (3 * level); }

  Corners corners_of(const Place& place) const {
    const auto c = corners(mesh_, place.triangle);
    return {to_cells(lattice_, c[0]), to_cells(lattice_, c[1]), to_cells(lattice_, c[2])};
  }

  // Its frames and the boxes on its levels.
  void fill_stretch(std::size_t stretch, std::span<Moments> top) {
    const std::size_t first = stretch * kStretch;
    const auto places =
        std::span(places_).subspan(first, std::min(kStretch, places_.size() - first));
    sort_into_blocks(places);
    std::vector<Corners> sorted(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      sorted[i] = corners_of(places[i]);
      tree_.frames[first + i] = make_frame(sorted[i][0], sorted[i][1], sorted[i][2]);
    }
    for (std::size_t i = places.size(); i % kTreeBlock != 0; ++i)
      tree_.frames[first + i] = tree_.frames[first + places.size() - 1];
    const std::size_t levels = std::min(kStretchLevels, tree_.level_begin.size());
    std::vector<Moments> moments;
    for (std::size_t level = 0; level < levels; ++level) {
      const std::size_t width = width_of(level),
                        first_box = tree_.level_begin[level] + first / width;
      std::vector<Moments> sums(divide_up(places.size(), width));
      if (level == 0)
        for (std::size_t i = 0; i < sorted.size(); ++i) sums[i / kTreeBlock].add(sorted[i]);
      for (std::size_t i = 0; i < moments.size(); ++i) sums[i / kTreeWidth].add(moments[i]);
      for (std::size_t i = 0; i < sums.size(); ++i)
        tree_.boxes[first_box + i] = make_box_of_triangles(
            sums[i],
            std::span(sorted).subspan(i * width, std::min(width, sorted.size() - i * width)));
      moments = std::move(sums);
    }
    if (levels == kStretchLevels)
      std::copy(moments.begin(), moments.end(),
                top.begin() + static_cast<std::ptrdiff_t>(first / width_of(levels - 1)));
  }

  // Boxes of those of the level below.
  std::vector<Moments> join_level(std::size_t level, std::span<const Moments> below) {
    std::vector<Moments> sums(divide_up(below.size(), kTreeWidth));
    for (std::size_t i = 0; i < below.size(); ++i) sums[i / kTreeWidth].add(below[i]);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t child = i * kTreeWidth,
                        children = std::min(kTreeWidth, below.size() - child);
      tree_.boxes[tree_.level_begin[level] + i] = make_box_of_boxes(
          sums[i], std::span(tree_.boxes).subspan(tree_.level_begin[level - 1] + child, children));
    }
    return sums;
  }

  const TriangleMesh& mesh_;
  const Lattice& lattice_;
  Threads threads_;
  std::vector<Place>& places_;
  TriangleTree& tree_;
};

}  // namespace

const TriangleTree& TreeBuilder::build(const TriangleMesh& mesh, const Lattice& lattice,
                                       Threads threads) {
  assert(!mesh.triangles.empty() && mesh.triangles.size() <= kTreeMaxTriangles);
  TreeBuild build(mesh, lattice, threads, places_, tree_);
  build.find_places();
  CurveSort(places_, sorted_, keys_).run(lattice, threads);
  build.fill();
  return tree_;
}

}  // namespace isotact::detail
