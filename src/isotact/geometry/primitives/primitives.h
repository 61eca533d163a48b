// Procedural shapes: closed, manifold, counter-clockwise seen from outside, free of
// self-intersection, made for tests, scenes and the demo.
//
// Each function takes a settings struct and returns a TriangleMesh. Lengths are in metres, y is up,
// and angles whose name ends in _degrees are in degrees. Shapes with an axis have it along y. An
// angle about it counts from +x in the positive (right-hand) sense of +y, hence towards -z. The
// same settings give the same bytes on every machine.
//
// Bad settings throw Error with the name of the parameter, its value and the allowed range.
// Settings are bad if they are out of range or contradict each other. They are bad if the surface
// would run through itself, as with too few segments for the windings. So they are if triangles are
// too small for float32 beside the whole. Every function is safe to call from many threads. Cost is
// linear in the triangles unless stated otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// No shape is made with more triangles than this.
inline constexpr double kMaxShapeTriangles = 50e6;

// A geodesic sphere about the origin: an icosahedron whose faces are cut into frequency^2. Vertices
// lie on the sphere, so volume and area are a little too small.
struct SphereShape {
  double radius = 0.5;
  int frequency = 16;
};
TriangleMesh make_sphere(const SphereShape& shape);

// A box about the origin. The longest edge is cut into `segments`, the others in proportion.
struct BoxShape {
  double size_x = 1, size_y = 1, size_z = 1;
  int segments = 1;
};
TriangleMesh make_box(const BoxShape& shape);

// A capsule about the origin, along y. length: between the centres of the two half-spheres.
struct CapsuleShape {
  double radius = 0.25, length = 0.5;
  int segments = 48;
};
TriangleMesh make_capsule(const CapsuleShape& shape);

// A cylinder about the origin, along y.
struct CylinderShape {
  double radius = 0.5, height = 1;
  int segments = 64;
};
TriangleMesh make_cylinder(const CylinderShape& shape);

// A torus about the origin, around y. radius: of the circle in the middle of the tube.
struct TorusShape {
  double radius = 0.375, tube_radius = 0.125;
  int segments = 96, tube_segments = 32;
};
TriangleMesh make_torus(const TorusShape& shape);

// A tube along a (p, q) torus knot around y: p times around the axis while q times around the tube
// of the torus. Both must have no common divisor. (2, 3) is the trefoil. It is centred on the
// origin. The bounds reach at most ring_radius + winding_radius + tube_radius in x and z,
// winding_radius + tube_radius in y.
struct KnotShape {
  int p = 2, q = 3;
  double ring_radius = 0.3, winding_radius = 0.13, tube_radius = 0.06;
  int segments = 384, tube_segments = 32;
};
TriangleMesh make_knot(const KnotShape& shape);

// A thick part of a sphere, open towards +y, with a rounded rim. It stands on a flat round foot at
// y = 0; with foot_radius 0 it is round below. radius: of its outside. The rim is at rim_degrees
// from the bottom, seen from the centre of the sphere: 90 is half a sphere.
struct BowlShape {
  double radius = 0.1, thickness = 0.008, foot_radius = 0.03, rim_degrees = 90;
  int segments = 96;
};
TriangleMesh make_bowl(const BowlShape& shape);

// A spur gear with involute flanks and the fillets that a rack would cut, around y, from -width/2
// to width/2, with a round bore. Tooth 0 points to +x. The addendum is 1 module, the dedendum 1.25
// modules. backlash: the difference between half the pitch and the thickness of a tooth, on the
// pitch circle. The radius of the tips is module * (teeth / 2 + 1).
struct GearShape {
  double module = 0.005;
  int teeth = 24;
  double pressure_angle_degrees = 20, width = 0.02, bore_radius = 0.015, backlash = 0.0001;
  int flank_segments = 8, tip_segments = 4, root_segments = 4, width_segments = 6;
};
TriangleMesh make_gear(const GearShape& shape);

// Returns the distance of parallel axes at which two gears with the same module and pressure angle
// mesh.
double gear_center_distance(double module, int teeth_a, int teeth_b);

// Gear a is at the origin, rotated by angle_a about y, and gear b is at (gear_center_distance, 0,
// 0). Returns the rotation of b about y that centres its teeth in a's gaps.
double gear_mesh_angle(int teeth_a, int teeth_b, double angle_a);

// A link of a chain: a round wire along a stadium in the plane x-y, about the origin, longer in y.
// The straight parts are `straight` long; bend_radius is that of the middle of the wire.
struct LinkShape {
  double straight = 0.03, bend_radius = 0.018, wire_radius = 0.008;
  int segments = 96, wire_segments = 32;
};
TriangleMesh make_link(const LinkShape& shape);

