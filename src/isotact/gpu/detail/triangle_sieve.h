// Which triangles of an environment may show in an object's depth map, and in which of its tiles:
// found on the CPU, in a microsecond or two for some ten thousands of triangles, so that the GPU has
// next to nothing left to do, or nothing at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/gpu/detail/solid_tiles.h"

namespace isotact::detail {

class TriangleSieve {
 public:
  // Of a picture; with room for all that is found. `most_bundles`: that are looked into.
  void begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels,
             std::size_t most_bundles);
  // An element of triangles at a pose. False: too many, which ends it. No triangle that covers the
  // middle of a pixel in which the object is, at a depth at which it is, is left out; nor one that
  // comes as near as half a pixel.
  bool add(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
           const std::array<float, 12>& clip_from_element);

  // Of the last element: corner / 3.
  const std::vector<std::uint32_t>& triangles() const { return triangles_; }
  // Of all: places in the list of covered tiles.
  const std::vector<std::uint32_t>& tiles() const { return tiles_; }

 private:
  struct Placed;
  Vec3f place(const Vec3f& corner) const;
  bool may_meet(const ClusterNode& node) const;
  void test(const Vec3f* corners, std::uint32_t triangle);
  bool mark(const Placed& triangle, int column, int row);

  const SolidTiles* solid_ = nullptr;
  std::size_t bundles_left_ = 0;
  std::array<float, 3> scale_{};  // tiles and depths of a clip coordinate
  // Of the element: places of its corners are rows * corner, and off by no more than room_.
  std::array<float, 12> rows_{};
  Vec3f room_{};
  std::vector<std::uint32_t> triangles_, tiles_;
  std::vector<std::uint32_t> marks_;  // of tiles: the picture that they were last found in
  std::uint32_t picture_ = 0;
};

}  // namespace isotact::detail
