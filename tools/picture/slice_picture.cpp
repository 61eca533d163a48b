#include "picture/slice_picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "picture/colours.h"
#include "picture/text.h"

namespace isotact::tool {
namespace {

constexpr Rgb8 kPaper{255, 255, 255}, kInk = kZero;
constexpr int kSub = 2;  // samples a pixel, along each side
constexpr std::array<Rgb8, 3> kInsideStops{kInsideNear, kInside, kInsideFar};
constexpr std::array<Rgb8, 3> kOutsideStops{kOutsideNear, kOutside, kOutsideFar};

// 1, 2 or 5 times a power of ten, the nearest not below x.
double nice_above(double x) {
  double power = 1;
  while (power > x) power /= 10;
  while (power * 10 <= x) power *= 10;
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= x * (1 - 1e-9)) return power * factor;
  return power * 10;
}

struct Unit {
  const char* name;
  double metres;
};

Unit unit_for(double length) {
  if (length >= 2000) return {"km", 1000};
  if (length >= 2) return {"m", 1};
  if (length >= 0.002) return {"mm", 0.001};
  return {"um", 1e-6};
}

// Without digits that say nothing.
std::string number(double x) { return fmt::format("{:.6g}", std::abs(x) < 1e-9 ? 0 : x); }

// Where a point of the cut lies in the picture: right and up are axes with signs.
struct View {
  std::size_t axis, right, up;
  double right_sign, up_sign;
};

View view_along(std::size_t axis) {
  if (axis == 0) return {0, 2, 1, -1, 1};
  if (axis == 1) return {1, 0, 2, 1, -1};
  return {2, 0, 1, 1, 1};
}

struct Layout {
  int scale;                     // of the text
  int left, top, width, height;  // of the plot
  int legend_left;
  double pixel;  // metres
};

Layout lay_out(const SliceSettings& s, const View& view) {
  Layout l{};
  if (s.width < 200 || s.width > 16384)
    throw Error(fmt::format("slice: the width is {}; it must be from 200 to 16384", s.width));
  l.scale = std::max(1, (s.width + 300) / 600);
  const int gap = 4 * l.scale;
  const int legend = 15 * kTextAdvance * l.scale;
  l.left = gap;
  l.top = kTextHeight * l.scale + 2 * gap;
  l.width = s.width - legend - 3 * gap;
  l.legend_left = l.left + l.width + gap;
  const Vec3 size = extent(s.box);
  l.pixel = size[view.right] / l.width;
  const double height = size[view.up] / l.pixel;
  if (!(l.pixel > 0) || !(height >= 0.5) || height > 16384)
    throw Error("slice: the box is too flat or too long to be drawn");
  l.height = std::max(static_cast<int>(std::lround(height)), 16 * kTextHeight * l.scale);
  return l;
}

class SlicePainter {
 public:
  SlicePainter(const std::function<double(const Vec3&)>& value, const SliceSettings& settings)
      : value_(value),
        settings_(settings),
        view_(view_along(settings.axis)),
        layout_(lay_out(settings, view_)) {}

  SlicePicture paint() {
    const Layout& l = layout_;
    const int below = 2 * kTextHeight * l.scale + 4 * l.scale;
    Picture& p = result_.picture;
    p = {settings_.width, l.top + l.height + below, {}};
    p.pixels.assign(static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height), kPaper);
    sample();
    paint_plot();
    paint_lines();
    paint_title();
    paint_scale_bar();
    paint_legend();
    return std::move(result_);
  }

 private:
  // Of a point of the plot, in pixels from its top left corner.
  Vec3 position(double x, double y) const {
    const Vec3 middle = center(settings_.box);
    Vec3 p = middle;
    p[view_.axis] = settings_.at;
    p[view_.right] += view_.right_sign * (x - layout_.width / 2.0) * layout_.pixel;
    p[view_.up] -= view_.up_sign * (y - layout_.height / 2.0) * layout_.pixel;
    return p;
  }

  // One sample around the plot on all sides, for slopes.
  int columns() const { return layout_.width * kSub + 2; }
  int rows() const { return layout_.height * kSub + 2; }
  double at(int column, int row) const {
    return static_cast<double>(
        values_[static_cast<std::size_t>(row + 1) * static_cast<std::size_t>(columns()) +
                static_cast<std::size_t>(column + 1)]);
  }

