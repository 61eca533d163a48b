// The search for the nearest pair of triangles of two meshes, over the widths that a processor
// offers. Boxes are tested in float, triangles in double.
//
// Why culling by boxes never loses the nearest pair. A box of A is tested against the eight boxes
// of a node of B (or vice versa). The test uses gaps along the node's three axes, along those of
// the single box, and along those of a frame that the caller chose. That frame's first axis is the
// direction from one body to the other at a near pair. It tells most pairs of boxes apart. Points
// of both boxes are at least as far apart as the gaps along any orthonormal axes, put together by
// Pythagoras. The last axis is the line from middle to middle. Triangles are tested likewise, in
// that frame, along the line between them and along both normals, before their distance is
// computed.
//   * Node axes are unit vectors rounded to float, and stretch no vector by more than 1 + 2^-22.
//     The sides of node boxes, as computed here, enclose the exact local coordinates of their
//     triangles (orient_nodes.h).
//   * The offset of the single box's centre from the node's origin is computed in double and
//     rounded to float once. All numbers after that are sums of at most sixteen products of numbers
//     that are bounded by `extent`. `extent` is the sum of the offset's components and of both
//     boxes' sizes. Each operation rounds by 2^-24 of it, so gaps are off by less than 2^-19 of
//     `extent`.
// A box is culled only if its distance, less 2^-19 `extent`, and less 2^-20 of itself for the axes,
// is at least what must be beaten.
#pragma once

#include "isotact/geometry/bvh/bvh_layout.h"
#include "isotact/geometry/mesh/detail/triangle_lanes.h"

namespace isotact::detail {

struct PairTree {
  const OrientedNode* nodes;
  const TriangleBlock* blocks;
  float center[3], half[3];  // a box that holds all
};

// A child of a node: eight times the node's number, plus the child's.
using ChildRef = std::uint32_t;
inline constexpr ChildRef kRootRef = 0xffffffffU;

struct PairPlace {
  std::uint32_t block_a, lane_a, block_b, lane_b;
};

struct PairSearch {
  PairTree a, b;
  double rotation[3][3], translation[3];  // B to A
  double frame[3][3];                     // rows: orthonormal directions in A's frame
  double stop_sq;                         // the search ends at a pair as near as this
  double rounding_sq;   // of computed distances: nearer triangles are always measured
  double shrink, less;  // pairs count that are nearer than the best one's distance, times less both
  std::uint64_t max_tests;  // of boxes and triangles
};

struct PairFound {
  double distance_sq;  // on entry: what must be beaten
  PairPlace place;     // unchanged if no pair was found
  bool found;
  bool gave_up;
  double lowest_left;  // metres: no pair that was passed over is nearer; infinite if none was
  std::uint64_t tests;
};

template <typename D>
struct TriangleLanes {
  Point3<D> corner[3];
};

template <typename D>
ISOTACT_INLINE Point3<D> cross(const Point3<D>& a, const Point3<D>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <typename D>
struct SegmentPair {
  D distance_sq, s, t;
};

// The nearest points p + s u and q + t v of two segments. If they are parallel, s is any number in
// [0, 1], and two projections find a nearest pair from there. If a segment has no length, the
// division by zero gives a NaN, which clamp_to_unit makes 0.
template <typename D>
ISOTACT_INLINE SegmentPair<D> find_nearest_on_segments(const Point3<D>& p, const Point3<D>& u,
                                                       const Point3<D>& q, const Point3<D>& v) {
  const Point3<D> r = p - q;
  const D uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
  D s = clamp_to_unit((uv * vr - ur * vv) / (uu * vv - uv * uv));
  const D t = clamp_to_unit((uv * s + vr) / vv);
  s = clamp_to_unit((uv * t - ur) / uu);
  const Point3<D> d = (r - v * t) - u * (-s);
  return {dot(d, d), s, t};
}

// Whether the segment p, q passes through the triangle, or touches it, unless both lie in a plane.
template <typename D>
ISOTACT_INLINE auto crosses(const Point3<D>& p, const Point3<D>& q, const TriangleLanes<D>& t) {
  const Point3<D> a = t.corner[0] - p, b = t.corner[1] - p, c = t.corner[2] - p, d = q - p;
  const Point3<D> normal = cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]);
  const D zero(0.0);
  const D from = dot(normal, a), to = dot(normal, t.corner[0] - q);
  const auto apart = ((from > zero) & (to > zero)) | ((from < zero) & (to < zero));
  // No lane is apart; false for NaN. NOLINTNEXTLINE(misc-redundant-expression)
  const auto straddles = (from != to) & (apart == (from != from));
  const D ab = dot(d, cross(a, b)), bc = dot(d, cross(b, c)), ca = dot(d, cross(c, a));
  const auto left = (ab >= zero) & (bc >= zero) & (ca >= zero);
  const auto right = (ab <= zero) & (bc <= zero) & (ca <= zero);
  return straddles & (left | right);
}

