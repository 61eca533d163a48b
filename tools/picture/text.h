// Small print for pictures: a font of our own, five pixels wide, drawn in whole-number sizes.
#pragma once

#include <string_view>

#include "picture/picture.h"

namespace isotact::tool {

inline constexpr int kTextHeight = 9;   // pixels at scale 1, descenders included
inline constexpr int kTextAscent = 7;   // above the baseline
inline constexpr int kTextAdvance = 6;  // from one character to the next

// Lower case, digits and the usual signs; capitals are drawn as lower case, others as a box.
constexpr int text_width(std::string_view text, int scale) {
  return static_cast<int>(text.size()) * kTextAdvance * scale;
}

// (x, y) is the top left corner; what lies outside of the picture is left out.
void draw_text(Picture& picture, int x, int y, int scale, std::string_view text, const Rgb8& ink);

// Pixels from (x0, y0) to (x1, y1), the latter not included; cut to the picture.
void fill_box(Picture& picture, int x0, int y0, int x1, int y1, const Rgb8& ink);

// A line between two points, in pixels from the top left corner, with smooth edges.
struct Stroke {
  double x0, y0, x1, y1;
  double width;  // pixels
};
void draw_line(Picture& picture, const Stroke& stroke, const Rgb8& ink);

// From a towards b by t in [0, 1], on the encoded values.
Rgb8 blend(const Rgb8& a, const Rgb8& b, double t);

}  // namespace isotact::tool