// A hexagon bolt along y: head from -head_height to 0, shank from 0 to `length`, the thread on its
// last thread_length. The defaults are M16 x 2. The profile is the ISO 68-1 basic profile: flanks
// of 60 degrees, flat crest pitch/8 wide, flat root pitch/4 wide, depth 0.5413 pitch. The thread is
// right-handed. It is full between runout (two pitches at the head's side) and the chamfer of the
// tip (about one pitch).
//
// The phase is the same for bolt and nut. The middle of the crest of the bolt is at y = pitch *
// (angle / 2 pi + any whole number). So is the middle of the groove of the nut. The angle has the
// sense defined at the top.
struct BoltShape {
  double diameter = 0.016, pitch = 0.002, length = 0.05, thread_length = 0.038;
  double head_height = 0.010, head_width = 0.024;  // Width across the flats.
  int segments = 96, flank_rows = 2;               // segments: a multiple of 48.
};
TriangleMesh make_bolt(const BoltShape& shape);

// A hexagon nut around y, from -height/2 to height/2, for the bolt of the same diameter and pitch.
// The clearance is the gap between the flanks, perpendicular to them, if the nut is centred on the
// bolt. The gap at crest and root is twice that. It is the smallest distance between the two
// surfaces as long as the nut is on the full thread. The nut can move by 2 * clearance radially and
// by 1.15 * clearance in either direction along the axis before they touch. This is true at any
// phase: the facets of the nut lie outside the true thread and those of the bolt inside.
struct NutShape {
  double diameter = 0.016, pitch = 0.002, clearance = 0.0001;
  double height = 0.013, width = 0.024;
  int segments = 96, flank_rows = 2;
};
TriangleMesh make_nut(const NutShape& shape);

// Returns the mating pose of a nut whose middle is at height y above the bolt's head. It is shifted
// by y and rotated by 2 pi y / pitch about y.
Pose bolt_from_nut(double pitch, double y);

// Hills by gradient noise (Perlin 2002), closed by walls and a flat bottom at y = 0 to a solid. The
// square is about the y axis, `size` wide. Hills lie between `base` and base + height; `base` is
// the least thickness. features: hills along an edge. Each octave halves the size of the details
// and multiplies their height by roughness.
struct TerrainShape {
  double size = 10, height = 1.5, base = 0.5, features = 4, roughness = 0.45;
  int octaves = 5, cells = 128;
  std::uint64_t seed = 1;
};
TriangleMesh make_terrain(const TerrainShape& shape);

// A tube with a wall, open at both ends, that winds downhill from -x to +x, so that balls roll
// through. The span is that in x between the ends, the drop that in y, at a steady slope. The sway
// is the reach of the windings in z. The seed varies the windings. The middle of the lower end is
// at y = 0.
struct PipeShape {
  double inner_radius = 0.04, wall = 0.006, span = 1, drop = 0.3, sway = 0.16, windings = 2;
  int segments = 192, tube_segments = 32;
  std::uint64_t seed = 1;
};
TriangleMesh make_pipe(const PipeShape& shape);

// A small spaceship: fuselage, swept wings, fins, and engines with hollow nozzles, as one smooth
// closed surface. The nose points to +x. triangles: their exact number, one less if it is odd; they
// are smaller where the surface bends. The default length is 1, from -0.5 to 0.5 in x. The ship
// then extends from -0.11 to 0.23 in y and from -0.46 to 0.46 in z. Cost: about 50 microseconds per
// triangle, as for the blob.
struct ShipShape {
  double length = 1;
  int triangles = 16792;
};
TriangleMesh make_ship(const ShipShape& shape);

// A substitute for the Stanford bunny: it sits on y = 0 with body, head, two ears, paws and tail,
// smooth and concave. It faces +z. triangles: their exact number, one less if it is odd. By default
// it extends from -0.058 to 0.058 in x, 0 to 0.2 in y, -0.095 to 0.086 in z.
struct BlobShape {
  double height = 0.2;
  int triangles = 16000;
};
TriangleMesh make_blob(const BlobShape& shape);

// The shapes by name, for tools that have no code for each one.

struct ShapeParameter {
  std::string name;
  double value = 0;  // The default.
  double minimum = 0, maximum = 0;
  bool whole = false;  // Takes whole numbers only.
  std::string help;
};

struct ShapeInfo {
  std::string name;
  std::string help;  // One line.
  std::vector<ShapeParameter> parameters;
};

const std::vector<ShapeInfo>& shape_catalogue();

// Parameters that are not named keep their defaults. An unknown shape or parameter throws Error
// with the nearest match and the possible ones.
TriangleMesh make_shape(std::string_view name,
                        const std::map<std::string, double>& parameters = {});

}  // namespace isotact
