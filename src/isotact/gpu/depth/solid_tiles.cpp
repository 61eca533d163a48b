#include "isotact/gpu/depth/detail/solid_tiles.h"

#include <algorithm>
#include <utility>

namespace isotact::detail {
namespace {

void widen(TileRange& range, const TileRange& other) {
  range.near = std::min(range.near, other.near);
  range.far = std::max(range.far, other.far);
}

}  // namespace

void SolidTiles::set(int columns, int rows, std::span<const CoveredTile> covered) {
  const auto count = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  levels_.assign(1, {columns, rows, std::vector<TileRange>(count)});
  for (const CoveredTile& tile : covered) levels_[0].ranges[tile.number] = {tile.near, tile.far};
  while (levels_.back().columns > 1 || levels_.back().rows > 1) {
    const Level& below = levels_.back();
    Level level{(below.columns + 1) / 2, (below.rows + 1) / 2, {}};
    level.ranges.resize(static_cast<std::size_t>(level.columns) *
                        static_cast<std::size_t>(level.rows));
    for (int row = 0; row < below.rows; ++row)
      for (int column = 0; column < below.columns; ++column)
        widen(level.ranges[static_cast<std::size_t>(row / 2 * level.columns + column / 2)],
              below.at(column, row));
    levels_.push_back(std::move(level));
  }
  find_parts();
}

// Adjacent boxes are connected if their depths overlap.
void SolidTiles::find_parts() {
  parts_.clear();
  std::vector<bool> seen(levels_.front().ranges.size());
  std::vector<std::pair<int, int>> waiting;
  const auto see = [&](int column, int row, const TileRange& from) {
    if (column < 0 || row < 0 || column >= columns() || row >= rows()) return;
    const TileRange& to = range(column, row);
    const auto number = static_cast<std::size_t>(row * columns() + column);
    if (seen[number] || to.near > from.far || to.far < from.near) return;
    seen[number] = true;
    waiting.emplace_back(column, row);
  };
  for (int row = 0; row < rows(); ++row)
    for (int column = 0; column < columns(); ++column) {
      const TileRange& first = range(column, row);
      if (first.near > first.far || seen[static_cast<std::size_t>(row * columns() + column)])
        continue;
      parts_.push_back({static_cast<float>(column) + 0.5F, static_cast<float>(row) + 0.5F,
                        0.5F * (first.near + first.far)});
      see(column, row, first);
      while (!waiting.empty()) {
        const auto [x, y] = waiting.back();
        waiting.pop_back();
        const TileRange& from = range(x, y);
        see(x - 1, y, from);
        see(x + 1, y, from);
        see(x, y - 1, from);
        see(x, y + 1, from);
      }
    }
}

}  // namespace isotact::detail
