// find_touching (swept_lanes.h) over a lane type.
//
// A sphere steps along its path. Let x be its centre, p the nearest point of the box to it and D
// the free distance of p's block. All positions that matter lie in the box, which is convex, so
// that each is at least sqrt(|x - p|^2 + D^2) from x (field.h). If that is more than the radius,
// the sphere is free, and stays free for the difference. Inside the box, D holds up to the end of
// the block, and the difference counts from there.
#pragma once

#include "isotact/queries/swept/detail/swept_lanes.h"

namespace isotact::detail {

template <typename F>
struct SweptKernel {
  static constexpr unsigned kLanes = F::kWidth;

  struct Path {
    F origin[3], direction[3], inverse[3];
    F times_a_block;  // 1 / length.
    F radius;
  };

  static ISOTACT_INLINE F apply(const BlockMap& map, int axis, F x, F y, F z) {
    return ((F(map.linear[axis][0]) * x + F(map.linear[axis][1]) * y) +
            F(map.linear[axis][2]) * z) +
           F(map.offset[axis]);
  }

  static ISOTACT_INLINE void prepare(Path& path) {
    const F tiny(1e-20F);
    F sum(0.0F);
    for (int axis = 0; axis < 3; ++axis) {
      sum = sum + path.direction[axis] * path.direction[axis];
      path.inverse[axis] = F(1.0F) / path.direction[axis];
    }
    path.times_a_block = F(1.0F) / greater(square_root(sum), tiny);
  }

  static ISOTACT_INLINE F find_free(const FreeGrid& grid, const F (&block)[3]) {
    std::int32_t at[3][kLanes];
    float quarters[kLanes];
    for (int axis = 0; axis < 3; ++axis) store_truncated(block[axis], at[axis]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto x = static_cast<std::uint32_t>(at[0][lane]);
      const auto y = static_cast<std::uint32_t>(at[1][lane]);
      const auto z = static_cast<std::uint32_t>(at[2][lane]);
      const std::size_t row = std::size_t{z} * grid.blocks[1] + y;
      quarters[lane] = static_cast<float>(grid.quarters[row * grid.blocks[0] + x]);
    }
    return load<F>(quarters) * F(0.25F);
  }

  // Advances the time of each lane to the first at which its sphere may touch. Returns the lanes in
  // which it may; the others reach `end`.
  static ISOTACT_INLINE unsigned step_on(const FreeGrid& grid, const Path& path, F& time, F end,
                                         unsigned active) {
    const F zero(0.0F), infinite(__builtin_inff()), one(1.0F);
    unsigned touching = 0;
    for (int step = 0; step < kMostSteps && active != 0; ++step) {
      F block[3], outside_sq(zero), leave(infinite);
      for (int axis = 0; axis < 3; ++axis) {
        const F size(grid.size[axis]), last(static_cast<float>(grid.blocks[axis] - 1));
        const F x = path.origin[axis] + time * path.direction[axis];
        const F in_box = lesser(greater(x, zero), size);
        outside_sq = outside_sq + (x - in_box) * (x - in_box);
        block[axis] = truncate(lesser(in_box, last));
        const F wall = select(path.direction[axis] > zero, block[axis] + one, block[axis]);
        const F at_wall = (wall - path.origin[axis]) * path.inverse[axis];
        leave = lesser(leave, select(path.direction[axis] != zero, at_wall, infinite));
      }
      const F free = find_free(grid, block);
      const F distance_sq = outside_sq + free * free;
      const auto touches = distance_sq <= path.radius * path.radius;
      const F more = (square_root(distance_sq) - path.radius) * path.times_a_block;
      const F from = select(outside_sq > zero, time, greater(leave, time));
      const F next = greater(from + more, time + F(kGap) * path.times_a_block);
      const unsigned now = active & bits_of(touches);
      touching |= now;
      active &= ~now;
      // Lanes that touch stay; the values of other finished lanes do not matter.
      time = select(touches, time, next);
      active &= bits_of(time <= end);
    }
    return touching | active;
  }

  static ISOTACT_INLINE unsigned run_lanes(const FreeGrid& grid, const SphereLanes& spheres,
                                           unsigned first, unsigned wanted, const SweptTask& task,
                                           SweptTimes& times) {
    const F x = load<F>(spheres.x + first), y = load<F>(spheres.y + first),
            z = load<F>(spheres.z + first);
    Path path;
    for (int axis = 0; axis < 3; ++axis) {
      path.origin[axis] = apply(*task.from, axis, x, y, z);
      const F by = apply(*task.to, axis, x, y, z) - path.origin[axis];
      // Almost zero becomes zero: its inverse would be infinite.
      path.direction[axis] = select(by * by > F(1e-36F), by, F(0.0F));
    }
    path.radius = F(task.margin);
    if (spheres.radius != nullptr)
      path.radius = path.radius + load<F>(spheres.radius + first) * F(task.blocks_a_metre);
    prepare(path);
    F begin(task.begin);
    unsigned touching = step_on(grid, path, begin, F(task.end), wanted);
    store(begin, times.begin + first);
    F end(task.end);
    if (task.shrink_end && touching != 0) {
      for (int axis = 0; axis < 3; ++axis) {
        path.origin[axis] = path.origin[axis] + path.direction[axis];
        path.direction[axis] = -path.direction[axis];
        path.inverse[axis] = -path.inverse[axis];
      }
      F back(1.0F - task.end);
      touching &= step_on(grid, path, back, F(1.0F) - begin, touching);
      end = F(1.0F) - back;
    }
    store(end, times.end + first);
    return touching;
  }

  static ISOTACT_INLINE unsigned run(const FreeGrid& grid, const SphereLanes& spheres,
                                     const SweptTask& task, SweptTimes& times) {
    unsigned touching = 0;
    for (unsigned first = 0; first < 8; first += kLanes) {
      const unsigned wanted = spheres.wanted >> first & ((1U << kLanes) - 1);
      if (wanted != 0) touching |= run_lanes(grid, spheres, first, wanted, task, times) << first;
    }
    return touching;
  }
};

}  // namespace isotact::detail
