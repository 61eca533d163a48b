// Test whether triangles of an environment stay clear of an object, as far as tiles of its depth
// map can decide. It runs on the CPU in some microseconds for tens of thousands of triangles. The
// transfer to the GPU and back takes ten times as long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/detail/lanes.h"
#include "isotact/gpu/depth/detail/mesh_state.h"
#include "isotact/gpu/depth/detail/solid_tiles.h"

namespace isotact::detail {

class TriangleSieve {
 public:
  // For a picture. Keeps its memory.
  void begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels);
  // Tests an element of triangles at a pose. True: all of them are clear of the tiles' boxes, which
  // contain the object, with the half pixel between a tile and the centres of its neighbours'
  // pixels. False: some are not, or a decision would take long.
  bool is_clear(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
                const glsl::Rows3x4& clip_from_element);

 private:
  // Positions of an element's corners, off by no more than `room`: columns of a matrix, in three
  // lanes.
  struct Placing {
    using Column = Lanes<float, 4>;
    Column x{0}, y{0}, z{0}, start{0};
    Column size_x{0}, size_y{0}, size_z{0};  // The same without signs.
    Column room{0};

    ISOTACT_INLINE Column place(const Vec3f& p) const {
      return x * p.x + y * p.y + z * p.z + start;
    }
    // Half extent of a box, with tolerance.
    ISOTACT_INLINE Column compute_reach(const Vec3f& half) const {
      return size_x * half.x + size_y * half.y + size_z * half.z + room;
    }
  };
  struct Placed;
  void set_placing(const GpuMeshes::State::Element& element,
                   const glsl::Rows3x4& clip_from_element);
  bool is_triangle_clear(const Vec3f* corners) const;
  bool is_over(const Placed& triangle, const Vec3f& room, int column, int row) const;

  const SolidTiles* solid_ = nullptr;
  std::array<float, 3> scale_{};  // Tiles and depths per clip coordinate.
  std::size_t bundles_left_ = 0;
  Placing placing_;
};

}  // namespace isotact::detail
