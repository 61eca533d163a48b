#include "painter.h"

#include <cmath>

#include <epoxy/gl.h>

#include "isotact/base/error.h"

namespace isotact::demo {
namespace {

constexpr int kShadowSize = 4096;

constexpr const char* kSkyVertex = R"(#version 450 core
layout(location = 0) out vec2 at;
void main() {
  at = vec2(gl_VertexID % 2, gl_VertexID / 2) * 4 - 1;
  gl_Position = vec4(at, 1, 1);
}
)";
constexpr const char* kSkyFragment = R"(#version 450 core
layout(location = 0) in vec2 at;
layout(location = 0) uniform vec3 ahead;
layout(location = 1) uniform vec3 right;
layout(location = 2) uniform vec3 up;
layout(location = 3) uniform vec3 zenith;
layout(location = 4) uniform vec3 horizon;
layout(location = 0) out vec4 result;
void main() {
  float high = normalize(ahead + right * at.x + up * at.y).y;
  result = vec4(mix(horizon, zenith, smoothstep(-0.02, 0.4, high)), 1);
}
)";

// Rows of a matrix as OpenGL wants it.
struct ClipRow {
  Vec3 n;
  double d;
};
std::array<float, 16> to_columns(const std::array<ClipRow, 4>& rows) {
  std::array<float, 16> m{};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 3; ++c) m[4 * c + r] = static_cast<float>(rows[r].n[c]);
    m[12 + r] = static_cast<float>(rows[r].d);
  }
  return m;
}

struct Axes {
  Vec3 ahead, right, up;
};
Axes look(const Vec3& ahead) {
  const Vec3 z = normalized(ahead);
  const Vec3 x = normalized(cross(z, std::abs(z.y) < 0.99 ? Vec3{0, 1, 0} : Vec3{1, 0, 0}));
  return {z, x, cross(x, z)};
}

std::array<float, 16> find_camera_matrix(const Camera& camera, const Axes& axes, double tan_x,
                                         double tan_y) {
  const auto row = [&](const Vec3& n, double scale, double offset) {
    return ClipRow{n * scale, -dot(n, camera.eye) * scale + offset};
  };
  const double f = camera.far, n = camera.near;
  return to_columns({row(axes.right, 1 / tan_x, 0), row(axes.up, 1 / tan_y, 0),
                     row(axes.ahead, (f + n) / (f - n), -2 * f * n / (f - n)),
                     row(axes.ahead, 1, 0)});
}

std::array<float, 16> find_shadow_matrix(const Light& light) {
  if (light.shadow_radius <= 0)  // all of it out of the map
    return to_columns({ClipRow{{}, 2}, {{}, 2}, {{}, 2}, {{}, 1}});
  const Axes axes = look(-light.to_sun);
  const auto row = [&](const Vec3& n) {
    return ClipRow{n / light.shadow_radius, -dot(n, light.shadow_center) / light.shadow_radius};
  };
  return to_columns({row(axes.right), row(axes.up), row(axes.ahead), {{}, 1}});
}

GLuint link_sky() {
  const GLuint program = glCreateProgram();
  const std::pair<GLenum, const char*> stages[] = {{GL_VERTEX_SHADER, kSkyVertex},
                                                   {GL_FRAGMENT_SHADER, kSkyFragment}};
  for (const auto& [stage, source] : stages) {
    const GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program);
  GLint ok = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &ok);
  if (ok == 0) throw Error("the sky's shaders do not link");
  return program;
}

void set(GLint location, const Vec3& v) {
  glUniform3f(location, static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z));
}

}  // namespace

