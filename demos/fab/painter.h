// Pictures of things without a window: sun with shadows, sky, haze.
#pragma once

#include <span>
#include <vector>

#include "thing.h"

namespace isotact::demo {

struct Camera {
  Vec3 eye{0, 1, 4}, target{};
  double degrees = 45;  // From the picture's top to its bottom.
  double near = 0.1, far = 800;
};

struct Light {
  Vec3 to_sun{0.5, 0.8, 0.3};
  Vec3f sun{2.2F, 2.0F, 1.7F}, sky{0.55F, 0.65F, 0.85F}, ground{0.30F, 0.28F, 0.25F};
  Vec3f zenith{0.16F, 0.32F, 0.62F}, horizon{0.62F, 0.70F, 0.80F};  // Colours of the sky.
  float haze = 0.0012F;                                             // Per metre.
  // Shadows are cast within this ball; none if it is 0.
  Vec3 shadow_center{};
  double shadow_radius = 0;
};

// Linear light, row by row from the top left.
struct Painting {
  int width = 0, height = 0;
  std::vector<Vec3f> pixels;
};

class Painter {
 public:
  // Draws `fine` times larger along each side, then shrinks.
  Painter(int width, int height, int fine = 3);
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;
  ~Painter();

  // Draws glowing things last.
  Painting paint(const Camera& camera, const Light& light, std::span<Thing* const> things);
  // The same in two steps: drawing on the GPU, and reading the result.
  void draw(const Camera& camera, const Light& light, std::span<Thing* const> things);
  Painting read() const;

 private:
  int width_, height_, fine_;
  std::uint32_t framebuffer_ = 0, color_ = 0, depth_ = 0;
  std::uint32_t shadow_framebuffer_ = 0, shadow_ = 0, sky_program_ = 0, vertex_array_ = 0;
};

}  // namespace isotact::demo
