// A field in the form of a GPU's filtered textures: nodes of a lattice with 16 bits per component,
// one hardware fetch per value. KGM, sections 3.2 and 4.3. The CPU reads the same texels.
//
// First order: a node at x_i contains the gradient g_i and b_i = f_i - 1/2 g_i . (x_i - middle),
// lengths in cells, and the field is
//   f(x) = T b + 1/2 T g . (x - middle),   T: trilinear interpolation,
// which is KGM's equation 12 (first_order_field.h corrects its misprints). FirstOrderField keeps
// f_i instead of b_i, since b_i is as large as the box. But then six fetches are needed, compared
// with one here. Four measures make 16 bits enough for b_i:
//   * positions count from the middle of the box;
//   * b_i belongs to the stored gradient: the rounding of g_i is not multiplied by the position;
//   * signed normalised integers instead of halves (KGM): all steps are equally small. With halves
//     the error is that of the largest b_i, eight times as much;
//   * their range is that of the largest b_i, about a third of the box.
//
// In all, the error of f at nodes is half a step: 0.0005 cells at 64 cells per axis, 0.008 at 1024.
// A GPU's filter adds up to `rounding` (below), most of it by weights of eight bits.
//
// Zeroth order, for comparison: f_i alone, float32, and gradients by differences over a cell, as
// most others do.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/first_order_field.h"

namespace ISOTACT_PUBLIC isotact {

enum class TexelOrder : std::uint32_t { kZeroth = 0, kFirst = 1 };

struct FieldTexels {
  Lattice lattice{};
  TexelOrder order = TexelOrder::kFirst;
  // First order: g_x g_y g_z b, each an integer / 32767; b times b_scale is in cells.
  std::vector<std::int16_t> first{};
  float b_scale = 1;
  std::vector<float> zeroth{};  // Metres.
  // Lipschitz bound of sample() below, outside of the box as well; except for the rounding of
  // floats.
  double lipschitz = 1;
  // Metres: |value - true distance| within four cells of the surface, and elsewhere in the box. It
  // is proved from the samples alone, so it is valid beside every crease; hence never below a cell.
  double near_error = 0, far_error = 0;
  // Metres: |f_i - true distance| at nodes with |f_i| of up to kFirstOrderNear cells, and at
  // others.
  double node_error = 0, far_node_error = 0;
  // Metres: nodes whose true distance is less than this are within node_error of it, whatever their
  // value, like those of brick fields in their band. Negative: not known.
  double near = -1;
  double rounding = 0;  // Metres: largest difference between a GPU's filter and sample().
  Aabb body{};          // Box of the body, as tight as known; metres.
};

inline constexpr double kTexelSteps = 32767;  // Steps of a signed normalised integer.

// One node of first order: the gradient in whole steps, and b for the stored gradient, so that its
// rounding is not multiplied by the position. Lengths are in cells; the position counts from the
// middle of the lattice's box. texel.glsl does the same on a GPU.
struct TexelParts {
  std::array<std::int16_t, 3> gradient{};
  double b = 0;  // Cells.
};
TexelParts make_texel_parts(double value, const Vec3& gradient, const Vec3& from_middle);

// Throw Error for a body without a finite box, and if gradients are longer than a distance's can
// be. The texels are the same for any number of threads.
FieldTexels make_first_order_texels(const FirstOrderField& field, const Aabb& body,
                                    Threads threads = {});
FieldTexels make_zeroth_order_texels(const FirstOrderField& field, const Aabb& body,
                                     Threads threads = {});

// A lower bound of the distance at a node is, except for node_error,
//   f if f is at most kFirstOrderNear cells, else max(min(f, near), f - excess).
// Either the node is nearer to the surface than `near`, and f is right, or it is not nearer. Cells.
struct NodeBound {
  float near = 0, excess = 0;
};
NodeBound compute_node_bound(const FieldTexels& texels);

// Returns the numbers that the shader computes, in float as it does: metres, and the direction of
// steepest ascent, of unit length. For first order this is T g, not the derivative of f, which
// would need more than one fetch. Outside of the box it follows extend_outside (field.h). Kernels
// use texel_kernel.h.
struct TexelSample {
  float distance = 0;
  Vec3f direction{};
};
TexelSample sample(const FieldTexels& texels, const Vec3f& point);

}  // namespace isotact
