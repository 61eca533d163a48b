#include "isotact/queries/intersection_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/thread_scratch.h"
#include "isotact/queries/detail/intersection_search.h"
#include "isotact/queries/detail/intersection_task.h"

namespace isotact {

namespace {

using namespace detail;

constexpr std::int32_t kBlockCells = 4;  // of the sampling grid, an axis

struct SearchScratch {
  IdfCells cells, next;
  std::vector<Vec3f> block_at;
  std::vector<Index3> block_first;
  std::vector<float> values;
  std::vector<std::uint32_t> left;
  std::vector<IdfHit> hits;  // of a call, then of a pair
  std::vector<IdfHit> found;
};

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

  // Into scratch.hits.
  void run() {
    scratch_.found.clear();
    const std::uint32_t grid = grid_count(record_);
    scratch_.cells.clear();
    for (std::uint32_t i = 0; i < record_.seed_count; ++i)
      scratch_.cells.add(plan_.seeds[record_.first_seed + i], grid + i);
    project(std::numeric_limits<float>::infinity());
    if (settings_.search == IdfSearch::kCells)
      search_cells();
    else
      search_all(grid);
    result_.arrived = static_cast<std::uint32_t>(scratch_.found.size());
    select_hits(record_, settings_, scratch_.found);
  }

 private:
  void search_all(std::uint32_t grid) {
    scratch_.cells.clear();
    for (std::uint32_t i = 0; i < grid; ++i)
      scratch_.cells.add(start_of(record_, plan_, settings_.sampling, i), i);
    project(std::numeric_limits<float>::infinity());
    result_.resolution = settings_.sampling == IdfSampling::kGrid
                             ? resolution_of(record_, make_level(record_, 0))
                             : std::numeric_limits<float>::infinity();
  }

  void search_cells() {
    IdfLevel level = make_level(record_, 0);
    find_cells(level);
    for (;;) {
      project(level.most);
      result_.resolution = resolution_of(record_, level);
      if (!scratch_.found.empty() ||
          !is_worth_cutting(record_, level, scratch_.left.size(), settings_))
        return;
      std::sort(scratch_.left.begin(), scratch_.left.end());
      scratch_.next.clear();
      for (const std::uint32_t i : scratch_.left)
        cut_cell(scratch_.cells.at[i], scratch_.cells.particle[i], level, scratch_.next);
      std::swap(scratch_.cells, scratch_.next);
      result_.cut_particles += scratch_.cells.at.size();
      level = make_level(record_, level.number + 1);
    }
  }

  // The cells of blocks in which the middle of a cell may have a value that makes it move. The
  // values of both middles differ by no more than by what values change over the way between them.
  void find_cells(const IdfLevel& level) {
    scratch_.cells.clear();
    scratch_.block_at.clear();
    scratch_.block_first.clear();
    Vec3f way;
    for (std::size_t axis = 0; axis < 3; ++axis)
      way[axis] = 0.5F * record_.cell_size[axis] *
                  static_cast<float>(std::min(kBlockCells, record_.cells[axis]) - 1);
    for (std::int32_t k = 0; k < record_.cells[2]; k += kBlockCells)
      for (std::int32_t j = 0; j < record_.cells[1]; j += kBlockCells)
        for (std::int32_t i = 0; i < record_.cells[0]; i += kBlockCells) {
          scratch_.block_first.push_back({i, j, k});
          scratch_.block_at.push_back(block_middle({i, j, k}));
        }
    const std::size_t blocks = scratch_.block_at.size();
    scratch_.values.resize(blocks);
    kernels_.find_values(fields_, blocks, scratch_.block_at.data(), scratch_.values.data());
    result_.evaluations += 2 * blocks;
    // Neither end of the way need be near a surface: slack counts twice.
    const float far = length(way) * (1 + 1e-6F);
    const float fall =
        std::min(record_.lipschitz * far, far + 2 * record_.slack) + record_.rounding;
    for (std::size_t block = 0; block < blocks; ++block)
      if (!(scratch_.values[block] > level.most + fall)) add_cells(scratch_.block_first[block]);
  }

  Vec3f block_middle(const Index3& first) const {
    Vec3f middle;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int32_t some = std::min(kBlockCells, record_.cells[axis] - first[axis]);
      middle[axis] = record_.box_min[axis] +
                     (static_cast<float>(first[axis]) + 0.5F * static_cast<float>(some)) *
                         record_.cell_size[axis];
    }
    return middle;
  }

  void add_cells(const Index3& first) {
    Index3 end;
    for (std::size_t axis = 0; axis < 3; ++axis)
      end[axis] = std::min(first[axis] + kBlockCells, record_.cells[axis]);
    for (std::int32_t k = first[2]; k < end[2]; ++k)
      for (std::int32_t j = first[1]; j < end[1]; ++j)
        for (std::int32_t i = first[0]; i < end[0]; ++i)
          scratch_.cells.add(
              cell_middle(record_, i, j, k),
              static_cast<std::uint32_t>((k * record_.cells[1] + j) * record_.cells[0] + i));
  }

  void project(float most) {
    const std::size_t count = scratch_.cells.at.size();
    scratch_.hits.resize(count);
    scratch_.left.resize(count);
    const IdfTask task{.fields = fields_,
                       .pair = pair_,
                       .max_steps = settings_.max_steps,
                       .relaxation = static_cast<float>(settings_.relaxation),
                       .paper_normal = settings_.normal == IdfNormal::kPaper,
                       .most = most,
                       .count = count,
                       .at = scratch_.cells.at.data(),
                       .particle = scratch_.cells.particle.data(),
                       .hits = scratch_.hits.data(),
                       .left = scratch_.left.data()};
    const IdfWork work = kernels_.project(task);
    scratch_.left.resize(work.left);
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
  IdfPairResult& result_;
};

}  // namespace

void intersect_fields(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings, IdfState& state,
                      IdfResult& result) {
  ThreadScratch<IdfPlan> plan;
  plan_intersections(shapes, bodies, pairs, settings, state, *plan);
  std::vector<IdfEvaluator> evaluators;
  evaluators.reserve(shapes.size());
  for (const IdfShape& shape : shapes) evaluators.push_back(make_evaluator(shape));
  const IdfKernels kernels = choose_idf_kernels(simd_level());

  std::vector<IdfPairResult> found(pairs.size());
  const std::size_t grain = std::clamp<std::size_t>(pairs.size() / 64, 1, 16);
  std::vector<std::vector<IdfHit>> parts((pairs.size() + grain - 1) / grain);
  const IdfPlan& planned = *plan;
  parallel_for(pairs.size(), grain, settings.threads, [&](std::size_t begin, std::size_t end) {
    ThreadScratch<SearchScratch> scratch;
    std::vector<IdfHit>& hits = parts[begin / grain];
    for (std::size_t i = begin; i < end; ++i) {
      const IdfPairRecord& record = planned.records[i];
      if (record.cells[0] == 0) continue;
      const IdfFields fields{&record, &evaluators[record.shape_a], &evaluators[record.shape_b]};
      PairSearch(fields, planned, settings, kernels, static_cast<std::uint32_t>(i), *scratch,
                 found[i])
          .run();
      hits.insert(hits.end(), scratch->found.begin(), scratch->found.end());
    }
  });
  std::vector<IdfHit> all;
  for (const std::vector<IdfHit>& hits : parts) all.insert(all.end(), hits.begin(), hits.end());
  finish_result(all, found, bodies, pairs, planned, settings, state, result);
}

}  // namespace isotact
