#include "picture_panels.h"

#include <algorithm>
#include <cmath>

#include "picture/text.h"

namespace isotact::demo {
namespace {

std::size_t pixel(const tool::Picture& picture, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
         static_cast<std::size_t>(x);
}

tool::Picture make_picture(int width, int height, const tool::Rgb8& color) {
  tool::Picture picture{width, height, {}};
  picture.pixels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), color);
  return picture;
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F);
}

constexpr tool::Rgb8 kNothing = {24, 30, 48};

}  // namespace

tool::Picture develop(const Painting& painting, double exposure) {
  tool::Picture picture{painting.width, painting.height, {}};
  for (const Vec3f& c : painting.pixels) {
    const Vec3 light = to_double(c) * exposure;
    const auto tone = [](double v) { return v * (1 + v * 0.08) / (1 + v * 0.55); };
    picture.pixels.push_back(tool::encode_srgb({tone(light.x), tone(light.y), tone(light.z)}));
  }
  return picture;
}

tool::Picture show_heights(int width, int height,
                           const std::function<float(int column, int row)>& depth) {
  tool::Picture picture = make_picture(width, height, kNothing);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const float d = depth(column, row);
      if (!(d >= 0 && d < 1)) continue;
      const std::uint8_t shade = to_byte(1 - 0.85F * d);
      picture.pixels[pixel(picture, column, height - 1 - row)] = {shade, shade, shade};
    }
  return picture;
}

void coarsen(tool::Picture& picture, int step) {
  for (tool::Rgb8& color : picture.pixels)
    for (std::uint8_t& c : color)
      c = static_cast<std::uint8_t>(std::min(255, (c + step / 2) / step * step));
}

tool::Picture turn_left(const tool::Picture& picture) {
  tool::Picture turned = make_picture(picture.height, picture.width, {});
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      turned.pixels[pixel(turned, y, picture.width - 1 - x)] = picture.pixels[pixel(picture, x, y)];
  return turned;
}

tool::Picture show_heights(const ParticleMaps& maps) {
  // Spread over the depths that are there.
  float low = 1, high = 0;
  const std::size_t count =
      static_cast<std::size_t>(maps.size) * static_cast<std::size_t>(maps.size);
  for (std::size_t i = 0; i < count; ++i) {
    if (maps.depths[i] >= 1) continue;
    low = std::min(low, maps.depths[i]);
    high = std::max(high, maps.depths[i]);
  }
  return show_heights(maps.size, maps.size, [&](int column, int row) {
    const float depth =
        maps.depths[static_cast<std::size_t>(row) * static_cast<std::size_t>(maps.size) +
                    static_cast<std::size_t>(column)];
    return depth < 1 ? 0.99F * (depth - low) / std::max(high - low, 1e-6F) : 1.0F;
  });
}

tool::Picture show_normals(const ParticleMaps& maps) {
  tool::Picture picture = make_picture(maps.size, maps.size, kNothing);
  const ParticleFace& face = maps.face[0];
  for (int row = 0; row < maps.size; ++row)
    for (int column = 0; column < maps.size; ++column) {
      const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(maps.size) +
                             static_cast<std::size_t>(column);
      if (maps.depths[at] >= 1) continue;
      const auto& n = maps.normals[at];
      const Vec3f normal{n[0], n[1], n[2]};
      picture.pixels[pixel(picture, column, maps.size - 1 - row)] = {
          to_byte(dot(normal, face.x) * 0.5F + 0.5F), to_byte(dot(normal, face.y) * 0.5F + 0.5F),
          to_byte(-dot(normal, face.z) * 0.5F + 0.5F)};
    }
  return picture;
}

tool::Picture shrink(const tool::Picture& picture, int factor) {
  tool::Picture small = make_picture(picture.width / factor, picture.height / factor, {});
  for (int y = 0; y < small.height; ++y)
    for (int x = 0; x < small.width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        int sum = 0;
        for (int j = 0; j < factor; ++j)
          for (int i = 0; i < factor; ++i)
            sum += picture.pixels[pixel(picture, x * factor + i, y * factor + j)][c];
        small.pixels[pixel(small, x, y)][c] = static_cast<std::uint8_t>(sum / (factor * factor));
      }
  return small;
}

Sheet::Sheet(int width, int height) : picture_(make_picture(width, height, {255, 255, 255})) {}

void Sheet::place(const tool::Picture& picture, int x, int y, const std::string& caption) {
  for (int j = 0; j < picture.height && y + j < picture_.height; ++j)
    for (int i = 0; i < picture.width && x + i < picture_.width; ++i)
      picture_.pixels[pixel(picture_, x + i, y + j)] = picture.pixels[pixel(picture, i, j)];
  if (caption.empty()) return;
  const int width = tool::text_width(caption, 1) + 6, top = y + picture.height - 14;
  tool::fill_box(picture_, x, top, x + width, top + 14, {255, 255, 255});
  tool::draw_text(picture_, x + 4, top + 3, 1, caption, {20, 20, 20});
}

}  // namespace isotact::demo
