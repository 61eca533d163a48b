#include "picture/picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <png.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

namespace isotact::tool {
namespace {

// The linear light at which the encoded value passes from i to i + 1.
std::array<double, 255> make_steps() {
  std::array<double, 255> steps{};
  for (std::size_t i = 0; i < steps.size(); ++i)
    steps[i] = decode_srgb((static_cast<double>(i) + 0.5) / 255);
  return steps;
}

}  // namespace

std::uint8_t encode_srgb(double linear) {
  static const std::array<double, 255> steps = make_steps();
  return static_cast<std::uint8_t>(std::upper_bound(steps.begin(), steps.end(), linear) -
                                   steps.begin());
}

Rgb8 encode_srgb(const Vec3& linear) {
  return {encode_srgb(linear.x), encode_srgb(linear.y), encode_srgb(linear.z)};
}

Vec3 parse_colour(const std::string& text) {
  const bool valid = text.size() == 7 && text[0] == '#' &&
                     text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (!valid) throw Error("'" + printable(text) + "' is not a colour like #8fb8de");
  const unsigned long bits = std::stoul(text.substr(1), nullptr, 16);
  const auto channel = [&](unsigned shift) {
    return decode_srgb(static_cast<double>((bits >> shift) & 255U) / 255);
  };
  return {channel(16), channel(8), channel(0)};
}

std::vector<std::byte> encode_png(const Picture& picture) {
  if (picture.width <= 0 || picture.height <= 0) throw Error("an empty picture cannot be written");
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  // To memory, and from there by our own writer: libpng's would delete what it failed to write to,
  // be it a device.
  std::vector<std::byte> bytes(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0,
                                nullptr) == 0)
    throw Error(std::string("cannot write PNG: ") + image.message);
  bytes.resize(size);
  return bytes;
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
  write_file(path, encode_png(picture));
}

}  // namespace isotact::tool
