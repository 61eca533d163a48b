// Three-dimensional textures with linear filtering, clamped to the edge. Ownership as in buffer.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class TexelFormat : std::uint8_t {
  kSnorm16x4,  // Four signed normalised integers.
  kHalf4,
  kFloat4,
  kFloat,  // One float32.
};

class GpuTexture3d {
 public:
  GpuTexture3d() = default;  // Empty.
  // Throws Error if the GPU does not allow the size or lacks memory.
  GpuTexture3d(TexelFormat format, const std::array<std::int32_t, 3>& size);
  GpuTexture3d(GpuTexture3d&& other) noexcept;
  GpuTexture3d& operator=(GpuTexture3d&& other) noexcept;
  ~GpuTexture3d();

  std::uint32_t name() const { return name_; }
  const std::array<std::int32_t, 3>& size() const { return size_; }
  TexelFormat format() const { return format_; }

  // Uploads a box of texels, x fastest, in the numbers of the format.
  void upload(const std::array<std::int32_t, 3>& first, const std::array<std::int32_t, 3>& size,
              std::span<const std::byte> texels);
  void read(std::span<std::byte> texels) const;  // Reads all texels.
  void bind(std::uint32_t unit) const;           // For a sampler.
  void bind_image(std::uint32_t unit) const;     // For imageLoad and imageStore.
  // Returns a handle for bindless access. The texture is resident from then on, until it is
  // destroyed. Needs GpuInfo::bindless.
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
