// Where an object is, on the CPU, as coarsely as tiles of its depth map: enough to tell which few
// triangles of an environment may meet it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::detail {

// Of a map: where the object is, as shaders/depth_once.comp reads it.
struct CoveredTile {
  std::uint32_t number = 0;
  float near = 0, far = 0;      // parts of the box's depth
  std::uint32_t has_probe = 0;  // 1: counts windings of each element somewhere
};
static_assert(sizeof(CoveredTile) == 16);

// Depths of a tile's solid, parts of the box's depth. Empty ones meet nothing, however deep it is.
struct TileRange {
  float near = std::numeric_limits<float>::infinity();
  float far = -std::numeric_limits<float>::infinity();
};

// Places are in tiles of 16 x 16 pixels across, and parts of the box's depth.
class SolidTiles {
 public:
  void set(int columns, int rows, std::span<const CoveredTile> covered);

  int columns() const { return levels_.front().columns; }
  int rows() const { return levels_.front().rows; }
  const TileRange& range(int column, int row) const { return levels_.front().at(column, row); }
  // In the list that it was made of; of covered tiles.
  std::uint32_t place(int column, int row) const {
    return places_[static_cast<std::size_t>(row * columns() + column)];
  }

  // Tiles that a box touches; none where first > last.
  struct Span {
    int first_column, last_column, first_row, last_row;
    bool is_empty() const { return first_column > last_column || first_row > last_row; }
  };
  Span find_span(const Vec3f& lower, const Vec3f& upper) const;
  // False: the box touches no solid. True where it touches one, or is so near that it takes smaller
  // boxes to tell: at most nine ranges are looked at.
  bool may_meet(const Vec3f& lower, const Vec3f& upper) const;

 private:
  struct Level {
    int columns = 1, rows = 1;
    std::vector<TileRange> ranges{1};
    const TileRange& at(int column, int row) const {
      return ranges[static_cast<std::size_t>(row * columns + column)];
    }
  };
  std::vector<Level> levels_{1};  // tiles first, then four in one each time
  std::vector<std::uint32_t> places_{0};
};

}  // namespace isotact::detail
