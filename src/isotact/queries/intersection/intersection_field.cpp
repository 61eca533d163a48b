#include "isotact/queries/intersection/intersection_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/queries/intersection/detail/intersection_search.h"
#include "isotact/queries/intersection/detail/intersection_task.h"

namespace isotact {

namespace {

using namespace detail;

constexpr float kNoLimit = std::numeric_limits<float>::infinity();

struct SearchScratch {
  IdfCells cells, next;
  std::vector<std::uint64_t> blocks[2];
  std::vector<std::uint32_t> left;
  std::vector<IdfHit> hits;  // Hits of a call, then of a pair.
  std::vector<IdfHit> found;
};

template <typename T>
void grow(std::vector<T>& room, std::size_t count) {
  if (room.size() < count) room.resize(count);
}

class PairSearch {
 public:
  PairSearch(const IdfFields& fields, const IdfPlan& plan, const IdfSettings& settings,
             const IdfKernels& kernels, std::uint32_t pair, SearchScratch& scratch,
             IdfPairResult& result)
      : fields_(fields),
        record_(*fields.record),
        plan_(plan),
        settings_(settings),
        kernels_(kernels),
        pair_(pair),
        scratch_(scratch),
        result_(result) {}

  // Writes to scratch.hits.
  void run() {
    scratch_.found.clear();
    const std::uint32_t grid = grid_count(record_);
    scratch_.cells.count = 0;
    scratch_.cells.reserve(std::max(grid, record_.seed_count));
    for (std::uint32_t i = 0; i < record_.seed_count; ++i)
      scratch_.cells.add(plan_.seeds[record_.first_seed + i], grid + i);
    project(kNoLimit);
    if (settings_.search == IdfSearch::kCells)
      search_cells();
    else
      search_all(grid);
    result_.arrived = static_cast<std::uint32_t>(scratch_.found.size());
    select_hits(record_, settings_, scratch_.found);
  }

 private:
  void search_all(std::uint32_t grid) {
    scratch_.cells.count = 0;
    for (std::uint32_t i = 0; i < grid; ++i)
      scratch_.cells.add(start_of(record_, plan_, settings_.sampling, i), i);
    project(kNoLimit);
    result_.resolution = settings_.sampling == IdfSampling::kGrid
                             ? resolution_of(record_, make_level(record_, 0))
                             : std::numeric_limits<float>::infinity();
  }

  void search_cells() {
    IdfLevel level = make_level(record_, 0);
    find_cells();
    for (;;) {
      project(level.half_diagonal);
      const bool apart = scratch_.found.empty() && left_count_ == 0;
      result_.resolution = apart ? 0 : resolution_of(record_, level);
      if (!scratch_.found.empty() || !is_worth_cutting(record_, level, left_count_, settings_))
        return;
      const std::span left(scratch_.left.data(), left_count_);
      std::sort(left.begin(), left.end());
      scratch_.next.count = 0;
      scratch_.next.reserve(8 * left_count_);
      for (const std::uint32_t i : left)
        cut_cell(scratch_.cells.middle(i), scratch_.cells.particle[i], level, scratch_.next);
      std::swap(scratch_.cells, scratch_.next);
      result_.cut_particles += scratch_.cells.count;
      level = make_level(record_, level.number + 1);
      filter(level.most);
    }
  }

  // Blocks of cells, and their parts, down to the cells that move.
  void find_cells() {
    IdfDescent descent{.fields = fields_};
    const std::int32_t longest = *std::max_element(record_.cells, record_.cells + 3);
    descent.top = 1;
    while (1 << descent.top < longest) ++descent.top;
    for (int i = 0; i <= descent.top; ++i)
      descent.most[i] = compute_block_cull(record_, 1 << i) + record_.margin;
    const std::uint32_t grid = grid_count(record_);
    for (std::size_t i = 0; i < 2; ++i) {
      grow(scratch_.blocks[i], grid);
      descent.blocks[i] = scratch_.blocks[i].data();
    }
    for (std::size_t axis = 0; axis < 3; ++axis) descent.at[axis] = scratch_.cells.at[axis].data();
    descent.particle = scratch_.cells.particle.data();
    const IdfDescentWork work = kernels_.descend(descent);
    scratch_.cells.count = work.cells;
    result_.evaluations += work.evaluations;
  }

  void filter(float most) {
    IdfFilter task{.fields = fields_, .most = most, .count = scratch_.cells.count};
    for (std::size_t axis = 0; axis < 3; ++axis) task.at[axis] = scratch_.cells.at[axis].data();
    task.particle = scratch_.cells.particle.data();
    const IdfDescentWork work = kernels_.filter(task);
    scratch_.cells.count = work.cells;
    result_.evaluations += work.evaluations;
  }

