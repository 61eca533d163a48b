// Programs that draw. They have the caller's vertex, tessellation and geometry shaders with a
// fragment shader of ours, and are linked once for each. (FAB, section 3.1: "we link all programs
// again but with a simple and generic fragment shader".)
//
//   GpuDrawProgram flag({.vertex = kVertex, .tess_control = kControl,
//                        .tess_evaluation = kEvaluate});
//   ...
//   [&](const DrawPass& pass) {          // The callback of a drawable.
//     flag.use(pass);                    // Sets clip_from_world.
//     glBindVertexArray(vao), glDrawArrays(GL_PATCHES, 0, 4);
//   }
//
// Our fragment shaders read only gl_FragCoord and gl_FrontFacing, so other outputs of the stages
// are not affected. They own the storage buffers 8 to 15, the uniform buffers 30 and 31 and the
// texture units 8 to 11. The caller's stages have the lower ones. Vertex shaders set gl_Position to
// the product of clip_from_world and a world point (for an object's parts: in the object frame).
// Points are one pixel large, unless the callback enables GL_PROGRAM_POINT_SIZE while it draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/export.h"
#include "isotact/gpu/core/program.h"

namespace ISOTACT_PUBLIC isotact {

// A compiled shader of shaders/. Ownership as in buffer.h.
class FragmentShader {
 public:
  explicit FragmentShader(std::string_view file, const std::vector<ShaderDefine>& defines = {});
  FragmentShader(const FragmentShader&) = delete;
  FragmentShader& operator=(const FragmentShader&) = delete;
  ~FragmentShader();

  std::uint32_t name() const { return name_; }      // OpenGL's name.
  std::uint64_t serial() const { return serial_; }  // Unique.
  const std::string& file() const { return file_; }

 private:
  std::uint32_t name_ = 0;
  std::uint64_t serial_ = 0;
  std::string file_;
};

// One drawing of a drawable.
struct DrawPass {
  std::array<float, 16> clip_from_world{};  // Column by column, as in OpenGL.
  const FragmentShader* fragment = nullptr;
  std::uint32_t element = 0;  // Number of the drawable.
};

// GLSL, or names of shaders that the caller has compiled. Sources need no #version (4.50 then, with
// includes and defines as in GpuProgram).
struct DrawStages {
  std::string_view vertex{}, tess_control{}, tess_evaluation{}, geometry{};
  std::vector<std::uint32_t> compiled{};
  std::vector<ShaderDefine> defines{};
  std::string name = "draw";  // In messages.
};

// Ownership as in buffer.h.
class GpuDrawProgram {
 public:
  // Throws Error with file and line if the stages do not compile.
  explicit GpuDrawProgram(const DrawStages& stages);
  GpuDrawProgram(const GpuDrawProgram&) = delete;
  GpuDrawProgram& operator=(const GpuDrawProgram&) = delete;
  ~GpuDrawProgram();

  // Links at the first use (throws Error on failure), makes the program current and sets the
  // uniform mat4 clip_from_world. Returns OpenGL's name, for further uniforms. Give those explicit
  // locations, since each fragment shader makes another program.
  std::uint32_t use(const DrawPass& pass);
  // The same without setting anything.
  std::uint32_t link(const FragmentShader& fragment);

 private:
  struct Linked {
    std::uint64_t serial = 0;
    std::uint32_t name = 0;
    std::int32_t clip_from_world = -1;
  };
  const Linked& find(const FragmentShader& fragment);

  std::string name_;
  std::vector<std::uint32_t> shaders_;
  std::size_t own_ = 0;  // The first so many shaders are ours to delete.
  std::vector<Linked> linked_;
};

}  // namespace isotact
