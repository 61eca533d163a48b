// Things that are drawn with shaders of their own, as a caller of isotact would have them: one set
// of stages serves both for colour and, with isotact's fragment shaders, for detection.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "isotact/base/pose.h"
#include "isotact/gpu/depth_detector.h"
#include "isotact/gpu/draw_program.h"

namespace isotact::demo {

// GLSL of the stages that a thing has. The last one gives out world_position (location 0) and color
// (location 1, linear light); uniform 0 is mat4 clip_from_world. Uniforms from 20 on are taken.
struct ThingStages {
  std::string_view vertex, tess_control{}, tess_evaluation{}, geometry{};
};

enum class Look : std::int32_t {
  kSolid,  // lit by sun and sky
  kPlant,  // lit, but without a normal
  kGlow,   // shines by itself; added to what is behind it
};

// Of a picture.
struct PaintPass {
  std::array<float, 16> clip_from_world{}, shadow_from_world{};
  Vec3f eye{}, to_sun{}, sun{}, sky{}, ground{}, fog{};
  float fog_density = 0;
  float points = 1;  // pixels of a metre at a distance of one
  bool only_depth = false;
};

// All of these belong to the context that was current when they were made (gpu/buffer.h).
class Thing {
 public:
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
  virtual ~Thing();

  void draw(const DrawPass& pass);    // for detection
  void paint(const PaintPass& pass);  // in colour
  // The thing must outlive it.
  GpuDrawable drawable(std::uint32_t id, bool closed = false);
  Look look() const { return look_; }

 protected:
  Thing(const ThingStages& stages, Look look, DepthPrimitive primitive);
  // The program is current, its clip_from_world is set: further uniforms and draw calls.
  virtual void emit(float points) = 0;

 private:
  struct Programs;
  std::unique_ptr<Programs> programs_;
  Look look_;
  DepthPrimitive primitive_;
};

}  // namespace isotact::demo