  // Particles outside that get further away from their start than `reach` stop.
  void project(float reach) {
    const std::size_t count = scratch_.cells.count;
    grow(scratch_.hits, count);
    grow(scratch_.left, count);
    const IdfTask task{.fields = fields_,
                       .pair = pair_,
                       .max_steps = settings_.max_steps,
                       .relaxation = static_cast<float>(settings_.relaxation),
                       .paper_normal = settings_.normal == IdfNormal::kPaper,
                       .reach_sq = reach * reach,
                       .count = count,
                       .at = {scratch_.cells.at[0].data(), scratch_.cells.at[1].data(),
                              scratch_.cells.at[2].data()},
                       .particle = scratch_.cells.particle.data(),
                       .hits = scratch_.hits.data(),
                       .left = scratch_.left.data()};
    const IdfWork work = kernels_.project(task);
    left_count_ = work.left;
    scratch_.found.insert(scratch_.found.end(), scratch_.hits.begin(),
                          scratch_.hits.begin() + static_cast<std::ptrdiff_t>(work.hits));
    result_.evaluations += work.evaluations;
  }

  const IdfFields fields_;
  const IdfPairRecord& record_;
  const IdfPlan& plan_;
  const IdfSettings& settings_;
  const IdfKernels& kernels_;
  const std::uint32_t pair_;
  SearchScratch& scratch_;
  std::size_t left_count_ = 0;  // In scratch_.left.
  IdfPairResult& result_;
};

// With so few particles, most colliding pairs are found.
constexpr int kCoarseSamples = 5;

bool searches_coarsely(const IdfSettings& settings) {
  return settings.any_contact && settings.search == IdfSearch::kCells &&
         settings.samples >= 2 * kCoarseSamples;
}

// Returns whether that decides: there is a contact, in scratch.found, or no cell may contain one.
bool decide_coarsely(const IdfFields& fields, const IdfPlan& plan, const IdfSettings& settings,
                     const IdfKernels& kernels, std::uint32_t pair, SearchScratch& scratch,
                     IdfPairResult& result) {
  const IdfPairRecord coarse = coarsen(*fields.record, kCoarseSamples);
  IdfSettings once = settings;
  once.resolution = 0;
  PairSearch({&coarse, fields.a, fields.b}, plan, once, kernels, pair, scratch, result).run();
  return !scratch.found.empty() || result.resolution == 0;
}

}  // namespace

void intersect_fields(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings,
                      IdfResult& result, IdfScratch& scratch) {
  const IdfSettings chosen = without_contradictions(settings);
  ThreadScratch<IdfPlan> plan;
  plan_intersections(shapes, bodies, pairs, chosen, *plan, scratch);
  std::vector<IdfEvaluator> evaluators;
  evaluators.reserve(shapes.size());
  for (const IdfShape& shape : shapes) evaluators.push_back(make_evaluator(shape));
  const IdfKernels kernels = choose_idf_kernels(simd_level());

  std::vector<IdfPairResult> found(pairs.size());
  const std::size_t grain = std::clamp<std::size_t>(pairs.size() / 64, 1, 16);
  std::vector<std::vector<IdfHit>> parts((pairs.size() + grain - 1) / grain);
  const IdfPlan& planned = *plan;
  parallel_for(pairs.size(), grain, chosen.threads, [&](std::size_t begin, std::size_t end) {
    ThreadScratch<SearchScratch> search;
    std::vector<IdfHit>& hits = parts[begin / grain];
    for (std::size_t i = begin; i < end; ++i) {
      const IdfPairRecord& record = planned.records[i];
      if (record.cells[0] == 0) continue;
      const IdfFields fields{&record, &evaluators[record.shape_a], &evaluators[record.shape_b]};
      const auto pair = static_cast<std::uint32_t>(i);
      if (!searches_coarsely(chosen) ||
          !decide_coarsely(fields, planned, chosen, kernels, pair, *search, found[i]))
        PairSearch(fields, planned, chosen, kernels, pair, *search, found[i]).run();
      hits.insert(hits.end(), search->found.begin(), search->found.end());
    }
  });
  std::vector<IdfHit> all;
  for (const std::vector<IdfHit>& hits : parts) all.insert(all.end(), hits.begin(), hits.end());
  finish_result(all, found, bodies, pairs, planned, chosen, result, scratch);
}

}  // namespace isotact
