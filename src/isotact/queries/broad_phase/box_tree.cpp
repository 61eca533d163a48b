#include "isotact/queries/broad_phase/box_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/queries/broad_phase/detail/box_tree_kernel.h"
#include "isotact/queries/broad_phase/detail/box_tree_state.h"

namespace isotact {
namespace {

using detail::Change;
using detail::FloatBox;

constexpr std::size_t kObjectGrain = 4096;
constexpr std::uint32_t kPartBlocks = 128;  // Blocks of the tree, for one thread.
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSlack = 0x1p-100F;  // More than rounding of denormal numbers.

using Four = detail::Lanes<float, 4>;

struct FourBox {
  Four lower, upper;
};

FourBox load_box(const FloatBox& box) {
  return {detail::load<Four>(box.lower.data()), detail::load<Four>(box.upper.data())};
}

// Rounds outwards to floats, by at most two ulps, which compare() relies on. They stay finite,
// which loses no overlap, since all boxes are clamped alike. The fourth lanes are those of a
// FloatBox, except for a very small number.
FourBox round_outwards(const Aabb& box) {
  const Four low = Four::Raw{static_cast<float>(box.lower.x), static_cast<float>(box.lower.y),
                             static_cast<float>(box.lower.z), 0};
  const Four high = Four::Raw{static_cast<float>(box.upper.x), static_cast<float>(box.upper.y),
                              static_cast<float>(box.upper.z), 0};
  const Four most(kLargest), least(-kLargest), slack(kSlack), ulp(0x1p-23F);
  const Four l = detail::lesser(low, most), h = detail::greater(high, least);
  return {detail::greater(l - (detail::greater(l, -l) * ulp + slack), least),
          detail::lesser(h + (detail::greater(h, -h) * ulp + slack), most)};
}

bool is_within(const FourBox& box, const FourBox& wide) {
  return (detail::bits_of((wide.lower <= box.lower) & (box.upper <= wide.upper)) & 7U) == 7U;
}

// Returns a half to one and a half, so that objects inserted in the same step do not all leave
// their wider boxes in the same later one.
float size_for(ObjectHandle object) {
  return 0.5F + static_cast<float>(object * 2654435761U >> 8U) * 0x1p-24F;
}

// `size`: factor on the usual enlargement.
FloatBox widened(const FloatBox& box, const detail::WideningNote& note, std::uint32_t step,
                 float size, const BoxTreeSettings& settings) {
  float extent = 0;
  for (std::size_t k = 0; k < 3; ++k) extent += box.upper[k] - box.lower[k];
  extent *= size / 3;
  FloatBox wide = box;
  if (!(extent < kLargest)) return wide;
  const float margin = static_cast<float>(settings.margin) * extent;
  const float most = static_cast<float>(settings.most_ahead) * extent;
  std::array<float, 3> low{}, high{};  // Motion of the sides per step.
  float fastest = 0;
  if (note.step != 0) {
    const float per_step = 1 / static_cast<float>(std::max(step - note.step, 1U));
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = (box.lower[k] - note.lower[k]) * per_step;
      high[k] = (box.upper[k] - note.upper[k]) * per_step;
      fastest = std::max({fastest, std::abs(low[k]), std::abs(high[k])});
    }
  }
  // An object that would leave it very soon gets none: more candidates for no gain.
  constexpr float kLeastSteps = 2.5F;
  if (!(fastest * kLeastSteps <= margin + most)) return wide;
  const float ahead =
      fastest > 0 ? std::min(size * static_cast<float>(settings.steps_ahead), most / fastest) : 0;
  for (std::size_t k = 0; k < 3; ++k) {
    wide.lower[k] = std::max(wide.lower[k] + std::min(ahead * low[k], 0.0F) - margin, -kLargest);
    wide.upper[k] = std::min(wide.upper[k] + std::max(ahead * high[k], 0.0F) + margin, kLargest);
  }
  return wide;
}

void sort_by_bucket(detail::FoundPart& part, std::size_t bucket_count) {
  constexpr unsigned kShift = 32 + detail::kBucketBits;
  part.starts.assign(bucket_count + 1, 0);
  part.sorted.resize(part.keys.size());
  for (const std::uint64_t key : part.keys) ++part.starts[key >> kShift];
  std::uint32_t sum = 0;
  for (std::uint32_t& start : part.starts) sum += std::exchange(start, sum);
  for (const std::uint64_t key : part.keys) part.sorted[part.starts[key >> kShift]++] = key;
  // Each start is now the next one's.
  for (std::size_t i = bucket_count; i > 0; --i) part.starts[i] = part.starts[i - 1];
  part.starts[0] = 0;
}

}  // namespace

