#include "isotact/gpu/build/detail/node_search.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "isotact/field/texels/field_texels.h"

namespace isotact::detail {
namespace {

constexpr std::int32_t kBrickSide = glsl::kSearchSide;
constexpr std::size_t kBrickNodes = glsl::kSearchNodes;
static_assert(static_cast<float>(kOnSurface) == glsl::kOnSurface);
static_assert(kTexelSteps == static_cast<double>(glsl::kTexelSteps));
static_assert(kTreeWidth == 8 && kTreeMaxLevel * 3 + kTreeWidth <= 32);  // For find_nearest.

// The head of the buffer Walks in brick_work.glsl, before any brick is left to walks: work-groups
// of each step. The second has one for each cube of a brick.
constexpr glsl::DispatchGroups kNoWalks[2] = {{0, 1, 1, 0}, {0, 8, 1, 0}};

template <typename T>
void upload_all(const std::vector<T>& data, GpuBuffer& to) {
  to.reserve(data.size() * sizeof(T));
  to.upload(std::span<const T>(data));
}

GpuProgram make_step(const char* step) { return GpuProgram("dense_nodes.comp", {{"STEP", step}}); }

}  // namespace

SearchPrograms::SearchPrograms()
    : coarse("coarse_nodes.comp"),
      bricks("brick_nodes.comp"),
      walks{make_step("1"), make_step("2")},
      distances("measure_nodes.comp"),
      directions("measure_nodes.comp", {{"DIRECTIONS", "1"}}) {}

NodeSearch::NodeSearch(const SearchPrograms& programs, SearchScratch& spare,
                       const TriangleTree& tree, const Lattice& lattice)
    : programs_(programs),
      spare_(spare),
      memory_(std::exchange(spare, {})),
      level_begin_(tree.level_begin) {
  upload_all(tree.frames, memory_.frames);
  upload_all(tree.boxes, memory_.boxes);
  for (std::size_t axis = 0; axis < 3; ++axis)
    coarse_nodes_[axis] = lattice.cells[axis] / kBrickSide + 1;
  const std::int32_t widest = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  error_ = widest * 0x1p-20 + 0x1p-15;
}

void NodeSearch::prepare(const GpuProgram& program) const {
  memory_.frames.bind(glsl::kSearchFramesAt);
  memory_.boxes.bind(glsl::kSearchBoxesAt);
  program.set("level_count", static_cast<std::uint32_t>(level_begin_.size()));
  for (std::size_t l = 0; l < level_begin_.size(); ++l)
    program.set(("level_begin[" + std::to_string(l) + "]").c_str(), level_begin_[l]);
  program.set("slack", static_cast<float>(2 * error_));
}

void NodeSearch::prepare(const GpuProgram& program, std::size_t bricks,
                         const Wanted& wanted) const {
  prepare(program);
  program.set("brick_count", static_cast<std::uint32_t>(bricks));
  program.set("wanted_from", static_cast<float>(wanted.from - 2 * error_));
  program.set("wanted_to", static_cast<float>(wanted.to + 2 * error_));
}

void NodeSearch::compute_coarse() {
  const std::size_t n = count(coarse_nodes_);
  memory_.coarse_distances.reserve(n * sizeof(float));
  prepare(programs_.coarse);
  memory_.coarse_distances.bind(glsl::kCoarseDistancesAt);
  programs_.coarse.set("nodes", coarse_nodes_[0], coarse_nodes_[1], coarse_nodes_[2]);
  std::uint64_t groups = 1;
  for (const std::int32_t nodes : coarse_nodes_)
    groups *= (static_cast<std::uint64_t>(nodes) + glsl::kCubeSide - 1) / glsl::kCubeSide;
  const GroupGrid grid = spread_groups(groups);
  programs_.coarse.dispatch(grid.x, grid.y);
}

void NodeSearch::find_bricks(std::span<const BrickOnGpu> bricks, const Wanted& wanted,
                             SearchResult result, BrickBatch& batch) {
  const std::size_t n = bricks.size();
  assert(n <= kMostBricksOfBatch);
  const bool only_triangles = result == SearchResult::kTriangle;
  GpuBuffer& triangles = only_triangles ? batch.results : memory_.triangles;
  batch.bricks.reserve(bricks.size_bytes());
  batch.exact.reserve(n * sizeof(std::uint32_t));
  batch.results.reserve(n * kBrickNodes * bytes_of(result));
  triangles.reserve(n * kBrickNodes * sizeof(std::uint32_t));
  memory_.walks.reserve(sizeof(kNoWalks) + n * sizeof(glsl::BrickWalk));
  memory_.group_seeds.reserve(n * glsl::kCubeNodes * sizeof(std::uint32_t));
  batch.bricks.upload(bricks);
  memory_.walks.upload_bytes(std::as_bytes(std::span(kNoWalks)));
  batch.bricks.bind(glsl::kSearchBricksAt);
  batch.exact.bind(glsl::kSearchExactAt);
  triangles.bind(glsl::kSearchTrianglesAt);
  memory_.walks.bind(glsl::kSearchWalksAt);

  prepare(programs_.bricks, n, wanted);
  const GroupGrid grid = spread_groups(n);
  programs_.bricks.dispatch(grid.x, grid.y);
  memory_.group_seeds.bind(glsl::kSearchSeedsAt);
  for (std::size_t step = 0; step < programs_.walks.size(); ++step) {
    prepare(programs_.walks[step], n, wanted);
    programs_.walks[step].dispatch_indirect(memory_.walks, step * sizeof(kNoWalks[0]));
  }
  if (only_triangles) return;
  const GpuProgram& measure =
      result == SearchResult::kDistance ? programs_.distances : programs_.directions;
  prepare(measure, n, wanted);
  batch.results.bind(glsl::kSearchResultsAt);
  const GroupGrid nodes = spread_groups(n * kBrickNodes / glsl::kSearchGroup);
  measure.dispatch(nodes.x, nodes.y);
}

}  // namespace isotact::detail
