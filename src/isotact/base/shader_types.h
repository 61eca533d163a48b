// Types for structs that C++ and GLSL both read. Such a struct is written once, in a header that
// C++ includes and that is embedded for shaders; docs/gpu.md says how to add one.
//
// C++ packs the members without gaps, so a struct must have none in GLSL either. Put a vec2 or a
// double at a multiple of 8 bytes, a vec3 or a vec4 at a multiple of 16. Put a scalar behind a
// vec3. tests/gpu/core/layout_test.cpp checks every struct by the rules of the standard and on the
// GPU.
#pragma once

#ifdef __cplusplus
#include <cstdint>

#include "isotact/export.h"

#define ISOTACT_CONSTANT inline constexpr  // before a constant's type
#define ISOTACT_DEFAULT(value) = value     // behind a member's name: its default in C++

namespace ISOTACT_PUBLIC isotact {
namespace glsl {

using uint = std::uint32_t;
using vec2 = float[2];
using vec3 = float[3];
using vec4 = float[4];
using ivec2 = std::int32_t[2];
using ivec3 = std::int32_t[3];
using ivec4 = std::int32_t[4];
using uvec2 = uint[2];
using uvec4 = uint[4];
// Three rows of an affine map: coordinate i of a point's image is the product of row i and
// (x, y, z, 1).
using Rows3x4 = float[12];

static_assert(sizeof(int) == 4 && sizeof(float) == 4 && sizeof(double) == 8);

}  // namespace glsl
}  // namespace isotact
#else
#define ISOTACT_CONSTANT const
#define ISOTACT_DEFAULT(value)
#define Rows3x4 vec4[3]
#define Vec3f vec3
#endif
