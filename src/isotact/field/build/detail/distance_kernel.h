// Exact distances of lattice nodes to triangles, eight nodes at a time, over a lane type.
//
// Culling. For a group of nodes with centre c and radius R let m be the distance of c. Every node
// of the group is nearer to the surface than m + R, and a triangle whose distance from c is above
// m + 2 R is further than m + R from all of them: it cannot be nearest to any. Distances computed
// here are off by less than `slack`, which is added twice where they are compared. So what is left
// out could not have changed a minimum, and results do not depend on how nodes are grouped.
#pragma once

#include "isotact/base/lanes.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/geometry/bvh_layout.h"

namespace isotact::detail {

// F: float lanes, of which the eight points take 8 / F::kWidth.
template <typename F>
struct DistanceKernel {
  static constexpr unsigned kLanes = F::kWidth;
  static constexpr unsigned kParts = 8 / kLanes;

  struct Points {
    F x[kParts], y[kParts], z[kParts];
  };

  // The eight points around a centre.
  static ISOTACT_INLINE Points points_around(float x, float y, float z, float spacing) {
    alignas(32) static constexpr float kX[8] = {-1, 1, -1, 1, -1, 1, -1, 1};
    alignas(32) static constexpr float kY[8] = {-1, -1, 1, 1, -1, -1, 1, 1};
    alignas(32) static constexpr float kZ[8] = {-1, -1, -1, -1, 1, 1, 1, 1};
    const F half(0.5F * spacing);
    Points p;
    for (unsigned part = 0; part < kParts; ++part) {
      p.x[part] = F(x) + half * load<F>(kX + part * kLanes);
      p.y[part] = F(y) + half * load<F>(kY + part * kLanes);
      p.z[part] = F(z) + half * load<F>(kZ + part * kLanes);
    }
    return p;
  }

  static ISOTACT_INLINE F clamp(F t, F most) { return lesser(greater(t, F(0.0F)), most); }

  // Squared distances of points given in the coordinates of a triangle's plane. The angles at the
  // longest edge are acute, so below that edge (b < 0) it has the nearest point. Above, what is not
  // inside is nearest to the left edge if it lies left of the apex, else to the right one: seen
  // from the left, the nearest point of the right edge would be the apex, which the left one has
  // too.
  static ISOTACT_INLINE F measure_in_plane(const TriangleFrame& t, F a, F b, F c) {
    const F zero(0.0F), length(t.length);
    const auto left = a < F(t.apex);
    const F from_end = select(left, a, length - a);
    const F ux = select(left, F(t.left_x), F(t.right_x));
    const F uy = select(left, F(t.left_y), F(t.right_y));
    const F reach = select(left, F(t.left_length), F(t.right_length));
    const F foot = clamp(from_end * ux + b * uy, reach);
    const F rx = from_end - foot * ux, ry = b - foot * uy;
    const F beside = rx * rx + ry * ry;
    const F over = select(b * ux > from_end * uy, beside, zero);  // 0 inside
    const F r0 = a - clamp(a, length);
    const F below = r0 * r0 + b * b;
    return c * c + select(b < zero, below, over);
  }

  static ISOTACT_INLINE F turn(const float* axis, F x, F y, F z) {
    return (F(axis[0]) * x + F(axis[1]) * y) + F(axis[2]) * z;
  }

  // Points given relative to the block's centre.
  static ISOTACT_INLINE F measure_near(const NearTriangle& t, F x, F y, F z) {
    return measure_in_plane(t, turn(t.along, x, y, z) + F(t.anchor[0]),
                            turn(t.across, x, y, z) + F(t.anchor[1]),
                            turn(t.normal, x, y, z) + F(t.anchor[2]));
  }

  // Points given in the lattice.
  static ISOTACT_INLINE F measure(const TriangleFrame& t, F px, F py, F pz) {
    const F x = px - F(t.anchor[0]), y = py - F(t.anchor[1]), z = pz - F(t.anchor[2]);
    return measure_in_plane(t, turn(t.along, x, y, z), turn(t.across, x, y, z),
                            turn(t.normal, x, y, z));
  }

