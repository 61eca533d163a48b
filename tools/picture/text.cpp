#include "picture/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace isotact::tool {
namespace {

// The glyphs side by side, six columns each, as they look.
struct GlyphSheet {
  std::string_view characters;
  std::array<std::string_view, kTextHeight> rows;
};

constexpr std::array<GlyphSheet, 4> kSheets{{
    {"0123456789",
     {" ###    #    ###   ###     #  #####  ###  #####  ###   ###  ",
      "#   #  ##   #   # #   #   ##  #     #         # #   # #   # ",
      "#  ##   #       #     #  # #  ####  #        #  #   # #   # ",
      "# # #   #     ##    ##  #  #      # ####    #    ###   #### ",
      "##  #   #    #        # #####     # #   #   #   #   #     # ",
      "#   #   #   #     #   #    #  #   # #   #   #   #   #     # ",
      " ###   ###  #####  ###     #   ###   ###    #    ###   ###  ",
      "                                                            ",
      "                                                            "}},
    {"abcdefghijklm",
     {"      #               #         ##        #       #      #  #      ##         ",
      "      #               #        #          #                 #       #         ",
      " ###  ####   ###   ####  ###  ####   #### # ##   ##     ##  #  #    #   ## #  ",
      "    # #   # #     #   # #   #  #    #   # ##  #   #      #  # #     #   # # # ",
      " #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # # ",
      "#   # #   # #     #   # #      #    #   # #   #   #      #  # #     #   # # # ",
      " #### ####   ###   ####  ###   #     #### #   #  ###     #  #  #   ###  # # # ",
      "                                        #             #  #                    ",
      "                                     ###               ##                     "}},
    {"nopqrstuvwxyz",
     {"                                     #                                        ",
      "                                     #                                        ",
      "# ##   ###  ####   #### # ##   #### ####  #   # #   # #   # #   # #   # ##### ",
      "##  # #   # #   # #   # ##  # #      #    #   # #   # # # #  # #  #   #    #  ",
      "#   # #   # #   # #   # #      ###   #    #   # #   # # # #   #   #   #   #   ",
      "#   # #   # #   # #   # #         #  #    #  ##  # #  # # #  # #  #   #  #    ",
      "#   #  ###  ####   #### #     ####    ##   ## #   #    # #  #   #  #### ##### ",
      "            #         #                                               #       ",
      "            #         #                                            ###        "}},
    {".,:-+=()/%_ ",
     {"                                       #   #        # ##  #             ",
      "                                      #     #       # ##  #             ",
      "             ##           #          #       #     #     #              ",
      "             ##   ####    #   ####   #       #    #     #               ",
      "                        #####        #       #   #     #                ",
      " ##    ##    ##           #   ####    #     #   #     #  ##             ",
      " ##    ##    ##           #            #   #    #     #  ## #####       ",
      "        #                                                               ",
      "       #                                                                "}},
}};

constexpr bool sheets_are_whole() {
  for (const GlyphSheet& sheet : kSheets)
    for (const std::string_view row : sheet.rows)
      if (row.size() != sheet.characters.size() * kTextAdvance) return false;
  return true;
}
static_assert(sheets_are_whole());

bool is_inked(char c, int column, int row) {
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const GlyphSheet& sheet : kSheets) {
    const std::size_t place = sheet.characters.find(c);
    if (place != std::string_view::npos)
      return sheet.rows[static_cast<std::size_t>(row)]
                       [place * kTextAdvance + static_cast<std::size_t>(column)] == '#';
  }
  return row < kTextAscent && (column == 0 || column == 4 || row == 0 || row == kTextAscent - 1);
}

std::size_t place_of(const Picture& picture, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
         static_cast<std::size_t>(x);
}

// From the middle of a pixel to the stroke's middle line.
double distance_to(const Stroke& s, double x, double y) {
  const double dx = s.x1 - s.x0, dy = s.y1 - s.y0;
  const double along = dx * dx + dy * dy;
  const double t =
      along > 0 ? std::clamp(((x - s.x0) * dx + (y - s.y0) * dy) / along, 0.0, 1.0) : 0;
  const double off_x = x - s.x0 - t * dx, off_y = y - s.y0 - t * dy;
  return std::sqrt(off_x * off_x + off_y * off_y);
}

}  // namespace

void fill_box(Picture& picture, int x0, int y0, int x1, int y1, const Rgb8& ink) {
  for (int y = std::max(y0, 0); y < std::min(y1, picture.height); ++y)
    for (int x = std::max(x0, 0); x < std::min(x1, picture.width); ++x)
      picture.pixels[place_of(picture, x, y)] = ink;
}

void draw_text(Picture& picture, int x, int y, int scale, std::string_view text, const Rgb8& ink) {
  for (const char c : text) {
    for (int row = 0; row < kTextHeight; ++row)
      for (int column = 0; column < kTextAdvance - 1; ++column)
        if (is_inked(c, column, row))
          fill_box(picture, x + column * scale, y + row * scale, x + (column + 1) * scale,
                   y + (row + 1) * scale, ink);
    x += kTextAdvance * scale;
  }
}

void draw_line(Picture& picture, const Stroke& stroke, const Rgb8& ink) {
  const double reach = stroke.width / 2 + 1;
  const auto pixel = [](double at, int size) {
    return static_cast<int>(std::clamp(at, 0.0, static_cast<double>(size)));
  };
  const int left = pixel(std::min(stroke.x0, stroke.x1) - reach, picture.width);
  const int right = pixel(std::max(stroke.x0, stroke.x1) + reach + 1, picture.width);
  const int top = pixel(std::min(stroke.y0, stroke.y1) - reach, picture.height);
  const int bottom = pixel(std::max(stroke.y0, stroke.y1) + reach + 1, picture.height);
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const double cover =
          std::clamp(stroke.width / 2 + 0.5 - distance_to(stroke, x + 0.5, y + 0.5), 0.0, 1.0);
      Rgb8& p = picture.pixels[place_of(picture, x, y)];
      if (cover > 0) p = blend(p, ink, cover);
    }
}

Rgb8 blend(const Rgb8& a, const Rgb8& b, double t) {
  Rgb8 mixed;
  for (std::size_t i = 0; i < 3; ++i)
    mixed[i] = static_cast<std::uint8_t>(std::lround(a[i] + (b[i] - a[i]) * t));
  return mixed;
}

}  // namespace isotact::tool
