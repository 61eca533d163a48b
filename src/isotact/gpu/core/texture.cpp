#include "isotact/gpu/core/texture.h"

#include <cassert>
#include <utility>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

struct GlFormat {
  GLenum internal, external, type;
  std::size_t bytes;
};

GlFormat gl_format(TexelFormat format) {
  switch (format) {
    case TexelFormat::kSnorm16x4:
      return {GL_RGBA16_SNORM, GL_RGBA, GL_SHORT, 8};
    case TexelFormat::kHalf4:
      return {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8};
    case TexelFormat::kFloat4:
      return {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16};
    case TexelFormat::kFloat:
      return {GL_R32F, GL_RED, GL_FLOAT, 4};
  }
  return {};
}

std::size_t texel_count(const std::array<std::int32_t, 3>& n) {
  return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
         static_cast<std::size_t>(n[2]);
}

}  // namespace

std::size_t bytes_of_texel(TexelFormat format) { return gl_format(format).bytes; }

GpuTexture3d::GpuTexture3d(TexelFormat format, const std::array<std::int32_t, 3>& size)
    : size_(size), format_(format) {
  GLint most = 0;
  glGetIntegerv(GL_MAX_3D_TEXTURE_SIZE, &most);
  for (const std::int32_t n : size)
    if (n < 1 || n > most)
      throw Error(fmt::format("a texture of {} x {} x {} texels: this GPU allows 1 to {} an axis",
                              size[0], size[1], size[2], most));
  while (glGetError() != GL_NO_ERROR) {
  }
  glCreateTextures(GL_TEXTURE_3D, 1, &name_);
  glTextureStorage3D(name_, 1, gl_format(format).internal, size[0], size[1], size[2]);
  if (glGetError() != GL_NO_ERROR) {
    glDeleteTextures(1, &name_);
    throw Error(fmt::format("the GPU has no memory for a texture of {} x {} x {} texels", size[0],
                            size[1], size[2]));
  }
  for (const GLenum filter : std::array<GLenum, 2>{GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTextureParameteri(name_, filter, GL_LINEAR);
  for (const GLenum wrap :
       std::array<GLenum, 3>{GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R})
    glTextureParameteri(name_, wrap, GL_CLAMP_TO_EDGE);
}

GpuTexture3d::GpuTexture3d(GpuTexture3d&& other) noexcept
    : name_(std::exchange(other.name_, 0)),
      size_(other.size_),
      format_(other.format_),
      handle_(std::exchange(other.handle_, 0)) {}

GpuTexture3d& GpuTexture3d::operator=(GpuTexture3d&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(size_, other.size_);
  std::swap(format_, other.format_);
  std::swap(handle_, other.handle_);
  return *this;
}

GpuTexture3d::~GpuTexture3d() { destroy(); }

void GpuTexture3d::destroy() {
  if (handle_ != 0) glMakeTextureHandleNonResidentARB(handle_);
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void GpuTexture3d::upload(const std::array<std::int32_t, 3>& first,
                          const std::array<std::int32_t, 3>& size,
                          std::span<const std::byte> texels) {
  const GlFormat f = gl_format(format_);
  if (texels.size() < texel_count(size) * f.bytes)
    throw Error(fmt::format("{} bytes are not enough for {} x {} x {} texels", texels.size(),
                            size[0], size[1], size[2]));
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTextureSubImage3D(name_, 0, first[0], first[1], first[2], size[0], size[1], size[2], f.external,
                      f.type, texels.data());
}

void GpuTexture3d::read(std::span<std::byte> texels) const {
  const GlFormat f = gl_format(format_);
  assert(texels.size() >= texel_count(size_) * f.bytes);
  glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glGetTextureImage(name_, 0, f.external, f.type, static_cast<GLsizei>(texels.size()),
                    texels.data());
}

void GpuTexture3d::bind(std::uint32_t unit) const { glBindTextureUnit(unit, name_); }

void GpuTexture3d::bind_image(std::uint32_t unit) const {
  glBindImageTexture(unit, name_, 0, GL_TRUE, 0, GL_READ_WRITE, gl_format(format_).internal);
}

std::uint64_t GpuTexture3d::handle() {
  if (handle_ == 0) {
    handle_ = glGetTextureHandleARB(name_);
    glMakeTextureHandleResidentARB(handle_);
  }
  return handle_;
}

}  // namespace isotact
