// Curves as a figure: .svg to look at, .csv with the numbers.
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
  bool is_log = false;  // y; what is not above 0 is left out
  std::vector<PlotLine> lines{};
  bool is_log_x = false;  // all x must be above 0
};

// Panels one above the other, in FOLDER/NAME.svg and, a row a point, FOLDER/NAME_1.csv and so
// on. Lines of many points are drawn by the least and most of each column of pixels. Does nothing
// where the folder's name is empty. Throws Error where a file can not be written.
void write_plot(const std::filesystem::path& folder, const std::string& name,
                const std::vector<Plot>& panels);

// The least and most of each of `columns` equal parts of x, in order: as good as all points for
// the eye, and few.
std::vector<PlotPoint> thin_out(const std::vector<PlotPoint>& points, std::size_t columns);

}  // namespace isotact::bench
