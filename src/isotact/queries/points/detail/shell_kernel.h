// Algorithm 1 of SSL14 over a lane type, and the tests of spheres and points that it calls.
//
// A sphere test may accept spheres that do not touch, never the reverse. Formulas are exact
// distances: nothing in a sphere about c is nearer than the distance of c less the radius. For a
// sphere in a grid of clearances, see swept_kernel.h, for spheres at rest. ShellMap::cull covers
// rounding.
#pragma once

#include "isotact/base/detail/lanes.h"
#include "isotact/queries/points/detail/brick_lanes.h"
#include "isotact/queries/points/detail/shell_view.h"

namespace isotact::detail {

// The set bits, in order; the rest are zeros.
struct BitTable {
  std::uint8_t place[256][8];
};
constexpr BitTable make_bit_table() {
  BitTable table{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    unsigned n = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      if ((mask >> bit & 1U) != 0) table.place[mask][n++] = static_cast<std::uint8_t>(bit);
  }
  return table;
}

template <typename F>
struct ShellFormulas {
  struct Place {
    F x, y, z;
  };

  static ISOTACT_INLINE Place apply(const ShellMap& m, F x, F y, F z) {
    const auto row = [&](int axis) {
      return ((F(m.linear[axis][0]) * x + F(m.linear[axis][1]) * y) + F(m.linear[axis][2]) * z) +
             F(m.offset[axis]);
    };
    return {row(0), row(1), row(2)};
  }
  static ISOTACT_INLINE F absolute(F a) { return greater(a, -a); }

  struct Plane {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers&, F x, F y, F z) {
      return ((F(m.linear[0][0]) * x + F(m.linear[0][1]) * y) + F(m.linear[0][2]) * z) +
             F(m.offset[0]);
    }
  };

  struct Box {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const F zero(0.0F);
      const Place p = apply(m, x, y, z);
      const F a = absolute(p.x) - F(n.number[0]), b = absolute(p.y) - F(n.number[1]),
              c = absolute(p.z) - F(n.number[2]);
      const F inside = lesser(greater(greater(a, b), c), zero);
      const F ox = greater(a, zero), oy = greater(b, zero), oz = greater(c, zero);
      return square_root((ox * ox + oy * oy) + oz * oz) + inside - F(n.rounding);
    }
  };

  struct Ball {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const Place p = apply(m, x, y, z);
      return square_root((p.x * p.x + p.y * p.y) + p.z * p.z) - F(n.rounding);
    }
  };

  // The map's offset moves the origin to a.
  struct Capsule {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const Place p = apply(m, x, y, z);
      const F bx(n.number[0]), by(n.number[1]), bz(n.number[2]);
      F t = ((p.x * bx + p.y * by) + p.z * bz) * F(n.number[3]);
      t = lesser(greater(t, F(0.0F)), F(1.0F));
      const F dx = p.x - t * bx, dy = p.y - t * by, dz = p.z - t * bz;
      return square_root((dx * dx + dy * dy) + dz * dz) - F(n.rounding);
    }
  };

  struct Cylinder {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const F zero(0.0F);
      const Place p = apply(m, x, y, z);
      const F a = square_root(p.x * p.x + p.z * p.z) - F(n.number[0]);
      const F b = absolute(p.y) - F(n.number[1]);
      const F oa = greater(a, zero), ob = greater(b, zero);
      return square_root(oa * oa + ob * ob) + lesser(greater(a, b), zero) - F(n.rounding);
    }
  };

  // In the half-plane of radius and height: inside base and side, the nearer of both; otherwise the
  // nearer of the two segments.
  struct Cone {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const F zero(0.0F);
      const Place p = apply(m, x, y, z);
      const F out = square_root(p.x * p.x + p.z * p.z) - F(n.number[0]);  // From the rim.
      const F up = p.y + F(n.number[1]);                                  // From the base.
      const F side = out * F(n.number[2]) + up * F(n.number[3]);
      const F inside = greater(side, -up);
      F t = out * F(n.number[4]) + up * F(n.number[5]);
      t = lesser(greater(t, zero), F(n.number[6]));
      const F sx = out - t * F(n.number[4]), sy = up - t * F(n.number[5]);
      const F bx = greater(out, zero);
      const F nearest_sq = lesser(sx * sx + sy * sy, bx * bx + up * up);
      return select(inside <= zero, inside, square_root(nearest_sq)) - F(n.rounding);
    }
  };

  // Largest distance to the polytope's planes: less than the distance outside, next to edges and
  // corners.
  struct Hull {
    static ISOTACT_INLINE F distance(const ShellMap& m, const FormulaNumbers& n, F x, F y, F z) {
      const Place p = apply(m, x, y, z);
      F most(-1e30F);
      for (std::uint32_t i = 0; i < n.plane_count; ++i) {
        const float* plane = n.planes + std::size_t{4} * i;
        most = greater(most,
                       ((F(plane[0]) * p.x + F(plane[1]) * p.y) + F(plane[2]) * p.z) - F(plane[3]));
      }
      return most - F(n.rounding);
    }
  };
};

