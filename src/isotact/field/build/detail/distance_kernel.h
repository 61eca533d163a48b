// Exact distances of lattice nodes to triangles, eight nodes at a time, over a lane type.
//
// Culling. For a group of nodes with centre c and radius R let m be the distance of c. Every node
// of the group is nearer to the surface than m + R. A triangle whose distance from c is above m + 2
// R is further than m + R from all of them. So it cannot be nearest to any. Distances computed here
// are off by less than `slack`, which is added twice where they are compared. So what is left out
// could not have changed a minimum, and results do not depend on how nodes are grouped.
#pragma once

#include "isotact/base/detail/lanes.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/geometry/bvh/bvh_layout.h"

namespace isotact::detail {

// Places of the set bits of each byte.
struct BytePlaces {
  std::uint8_t of[256][8];
};
constexpr BytePlaces find_byte_places() {
  BytePlaces places{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned n = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      if ((byte >> bit & 1U) != 0) places.of[byte][n++] = static_cast<std::uint8_t>(bit);
  }
  return places;
}

// F: float lanes, of which the eight points take 8 / F::kWidth.
template <typename F>
struct DistanceKernel {
  static constexpr BytePlaces kPlaces = find_byte_places();  // a table of its own for each kernel
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
  // longest edge are acute, so below that edge (b < 0) it has the nearest point. Above, a point
  // outside is nearest to the left edge if it lies left of the apex, else to the right one. Seen
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
    // 0 inside. On the edge's line counts as outside: of a flat triangle that line is all there is.
    const F over = select(from_end * uy <= b * ux, beside, zero);
    const F r0 = a - clamp(a, length);
    const F below = r0 * r0 + b * b;
    return c * c + select(b < zero, below, over);
  }

  static ISOTACT_INLINE F turn(const float* axis, F x, F y, F z) {
    return (F(axis[0]) * x + F(axis[1]) * y) + F(axis[2]) * z;
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
    t.frame = f;
    const float* axes[3] = {f.along, f.across, f.normal};
    const Points cube = points_around(0, 0, 0, 1);
    for (int row = 0; row < 3; ++row) {
      const float* axis = axes[row];
      t.frame.anchor[row] = (axis[0] * x + axis[1] * y) + axis[2] * z;
      for (unsigned part = 0; part < kParts; ++part)
        store(turn(axis, cube.x[part], cube.y[part], cube.z[part]), t.corner[row] + part * kLanes);
    }
  }

  // ---- refine ---------------------------------------------------------------------------------

  // Nodes of the block lie at -7.5 to 7.5 around its centre. A point of a level stands for the cube
  // of nodes around it, with this radius.
  static constexpr float radius_of(int spacing) {
    return 0.8660255F * static_cast<float>(spacing - 1);
  }

