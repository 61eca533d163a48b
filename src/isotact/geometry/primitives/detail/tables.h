// The parameter tables of all shapes.
#pragma once

#include <array>

#include "isotact/geometry/primitives/detail/parameters.h"

namespace isotact::detail {

inline constexpr double kMinLength = kSmallestLength, kMaxLength = kLargestLength;

template <>
struct ShapeTable<SphereShape> {
  using S = SphereShape;
  static constexpr const char* kName = "sphere";
  static constexpr const char* kHelp = "geodesic sphere";
  static constexpr std::array kParameters{
      parameter<&S::radius>("radius", kMinLength, kMaxLength, "metres"),
      parameter<&S::frequency>("frequency", 1, 1e5, "cuts of each icosahedron edge"),
  };
};

template <>
struct ShapeTable<BoxShape> {
  using S = BoxShape;
  static constexpr const char* kName = "box";
  static constexpr const char* kHelp = "box, optionally with cut faces";
  static constexpr std::array kParameters{
      parameter<&S::size_x>("size_x", kMinLength, kMaxLength, "metres"),
      parameter<&S::size_y>("size_y", kMinLength, kMaxLength, "metres"),
      parameter<&S::size_z>("size_z", kMinLength, kMaxLength, "metres"),
      parameter<&S::segments>("segments", 1, 1e5, "cuts of the longest edge"),
  };
};

template <>
struct ShapeTable<CapsuleShape> {
  using S = CapsuleShape;
  static constexpr const char* kName = "capsule";
  static constexpr const char* kHelp = "cylinder with round ends, along y";
  static constexpr std::array kParameters{
      parameter<&S::radius>("radius", kMinLength, kMaxLength, "metres"),
      parameter<&S::length>("length", kMinLength, kMaxLength, "between the round ends' centres"),
      parameter<&S::segments>("segments", 6, 1e5, "around the axis"),
  };
};

template <>
struct ShapeTable<CylinderShape> {
  using S = CylinderShape;
  static constexpr const char* kName = "cylinder";
  static constexpr const char* kHelp = "cylinder with flat ends, along y";
  static constexpr std::array kParameters{
      parameter<&S::radius>("radius", kMinLength, kMaxLength, "metres"),
      parameter<&S::height>("height", kMinLength, kMaxLength, "metres"),
      parameter<&S::segments>("segments", 3, 1e5, "around the axis"),
  };
};

template <>
struct ShapeTable<TorusShape> {
  using S = TorusShape;
  static constexpr const char* kName = "torus";
  static constexpr const char* kHelp = "ring around y";
  static constexpr std::array kParameters{
      parameter<&S::radius>("radius", kMinLength, kMaxLength, "of the middle of the tube"),
      parameter<&S::tube_radius>("tube_radius", kMinLength, kMaxLength, "less than radius"),
      parameter<&S::segments>("segments", 3, 1e5, "around the axis"),
      parameter<&S::tube_segments>("tube_segments", 3, 1e5, "around the tube"),
  };
};

template <>
struct ShapeTable<KnotShape> {
  using S = KnotShape;
  static constexpr const char* kName = "knot";
  static constexpr const char* kHelp = "tube along a (p, q) torus knot";
  static constexpr std::array kParameters{
      parameter<&S::p>("p", 1, 50, "turns around the axis; no common divisor with q"),
      parameter<&S::q>("q", 1, 50, "turns around the torus tube"),
      parameter<&S::ring_radius>("ring_radius", kMinLength, kMaxLength, "of the torus"),
      parameter<&S::winding_radius>("winding_radius", kMinLength, kMaxLength,
                                    "of the torus tube, less than ring_radius"),
      parameter<&S::tube_radius>("tube_radius", kMinLength, kMaxLength,
                                 "of the knotted tube, which must not touch itself"),
      parameter<&S::segments>("segments", 12, 1e6, "along the knot"),
      parameter<&S::tube_segments>("tube_segments", 3, 1e5, "around the tube"),
  };
};

template <>
struct ShapeTable<BowlShape> {
  using S = BowlShape;
  static constexpr const char* kName = "bowl";
  static constexpr const char* kHelp = "thick bowl with a rounded rim, open towards +y";
  static constexpr std::array kParameters{
      parameter<&S::radius>("radius", kMinLength, kMaxLength, "of the outside"),
      parameter<&S::thickness>("thickness", kMinLength, kMaxLength, "less than half the radius"),
      parameter<&S::foot_radius>("foot_radius", 0, kMaxLength, "of the flat foot; 0 for none"),
      parameter<&S::rim_degrees>("rim_degrees", 30, 150, "from the bottom to the rim"),
      parameter<&S::segments>("segments", 8, 1e5, "around the axis"),
  };
};

template <>
struct ShapeTable<GearShape> {
  using S = GearShape;
  static constexpr const char* kName = "gear";
  static constexpr const char* kHelp = "spur gear with involute flanks and a bore, around y";
  static constexpr std::array kParameters{
      parameter<&S::module>("module", kMinLength, kMaxLength, "pitch diameter / teeth, metres"),
      parameter<&S::teeth>("teeth", 5, 1e4, "number of teeth"),
      parameter<&S::pressure_angle_degrees>("pressure_angle_degrees", 14, 30, "usually 20"),
      parameter<&S::width>("width", kMinLength, kMaxLength, "along the axis"),
      parameter<&S::bore_radius>("bore_radius", kMinLength, kMaxLength, "of the hole"),
      parameter<&S::backlash>("backlash", 0, kMaxLength, "play on the pitch circle"),
      parameter<&S::flank_segments>("flank_segments", 2, 1e4, "along each flank"),
      parameter<&S::tip_segments>("tip_segments", 1, 1e4, "across each tip"),
      parameter<&S::root_segments>("root_segments", 1, 1e4, "across each gap"),
      parameter<&S::width_segments>("width_segments", 1, 1e4, "along the axis"),
  };
};

template <>
struct ShapeTable<LinkShape> {
  using S = LinkShape;
  static constexpr const char* kName = "link";
  static constexpr const char* kHelp = "link of a chain, in the plane x-y";
  static constexpr std::array kParameters{
      parameter<&S::straight>("straight", kMinLength, kMaxLength, "length of straight parts"),
      parameter<&S::bend_radius>("bend_radius", kMinLength, kMaxLength, "of the wire's middle"),
      parameter<&S::wire_radius>("wire_radius", kMinLength, kMaxLength, "less than bend_radius"),
      parameter<&S::segments>("segments", 12, 1e6, "along the wire"),
      parameter<&S::wire_segments>("wire_segments", 3, 1e5, "around the wire"),
  };
};

template <>
struct ShapeTable<BoltShape> {
  using S = BoltShape;
  static constexpr const char* kName = "bolt";
  static constexpr const char* kHelp = "hexagon bolt with an ISO metric thread (M16 x 2), along y";
  static constexpr std::array kParameters{
      parameter<&S::diameter>("diameter", kMinLength, kMaxLength, "of the thread, nominal"),
      parameter<&S::pitch>("pitch", kMinLength, kMaxLength, "of the thread"),
      parameter<&S::length>("length", kMinLength, kMaxLength, "of the shank"),
      parameter<&S::thread_length>("thread_length", kMinLength, kMaxLength,
                                   "at the end of the shank"),
      parameter<&S::head_height>("head_height", kMinLength, kMaxLength, "of the head"),
      parameter<&S::head_width>("head_width", kMinLength, kMaxLength, "across the flats"),
      parameter<&S::segments>("segments", 48, 48e3, "around the axis, a multiple of 48"),
      parameter<&S::flank_rows>("flank_rows", 1, 100, "across each flank"),
  };
};

template <>
struct ShapeTable<NutShape> {
  using S = NutShape;
  static constexpr const char* kName = "nut";
  static constexpr const char* kHelp = "hexagon nut that fits the bolt, around y";
  static constexpr std::array kParameters{
      parameter<&S::diameter>("diameter", kMinLength, kMaxLength, "of the thread, nominal"),
      parameter<&S::pitch>("pitch", kMinLength, kMaxLength, "of the thread"),
      parameter<&S::clearance>("clearance", 0, kMaxLength, "gap between the flanks"),
      parameter<&S::height>("height", kMinLength, kMaxLength, "along the axis"),
      parameter<&S::width>("width", kMinLength, kMaxLength, "across the flats"),
      parameter<&S::segments>("segments", 48, 48e3, "around the axis, a multiple of 48"),
      parameter<&S::flank_rows>("flank_rows", 1, 100, "across each flank"),
  };
};

template <>
struct ShapeTable<TerrainShape> {
  using S = TerrainShape;
  static constexpr const char* kName = "terrain";
  static constexpr const char* kHelp = "square of hills, closed to a solid";
  static constexpr std::array kParameters{
      parameter<&S::size>("size", kMinLength, kMaxLength, "width of the square"),
      parameter<&S::height>("height", 0, kMaxLength, "of the hills"),
      parameter<&S::base>("base", kMinLength, kMaxLength, "least thickness"),
      parameter<&S::features>("features", 0.1, 1e3, "hills along an edge"),
      parameter<&S::roughness>("roughness", 0, 1, "height of each octave against the last"),
      parameter<&S::octaves>("octaves", 1, 16, "layers of detail"),
      parameter<&S::cells>("cells", 2, 1e5, "along an edge"),
      parameter<&S::seed>("seed", 0, kLargestSeed, "chooses the hills"),
  };
};

template <>
struct ShapeTable<PipeShape> {
  using S = PipeShape;
  static constexpr const char* kName = "pipe";
  static constexpr const char* kHelp = "winding pipe with open ends, downhill towards +x";
  static constexpr std::array kParameters{
      parameter<&S::inner_radius>("inner_radius", kMinLength, kMaxLength, "of the hole"),
      parameter<&S::wall>("wall", kMinLength, kMaxLength, "thickness"),
      parameter<&S::span>("span", kMinLength, kMaxLength, "between the ends, in x"),
      parameter<&S::drop>("drop", 0, kMaxLength, "between the ends, in y"),
      parameter<&S::sway>("sway", 0, kMaxLength, "reach of the windings, in z"),
      parameter<&S::windings>("windings", 0, 100, "number of windings"),
      parameter<&S::segments>("segments", 3, 1e6, "along the pipe"),
      parameter<&S::tube_segments>("tube_segments", 3, 1e5, "around the pipe"),
      parameter<&S::seed>("seed", 0, kLargestSeed, "chooses the windings"),
  };
};

template <>
struct ShapeTable<ShipShape> {
  using S = ShipShape;
  static constexpr const char* kName = "ship";
  static constexpr const char* kHelp = "small spaceship, nose towards +x";
  static constexpr std::array kParameters{
      parameter<&S::length>("length", kMinLength, kMaxLength, "from nose to nozzles"),
      parameter<&S::triangles>("triangles", 4000, 2e6, "how many; one less where odd"),
  };
};

template <>
struct ShapeTable<BlobShape> {
  using S = BlobShape;
  static constexpr const char* kName = "blob";
  static constexpr const char* kHelp = "smooth rabbit, stands in for the Stanford bunny";
  static constexpr std::array kParameters{
      parameter<&S::height>("height", kMinLength, kMaxLength, "from paws to ears"),
      parameter<&S::triangles>("triangles", 4000, 2e6, "how many; one less where odd"),
  };
};

}  // namespace isotact::detail
