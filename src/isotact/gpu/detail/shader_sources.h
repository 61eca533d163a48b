// The files of shaders/, embedded at build.
#pragma once

#include <span>
#include <string_view>

namespace isotact::detail {

struct ShaderSource {
  std::string_view name, text;
};
std::span<const ShaderSource> shader_sources();  // sorted by name

}  // namespace isotact::detail
