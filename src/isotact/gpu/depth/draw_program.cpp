#include "isotact/gpu/depth/draw_program.h"

#include <atomic>

#include <epoxy/gl.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/detail/shader_text.h"

namespace isotact {
namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

}  // namespace

FragmentShader::FragmentShader(std::string_view file, const std::vector<ShaderDefine>& defines)
    : name_(detail::compile_shader(GL_FRAGMENT_SHADER, file, detail::find_shader(file), defines)),
      serial_(next_serial()),
      file_(file) {}

FragmentShader::~FragmentShader() { glDeleteShader(name_); }

GpuDrawProgram::GpuDrawProgram(const DrawStages& stages) : name_(stages.name) {
  const std::pair<GLenum, std::string_view> sources[] = {
      {GL_VERTEX_SHADER, stages.vertex},
      {GL_TESS_CONTROL_SHADER, stages.tess_control},
      {GL_TESS_EVALUATION_SHADER, stages.tess_evaluation},
      {GL_GEOMETRY_SHADER, stages.geometry}};
  constexpr std::string_view kEndings[] = {".vert", ".tesc", ".tese", ".geom"};
  if (stages.vertex.empty() && stages.compiled.empty())
    throw Error("a program that draws needs a vertex shader");
  try {
    for (std::size_t i = 0; i < std::size(sources); ++i) {
      const auto& [stage, source] = sources[i];
      if (source.empty()) continue;
      shaders_.push_back(
          detail::compile_shader(stage, name_ + std::string(kEndings[i]), source, stages.defines));
      ++own_;
    }
  } catch (...) {
    for (const std::uint32_t s : shaders_) glDeleteShader(s);
    throw;
  }
  shaders_.insert(shaders_.end(), stages.compiled.begin(), stages.compiled.end());
}

GpuDrawProgram::~GpuDrawProgram() {
  for (std::size_t i = 0; i < own_; ++i) glDeleteShader(shaders_[i]);
  for (const Linked& l : linked_) glDeleteProgram(l.name);
}

const GpuDrawProgram::Linked& GpuDrawProgram::find(const FragmentShader& fragment) {
  for (const Linked& l : linked_)
    if (l.serial == fragment.serial()) return l;
  std::vector<std::uint32_t> all = shaders_;
  all.push_back(fragment.name());
  Linked linked;
  linked.serial = fragment.serial();
  linked.name = detail::link_shaders(all, name_ + " with " + fragment.file());
  linked.clip_from_world = glGetUniformLocation(linked.name, "clip_from_world");
  linked_.push_back(linked);
  return linked_.back();
}

std::uint32_t GpuDrawProgram::use(const DrawPass& pass) {
  const Linked& linked = find(*pass.fragment);
  glUseProgram(linked.name);
  if (linked.clip_from_world >= 0)
    glUniformMatrix4fv(linked.clip_from_world, 1, GL_FALSE, pass.clip_from_world.data());
  return linked.name;
}

std::uint32_t GpuDrawProgram::link(const FragmentShader& fragment) { return find(fragment).name; }

}  // namespace isotact
