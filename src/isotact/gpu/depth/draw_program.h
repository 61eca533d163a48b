// Programs that draw: the caller's vertex, tessellation and geometry shaders with a fragment shader
// of ours, linked once for each (FAB, section 3.1: "we link all programs again but with a simple
// and generic fragment shader").
//
//   GpuDrawProgram flag({.vertex = kVertex, .tess_control = kControl, .tess_evaluation =
//   kEvaluate});
//   ...
//   [&](const DrawPass& pass) {          // a drawable's callback
//     flag.use(pass);                    // sets clip_from_world
//     glBindVertexArray(vao), glDrawArrays(GL_PATCHES, 0, 4);
//   }
//
// Our fragment shaders read gl_FragCoord and gl_FrontFacing only, so whatever the other stages give
// out is left alone. They own the storage buffers 8 to 15, the uniform buffers 30 and 31 and the
// texture units 8 to 11; the caller's stages have the lower ones. Vertex shaders set gl_Position to
// clip_from_world times a point of the world (of an object's parts: of the object's frame). Points
// are one pixel large, unless the callback enables GL_PROGRAM_POINT_SIZE for as long as it draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/gpu/program.h"

namespace isotact {

// Of shaders/, compiled. Ownership as in buffer.h.
class FragmentShader {
 public:
  explicit FragmentShader(std::string_view file, const std::vector<ShaderDefine>& defines = {});
  FragmentShader(const FragmentShader&) = delete;
  FragmentShader& operator=(const FragmentShader&) = delete;
  ~FragmentShader();

  std::uint32_t name() const { return name_; }      // OpenGL's
  std::uint64_t serial() const { return serial_; }  // no two have the same
  const std::string& file() const { return file_; }

 private:
  std::uint32_t name_ = 0;
  std::uint64_t serial_ = 0;
  std::string file_;
};

// One drawing of a drawable.
struct DrawPass {
  std::array<float, 16> clip_from_world{};  // columns, as OpenGL wants them
  const FragmentShader* fragment = nullptr;
  std::uint32_t element = 0;  // number of the drawable
};

// GLSL, or names of shaders that the caller has compiled. Sources need no #version (4.50 then, with
// includes and defines as GpuProgram has them).
struct DrawStages {
  std::string_view vertex{}, tess_control{}, tess_evaluation{}, geometry{};
  std::vector<std::uint32_t> compiled{};
  std::vector<ShaderDefine> defines{};
  std::string name = "draw";  // in messages
};

// Ownership as in buffer.h.
class GpuDrawProgram {
 public:
  // Throws Error where the stages do not compile, with file and line.
  explicit GpuDrawProgram(const DrawStages& stages);
  GpuDrawProgram(const GpuDrawProgram&) = delete;
  GpuDrawProgram& operator=(const GpuDrawProgram&) = delete;
  ~GpuDrawProgram();

  // Links where this has not been done (throws Error where it fails), makes the program current and
  // sets the uniform mat4 clip_from_world. Returns OpenGL's name, for further uniforms: give those
  // explicit locations, since each fragment shader makes another program.
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
  std::size_t own_ = 0;  // the first so many shaders are ours to delete
  std::vector<Linked> linked_;
};

}  // namespace isotact