  static ISOTACT_INLINE void look_from(const TriangleFrame& f, const float* center,
                                       NearTriangle& t) {
    const float x = center[0] - f.anchor[0], y = center[1] - f.anchor[1],
                z = center[2] - f.anchor[2];
    t = f;
    t.anchor[0] = (f.along[0] * x + f.along[1] * y) + f.along[2] * z;
    t.anchor[1] = (f.across[0] * x + f.across[1] * y) + f.across[2] * z;
    t.anchor[2] = (f.normal[0] * x + f.normal[1] * y) + f.normal[2] * z;
  }

  // ---- refine ---------------------------------------------------------------------------------

  // Nodes of the block lie at -7.5 to 7.5 around its centre; a point of a level stands for the
  // cube of nodes around it, with this radius.
  static constexpr float radius_of(int spacing) {
    return 0.8660255F * static_cast<float>(spacing - 1);
  }

  static ISOTACT_INLINE void measure_list(const RefineWork& w, const std::uint32_t* list,
                                          std::size_t n, const Points& p, F* best) {
    for (unsigned part = 0; part < kParts; ++part) best[part] = F(3.0e38F);
    for (std::size_t i = 0; i < n; ++i) {
      const NearTriangle& t = w.near[list[i]];
      for (unsigned part = 0; part < kParts; ++part) {
        const F d = measure_near(t, p.x[part], p.y[part], p.z[part]);
        store(d, w.squares[i].d + part * kLanes);
        best[part] = lesser(d, best[part]);
      }
    }
  }

  static ISOTACT_INLINE void mark_list(const RefineWork& w, std::size_t n, const F* best,
                                       float radius) {
    F limit[kParts];
    for (unsigned part = 0; part < kParts; ++part) {
      const F reach = square_root(best[part]) * F(1.00001F) + F(2 * radius + w.slack);
      limit[part] = reach * reach;
    }
    for (std::size_t i = 0; i < n; ++i) {
      unsigned mask = 0;
      for (unsigned part = 0; part < kParts; ++part)
        mask |= bits_of(load<F>(w.squares[i].d + part * kLanes) <= limit[part]) << (part * kLanes);
      w.masks[i] = static_cast<std::uint8_t>(mask);
    }
  }

  // Nodes of one group of 2^3, the last level.
  static ISOTACT_INLINE void finish_group(const RefineWork& w, const std::uint32_t* list,
                                          std::size_t n, float x, float y, float z, float* to) {
    const Points p = points_around(x, y, z, 1);
    F best[kParts];
    for (unsigned part = 0; part < kParts; ++part) best[part] = F(3.0e38F);
    for (std::size_t i = 0; i < n; ++i) {
      const NearTriangle& t = w.near[list[i]];
      for (unsigned part = 0; part < kParts; ++part)
        best[part] = lesser(measure_near(t, p.x[part], p.y[part], p.z[part]), best[part]);
    }
    alignas(32) float d[8];
    for (unsigned part = 0; part < kParts; ++part)
      store(square_root(best[part]), d + part * kLanes);
    for (int i = 0; i < 8; ++i) to[(i >> 2) * 64 + (i >> 1 & 1) * 8 + (i & 1)] = d[i];
  }

