// Parts of hierarchies that move, and filters of many pairs at once: four triangles against four,
// and a box against the eight boxes of a node.
//
// Why a filter loses no pair. Its gaps are those of motion_search.h, along directions that hold for
// both ends. They are computed in float, about the middles of both parts. Corners of A are
// differences of floats. What moves is turned and moved by numbers that are rounded once from
// double. A height along a direction is then a sum of less than twenty products of numbers of at
// most the extent: the distance of both middles, plus the sizes of both parts. Each operation
// rounds by 2^-24 of it, and directions are unit vectors to 2^-21, so gaps are off by less than
// 2^-18 of the extent, which are taken off.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "isotact/base/detail/lanes.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::detail::mesh_motion {

// A part of a hierarchy: the root, a child of a node, or a triangle.
struct Part {
  std::uint32_t index;  // kRoot, 8 * node + child, or 4 * block + lane
  bool is_triangle;
};
inline constexpr std::uint32_t kRoot = 0xffffffffU;

struct Pair {
  Part a, b;
  double gap;  // metres: they have at least this distance in the interval; perhaps negative
  // A time: from the beginning of the interval until then they are further apart than cut() was.
  double until = 0;
};

struct Box {
  Vec3 center{}, axis[3]{};  // unit but for rounding
  double half[3]{};
  double slack = 0;  // metres: all points are as near to the box
  std::uint32_t child = 0;

  bool is_block() const { return (child & detail::kBlockBit) != 0; }
  double radius() const {
    return std::sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  }
};

inline Box root_box(const Bvh& bvh) {
  const Aabb bounds = to_double(bvh.bounds());
  const Vec3 half = extent(bounds) * 0.5;
  return {.center = center(bounds),
          .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
          .half = {half.x, half.y, half.z},
          .slack = 0,
          .child = 0};
}

// The sides enclose the exact local coordinates of triangles. Axes are orthonormal to 2^-22, which
// moves points by less than 2^-20 of their local coordinates.
inline Box child_box(const Bvh& bvh, std::uint32_t index) {
  const detail::OrientedNode& node = bvh.oriented_nodes()[index >> 3U];
  const unsigned c = index & 7U;
  Box box;
  box.center = {double{node.origin[0]}, double{node.origin[1]}, double{node.origin[2]}};
  box.slack = 0;
  for (int i = 0; i < 3; ++i) {
    const double step = double{node.step[i]};
    const double lower = node.lower[i][c] * step, upper = node.upper[i][c] * step;
    box.axis[i] = {double{node.axes[i][0]}, double{node.axes[i][1]}, double{node.axes[i][2]}};
    box.center += box.axis[i] * ((lower + upper) * 0.5);
    box.half[i] = (upper - lower) * 0.5;
    box.slack += step * (128 * 0x1p-20);
  }
  box.child = node.child[c];
  return box;
}

inline Box box_of(const Bvh& bvh, const Part& part) {
  return part.index == kRoot ? root_box(bvh) : child_box(bvh, part.index);
}

// A block of a hierarchy: all corners are as near to its middle as the radius.
struct PlacedBlock {
  const TriangleBlock& block;
  Vec3 middle{};
  double radius = 0;
};

