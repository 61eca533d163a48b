// Which triangles of an environment may show in an object's depth map, and in which of its tiles:
// found on the CPU, in a microsecond or two for some ten thousands of triangles, so that the GPU has
// next to nothing left to do, or nothing at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/lanes.h"
#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/gpu/detail/solid_tiles.h"

namespace isotact::detail {

class TriangleSieve {
 public:
  // Of a picture. Keeps its memory.
  void begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels);
  // An element of triangles at a pose: how many of its bundles may meet the solid. No triangle that
  // covers the middle of a pixel in which the object is, at a depth at which it is, is left out; nor
  // one that comes as near as half a pixel.
  std::size_t add(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
                  const std::array<float, 12>& clip_from_element);
  // All are there. Where few bundles are left, their triangles are looked at one by one; where many
  // are, it is quicker to ask the GPU.
  void finish();

  struct Found {
    std::uint32_t triangle;  // corner / 3
    std::uint32_t element;   // of those with bundles
  };
  const std::vector<Found>& found() const { return found_; }
  // Places in the list of covered tiles; empty where nothing was found.
  const std::vector<std::uint32_t>& tiles() const { return tiles_; }

 private:
  // Places of an element's corners, off by no more than `room`: columns of a matrix, in three lanes.
  struct Placing {
    using Column = Lanes<float, 4>;
    Column x{0}, y{0}, z{0}, start{0};
    Column size_x{0}, size_y{0}, size_z{0};  // the same without signs
    Column room{0};
    const Vec3f* corners = nullptr;

    ISOTACT_INLINE Column place(const Vec3f& p) const {
      return x * p.x + y * p.y + z * p.z + start;
    }
    // Of a box, half of it, with room.
    ISOTACT_INLINE Column find_reach(const Vec3f& half) const {
      return size_x * half.x + size_y * half.y + size_z * half.z + room;
    }
  };
  struct Bundle {
    std::uint32_t first, count;  // triangles
    std::uint32_t element;
    Vec3f lower, upper;  // in the picture
  };
  struct Placed;
  bool test(const Placing& placing, std::uint32_t triangle);
  bool is_over(const Placed& triangle, const Vec3f& room, int column, int row) const;
  void mark(int column, int row);

  const SolidTiles* solid_ = nullptr;
  std::array<float, 3> scale_{};  // tiles and depths of a clip coordinate
  std::vector<Placing> placings_;
  std::vector<Bundle> bundles_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> tiles_;
  std::vector<std::uint32_t> marks_;  // of tiles: the picture that they were last found in
  std::uint32_t picture_ = 0;
};

}  // namespace isotact::detail