  // The eight cubes around (x, y, z), whose centres are `spacing` apart. Their nodes begin at `to`.
  template <int spacing>
  static void refine_level(const RefineWork& w, const std::uint32_t* list, std::size_t n, float x,
                           float y, float z, float* to) {
    constexpr int kLevel = spacing == 4 ? 1 : 2;
    F best[kParts];
    measure_list(w, list, n, points_around(x, y, z, spacing), best);
    mark_list(w, n, best, radius_of(spacing));
    // Masks are read before deeper levels overwrite them.
    std::uint32_t* deeper = w.lists[kLevel];
    std::size_t ends[9];
    ends[0] = 0;
    for (unsigned child = 0; child < 8; ++child) {
      std::size_t end = ends[child];
      for (std::size_t i = 0; i < n; ++i) {
        deeper[end] = list[i];
        end += w.masks[i] >> child & 1U;
      }
      ends[child + 1] = end;
    }
    constexpr float kHalf = 0.5F * static_cast<float>(spacing);
    constexpr int kNodes = spacing;  // an axis of a child
    for (int child = 0; child < 8; ++child) {
      const float cx = (child & 1) != 0 ? x + kHalf : x - kHalf;
      const float cy = (child & 2) != 0 ? y + kHalf : y - kHalf;
      const float cz = (child & 4) != 0 ? z + kHalf : z - kHalf;
      float* child_to =
          to + (child >> 2) * kNodes * 64 + (child >> 1 & 1) * kNodes * 8 + (child & 1) * kNodes;
      const std::uint32_t* child_list = deeper + ends[child];
      const std::size_t child_n = ends[child + 1] - ends[child];
      if constexpr (spacing == 4)
        refine_level<2>(w, child_list, child_n, cx, cy, cz, child_to);
      else
        finish_group(w, child_list, child_n, cx, cy, cz, child_to);
    }
  }

  static void refine(const RefineWork& w) {
    for (std::size_t i = 0; i < w.triangle_count; ++i) {
      look_from(w.frames[w.triangles[i]], w.center, w.near[i]);
      w.lists[0][i] = static_cast<std::uint32_t>(i);
    }
    F best[kParts];
    measure_list(w, w.lists[0], w.triangle_count, points_around(0, 0, 0, 8), best);
    mark_list(w, w.triangle_count, best, radius_of(8));
    std::uint32_t* list = w.lists[3];
    std::size_t n[9];
    n[0] = 0;
    for (unsigned brick = 0; brick < 8; ++brick) {
      std::size_t end = n[brick];
      if ((w.bricks >> brick & 1U) != 0)
        for (std::size_t i = 0; i < w.triangle_count; ++i) {
          list[end] = static_cast<std::uint32_t>(i);
          end += w.masks[i] >> brick & 1U;
        }
      n[brick + 1] = end;
    }
    for (unsigned brick = 0; brick < 8; ++brick)
      if ((w.bricks >> brick & 1U) != 0)
        refine_level<4>(w, list + n[brick], n[brick + 1] - n[brick], (brick & 1U) != 0 ? 4.F : -4.F,
                        (brick & 2U) != 0 ? 4.F : -4.F, (brick & 4U) != 0 ? 4.F : -4.F,
                        w.distance[brick]);
  }

  // ---- packets --------------------------------------------------------------------------------

  struct Waiting {
    float square;  // of the least distance to the box, metres
    std::uint32_t child;
  };

  struct Packet {
    Points at;  // cells
    Points metres;
    F best[kParts];   // squares, cells
    F bound[kParts];  // squares, metres: boxes beyond are culled
    float bound_max;

    ISOTACT_INLINE void tighten(float voxel_size, float slack) {
      bound_max = 0;
      for (unsigned part = 0; part < kParts; ++part) {
        const F reach = (square_root(best[part]) * F(1.00001F) + F(slack)) * F(voxel_size);
        bound[part] = reach * reach;
        for (int i = 0; i < F::kWidth; ++i)
          bound_max = bound[part].v[i] > bound_max ? bound[part].v[i] : bound_max;
      }
    }
  };

  static ISOTACT_INLINE bool try_frame(const TriangleFrame& frame, Packet& packet) {
    unsigned better = 0;
    for (unsigned part = 0; part < kParts; ++part) {
      const F d = measure(frame, packet.at.x[part], packet.at.y[part], packet.at.z[part]);
      better |= bits_of(d < packet.best[part]);
      packet.best[part] = lesser(d, packet.best[part]);
    }
    return better != 0;
  }

  static ISOTACT_INLINE void prefetch(std::uint32_t child, const OrientedNode* nodes,
                                      const TriangleFrame* frames) {
    if ((child & kBlockBit) != 0) {
      const char* at = reinterpret_cast<const char*>(frames + (child & ~kBlockBit) * kBlockWidth);
      for (int line = 0; line < 5; ++line) __builtin_prefetch(at + 64 * line);
    } else {
      const char* at = reinterpret_cast<const char*>(nodes + child);
      for (int line = 0; line < 3; ++line) __builtin_prefetch(at + 64 * line);
    }
  }

