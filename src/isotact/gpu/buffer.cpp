#include "isotact/gpu/buffer.h"

#include <cassert>
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
  glNamedBufferData(name_, static_cast<GLsizeiptr>(bytes), nullptr, GL_DYNAMIC_COPY);
  if (glGetError() == GL_NO_ERROR) return;
  glDeleteBuffers(1, &name_);
  throw Error(fmt::format("the GPU has no room for a buffer of {} bytes", bytes));
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
  glNamedBufferSubData(name_, static_cast<GLintptr>(offset), static_cast<GLsizeiptr>(data.size()),
                       data.data());
}

void GpuBuffer::read_bytes(std::span<std::byte> data, std::size_t offset) const {
  assert(offset + data.size() <= bytes_);
  if (data.empty()) return;
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glGetNamedBufferSubData(name_, static_cast<GLintptr>(offset),
                          static_cast<GLsizeiptr>(data.size()), data.data());
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

}  // namespace isotact
