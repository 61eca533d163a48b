// Many points at once. A random point of a large field costs two waits for memory: for its block,
// then for its brick or coarse cell. Points go through in groups, stage by stage, and each stage
// calls for what the next one reads, so that the waits of a group overlap.
#include <array>
#include <cassert>
#include <cmath>

#include "isotact/field/detail/brick_reader.h"

namespace isotact {
namespace {

constexpr std::size_t kGroup = 32;
constexpr std::size_t kGrain = 4096;

using detail::BrickReader;
using detail::BrickSpot;
using detail::Trilinear;

class BatchSampler {
 public:
  explicit BatchSampler(const BrickField& field) : reader_(field), box_(field.bounds()) {}

  void sample(std::span<const Vec3f> points, float* values, Vec3f* gradients) {
    locate(points);
    call_for_samples(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool outside = !contains(box_, to_double(points[i]));
      if (outside) {
        extend(i, points[i], values, gradients);
      } else if (gradients == nullptr) {
        values[i] = value_at(i);
      } else {
        const Trilinear t = sample_at(i);
        if (values != nullptr) values[i] = t.value;
        gradients[i] = t.slope;
      }
    }
  }

 private:
  void locate(std::span<const Vec3f> points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      spots_[i] = reader_.locate(to_double(points[i]));
      const Index3& c = spots_[i].coarse;
      blocks_[i] = &reader_.block_of(c[0], c[1], c[2]);
      __builtin_prefetch(blocks_[i]);
    }
  }

  void call_for_samples(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const Index3& c = spots_[i].coarse;
      numbers_[i] = BrickReader::brick_in(*blocks_[i], c[0], c[1], c[2]);
      if (numbers_[i] == BrickField::kNoBrick) {
        const float* at = reader_.coarse_at(c[0], c[1], c[2]);
        __builtin_prefetch(at);
        __builtin_prefetch(at + reader_.coarse_row());
        __builtin_prefetch(at + reader_.coarse_slice());
        __builtin_prefetch(at + reader_.coarse_slice() + reader_.coarse_row());
      } else {
        const Brick& brick = reader_.brick(numbers_[i]);
        const std::int8_t* at = brick.correction + BrickReader::first_sample(spots_[i]);
        __builtin_prefetch(&brick);
        __builtin_prefetch(at);
        __builtin_prefetch(at + kBrickNodes * kBrickNodes + kBrickNodes);
      }
    }
  }

  float value_at(std::size_t i) const { return reader_.value(spots_[i], numbers_[i]); }
  Trilinear sample_at(std::size_t i) const { return reader_.sample(spots_[i], numbers_[i]); }

  void extend(std::size_t i, const Vec3f& point, float* values, Vec3f* gradients) const {
    const Trilinear t = sample_at(i);
    const Vec3 p = to_double(point);
    const FieldSample s =
        extend_outside(FieldSample{static_cast<double>(t.value), to_double(t.slope)}, p,
                       max(box_.lower, min(box_.upper, p)));
    if (values != nullptr) values[i] = static_cast<float>(s.distance);
    if (gradients != nullptr) gradients[i] = to_float(s.gradient);
  }

  BrickReader reader_;
  Aabb box_;
  std::array<BrickSpot, kGroup> spots_;
  std::array<const BrickBlock*, kGroup> blocks_{};
  std::array<std::uint32_t, kGroup> numbers_{};
};

}  // namespace

void sample_field(const BrickField& field, std::span<const Vec3f> points, std::span<float> values,
                  std::span<Vec3f> gradients, Threads threads) {
  assert(values.empty() || values.size() == points.size());
  assert(gradients.empty() || gradients.size() == points.size());
  if (values.empty() && gradients.empty()) return;
  parallel_for(points.size(), kGrain, threads, [&](std::size_t begin, std::size_t end) {
    BatchSampler sampler(field);
    for (std::size_t at = begin; at < end; at += kGroup) {
      const std::size_t n = std::min(kGroup, end - at);
      sampler.sample(points.subspan(at, n), values.empty() ? nullptr : values.data() + at,
                     gradients.empty() ? nullptr : gradients.data() + at);
    }
  });
}

}  // namespace isotact
