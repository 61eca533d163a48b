#include "chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "picture/text.h"

namespace isotact::bench {
namespace {

using tool::Rgb8;

constexpr int kWidth = 640, kHeight = 440, kLeft = 70, kRight = 20, kTop = 34, kBottom = 46;
constexpr Rgb8 kPaper{255, 255, 255}, kGrid{222, 224, 228}, kInk{60, 62, 68}, kLine{40, 110, 170},
    kFit{224, 160, 60};

// One axis: decades, and where they are in the picture.
struct Axis {
  int from = 0, to = 1;  // powers of ten
  double begin = 0, end = 0;

  double at(double value) const {
    return begin + (std::log10(value) - from) / (to - from) * (end - begin);
  }
};

Axis make_axis(const LogChart& chart, double ChartPoint::*part, double begin, double end) {
  double least = 1e300, most = 1e-300;
  for (const ChartPoint& p : chart.points) {
    least = std::min(least, p.*part);
    most = std::max(most, p.*part);
  }
  Axis axis{static_cast<int>(std::floor(std::log10(least) + 1e-9)),
            static_cast<int>(std::ceil(std::log10(most) - 1e-9)), begin, end};
  axis.to = std::max(axis.to, axis.from + 1);
  return axis;
}

void draw_lines(tool::Picture& picture, const std::vector<ChartPoint>& points, const Axis& x,
                const Axis& y, double width, const Rgb8& ink) {
  for (std::size_t i = 1; i < points.size(); ++i)
    tool::draw_line(
        picture,
        {x.at(points[i - 1].x), y.at(points[i - 1].y), x.at(points[i].x), y.at(points[i].y), width},
        ink);
}

}  // namespace

tool::Picture draw_log_chart(const LogChart& chart) {
  tool::Picture picture{kWidth, kHeight, {}};
  picture.pixels.assign(static_cast<std::size_t>(kWidth) * kHeight, kPaper);
  const Axis x = make_axis(chart, &ChartPoint::x, kLeft, kWidth - kRight);
  const Axis y = make_axis(chart, &ChartPoint::y, kHeight - kBottom, kTop);
  for (int d = x.from; d <= x.to; ++d) {
    const double at = x.at(std::pow(10, d));
    tool::draw_line(picture, {at, y.begin, at, y.end, 1}, kGrid);
    const std::string text = fmt::format("{:g}", std::pow(10, d));
    tool::draw_text(picture, static_cast<int>(at) - tool::text_width(text, 1) / 2,
                    kHeight - kBottom + 8, 1, text, kInk);
  }
  for (int d = y.from; d <= y.to; ++d) {
    const double at = y.at(std::pow(10, d));
    tool::draw_line(picture, {x.begin, at, x.end, at, 1}, kGrid);
    const std::string text = fmt::format("{:g}", std::pow(10, d));
    tool::draw_text(picture, kLeft - 8 - tool::text_width(text, 1), static_cast<int>(at) - 4, 1,
                    text, kInk);
  }
  draw_lines(picture, chart.fit, x, y, 1.5, kFit);
  draw_lines(picture, chart.points, x, y, 2, kLine);
  for (const ChartPoint& p : chart.points)
    tool::draw_line(picture, {x.at(p.x) - 0.01, y.at(p.y), x.at(p.x) + 0.01, y.at(p.y), 8}, kLine);
  tool::draw_text(picture, kWidth - kRight - tool::text_width(chart.title, 1), 12, 1, chart.title,
                  kInk);
  tool::draw_text(picture, kWidth - kRight - tool::text_width(chart.x_name, 1), kHeight - 18, 1,
                  chart.x_name, kInk);
  tool::draw_text(picture, 8, 12, 1, chart.y_name, kInk);
  return picture;
}

PowerFit fit_power(const std::vector<ChartPoint>& points) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(points.size());
  for (const ChartPoint& p : points) {
    const double x = std::log(p.x), y = std::log(p.y);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double exponent = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  return {std::exp((sy - exponent * sx) / n), exponent};
}

}  // namespace isotact::bench