  // Puts the children that may hold something nearer on the stack, the furthest first.
  static ISOTACT_INLINE int open_node(const OrientedNode* nodes, const TriangleFrame* frames,
                                      std::uint32_t number, const Packet& packet, Waiting* stack,
                                      int size) {
    const OrientedNode& node = nodes[number];
    F local[3][kParts], slack[kParts];
    for (unsigned part = 0; part < kParts; ++part) {
      const F x = packet.metres.x[part] - F(node.origin[0]);
      const F y = packet.metres.y[part] - F(node.origin[1]);
      const F z = packet.metres.z[part] - F(node.origin[2]);
      F sum(0.0F);
      for (int axis = 0; axis < 3; ++axis) {
        const float* row = node.axes[axis];
        local[axis][part] = (F(row[0]) * x + F(row[1]) * y) + F(row[2]) * z;
        sum = sum + greater(local[axis][part], -local[axis][part]);
      }
      slack[part] = sum * F(0x1p-21F) + F(0x1p-126F);
    }
    const int first = size;
    for (std::uint32_t child = 0; child < node.child_count; ++child) {
      unsigned near = 0;
      F least(3.0e38F);
      for (unsigned part = 0; part < kParts; ++part) {
        F square(0.0F);
        for (int axis = 0; axis < 3; ++axis) {
          const float low = static_cast<float>(node.lower[axis][child]) * node.step[axis];
          const float high = static_cast<float>(node.upper[axis][child]) * node.step[axis];
          const F below = F(low) - (local[axis][part] + slack[part]);
          const F above = (local[axis][part] - slack[part]) - F(high);
          const F outside = greater(greater(below, above), F(0.0F));
          square = square + outside * outside;
        }
        near |= bits_of(square <= packet.bound[part]);
        least = lesser(square, least);
      }
      if (near == 0) continue;
      float key = least.v[0];
      for (int i = 1; i < F::kWidth; ++i) key = least.v[i] < key ? least.v[i] : key;
      prefetch(node.child[child], nodes, frames);
      int place = size++;
      for (; place > first && stack[place - 1].square < key; --place)
        stack[place] = stack[place - 1];
      stack[place] = {key, node.child[child]};
    }
    return size;
  }

  static void find_packet(PacketWork& w) {
    const float h = static_cast<float>(w.voxel_size);
    Packet packet;
    packet.at = points_around(w.center[0], w.center[1], w.center[2], static_cast<float>(w.spacing));
    for (unsigned part = 0; part < kParts; ++part) {
      packet.best[part] = F(1.0e30F);
      packet.metres.x[part] = packet.at.x[part] * F(h) + F(static_cast<float>(w.origin[0]));
      packet.metres.y[part] = packet.at.y[part] * F(h) + F(static_cast<float>(w.origin[1]));
      packet.metres.z[part] = packet.at.z[part] * F(h) + F(static_cast<float>(w.origin[2]));
    }
    try_frame(w.frames[w.seed], packet);
    packet.tighten(h, w.slack);
    Waiting stack[kStackSize];
    int size = 1;
    stack[0] = {0, 0};
    while (size > 0) {
      const Waiting next = stack[--size];
      if (next.square > packet.bound_max) continue;
      if ((next.child & kBlockBit) == 0) {
        size = open_node(w.nodes, w.frames, next.child, packet, stack, size);
        continue;
      }
      const std::uint32_t begin = (next.child & ~kBlockBit) * kBlockWidth;
      bool better = false;
      for (std::uint32_t i = begin; i < begin + kBlockWidth && w.frames[i].length >= 0; ++i)
        if (try_frame(w.frames[i], packet)) {
          better = true;
          w.seed = i;
        }
      if (better) packet.tighten(h, w.slack);
    }
    for (unsigned part = 0; part < kParts; ++part)
      store(square_root(packet.best[part]), w.distance.d + part * kLanes);
  }
};

}  // namespace isotact::detail
