#include "isotact/gpu/core/program.h"

#include <utility>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/detail/shader_text.h"

namespace isotact {

GpuProgram::GpuProgram(std::string_view name, const std::vector<ShaderDefine>& defines) {
  *this = from_source(name, detail::find_shader(name), defines);
}

GpuProgram GpuProgram::from_source(std::string_view name, std::string_view source,
                                   const std::vector<ShaderDefine>& defines) {
  const GLuint shader = detail::compile_shader(GL_COMPUTE_SHADER, name, source, defines);
  GpuProgram program;
  try {
    program.name_ = detail::link_shaders({&shader, 1}, name);
  } catch (...) {
    glDeleteShader(shader);
    throw;
  }
  glDeleteShader(shader);
  return program;
}

GpuProgram::GpuProgram(GpuProgram&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
GpuProgram& GpuProgram::operator=(GpuProgram&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}
GpuProgram::~GpuProgram() {
  if (name_ != 0) glDeleteProgram(name_);
}

void GpuProgram::set(const char* uniform, float value) const {
  glProgramUniform1f(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, std::int32_t value) const {
  glProgramUniform1i(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, std::uint32_t value) const {
  glProgramUniform1ui(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, float x, float y, float z) const {
  glProgramUniform3f(name_, glGetUniformLocation(name_, uniform), x, y, z);
}
void GpuProgram::set(const char* uniform, std::int32_t x, std::int32_t y, std::int32_t z) const {
  glProgramUniform3i(name_, glGetUniformLocation(name_, uniform), x, y, z);
}

void GpuProgram::dispatch(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
  if (x == 0 || y == 0 || z == 0) return;
  glUseProgram(name_);
  glDispatchCompute(x, y, z);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT |
                  GL_TEXTURE_FETCH_BARRIER_BIT | GL_COMMAND_BARRIER_BIT |
                  GL_BUFFER_UPDATE_BARRIER_BIT);
}

void GpuProgram::dispatch_indirect(const GpuBuffer& groups, std::size_t offset) const {
  glUseProgram(name_);
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, groups.name());
  glDispatchComputeIndirect(static_cast<GLintptr>(offset));
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT |
                  GL_TEXTURE_FETCH_BARRIER_BIT | GL_COMMAND_BARRIER_BIT |
                  GL_BUFFER_UPDATE_BARRIER_BIT);
}

GroupGrid spread_groups(std::uint64_t count) {
  constexpr std::uint64_t kMost = 65535;
  if (count > kMost * kMost)
    throw Error(fmt::format("{} work-groups are more than a GPU takes at once", count));
  if (count <= kMost) return {static_cast<std::uint32_t>(count), count == 0 ? 0U : 1U};
  const std::uint64_t y = (count + kMost - 1) / kMost;
  return {static_cast<std::uint32_t>((count + y - 1) / y), static_cast<std::uint32_t>(y)};
}

void finish_gpu() { glFinish(); }
void flush_gpu() { glFlush(); }

}  // namespace isotact
