// The projection of particles (KGM, Algorithm 2; see intersection_field.h) over a lane type. A
// finished lane takes the next particle at once.
#pragma once

#include "isotact/queries/intersection/detail/intersection_formulas.h"

namespace isotact::detail {

template <typename L>
struct IdfKernel {
  static constexpr unsigned kLanes = L::kWidth;
  using Formulas = IdfFormulas<L>;

  // State of the moving particles. Steps and flags are floats, so that they can be selected like
  // the others.
  struct alignas(32) Lane {
    float at[3][kLanes];
    float start[3][kLanes];
    float inside[3][kLanes];   // The last position in both bodies, or within margin of them.
    float has_inside[kLanes];  // 1: there is one.
    float plain[3][kLanes];    // Target of a step of plain length.
    float last_size[kLanes];   // |value| before the last step.
    float relaxed[kLanes];     // 1: steps are still longer than plain.
    float steps[kLanes];       // Finished steps.
    std::uint32_t index[kLanes];
  };
  struct alignas(32) Samples {
    float value[2][kLanes];
    float direction[2][3][kLanes];
  };

  static ISOTACT_INLINE void start(const IdfTask& task, std::size_t particle, unsigned lane,
                                   Lane& to) {
    for (int axis = 0; axis < 3; ++axis)
      to.at[axis][lane] = to.start[axis][lane] = task.at[axis][particle];
    to.has_inside[lane] = 0;
    to.steps[lane] = 0;
    to.relaxed[lane] = task.relaxation > 1 ? 1 : 0;
    to.last_size[lane] = __builtin_inff();
    to.index[lane] = static_cast<std::uint32_t>(particle);
  }

  static ISOTACT_INLINE void sample(const IdfFields& fields, const L (&p)[3], IdfSample<L>& a,
                                    IdfSample<L>& b) {
    const IdfPairRecord& r = *fields.record;
    Formulas::evaluate(*fields.a, r.a_from_pair, r.scale_a, p, a);
    Formulas::evaluate(*fields.b, r.b_from_pair, r.scale_b, p, b);
  }

  static ISOTACT_INLINE void keep(const IdfSample<L>& a, const IdfSample<L>& b, Samples& to) {
    store(a.value, to.value[0]);
    store(b.value, to.value[1]);
    for (int axis = 0; axis < 3; ++axis) {
      store(a.direction[axis], to.direction[0][axis]);
      store(b.direction[axis], to.direction[1][axis]);
    }
  }

  // Computes the next position. A step that went too far (the value did not shrink) is replaced by
  // the plain one from its start.
  static ISOTACT_INLINE void step_on(const IdfTask& task, const L (&p)[3], L value,
                                     const L (&step)[3], Lane& lane) {
    if (!(task.relaxation > 1)) {
      for (int axis = 0; axis < 3; ++axis) store(p[axis] - step[axis], lane.at[axis]);
      return;
    }
    const L size = absolute(value), zero(0.0F);
    const L relaxed = load<L>(lane.relaxed);
    const auto too_far = (relaxed > zero) & (size >= load<L>(lane.last_size));
    const L still = select(too_far, zero, relaxed);
    const L factor = select(still > zero, L(task.relaxation), L(1.0F));
    for (int axis = 0; axis < 3; ++axis) {
      const L plain = load<L>(lane.plain[axis]);
      store(select(too_far, plain, p[axis] - step[axis] * factor), lane.at[axis]);
      store(p[axis] - step[axis], lane.plain[axis]);
    }
    store(still, lane.relaxed);
    store(size, lane.last_size);
  }

  struct Masks {
    unsigned arrived = 0, ended = 0, inside = 0;
  };

