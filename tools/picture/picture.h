// Images in memory and as PNG files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "isotact/base/srgb.h"
#include "isotact/base/vec.h"

namespace isotact::tool {

using Rgb8 = std::array<std::uint8_t, 3>;  // sRGB

struct Picture {
  int width = 0, height = 0;
  std::vector<Rgb8> pixels;  // row by row, from the top left
};

// Linear light in [0, 1] (clamped beyond) as sRGB (IEC 61966-2-1), rounded to the nearest step.
// The same on every machine.
std::uint8_t encode_srgb(double linear);
Rgb8 encode_srgb(const Vec3& linear);

// Of "#rrggbb"; anything else throws Error.
Vec3 parse_colour(const std::string& text);

// Throws Error where the picture is empty.
std::vector<std::byte> encode_png(const Picture& picture);
// And where the file cannot be written.
void write_png(const std::filesystem::path& path, const Picture& picture);

}  // namespace isotact::tool
