// The corners of PLY faces and triangle strips on their way into a mesh.
#pragma once

#include <cstdint>

#include "isotact/geometry/io/detail/mesh_builder.h"

namespace isotact::detail {

// Call begin(), add() for each corner, end(), for each face or strip.
class PlyCorners {
 public:
  PlyCorners(MeshBuilder& builder, std::uint64_t vertex_count, bool are_strips)
      : builder_(builder), vertex_count_(vertex_count), are_strips_(are_strips) {}

  void begin() {
    builder_.begin_polygon();
    strip_length_ = 0;
  }
  // False where the index names no vertex.
  bool add(std::int64_t index) {
    if (are_strips_) return add_to_strip(index);
    if (index < 0 || static_cast<std::uint64_t>(index) >= vertex_count_) return false;
    builder_.add_corner(static_cast<std::uint32_t>(index));
    return true;
  }
  // False where a face had fewer than three corners.
  bool end() { return are_strips_ || builder_.end_polygon(); }

 private:
  bool add_to_strip(std::int64_t index) {
    if (index == -1) {  // a new strip begins
      strip_length_ = 0;
      return true;
    }
    if (index < 0 || static_cast<std::uint64_t>(index) >= vertex_count_) return false;
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint32_t a = before_[0], b = before_[1];
    // Every other triangle of a strip is turned; flat ones only carry the strip to another place.
    if (strip_length_ >= 2 && a != b && b != c && a != c)
      builder_.add_triangle(strip_length_ % 2 == 0 ? Triangle{a, b, c} : Triangle{b, a, c});
    before_[0] = b;
    before_[1] = c;
    ++strip_length_;
    return true;
  }

  MeshBuilder& builder_;
  std::uint64_t vertex_count_;
  bool are_strips_;
  std::uint64_t strip_length_ = 0;
  std::uint32_t before_[2] = {};
};

}  // namespace isotact::detail