template <typename F>
struct ShellKernel {
  using Formulas = ShellFormulas<F>;
  static constexpr unsigned kLanes = F::kWidth;
  static constexpr BitTable kBitTable = make_bit_table();

  template <typename Formula>
  struct FormulaTest {
    static constexpr bool kMeasures = !std::is_same_v<Formula, typename Formulas::Hull>;
    static ISOTACT_INLINE unsigned spheres(const ShellTask& t, const float* x, const float* y,
                                           const float* z, const float* r) {
      const F d = Formula::distance(*t.map, *t.formula, load<F>(x), load<F>(y), load<F>(z));
      return bits_of(d <= load<F>(r) * F(t.map->radius_scale) + F(t.map->cull));
    }
    static ISOTACT_INLINE unsigned points(const ShellTask& t, const float* x, const float* y,
                                          const float* z, float* distances) {
      const F d = Formula::distance(*t.map, *t.formula, load<F>(x), load<F>(y), load<F>(z));
      store(d, distances);
      return bits_of(d <= (kMeasures ? F(t.map->margin) : F(t.map->cull)));
    }
  };

  struct ClearanceTest {
    static constexpr bool kMeasures = false;
    // The square of a lower bound of the distance to positions that count, in blocks.
    static ISOTACT_INLINE F clearance_sq(const ShellTask& t, F sx, F sy, F sz) {
      const ClearanceView& grid = *t.clearance;
      const auto p = Formulas::apply(*t.map, sx, sy, sz);
      const F at[3] = {p.x, p.y, p.z};
      const F zero(0.0F);
      F outside_sq(zero);
      std::int32_t block[3][kLanes];
      for (int axis = 0; axis < 3; ++axis) {
        const F in_box = lesser(greater(at[axis], zero), F(grid.size[axis]));
        outside_sq = outside_sq + (at[axis] - in_box) * (at[axis] - in_box);
        const F last(static_cast<float>(grid.blocks[axis] - 1));
        store_truncated(lesser(in_box, last), block[axis]);
      }
      float quarters[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto bx = static_cast<std::uint32_t>(block[0][lane]);
        const auto by = static_cast<std::uint32_t>(block[1][lane]);
        const auto bz = static_cast<std::uint32_t>(block[2][lane]);
        const std::size_t row = std::size_t{bz} * grid.blocks[1] + by;
        quarters[lane] = static_cast<float>(grid.quarters[row * grid.blocks[0] + bx]);
      }
      const F free = load<F>(quarters) * F(0.25F);
      return outside_sq + free * free;
    }
    static ISOTACT_INLINE unsigned spheres(const ShellTask& t, const float* x, const float* y,
                                           const float* z, const float* r) {
      const F free_sq = clearance_sq(t, load<F>(x), load<F>(y), load<F>(z));
      const F reach = load<F>(r) * F(t.map->radius_scale) + F(t.map->cull);
      return bits_of(free_sq <= reach * reach);
    }
    static ISOTACT_INLINE unsigned points(const ShellTask& t, const float* x, const float* y,
                                          const float* z, float*) {
      const F free_sq = clearance_sq(t, load<F>(x), load<F>(y), load<F>(z));
      return bits_of(free_sq <= F(t.map->cull) * F(t.map->cull));
    }
  };

  template <typename Test>
  static ISOTACT_INLINE unsigned test_group(const ShellTask& task, const SphereGroup& g) {
    unsigned bits = 0;
    for (unsigned first = 0; first < 8; first += kLanes)
      bits |= Test::spheres(task, g.x + first, g.y + first, g.z + first, g.radius + first) << first;
    return bits;
  }

