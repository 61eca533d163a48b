// Fields from meshes, with distances found by a GPU.
//
//   const GpuContext gpu = GpuContext::create();
//   GpuFieldBuilder builder(gpu);
//   FieldResult field = build_field(mesh, {.resolution = 1024, .device = &builder});
//
// As a DistanceDevice it serves build_field, build_dense_grid and build_first_order_field: the
// fields are those of the processor but for rounding. build_first_order_texture leaves the field on
// the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/build/surface.h"
#include "isotact/gpu/context.h"
#include "isotact/gpu/texture.h"

namespace isotact {

// Texels as field/field_texels.h describes them, of first order.
struct FirstOrderTexture {
  GpuTexture3d texture;  // kSnorm16x4, a texel a node
  Lattice lattice{};
  float b_scale = 1;
  // Metres: how far the distance that a node stands for can be off, the rounding of texels
  // included. Nodes nearer than that to the surface may have the wrong sign.
  double node_error = 0;
  Aabb body{};  // holds the body; metres
  // Where the time went, milliseconds; some at the same time. `surface` is that of a mesh.
  struct Times {
    double surface = 0, signs = 0, tree = 0, upload = 0;  // the processor's
    double search = 0, texels = 0;                        // the GPU's own clock
    double all = 0;
  } times{};
};

struct MeshTexture {
  FirstOrderTexture texture;
  Surface surface;
};

struct TextureSettings {
  Threads threads{};
  Monitor monitor{};
};

class GpuFieldBuilder final : public DistanceDevice {
 public:
  // Compiles its shaders: up to a second. The context must be current here and whenever this is
  // used, and outlive it.
  explicit GpuFieldBuilder(const GpuContext& context);
  ~GpuFieldBuilder() override;

  std::string name() const override;
  std::unique_ptr<DeviceDistances> open(const TriangleMesh& mesh, const Lattice& lattice,
                                        Threads threads, std::string& why) override;

  // On any lattice whose box holds the surface (and its shell), else Error. Signs are those of
  // build_first_order_field; gradients too, where nodes are not within a thousandth of a cell of
  // the surface (distance_device.h). Throws Error where the GPU has no room, Cancelled when the
  // monitor says so. The texture is complete when this returns.
  FirstOrderTexture build_first_order_texture(const Surface& surface, const Lattice& lattice,
                                              const TextureSettings& settings = {});

  // The same from a mesh, with its surface by prepare_surface. That, and the signs, are found while
  // the GPU measures the triangles as they are; where the surface has others (a mesh with flaws),
  // it does so again. Errors are those of both. Monitors are asked from another thread, too.
  MeshTexture build_first_order_texture(const TriangleMesh& mesh, const Lattice& lattice,
                                        const SurfaceSettings& surface,
                                        const TextureSettings& settings = {});

 private:
  struct State;
  class TextureBuild;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
