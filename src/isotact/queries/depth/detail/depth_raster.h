// Triangles, lines and points as pixels, with exact decisions.
//
// Corners are snapped to a grid of 65536 steps per pixel (a GPU has 256), and lie at most 2^36
// pixels from the picture: 2^52 steps. Edge functions, products of two differences of coordinates,
// are therefore integers below 2^108. 128 bits suffice, and each decision is exact for the snapped
// corners. Two triangles with a common edge share its two snapped corners. A pixel centre on the
// edge belongs to exactly one of them if they lie on different sides of it. It belongs to both or
// none if they lie on one side. The surface of a solid is therefore crossed as often inwards as
// outwards, in every pixel.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "isotact/queries/depth/depth_map.h"

namespace isotact::detail {

__extension__ using RasterWide = __int128;

inline constexpr std::int64_t kRasterSteps = 65536;  // Per pixel.
inline constexpr std::int64_t kRasterHalf = kRasterSteps / 2;
inline constexpr std::int32_t kRasterStripRows = 16;

struct RasterPoint {
  std::int64_t x = 0, y = 0;  // Steps from the picture's corner.
  double z = 0;               // Metres from the view's front.
};

struct RasterPrimitive {
  std::array<RasterPoint, 3> at{};  // Lines repeat the second, points the first.
  Vec3 normal{};                    // View frame; zero for lines and points.
  std::uint32_t element = 0;        // Index into the list.
  DepthPrimitive kind = DepthPrimitive::kTriangles;
  std::int8_t facing = 0;  // +1: seen from outside, -1: from inside, 0: edge-on, or not a triangle.
};

// The drawn primitives, by strips of rows.
struct RasterScene {
  std::vector<RasterPrimitive> primitives;  // In the order of elements and indices.
  std::vector<std::uint32_t> strip_starts;  // Into strip_items; one more than strips.
  std::vector<std::uint32_t> strip_items;   // Ascending in each strip.
};

struct RasterTask {
  Pose view_from_list{};  // The frame of the elements' poses.
  DepthView view{};
  std::int32_t width = 0, height = 0;
  bool conservative = false;
  double z_first = 0, z_last = 0;  // Primitives completely beyond these are left out.
  Threads threads{};
};
// Throws Error for indices and positions that cannot be drawn; `whose` names the list.
RasterScene make_raster_scene(std::span<const DepthElement> elements, const RasterTask& task,
                              const char* whose);

struct Fragment {
  std::int32_t column = 0, row = 0;
  double z = 0;              // At the pixel's centre, or as near to it as the primitive is.
  double low = 0, high = 0;  // Over the pixel's square; both are z without `conservative`.
  bool holds_middle = true;  // False: in the pixel, but beside its centre (`conservative` only).
};

struct RasterRows {
  std::int32_t width = 0;
  std::int32_t first = 0, end = 0;
};

// A triangle with counter-clockwise corners, and its three edge functions: positive inside.
template <typename Int>
struct EdgeFunctions {
  std::array<Int, 3> dx{}, dy{}, start{};  // start: at the centre of pixel (0, 0).
  std::array<bool, 3> owns{};              // Centres on the edge belong to this triangle.
  std::array<std::size_t, 3> across{};     // The corner across edge k.
  Int area = 0;                            // Twice the area.

  explicit EdgeFunctions(const std::array<RasterPoint, 3>& p) {
    area =
        Int{p[1].x - p[0].x} * Int{p[2].y - p[0].y} - Int{p[1].y - p[0].y} * Int{p[2].x - p[0].x};
    const bool turned = area < 0;
    if (turned) area = -area;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t from = turned ? (k + 1) % 3 : k, to = turned ? k : (k + 1) % 3;
      dx[k] = p[to].x - p[from].x;
      dy[k] = p[to].y - p[from].y;
      start[k] = dx[k] * Int{kRasterHalf - p[from].y} - dy[k] * Int{kRasterHalf - p[from].x};
      owns[k] = dy[k] < 0 || (dy[k] == 0 && dx[k] < 0);  // The opposite for the reversed edge.
      across[k] = (k + 2) % 3;
    }
  }
  Int at(std::size_t k, std::int32_t column, std::int32_t row) const {
    return start[k] + (dx[k] * Int{row} - dy[k] * Int{column}) * Int{kRasterSteps};
  }
};

// Pixels whose squares [first step, last step] may meet [low, high].
struct PixelRange {
  std::int32_t first = 0, last = -1;
};
inline PixelRange compute_pixels(std::int64_t low, std::int64_t high, std::int32_t first,
                                 std::int32_t end) {
  const auto floor_of = [](std::int64_t a) {
    return a >= 0 ? a / kRasterSteps : -((-a + kRasterSteps - 1) / kRasterSteps);
  };
  return {static_cast<std::int32_t>(std::clamp<std::int64_t>(floor_of(low), first, end)),
          static_cast<std::int32_t>(
              std::clamp<std::int64_t>(floor_of(high), std::int64_t{first} - 1, end - 1))};
}

