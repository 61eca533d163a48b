// Curves as a figure: .svg for display, .csv with the numbers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isotact::bench {

struct PlotPoint {
  double x = 0, y = 0;
};
struct PlotLine {
  std::string name{};
  std::vector<PlotPoint> points{};
};
struct Plot {
  std::string title{}, x_name{}, y_name{};
  bool is_log = false;  // For y. Values that are not positive are left out.
  std::vector<PlotLine> lines{};
  bool is_log_x = false;  // All x must be positive.
};

// Writes panels one above the other to FOLDER/NAME.svg and, with one row per point, to
// FOLDER/NAME_1.csv and so on. Lines of many points are drawn by the minimum and maximum of each
// column of pixels. Does nothing if the folder's name is empty. Throws Error if a file cannot be
// written.
void write_plot(const std::filesystem::path& folder, const std::string& name,
                const std::vector<Plot>& panels);

// Returns the minimum and maximum of each of `columns` equal parts of x, in order: few points that
// appear the same as all points.
std::vector<PlotPoint> thin_out(const std::vector<PlotPoint>& points, std::size_t columns);

}  // namespace isotact::bench
