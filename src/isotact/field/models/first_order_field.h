// A field that stores value and gradient at the nodes of a lattice and interpolates both: KGM
// section 3.2, the "Dutch Taylor" expansion. Each node i approximates its surroundings by
//   f_i + 1/2 grad f_i . (x - x_i),
// and the eight approximations around a point are mixed with trilinear weights. The factor 1/2
// makes the mixture exact for polynomials of second degree. The error falls with the third power of
// the spacing, compared with the second for plain samples.
//
// As printed, KGM's equation 9 lacks f in its first term ("x0 + ..."). Equation 10 lacks the
// gradient of f in its second component ("grad x . x"). The intended formula is the line above. It
// is stored as a = 1/2 grad f(x_i) and b = f(x_i) - a . x_i. It is evaluated as x . sum w_i a_i +
// sum w_i b_i.
//
// We do not store b. Its size is that of the position, so 16 bits round it by up to a quarter of a
// cell at 1024 cells from the origin. The rounding of a is also multiplied by the position:
// together more than a third of a cell. With an origin of its own for every node b is f itself, and
// nothing is lost near the surface, where f is small. The sum stays the same polynomial:
//   sum w_i (f_i + a_i . (x - x_i)),
// in the cell's coordinates u, v, w in [0, 1], with lengths in cells (spacing h):
//   T f + u (1-u) (a_x|u=0 - a_x|u=1) + v (1-v) (a_y|v=0 - a_y|v=1) + w (1-w) (a_z|w=0 - a_z|w=1).
// T is trilinear interpolation, and a_x|u=0 is the bilinear one on the face u = 0 at (v, w). On a
// face of the cell only the nodes of that face count: the field is continuous, rounded or not.
//
// A GPU does the same with RGBA textures of these texels. It uses either 8 texelFetch and the
// formula, or 6 hardware-filtered fetches, at the projections of the point onto the six faces of
// its cell. These give every a_x|u=0 and so on. The two on u = 0 and u = 1 give T f as (1-u)
// f|u=0 + u f|u=1. (One fetch is not enough: it lacks sum w_i a_i . x_i. Hardware rounds its
// weights to 8 bits.)
//
// Texel: (a_x, a_y, a_z, f / h), x fastest. The unit of f is a cell, so that 16 bits serve bodies
// of every size alike. Within a cell of the surface the error of f is at most 2^-12 cells. At
// distance d it is 2^-11 d.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/lattice.h"

namespace ISOTACT_PUBLIC isotact {

class DistanceDevice;  // build/distance_device.h

enum class FirstOrderStorage : std::uint32_t {
  kFloat32 = 0,  // 16 bytes per node.
  kHalf = 1,     // 8 bytes per node, IEEE binary16: KGM's.
};

// The start of the flat buffer. Offsets are bytes from its start, multiples of 64.
struct FirstOrderHeader {
  char magic[8];          // "ISOFIRST"
  std::uint32_t version;  // 1
  std::uint32_t storage;  // FirstOrderStorage
  double origin[3];       // metres
  double spacing;         // metres
  std::int32_t cells[3];
  std::uint32_t holds_body;  // 1: outside of the box is outside of the body; 0: not known.
  double lipschitz;          // Bound of the field on all of space.
  // Metres: |stored - true distance| at nodes up to kFirstOrderNear cells.
  double near_error;
  double far_error;           // Metres: at the other nodes.
  std::uint32_t level_count;  // Levels of the tree of ranges.
  std::uint32_t unused0;
  std::uint64_t total_bytes;
  std::uint64_t texel_offset;  // Four float or binary16 per node.
  // {min, max} float in cells: level 1 first, with a node spanning 4^3 cells, then 8^3, to one
  // root; dims are rounded up.
  std::uint64_t tree_offset;
  std::uint8_t unused[136];
};
static_assert(sizeof(FirstOrderHeader) == 256 && offsetof(FirstOrderHeader, origin) == 16 &&
              offsetof(FirstOrderHeader, cells) == 48 &&
              offsetof(FirstOrderHeader, lipschitz) == 64 &&
              offsetof(FirstOrderHeader, total_bytes) == 96 &&
              offsetof(FirstOrderHeader, unused) == 120);

inline constexpr double kFirstOrderNear = 4;       // cells
inline constexpr int kMaxFirstOrderCells = 16384;  // Per axis.

struct FirstOrderSettings {
  FirstOrderStorage storage = FirstOrderStorage::kHalf;
  // The lattice's box contains the whole body, as with the padded boxes of builders: then the bound
  // of extend_outside is proved. False for a body that extends beyond the box, such as a plane.
  bool holds_body = true;
  std::uint64_t max_memory = 0;  // Bytes: first_order_build_bytes; 0: the memory of the machine.
  Threads threads{};
  Monitor monitor{};
  DistanceDevice* device = nullptr;  // For build_first_order_field, as in FieldSettings.
};

// Returns the bytes for the field and for building it. Needs a lattice of 1 to kMaxFirstOrderCells
// cells per axis.
double first_order_build_bytes(const Lattice& lattice, FirstOrderStorage storage);

class FirstOrderField;

namespace detail {
struct NodeSample {
  FieldSample sample{};
  Interval bounds{};
};
using NodeSampler = void (*)(const void* field, const Vec3& position, const Index3& node,
                             NodeSample& result);
FirstOrderField sample_first_order(const void* field, NodeSampler sampler, const Lattice& lattice,
                                   const FirstOrderSettings& settings);
}  // namespace detail

// Immutable; copies share the buffer. Any number of threads may query it.
class FirstOrderField {
 public:
  FirstOrderField() = default;  // Empty: no query is allowed.

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it (a vector, a mapped file).
  // Throws Error if find_flaw_in_first_order_field names a flaw; it reads the contents for
  // Check::kDeep only.
  static FirstOrderField from_buffer(std::span<const std::byte> buffer,
                                     std::shared_ptr<const void> owner, Check check = Check::kDeep);
  std::span<const std::byte> buffer() const { return buffer_; }

