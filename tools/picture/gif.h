// Animated GIF files (GIF89a), which every browser and every page of a repository shows: one
// palette for all frames, and only the changes of each frame.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "picture/animation.h"

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

// Returns the LZW code of GIF for bytes that are below 256, in blocks of at most 255 bytes after
// their length, with an empty block at the end.
std::vector<std::byte> compress_lzw(std::span<const std::uint8_t> bytes);

}  // namespace isotact::tool
