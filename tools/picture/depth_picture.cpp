#include "depth_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "isotact/base/error.h"

#include "picture/colours.h"
#include "picture/text.h"

namespace isotact::tool {
namespace {

constexpr int kGap = 8, kTitle = 16, kSmallest = 256;
constexpr Rgb8 kPaper{250, 250, 248}, kNothing{235, 235, 232}, kLight{255, 255, 255}, kDark = kZero;

struct PanelPixel {
  const DepthMap* map;
  std::size_t pixel;

  const DepthMap::Interval& layer(int i) const {
    const std::size_t area =
        static_cast<std::size_t>(map->width) * static_cast<std::size_t>(map->height);
    return map->intervals[static_cast<std::size_t>(i) * area + pixel];
  }
  bool empty() const { return layer(0).near > layer(0).far; }
  double first() const { return static_cast<double>(layer(0).near); }
  double last() const {
    double far = 0;
    for (int i = 0; i < map->layers && layer(i).near <= layer(i).far; ++i)
      far = static_cast<double>(layer(i).far);
    return far;
  }
};

bool overlap(const PanelPixel& a, const PanelPixel& b) {
  for (int i = 0; i < a.map->layers; ++i)
    for (int j = 0; j < b.map->layers; ++j) {
      const DepthMap::Interval &x = a.layer(i), &y = b.layer(j);
      if (x.near <= x.far && y.near <= y.far && x.near <= y.far && y.near <= x.far) return true;
    }
  return false;
}

// Lighter where it is near, darker where it is far.
Rgb8 shade(double z, double depth, const Rgb8& colour) {
  return ramp({blend(colour, kLight, 0.5), colour, blend(colour, kDark, 0.5)}, z / depth);
}

// The three colours of a pixel.
std::array<Rgb8, 3> colours_of(const DepthPanels& panels, std::size_t pixel) {
  const PanelPixel a{&panels.object, pixel}, b{&panels.environment, pixel};
  const double depth = 2 * panels.object.view.half_size.z;
  std::array<Rgb8, 3> colours{kNothing, kNothing, kNothing};
  if (!b.empty()) colours[1] = colours[2] = shade(b.first(), depth, kBodyB);
  if (!a.empty()) colours[0] = colours[2] = shade(a.last(), depth, kBodyA);
  if (!a.empty() && overlap(a, b)) colours[2] = kContact;
  return colours;
}

}  // namespace

DepthPanels make_panels(const DepthMap& object, const Pose& world_from_object,
                        const DepthElement& environment, const DepthSettings& settings) {
  DepthElement in_object = environment;
  in_object.world_from_element = inverse(world_from_object) * environment.world_from_element;
  DepthSettings solid = settings;
  solid.method = DepthMethod::kIntervals;
  solid.layers = kMostDepthLayers;
  return {object, draw_depth_map({&in_object, 1}, object.view, solid)};
}

Picture draw_panels(const std::vector<DepthPanels>& rows) {
  if (rows.empty()) throw Error("there is no map to draw");
  const int width = rows.front().object.width, height = rows.front().object.height;
  const int scale = std::max(1, kSmallest / std::max(width, height));
  const int panel_width = width * scale, panel_height = height * scale;
  Picture picture;
  picture.width = 3 * panel_width + 4 * kGap;
  picture.height = static_cast<int>(rows.size()) * (panel_height + kGap + kTitle) + kGap;
  picture.pixels.assign(
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height), kPaper);
  int top = kGap;
  for (const DepthPanels& panels : rows) {
    const char* titles[] = {"a: far surface", "b: first surface", "red: both"};
    for (int k = 0; k < 3; ++k)
      draw_text(picture, kGap + k * (panel_width + kGap), top, 1, titles[k], kText);
    for (int j = 0; j < height; ++j)
      for (int i = 0; i < width; ++i) {
        const auto colours =
            colours_of(panels, static_cast<std::size_t>(j) * static_cast<std::size_t>(width) +
                                   static_cast<std::size_t>(i));
        // Rows of a map go up, those of a picture down.
        const int y = top + kTitle + (height - 1 - j) * scale;
        for (int k = 0; k < 3; ++k) {
          const int x = kGap + k * (panel_width + kGap) + i * scale;
          fill_box(picture, x, y, x + scale, y + scale, colours[static_cast<std::size_t>(k)]);
        }
      }
    top += panel_height + kGap + kTitle;
  }
  return picture;
}

}  // namespace isotact::tool
