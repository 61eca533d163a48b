// A chart of points on two logarithmic axes, as a picture.
#pragma once

#include <string>
#include <vector>

#include "picture/picture.h"

namespace isotact::bench {

struct ChartPoint {
  double x = 0, y = 0;  // Positive.
};

struct LogChart {
  std::string title{}, x_name{}, y_name{};
  std::vector<ChartPoint> points{};  // Joined by a line.
  std::vector<ChartPoint> fit{};     // A thin line behind them.
};

// Covers whole decades around all points, with a line at each.
tool::Picture draw_log_chart(const LogChart& chart);

// The exponent e and factor f of f x^e by least squares of the logarithms. Needs at least two
// points.
struct PowerFit {
  double factor = 0, exponent = 0;
};
PowerFit fit_power(const std::vector<ChartPoint>& points);

}  // namespace isotact::bench
