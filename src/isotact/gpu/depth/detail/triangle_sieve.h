// Whether triangles of an environment stay clear of an object, as far as tiles of its depth map can
// tell: found on the CPU, in some microseconds for tens of thousands of triangles, where the way to
// the GPU and back takes ten times as long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/lanes.h"
#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/gpu/detail/solid_tiles.h"

namespace isotact::detail {

class TriangleSieve {
 public:
  // Of a picture. Keeps its memory.
  void begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels);
  // An element of triangles at a pose. True: all of them are clear of the tiles' boxes, in which
  // the object is, with the half pixel between a tile and the middles of its neighbours' pixels.
  // False: some are not, or it would take long to tell.
  bool is_clear(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
                const std::array<float, 12>& clip_from_element);

 private:
  // Places of an element's corners, off by no more than `room`: columns of a matrix, in three
  // lanes.
  struct Placing {
    using Column = Lanes<float, 4>;
    Column x{0}, y{0}, z{0}, start{0};
    Column size_x{0}, size_y{0}, size_z{0};  // the same without signs
    Column room{0};

    ISOTACT_INLINE Column place(const Vec3f& p) const {
      return x * p.x + y * p.y + z * p.z + start;
    }
    // Of a box, half of it, with room.
    ISOTACT_INLINE Column find_reach(const Vec3f& half) const {
      return size_x * half.x + size_y * half.y + size_z * half.z + room;
    }
  };
  struct Placed;
  void set_placing(const GpuMeshes::State::Element& element,
                   const std::array<float, 12>& clip_from_element);
  bool is_triangle_clear(const Vec3f* corners) const;
  bool is_over(const Placed& triangle, const Vec3f& room, int column, int row) const;

  const SolidTiles* solid_ = nullptr;
  std::array<float, 3> scale_{};  // tiles and depths of a clip coordinate
  std::size_t bundles_left_ = 0;
  Placing placing_;
};

}  // namespace isotact::detail
