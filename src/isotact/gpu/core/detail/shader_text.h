// Texts of shaders and messages of their compiler, for programs of every kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/gpu/core/program.h"

namespace isotact::detail {

// Returns a file of shaders/. Throws Error if there is no such file.
std::string_view find_shader(std::string_view name);

// Returns a header that C++ and GLSL share, as GLSL reads it: without the parts between #ifdef
// __cplusplus and #else or #endif, and without #pragma once. Lines keep their numbers.
std::string drop_cpp(std::string_view source);

// Returns OpenGL's name of a compiled shader of a stage (GL_COMPUTE_SHADER, ...). Includes and
// errors are those of GpuProgram. A source that begins with #version is used unchanged.
std::uint32_t compile_shader(std::uint32_t stage, std::string_view name, std::string_view source,
                             const std::vector<ShaderDefine>& defines);
// Returns OpenGL's name of a program of compiled shaders, which the caller still owns.
std::uint32_t link_shaders(std::span<const std::uint32_t> shaders, std::string_view name);

// The files of shaders/, embedded at build.

struct ShaderSource {
  std::string_view name, text;
};
std::span<const ShaderSource> shader_sources();

}  // namespace isotact::detail
