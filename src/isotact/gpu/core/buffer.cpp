#include "isotact/gpu/core/buffer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {

GpuBuffer::GpuBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  while (glGetError() != GL_NO_ERROR) {
  }
  glCreateBuffers(1, &name_);
  // Storage that the CPU may neither map nor write stays on the GPU. Drivers move other buffers
  // into the CPU's memory once they have been read back, and writing to them is slow from then on.
  glNamedBufferStorage(name_, static_cast<GLsizeiptr>(bytes), nullptr, 0);
  if (glGetError() == GL_NO_ERROR) return;
  glDeleteBuffers(1, &name_);
  throw Error(fmt::format("the GPU has no memory for a buffer of {} bytes", bytes));
}

GpuBuffer::GpuBuffer(GpuBuffer&& other) noexcept
    : name_(std::exchange(other.name_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

GpuBuffer& GpuBuffer::operator=(GpuBuffer&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GpuBuffer::~GpuBuffer() {
  if (name_ != 0) glDeleteBuffers(1, &name_);
}

void GpuBuffer::reserve(std::size_t bytes) {
  if (bytes > bytes_) *this = GpuBuffer(bytes + bytes / 2);
}

void GpuBuffer::upload_bytes(std::span<const std::byte> data, std::size_t offset) {
  assert(offset + data.size() <= bytes_);
  if (data.empty()) return;
  GLuint stage = 0;
  glCreateBuffers(1, &stage);
  glNamedBufferStorage(stage, static_cast<GLsizeiptr>(data.size()), data.data(), 0);
  glCopyNamedBufferSubData(stage, name_, 0, static_cast<GLintptr>(offset),
                           static_cast<GLsizeiptr>(data.size()));
  glDeleteBuffers(1, &stage);
}

void GpuBuffer::read_bytes(std::span<std::byte> data, std::size_t offset) const {
  assert(offset + data.size() <= bytes_);
  if (data.empty()) return;
  // Through memory that both sides access, a piece at a time.
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 26U;
  const std::size_t piece = std::min(data.size(), kMostAtOnce);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  GLuint stage = 0;
  glCreateBuffers(1, &stage);
  glNamedBufferStorage(stage, static_cast<GLsizeiptr>(piece), nullptr,
                       GL_MAP_READ_BIT | GL_CLIENT_STORAGE_BIT);
  for (std::size_t at = 0; at < data.size(); at += piece) {
    const std::size_t bytes = std::min(piece, data.size() - at);
    glCopyNamedBufferSubData(name_, stage, static_cast<GLintptr>(offset + at), 0,
                             static_cast<GLsizeiptr>(bytes));
    const void* mapped =
        glMapNamedBufferRange(stage, 0, static_cast<GLsizeiptr>(bytes), GL_MAP_READ_BIT);
    if (mapped == nullptr) {
      glDeleteBuffers(1, &stage);
      throw Error(fmt::format("{} bytes could not be read back from the GPU", bytes));
    }
    std::memcpy(data.data() + at, mapped, bytes);
    glUnmapNamedBuffer(stage);
  }
  glDeleteBuffers(1, &stage);
}

void GpuBuffer::clear() {
  if (bytes_ > 0) clear_bytes(0, bytes_ / 4 * 4);
}

void GpuBuffer::clear_bytes(std::size_t offset, std::size_t bytes) {
  assert(offset % 4 == 0 && bytes % 4 == 0 && offset + bytes <= bytes_);
  if (bytes == 0) return;
  glClearNamedBufferSubData(name_, GL_R32UI, static_cast<GLintptr>(offset),
                            static_cast<GLsizeiptr>(bytes), GL_RED_INTEGER, GL_UNSIGNED_INT,
                            nullptr);
}

void GpuBuffer::bind(std::uint32_t binding) const {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, name_);
}

GpuStage::~GpuStage() {
  if (name_ != 0) glDeleteBuffers(1, &name_);  // Also unmaps it.
}

void GpuStage::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (name_ != 0) glDeleteBuffers(1, &name_);
  name_ = 0;
  data_ = nullptr;
  bytes_ = 0;
  const std::size_t wanted = bytes + bytes / 2;
  const GLbitfield access = GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT |
                            (direction_ == Direction::kUp ? GL_MAP_WRITE_BIT : GL_MAP_READ_BIT);
  glCreateBuffers(1, &name_);
  glNamedBufferStorage(name_, static_cast<GLsizeiptr>(wanted), nullptr,
                       access | GL_CLIENT_STORAGE_BIT);
  data_ = static_cast<std::byte*>(
      glMapNamedBufferRange(name_, 0, static_cast<GLsizeiptr>(wanted), access));
  if (data_ == nullptr)
    throw Error(fmt::format("the GPU has no memory for a stage of {} bytes", wanted));
  bytes_ = wanted;
}

void GpuStage::send(const GpuBuffer& to, std::size_t bytes, std::size_t offset) const {
  assert(direction_ == Direction::kUp && offset + bytes <= bytes_ && bytes <= to.size());
  if (bytes == 0) return;
  glCopyNamedBufferSubData(name_, to.name(), static_cast<GLintptr>(offset), 0,
                           static_cast<GLsizeiptr>(bytes));
}

void GpuStage::receive(const GpuBuffer& from, std::size_t bytes, std::size_t offset) const {
  assert(direction_ == Direction::kDown && offset + bytes <= bytes_ && bytes <= from.size());
  if (bytes == 0) return;
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glCopyNamedBufferSubData(from.name(), name_, 0, static_cast<GLintptr>(offset),
                           static_cast<GLsizeiptr>(bytes));
}

}  // namespace isotact