  static ISOTACT_INLINE void measure_list(const RefineWork& w, const std::uint32_t* list,
                                          std::size_t n, const Points& p, F* best) {
    for (unsigned part = 0; part < kParts; ++part) best[part] = F(3.0e38F);
    for (std::size_t i = 0; i < n; ++i) {
      const TriangleFrame& t = w.near[list[i]].frame;
      for (unsigned part = 0; part < kParts; ++part) {
        const F x = p.x[part], y = p.y[part], z = p.z[part];
        const F a = turn(t.along, x, y, z) + F(t.anchor[0]);
        const F b = turn(t.across, x, y, z) + F(t.anchor[1]);
        const F c = turn(t.normal, x, y, z) + F(t.anchor[2]);
        const unsigned at = part * kLanes;
        store(a, w.in_plane[i].at[0] + at);
        store(b, w.in_plane[i].at[1] + at);
        store(c, w.in_plane[i].at[2] + at);
        const F d = measure_in_plane(t, a, b, c);
        store(d, w.squares[i].d + at);
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

  static ISOTACT_INLINE void store_group(const F* best, float* to) {
    alignas(32) float d[8];
    for (unsigned part = 0; part < kParts; ++part)
      store(square_root(best[part]), d + part * kLanes);
    for (int i = 0; i < 8; ++i) to[(i >> 2) * 64 + (i >> 1 & 1) * 8 + (i & 1)] = d[i];
  }

  // Measures the nodes of the groups of 2^3 in a cube, the last level. A group's centre is known in
  // the plane of each triangle. Its nodes are that centre plus the corners of a unit cube. Triangle
  // by triangle, for the groups in its mask: the triangle stays in registers, and no lists are
  // made.
  static ISOTACT_INLINE void finish_groups(const RefineWork& w, const std::uint32_t* list,
                                           std::size_t n, float* to) {
    F best[8][kParts];
    for (auto& group : best)
      for (F& part : group) part = F(3.0e38F);
    for (std::size_t i = 0; i < n; ++i) {
      const EightInPlane& center = w.in_plane[i];
      const NearTriangle& t = w.near[list[i]];
      const TriangleFrame frame = t.frame;
      for (unsigned groups = w.masks[i]; groups != 0; groups &= groups - 1) {
        const auto group = static_cast<unsigned>(__builtin_ctz(groups));
        for (unsigned part = 0; part < kParts; ++part) {
          const unsigned at = part * kLanes;
          const F a = F(center.at[0][group]) + load<F>(t.corner[0] + at);
          const F b = F(center.at[1][group]) + load<F>(t.corner[1] + at);
          const F c = F(center.at[2][group]) + load<F>(t.corner[2] + at);
          best[group][part] = lesser(measure_in_plane(frame, a, b, c), best[group][part]);
        }
      }
    }
    for (unsigned group = 0; group < 8; ++group)
      store_group(best[group],
                  to + (group >> 2U) * 128 + (group >> 1U & 1U) * 16 + (group & 1U) * 2);
  }

  // Splits a list of n by the masks: places in it, child after child. Needs space for 8 n + 8, and
  // masks may be read and cleared up to the next multiple of eight. Eight masks at a time: the bits
  // of a child in them are brought together by a multiplication, and a table has their places.
  static ISOTACT_INLINE void split(std::uint8_t* masks, std::size_t n, std::uint32_t* places,
                                   std::size_t* ends) {
    for (std::size_t i = n; i % 8 != 0; ++i) masks[i] = 0;
    std::size_t end = 0;
    ends[0] = 0;
    for (unsigned child = 0; child < 8; ++child) {
      for (std::size_t i = 0; i < n; i += 8) {
        std::uint64_t word;
        __builtin_memcpy(&word, masks + i, sizeof(word));
        const unsigned bits = static_cast<unsigned>(
            (word >> child & 0x0101010101010101U) * 0x0102040810204080U >> 56U);
        const std::uint8_t* set = kPlaces.of[bits];
        std::uint32_t* to = places + end;
        for (unsigned k = 0; k < 8; ++k) to[k] = static_cast<std::uint32_t>(i) + set[k];
        end += static_cast<std::size_t>(__builtin_popcount(bits));
      }
      ends[child + 1] = end;
    }
  }

  static ISOTACT_INLINE float child_at(float center, int child, int axis, float half) {
    return (child >> axis & 1) != 0 ? center + half : center - half;
  }

  // Whether one of eight points is near enough for something within a radius to be wanted.
  static ISOTACT_INLINE unsigned compute_wanted(const RefineWork& w, const F* best, float radius) {
    unsigned wanted = 0;
    for (unsigned part = 0; part < kParts; ++part) {
      const F middle = square_root(best[part]);
      wanted |= bits_of((middle >= F(w.wanted_from - radius)) & (middle <= F(w.wanted_to + radius)))
                << (part * kLanes);
    }
    return wanted;
  }

  // The 4^3 nodes around a centre. False where none of them is wanted.
  static bool refine_cube(const RefineWork& w, const std::uint32_t* list, std::size_t n, float x,
                          float y, float z, bool whole, float* to) {
    F best[kParts];
    measure_list(w, list, n, points_around(x, y, z, 2), best);
    if (!whole && compute_wanted(w, best, radius_of(2)) == 0) return false;
    mark_list(w, n, best, radius_of(2));
    finish_groups(w, list, n, to);
    return true;
  }

  // Calls fill(cube, to) for the wanted cubes of a brick, which may still refuse.
  template <typename Fill>
  static ISOTACT_INLINE void finish_brick(const RefineWork& w, unsigned brick, unsigned wanted,
                                          const Fill& fill) {
    w.exact[brick] = 0;
    for (int cube = 0; cube < 8; ++cube) {
      float* to = w.distance[brick] + (cube >> 2) * 256 + (cube >> 1 & 1) * 32 + (cube & 1) * 4;
      if ((wanted >> cube & 1U) != 0 && fill(cube, to)) {
        w.exact[brick] = static_cast<std::uint8_t>(w.exact[brick] | 1 << cube);
      } else {  // far from any zero: nobody reads more of them than their sign
        for (int row = 0; row < 16; ++row)
          for (int i = 0; i < 4; ++i) to[(row >> 2) * 64 + (row & 3) * 8 + i] = 1;
      }
    }
  }

  // The 8^3 nodes of a brick.
  static void refine_brick(const RefineWork& w, const std::uint32_t* list, std::size_t n,
                           unsigned brick) {
    const float x = child_at(0, static_cast<int>(brick), 0, 4);
    const float y = child_at(0, static_cast<int>(brick), 1, 4);
    const float z = child_at(0, static_cast<int>(brick), 2, 4);
    F best[kParts];
    measure_list(w, list, n, points_around(x, y, z, 4), best);
    mark_list(w, n, best, radius_of(4));
    const bool whole = (w.whole >> brick & 1U) != 0;
    const unsigned wanted = whole ? 0xffU : compute_wanted(w, best, radius_of(4));
    std::size_t ends[9];
    std::uint32_t* lists = w.lists[1];
    split(w.masks, n, lists, ends);
    for (std::size_t i = 0; i < ends[8]; ++i) lists[i] = list[lists[i]];
    finish_brick(w, brick, wanted, [&](int cube, float* to) {
      return refine_cube(w, lists + ends[cube], ends[cube + 1] - ends[cube],
                         child_at(x, cube, 0, 2), child_at(y, cube, 1, 2), child_at(z, cube, 2, 2),
                         whole, to);
    });
  }

  static void refine(const RefineWork& w) {
    for (std::size_t i = 0; i < w.triangle_count; ++i) {
      look_from(w.frames[w.triangles[i]], w.center, w.near[i]);
      w.lists[0][i] = static_cast<std::uint32_t>(i);
    }
    F best[kParts];
    measure_list(w, w.lists[0], w.triangle_count, points_around(0, 0, 0, 8), best);
    mark_list(w, w.triangle_count, best, radius_of(8));
    std::size_t ends[9];
    std::uint32_t* lists = w.lists[2];
    split(w.masks, w.triangle_count, lists, ends);
    for (unsigned brick = 0; brick < 8; ++brick)
      if ((w.bricks >> brick & 1U) != 0)
        refine_brick(w, lists + ends[brick], ends[brick + 1] - ends[brick], brick);
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
    // Each point's place along the node's axes, moved by what rounding may make of it: up for lower
    // sides, down for upper ones.
    alignas(32) float up[3][8], down[3][8], bound[8];
    for (unsigned part = 0; part < kParts; ++part) {
      const unsigned at = part * kLanes;
      const F x = packet.metres.x[part] - F(node.origin[0]);
      const F y = packet.metres.y[part] - F(node.origin[1]);
      const F z = packet.metres.z[part] - F(node.origin[2]);
      F local[3];
      F slack(0x1p-126F);
      for (int axis = 0; axis < 3; ++axis) {
        local[axis] = turn(node.axes[axis], x, y, z);
        slack = slack + greater(local[axis], -local[axis]) * F(0x1p-21F);
      }
      for (int axis = 0; axis < 3; ++axis) {
        store(local[axis] + slack, up[axis] + at);
        store(local[axis] - slack, down[axis] + at);
      }
      store(packet.bound[part], bound + at);
    }
    // All children against one point after the other: no branch until the end.
    alignas(32) float least[kNodeWidth];
    unsigned near = 0;
    for (unsigned part = 0; part < kNodeWidth / kLanes; ++part) {
      const unsigned at = part * kLanes;
      F low[3], high[3];
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = load_bytes<F>(node.lower[axis] + at) * F(node.step[axis]);
        high[axis] = load_bytes<F>(node.upper[axis] + at) * F(node.step[axis]);
      }
      F nearest(3.0e38F);
      auto within = nearest < F(0.0F);  // none yet
      for (int point = 0; point < 8; ++point) {
        F square(0.0F);
        for (int axis = 0; axis < 3; ++axis) {
          const F below = low[axis] - F(up[axis][point]);
          const F above = F(down[axis][point]) - high[axis];
          const F outside = greater(greater(below, above), F(0.0F));
          square = square + outside * outside;
        }
        within |= square <= F(bound[point]);
        nearest = lesser(square, nearest);
      }
      store(nearest, least + at);
      near |= bits_of(within) << at;
    }
    const int first = size;
    for (near &= (1U << node.child_count) - 1; near != 0; near &= near - 1) {
      const int child = __builtin_ctz(near);
      const float key = least[child];
      prefetch(node.child[child], nodes, frames);
      int place = size++;
      for (; place > first && stack[place - 1].square < key; --place)
        stack[place] = stack[place - 1];
      stack[place] = {key, node.child[child]};
    }
    return size;
  }

  static ISOTACT_INLINE Packet make_packet(const PacketWork& w, float x, float y, float z,
                                           float spacing) {
    const float h = static_cast<float>(w.voxel_size);
    const Points at = points_around(x, y, z, spacing);
    Packet packet;
    for (unsigned part = 0; part < kParts; ++part) {
      packet.best[part] = F(1.0e30F);
      packet.metres.x[part] = at.x[part] * F(h) + F(static_cast<float>(w.origin[0]));
      packet.metres.y[part] = at.y[part] * F(h) + F(static_cast<float>(w.origin[1]));
      packet.metres.z[part] = at.z[part] * F(h) + F(static_cast<float>(w.origin[2]));
    }
    return packet;
  }

  // Walks the hierarchy, the nearest box first. measure(frame, part) gives the squared distances of
  // the packet's points.
  template <typename Measure>
  static ISOTACT_INLINE void search(PacketWork& w, Packet& packet, const Measure& measure_part) {
    const float h = static_cast<float>(w.voxel_size);
    const auto try_frame = [&](const TriangleFrame& frame) {
      unsigned better = 0;
      for (unsigned part = 0; part < kParts; ++part) {
        const F d = measure_part(frame, part);
        better |= bits_of(d < packet.best[part]);
        packet.best[part] = lesser(d, packet.best[part]);
      }
      return better != 0;
    };
    try_frame(w.frames[w.seed]);
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
        if (try_frame(w.frames[i])) {
          better = true;
          w.seed = i;
        }
      if (better) packet.tighten(h, w.slack);
    }
  }

  static void find_packet(PacketWork& w) {
    const float spacing = static_cast<float>(w.spacing);
    const Points at = points_around(w.center[0], w.center[1], w.center[2], spacing);
    Packet packet = make_packet(w, w.center[0], w.center[1], w.center[2], spacing);
    search(
        w, packet, [&](const TriangleFrame& frame, unsigned part) __attribute__((always_inline)) {
          return measure(frame, at.x[part], at.y[part], at.z[part]);
        });
    for (unsigned part = 0; part < kParts; ++part)
      store(square_root(packet.best[part]), w.distance.d + part * kLanes);
  }

  // ---- refine by search -----------------------------------------------------------------------
  // The same nodes, decisions and bits as refine(), by walks through the hierarchy instead of
  // lists. Every sum is made in the order in which refine() makes it.

  // A block's centre in a triangle's plane.
  struct CenterInPlane {
    float at[3];
  };
  static ISOTACT_INLINE float turn_one(const float* axis, float x, float y, float z) {
    return (axis[0] * x + axis[1] * y) + axis[2] * z;
  }
  static ISOTACT_INLINE CenterInPlane center_in_plane(const TriangleFrame& f, const float* center) {
    const float x = center[0] - f.anchor[0], y = center[1] - f.anchor[1],
                z = center[2] - f.anchor[2];
    return {{turn_one(f.along, x, y, z), turn_one(f.across, x, y, z), turn_one(f.normal, x, y, z)}};
  }

  // As measure_list: eight points around one that is given from the block's centre.
  static void search_points(const RefineWork& w, float x, float y, float z, float spacing,
                            F* best) {
    const Points at = points_around(x, y, z, spacing);
    for (unsigned part = 0; part < kParts; ++part) best[part] = F(1.0e30F);
    for (std::size_t i = 0; i < w.search_count; ++i) {
      PacketWork& search_work = w.searches[i];
      Packet packet =
          make_packet(search_work, w.center[0] + x, w.center[1] + y, w.center[2] + z, spacing);
      for (unsigned part = 0; part < kParts; ++part) packet.best[part] = best[part];
      search(
          search_work,
          packet, [&](const TriangleFrame& t, unsigned part) __attribute__((always_inline)) {
            const CenterInPlane center = center_in_plane(t, w.center);
            return measure_in_plane(
                t, turn(t.along, at.x[part], at.y[part], at.z[part]) + F(center.at[0]),
                turn(t.across, at.x[part], at.y[part], at.z[part]) + F(center.at[1]),
                turn(t.normal, at.x[part], at.y[part], at.z[part]) + F(center.at[2]));
          });
      for (unsigned part = 0; part < kParts; ++part) best[part] = packet.best[part];
    }
  }

  // As finish_groups: the 2^3 nodes around a point that is given from the block's centre.
  static void search_group(const RefineWork& w, float x, float y, float z, float* to) {
    const Points cube = points_around(0, 0, 0, 1);
    F best[kParts];
    for (unsigned part = 0; part < kParts; ++part) best[part] = F(1.0e30F);
    for (std::size_t i = 0; i < w.search_count; ++i) {
      PacketWork& search_work = w.searches[i];
      Packet packet =
          make_packet(search_work, w.center[0] + x, w.center[1] + y, w.center[2] + z, 1);
      for (unsigned part = 0; part < kParts; ++part) packet.best[part] = best[part];
      search(
          search_work,
          packet, [&](const TriangleFrame& t, unsigned part) __attribute__((always_inline)) {
            const CenterInPlane center = center_in_plane(t, w.center);
            const float a = turn_one(t.along, x, y, z) + center.at[0];
            const float b = turn_one(t.across, x, y, z) + center.at[1];
            const float c = turn_one(t.normal, x, y, z) + center.at[2];
            return measure_in_plane(
                t, F(a) + turn(t.along, cube.x[part], cube.y[part], cube.z[part]),
                F(b) + turn(t.across, cube.x[part], cube.y[part], cube.z[part]),
                F(c) + turn(t.normal, cube.x[part], cube.y[part], cube.z[part]));
          });
      for (unsigned part = 0; part < kParts; ++part) best[part] = packet.best[part];
    }
    store_group(best, to);
  }

  // Gathers the triangles that may be nearest to some of a brick's nodes, as w.near. The brick's
  // centre is given from the block's. `best` are the squared distances of the centres of its cubes.
  // Returns the number of triangles, or more than there is space for.
  static std::size_t gather_near(const RefineWork& w, float x, float y, float z, const F* best) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < w.search_count; ++i) {
      const PacketWork& from = w.searches[i];
      Packet packet = make_packet(from, w.center[0] + x, w.center[1] + y, w.center[2] + z, 4);
      for (unsigned part = 0; part < kParts; ++part) packet.best[part] = best[part];
      packet.tighten(static_cast<float>(from.voxel_size), from.slack + 2 * radius_of(4) + w.slack);
      Waiting stack[kStackSize];
      int size = 1;
      stack[0] = {0, 0};
      while (size > 0) {
        const std::uint32_t next = stack[--size].child;
        if ((next & kBlockBit) == 0) {
          size = open_node(from.nodes, from.frames, next, packet, stack, size);
          continue;
        }
        const std::uint32_t begin = (next & ~kBlockBit) * kBlockWidth;
        for (std::uint32_t f = begin; f < begin + kBlockWidth && from.frames[f].length >= 0; ++f) {
          if (n == w.room) return w.room + 1;
          w.lists[0][n] = static_cast<std::uint32_t>(n);
          look_from(from.frames[f], w.center, w.near[n++]);
        }
      }
    }
    return n;
  }

  static bool search_cube(const RefineWork& w, float x, float y, float z, bool whole, float* to) {
    if (!whole) {
      F best[kParts];
      search_points(w, x, y, z, 2, best);
      if (compute_wanted(w, best, radius_of(2)) == 0) return false;
    }
    for (int group = 0; group < 8; ++group)
      search_group(w, child_at(x, group, 0, 1), child_at(y, group, 1, 1), child_at(z, group, 2, 1),
                   to + (group >> 2) * 128 + (group >> 1 & 1) * 16 + (group & 1) * 2);
    return true;
  }

  static void refine_by_search(const RefineWork& w) {
    for (unsigned brick = 0; brick < 8; ++brick) {
      if ((w.bricks >> brick & 1U) == 0) continue;
      const float x = child_at(0, static_cast<int>(brick), 0, 4);
      const float y = child_at(0, static_cast<int>(brick), 1, 4);
      const float z = child_at(0, static_cast<int>(brick), 2, 4);
      const bool whole = (w.whole >> brick & 1U) != 0;
      F best[kParts];
      search_points(w, x, y, z, 4, best);
      const std::size_t n = gather_near(w, x, y, z, best);
      if (n <= w.room) {
        refine_brick(w, w.lists[0], n, brick);
        continue;
      }
      const unsigned wanted = whole ? 0xffU : compute_wanted(w, best, radius_of(4));
      finish_brick(w, brick, wanted, [&](int cube, float* to) {
        return search_cube(w, child_at(x, cube, 0, 2), child_at(y, cube, 1, 2),
                           child_at(z, cube, 2, 2), whole, to);
      });
    }
  }
};

}  // namespace isotact::detail
