// Which triangles part the inner corners of a cube from the outer ones (marching cubes), made by
// rule instead of by hand.
#pragma once

#include <array>
#include <cstdint>

namespace isotact::detail {

// Corner c lies at (c & 1, c >> 1 & 1, c >> 2 & 1). Edge e runs along axis e / 4 from a corner. The
// other two coordinates of this corner, in the order of the axes, are the bits of e % 4.
struct CubeEdge {
  std::uint8_t axis;
  std::uint8_t lower, upper;  // corners
};
constexpr CubeEdge cube_edge(std::uint32_t e) {
  const std::uint32_t axis = e / 4, u = e & 1U, v = (e >> 1U) & 1U;
  const std::uint32_t first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  const std::uint32_t lower = (u << first) | (v << second);
  return {static_cast<std::uint8_t>(axis), static_cast<std::uint8_t>(lower),
          static_cast<std::uint8_t>(lower | (1U << axis))};
}

struct CubeCase {
  std::uint16_t edges = 0;  // bit e: edge e is cut
  std::uint8_t triangle_count = 0;
  std::array<std::array<std::uint8_t, 3>, 5> triangles{};  // of edges; facing the outer corners
};

// By inner corners as bits. On a face whose corners alternate, the inner ones are parted. Both
// cubes at the face see the same four values and cut it alike, so surfaces have no cracks. No
// triangle has a side across a face other than where the face is cut. A side inside of a cube
// belongs to two triangles of that cube. A side on a face belongs to one triangle of each
// neighbour. Hence surfaces are manifold, wherever the cuts lie on their edges.
const std::array<CubeCase, 256>& cube_cases();

}  // namespace isotact::detail