// Squared distances of a triangle from those in the lanes. Each is the least one between a corner
// and a triangle or between two edges. It is zero if an edge of one passes through the other. NaN
// for lanes without a triangle.
template <typename D>
ISOTACT_INLINE D compute_distances_sq(const TriangleLanes<D>& a, const TriangleLanes<D>& b) {
  D best = find_nearest(a.corner[0], b.corner[0], b.corner[1], b.corner[2]).distance_sq;
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      best = lesser(best,
                    find_nearest(a.corner[i], b.corner[0], b.corner[1], b.corner[2]).distance_sq);
    best =
        lesser(best, find_nearest(b.corner[i], a.corner[0], a.corner[1], a.corner[2]).distance_sq);
    for (int k = 0; k < 3; ++k)
      best = lesser(best, find_nearest_on_segments(a.corner[i], a.corner[(i + 1) % 3] - a.corner[i],
                                                   b.corner[k], b.corner[(k + 1) % 3] - b.corner[k])
                              .distance_sq);
  }
  // Both must reach to both sides of the other's plane, or touch it.
  const auto is_across =
      [](const TriangleLanes<D>& t, const TriangleLanes<D>& of) __attribute__((always_inline)) {
    const Point3<D> n = cross(of.corner[1] - of.corner[0], of.corner[2] - of.corner[0]);
    const D d0 = dot(n, t.corner[0] - of.corner[0]), d1 = dot(n, t.corner[1] - of.corner[0]),
            d2 = dot(n, t.corner[2] - of.corner[0]);
    const D zero(0.0);
    const auto below = lesser(lesser(d0, d1), d2) <= zero;
    const auto above = greater(greater(d0, d1), d2) >= zero;
    return below & above;
  };
  const auto both = is_across(a, b) & is_across(b, a);
  if (bits_of(both) == 0) return best;
  auto meet = crosses(a.corner[0], a.corner[1], b);
  meet = meet | crosses(a.corner[1], a.corner[2], b) | crosses(a.corner[2], a.corner[0], b);
  for (int k = 0; k < 3; ++k) meet = meet | crosses(b.corner[k], b.corner[(k + 1) % 3], a);
  return select(both & meet, D(0.0), best);
}

// F: float lanes for boxes, D: double lanes for triangles.
template <typename F, typename D>
class PairKernel {
 public:
  static void find(const PairSearch& search, PairFound& found) {
    PairKernel kernel(search, found);
    kernel.run();
  }

 private:
  // The box of a node's child, or of one triangle of a block.
  struct Box {
    double center[3];
    float half[3];
    float axes[3][3];  // rows
    std::uint32_t child;

    ISOTACT_INLINE bool is_block() const { return (child & kBlockBit) != 0; }
    ISOTACT_INLINE float size() const {
      return half[0] * half[0] + half[1] * half[1] + half[2] * half[2];
    }
  };
  // The triangle of a block that an entry is about, or all of them.
  static constexpr std::uint32_t kAllLanes = kBlockWidth;
  struct Entry {
    ChildRef a, b;
    float distance;  // no pair below is nearer
    std::uint16_t lane_a, lane_b;
  };
  // Each level of either tree leaves at most seven entries waiting, and each of two blocks that are
  // taken apart 8 for each triangle but one.
  static constexpr int kMost = 2 * 7 * (kMaxDepth + 1) + 2 + 2 * kNodeWidth * kBlockWidth;

