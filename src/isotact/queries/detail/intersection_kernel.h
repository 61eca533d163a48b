// The projection of particles (KGM, Algorithm 2; see intersection_field.h) over a lane type. A lane
// that is done takes the next particle at once.
#pragma once

#include "isotact/queries/detail/intersection_formulas.h"

namespace isotact::detail {

template <typename L>
struct IdfKernel {
  static constexpr unsigned kLanes = L::kWidth;
  using Formulas = IdfFormulas<L>;

  // Of the particles on the way. Steps and flags are floats, to be selected as the others.
  struct alignas(32) Lane {
    float at[3][kLanes];
    float inside[3][kLanes];   // the last place in both bodies, or within epsilon of them
    float has_inside[kLanes];  // 1: there is one
    float plain[3][kLanes];    // where a step of plain length would have led
    float last_size[kLanes];   // |value| before the last step
    float relaxed[kLanes];     // 1: steps are still longer than plain
    float steps[kLanes];       // done
    std::uint32_t index[kLanes];
  };
  struct alignas(32) Samples {
    float value[2][kLanes];
    float direction[2][3][kLanes];
  };

  static ISOTACT_INLINE void start(const IdfTask& task, std::size_t particle, unsigned lane,
                                   Lane& to) {
    const Vec3f& p = task.at[particle];
    to.at[0][lane] = p.x;
    to.at[1][lane] = p.y;
    to.at[2][lane] = p.z;
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

  // Where the next step leads. One that went too far (the value did not shrink) is replaced by the
  // plain one from where it began.
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
    unsigned arrived = 0, ended = 0, dropped = 0, inside = 0;
  };

  static ISOTACT_INLINE Masks advance(const IdfTask& task, Lane& lane, Samples& samples) {
    const L one(1.0F), epsilon(task.fields.record->epsilon);
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
    masks.arrived = bits_of(absolute(value) < epsilon);
    masks.inside = bits_of(value < epsilon);
    masks.dropped = bits_of((steps < L(0.5F)) & (value > L(task.most)));
    masks.ended = bits_of(steps >= L(static_cast<float>(task.max_steps - 1)));
    store(steps + one, lane.steps);
    const auto inside = value < epsilon;
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
    write_hit(both[0], both[1], task.paper_normal, hit);
    for (int axis = 0; axis < 3; ++axis) hit.position[axis] = lane.inside[axis][i];
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
      unsigned done = (masks.arrived | masks.ended | masks.dropped) & active;
      for (; done != 0; done &= done - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(done));
        const unsigned bit = 1U << i;
        if ((masks.dropped & bit) == 0) {
          if ((masks.inside & bit) != 0) {
            write(task, lane, samples, i, task.hits[work.hits++]);
          } else if (lane.has_inside[i] > 0) {  // went out of both again: back to where it was in
            for (int axis = 0; axis < 3; ++axis) lane.at[axis][i] = lane.inside[axis][i];
            continue;
          } else {
            task.left[work.left++] = lane.index[i];
          }
        }
        if (next < task.count)
          start(task, next++, i, lane);
        else
          active &= ~bit;
      }
    }
    return work;
  }

  static void find_values(const IdfFields& fields, std::size_t count, const Vec3f* at,
                          float* values) {
    for (std::size_t first = 0; first < count; first += kLanes) {
      float buffer[3][kLanes] = {}, found[kLanes];
      const std::size_t some = count - first < kLanes ? count - first : kLanes;
      for (std::size_t i = 0; i < some; ++i) {
        buffer[0][i] = at[first + i].x;
        buffer[1][i] = at[first + i].y;
        buffer[2][i] = at[first + i].z;
      }
      L p[3];
      for (int axis = 0; axis < 3; ++axis) p[axis] = load<L>(buffer[axis]);
      IdfSample<L> a, b;
      sample(fields, p, a, b);
      store(select(a.value >= b.value, a.value, b.value), found);
      for (std::size_t i = 0; i < some; ++i) values[first + i] = found[i];
    }
  }
};

}  // namespace isotact::detail
