// Small text for pictures: a font of our own, five pixels wide, drawn in whole-number sizes.
#pragma once

#include <string_view>

#include "picture/picture.h"

namespace isotact::tool {

inline constexpr int kTextHeight = 9;   // Pixels at scale 1, including descenders.
inline constexpr int kTextAscent = 7;   // Above the baseline.
inline constexpr int kTextAdvance = 6;  // From one character to the next.

// Lower case, digits and common signs. Capitals are drawn as lower case, other characters as a box.
constexpr int text_width(std::string_view text, int scale) {
  return static_cast<int>(text.size()) * kTextAdvance * scale;
}

// (x, y) is the top left corner. Parts outside the picture are left out.
void draw_text(Picture& picture, int x, int y, int scale, std::string_view text, const Rgb8& ink);

// Fills pixels from (x0, y0) to (x1, y1), the latter not included, clipped to the picture.
void fill_box(Picture& picture, int x0, int y0, int x1, int y1, const Rgb8& ink);

// A line between two points, in pixels from the top left corner, with smooth edges.
struct Stroke {
  double x0, y0, x1, y1;
  double width;  // Pixels.
};
void draw_line(Picture& picture, const Stroke& stroke, const Rgb8& ink);

// Blends a towards b by t in [0, 1], on the encoded values.
Rgb8 blend(const Rgb8& a, const Rgb8& b, double t);

}  // namespace isotact::tool
