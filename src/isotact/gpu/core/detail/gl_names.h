// Names of OpenGL's objects that are deleted at the end, and a buffer for results. Ownership as in
// buffer.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "isotact/gpu/core/buffer.h"

namespace isotact::detail {

// A texture of one level and two dimensions. Throws Error if the GPU lacks memory.
class GlTexture {
 public:
  GlTexture() = default;
  GlTexture(std::uint32_t format, std::int32_t width, std::int32_t height);
  GlTexture(GlTexture&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlTexture& operator=(GlTexture&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlTexture();
  std::uint32_t name() const { return name_; }

 private:
  std::uint32_t name_ = 0;
};

class GlFramebuffer {
 public:
  GlFramebuffer() = default;
  // Without attachments, only a size.
  GlFramebuffer(std::int32_t width, std::int32_t height);
  // Zero: without.
  GlFramebuffer(const GlTexture& depth, bool has_stencil, const GlTexture& color);
  GlFramebuffer(GlFramebuffer&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlFramebuffer& operator=(GlFramebuffer&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlFramebuffer();
  std::uint32_t name() const { return name_; }

 private:
  std::uint32_t name_ = 0;
};

// A vertex array without attributes, for shaders that find their vertices themselves.
class GlVertexArray {
 public:
  GlVertexArray();
  GlVertexArray(const GlVertexArray&) = delete;
  GlVertexArray& operator=(const GlVertexArray&) = delete;
  ~GlVertexArray();
  std::uint32_t name() const { return name_; }

 private:
  std::uint32_t name_ = 0;
};

// Transfer of results to the CPU while the GPU continues: a buffer that both access.
class Readback {
 public:
  // Throws Error if the memory is not available.
  explicit Readback(std::size_t bytes);
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  ~Readback();

  // Starts to copy the first bytes of a buffer, after all work submitted before.
  void begin(const GpuBuffer& from, std::size_t bytes);
  // Waits for it. The bytes stay valid until the next begin; any thread may read them.
  std::span<const std::byte> wait();

 private:
  std::uint32_t name_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
  void* fence_ = nullptr;
};

}  // namespace isotact::detail
