// Curves as SVG.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "page.h"

namespace isotact::tool {
namespace {

constexpr double kFigureWidth = 640, kPlotHeight = 210, kPlotLeft = 62, kPlotRight = 16;
constexpr double kPlotTop = 34, kPlotBottom = 40, kLegendRow = 18;
constexpr std::size_t kLegendColumns = 3;
// Seen on white and on black, and by most eyes apart from each other.
constexpr const char* kLineInks[] = {"#d1711c", "#2f9e6e", "#3f7fd9", "#b5508f",
                                     "#8a8f98", "#c7a100", "#19a0b5", "#a0673f"};

// A range of values and where it lies in the picture.
struct PlotAxis {
  double from = 0, to = 1, begin = 0, end = 1;
  bool is_log = false;

  bool can_show(double value) const { return std::isfinite(value) && (!is_log || value > 0); }
  double at(double value) const {
    const double a = is_log ? std::log10(from) : from, b = is_log ? std::log10(to) : to;
    const double v = is_log ? std::log10(value) : value;
    return begin + (v - a) / (b - a) * (end - begin);
  }
  std::vector<double> ticks() const;
};

std::vector<double> PlotAxis::ticks() const {
  std::vector<double> result;
  if (is_log) {
    const int first = static_cast<int>(std::ceil(std::log10(from) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(to) + 1e-9));
    const int step = std::max(1, (last - first) / 6);
    for (int e = first; e <= last; e += step) result.push_back(std::pow(10, e));
    return result;
  }
  const double rough = (to - from) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
  const double step = unit * (rough < 2 * unit ? 2 : rough < 5 * unit ? 5 : 10);
  const double first = std::ceil(from / step);
  for (int i = 0; i <= 12 && (first + i) * step <= to + 1e-9 * step; ++i)
    result.push_back((first + i) * step);
  return result;
}

PlotAxis fit_axis(const ResultPanel& panel, bool is_x) {
  PlotAxis axis{.from = 1e300, .to = -1e300, .is_log = is_x ? panel.log_x : panel.log_y};
  for (const ResultLine& line : panel.lines)
    for (const double value : is_x ? line.x : line.y) {
      if (!axis.can_show(value)) continue;
      axis.from = std::min(axis.from, value);
      axis.to = std::max(axis.to, value);
    }
  if (axis.from > axis.to) axis.from = axis.is_log ? 1 : 0, axis.to = axis.is_log ? 10 : 1;
  if (axis.is_log && !is_x) {
    axis.from = std::pow(10, std::floor(std::log10(axis.from)));
    axis.to = std::pow(10, std::ceil(std::log10(axis.to)));
  }
  // Costs are read against zero.
  if (!axis.is_log && !is_x && axis.from > 0 && axis.from < 0.5 * axis.to) axis.from = 0;
  // One value, or many that are as good as one.
  if (!(axis.to - axis.from > 1e-9 * std::max(std::abs(axis.from), std::abs(axis.to)))) {
    const double room = axis.from == 0 ? 1 : 0.5 * std::abs(axis.from);
    axis.to = axis.is_log ? axis.from * 10 : axis.from + room;
    axis.from = axis.is_log ? axis.from : axis.from - room;
  }
  return axis;
}

std::string draw_grid(const PlotAxis& x, const PlotAxis& y, bool is_log_x_by_two) {
  std::string out;
  std::vector<double> ticks = x.ticks();
  if (is_log_x_by_two)  // less than two decades: powers of two say more
    for (ticks.clear(); ticks.size() < 12;) {
      const double next =
          ticks.empty() ? std::exp2(std::ceil(std::log2(x.from) - 1e-9)) : 2 * ticks.back();
      if (next > x.to * 1.0001) break;
      ticks.push_back(next);
    }
  for (const double t : ticks)
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
        "text-anchor=\"middle\">{4:g}</text>\n",
        x.at(t), y.begin, y.end, y.begin + 15, t);
  for (const double t : y.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:g}</text>\n",
        x.begin, y.at(t), x.end, x.begin - 6, y.at(t) + 4, t);
  return out;
}

std::string draw_line(const ResultLine& line, const PlotAxis& x, const PlotAxis& y,
                      const char* ink) {
  constexpr std::size_t kMostDots = 40;
  std::string points, dots;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!x.can_show(line.x[i]) || !y.can_show(line.y[i])) continue;
    const double px = x.at(line.x[i]), py = y.at(line.y[i]);
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", px, py);
    if (line.x.size() <= kMostDots)
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>", px, py, ink);
  }
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" points=\"{}\"/>{}\n", ink, points,
      dots);
}

double legend_height(const ResultPanel& panel) {
  return kLegendRow *
         static_cast<double>((panel.lines.size() + kLegendColumns - 1) / kLegendColumns);
}
double panel_height(const ResultPanel& panel) {
  return kPlotTop + kPlotHeight + kPlotBottom + legend_height(panel);
}

std::string draw_panel(const ResultPanel& panel, double top) {
  PlotAxis x = fit_axis(panel, true), y = fit_axis(panel, false);
  x.begin = kPlotLeft, x.end = kFigureWidth - kPlotRight;
  y.begin = top + kPlotTop + kPlotHeight, y.end = top + kPlotTop;
  std::string out = fmt::format(
      "<text x=\"{0}\" y=\"{1}\" font-weight=\"600\">{2}</text><text x=\"{3}\" y=\"{4}\" "
      "text-anchor=\"end\">{5}</text><text x=\"4\" y=\"{6}\">{7}</text>\n",
      kPlotLeft, top + 13, escape_html(panel.title), x.end, y.begin + 31, escape_html(panel.x_name),
      top + 27, escape_html(panel.y_name));
  out += draw_grid(x, y, x.is_log && x.to < 100 * x.from);
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    const char* ink = kLineInks[i % std::size(kLineInks)];
    out += draw_line(panel.lines[i], x, y, ink);
    const double column = static_cast<double>(i % kLegendColumns);
    const double px = kPlotLeft + column * (kFigureWidth - kPlotLeft) / kLegendColumns;
    const double py =
        y.begin + kPlotBottom + 4 + kLegendRow * static_cast<double>(i / kLegendColumns);
    out += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}h16\" stroke=\"{2}\" stroke-width=\"3\"/><text x=\"{3:.1f}\" "
        "y=\"{4:.1f}\">{5}</text>\n",
        px, py, ink, px + 21, py + 4, escape_html(panel.lines[i].name));
  }
  return out;
}

}  // namespace

std::string draw_figure(const ResultFigure& figure, SvgUse use) {
  constexpr double kGap = 14;
  double height = 0;
  std::string panels;
  for (const ResultPanel& panel : figure.panels) {
    panels += draw_panel(panel, height);
    height += panel_height(panel) + kGap;
  }
  const bool is_file = use == SvgUse::kFile;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" role=\"img\" "
      "font-family=\"system-ui,sans-serif\" font-size=\"11.5\" fill=\"currentColor\"{2}>"
      "<title>{3}</title>"
      "<style>.grid{{stroke:currentColor;stroke-opacity:.18}}</style>{4}\n{5}</svg>\n",
      kFigureWidth, std::max(height, 20.0),
      is_file ? fmt::format(" color=\"#1d2026\" width=\"{}\" height=\"{:.0f}\"", kFigureWidth,
                            std::max(height, 20.0))
              : "",
      escape_html(full_title(figure.paper, figure.place, figure.title)),
      is_file ? "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>" : "", panels);
}

}  // namespace isotact::tool
