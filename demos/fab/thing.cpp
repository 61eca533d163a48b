#include "thing.h"

#include <string>
#include <vector>

#include <epoxy/gl.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/program.h"

namespace isotact::demo {
namespace {

// Normals are those of the facets.
constexpr const char* kPaint = R"(#version 450 core
layout(location = 0) in vec3 world_position;
layout(location = 1) in vec3 color;
layout(location = 20) uniform vec3 eye;
layout(location = 21) uniform vec3 to_sun;
layout(location = 22) uniform vec3 sun;
layout(location = 23) uniform vec3 sky;
layout(location = 24) uniform vec3 ground;
layout(location = 25) uniform vec4 fog;
layout(location = 26) uniform int look;
layout(location = 27) uniform mat4 shadow_from_world;
layout(binding = 7) uniform sampler2DShadow shadow_map;
layout(location = 0) out vec4 result;

float find_shade(vec3 normal) {
  vec4 at = shadow_from_world * vec4(world_position + normal * 0.004 * fog.w * 100.0, 1);
  vec3 p = at.xyz * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0))) || any(greaterThan(p, vec3(1)))) return 1;
  vec2 texel = 1.0 / vec2(textureSize(shadow_map, 0));
  float light = 0;
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j)
      light += texture(shadow_map, vec3(p.xy + vec2(i, j) * texel, p.z - 0.0006));
  return light / 25;
}

void main() {
  if (look == 2) {
    vec2 at = gl_PointCoord * 2 - 1;
    float fall = max(0, 1 - dot(at, at));
    result = vec4(color * fall * fall, 0);
    return;
  }
  vec3 to_eye = eye - world_position;
  vec3 normal = vec3(0, 1, 0);
  if (look == 0) {
    normal = normalize(cross(dFdx(world_position), dFdy(world_position)));
    if (dot(normal, to_eye) < 0) normal = -normal;
  }
  float lit = look == 1 ? 0.6 : max(0, dot(normal, to_sun));
  lit *= find_shade(normal);
  vec3 around = mix(ground, sky, normal.y * 0.5 + 0.5);
  vec3 middle = normalize(normalize(to_eye) + to_sun);
  float shine = look == 0 ? 0.25 * pow(max(0, dot(normal, middle)), 40) * lit : 0;
  vec3 light = color * (around + sun * lit) + sun * shine;
  result = vec4(mix(fog.rgb, light, exp(-length(to_eye) * fog.w)), 1);
}
)";

GLuint compile(GLenum stage, std::string_view source) {
  const GLuint shader = glCreateShader(stage);
  const std::string text = make_shader_text("demo", source);
  const char* start = text.c_str();
  glShaderSource(shader, 1, &start, nullptr);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok != 0) return shader;
  std::string log(4096, ' ');
  GLsizei written = 0;
  glGetShaderInfoLog(shader, 4096, &written, log.data());
  log.resize(static_cast<std::size_t>(written));
  throw Error("a demo's shader does not compile: " + log + "\n" + text);
}

void set(GLint location, const Vec3f& v) { glUniform3f(location, v.x, v.y, v.z); }

}  // namespace

struct Thing::Programs {
  explicit Programs(const std::vector<std::uint32_t>& stages)
      : shaders(stages), depth(DrawStages{.compiled = stages, .name = "demo"}) {
    paint = glCreateProgram();
    const GLuint fragment = compile(GL_FRAGMENT_SHADER, kPaint);
    for (const GLuint shader : shaders) glAttachShader(paint, shader);
    glAttachShader(paint, fragment);
    glLinkProgram(paint);
    glDeleteShader(fragment);
    GLint ok = 0;
    glGetProgramiv(paint, GL_LINK_STATUS, &ok);
    if (ok == 0) throw Error("a demo's shaders do not link");
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() {
    for (const GLuint shader : shaders) glDeleteShader(shader);
    glDeleteProgram(paint);
  }

  std::vector<std::uint32_t> shaders;
  GpuDrawProgram depth;
  GLuint paint = 0;
};

Thing::Thing(const ThingStages& stages, Look look, DepthPrimitive primitive)
    : look_(look), primitive_(primitive) {
  std::vector<std::uint32_t> shaders;
  const std::array<std::pair<GLenum, std::string_view>, 4> sources = {
      {{GL_VERTEX_SHADER, stages.vertex},
       {GL_TESS_CONTROL_SHADER, stages.tess_control},
       {GL_TESS_EVALUATION_SHADER, stages.tess_evaluation},
       {GL_GEOMETRY_SHADER, stages.geometry}}};
  for (const auto& [stage, source] : sources)
    if (!source.empty()) shaders.push_back(compile(stage, source));
  programs_ = std::make_unique<Programs>(shaders);
}

Thing::~Thing() = default;

void Thing::draw(const DrawPass& pass) {
  programs_->depth.use(pass);
  emit(1);
}

void Thing::paint(const PaintPass& pass) {
  if (pass.only_depth && look_ == Look::kGlow) return;
  glUseProgram(programs_->paint);
  glUniformMatrix4fv(0, 1, GL_FALSE, pass.clip_from_world.data());
  set(20, pass.eye);
  set(21, pass.to_sun);
  set(22, pass.sun);
  set(23, pass.sky);
  set(24, pass.ground);
  glUniform4f(25, pass.fog.x, pass.fog.y, pass.fog.z, pass.fog_density);
  glUniform1i(26, static_cast<GLint>(look_));
  glUniformMatrix4fv(27, 1, GL_FALSE, pass.shadow_from_world.data());
  emit(pass.points);
}

GpuDrawable Thing::drawable(std::uint32_t id, bool closed) {
  return {.draw = [this](const DrawPass& pass) { draw(pass); },
          .id = id,
          .closed = closed,
          .primitive = primitive_};
}

}  // namespace isotact::demo
