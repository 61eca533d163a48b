// Memory of the GPU. All of these belong to the context that was current when they were made, which
// must be current when they are used or destroyed. Not for several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace isotact {

// A storage buffer. Throws Error where the memory is not to be had.
class GpuBuffer {
 public:
  GpuBuffer() = default;  // of no bytes
  explicit GpuBuffer(std::size_t bytes);
  template <typename T>
  explicit GpuBuffer(std::span<const T> data) : GpuBuffer(data.size_bytes()) {
    upload(data);
  }
  GpuBuffer(GpuBuffer&& other) noexcept;
  GpuBuffer& operator=(GpuBuffer&& other) noexcept;
  ~GpuBuffer();

  std::uint32_t name() const { return name_; }  // OpenGL's
  std::size_t size() const { return bytes_; }

  // Makes room for at least so many bytes, a half more than asked for where it must grow; what was
  // in it is gone then.
  void reserve(std::size_t bytes);
  void upload_bytes(std::span<const std::byte> data, std::size_t offset = 0);
  // Waits until the GPU is done with it.
  void read_bytes(std::span<std::byte> data, std::size_t offset = 0) const;
  void clear();                                             // to zero bytes
  void clear_bytes(std::size_t offset, std::size_t bytes);  // multiples of four
  void bind(std::uint32_t binding) const;                   // as a storage buffer

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

// Memory that both sides reach and that stays mapped, for data that go up or come down again and
// again: nothing is made for a copy, and several threads may fill or read it. Of one direction,
// since memory that the CPU only writes is slow to read.
class GpuStage {
 public:
  enum class Way : std::uint8_t { kUp, kDown };

  explicit GpuStage(Way way) : way_(way) {}
  GpuStage(const GpuStage&) = delete;
  GpuStage& operator=(const GpuStage&) = delete;
  ~GpuStage();

  std::uint32_t name() const { return name_; }  // OpenGL's: shaders may read or write it in place
  std::size_t size() const { return bytes_; }

  // Makes room, as GpuBuffer::reserve. No copy may be under way.
  void reserve(std::size_t bytes);
  // Up: to be filled before send, and left alone until the GPU is done (finish_gpu).
  // Down: what receive brought, once the GPU is done.
  template <typename T>
  std::span<T> view(std::size_t count, std::size_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(data_ + offset), count};
  }
  // Between the stage from `offset` on and a buffer's first bytes. Both return at once.
  void send(const GpuBuffer& to, std::size_t bytes, std::size_t offset = 0) const;
  void receive(const GpuBuffer& from, std::size_t bytes, std::size_t offset = 0) const;

 private:
  Way way_;
  std::uint32_t name_ = 0;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace isotact
