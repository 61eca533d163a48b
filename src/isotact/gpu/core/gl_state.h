// State of an OpenGL context, for use in a context of others. A GpuStateGuard restores all state
// that our drawing and dispatching changes when it ends. It makes about 190 driver queries, which
// take 10 to 50 microseconds. The sole user of a context does not need it.
//
// We change none of the following, and it is not covered: textures on units below 8 and above 11,
// and uniform buffers except 30 and 31. The same holds for images, queries and contents of objects.
// An active sample query, conditional rendering or transform feedback would include our drawing:
// end or pause it first. An object that was deleted while bound lives only as long as it stays
// bound, and is lost afterwards.
#pragma once

#include <array>
#include <cstdint>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct GpuState {
  static constexpr int kStorageBindings = 16;  // From 0.
  static constexpr int kFirstUniformBinding = 30, kUniformBindings = 2;
  static constexpr int kFirstUnit = 8, kUnits = 4;  // Texture units.
  static constexpr int kTargets = 11;               // Per unit.
  static constexpr int kEnables = 36;

  struct Range {
    std::int64_t buffer = 0, start = 0, size = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  struct Unit {
    std::array<std::int32_t, kTargets> textures{};
    std::int32_t sampler = 0;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  struct Stencil {
    std::int32_t function = 0, reference = 0, value_mask = 0, write_mask = 0, fail = 0,
                 depth_fail = 0, pass = 0;
    friend bool operator==(const Stencil&, const Stencil&) = default;
  };

  std::int32_t program = 0, pipeline = 0, vertex_array = 0, draw_framebuffer = 0,
               read_framebuffer = 0;
  std::array<float, 4> viewport{};
  std::array<double, 2> depth_range{};
  std::array<std::int32_t, 4> scissor{};
  std::array<bool, kEnables> enables{};
  bool blend = false, scissor_test = false;  // First draw buffer and viewport.
  std::int32_t depth_function = 0, cull_face = 0, front_face = 0, clip_origin = 0, clip_depth = 0;
  bool depth_mask = false;
  std::array<bool, 4> color_mask{};
  std::array<std::int32_t, 2> polygon_mode{};
  std::int32_t patch_vertices = 0, provoking_vertex = 0, restart_index = 0;
  float point_size = 0, line_width = 0;
  std::array<Stencil, 2> stencil{};
  std::int32_t storage_buffer = 0, uniform_buffer = 0, array_buffer = 0, draw_indirect = 0,
               dispatch_indirect = 0, pack_buffer = 0, unpack_buffer = 0;
  std::array<Range, kStorageBindings> storage{};
  std::array<Range, kUniformBindings> uniform{};
  std::int32_t active_texture = 0;
  std::array<Unit, kUnits> units{};
  std::array<std::int32_t, 8> pack{}, unpack{};

  friend bool operator==(const GpuState&, const GpuState&) = default;
};

GpuState read_gpu_state();
void apply_gpu_state(const GpuState& state);
// Sets the state that our drawing starts from: everything off, all pixels and channels written, all
// triangles treated alike.
void clear_gpu_state();

class GpuStateGuard {
 public:
  // Saves nothing if not wanted.
  explicit GpuStateGuard(bool wanted = true);
  GpuStateGuard(const GpuStateGuard&) = delete;
  GpuStateGuard& operator=(const GpuStateGuard&) = delete;
  ~GpuStateGuard();

 private:
  bool wanted_;
  GpuState state_;
};

}  // namespace isotact