  void sample() {
    const auto width = static_cast<std::size_t>(columns());
    values_.resize(width * static_cast<std::size_t>(rows()));
    parallel_for(static_cast<std::size_t>(rows()), 4, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t row = begin; row < end; ++row)
                     for (std::size_t column = 0; column < width; ++column)
                       values_[row * width + column] = static_cast<float>(
                           value_(position((static_cast<double>(column) - 0.5) / kSub,
                                           (static_cast<double>(row) - 0.5) / kSub)));
                 });
    const auto [low, high] = std::minmax_element(values_.begin(), values_.end());
    result_.lowest = static_cast<double>(*low);
    result_.highest = static_cast<double>(*high);
    const double span = std::max(result_.highest - result_.lowest, 1e-12);
    result_.isoline_spacing = nice_above(span / 28);
  }

  Rgb8 colour(double v) const {
    if (v < 0) return ramp(kInsideStops, v / std::min(result_.lowest, -1e-12));
    return ramp(kOutsideStops, v / std::max(result_.highest, 1e-12));
  }

  Rgb8 shade(int column, int row) const {
    const double v = at(column, row);
    const double dx = (at(column + 1, row) - at(column - 1, row)) * (kSub / 2.0);
    const double dy = (at(column, row + 1) - at(column, row - 1)) * (kSub / 2.0);
    // Metres a pixel. Where the field hardly changes along the cut there are no lines, but patches
    // that the smallest error moves about: left out.
    const double slope = std::sqrt(dx * dx + dy * dy);
    const auto fade = [&](double gone, double full) {
      return std::clamp((slope / layout_.pixel - gone) / (full - gone), 0.0, 1.0);
    };
    const double level = std::round(v / result_.isoline_spacing) * result_.isoline_spacing;
    const auto line = [&](double off, double half_width, double steep) {
      return steep == 0 ? 0 : steep * std::clamp(half_width + 0.25 - off / slope, 0.0, 1.0);
    };
    const double thin =
        level == 0 ? 0 : line(std::abs(v - level), 0.3 * layout_.scale, fade(0.15, 0.4));
    const double bold = line(std::abs(v), 1.0 * layout_.scale, fade(0.02, 0.08));
    return blend(blend(colour(v), kInk, 0.6 * thin), kInk, bold);
  }

  void paint_plot() {
    Picture& p = result_.picture;
    parallel_for(static_cast<std::size_t>(layout_.height), 8, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t y = begin; y < end; ++y)
                     for (int x = 0; x < layout_.width; ++x) {
                       std::array<int, 3> sum{};
                       for (int k = 0; k < kSub * kSub; ++k) {
                         const Rgb8 c =
                             shade(x * kSub + k % kSub, static_cast<int>(y) * kSub + k / kSub);
                         for (std::size_t i = 0; i < 3; ++i) sum[i] += c[i];
                       }
                       Rgb8& pixel = p.pixels[(y + static_cast<std::size_t>(layout_.top)) *
                                                  static_cast<std::size_t>(p.width) +
                                              static_cast<std::size_t>(x + layout_.left)];
                       for (std::size_t i = 0; i < 3; ++i)
                         pixel[i] = static_cast<std::uint8_t>((sum[i] + 2) / (kSub * kSub));
                     }
                 });
  }

  // Cut to the plot: margins stay clean.
  void paint_lines() {
    if (settings_.outline == nullptr && settings_.strokes.empty()) return;
    Picture plot{layout_.width, layout_.height, {}};
    copy_plot(plot, true);
    if (settings_.outline != nullptr) {
      const auto segments = cut_mesh(*settings_.outline, settings_.axis, settings_.at);
      result_.outline_segments = segments.size();
      for (const auto& [a, b] : segments) paint_line(plot, {a, b, 0.75, kOutline});
    }
    for (const SliceStroke& stroke : settings_.strokes) paint_line(plot, stroke);
    copy_plot(plot, false);
  }

  void paint_line(Picture& plot, const SliceStroke& stroke) const {
    const Vec3 middle = center(settings_.box);
    const auto x = [&](const Vec3& p) {
      return layout_.width / 2.0 +
             view_.right_sign * (p[view_.right] - middle[view_.right]) / layout_.pixel;
    };
    const auto y = [&](const Vec3& p) {
      return layout_.height / 2.0 -
             view_.up_sign * (p[view_.up] - middle[view_.up]) / layout_.pixel;
    };
    draw_line(
        plot,
        {x(stroke.from), y(stroke.from), x(stroke.to), y(stroke.to), stroke.width * layout_.scale},
        stroke.ink);
  }

  void copy_plot(Picture& plot, bool out) {
    plot.pixels.resize(static_cast<std::size_t>(plot.width) *
                       static_cast<std::size_t>(plot.height));
    Picture& p = result_.picture;
    for (int y = 0; y < plot.height; ++y) {
      const auto there =
          p.pixels.begin() + static_cast<std::ptrdiff_t>(y + layout_.top) * p.width + layout_.left;
      const auto here = plot.pixels.begin() + static_cast<std::ptrdiff_t>(y) * plot.width;
      if (out)
        std::copy_n(there, plot.width, here);
      else
        std::copy_n(here, plot.width, there);
    }
  }

  void text(int x, int y, const std::string& words) {
    draw_text(result_.picture, x, y, layout_.scale, words, kInk);
  }

  static std::string axis_name(std::size_t axis, double sign) {
    return std::string(sign < 0 ? "-" : "+") + "xyz"[axis];
  }

  void paint_title() {
    const Unit unit = unit_for(length(extent(settings_.box)));
    text(layout_.left, 4 * layout_.scale,
         fmt::format("{} = {} {}   right: {}   up: {}", "xyz"[settings_.axis],
                     number(settings_.at / unit.metres), unit.name,
                     axis_name(view_.right, view_.right_sign), axis_name(view_.up, view_.up_sign)));
  }

  void paint_scale_bar() {
    const double wished = layout_.pixel * layout_.width / 8;
    const double bar = nice_above(wished);
    const Unit unit = unit_for(bar * 5);
    const int pixels = static_cast<int>(std::lround(bar / layout_.pixel));
    const int s = layout_.scale, y = layout_.top + layout_.height + 6 * s;
    Picture& p = result_.picture;
    fill_box(p, layout_.left, y + 4 * s, layout_.left + pixels, y + 5 * s, kInk);
    fill_box(p, layout_.left, y + s, layout_.left + s, y + 8 * s, kInk);
    fill_box(p, layout_.left + pixels - s, y + s, layout_.left + pixels, y + 8 * s, kInk);
    text(layout_.left + pixels + 6 * s, y, number(bar / unit.metres) + " " + unit.name);
    const Unit lines = unit_for(result_.isoline_spacing * 28);
    const std::string note = fmt::format(
        "isolines every {} {}", number(result_.isoline_spacing / lines.metres), lines.name);
    text(layout_.left + layout_.width - text_width(note, s), y, note);
  }

  void paint_legend() {
    const int s = layout_.scale, left = layout_.legend_left, bar = 10 * s;
    const double span = std::max(result_.highest - result_.lowest, 1e-12);
    const Unit unit = unit_for(std::max(result_.highest, -result_.lowest) * 4);
    Picture& p = result_.picture;
    text(left, layout_.top, fmt::format("distance, {}", unit.name));
    const int keys = (settings_.outline != nullptr ? 2 : 1) * 12 * s;
    const int top = layout_.top + 14 * s, bottom = layout_.top + layout_.height - keys - 8 * s;
    const auto y_of = [&](double v) {
      return bottom - static_cast<int>(std::lround((v - result_.lowest) / span * (bottom - top)));
    };
    for (int y = top; y < bottom; ++y) {
      const double v = result_.lowest + span * (bottom - y - 0.5) / (bottom - top);
      fill_box(p, left, y, left + bar, y + 1, colour(v));
    }
    // As many numbers as there is room for.
    double tick = result_.isoline_spacing;
    while (tick / span * (bottom - top) < 14 * s) tick = nice_above(tick * 1.5);
    for (double i = std::ceil(result_.lowest / tick); i * tick <= result_.highest; ++i) {
      const int y = y_of(i * tick), thick = i == 0 ? s : s / 2;
      fill_box(p, left, y - thick, left + bar, y + std::max(thick, 1), kInk);
      text(left + bar + 4 * s, y - 3 * s, number(i * tick / unit.metres));
    }
    key(bottom + 8 * s, "zero", kInk, 2 * s);
    if (settings_.outline != nullptr) {
      key(bottom + 20 * s, "mesh", kInk, 2 * s);
      key(bottom + 20 * s, "mesh", kOutline, 0.75 * s);
    }
  }

  void key(int y, const std::string& words, const Rgb8& ink, double width) {
    const int s = layout_.scale, left = layout_.legend_left;
    const double middle = y + 4.0 * s;
    draw_line(result_.picture, {left + 0.0, middle, left + 12.0 * s, middle, width}, ink);
    text(left + 16 * s, y, words);
  }

  const std::function<double(const Vec3&)>& value_;
  const SliceSettings& settings_;
  View view_;
  Layout layout_;
  std::vector<float> values_;
  SlicePicture result_;
};

}  // namespace

std::vector<std::array<Vec3, 2>> cut_mesh(const TriangleMesh& mesh, std::size_t axis, double at) {
  std::vector<std::array<Vec3, 2>> segments;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto corner = corners(mesh, i);
    std::array<Vec3, 2> ends{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 a = to_double(corner[k]), b = to_double(corner[(k + 1) % 3]);
      const double from = a[axis] - at, to = b[axis] - at;
      if ((from < 0) == (to < 0) || count == 2) continue;
      ends[count] = lerp(a, b, from / (from - to));
      ends[count++][axis] = at;
    }
    if (count == 2 && is_finite(ends[0]) && is_finite(ends[1])) segments.push_back(ends);
  }
  return segments;
}

SlicePicture draw_slice(const std::function<double(const Vec3&)>& value,
                        const SliceSettings& settings) {
  if (settings.axis > 2 || !std::isfinite(settings.at) || is_empty(settings.box))
    throw Error("slice: the axis, the place or the box is not usable");
  return SlicePainter(value, settings).paint();
}

}  // namespace isotact::tool
