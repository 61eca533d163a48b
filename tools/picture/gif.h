// Animated GIF files (GIF89a), which every browser and every page of a repository shows: one
// palette for all frames, and of each frame only what has changed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "picture/animation.h"

namespace isotact::tool {

struct GifSettings {
  double frames_per_second =
      25;  // 1 to 50; delays are whole hundredths of a second, right on average
  // Of the ordered dither, in steps of 255: hides bands in smooth shades, makes files larger. 0:
  // none.
  int dither = 6;
  // Pixels that are as near as this to what is shown already, in each channel, stay.
  int tolerance = 3;
};

// All frames are kept until `encode`, three bytes a pixel: Error for more than 2 GB of them.
class GifAnimation : public Animation {
 public:
  explicit GifAnimation(const GifSettings& settings = {});

  void add(const Picture& picture) override;
  std::size_t frame_count() const override { return frames_.size(); }
  // For ever. The same pictures give the same bytes.
  std::vector<std::byte> encode() const override;

 private:
  GifSettings settings_;
  std::vector<Picture> frames_;
};

// The LZW code of GIF for bytes that are below 256, in blocks of at most 255 behind their length,
// with an empty one at the end.
std::vector<std::byte> compress_lzw(std::span<const std::uint8_t> bytes);

}  // namespace isotact::tool
