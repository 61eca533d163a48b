#include "isotact/gpu/detail/solid_tiles.h"

#include <algorithm>
#include <cmath>

namespace isotact::detail {
namespace {

void widen(TileRange& range, const TileRange& other) {
  range.near = std::min(range.near, other.near);
  range.far = std::max(range.far, other.far);
}

// The tile of a place, of `count`; -1 and `count` for all that is before and behind them.
int find_tile(float place, int count) {
  return static_cast<int>(
      std::floor(std::clamp(place, -1.0F, static_cast<float>(count))));
}

}  // namespace

void SolidTiles::set(int columns, int rows, std::span<const CoveredTile> covered) {
  const auto count = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  levels_.assign(1, {columns, rows, std::vector<TileRange>(count)});
  places_.assign(count, 0);
  for (std::size_t i = 0; i < covered.size(); ++i) {
    levels_[0].ranges[covered[i].number] = {covered[i].near, covered[i].far};
    places_[covered[i].number] = static_cast<std::uint32_t>(i);
  }
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
}

SolidTiles::Span SolidTiles::find_span(const Vec3f& lower, const Vec3f& upper) const {
  return {std::max(0, find_tile(lower.x, columns())),
          std::min(columns() - 1, find_tile(upper.x, columns())),
          std::max(0, find_tile(lower.y, rows())), std::min(rows() - 1, find_tile(upper.y, rows()))};
}

bool SolidTiles::may_meet(const Vec3f& lower, const Vec3f& upper) const {
  const Span span = find_span(lower, upper);
  if (span.is_empty()) return false;
  unsigned level = 0;
  const int size = std::max(span.last_column - span.first_column, span.last_row - span.first_row);
  while (size >> level > 1) ++level;  // then at most three on each side
  const Level& looked = levels_[std::min<std::size_t>(level, levels_.size() - 1)];
  for (int row = span.first_row >> level; row <= span.last_row >> level; ++row)
    for (int column = span.first_column >> level; column <= span.last_column >> level; ++column) {
      const TileRange& range = looked.at(column, row);
      if (range.near <= upper.z && range.far >= lower.z) return true;
    }
  return false;
}

}  // namespace isotact::detail