class BlockFilter {
 public:
  // The triangles of B go from `first` to `last`. Pairs with a gap of more than `needed` metres
  // along some direction are dropped: at both ends, in the same sense.
  BlockFilter(const PlacedBlock& a, const PlacedBlock& b, const AffineMap& first,
              const AffineMap& last, double needed) {
    const Vec3f at_a = to_float(a.middle), at_b = to_float(b.middle);
    double furthest = 0;
    const AffineMap* const maps[2] = {&first, &last};
    Vec3 offset[2];
    for (std::size_t e = 0; e < 2; ++e) {
      offset[e] = *maps[e] * to_double(at_b) - to_double(at_a);
      furthest = std::max(furthest, length(offset[e]));
    }
    const double extent = furthest + 2 * (a.radius + b.radius);
    limit_ = F(static_cast<float>((std::max(needed, 0.0) + 0x1p-18 * extent) * (1 + 0x1p-18)));
    for (std::size_t k = 0; k < 3; ++k) {
      F local[3];
      for (std::size_t i = 0; i < 3; ++i) {
        a_[k][i] = load<F>(a.block.corner[k][i]) - F(at_a[i]);
        local[i] = load<F>(b.block.corner[k][i]) - F(at_b[i]);
      }
      for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t i = 0; i < 3; ++i) {
          const Vec3& row = maps[e]->linear.rows[i];
          b_[e][k][i] =
              F(static_cast<float>(offset[e][i])) + F(static_cast<float>(row.x)) * local[0] +
              F(static_cast<float>(row.y)) * local[1] + F(static_cast<float>(row.z)) * local[2];
        }
    }
    for (unsigned i = 0; i < kBlockWidth; ++i)
      for (unsigned k = 0; k < kBlockWidth; ++k)
        if (a.block.triangle[i] != 0xffffffffU && b.block.triangle[k] != 0xffffffffU)
          left_ |= 1U << (4 * i + k);
  }

  // Bit 4 i + k: A's triangle i and B's triangle k.
  unsigned left() const { return left_; }

  // `n`: a unit vector in A's frame, or zero.
  void drop_along(const Vec3& n) {
    const Vec3f along = to_float(n);
    const Heights h = heights_along(F(along.x), F(along.y), F(along.z));
    float lower[kBlockWidth], upper[kBlockWidth];
    store(h.lower_a, lower);
    store(h.upper_a, upper);
    for (unsigned i = 0; i < kBlockWidth; ++i) drop_row(i, h, lower[i], upper[i]);
  }

  // Along the normals of all triangles; B's are those at the middle of its chords.
  void drop_along_normals() {
    const auto difference = [](const Corner& p, const Corner& q) {
      return Corner{p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    };
    store_normals(difference(a_[1], a_[0]), difference(a_[2], a_[0]));
    for (unsigned i = 0; i < kBlockWidth; ++i) {
      if ((left_ >> (4 * i) & 0xfU) == 0) continue;
      const Heights h = heights_along(F(normal_[0][i]), F(normal_[1][i]), F(normal_[2][i]));
      float lower[kBlockWidth], upper[kBlockWidth];
      store(h.lower_a, lower);
      store(h.upper_a, upper);
      drop_row(i, h, lower[i], upper[i]);
    }
    Corner middle[3];
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 3; ++i) middle[k][i] = b_[0][k][i] + b_[1][k][i];
    store_normals(difference(middle[1], middle[0]), difference(middle[2], middle[0]));
    for (unsigned k = 0; k < kBlockWidth; ++k) {
      const unsigned column = 0x1111U << k;
      if ((left_ & column) == 0) continue;
      const Heights h = heights_along(F(normal_[0][k]), F(normal_[1][k]), F(normal_[2][k]));
      float lower[kBlockWidth], upper[kBlockWidth];
      store(h.lower_b, lower);
      store(h.upper_b, upper);
      const unsigned rows =
          bits_of(greater(F(lower[k]) - h.upper_a, h.lower_a - F(upper[k])) > limit_);
      for (unsigned i = 0; i < kBlockWidth; ++i)
        if ((rows >> i & 1U) != 0) left_ &= ~(1U << (4 * i + k));
    }
  }

 private:
  using F = Lanes<float, kBlockWidth>;
  using Corner = std::array<F, 3>;
  struct Heights {
    F lower_a, upper_a, lower_b, upper_b;  // B's: at both ends
  };

  Heights heights_along(F x, F y, F z) const {
    const auto height = [&](const Corner& c) { return x * c[0] + y * c[1] + z * c[2]; };
    const F p = height(a_[0]), q = height(a_[1]), r = height(a_[2]);
    Heights h{lesser(lesser(p, q), r), greater(greater(p, q), r), F(0.0F), F(0.0F)};
    for (std::size_t e = 0; e < 2; ++e) {
      const F u = height(b_[e][0]), v = height(b_[e][1]), w = height(b_[e][2]);
      const F lower = lesser(lesser(u, v), w), upper = greater(greater(u, v), w);
      h.lower_b = e == 0 ? lower : lesser(h.lower_b, lower);
      h.upper_b = e == 0 ? upper : greater(h.upper_b, upper);
    }
    return h;
  }

  // False for the NaN of lanes without a triangle.
  void drop_row(unsigned i, const Heights& h, float lower, float upper) {
    left_ &= ~(bits_of(greater(h.lower_b - F(upper), F(lower) - h.upper_b) > limit_) << (4 * i));
  }

  // Zero for triangles without area.
  void store_normals(const Corner& u, const Corner& v) {
    const F n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                    u[0] * v[1] - u[1] * v[0]};
    const F sq = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    const F by =
        select(sq > F(0x1p-100F), F(1.0F) / square_root(greater(sq, F(0x1p-100F))), F(0.0F));
    for (std::size_t i = 0; i < 3; ++i) store(n[i] * by, normal_[i]);
  }

  Corner a_[3], b_[2][3];  // corners of four triangles each; B's at both ends
  F limit_{0.0F};
  unsigned left_ = 0;
  float normal_[3][kBlockWidth] = {};
};

