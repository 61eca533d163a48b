// The extent of an object on the CPU, as coarse as tiles of its depth map. This is enough to find
// the few triangles of an environment that may meet it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/gpu/depth/detail/depth_layout.h"

namespace isotact::detail {

// Depths of a tile's solid, fractions of the box's depth. Empty ones meet nothing at any depth.
struct TileRange {
  float near = std::numeric_limits<float>::infinity();
  float far = -std::numeric_limits<float>::infinity();
};

// Positions are in tiles (kDepthTile) across, and in fractions of the box's depth.
class SolidTiles {
 public:
  void set(int columns, int rows, std::span<const CoveredTile> covered);

  int columns() const { return levels_.front().columns; }
  int rows() const { return levels_.front().rows; }
  const TileRange& range(int column, int row) const { return levels_.front().at(column, row); }

  // Tiles that a box touches; none if first > last.
  struct Span {
    int first_column, last_column, first_row, last_row;
    bool is_empty() const { return first_column > last_column || first_row > last_row; }
  };
  Span compute_span(const Vec3f& lower, const Vec3f& upper) const {
    const auto clip = [](float place, int count) {
      return static_cast<int>(std::clamp(place, 0.0F, static_cast<float>(count)));
    };
    // Beside all tiles: empty.
    return {upper.x < 0 ? columns() : clip(lower.x, columns()),
            std::min(columns() - 1, clip(upper.x, columns())),
            upper.y < 0 ? rows() : clip(lower.y, rows()),
            std::min(rows() - 1, clip(upper.y, rows()))};
  }
  // False: the box touches no solid. True if it touches one, or is so near that only smaller boxes
  // could decide: at most nine ranges are tested.
  bool may_meet(const Vec3f& lower, const Vec3f& upper) const {
    const Span span = compute_span(lower, upper);
    if (span.is_empty()) return false;
    const int size = std::max(span.last_column - span.first_column, span.last_row - span.first_row);
    // The level at which three parts on each side suffice.
    const auto level =
        static_cast<unsigned>(size > 1 ? std::bit_width(static_cast<unsigned>(size)) - 1 : 0);
    const Level& looked = levels_[level];
    for (int row = span.first_row >> level; row <= span.last_row >> level; ++row)
      for (int column = span.first_column >> level; column <= span.last_column >> level; ++column) {
        const TileRange& range = looked.at(column, row);
        if (range.near <= upper.z && range.far >= lower.z) return true;
      }
    return false;
  }

  // Returns a position in each connected part of the tiles' boxes, which are treated as solid. A
  // shape that touches none of the boxes cannot separate two positions of a part.
  const std::vector<Vec3f>& parts() const { return parts_; }

  // Returns whether `is_met(column, row)` is false for all tiles in which a box touches the solid.
  template <typename IsMet>
  bool none_met(const Vec3f& lower, const Vec3f& upper, const IsMet& is_met) const {
    const Span span = compute_span(lower, upper);
    if (span.is_empty()) return true;
    const auto meets = [&](const TileRange& r) { return r.near <= upper.z && r.far >= lower.z; };
    // Parts of 4 x 4 tiles first.
    constexpr unsigned kPart = 2;
    const unsigned level = std::min(kPart, static_cast<unsigned>(levels_.size() - 1));
    for (int y = span.first_row >> level; y <= span.last_row >> level; ++y)
      for (int x = span.first_column >> level; x <= span.last_column >> level; ++x) {
        if (!meets(levels_[level].at(x, y))) continue;
        const int end_row = std::min(span.last_row, ((y + 1) << level) - 1);
        const int end_column = std::min(span.last_column, ((x + 1) << level) - 1);
        for (int row = std::max(span.first_row, y << level); row <= end_row; ++row)
          for (int column = std::max(span.first_column, x << level); column <= end_column; ++column)
            if (meets(levels_[0].at(column, row)) && is_met(column, row)) return false;
      }
    return true;
  }

 private:
  struct Level {
    int columns = 1, rows = 1;
    std::vector<TileRange> ranges{1};
    const TileRange& at(int column, int row) const {
      return ranges[static_cast<std::size_t>(row * columns + column)];
    }
  };
  std::vector<Level> levels_{1};  // Tiles first, then groups of four each time.
  std::vector<Vec3f> parts_;

  void find_parts();
};

}  // namespace isotact::detail
