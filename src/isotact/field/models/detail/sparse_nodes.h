// The rule by which coarse nodes are interpolated. Far from the surface a field is smooth enough
// for nodes 16 cells apart. Consider 2^3 coarse cells that begin at even ones, and the eight even
// nodes at their corners. The cells are sparse if these nodes are at least
// BrickFieldHeader::sparse_from away from zero. A node between even ones is interpolated where all
// that share it are sparse. The rest are distances.
//
// A value in a sparse place is a mean, with weights w_i, of distances at nodes x_i whose mean is
// the point x itself. Distances change no faster than space, so it is off by at most sum w_i |x -
// x_i| <= sqrt(sum w_i |x - x_i|^2). Nodes that are not interpolated only bring the x_i nearer (a
// square is convex). So the error is at most 16 h sqrt(3/4) = 8 sqrt(3) h.
#pragma once

#include <cmath>
#include <span>

#include "isotact/field/lattice.h"

namespace isotact::detail {

class SparseNodes {
 public:
  // `from` 0: nothing is sparse. Only even nodes are read.
  SparseNodes(std::span<const float> coarse, const Index3& nodes, float from)
      : coarse_(coarse), nodes_(nodes), from_(from) {}

  // Numbers of blocks count 2^3 coarse cells. Blocks that the box cuts are not sparse.
  bool is_block_sparse(const Index3& block) const {
    if (from_ == 0) return false;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (2 * block[axis] + 2 >= nodes_[axis]) return false;
    bool far = true;
    for (std::int32_t i = 0; i < 8; ++i)
      far &= std::abs(at(2 * block[0] + 2 * (i & 1), 2 * block[1] + 2 * (i >> 1 & 1),
                         2 * block[2] + 2 * (i >> 2))) >= from_;
    return far;
  }

  bool is_interpolated(const Index3& node) const {
    if (((node[0] | node[1] | node[2]) & 1) == 0) return false;
    Index3 first, last;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      last[axis] = node[axis] / 2;
      first[axis] = node[axis] % 2 == 0 ? last[axis] - 1 : last[axis];
      if (first[axis] < 0) first[axis] = 0;
      if (node[axis] % 2 == 0 && node[axis] + 1 == nodes_[axis]) --last[axis];  // the box ends
    }
    for (std::int32_t z = first[2]; z <= last[2]; ++z)
      for (std::int32_t y = first[1]; y <= last[1]; ++y)
        for (std::int32_t x = first[0]; x <= last[0]; ++x)
          if (!is_block_sparse({x, y, z})) return false;
    return true;
  }

  // Bit i: is_interpolated() of node i of the 2^3 that begin at an even one.
  unsigned compute_interpolated(const Index3& first) const {
    unsigned sparse = 0;  // bit i: of the blocks that share the first node; beyond the box there
                          // are none to be shared with
    for (std::int32_t i = 0; i < 8; ++i) {
      const Index3 block{first[0] / 2 - 1 + (i & 1), first[1] / 2 - 1 + (i >> 1 & 1),
                         first[2] / 2 - 1 + (i >> 2)};
      const bool beyond = block[0] < 0 || block[1] < 0 || block[2] < 0 ||
                          2 * block[0] + 1 >= nodes_[0] || 2 * block[1] + 1 >= nodes_[1] ||
                          2 * block[2] + 1 >= nodes_[2];
      if (beyond || is_block_sparse(block)) sparse |= 1U << static_cast<unsigned>(i);
    }
    // A node that is odd along an axis is shared by the upper blocks only.
    constexpr unsigned kUpper[3] = {0xaaU, 0xccU, 0xf0U};
    unsigned interpolated = 0;
    for (unsigned node = 1; node < 8; ++node) {
      unsigned sharers = 0xffU;
      for (unsigned axis = 0; axis < 3; ++axis)
        if ((node >> axis & 1U) != 0) sharers &= kUpper[axis];
      if ((sparse & sharers) == sharers) interpolated |= 1U << node;
    }
    return interpolated;
  }

  // interpolate() of those of these nodes that are interpolated.
  void interpolate(const Index3& first, unsigned interpolated, float* result) const {
    float even[8];
    Index3 by;  // beyond the box there is none, and none is used
    for (std::size_t axis = 0; axis < 3; ++axis) by[axis] = first[axis] + 2 < nodes_[axis] ? 2 : 0;
    for (std::int32_t i = 0; i < 8; ++i)
      even[i] = std::abs(at(first[0] + by[0] * (i & 1), first[1] + by[1] * (i >> 1 & 1),
                            first[2] + by[2] * (i >> 2)));
    for (unsigned node = 1; node < 8; ++node) {
      if ((interpolated >> node & 1U) == 0) continue;
      float sum = 0;
      for (unsigned i = 0; i < 8; ++i) sum += even[i & node];
      result[node] = sum * 0.125F;
    }
  }

  // The mean of the two, four or eight even nodes around, without sign: they have one.
  float interpolate(const Index3& node) const {
    float sum = 0;
    for (std::int32_t i = 0; i < 8; ++i)
      sum += std::abs(at(even_beside(node[0], i & 1), even_beside(node[1], i >> 1 & 1),
                         even_beside(node[2], i >> 2)));
    return sum * 0.125F;
  }

 private:
  static std::int32_t even_beside(std::int32_t i, std::int32_t up) {
    return i % 2 == 0 ? i : i - 1 + 2 * up;
  }
  float at(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return coarse_[flat_index(nodes_, x, y, z)];
  }

  std::span<const float> coarse_;
  Index3 nodes_;
  float from_;
};

}  // namespace isotact::detail
