#include "isotact/gpu/core/detail/gl_names.h"

#include <cassert>

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
  throw Error(fmt::format("the GPU has no memory for a picture of {} x {}", width, height));
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

namespace {

GLsync to_fence(void* fence) { return static_cast<GLsync>(fence); }

}  // namespace

Readback::Readback(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  while (glGetError() != GL_NO_ERROR) {
  }
  constexpr GLbitfield kMap = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  const auto size = static_cast<GLsizeiptr>(bytes);
  glCreateBuffers(1, &name_);
  glNamedBufferStorage(name_, size, nullptr, kMap | GL_CLIENT_STORAGE_BIT);
  data_ = static_cast<const std::byte*>(glMapNamedBufferRange(name_, 0, size, kMap));
  if (glGetError() == GL_NO_ERROR && data_ != nullptr) return;
  glDeleteBuffers(1, &name_);
  throw Error(fmt::format("there is no memory for {} bytes that the GPU can write to", bytes));
}

Readback::~Readback() {
  if (fence_ != nullptr) glDeleteSync(to_fence(fence_));
  if (name_ != 0) glDeleteBuffers(1, &name_);
}

void Readback::begin(const GpuBuffer& from, std::size_t bytes) {
  assert(bytes <= bytes_ && bytes <= from.size());
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glCopyNamedBufferSubData(from.name(), name_, 0, 0, static_cast<GLsizeiptr>(bytes));
  used_ = bytes;
  if (fence_ != nullptr) glDeleteSync(to_fence(fence_));
  fence_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
}

std::span<const std::byte> Readback::wait() {
  if (fence_ != nullptr) {
    constexpr GLuint64 kSecond = 1'000'000'000;
    while (glClientWaitSync(to_fence(fence_), GL_SYNC_FLUSH_COMMANDS_BIT, kSecond) ==
           GL_TIMEOUT_EXPIRED) {
    }
    glDeleteSync(to_fence(fence_));
    fence_ = nullptr;
  }
  return {data_, used_};
}

}  // namespace isotact::detail