Painter::Painter(int width, int height, int fine) : width_(width), height_(height), fine_(fine) {
  glCreateFramebuffers(1, &framebuffer_);
  glCreateTextures(GL_TEXTURE_2D, 1, &color_);
  glTextureStorage2D(color_, 1, GL_RGBA16F, width * fine, height * fine);
  glCreateTextures(GL_TEXTURE_2D, 1, &depth_);
  glTextureStorage2D(depth_, 1, GL_DEPTH_COMPONENT32F, width * fine, height * fine);
  glNamedFramebufferTexture(framebuffer_, GL_COLOR_ATTACHMENT0, color_, 0);
  glNamedFramebufferTexture(framebuffer_, GL_DEPTH_ATTACHMENT, depth_, 0);
  glCreateFramebuffers(1, &shadow_framebuffer_);
  glCreateTextures(GL_TEXTURE_2D, 1, &shadow_);
  glTextureStorage2D(shadow_, 1, GL_DEPTH_COMPONENT32F, kShadowSize, kShadowSize);
  glTextureParameteri(shadow_, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTextureParameteri(shadow_, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTextureParameteri(shadow_, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glNamedFramebufferTexture(shadow_framebuffer_, GL_DEPTH_ATTACHMENT, shadow_, 0);
  glNamedFramebufferDrawBuffer(shadow_framebuffer_, GL_NONE);
  sky_program_ = link_sky();
  glCreateVertexArrays(1, &vertex_array_);
}

Painter::~Painter() {
  const std::array<GLuint, 3> textures = {color_, depth_, shadow_};
  glDeleteTextures(3, textures.data());
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteFramebuffers(1, &shadow_framebuffer_);
  glDeleteProgram(sky_program_);
  glDeleteVertexArrays(1, &vertex_array_);
}

Painting Painter::paint(const Camera& camera, const Light& light, std::span<Thing* const> things) {
  draw(camera, light, things);
  return read();
}

void Painter::draw(const Camera& camera, const Light& light, std::span<Thing* const> things) {
  const Axes axes = look(camera.target - camera.eye);
  const SinCos half = sin_cos(camera.degrees / 2 * kPi / 180);
  const double tan_y = half.sin / half.cos, tan_x = tan_y * width_ / height_;
  PaintPass pass;
  pass.shadow_from_world = find_shadow_matrix(light);
  pass.eye = to_float(camera.eye);
  pass.to_sun = to_float(normalized(light.to_sun));
  pass.sun = light.sun;
  pass.sky = light.sky;
  pass.ground = light.ground;
  pass.fog = light.horizon;
  pass.fog_density = light.haze;
  pass.points = static_cast<float>(height_ * fine_ / (2 * tan_y));

  glDisable(GL_CULL_FACE);
  glDisable(GL_BLEND);
  glEnable(GL_DEPTH_TEST);
  glDepthMask(GL_TRUE);
  const float far = 1;
  glClearNamedFramebufferfv(shadow_framebuffer_, GL_DEPTH, 0, &far);
  if (light.shadow_radius > 0) {
    pass.only_depth = true;
    pass.clip_from_world = pass.shadow_from_world;
    glBindFramebuffer(GL_FRAMEBUFFER, shadow_framebuffer_);
    glViewport(0, 0, kShadowSize, kShadowSize);
    for (Thing* thing : things) thing->paint(pass);
    pass.only_depth = false;
  }

  pass.clip_from_world = find_camera_matrix(camera, axes, tan_x, tan_y);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_ * fine_, height_ * fine_);
  glClearNamedFramebufferfv(framebuffer_, GL_DEPTH, 0, &far);
  glDisable(GL_DEPTH_TEST);
  glUseProgram(sky_program_);
  set(0, axes.ahead);
  set(1, axes.right * tan_x);
  set(2, axes.up * tan_y);
  set(3, to_double(light.zenith));
  set(4, to_double(light.horizon));
  glBindVertexArray(vertex_array_);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glEnable(GL_DEPTH_TEST);
  glBindTextureUnit(7, shadow_);
  glLineWidth(static_cast<float>(fine_));
  for (Thing* thing : things)
    if (thing->look() != Look::kGlow) thing->paint(pass);
  glLineWidth(1);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE);
  glDepthMask(GL_FALSE);
  for (Thing* thing : things)
    if (thing->look() == Look::kGlow) thing->paint(pass);
  glDepthMask(GL_TRUE);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

Painting Painter::read() const {
  // Of rows from below, averaged.
  const int wide = width_ * fine_, high = height_ * fine_;
  std::vector<float> fine(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high) * 4);
  glGetTextureImage(color_, 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(fine.size() * 4),
                    fine.data());
  Painting painting{width_, height_, {}};
  const float share = 1.0F / static_cast<float>(fine_ * fine_);
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      Vec3f sum{};
      for (int j = 0; j < fine_; ++j)
        for (int i = 0; i < fine_; ++i) {
          const int row = high - 1 - (y * fine_ + j), column = x * fine_ + i;
          const std::size_t at = (static_cast<std::size_t>(row) * static_cast<std::size_t>(wide) +
                                  static_cast<std::size_t>(column)) *
                                 4;
          // Bright ones count no more than white: edges of what shines stay smooth.
          const auto tame = [](float c) { return c / (1 + 0.25F * c); };
          sum += Vec3f{tame(fine[at]), tame(fine[at + 1]), tame(fine[at + 2])};
        }
      painting.pixels.push_back(sum * share);
    }
  return painting;
}

}  // namespace isotact::demo
