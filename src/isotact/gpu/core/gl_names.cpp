#include "isotact/gpu/core/detail/gl_names.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

void check_complete(GLuint framebuffer) {
  const GLenum status = glCheckNamedFramebufferStatus(framebuffer, GL_DRAW_FRAMEBUFFER);
  if (status != GL_FRAMEBUFFER_COMPLETE)
    throw Error(fmt::format("the GPU cannot draw into the pictures wanted ({:#x})", status));
}

}  // namespace

GlTexture::GlTexture(std::uint32_t format, std::int32_t width, std::int32_t height) {
  while (glGetError() != GL_NO_ERROR) {
  }
  glCreateTextures(GL_TEXTURE_2D, 1, &name_);
  glTextureStorage2D(name_, 1, format, width, height);
  if (glGetError() == GL_NO_ERROR) {
    glTextureParameteri(name_, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(name_, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return;
  }
  glDeleteTextures(1, &name_);
  throw Error(fmt::format("the GPU has no room for a picture of {} x {}", width, height));
}
GlTexture::~GlTexture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

GlFramebuffer::GlFramebuffer(std::int32_t width, std::int32_t height) {
  glCreateFramebuffers(1, &name_);
  glNamedFramebufferParameteri(name_, GL_FRAMEBUFFER_DEFAULT_WIDTH, width);
  glNamedFramebufferParameteri(name_, GL_FRAMEBUFFER_DEFAULT_HEIGHT, height);
  check_complete(name_);
}

GlFramebuffer::GlFramebuffer(const GlTexture& depth, bool has_stencil, const GlTexture& color) {
  glCreateFramebuffers(1, &name_);
  if (depth.name() != 0)
    glNamedFramebufferTexture(
        name_, has_stencil ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT, depth.name(), 0);
  if (color.name() != 0) glNamedFramebufferTexture(name_, GL_COLOR_ATTACHMENT0, color.name(), 0);
  glNamedFramebufferDrawBuffer(name_, color.name() != 0 ? GL_COLOR_ATTACHMENT0 : GL_NONE);
  check_complete(name_);
}
GlFramebuffer::~GlFramebuffer() {
  if (name_ != 0) glDeleteFramebuffers(1, &name_);
}

GlVertexArray::GlVertexArray() { glCreateVertexArrays(1, &name_); }
GlVertexArray::~GlVertexArray() { glDeleteVertexArrays(1, &name_); }

}  // namespace isotact::detail