// The boxes of a node's children against a single box. B's part moves.
class ChildFilter {
 public:
  // Heights of the single box along a direction, from the node's origin: a range at both ends. For
  // a node of A the single box is B's; for one of B both are seen from where the node is.
  struct Range {
    double lower, upper;
  };

  // Children with a gap of more than `needed` metres along some direction are dropped. `distance`:
  // no point of the single box is further from the node's origin.
  ChildFilter(const OrientedNode& node, double needed, double distance) : node_(node) {
    double size = 0;
    for (const float step : node.step) size += 128 * double{step};
    // Local coordinates are off by 2^-20 (child_box).
    const double slack = 0x1p-20 * size + 0x1p-18 * (2 * size + distance);
    limit_ = F(static_cast<float>((std::max(needed, 0.0) + slack) * (1 + 0x1p-18)));
    for (std::size_t k = 0; k < 3; ++k) {
      const F step(node.step[k]);
      for (std::size_t part = 0; part < 2; ++part) {
        lower_[part][k] = load_bytes<F>(node.lower[k] + 4 * part) * step;
        upper_[part][k] = load_bytes<F>(node.upper[k] + 4 * part) * step;
      }
    }
    left_ = (1U << node.child_count) - 1;
  }

  unsigned left() const { return left_; }  // a bit per child

  // `in_node`: the direction at both ends, in the frame of the node's mesh. `single`: the heights
  // of the single box over the node's origin at both ends.
  void drop_along(const Vec3 (&in_node)[2], const Range (&single)[2]) {
    F weight[2][3]{{F(0.0F), F(0.0F), F(0.0F)}, {F(0.0F), F(0.0F), F(0.0F)}};
    for (std::size_t e = 0; e < 2; ++e)
      for (std::size_t k = 0; k < 3; ++k) {
        const float* axis = node_.axes[k];
        weight[e][k] =
            F(static_cast<float>(in_node[e].x * double{axis[0]} + in_node[e].y * double{axis[1]} +
                                 in_node[e].z * double{axis[2]}));
      }
    for (unsigned part = 0; part < 2; ++part) {
      F above(0.0F), below(0.0F);  // gaps on both sides, the lesser one of both ends
      for (std::size_t e = 0; e < 2; ++e) {
        F lower(0.0F), upper(0.0F);
        for (std::size_t k = 0; k < 3; ++k) {
          const F p = weight[e][k] * lower_[part][k], q = weight[e][k] * upper_[part][k];
          lower = lower + lesser(p, q);
          upper = upper + greater(p, q);
        }
        const F over = lower - F(static_cast<float>(single[e].upper)),
                under = F(static_cast<float>(single[e].lower)) - upper;
        above = e == 0 ? over : lesser(above, over);
        below = e == 0 ? under : lesser(below, under);
      }
      left_ &= ~(bits_of(greater(above, below) > limit_) << (4 * part));
    }
  }

 private:
  using F = Lanes<float, 4>;

  const OrientedNode& node_;
  F lower_[2][3]{{F(0.0F), F(0.0F), F(0.0F)}, {F(0.0F), F(0.0F), F(0.0F)}},
      upper_[2][3]{{F(0.0F), F(0.0F), F(0.0F)}, {F(0.0F), F(0.0F), F(0.0F)}};
  F limit_{0.0F};
  unsigned left_ = 0;
};

}  // namespace isotact::detail::mesh_motion
