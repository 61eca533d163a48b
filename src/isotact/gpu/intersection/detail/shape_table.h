// Shapes and pairs of intersection queries for the shaders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/core/texture.h"
#include "isotact/gpu/intersection/detail/shape_layout.h"
#include "isotact/queries/intersection/intersection_plan.h"

namespace isotact::detail {

using glsl::ShapeRecord;

// Returns the record for particles that move in A's frame and units, as shaders read it.
// a_from_pair leads to A's units, b_from_pair from those to B's, and scales are metres per unit.
// The rest is the same.
IdfPairRecord make_gpu_pair(const IdfPairRecord& record, std::span<const IdfShape> shapes);

// Uploaded once. Texels are in textures of their own if the GPU has bindless ones, otherwise in one
// atlas per format.
class ShapeTable {
 public:
  // Throws Error if the GPU cannot store the textures.
  ShapeTable(const GpuInfo& info, std::span<const IdfShape> shapes, bool allow_bindless);

  void bind() const;
  // The defines for compiling the shaders for these shapes.
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
  GpuTexture3d atlas_[2];  // By order.
  std::uint64_t texture_bytes_ = 0;
};

}  // namespace isotact::detail
