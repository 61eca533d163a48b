#include "isotact/gpu/detail/triangle_tree.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>

#include "isotact/field/build/frames.h"

namespace isotact::detail {
namespace {

struct Place {
  std::array<float, 3> center;  // of the triangle, thrice: the sum of its corners, cells
  std::uint32_t triangle;
};

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

// Where a cell of a grid of 2^bits an axis lies on Hilbert's curve: from one cell to the next it
// never jumps. (Skilling, Programming the Hilbert curve, 2004, tells how its axes turn.)
std::uint32_t find_place_on_curve(std::array<std::uint32_t, 3> x, unsigned bits) {
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

// By place on the curve, then by number: two passes of a counting sort.
void sort_along_curve(std::vector<Place>& places, const Lattice& lattice, Threads threads) {
  constexpr unsigned kBits = 7, kDigit = 11;
  constexpr std::uint32_t kDigits = 1U << kDigit;
  static_assert(3 * kBits <= 2 * kDigit);
  const std::int32_t widest = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  const float scale = static_cast<float>(1U << kBits) / (3 * static_cast<float>(widest));
  std::vector<std::uint32_t> keys(places.size());
  parallel_for(places.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::array<std::uint32_t, 3> cell;
      for (std::size_t axis = 0; axis < 3; ++axis)
        cell[axis] = static_cast<std::uint32_t>(std::clamp(places[i].center[axis] * scale, 0.0F,
                                                           static_cast<float>((1U << kBits) - 1)));
      keys[i] = find_place_on_curve(cell, kBits);
    }
  });
  // Places know their triangle, which is their number before the sort: keys need not move.
  std::vector<Place> sorted(places.size());
  for (const unsigned shift : {0U, kDigit}) {
    std::vector<std::uint32_t> next(kDigits + 1, 0);
    for (const std::uint32_t key : keys) ++next[(key >> shift & (kDigits - 1)) + 1];
    for (std::uint32_t d = 0; d < kDigits; ++d) next[d + 1] += next[d];
    for (const Place& p : places) sorted[next[keys[p.triangle] >> shift & (kDigits - 1)]++] = p;
    std::swap(places, sorted);
  }
}

// Stretches of Hilbert's curve, then halves of halves, down to blocks, each cut along its longest
// side. First halves are full: as many blocks as a power of two, so that nodes of the complete tree
// are unions of them.
void sort_into_blocks(std::vector<Place>& places, const Lattice& lattice, Threads threads) {
  constexpr std::size_t kStretch = kTreeBlock * kTreeWidth * kTreeWidth * kTreeWidth;
  sort_along_curve(places, lattice, threads);
  parallel_for((places.size() - 1) / kStretch + 1, 1, threads, [&](std::size_t i, std::size_t) {
    const std::size_t first = i * kStretch;
    const auto all = std::span(places).subspan(first, std::min(kStretch, places.size() - first));
    for (std::size_t capacity = kStretch; capacity > kTreeBlock; capacity /= 2)
      for (std::size_t begin = 0; begin < all.size(); begin += capacity) {
        const std::size_t size = std::min(capacity, all.size() - begin);
        if (size > capacity / 2) halve(all.subspan(begin, size), capacity / 2);
      }
  });
}

using Corners = std::array<Vec3, 3>;  // cells

Vec3 any_across(const Vec3& w) {
  return normalized(cross(w, std::abs(w.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
}

// What the axes of a box are found from. Sums over triangles, so that those of boxes add up.
struct Moments {
  Vec3 area{};              // twice, along the normals
  Vec3 sum{};               // of corners
  Vec3 squares{}, mixed{};  // of corners: xx, yy, zz; yz, zx, xy
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

// In the plane across w, the way in which the corners spread furthest.
Vec3 find_spread(const Moments& m, const Vec3& w) {
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
Axes find_axes(const Moments& m) {
  const double size = length(m.area);
  const Vec3 w = size > 0 ? m.area / size : Vec3{0, 0, 1};
  const Vec3 u = find_spread(m, w);
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

// Rounding of the axes and of places is for the search's slack to make up for.
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
  const Axes axes = find_axes(m);
  Extent extent;
  for (const Corners& t : triangles)
    for (const Vec3& p : t)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double at = dot(p, axes.axis[axis]);
        extent.add(axis, at, at);
      }
  return make_box(axes, extent);
}

// A little too large where the children's boxes are turned otherwise.
TurnedBox make_box_of_boxes(const Moments& m, std::span<const TurnedBox> children) {
  const Axes axes = find_axes(m);
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

}  // namespace

TriangleTree build_triangle_tree(const TriangleMesh& mesh, const Lattice& lattice,
                                 Threads threads) {
  const std::size_t n = mesh.triangles.size();
  assert(n > 0 && n <= kTreeMaxTriangles);
  constexpr std::size_t kGrain = 2048;
  // Triangles: larger boxes are made of boxes.
  constexpr std::size_t kMostMeasured = kTreeBlock * kTreeWidth * kTreeWidth * kTreeWidth;
  std::vector<Place> places(n);
  parallel_for(n, kGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const auto c = corners(mesh, t);
      const Vec3 middle =
          to_cells(lattice, c[0]) + to_cells(lattice, c[1]) + to_cells(lattice, c[2]);
      places[t].triangle = static_cast<std::uint32_t>(t);
      store(middle, places[t].center.data());
    }
  });
  sort_into_blocks(places, lattice, threads);

  const std::size_t blocks = (n - 1) / kTreeBlock + 1;
  TriangleTree tree;
  tree.frames.resize(blocks * kTreeBlock);
  std::vector<Corners> sorted(n);
  parallel_for(tree.frames.size(), kGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto c = corners(mesh, places[std::min(i, n - 1)].triangle);
      const Corners p{to_cells(lattice, c[0]), to_cells(lattice, c[1]), to_cells(lattice, c[2])};
      if (i < n) sorted[i] = p;
      tree.frames[i] = make_frame(p[0], p[1], p[2]);
    }
  });

  std::vector<Moments> moments(blocks);
  std::size_t width = kTreeBlock;  // triangles of a box
  for (std::size_t count = blocks;; count = (count - 1) / kTreeWidth + 1, width *= kTreeWidth) {
    const std::size_t first = tree.boxes.size();
    const std::size_t below = tree.level_begin.empty() ? 0 : tree.level_begin.back();
    const bool is_bottom = tree.level_begin.empty();
    tree.level_begin.push_back(static_cast<std::uint32_t>(first));
    tree.boxes.resize(first + ((count - 1) / kTreeWidth + 1) * kTreeWidth, empty_box());
    std::vector<Moments> sums(count);
    parallel_for(count, std::max<std::size_t>(1, kGrain / width), threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     const auto part =
                         std::span(sorted).subspan(i * width, std::min(width, n - i * width));
                     const std::size_t child = i * kTreeWidth;
                     const std::size_t children = std::min(kTreeWidth, moments.size() - child);
                     if (is_bottom)
                       for (const Corners& t : part) sums[i].add(t);
                     else
                       for (std::size_t c = 0; c < children; ++c) sums[i].add(moments[child + c]);
                     tree.boxes[first + i] =
                         width <= kMostMeasured
                             ? make_box_of_triangles(sums[i], part)
                             : make_box_of_boxes(
                                   sums[i], std::span(tree.boxes).subspan(below + child, children));
                   }
                 });
    moments = std::move(sums);
    if (count <= kTreeWidth) break;
  }
  assert(tree.level_begin.size() <= kTreeMaxLevel);
  return tree;
}

}  // namespace isotact::detail