  PairKernel(const PairSearch& search, PairFound& found) : s_(search), f_(found) {
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        rotation_[i][k] = static_cast<float>(s_.rotation[i][k]);
        frame_a_[i][k] = static_cast<float>(s_.frame[i][k]);
        frame_b_[i][k] = static_cast<float>(s_.frame[i][0] * s_.rotation[0][k] +
                                            s_.frame[i][1] * s_.rotation[1][k] +
                                            s_.frame[i][2] * s_.rotation[2][k]);
      }
    set_cut();
  }

  ISOTACT_INLINE void set_cut() {
    const double cut = __builtin_sqrt(f_.distance_sq) * s_.shrink - s_.less;
    cut_ = cut > 0 ? cut : 0;
  }

  void run() {
    f_.lowest_left = __builtin_inf();
    f_.tests = 0;
    f_.gave_up = false;
    stack_[size_++] = {kRootRef, kRootRef, 0, kAllLanes, kAllLanes};
    while (size_ > 0) {
      const Entry entry = stack_[--size_];
      if (is_left_out(entry.distance)) continue;
      if (s_.max_tests > 0 && f_.tests >= s_.max_tests) {
        f_.gave_up = true;
        for (++size_; size_ > 0; --size_) leave(stack_[size_ - 1].distance);
        return;
      }
      const Box a = make_box(s_.a, entry.a, entry.lane_a),
                b = make_box(s_.b, entry.b, entry.lane_b);
      if (a.is_block() && b.is_block()) {
        test_blocks(a, entry.lane_a, b, entry.lane_b);
        if (f_.distance_sq <= s_.stop_sq) {
          for (; size_ > 0; --size_) leave(stack_[size_ - 1].distance);
          return;
        }
      } else if (!b.is_block() && (a.is_block() || b.size() > a.size())) {
        descend_beside<true>(s_.a, a, entry.a, entry.lane_a, b);
      } else {
        descend_beside<false>(s_.b, b, entry.b, entry.lane_b, a);
      }
    }
  }

  // Large triangles fill the box of their block badly: a small part of the other mesh would have to
  // be searched down to its last triangle. Their own boxes are thin.
  template <bool kIntoB>
  ISOTACT_INLINE void descend_beside(const PairTree& tree, const Box& single, ChildRef single_ref,
                                     std::uint32_t lane, const Box& node) {
    if (!single.is_block() || lane != kAllLanes || single.size() <= node.size()) {
      descend<kIntoB>(single, single_ref, lane, node.child);
      return;
    }
    const TriangleBlock& block = tree.blocks[single.child & ~kBlockBit];
    for (std::uint32_t i = 0; i < kBlockWidth && block.triangle[i] != 0xffffffffU; ++i)
      descend<kIntoB>(make_triangle_box(block, i, single.child), single_ref, i, node.child);
  }

  ISOTACT_INLINE void leave(float distance) {
    if (distance < f_.lowest_left) f_.lowest_left = static_cast<double>(distance);
  }
  ISOTACT_INLINE bool is_left_out(float distance) {
    if (static_cast<double>(distance) < cut_) return false;
    leave(distance);
    return true;
  }

  // Along the longest edge, across it, and along the normal. Sides are wider than rounding by
  // 2^-20, as those of nodes are.
  static ISOTACT_INLINE Box make_triangle_box(const TriangleBlock& block, std::uint32_t lane,
                                              std::uint32_t child) {
    float corner[3][3], edge[3][3], length_sq[3];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) corner[k][i] = block.corner[k][i][lane];
    int longest = 0;
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) edge[k][i] = corner[(k + 1) % 3][i] - corner[k][i];
      length_sq[k] = edge[k][0] * edge[k][0] + edge[k][1] * edge[k][1] + edge[k][2] * edge[k][2];
      if (length_sq[k] > length_sq[longest]) longest = k;
    }
    const float* u = edge[longest];
    const float* v = edge[(longest + 1) % 3];
    float normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
    const float normal_sq = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    const float u_sq = length_sq[longest];
    Box box;
    // Slivers, whose normal is noise or underflows, get the axes of their mesh.
    if (normal_sq > u_sq * u_sq * 0x1p-30F && u_sq > 0x1p-60F) {
      const float by_u = 1 / __builtin_sqrtf(u_sq), by_n = 1 / __builtin_sqrtf(normal_sq);
      for (int i = 0; i < 3; ++i) {
        box.axes[0][i] = u[i] * by_u;
        box.axes[2][i] = normal[i] * by_n;
      }
      for (int i = 0; i < 3; ++i)
        box.axes[1][i] = box.axes[2][(i + 1) % 3] * box.axes[0][(i + 2) % 3] -
                         box.axes[2][(i + 2) % 3] * box.axes[0][(i + 1) % 3];
    } else {
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) box.axes[i][k] = i == k ? 1.0F : 0.0F;
    }
    const float pad = 0x1p-20F * __builtin_sqrtf(u_sq) + 0x1p-120F;
    float middle[3];
    for (int i = 0; i < 3; ++i) {
      const float* axis = box.axes[i];
      float lower = 0, upper = 0;  // of the corners, from the longest edge's first one
      float at = 0;
      for (int k = 0; k < 2; ++k) {
        const float* e = edge[(longest + k) % 3];
        at += axis[0] * e[0] + axis[1] * e[1] + axis[2] * e[2];
        lower = lesser(lower, at);
        upper = greater(upper, at);
      }
      middle[i] = 0.5F * (lower + upper);
      box.half[i] = 0.5F * (upper - lower) + pad;
    }
    for (int k = 0; k < 3; ++k)
      box.center[k] = double{corner[longest][k]} +
                      double{box.axes[0][k] * middle[0] + box.axes[1][k] * middle[1] +
                             box.axes[2][k] * middle[2]};
    box.child = child;
    return box;
  }

  static ISOTACT_INLINE Box make_box(const PairTree& tree, ChildRef ref, std::uint32_t lane) {
    Box box;
    if (ref == kRootRef) {
      for (int i = 0; i < 3; ++i) {
        box.center[i] = double{tree.center[i]};
        box.half[i] = tree.half[i];
        for (int k = 0; k < 3; ++k) box.axes[i][k] = i == k ? 1.0F : 0.0F;
      }
      box.child = 0;
      return box;
    }
    const OrientedNode& node = tree.nodes[ref >> 3U];
    const unsigned c = ref & 7U;
    if (lane != kAllLanes)
      return make_triangle_box(tree.blocks[node.child[c] & ~kBlockBit], lane, node.child[c]);
    float middle[3];
    for (int i = 0; i < 3; ++i) {
      const float lower = static_cast<float>(node.lower[i][c]) * node.step[i];
      const float upper = static_cast<float>(node.upper[i][c]) * node.step[i];
      middle[i] = 0.5F * (lower + upper);
      box.half[i] = 0.5F * (upper - lower);
      for (int k = 0; k < 3; ++k) box.axes[i][k] = node.axes[i][k];
    }
    for (int k = 0; k < 3; ++k)
      box.center[k] = double{node.origin[k]} +
                      double{node.axes[0][k] * middle[0] + node.axes[1][k] * middle[1] +
                             node.axes[2][k] * middle[2]};
    box.child = node.child[c];
    return box;
  }

  // The boxes of the node's children against the single box. kIntoB: the node is B's.
  template <bool kIntoB>
  void descend(const Box& single, ChildRef single_ref, std::uint32_t lane,
               std::uint32_t node_index) {
    const OrientedNode& node = (kIntoB ? s_.b : s_.a).nodes[node_index];
    // The single box's centre and axes in the frame of the node's mesh. Where that is A, the
    // rotation is applied; where it is B, its transpose.
    double from_origin[3];
    float turned[3][3];  // turned[k]: axis k of the single box
    if constexpr (kIntoB) {
      double d[3];
      for (int i = 0; i < 3; ++i) d[i] = single.center[i] - s_.translation[i];
      for (int i = 0; i < 3; ++i)
        from_origin[i] =
            (s_.rotation[0][i] * d[0] + s_.rotation[1][i] * d[1] + s_.rotation[2][i] * d[2]) -
            double{node.origin[i]};
      for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          turned[k][i] = rotation_[0][i] * single.axes[k][0] + rotation_[1][i] * single.axes[k][1] +
                         rotation_[2][i] * single.axes[k][2];
    } else {
      for (int i = 0; i < 3; ++i)
        from_origin[i] =
            (s_.rotation[i][0] * single.center[0] + s_.rotation[i][1] * single.center[1] +
             s_.rotation[i][2] * single.center[2] + s_.translation[i]) -
            double{node.origin[i]};
      for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          turned[k][i] = rotation_[i][0] * single.axes[k][0] + rotation_[i][1] * single.axes[k][1] +
                         rotation_[i][2] * single.axes[k][2];
    }
    const float offset[3] = {static_cast<float>(from_origin[0]), static_cast<float>(from_origin[1]),
                             static_cast<float>(from_origin[2])};
    // r[i][k]: component of the single box's axis k along the node's axis i.
    float r[3][3], c[3], h[3], extent = 0;
    for (int i = 0; i < 3; ++i) {
      const float* row = node.axes[i];
      c[i] = row[0] * offset[0] + row[1] * offset[1] + row[2] * offset[2];
      h[i] = 0;
      for (int k = 0; k < 3; ++k) {
        r[i][k] = row[0] * turned[k][0] + row[1] * turned[k][1] + row[2] * turned[k][2];
        h[i] += __builtin_fabsf(r[i][k]) * single.half[k];
      }
      extent += __builtin_fabsf(offset[i]) + 2 * single.half[i] + 256 * node.step[i];
    }
    // The caller's frame: its axes along the node's, and half the single box's size in it.
    const float(&frame)[3][3] = kIntoB ? frame_b_ : frame_a_;
    float g[3][3], in_frame[3];
    for (int j = 0; j < 3; ++j) {
      in_frame[j] = 0;
      for (int i = 0; i < 3; ++i) {
        const float* row = node.axes[i];
        g[j][i] = frame[j][0] * row[0] + frame[j][1] * row[1] + frame[j][2] * row[2];
        const float* axis = turned[i];
        in_frame[j] +=
            __builtin_fabsf(frame[j][0] * axis[0] + frame[j][1] * axis[1] + frame[j][2] * axis[2]) *
            single.half[i];
      }
    }
    const F slack(extent * 0x1p-19F);
    alignas(32) float distances[kNodeWidth], order[kNodeWidth];
    for (int part = 0; part < kNodeWidth; part += F::kWidth) {
      F by_node(0.0F), by_single(0.0F), by_frame(0.0F);
      F middle[3], half[3];
      for (int i = 0; i < 3; ++i) {
        const F step(node.step[i]);
        const F lower = load_bytes<F>(node.lower[i] + part) * step - F(c[i]);
        const F upper = load_bytes<F>(node.upper[i] + part) * step - F(c[i]);
        const F gap = greater(greater(lower - F(h[i]), -upper - F(h[i])), F(0.0F));
        by_node = by_node + gap * gap;
        middle[i] = (lower + upper) * F(0.5F);
        half[i] = (upper - lower) * F(0.5F);
      }
      // The gap along the line of centres, times its length.
      const F line_sq = middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2];
      F on_line = line_sq;
      for (int k = 0; k < 3; ++k) {
        const F p = F(r[0][k]) * middle[0] + F(r[1][k]) * middle[1] + F(r[2][k]) * middle[2];
        const F reach = F(__builtin_fabsf(r[0][k])) * half[0] +
                        F(__builtin_fabsf(r[1][k])) * half[1] +
                        F(__builtin_fabsf(r[2][k])) * half[2] + F(single.half[k]);
        const F gap = greater(greater(p, -p) - reach, F(0.0F));
        by_single = by_single + gap * gap;
        on_line =
            on_line - greater(middle[k], -middle[k]) * half[k] - greater(p, -p) * F(single.half[k]);
        const F along = F(g[k][0]) * middle[0] + F(g[k][1]) * middle[1] + F(g[k][2]) * middle[2];
        const F both = F(__builtin_fabsf(g[k][0])) * half[0] +
                       F(__builtin_fabsf(g[k][1])) * half[1] +
                       F(__builtin_fabsf(g[k][2])) * half[2] + F(in_frame[k]);
        const F space = greater(greater(along, -along) - both, F(0.0F));
        by_frame = by_frame + space * space;
      }
      const F overlap = lesser(on_line, F(0.0F));
      on_line = greater(on_line, F(0.0F));
      const F by_line = on_line * on_line / greater(line_sq, F(0x1p-100F));
      const F farthest = greater(greater(by_node, by_single), greater(by_frame, by_line));
      const F distance = greater(square_root(farthest) * F(1 - 0x1p-20F) - slack, F(0.0F));
      store(distance, distances + part);
      store(select(distance > F(0.0F), distance, overlap), order + part);
    }
    ++f_.tests;
    push<kIntoB>(node, node_index, single_ref, static_cast<std::uint16_t>(lane), distances, order);
  }

  // The nearest last, so that it is taken first; of those that overlap, the deepest one.
  template <bool kIntoB>
  ISOTACT_INLINE void push(const OrientedNode& node, std::uint32_t node_index, ChildRef single_ref,
                           std::uint16_t lane, const float* distances, const float* order) {
    constexpr std::uint16_t kAll = kAllLanes;
    float waiting[kNodeWidth];
    const int first = size_;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const float d = distances[i];
      if (is_left_out(d)) continue;
      const ChildRef ref = node_index * 8 + i;
      const Entry entry =
          kIntoB ? Entry{single_ref, ref, d, lane, kAll} : Entry{ref, single_ref, d, kAll, lane};
      int at = size_++;
      for (; at > first && waiting[at - 1 - first] < order[i]; --at) {
        stack_[at] = stack_[at - 1];
        waiting[at - first] = waiting[at - 1 - first];
      }
      stack_[at] = entry;
      waiting[at - first] = order[i];
    }
  }

  // Boxes of triangles in the caller's frame.
  struct FrameBoxes {
    D lower[3], upper[3];
  };
  ISOTACT_INLINE FrameBoxes bound(const TriangleLanes<D>& t) const {
    FrameBoxes boxes;
    for (int j = 0; j < 3; ++j) {
      const Point3<D> axis{D(s_.frame[j][0]), D(s_.frame[j][1]), D(s_.frame[j][2])};
      const D p = dot(axis, t.corner[0]), q = dot(axis, t.corner[1]), r = dot(axis, t.corner[2]);
      boxes.lower[j] = lesser(lesser(p, q), r);
      boxes.upper[j] = greater(greater(p, q), r);
    }
    return boxes;
  }

  void test_blocks(const Box& box_a, std::uint32_t lane_a, const Box& box_b, std::uint32_t lane_b) {
    const std::uint32_t block_a = box_a.child & ~kBlockBit, block_b = box_b.child & ~kBlockBit;
    const TriangleBlock &of_a = s_.a.blocks[block_a], &of_b = s_.b.blocks[block_b];
    double lower[3][kBlockWidth], upper[3][kBlockWidth];  // of A's triangles
    for (int part = 0; part < kBlockWidth; part += D::kWidth) {
      TriangleLanes<D> a;
      for (int k = 0; k < 3; ++k)
        a.corner[k] = {load_wide<D>(of_a.corner[k][0] + part),
                       load_wide<D>(of_a.corner[k][1] + part),
                       load_wide<D>(of_a.corner[k][2] + part)};
      const FrameBoxes boxes = bound(a);
      for (int j = 0; j < 3; ++j) {
        store(boxes.lower[j], lower[j] + part);
        store(boxes.upper[j], upper[j] + part);
      }
    }
    for (int part = 0; part < kBlockWidth; part += D::kWidth) {
      if (lane_b != kAllLanes && static_cast<int>(lane_b) / D::kWidth != part / D::kWidth) continue;
      TriangleLanes<D> b;
      for (int k = 0; k < 3; ++k) {
        const D x = load_wide<D>(of_b.corner[k][0] + part),
                y = load_wide<D>(of_b.corner[k][1] + part),
                z = load_wide<D>(of_b.corner[k][2] + part);
        b.corner[k] = {row(0, x, y, z), row(1, x, y, z), row(2, x, y, z)};
      }
      if (bits_of(b.corner[0].x <= b.corner[0].x) == 0) break;  // no triangles in these lanes
      const FrameBoxes boxes = bound(b);
      for (std::uint32_t lane = 0; lane < kBlockWidth && of_a.triangle[lane] != 0xffffffffU;
           ++lane) {
        if (lane_a != kAllLanes && lane_a != lane) continue;
        D sum(0.0);
        for (int j = 0; j < 3; ++j) {
          const D gap = greater(
              greater(D(lower[j][lane]) - boxes.upper[j], boxes.lower[j] - D(upper[j][lane])),
              D(0.0));
          sum = sum + gap * gap;
        }
        // Rounding is by far less than that of distances, which the result accounts for.
        if (bits_of(sum < D(f_.distance_sq)) == 0) continue;
        test_triangle(of_a, block_a, lane, b, block_b, static_cast<std::uint32_t>(part));
      }
    }
  }

  ISOTACT_INLINE D row(int i, D x, D y, D z) const {
    return D(s_.rotation[i][0]) * x + D(s_.rotation[i][1]) * y + D(s_.rotation[i][2]) * z +
           D(s_.translation[i]);
  }

  ISOTACT_INLINE void test_triangle(const TriangleBlock& of_a, std::uint32_t block_a,
                                    std::uint32_t lane, const TriangleLanes<D>& b,
                                    std::uint32_t block_b, std::uint32_t first_lane) {
    TriangleLanes<D> a;
    for (int k = 0; k < 3; ++k)
      a.corner[k] = {D(double{of_a.corner[k][0][lane]}), D(double{of_a.corner[k][1][lane]}),
                     D(double{of_a.corner[k][2][lane]})};
    if (is_apart(a, b)) return;
    ++f_.tests;
    const D distances_sq = compute_distances_sq(a, b);
    unsigned nearer = bits_of(distances_sq < D(f_.distance_sq));
    if (nearer == 0) return;
    double plain[D::kWidth];
    store(distances_sq, plain);
    for (; nearer != 0; nearer &= nearer - 1) {
      const auto i = static_cast<std::uint32_t>(__builtin_ctz(nearer));
      if (!(plain[i] < f_.distance_sq)) continue;
      f_.distance_sq = plain[i];
      f_.place = {block_a, lane, block_b, first_lane + i};
      f_.found = true;
    }
    set_cut();
  }

  // Whether the gap along the line between their centres is too wide for all. Rounding is as above.
  ISOTACT_INLINE bool is_apart(const TriangleLanes<D>& a, const TriangleLanes<D>& b) const {
    const auto sum = [](const TriangleLanes<D>& t) __attribute__((always_inline)) {
      return Point3<D>{t.corner[0].x + t.corner[1].x + t.corner[2].x,
                       t.corner[0].y + t.corner[1].y + t.corner[2].y,
                       t.corner[0].z + t.corner[1].z + t.corner[2].z};
    };
    const Point3<D> line = sum(a) - sum(b);
    const D from =
        lesser(lesser(dot(line, a.corner[0]), dot(line, a.corner[1])), dot(line, a.corner[2]));
    const D to =
        greater(greater(dot(line, b.corner[0]), dot(line, b.corner[1])), dot(line, b.corner[2]));
    const D gap = from - to, zero(0.0), best_sq(f_.distance_sq);
    auto near = (gap <= zero) | (gap * gap < best_sq * dot(line, line));
    if (bits_of(near) == 0) return true;
    if (f_.distance_sq < s_.rounding_sq) return false;
    near = near & is_near_plane(a, b, best_sq);
    return bits_of(near) == 0 || bits_of(near & is_near_plane(b, a, best_sq)) == 0;
  }

  // Whether the triangle reaches as near to the other one's plane as the best distance.
  static ISOTACT_INLINE auto is_near_plane(const TriangleLanes<D>& t, const TriangleLanes<D>& of,
                                           D best_sq) {
    const Point3<D> n = cross(of.corner[1] - of.corner[0], of.corner[2] - of.corner[0]);
    const D d0 = dot(n, t.corner[0] - of.corner[0]), d1 = dot(n, t.corner[1] - of.corner[0]),
            d2 = dot(n, t.corner[2] - of.corner[0]);
    const D over = lesser(lesser(d0, d1), d2), under = -greater(greater(d0, d1), d2);
    const D gap = greater(over, under);
    return (gap <= D(0.0)) | (gap * gap < best_sq * dot(n, n));
  }

  const PairSearch& s_;
  PairFound& f_;
  float rotation_[3][3];
  float frame_a_[3][3], frame_b_[3][3];  // the caller's frame in those of A and B
  double cut_ = 0;
  int size_ = 0;
  Entry stack_[kMost];
};

using FindNearestPair = void (*)(const PairSearch& search, PairFound& found);
FindNearestPair find_nearest_pair_avx2();  // only where the processor has AVX2

}  // namespace isotact::detail