  static ISOTACT_INLINE Masks advance(const IdfTask& task, Lane& lane, Samples& samples) {
    const L one(1.0F), margin(task.fields.record->margin);
    L p[3];
    for (int axis = 0; axis < 3; ++axis) p[axis] = load<L>(lane.at[axis]);
    IdfSample<L> a, b;
    sample(task.fields, p, a, b);
    keep(a, b, samples);
    const auto on_a = a.value >= b.value;
    const L value = select(on_a, a.value, b.value);
    L step[3];
    for (int axis = 0; axis < 3; ++axis)
      step[axis] = select(on_a, a.direction[axis], b.direction[axis]);
    normalise(step);
    for (L& s : step) s = s * value;

    const L steps = load<L>(lane.steps);
    Masks masks;
    masks.arrived = bits_of(absolute(value) < margin);
    masks.inside = bits_of(value < margin);
    L gone_sq(0.0F);
    for (int axis = 0; axis < 3; ++axis) {
      const L gone = p[axis] - load<L>(lane.start[axis]);
      gone_sq = gone_sq + gone * gone;
    }
    masks.ended = bits_of(steps >= L(static_cast<float>(task.max_steps - 1))) |
                  bits_of((gone_sq > L(task.reach_sq)) & (value >= margin));
    store(steps + one, lane.steps);
    const auto inside = value < margin;
    for (int axis = 0; axis < 3; ++axis)
      store(select(inside, p[axis], load<L>(lane.inside[axis])), lane.inside[axis]);
    store(select(inside, one, load<L>(lane.has_inside)), lane.has_inside);
    step_on(task, p, value, step, lane);
    return masks;
  }

  static ISOTACT_INLINE void write(const IdfTask& task, const Lane& lane, const Samples& samples,
                                   unsigned i, IdfHit& hit) {
    IdfSample<float> both[2];
    for (int side = 0; side < 2; ++side) {
      both[side].value = samples.value[side][i];
      for (int axis = 0; axis < 3; ++axis)
        both[side].direction[axis] = samples.direction[side][axis][i];
    }
    const float at[3] = {lane.inside[0][i], lane.inside[1][i], lane.inside[2][i]};
    write_hit(both[0], both[1], at, task.fields.record->margin, task.paper_normal, hit);
    hit.particle = task.particle[lane.index[i]];
    hit.pair = task.pair;
  }

  static IdfWork project(const IdfTask& task) {
    Lane lane{};
    Samples samples{};
    IdfWork work;
    std::size_t next = 0;
    unsigned active = 0;
    for (unsigned i = 0; i < kLanes && next < task.count; ++i, active = active << 1U | 1U)
      start(task, next++, i, lane);
    while (active != 0) {
      const Masks masks = advance(task, lane, samples);
      work.evaluations += 2U * static_cast<unsigned>(__builtin_popcount(active));
      unsigned done = (masks.arrived | masks.ended) & active;
      for (; done != 0; done &= done - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(done));
        const unsigned bit = 1U << i;
        if ((masks.inside & bit) != 0) {
          write(task, lane, samples, i, task.hits[work.hits++]);
        } else if (lane.has_inside[i] > 0) {  // It left both: back to its last position inside.
          for (int axis = 0; axis < 3; ++axis) lane.at[axis][i] = lane.inside[axis][i];
          lane.steps[i] = static_cast<float>(task.max_steps);
          continue;
        } else {
          task.left[work.left++] = lane.index[i];
        }
        if (next < task.count)
          start(task, next++, i, lane);
        else
          active &= ~bit;
      }
    }
    return work;
  }

