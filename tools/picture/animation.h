// Pictures in sequence in one file, repeated for ever: animated PNG, with all colours, or GIF,
// which all viewers show (gif.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "picture/picture.h"

namespace isotact::tool {

// Builds a file frame by frame.
class Animation {
 public:
  virtual ~Animation() = default;

  // All pictures must have one size. Throws Error otherwise.
  virtual void add(const Picture& picture) = 0;
  virtual std::size_t frame_count() const = 0;
  // Throws Error if there is no frame.
  virtual std::vector<std::byte> encode() const = 0;
};

// Programs that do not support animated PNG show the first picture. Only compressed frames are
// kept.
class PngAnimation : public Animation {
 public:
  explicit PngAnimation(double frames_per_second);  // 1 to 100.

  void add(const Picture& picture) override;
  std::size_t frame_count() const override { return frames_.size(); }
  std::vector<std::byte> encode() const override;

 private:
  double rate_;
  int width_ = 0, height_ = 0;
  std::vector<std::vector<std::byte>> frames_;  // The compressed data of each.
};

// Selects by the file's extension, ".png" or ".gif", in lower case. Returns null for others.
std::unique_ptr<Animation> make_animation(std::string_view extension, double frames_per_second);

}  // namespace isotact::tool
