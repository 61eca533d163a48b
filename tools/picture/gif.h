// Animated GIF files (GIF89a), which every browser and every page of a repository shows: one
// palette for all frames, and only the changes of each frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "picture/animation.h"
#include "picture/picture.h"

namespace isotact::tool {

struct GifSettings {
  double frames_per_second =
      // 1 to 50. Delays are whole hundredths of a second, correct on average.
      25;
  // Amplitude of the ordered dither, in steps of 255. It hides bands in smooth shades, and makes
  // files larger. 0: none.
  int dither = 6;
  // Pixels that differ from the shown ones by no more than this, in each channel, stay.
  int tolerance = 3;
};

// All frames are kept until `encode`, three bytes per pixel. Throws Error for more than 2 GB.
class GifAnimation : public Animation {
 public:
  explicit GifAnimation(const GifSettings& settings = {});

  void add(const Picture& picture) override;
  std::size_t frame_count() const override { return frames_.size(); }
  // Repeats for ever. The same pictures give the same bytes.
  std::vector<std::byte> encode() const override;

 private:
  GifSettings settings_;
  std::vector<Picture> frames_;
};

// Returns the LZW code of GIF for bytes that are below 256. The code is in blocks of at most 255
// bytes after their length, with an empty block at the end.
std::vector<std::byte> compress_lzw(std::span<const std::uint8_t> bytes);

// A few colours that represent many, for GIF files.

// Frequency of each colour: 64 MB.
class ColourCounts {
 public:
  ColourCounts() : counts_(std::size_t{1} << 24U, 0) {}

  void add(const Rgb8& colour) { ++counts_[code_of(colour)]; }
  std::uint32_t count(std::size_t code) const { return counts_[code]; }
  std::size_t size() const { return counts_.size(); }

  static constexpr std::size_t code_of(const Rgb8& c) {
    return std::size_t{c[0]} << 16U | std::size_t{c[1]} << 8U | c[2];
  }
  static constexpr Rgb8 colour_of(std::size_t code) {
    return {static_cast<std::uint8_t>(code >> 16U), static_cast<std::uint8_t>(code >> 8U),
            static_cast<std::uint8_t>(code)};
  }

 private:
  std::vector<std::uint32_t> counts_;
};

// Returns at least one colour and at most so many. The box of colours with the largest sum of
// squares about its mean is cut at that mean, across its longest spread. This repeats until there
// are enough (after Heckbert 1982 and Wu 1991). Counts are weighted by their square root, so that
// small things keep their colours beside a wall. The same counts give the same colours.
std::vector<Rgb8> choose_palette(const ColourCounts& counts, std::size_t most);

// The nearest colour of a palette of at most 256, found once per colour: 32 MB.
class NearestColours {
 public:
  explicit NearestColours(std::vector<Rgb8> palette);
  std::uint8_t find(const Rgb8& colour);

 private:
  static constexpr std::uint16_t kUnknown = 0xffff;
  std::vector<Rgb8> palette_;
  std::vector<std::uint16_t> nearest_;
};

}  // namespace isotact::tool
