#include <cmath>

#include "isotact/field/surface/detail/cell_frame.h"

namespace isotact::detail {
namespace {

// A unit vector across a given one.
Vec3 any_across(const Vec3& u) {
  const Vec3 axis = std::abs(u.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  return normalized(cross(u, axis));
}

void store(const Vec3& from, float* to) {
  to[0] = static_cast<float>(from.x), to[1] = static_cast<float>(from.y),
  to[2] = static_cast<float>(from.z);
}

// An edge from the origin of the plane to (x, y).
void store_edge(double x, double y, float& edge_length, float& ux, float& uy) {
  const double l = std::sqrt(x * x + y * y);
  edge_length = static_cast<float>(l);
  ux = l > 0 ? static_cast<float>(x / l) : 0;
  uy = l > 0 ? static_cast<float>(y / l) : 0;
}

}  // namespace

TriangleFrame make_frame(const Vec3& a, const Vec3& b, const Vec3& c) {
  // Turn the corners so that the edge from the first to the second is the longest.
  const double ab = length_sq(b - a), bc = length_sq(c - b), ca = length_sq(a - c);
  Vec3 p = a, q = b, r = c;
  if (bc > ab && bc >= ca) {
    p = b, q = c, r = a;
  } else if (ca > ab) {
    p = c, q = a, r = b;
  }
  TriangleFrame f{};
  const double base = length(q - p);
  const Vec3 along = base > 0 ? (q - p) / base : Vec3{1, 0, 0};
  const Vec3 side = r - p;
  const double foot = dot(side, along);
  // Once more, since in a sliver the first difference has few digits left.
  Vec3 up = side - along * foot;
  up -= along * dot(up, along);
  const double height = length(up);
  // Below this the apex lies on the edge but for rounding, and its direction would be noise.
  const bool flat = !(height > 1e-12 * base);
  const Vec3 across = flat ? any_across(along) : normalized(up);
  store(p, f.anchor);
  store(along, f.along);
  store(across, f.across);
  store(cross(along, across), f.normal);
  f.length = static_cast<float>(base);
  const double apex = flat ? 0 : height;
  f.apex = static_cast<float>(foot);
  store_edge(foot, apex, f.left_length, f.left_x, f.left_y);
  store_edge(base - foot, apex, f.right_length, f.right_x, f.right_y);
  return f;
}

std::vector<TriangleFrame> make_frames(const Bvh& bvh, const TriangleMesh& mesh,
                                       const Lattice& lattice, Threads threads) {
  const auto blocks = bvh.blocks();
  std::vector<TriangleFrame> frames(blocks.size() * kBlockWidth);
  parallel_for(blocks.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kBlockWidth; i < end * kBlockWidth; ++i) {
      const std::uint32_t triangle = blocks[i / kBlockWidth].triangle[i % kBlockWidth];
      if (triangle == kNoTriangle) {
        frames[i].length = -1;
        continue;
      }
      const auto c = corners(mesh, triangle);
      frames[i] =
          make_frame(to_cells(lattice, c[0]), to_cells(lattice, c[1]), to_cells(lattice, c[2]));
    }
  });
  return frames;
}

}  // namespace isotact::detail