struct RasterBounds {
  std::int64_t x_low, x_high, y_low, y_high;
  double z_low, z_high;
};
inline RasterBounds compute_bounds(const RasterPrimitive& primitive) {
  const auto& [a, b, c] = primitive.at;
  return {std::min({a.x, b.x, c.x}), std::max({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}),
          std::max({a.y, b.y, c.y}), std::min({a.z, b.z, c.z}), std::max({a.z, b.z, c.z})};
}

template <typename Int, typename Emit>
void draw_triangle_middles(const RasterPrimitive& primitive, const RasterRows& rows, Emit&& emit) {
  const EdgeFunctions<Int> edges(primitive.at);
  if (edges.area == 0) return;
  const RasterBounds box = compute_bounds(primitive);
  const PixelRange across = compute_pixels(box.x_low, box.x_high, 0, rows.width);
  const PixelRange along = compute_pixels(box.y_low, box.y_high, rows.first, rows.end);
  const double inverse = 1 / static_cast<double>(edges.area);
  for (std::int32_t row = along.first; row <= along.last; ++row) {
    std::array<Int, 3> e{};
    for (std::size_t k = 0; k < 3; ++k) e[k] = edges.at(k, across.first, row);
    for (std::int32_t column = across.first; column <= across.last; ++column) {
      bool inside = true;
      for (std::size_t k = 0; k < 3; ++k)
        inside = inside && (e[k] > 0 || (e[k] == 0 && edges.owns[k]));
      if (inside) {
        // A mean with weights that are not negative: never outside the corners' depths by more than
        // rounding.
        double z = 0;
        for (std::size_t k = 0; k < 3; ++k)
          z += static_cast<double>(e[k]) * inverse * primitive.at[edges.across[k]].z;
        z = std::clamp(z, box.z_low, box.z_high);
        emit(Fragment{.column = column, .row = row, .z = z, .low = z, .high = z});
      }
      for (std::size_t k = 0; k < 3; ++k) e[k] -= edges.dy[k] * Int{kRasterSteps};
    }
  }
}

// Draws one pixel per column (or row, if the line is steeper): the one that contains the line at
// the column's centre. The line counts from its lower end up to, but excluding, its upper end.
// Chains of lines are therefore drawn without gaps and without duplicates. Lines that pass no
// centre are not drawn.
template <typename Emit>
void draw_line_middles(const RasterPrimitive& primitive, const RasterRows& rows, Emit&& emit) {
  RasterPoint a = primitive.at[0], b = primitive.at[1];
  const bool steep = std::abs(b.y - a.y) > std::abs(b.x - a.x);
  if (steep) {
    std::swap(a.x, a.y);
    std::swap(b.x, b.y);
  }
  if (a.x > b.x) std::swap(a, b);
  const std::int64_t dx = b.x - a.x, dy = b.y - a.y;
  if (dx == 0) return;
  const PixelRange along =
      compute_pixels(a.x, b.x, steep ? rows.first : 0, steep ? rows.end : rows.width);
  for (std::int32_t i = along.first; i <= along.last; ++i) {
    const std::int64_t middle = std::int64_t{i} * kRasterSteps + kRasterHalf;
    if (middle < a.x || middle >= b.x) continue;
    // floor((a.y + (middle - a.x) dy / dx) / steps), exactly.
    const RasterWide over = RasterWide{a.y} * dx + RasterWide{middle - a.x} * dy;
    const RasterWide under = RasterWide{dx} * kRasterSteps;
    const RasterWide at = over >= 0 ? over / under : -((-over + under - 1) / under);
    const std::int32_t low = steep ? 0 : rows.first, end = steep ? rows.width : rows.end;
    if (at < low || at >= end) continue;
    const double t = static_cast<double>(middle - a.x) / static_cast<double>(dx);
    const double z = a.z + (b.z - a.z) * t;
    const auto j = static_cast<std::int32_t>(at);
    emit(Fragment{.column = steep ? j : i, .row = steep ? i : j, .z = z, .low = z, .high = z});
  }
}

