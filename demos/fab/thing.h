// Things that are drawn with shaders of their own, as a caller of isotact would have them. One set
// of stages serves both for colour and, with isotact's fragment shaders, for detection.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "isotact/base/pose.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/draw_program.h"

namespace isotact::demo {

// GLSL of the stages of a thing. The last one outputs world_position (location 0) and color
// (location 1, linear light). Uniform 0 is mat4 clip_from_world. Uniforms from 20 on are reserved.
struct ThingStages {
  std::string_view vertex, tess_control{}, tess_evaluation{}, geometry{};
};

enum class Look : std::int32_t {
  kSolid,  // Lit by sun and sky.
  kPlant,  // Lit, but without a normal.
  kGlow,   // Emits light, which is added to the background.
};

// Values of a picture.
struct PaintPass {
  std::array<float, 16> clip_from_world{}, shadow_from_world{};
  Vec3f eye{}, to_sun{}, sun{}, sky{}, ground{}, fog{};
  float fog_density = 0;
  float points = 1;  // Pixels per metre at a distance of one.
  bool only_depth = false;
};

// All of these belong to the context that was current when they were made (gpu/core/buffer.h).
class Thing {
 public:
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
  virtual ~Thing();

  void draw(const DrawPass& pass);    // For detection.
  void paint(const PaintPass& pass);  // In colour.
  // The thing must outlive it.
  GpuDrawable drawable(std::uint32_t id, bool closed = false);
  Look look() const { return look_; }

 protected:
  Thing(const ThingStages& stages, Look look, DepthPrimitive primitive);
  // The program is current and its clip_from_world is set. Sets further uniforms and draws.
  virtual void emit(float points) = 0;

 private:
  struct Programs;
  std::unique_ptr<Programs> programs_;
  Look look_;
  DepthPrimitive primitive_;
};

}  // namespace isotact::demo
