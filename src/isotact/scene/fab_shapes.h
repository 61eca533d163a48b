// The scenes of FAB's evaluation ("Easy real-time collision detection", section 3), made here with
// the numbers of triangles that the paper states: a fighter in a tunnel with obstacles, the same in
// a city, and a skillet over a fire. Flags, plants, and fireworks, which exist on a GPU only, are
// in demos/fab.
//
// Metres, y is up, the fighter's nose points to +x. The same call gives the same bytes on every
// machine. Safe to call from many threads; the largest takes a fraction of a second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// ---- the fighter --------------------------------------------------------------------------------

inline constexpr int kFighterTriangles = 9716;       // in the tunnel
inline constexpr int kFineFighterTriangles = 16792;  // in the city
inline constexpr int kLeastFighterTriangles = 3000;

// Four wings, an engine and a cannon on each: some 12.6 m long, 11 m wide. Closed parts, turned
// outwards, that run into each other: winding numbers of 2 are inside, too.
struct FighterShape {
  int triangles = kFighterTriangles;  // exactly; even, kLeastFighterTriangles to 200,000
  double wing_degrees = 26;           // between upper and lower wings, 0 to 60
};
// Throws Error for what is out of range.
TriangleMesh make_fighter(const FighterShape& shape = {});

// ---- scenes -------------------------------------------------------------------------------------

struct FabElement {
  std::string name;
  TriangleMesh mesh;
  Pose world_from_element{};  // at frame 0
  std::uint32_t id = 0;       // from 1 on, in the order of the list
  bool closed = true;         // bounds a solid, turned outwards; parts may run into each other
  Vec3f color{};              // linear light
};

struct FabScene {
  std::vector<FabElement> elements;
};
std::size_t count_triangles(const FabScene& scene);

// Elements where they are at frame 0, as one mesh in the world's frame. They keep their order.
struct FabSurface {
  TriangleMesh mesh;
  std::vector<std::uint32_t> ids;  // a triangle's element
};
FabSurface join_elements(const std::vector<FabElement>& elements);

inline constexpr int kTunnelTriangles = 69842;
inline constexpr int kTunnelFrames = 800;
// The wall (id 1, a closed thick shell) and obstacles: rocks, beams, gates, and pipes.
FabScene make_tunnel();
// world_from_ship. Frames beyond the ends go on. In about two thirds of all frames the fighter
// with open wings meets something (the paper: 515 of 800); it passes other things closely, beside
// it, above, and right behind.
Pose find_tunnel_pose(double frame);

inline constexpr int kCityTriangles = 315000;
inline constexpr int kCityFrames = 600;
inline constexpr std::uint32_t kAirshipId = 1;  // the element that moves: find_airship_pose
// Airship, ground, a pole for the flag, houses, a bridge, domes. The ground (id 2) is a closed
// solid, too.
FabScene make_city();
Pose find_city_pose(double frame);     // world_from_ship
Pose find_airship_pose(double frame);  // world_from_element
// Where the things stand that only a GPU makes.
struct CityPlaces {
  Vec3 flag_pole{};  // top of the pole; the flag hangs to +z
  double flag_width = 0, flag_height = 0;
  Vec3 meadow{};           // middle of the ground with plants, on it
  double meadow_size = 0;  // side of the square
  Vec3 firework{};         // where rockets burst
  double firework_radius = 0;
};
CityPlaces find_city_places();
double find_city_ground(double x, double z);  // height; for plants

inline constexpr int kSkilletTriangles = 81920;
// Pan and handle (to +x); the middle of the pan's underside is the origin. Pan 0.28 m across.
TriangleMesh make_skillet();
// Over a fire at the origin: moves to and fro and tilts a little. Seconds.
Pose find_skillet_pose(double seconds);

}  // namespace isotact
