#include "picture/palette.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace isotact::tool {
namespace {

struct WeightedColour {
  Rgb8 colour;
  double weight;
};

// A part of all colours, with what decides whether and where it is cut.
struct ColourBox {
  std::span<WeightedColour> colours;
  std::array<double, 3> mean{};
  double error = 0;      // sum of squares about the mean
  std::size_t axis = 0;  // of the longest spread

  explicit ColourBox(std::span<WeightedColour> part) : colours(part) {
    double weight = 0;
    std::array<double, 3> squares{};
    for (const WeightedColour& c : colours) {
      weight += c.weight;
      for (std::size_t i = 0; i < 3; ++i) mean[i] += c.weight * c.colour[i];
    }
    for (double& m : mean) m /= weight;
    for (const WeightedColour& c : colours)
      for (std::size_t i = 0; i < 3; ++i) {
        const double off = c.colour[i] - mean[i];
        squares[i] += c.weight * off * off;
      }
    error = squares[0] + squares[1] + squares[2];
    axis = static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) -
                                    squares.begin());
  }

  Rgb8 colour() const {
    const auto whole = [&](std::size_t i) { return static_cast<std::uint8_t>(mean[i] + 0.5); };
    return {whole(0), whole(1), whole(2)};
  }
};

}  // namespace

std::vector<Rgb8> choose_palette(const ColourCounts& counts, std::size_t most) {
  std::vector<WeightedColour> all;
  for (std::size_t code = 0; code < counts.size(); ++code)
    if (const std::uint32_t count = counts.count(code); count > 0)
      all.push_back({ColourCounts::colour_of(code), std::sqrt(static_cast<double>(count))});
  if (all.empty()) return {Rgb8{}};
  std::vector<ColourBox> boxes{ColourBox(all)};
  while (boxes.size() < most) {
    const auto worst =
        std::max_element(boxes.begin(), boxes.end(),
                         [](const ColourBox& a, const ColourBox& b) { return a.error < b.error; });
    if (worst->error <= 0) break;  // one colour each
    const auto [colours, mean, error, axis] = *worst;
    const double cut = mean[axis];
    // Some are on either side of their mean: neither part is empty.
    const auto middle =
        std::stable_partition(colours.begin(), colours.end(),
                              [&, on = axis](const auto& c) { return c.colour[on] <= cut; });
    const auto count = static_cast<std::size_t>(middle - colours.begin());
    if (count == 0 || count == colours.size()) break;  // rounding left no two sides
    *worst = ColourBox(colours.first(count));
    boxes.emplace_back(colours.subspan(count));
  }
  std::vector<Rgb8> palette;
  for (const ColourBox& box : boxes) palette.push_back(box.colour());
  return palette;
}

NearestColours::NearestColours(std::vector<Rgb8> palette)
    : palette_(std::move(palette)), nearest_(std::size_t{1} << 24U, kUnknown) {}

std::uint8_t NearestColours::find(const Rgb8& colour) {
  std::uint16_t& known = nearest_[ColourCounts::code_of(colour)];
  if (known != kUnknown) return static_cast<std::uint8_t>(known);
  int best = 1 << 30;
  for (std::size_t k = 0; k < palette_.size(); ++k) {
    int off = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const int d = int{palette_[k][i]} - int{colour[i]};
      off += d * d;
    }
    if (off < best) best = off, known = static_cast<std::uint16_t>(k);
  }
  return static_cast<std::uint8_t>(known);
}

}  // namespace isotact::tool
