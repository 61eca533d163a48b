// Animated PNG files: pictures one after the other, for ever. Programs that do not know them show
// the first one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "picture/picture.h"

namespace isotact::tool {

// Puts an animation together frame by frame; only the compressed ones are kept.
class Animation {
 public:
  explicit Animation(double frames_per_second);  // 1 to 100

  // All of one size: Error for another.
  void add(const Picture& picture);
  std::size_t frame_count() const { return frames_.size(); }
  // Throws Error where there is no frame.
  std::vector<std::byte> encode() const;

 private:
  double rate_;
  int width_ = 0, height_ = 0;
  std::vector<std::vector<std::byte>> frames_;  // the compressed data of each
};

}  // namespace isotact::tool
