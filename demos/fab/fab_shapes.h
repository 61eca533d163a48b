// The scenes of FAB's evaluation ("Easy real-time collision detection", section 3), with the
// numbers of triangles that the paper states: a fighter in a tunnel with obstacles, the same in a
// city, and a skillet over a fire. Flags, plants, and fireworks, which exist only on a GPU, are in
// things.h.
//
// Units are metres, y is up, and the fighter's nose points to +x. The same call gives the same
// bytes on every machine. Many threads may call at once; the largest scene takes a fraction of a
// second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// ---- the fighter --------------------------------------------------------------------------------

inline constexpr int kFighterTriangles = 9716;       // In the tunnel.
inline constexpr int kFineFighterTriangles = 16792;  // In the city.
inline constexpr int kLeastFighterTriangles = 3000;

// Four wings, with an engine and a cannon on each: about 12.6 m long, 11 m wide. Its parts are
// closed, oriented outwards, and overlap: winding numbers of 2 are inside as well.
struct FighterShape {
  int triangles = kFighterTriangles;  // Exact; even, kLeastFighterTriangles to 200,000.
  double wing_degrees = 26;           // Between upper and lower wings, 0 to 60.
};
// Throws Error for values out of range.
TriangleMesh make_fighter(const FighterShape& shape = {});

// ---- scenes -------------------------------------------------------------------------------------

struct FabElement {
  std::string name;
  TriangleMesh mesh;
  Pose world_from_element{};  // At frame 0.
  std::uint32_t id = 0;       // From 1, in the order of the list.
  bool closed = true;         // Bounds a solid, oriented outwards; parts may overlap.
  Vec3f color{};              // Linear light.
};

struct FabScene {
  std::vector<FabElement> elements;
};
std::size_t count_triangles(const FabScene& scene);

// Elements at their poses of frame 0, as one mesh in the world frame. They keep their order.
struct FabSurface {
  TriangleMesh mesh;
  std::vector<std::uint32_t> ids;  // Element of each triangle.
};
FabSurface join_elements(const std::vector<FabElement>& elements);

inline constexpr int kTunnelTriangles = 69842;
inline constexpr int kTunnelFrames = 800;
// The wall (id 1, a closed thick shell) and obstacles: rocks, beams, gates, and pipes.
FabScene make_tunnel();
// Returns world_from_ship. Frames beyond the ends continue the path. In about two thirds of all
// frames, the fighter with open wings meets something (the paper: 515 of 800). It passes other
// things closely, beside it, above, and directly behind.
Pose compute_tunnel_pose(double frame);

inline constexpr int kCityTriangles = 315000;
inline constexpr int kCityFrames = 600;
inline constexpr std::uint32_t kAirshipId = 1;  // The moving element: compute_airship_pose.
// Airship, ground, a pole for the flag, houses, a bridge, domes. The ground (id 2) is a closed
// solid as well.
FabScene make_city();
Pose compute_city_pose(double frame);     // world_from_ship
Pose compute_airship_pose(double frame);  // world_from_element
// Positions of the things that only a GPU makes.
struct CityPlaces {
  Vec3 flag_pole{};  // Top of the pole; the flag hangs to +z.
  double flag_width = 0, flag_height = 0;
  Vec3 meadow{};           // Centre of the ground with plants, on it.
  double meadow_size = 0;  // Side of the square.
  Vec3 firework{};         // Position at which rockets burst.
  double firework_radius = 0;
};
CityPlaces find_city_places();
double find_city_ground(double x, double z);  // Height; for plants.

inline constexpr int kSkilletTriangles = 81920;
// Pan and handle (to +x). The centre of the pan's underside is the origin. The pan is 0.28 m
// across.
TriangleMesh make_skillet();
// Over a fire at the origin: moves back and forth and tilts a little. Time in seconds.
Pose compute_skillet_pose(double seconds);

}  // namespace isotact
