#include "plot.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::bench {
namespace {

constexpr double kWidth = 720, kHeight = 300, kLeft = 64, kRight = 210, kTop = 30, kBottom = 42;
constexpr const char* kInks[] = {"#286eaa", "#d2691e", "#2e8b57", "#b03060", "#6a5acd",
                                 "#888888", "#c8a000", "#00838f", "#5d4037"};

// A range of values and where it lies in the picture.
struct Axis {
  double from = 0, to = 1, begin = 0, end = 1;
  bool is_log = false;

  double at(double value) const {
    const auto place = [this](double v) { return is_log ? std::log10(v) : v; };
    return begin + (place(value) - place(from)) / (place(to) - place(from)) * (end - begin);
  }
  // Where lines of the grid are.
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (is_log) {
      for (double t = from; t <= to * 1.001; t *= 10) result.push_back(t);
      return result;
    }
    const double rough = (to - from) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
    const double step = unit * (rough < 2 * unit ? 2 : rough < 5 * unit ? 5 : 10);
    for (double t = std::ceil(from / step) * step; t <= to + 1e-9 * step; t += step)
      result.push_back(std::abs(t) < 1e-9 * step ? 0 : t);
    return result;
  }
};

Axis make_axis(const Plot& plot, double PlotPoint::*part, bool is_log) {
  Axis axis{.from = 1e300, .to = -1e300, .is_log = is_log};
  for (const PlotLine& line : plot.lines)
    for (const PlotPoint& p : line.points) {
      if (is_log && !(p.*part > 0)) continue;
      axis.from = std::min(axis.from, p.*part);
      axis.to = std::max(axis.to, p.*part);
    }
  if (!(axis.from < axis.to)) axis.from = is_log ? 0.1 : axis.from - 1, axis.to = axis.from + 2;
  if (!is_log) return axis;
  axis.from = std::pow(10, std::floor(std::log10(axis.from)));
  axis.to = std::pow(10, std::ceil(std::log10(axis.to)));
  return axis;
}

// The least and most of every two pixels: as good as all points, and small.
std::string path_of(const PlotLine& line, const Axis& x, const Axis& y) {
  std::string path;
  const auto add = [&](double px, double py) {
    path += fmt::format("{}{:.0f},{:.1f}", path.empty() ? "" : " ", px, py);
  };
  for (std::size_t i = 0; i < line.points.size();) {
    const double column = std::floor(x.at(line.points[i].x) / 2);
    double least = 1e300, most = -1e300;
    for (; i < line.points.size() && std::floor(x.at(line.points[i].x) / 2) == column; ++i) {
      if (y.is_log && !(line.points[i].y > 0)) continue;
      const double py = std::clamp(y.at(line.points[i].y), y.end, y.begin);
      least = std::min(least, py);
      most = std::max(most, py);
    }
    if (least > most) continue;
    add(2 * column, least);
    if (most > least + 0.1) add(2 * column, most);
  }
  return path;
}

std::string draw_panel(const Plot& plot, double top) {
  Axis x = make_axis(plot, &PlotPoint::x, plot.is_log_x),
       y = make_axis(plot, &PlotPoint::y, plot.is_log);
  x.begin = kLeft, x.end = kWidth - kRight;
  y.begin = top + kHeight - kBottom, y.end = top + kTop;
  std::string out = fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", kLeft,
                                top + 18, plot.title);
  for (const double t : x.ticks())
    out += fmt::format(
        "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:g}</text>\n",
        x.at(t), y.begin, y.end, y.begin + 15, t);
  for (const double t : y.ticks())
    out += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:g}</text>\n",
        x.begin, y.at(t), x.end, x.begin - 6, y.at(t) + 4, t);
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x.end, y.begin + 32,
                     plot.x_name);
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x.end, top + 18,
                     plot.y_name);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const char* ink = kInks[i % std::size(kInks)];
    out +=
        fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\" points=\"{}\"/>\n",
                    ink, path_of(plot.lines[i], x, y));
    const double row = top + kTop + 10 + 17 * static_cast<double>(i);
    out += fmt::format(
        "<path d=\"M{0} {1}h18\" stroke=\"{2}\" stroke-width=\"3\"/><text x=\"{3}\" "
        "y=\"{4}\">{5}</text>\n",
        x.end + 12, row, ink, x.end + 36, row + 4, plot.lines[i].name);
  }
  return out;
}

void save(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error({.file = path.string()}, "can not be written");
}

// Long form, since lines need not share their x.
std::string to_csv(const Plot& plot) {
  std::string text = fmt::format("line,{},{}\n", plot.x_name, plot.y_name);
  for (const PlotLine& line : plot.lines)
    for (const PlotPoint& p : line.points)
      text += fmt::format("\"{}\",{:g},{:g}\n", line.name, p.x, p.y);
  return text;
}

}  // namespace

std::vector<PlotPoint> thin_out(const std::vector<PlotPoint>& points, std::size_t columns) {
  if (points.size() <= 2 * columns) return points;
  double from = points.front().x, to = from;
  for (const PlotPoint& p : points) from = std::min(from, p.x), to = std::max(to, p.x);
  const double width = (to - from) / static_cast<double>(columns);
  if (!(width > 0)) return {points.front()};
  std::vector<PlotPoint> thin;
  for (std::size_t i = 0; i < points.size();) {
    const double column = std::floor((points[i].x - from) / width);
    std::size_t least = i, most = i;
    for (; i < points.size() && std::floor((points[i].x - from) / width) == column; ++i) {
      if (points[i].y < points[least].y) least = i;
      if (points[i].y > points[most].y) most = i;
    }
    thin.push_back(points[std::min(least, most)]);
    if (least != most) thin.push_back(points[std::max(least, most)]);
  }
  return thin;
}

void write_plot(const std::filesystem::path& folder, const std::string& name,
                const std::vector<Plot>& panels) {
  if (folder.empty()) return;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#3c3e44\">\n<rect width=\"{0}\" "
      "height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, kHeight * static_cast<double>(panels.size()));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    svg += draw_panel(panels[i], kHeight * static_cast<double>(i));
    save(folder / fmt::format("{}_{}.csv", name, i + 1), to_csv(panels[i]));
  }
  save(folder / (name + ".svg"), svg + "</svg>\n");
}

}  // namespace isotact::bench
