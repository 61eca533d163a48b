// Four triangles against four that move, at once: which of the sixteen pairs may come near?
//
// In float, about the middles of both blocks. Corners of A are differences of floats. Those of B
// are turned and moved by numbers that are rounded once from double. A height along a direction is
// then a sum of less than twenty products of numbers of at most the extent: the distance of both
// middles, plus the sizes of both blocks. Each operation rounds by 2^-24 of it, and directions are
// unit vectors to 2^-21, so gaps are off by less than 2^-18 of the extent, which are taken off.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "isotact/base/detail/lanes.h"
#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::detail::mesh_motion {

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

}  // namespace isotact::detail::mesh_motion
