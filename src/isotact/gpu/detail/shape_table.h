// Shapes of intersection queries as the shaders see them (shaders/shapes.glsl).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/gpu/buffer.h"
#include "isotact/gpu/context.h"
#include "isotact/gpu/program.h"
#include "isotact/gpu/texture.h"
#include "isotact/queries/intersection_plan.h"

namespace isotact::detail {

// std430.
struct ShapeRecord {
  float p0[4], p1[4], p2[4];
  std::uint32_t kind, first_word;
  std::uint32_t handle[2];
};
static_assert(sizeof(ShapeRecord) == 64 && offsetof(ShapeRecord, kind) == 48);

// As particles.glsl reads it: an IdfPairRecord with frames for particles that move in A's frame and
// units. Only what is named here differs.
struct GpuPair {
  float a_from_pair[12];
  float b_from_a[12];
  std::uint32_t same0[12];
  float unit_a, unit_b;
  std::uint32_t same1[14];
};
static_assert(sizeof(GpuPair) == sizeof(IdfPairRecord) &&
              offsetof(GpuPair, unit_a) == offsetof(IdfPairRecord, scale_a));
GpuPair make_gpu_pair(const IdfPairRecord& record, std::span<const IdfShape> shapes);

// Uploaded once. Texels lie in textures of their own where the GPU has bindless ones, and in one
// atlas for each format where not.
class ShapeTable {
 public:
  // Throws Error where the GPU cannot take the textures.
  ShapeTable(const GpuInfo& info, std::span<const IdfShape> shapes, bool allow_bindless);

  void bind() const;
  // What the shaders must be compiled with for these shapes.
  const std::vector<ShaderDefine>& defines() const { return defines_; }
  std::uint64_t texture_bytes() const { return texture_bytes_; }

 private:
  void add_textures(std::span<const IdfShape> shapes);
  void add_atlas(std::span<const IdfShape> shapes, TexelOrder order, std::int64_t most);
  void add_bricks(std::span<const IdfShape> shapes, std::int64_t most_bytes);

  std::vector<ShapeRecord> records_;
  std::vector<ShaderDefine> defines_;
  GpuBuffer buffer_, bricks_;
  std::vector<GpuTexture3d> textures_;
  GpuTexture3d atlas_[2];  // by order
  std::uint64_t texture_bytes_ = 0;
};

}  // namespace isotact::detail
