// Images in memory and as PNG files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/io/gltf.h"

namespace isotact::tool {

using Rgb8 = std::array<std::uint8_t, 3>;  // sRGB

struct Picture {
  int width = 0, height = 0;
  std::vector<Rgb8> pixels;  // Row by row, from the top left.
};

// Converts linear light in [0, 1] (clamped) to sRGB (IEC 61966-2-1), rounded to the nearest step.
// The same on every machine.
std::uint8_t encode_srgb(double linear);
Rgb8 encode_srgb(const Vec3& linear);

// Parses "#rrggbb"; anything else throws Error.
Vec3 parse_colour(const std::string& text);

// Throws Error if the picture is empty.
std::vector<std::byte> encode_png(const Picture& picture);
// Also throws Error if the file cannot be written.
void write_png(const std::filesystem::path& path, const Picture& picture);

}  // namespace isotact::tool
