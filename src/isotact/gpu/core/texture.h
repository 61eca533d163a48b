// Textures of three dimensions, filtered linearly, clamped to their rim. Ownership as in buffer.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace isotact {

enum class TexelFormat : std::uint8_t {
  kSnorm16x4,  // four signed normalised integers
  kHalf4,      //
  kFloat4,     //
  kFloat,      // one float32
};

class GpuTexture3d {
 public:
  GpuTexture3d() = default;  // empty
  // Throws Error where the GPU allows no such size or has no room.
  GpuTexture3d(TexelFormat format, const std::array<std::int32_t, 3>& size);
  GpuTexture3d(GpuTexture3d&& other) noexcept;
  GpuTexture3d& operator=(GpuTexture3d&& other) noexcept;
  ~GpuTexture3d();

  std::uint32_t name() const { return name_; }
  const std::array<std::int32_t, 3>& size() const { return size_; }
  TexelFormat format() const { return format_; }

  // A box of texels, x fastest, in the format's own numbers.
  void upload(const std::array<std::int32_t, 3>& first, const std::array<std::int32_t, 3>& size,
              std::span<const std::byte> texels);
  void read(std::span<std::byte> texels) const;  // all of it
  void bind(std::uint32_t unit) const;           // for a sampler
  void bind_image(std::uint32_t unit) const;     // for imageLoad and imageStore
  // For bindless access: resident from then on, until the texture is destroyed. Needs
  // GpuInfo::bindless.
  std::uint64_t handle();

 private:
  void destroy();
  std::uint32_t name_ = 0;
  std::array<std::int32_t, 3> size_{};
  TexelFormat format_ = TexelFormat::kSnorm16x4;
  std::uint64_t handle_ = 0;
};

std::size_t bytes_of_texel(TexelFormat format);

}  // namespace isotact