  // Writes eight, counts those of the mask. (Compilers assume that the output may alias the table,
  // and write one by one.)
  static ISOTACT_INLINE void push(std::uint32_t base, unsigned mask, std::uint32_t* to,
                                  std::uint32_t& count) {
    const std::uint8_t* places = kBitTable.place[mask];
#if defined(__AVX2__)
    const __m256i place =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(places)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + count),
                        _mm256_add_epi32(place, _mm256_set1_epi32(static_cast<int>(base))));
#else
    for (unsigned i = 0; i < 8; ++i) to[count + i] = base + places[i];
#endif
    count += static_cast<std::uint32_t>(__builtin_popcount(mask));
  }
  // The same for numbers: those of the mask, in order.
  static ISOTACT_INLINE void push_numbers(const float* from, unsigned mask, float* to) {
#if defined(__AVX2__)
    const __m256i place = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBitTable.place[mask])));
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), place));
#else
    for (; mask != 0; mask &= mask - 1) *to++ = from[__builtin_ctz(mask)];
#endif
  }

  static ISOTACT_INLINE unsigned first_bits(std::uint32_t count) {
    return count >= 8 ? 0xffU : (1U << count) - 1;
  }

  // Children of the front that may touch.
  template <typename Test>
  static ISOTACT_INLINE std::uint32_t open(const ShellTask& task, int level,
                                           const std::uint32_t* front, std::uint32_t front_count,
                                           std::uint32_t* next, ShellCounts& counts) {
    const ShellNode* nodes = task.view->levels[level].nodes;
    const SphereGroup* groups = task.view->levels[level + 1].groups;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < front_count; ++i) {
      const ShellNode& node = nodes[front[i]];
      counts.spheres_seen += node.child_count;
      for (std::uint32_t k = 0; k < node.child_count; k += 8) {
        const std::uint32_t first = node.first_child + k;
        // With strides of 4, children may begin in the middle of a group.
        const unsigned mask = (test_group<Test>(task, groups[first / 8]) >> first % 8) &
                              first_bits(node.child_count - k);
        push(first, mask, next, count);
      }
    }
    return count;
  }

  template <typename Test>
  static ISOTACT_INLINE void test_points(const ShellTask& task, std::uint32_t first,
                                         std::uint32_t count, const ShellBuffers& to,
                                         ShellCounts& counts) {
    const ShellView& v = *task.view;
    for (std::uint32_t k = 0; k < count; k += 8) {
      float distances[8];
      const std::uint32_t at = first + k;
      unsigned mask = 0;
      for (unsigned lane = 0; lane < 8; lane += kLanes)
        mask |=
            Test::points(task, v.x + at + lane, v.y + at + lane, v.z + at + lane, distances + lane)
            << lane;
      mask &= first_bits(count - k);
      if constexpr (Test::kMeasures) push_numbers(distances, mask, to.distances + counts.points);
      push(at, mask, to.points, counts.points);
    }
    counts.points_seen += count;
  }

  template <typename Test>
  static ISOTACT_INLINE std::uint32_t descend(const ShellTask& task, const ShellBuffers& buffers,
                                              ShellCounts& counts, unsigned& in) {
    const ShellView& v = *task.view;
    counts.spheres_seen = 1;
    if ((test_group<Test>(task, v.levels[0].groups[0]) & 1U) == 0) return 0;
    in = 0;
    buffers.front[0][0] = 0;
    std::uint32_t front = 1;
    for (int level = 0; level + 1 < v.level_count && front > 0; ++level, in ^= 1U)
      front = open<Test>(task, level, buffers.front[in], front, buffers.front[in ^ 1U], counts);
    return front;
  }

  template <typename Test>
  static ShellCounts search(const ShellTask& given, const ShellBuffers& buffers) {
    // Copies: writes cannot change them.
    const ShellMap map = *given.map;
    const FormulaNumbers formula = *given.formula;
    const ShellTask task{given.view, &map, &formula, given.clearance};
    ShellCounts counts;
    unsigned in = 0;
    const std::uint32_t front = descend<Test>(task, buffers, counts, in);
    const ShellNode* nodes = task.view->levels[task.view->level_count - 1].nodes;
    for (std::uint32_t i = 0; i < front; ++i) {
      const ShellNode& node = nodes[buffers.front[in][i]];
      test_points<Test>(task, node.first_point, node.point_count, buffers, counts);
    }
    return counts;
  }

  template <typename Test>
  static ShellCounts find_clusters(const ShellTask& task, const ShellBuffers& buffers) {
    ShellCounts counts;
    unsigned in = 0;
    counts.points = descend<Test>(task, buffers, counts, in);
    if (in == 1)
      for (std::uint32_t i = 0; i < counts.points; ++i) buffers.front[0][i] = buffers.front[1][i];
    return counts;
  }

  template <typename Test>
  static ShellCounts search_clusters(const ShellTask& task, const std::uint32_t* clusters,
                                     std::uint32_t count, const ShellBuffers& buffers) {
    ShellCounts counts;
    const ShellNode* nodes = task.view->levels[task.view->level_count - 1].nodes;
    for (std::uint32_t i = 0; i < count; ++i) {
      const ShellNode& node = nodes[clusters[i]];
      test_points<Test>(task, node.first_point, node.point_count, buffers, counts);
    }
    return counts;
  }

  template <typename Test>
  static ShellCounts search_linear(const ShellTask& task, const ShellBuffers& buffers) {
    ShellCounts counts;
    test_points<Test>(task, 0, task.view->point_count, buffers, counts);
    return counts;
  }

  template <typename Test>
  static void measure(const ShellTask& task, const std::uint32_t* points, std::uint32_t count,
                      float* distances) {
    float x[8]{}, y[8]{}, z[8]{}, d[8];
    for (std::uint32_t i = 0; i < count; ++i) {
      x[i] = task.view->x[points[i]], y[i] = task.view->y[points[i]],
      z[i] = task.view->z[points[i]];
    }
    for (unsigned lane = 0; lane < 8; lane += kLanes)
      Test::points(task, x + lane, y + lane, z + lane, d + lane);
    for (std::uint32_t i = 0; i < count; ++i) distances[i] = d[i];
  }

  // Calls `what` with the test's type.
  template <typename What>
  static ISOTACT_INLINE auto with_test(SphereTest test, What&& what) {
    switch (test) {
      case SphereTest::kPlane:
        return what(FormulaTest<typename Formulas::Plane>{});
      case SphereTest::kBox:
        return what(FormulaTest<typename Formulas::Box>{});
      case SphereTest::kSphere:
        return what(FormulaTest<typename Formulas::Ball>{});
      case SphereTest::kCapsule:
        return what(FormulaTest<typename Formulas::Capsule>{});
      case SphereTest::kCylinder:
        return what(FormulaTest<typename Formulas::Cylinder>{});
      case SphereTest::kCone:
        return what(FormulaTest<typename Formulas::Cone>{});
      case SphereTest::kHull:
        return what(FormulaTest<typename Formulas::Hull>{});
      case SphereTest::kClearance:
        break;
    }
    return what(ClearanceTest{});
  }

  static ShellKernels kernels() {
    return {
        .search =
            [](SphereTest test, const ShellTask& task, const ShellBuffers& buffers) {
              return with_test(test, [&](auto t) { return search<decltype(t)>(task, buffers); });
            },
        .search_clusters =
            [](SphereTest test, const ShellTask& task, const std::uint32_t* clusters,
               std::uint32_t count, const ShellBuffers& buffers) {
              return with_test(test, [&](auto t) {
                return search_clusters<decltype(t)>(task, clusters, count, buffers);
              });
            },
        .find_clusters =
            [](SphereTest test, const ShellTask& task, const ShellBuffers& buffers) {
              return with_test(test,
                               [&](auto t) { return find_clusters<decltype(t)>(task, buffers); });
            },
        .search_linear =
            [](SphereTest test, const ShellTask& task, const ShellBuffers& buffers) {
              return with_test(test,
                               [&](auto t) { return search_linear<decltype(t)>(task, buffers); });
            },
        .test_group =
            [](SphereTest test, const ShellTask& task, const SphereGroup& group) {
              return with_test(test, [&](auto t) { return test_group<decltype(t)>(task, group); });
            },
        .measure =
            [](SphereTest test, const ShellTask& task, const std::uint32_t* points,
               std::uint32_t count, float* distances) {
              with_test(test,
                        [&](auto t) { measure<decltype(t)>(task, points, count, distances); });
            },
        .measure_bricks = BrickKernel<F>::measure,
    };
  }
};

}  // namespace isotact::detail
