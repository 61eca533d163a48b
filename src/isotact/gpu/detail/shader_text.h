// Texts of shaders and what their compiler says about them: for programs of every kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/gpu/program.h"

namespace isotact::detail {

// Of shaders/. Throws Error where there is no such file.
std::string_view find_shader(std::string_view name);

// OpenGL's name of a compiled shader of a stage (GL_COMPUTE_SHADER, ...). Includes and errors as
// GpuProgram has them. A source that begins with #version is taken as it is.
std::uint32_t compile_shader(std::uint32_t stage, std::string_view name, std::string_view source,
                             const std::vector<ShaderDefine>& defines);
// OpenGL's name of a program of compiled shaders, which stay the caller's.
std::uint32_t link_shaders(std::span<const std::uint32_t> shaders, std::string_view name);

}  // namespace isotact::detail
