// Memory of the GPU. All objects belong to the context that was current when they were made. It
// must be current when they are used or destroyed. They are not for several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// A storage buffer. Throws Error if the memory is not available.
class GpuBuffer {
 public:
  GpuBuffer() = default;  // Zero bytes.
  explicit GpuBuffer(std::size_t bytes);
  template <typename T>
  explicit GpuBuffer(std::span<const T> data) : GpuBuffer(data.size_bytes()) {
    upload(data);
  }
  GpuBuffer(GpuBuffer&& other) noexcept;
  GpuBuffer& operator=(GpuBuffer&& other) noexcept;
  ~GpuBuffer();

  std::uint32_t name() const { return name_; }  // OpenGL's name.
  std::size_t size() const { return bytes_; }

  // Ensures a capacity of at least so many bytes. If it must grow, it takes half more than
  // requested and loses its content.
  void reserve(std::size_t bytes);
  void upload_bytes(std::span<const std::byte> data, std::size_t offset = 0);
  // Waits until the GPU has finished with it.
  void read_bytes(std::span<std::byte> data, std::size_t offset = 0) const;
  void clear();                                             // Fills it with zero bytes.
  void clear_bytes(std::size_t offset, std::size_t bytes);  // Multiples of four.
  void bind(std::uint32_t binding) const;                   // As a storage buffer.

  template <typename T>
  void upload(std::span<const T> data, std::size_t offset = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    upload_bytes(std::as_bytes(data), offset);
  }
  template <typename T>
  void read(std::span<T> data, std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    read_bytes(std::as_writable_bytes(data), offset);
  }

 private:
  std::uint32_t name_ = 0;
  std::size_t bytes_ = 0;
};

// Memory that both sides access and that stays mapped, for data that is sent or received
// repeatedly. A copy allocates nothing, and several threads may fill or read it. It has one
// direction, since memory that the CPU only writes is slow to read.
class GpuStage {
 public:
  enum class Direction : std::uint8_t { kUp, kDown };

  explicit GpuStage(Direction direction) : direction_(direction) {}
  GpuStage(const GpuStage&) = delete;
  GpuStage& operator=(const GpuStage&) = delete;
  ~GpuStage();

  // OpenGL's name: shaders may read or write it directly.
  std::uint32_t name() const { return name_; }
  std::size_t size() const { return bytes_; }

  // Ensures a capacity, as GpuBuffer::reserve. No copy may be in progress.
  void reserve(std::size_t bytes);
  // Up: fill it before send, and leave it unchanged until the GPU has finished (finish_gpu). Down:
  // the data of receive, once the GPU has finished.
  template <typename T>
  std::span<T> view(std::size_t count, std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(data_ + offset), count};
  }
  // Copies between the stage from `offset` on and the first bytes of a buffer. Both return at once.
  void send(const GpuBuffer& to, std::size_t bytes, std::size_t offset = 0) const;
  void receive(const GpuBuffer& from, std::size_t bytes, std::size_t offset = 0) const;

 private:
  Direction direction_;
  std::uint32_t name_ = 0;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace isotact
