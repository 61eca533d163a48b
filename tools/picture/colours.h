// The colours that mean something, one table for slice, render, segments, collide and simulate. The
// viewer has the same (viewer/src/scene/colours.ts), and docs/colours.md says what they mean; a
// test holds all three together.
#pragma once

#include <algorithm>
#include <array>

#include "picture/picture.h"
#include "picture/text.h"

namespace isotact::tool {

// Distance fields, from the surface away.
inline constexpr Rgb8 kInsideNear{255, 236, 214}, kInside{244, 165, 82}, kInsideFar{176, 84, 18};
inline constexpr Rgb8 kOutsideNear{232, 242, 251}, kOutside{133, 182, 222},
    kOutsideFar{46, 102, 165};
inline constexpr Rgb8 kZero{25, 28, 36};       // the zero line, and isolines, fainter
inline constexpr Rgb8 kOutline{255, 225, 40};  // the exact cross-section of a mesh

// Contact, by depth where there is one; normals are as dark as a contact.
inline constexpr Rgb8 kContactShallow{243, 155, 140}, kContact{206, 24, 44},
    kContactDeep{106, 15, 42};
inline constexpr Rgb8 kNormal = kContact;
inline constexpr Rgb8 kPath{122, 127, 136};  // of a point, where it is outside of the other body
inline constexpr Rgb8 kForce{47, 158, 110}, kTorque{154, 127, 209};

// The two bodies of a pair.
inline constexpr Rgb8 kBodyA{104, 150, 190}, kBodyB{172, 166, 146};

// Levels of a point tree, the finest that is shown first.
inline constexpr std::array<Rgb8, 5> kLevels{
    {{124, 153, 196}, {97, 188, 173}, {225, 196, 80}, {221, 111, 80}, {173, 89, 173}}};

inline constexpr Rgb8 kText{60, 62, 68}, kWarning{176, 106, 0};

struct NamedColour {
  const char* name;
  Rgb8 colour;
};
inline constexpr NamedColour kColours[] = {
    {"insideNear", kInsideNear},
    {"inside", kInside},
    {"insideFar", kInsideFar},
    {"outsideNear", kOutsideNear},
    {"outside", kOutside},
    {"outsideFar", kOutsideFar},
    {"zero", kZero},
    {"outline", kOutline},
    {"contactShallow", kContactShallow},
    {"contact", kContact},
    {"contactDeep", kContactDeep},
    {"normal", kNormal},
    {"path", kPath},
    {"force", kForce},
    {"torque", kTorque},
    {"bodyA", kBodyA},
    {"bodyB", kBodyB},
    {"level0", kLevels[0]},
    {"level1", kLevels[1]},
    {"level2", kLevels[2]},
    {"level3", kLevels[3]},
    {"level4", kLevels[4]},
    {"text", kText},
    {"warning", kWarning},
};

// What a surface of this colour gives back of the light, for renderings.
inline Vec3 to_albedo(const Rgb8& colour) {
  return {decode_srgb(colour[0] / 255.0), decode_srgb(colour[1] / 255.0),
          decode_srgb(colour[2] / 255.0)};
}

// Along three stops, t from 0 to 1.
inline Rgb8 ramp(const std::array<Rgb8, 3>& stops, double t) {
  t = std::clamp(t, 0.0, 1.0) * 2;
  return t < 1 ? blend(stops[0], stops[1], t) : blend(stops[1], stops[2], t - 1);
}

}  // namespace isotact::tool
