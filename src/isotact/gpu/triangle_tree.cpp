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
  std::array<float, 3> center;  // of the triangle, cells
  std::uint32_t triangle;
};

struct Range {
  std::size_t begin, end;
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

// Halves of halves, down to blocks, each cut along its longest side. First halves are full: as many
// blocks as a power of two, so that nodes of the complete tree are unions of them.
void sort_into_blocks(std::vector<Place>& places, Threads threads) {
  std::size_t capacity = kTreeBlock;
  while (capacity < places.size()) capacity *= 2;
  for (; capacity > kTreeBlock; capacity /= 2)
    parallel_for((places.size() - 1) / capacity + 1, std::max<std::size_t>(1, 1024 / capacity),
                 threads, [&](std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) {
                     const std::size_t begin = i * capacity;
                     const std::size_t size = std::min(capacity, places.size() - begin);
                     if (size > capacity / 2)
                       halve(std::span(places).subspan(begin, size), capacity / 2);
                   }
                 });
}

using Corners = std::array<Vec3, 3>;  // cells

Vec3 any_across(const Vec3& w) {
  return normalized(cross(w, std::abs(w.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
}

// In the plane across w, the way in which the corners spread furthest.
Vec3 find_spread(std::span<const Corners> triangles, const Vec3& w) {
  const Vec3 u = any_across(w), v = cross(w, u), from = triangles[0][0];
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (const Corners& t : triangles)
    for (const Vec3& p : t) {
      const double a = dot(p - from, u), b = dot(p - from, v);
      x += a, y += b, xx += a * a, xy += a * b, yy += b * b;
    }
  const double n = 3 * static_cast<double>(triangles.size());
  xx -= x * x / n, xy -= x * y / n, yy -= y * y / n;
  // The eigenvector of the larger eigenvalue, by the longer of two formulas for it.
  const double half = 0.5 * (xx - yy), root = std::sqrt(half * half + xy * xy);
  const double a = half >= 0 ? half + root : xy, b = half >= 0 ? xy : root - half;
  const double size = std::sqrt(a * a + b * b);
  return size > 0 ? (u * a + v * b) / size : u;
}

void store(const Vec3& from, float* to) {
  to[0] = static_cast<float>(from.x), to[1] = static_cast<float>(from.y),
  to[2] = static_cast<float>(from.z);
}

float round_up(double x) {
  return std::nextafter(static_cast<float>(x), std::numeric_limits<float>::infinity());
}

// Rounding of the axes and of places is for the search's slack to make up for.
TurnedBox make_box(std::span<const Corners> triangles) {
  Vec3 area{};
  for (const Corners& t : triangles) area += cross(t[1] - t[0], t[2] - t[0]);
  const double size = length(area);
  const Vec3 w = size > 0 ? area / size : Vec3{0, 0, 1};
  const Vec3 u = find_spread(triangles, w);
  const Vec3 axes[3] = {u, cross(w, u), w};
  Vec3 low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = -low;
  for (const Corners& t : triangles)
    for (const Vec3& p : t)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double at = dot(p, axes[axis]);
        low[axis] = std::min(low[axis], at);
        high[axis] = std::max(high[axis], at);
      }
  TurnedBox box{};
  const Vec3 middle = (low + high) * 0.5, half = (high - low) * 0.5;
  store(axes[0] * middle.x + axes[1] * middle.y + axes[2] * middle.z, box.center);
  store(axes[0], box.u);
  store(axes[1], box.v);
  store(axes[2], box.w);
  box.half_u = round_up(half.x), box.half_v = round_up(half.y), box.half_w = round_up(half.z);
  return box;
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
  sort_into_blocks(places, threads);

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

  std::size_t width = kTreeBlock;  // triangles of a box
  for (std::size_t count = blocks;; count = (count - 1) / kTreeWidth + 1, width *= kTreeWidth) {
    const std::size_t first = tree.boxes.size();
    tree.level_begin.push_back(static_cast<std::uint32_t>(first));
    tree.boxes.resize(first + ((count - 1) / kTreeWidth + 1) * kTreeWidth, empty_box());
    parallel_for(count, std::max<std::size_t>(1, kGrain / width), threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     tree.boxes[first + i] = make_box(
                         std::span(sorted).subspan(i * width, std::min(width, n - i * width)));
                 });
    if (count <= kTreeWidth) break;
  }
  assert(tree.level_begin.size() <= kTreeMaxLevel);
  return tree;
}

}  // namespace isotact::detail
