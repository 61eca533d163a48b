// A few colours that represent many, for GIF files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "picture/picture.h"

namespace isotact::tool {

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
// squares about its mean is cut at that mean, across its longest spread, until there are enough
// (after Heckbert 1982 and Wu 1991). Counts are weighted by their square root, so that small things
// keep their colours beside a wall. The same counts give the same colours.
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