  // The centres of eight (or four) of a block's parts, from the part `first` on.
  struct Parts {
    L at[3];
    unsigned exist = 0;
  };
  static ISOTACT_INLINE Parts find_parts(const IdfPairRecord& r, std::uint64_t block, int level,
                                         unsigned first) {
    static constexpr float kPart[3][8] = {
        {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    Parts parts;
    parts.exist = (1U << kLanes) - 1;
    const L size(static_cast<float>(1U << static_cast<unsigned>(level)));
    for (int axis = 0; axis < 3; ++axis) {
      const auto of_block = static_cast<std::uint32_t>(block >> (16 * axis)) & 0xffffU;
      const L place = L(static_cast<float>(2 * of_block)) + load<L>(kPart[axis] + first);
      const L cells(static_cast<float>(r.cells[axis]));
      const L begin = place * size, end = lesser(begin + size, cells);
      parts.exist &= bits_of(begin < cells);
      parts.at[axis] = L(r.box_min[axis]) + (L(0.5F) * (begin + end)) * L(r.cell_size[axis]);
    }
    return parts;
  }

  // Returns the regions that may contain a contact. If A decides, B is not evaluated.
  static ISOTACT_INLINE unsigned test(const IdfFields& fields, const L (&middle)[3], unsigned exist,
                                      float most, std::uint64_t& evaluations) {
    const IdfPairRecord& r = *fields.record;
    const auto asked = static_cast<unsigned>(__builtin_popcount(exist));
    evaluations += asked;
    const L of_a = Formulas::compute_floor(*fields.a, r.a_from_pair, r.scale_a, middle);
    const unsigned left = exist & ~bits_of(of_a > L(most));
    if (left == 0) return 0;
    evaluations += asked;
    const L of_b = Formulas::compute_floor(*fields.b, r.b_from_pair, r.scale_b, middle);
    return left & ~bits_of(of_b > L(most));
  }

  // Leaves the cells that may contain a contact, in their order.
  static IdfDescentWork filter(const IdfFilter& f) {
    IdfDescentWork work;
    for (std::size_t first = 0; first < f.count; first += kLanes) {
      const std::size_t count = f.count - first < kLanes ? f.count - first : kLanes;
      float at[3][kLanes] = {};
      L middle[3];
      for (int axis = 0; axis < 3; ++axis) {
        for (std::size_t i = 0; i < count; ++i) at[axis][i] = f.at[axis][first + i];
        middle[axis] = load<L>(at[axis]);
      }
      const unsigned exist = static_cast<unsigned>((std::uint64_t{1} << count) - 1);
      unsigned left = test(f.fields, middle, exist, f.most, work.evaluations);
      for (; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctz(left));
        for (int axis = 0; axis < 3; ++axis) f.at[axis][work.cells] = at[axis][i];
        f.particle[work.cells++] = f.particle[first + i];
      }
    }
    return work;
  }

  static ISOTACT_INLINE std::uint64_t part_of(std::uint64_t block, unsigned part) {
    return 2 * block + (part & 1U) + (std::uint64_t{part >> 1U & 1U} << 16U) +
           (std::uint64_t{part >> 2U} << 32U);
  }

  static ISOTACT_INLINE void write_cell(const IdfDescent& d, const Parts& parts, unsigned lane,
                                        std::uint64_t cell, std::size_t to) {
    const IdfPairRecord& r = *d.fields.record;
    float at[3][kLanes];
    for (int axis = 0; axis < 3; ++axis) {
      store(parts.at[axis], at[axis]);
      d.at[axis][to] = at[axis][lane];
    }
    const auto x = static_cast<std::uint32_t>(cell & 0xffffU);
    const auto y = static_cast<std::uint32_t>(cell >> 16U & 0xffffU);
    const auto z = static_cast<std::uint32_t>(cell >> 32U);
    d.particle[to] =
        (z * static_cast<std::uint32_t>(r.cells[1]) + y) * static_cast<std::uint32_t>(r.cells[0]) +
        x;
  }

  static IdfDescentWork descend(const IdfDescent& d) {
    IdfDescentWork work;
    std::size_t count = 1;
    d.blocks[0][0] = 0;
    for (int level = d.top - 1; level >= 0; --level) {
      const unsigned from = static_cast<unsigned>(d.top - 1 - level) & 1U;
      std::size_t found = 0;
      for (std::size_t i = 0; i < count; ++i)
        for (unsigned first = 0; first < 8; first += kLanes) {
          const std::uint64_t block = d.blocks[from][i];
          const Parts parts = find_parts(*d.fields.record, block, level, first);
          unsigned left = test(d.fields, parts.at, parts.exist, d.most[level], work.evaluations);
          for (; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctz(left));
            const std::uint64_t part = part_of(block, first + lane);
            if (level == 0)
              write_cell(d, parts, lane, part, found++);
            else
              d.blocks[from ^ 1U][found++] = part;
          }
        }
      count = found;
    }
    work.cells = count;
    return work;
  }
};

}  // namespace isotact::detail
