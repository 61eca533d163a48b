// Fields from meshes, with distances found by a GPU.
//
//   const GpuContext gpu = GpuContext::create();
//   GpuFieldBuilder builder(gpu);
//   FieldResult field = build_field(mesh, {.resolution = 1024, .device = &builder});
//
// As a DistanceDevice it serves build_field, build_dense_grid and build_first_order_field: the
// fields are those of the CPU except for rounding. build_first_order_texture leaves the field on
// the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/surface/surface.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/texture.h"

namespace ISOTACT_PUBLIC isotact {

// First-order texels as described in field/texels/field_texels.h.
struct FirstOrderTexture {
  GpuTexture3d texture;  // kSnorm16x4, one texel per node.
  Lattice lattice{};
  float b_scale = 1;
  // Metres: error of the distance of a node, including the rounding of texels. Nodes nearer than
  // that to the surface may have the wrong sign.
  double node_error = 0;
  Aabb body{};  // Contains the body; metres.
  // Times in milliseconds. Some of them overlap. `surface` is that of a mesh.
  struct Times {
    double surface = 0, signs = 0, tree = 0, upload = 0;  // On the CPU.
    double search = 0, texels = 0;                        // By the GPU's own clock.
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
  // Compiles its shaders: up to a second. The context must be current here and whenever this object
  // is used, and must outlive it.
  explicit GpuFieldBuilder(const GpuContext& context);
  ~GpuFieldBuilder() override;

  std::string name() const override;
  std::unique_ptr<DeviceDistances> open(const TriangleMesh& mesh, const Lattice& lattice,
                                        Threads threads, std::string& why) override;

  // Works on any lattice whose box contains the surface (and its shell); otherwise throws Error.
  // Signs are those of build_first_order_field. So are gradients, if nodes are not within a
  // thousandth of a cell of the surface (distance_device.h). Throws Error if the GPU lacks memory,
  // Cancelled if the monitor requests it. The texture is complete when this returns.
  FirstOrderTexture build_first_order_texture(const Surface& surface, const Lattice& lattice,
                                              const TextureSettings& settings = {});

  // The same from a mesh, with its surface from prepare_surface. The surface and the signs are
  // found while the GPU measures the given triangles. If the surface has other triangles (a mesh
  // with flaws), it measures again. Errors are those of both. Monitors are also called from another
  // thread.
  MeshTexture build_first_order_texture(const TriangleMesh& mesh, const Lattice& lattice,
                                        const SurfaceSettings& surface,
                                        const TextureSettings& settings = {});

 private:
  struct State;
  class TextureBuild;
  std::unique_ptr<State> state_;
};

}  // namespace isotact
