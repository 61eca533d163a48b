#include "isotact/gpu/detail/node_search.h"

#include <algorithm>
#include <string>

namespace isotact::detail {
namespace {

constexpr std::int32_t kBrickSide = 8;

GpuProgram make_nodes(const char* result) {
  return GpuProgram("brick_nodes.comp", {{"RESULT", result}});
}

template <typename T>
GpuBuffer upload_all(const std::vector<T>& data) {
  return GpuBuffer(std::span<const T>(data));
}

}  // namespace

SearchPrograms::SearchPrograms()
    : coarse("coarse_nodes.comp"),
      nodes{make_nodes("0"), make_nodes("1"), make_nodes("2")} {}

NodeSearch::NodeSearch(const SearchPrograms& programs, const TriangleTree& tree,
                       const Lattice& lattice)
    : programs_(programs),
      level_begin_(tree.level_begin),
      frames_(upload_all(tree.frames)),
      boxes_(upload_all(tree.boxes)) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    coarse_nodes_[axis] = lattice.cells[axis] / kBrickSide + 1;
  const std::int32_t widest = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  error_ = widest * 0x1p-20 + 0x1p-15;
}

void NodeSearch::prepare(const GpuProgram& program) const {
  frames_.bind(0);
  boxes_.bind(1);
  program.set("level_count", static_cast<std::uint32_t>(level_begin_.size()));
  for (std::size_t l = 0; l < level_begin_.size(); ++l)
    program.set(("level_begin[" + std::to_string(l) + "]").c_str(), level_begin_[l]);
  program.set("slack", static_cast<float>(2 * error_));
}

void NodeSearch::find_coarse() {
  const std::size_t n = count(coarse_nodes_);
  coarse_distances_.reserve(n * sizeof(float));
  prepare(programs_.coarse);
  coarse_distances_.bind(2);
  programs_.coarse.set("nodes", coarse_nodes_[0], coarse_nodes_[1], coarse_nodes_[2]);
  std::uint64_t groups = 1;
  for (const std::int32_t nodes : coarse_nodes_)
    groups *= static_cast<std::uint64_t>((nodes + 3) / 4);
  const GroupGrid grid = spread_groups(groups);
  programs_.coarse.dispatch(grid.x, grid.y);
}

void NodeSearch::find_bricks(std::span<const BrickOnGpu> bricks, const Wanted& wanted,
                             SearchResult result, BrickBatch& batch) const {
  const std::size_t n = bricks.size();
  batch.bricks.reserve(bricks.size_bytes());
  batch.exact.reserve(n * sizeof(std::uint32_t));
  batch.results.reserve(n * 512 * bytes_of(result));
  batch.bricks.upload(bricks);
  batch.bricks.bind(2);
  batch.exact.bind(6);
  batch.results.bind(7);
  const GpuProgram& program = programs_.nodes[static_cast<std::size_t>(result)];
  prepare(program);
  program.set("brick_count", static_cast<std::uint32_t>(n));
  program.set("wanted_from", static_cast<float>(wanted.from - 2 * error_));
  program.set("wanted_to", static_cast<float>(wanted.to + 2 * error_));
  const GroupGrid grid = spread_groups(n);
  program.dispatch(grid.x, grid.y);
}

}  // namespace isotact::detail