// Draws all pixels whose squares meet the primitive, with bounds of its depth there. Proof of
// soundness: a point q of the primitive, before snapping, is a mean of its corners. The same mean
// of the snapped corners has the same depth and lies within half a step of q in x and y. Everything
// over a pixel's square is therefore among the snapped primitive's points over the square grown by
// a step. (The other half of it covers rounding of the corners before they are snapped.)
template <typename Int, typename Emit>
void draw_whole_squares(const RasterPrimitive& primitive, const RasterRows& rows, Emit&& emit) {
  constexpr double kRounding = 0x1p-50;
  const EdgeFunctions<Int> edges(primitive.at);
  const RasterBounds box = compute_bounds(primitive);
  const PixelRange across = compute_pixels(box.x_low - 1, box.x_high + 1, 0, rows.width);
  const PixelRange along = compute_pixels(box.y_low - 1, box.y_high + 1, rows.first, rows.end);
  // Change of an edge function from the centre to the grown square's corner.
  std::array<Int, 3> reach{};
  for (std::size_t k = 0; k < 3; ++k) {
    const Int x = edges.dx[k] < 0 ? -edges.dx[k] : edges.dx[k];
    const Int y = edges.dy[k] < 0 ? -edges.dy[k] : edges.dy[k];
    reach[k] = (x + y) * Int{kRasterHalf + 1};
  }
  // Depth over the square: that of the plane at the centre, and its slope, with possible rounding
  // of sums of three products. z_low is subtracted first, so that nothing large cancels.
  const double inverse = edges.area == 0 ? 0 : 1 / static_cast<double>(edges.area);
  double slope_x = 0, slope_y = 0, slope_size = 0;
  std::array<double, 3> z{};
  for (std::size_t k = 0; k < 3; ++k) {
    z[k] = primitive.at[edges.across[k]].z - box.z_low;
    const double x = static_cast<double>(edges.dy[k]) * inverse * z[k];
    const double y = static_cast<double>(edges.dx[k]) * inverse * z[k];
    slope_x -= x;
    slope_y += y;
    slope_size += std::abs(x) + std::abs(y);
  }
  const double z_reach =
      (std::abs(slope_x) + std::abs(slope_y) + kRounding * slope_size) * (kRasterHalf + 1.0);
  for (std::int32_t row = along.first; row <= along.last; ++row)
    for (std::int32_t column = across.first; column <= across.last; ++column) {
      bool meets = true, holds_middle = edges.area != 0;
      double middle = 0, size = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const Int e = edges.at(k, column, row);
        meets = meets && e + reach[k] >= 0;
        holds_middle = holds_middle && (e > 0 || (e == 0 && edges.owns[k]));
        const double part = static_cast<double>(e) * inverse * z[k];
        middle += part;
        size += std::abs(part);
      }
      if (!meets) continue;
      Fragment fragment{.column = column, .row = row, .holds_middle = holds_middle};
      if (edges.area == 0) {
        fragment.low = box.z_low;
        fragment.high = box.z_high;
        fragment.z = (box.z_low + box.z_high) / 2;
      } else {
        const double room = z_reach + kRounding * size, height = box.z_high - box.z_low;
        fragment.low = box.z_low + std::clamp(middle - room, 0.0, height);
        fragment.high = box.z_low + std::clamp(middle + room, 0.0, height);
        fragment.z = box.z_low + std::clamp(middle, 0.0, height);
      }
      // Rounding of the corners' own depths, from the poses on.
      const double error =
          0x1p-46 * std::max({std::abs(box.z_low), std::abs(box.z_high), 0x1p-100});
      fragment.low -= error;
      fragment.high += error;
      emit(fragment);
    }
}

// Reduces the depths of a line's fragment to those over the pixel's square, grown by a step.
void narrow_to_square(const RasterPrimitive& line, Fragment& fragment);

// Calls emit(Fragment) for all pixels of the rows in which the primitive shows.
template <typename Emit>
void draw_primitive(const RasterPrimitive& primitive, const RasterRows& rows, bool conservative,
                    Emit&& emit) {
  // With coordinates below 2^28 steps, edge functions stay below 2^60, and below 2^62 with the
  // addition for the grown square.
  constexpr std::int64_t kNarrow = std::int64_t{1} << 28;
  const RasterBounds box = compute_bounds(primitive);
  const bool narrow =
      box.x_low > -kNarrow && box.x_high < kNarrow && box.y_low > -kNarrow && box.y_high < kNarrow;
  if (conservative) {
    const auto pass = [&](Fragment& fragment) {
      if (primitive.kind == DepthPrimitive::kLines) narrow_to_square(primitive, fragment);
      emit(fragment);
    };
    const auto take = [&](Fragment fragment) { pass(fragment); };
    if (narrow)
      draw_whole_squares<std::int64_t>(primitive, rows, take);
    else
      draw_whole_squares<RasterWide>(primitive, rows, take);
  } else if (primitive.kind == DepthPrimitive::kTriangles) {
    if (narrow)
      draw_triangle_middles<std::int64_t>(primitive, rows, emit);
    else
      draw_triangle_middles<RasterWide>(primitive, rows, emit);
  } else if (primitive.kind == DepthPrimitive::kLines) {
    draw_line_middles(primitive, rows, emit);
  } else {
    const RasterPoint& p = primitive.at[0];
    const PixelRange column = compute_pixels(p.x, p.x, 0, rows.width);
    const PixelRange row = compute_pixels(p.y, p.y, rows.first, rows.end);
    if (column.first <= column.last && row.first <= row.last)
      emit(Fragment{.column = column.first, .row = row.first, .z = p.z, .low = p.z, .high = p.z});
  }
}

}  // namespace isotact::detail