BoxTree::BoxTree(const BoxTreeSettings& settings) : state_(std::make_unique<State>()) {
  state_->settings = settings;
  state_->find_tree_pairs = detail::choose_find_tree_pairs(simd_level());
}
BoxTree::~BoxTree() = default;

const BoxTreeWork& BoxTree::work() const { return state_->work; }

void BoxTree::take_changes(Threads threads) {
  State& s = *state_;
  s.tight.resize(handle_count());
  s.wide.resize(handle_count());
  s.notes.resize(handle_count());
  s.changes.resize(changed().size());
  parallel_for(changed().size(), kObjectGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const ObjectHandle object = changed()[i];
      const Aabb& box = box_of(object);
      FloatBox& tight = s.tight[object];
      const FourBox rounded = round_outwards(box);
      detail::store(rounded.lower, tight.lower.data());
      detail::store(rounded.upper, tight.upper.data());
      s.changes[i] = Change::kNone;
      if (is_empty(box)) {
        tight.upper[3] = -1;
        s.changes[i] = Change::kEmpty;
        s.notes[object].step = 0;
      } else if (!is_within(rounded, load_box(s.wide[object])) || !s.levels.has(object)) {
        detail::WideningNote& note = s.notes[object];
        s.wide[object] = widened(tight, note, s.step, size_for(object), s.settings);
        for (std::size_t k = 0; k < 3; ++k) {
          note.lower[k] = tight.lower[k];
          note.upper[k] = tight.upper[k];
        }
        note.step = s.step;
        tight.upper[3] = -1;
        s.changes[i] = Change::kLeft;
      }
    }
  });
  s.work = {};
  for (std::size_t i = 0; i < changed().size(); ++i) {
    if (s.changes[i] == Change::kNone) continue;
    const ObjectHandle object = changed()[i];
    const bool was_in = s.levels.has(object);
    if (s.changes[i] == Change::kEmpty) {
      if (was_in) s.levels.drop(object);
      continue;
    }
    ++s.work.looked_up;
    if (was_in)
      s.levels.touch(object);
    else
      s.levels.add(object);
  }
}

void BoxTree::look_up(Threads threads) {
  State& s = *state_;
  s.part_count = 0;
  if (s.work.looked_up == 0) return;
  if (s.levels.is_stale()) {
    s.levels.build(s.wide, threads);
    s.work.sorted = true;
  }
  s.levels.refresh(s.wide, 2 * s.work.looked_up > s.levels.size(), threads);
  const detail::BoxTreeView view = s.levels.view();
  s.part_count = (view.block_count + kPartBlocks - 1) / kPartBlocks;
  if (s.parts.size() < s.part_count) s.parts.resize(s.part_count);
  parallel_for(s.part_count, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      detail::FoundPart& part = s.parts[i];
      struct Sink : detail::PairSink {
        std::array<std::uint64_t, 1024> buffer;
        detail::FoundPart* part;
      } sink;
      sink.keys = sink.buffer.data();
      sink.count = 0;
      sink.capacity = sink.buffer.size();
      sink.part = &part;
      sink.flush = [](detail::PairSink& full) {
        auto& keys = static_cast<Sink&>(full).part->keys;
        keys.insert(keys.end(), full.keys, full.keys + full.count);
        full.count = 0;
      };
      part.keys.clear();
      const auto first = static_cast<std::uint32_t>(i) * kPartBlocks;
      s.find_tree_pairs(view, first, std::min(first + kPartBlocks, view.block_count), sink);
      sink.flush(sink);
      sort_by_bucket(part, s.buckets.size());
    }
  });
  s.levels.settle();
}

void BoxTree::find_pairs(Threads threads) {
  State& s = *state_;
  ++s.step;
  const std::size_t width = std::size_t{1} << detail::kBucketBits;
  s.buckets.resize((handle_count() + width - 1) / width);
  take_changes(threads);
  look_up(threads);
  merge(threads);
}

}  // namespace isotact

namespace isotact::detail {

FindTreePairs find_tree_pairs_baseline() { return BoxTreeKernel<Lanes<float, 4>>::find_pairs; }

FindTreePairs choose_find_tree_pairs([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return find_tree_pairs_avx2();
#endif
  return find_tree_pairs_baseline();
}

}  // namespace isotact::detail