  // The Field concept. value and sample read eight nodes. range reads at most 5^3 cells or ranges.
  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return isotact::bounds(lattice_); }
  double lipschitz() const { return header().lipschitz; }
  Interval range(const Aabb& box) const;
  Interval distance_bounds(const Vec3& point) const;

  // The parts of the field.
  const FirstOrderHeader& header() const {
    return *reinterpret_cast<const FirstOrderHeader*>(buffer_.data());
  }
  const Lattice& lattice() const { return lattice_; }
  FirstOrderStorage storage() const { return storage_; }
  // Data for a texture upload: four components per node, x fastest. Empty for the other storage.
  std::span<const std::uint16_t> half_texels() const { return half_; }
  std::span<const float> float_texels() const { return float_; }
  // The four components at a node: a_x, a_y, a_z, f / spacing.
  std::array<float, 4> texel(std::int32_t i, std::int32_t j, std::int32_t k) const;

 private:
  friend FirstOrderField detail::sample_first_order(const void*, detail::NodeSampler,
                                                    const Lattice&, const FirstOrderSettings&);
  static FirstOrderField adopt(std::span<const std::byte> buffer,
                               std::shared_ptr<const void> owner);
  Interval range_in_box(const Aabb& part) const;

  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_;
  Lattice lattice_{};
  FirstOrderStorage storage_ = FirstOrderStorage::kFloat32;
  std::span<const float> float_{};
  std::span<const std::uint16_t> half_{};
  std::span<const std::array<float, 2>> tree_{};
};

// Describes what is wrong with a buffer that claims to be a first-order field. Everything that
// queries rely on is checked. With `deep` it also checks that every number is finite and that
// ranges and the Lipschitz bound are those of the texels. Cost: with `deep` that of building it
// from samples.
std::optional<std::string> find_flaw_in_first_order_field(std::span<const std::byte> buffer,
                                                          bool deep = true);

// Evaluates value, gradient and bounds of the field at every node. Throws Error for a lattice that
// is not usable, a sample that is not finite, or a value too large for 16 bits (65504 cells). Also
// throws Error for a memory limit that would not suffice (before allocating, with the figure that
// would). Throws Cancelled if the monitor's token was set. The result has the same bytes for any
// number of threads.
template <Field F>
FirstOrderField sample_first_order(const F& field, const Lattice& lattice,
                                   const FirstOrderSettings& settings = {}) {
  return detail::sample_first_order(
      &field,
      [](const void* opaque, const Vec3& at, const Index3&, detail::NodeSample& result) {
        const F& f = *static_cast<const F*>(opaque);
        result = {f.sample(at), f.distance_bounds(at)};
      },
      lattice, settings);
}

}  // namespace isotact
