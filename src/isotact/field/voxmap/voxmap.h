// Voxelmaps as SSL14 section 2.1 builds and reads them, in all three encodings. The voxels are the
// CELLS of a lattice; a voxel's value is that of its centre.
//
// SIGN. SSL14 counts penetration: POSITIVE INSIDE, negative outside, the opposite of everything
// else here. Stored numbers, and everything named layer or penetration, keep the paper's sign.
// Everything named distance is ours: negative inside. The two differ only by a minus sign.
//
// Encodings, from small to exact:
//   layers   v = 0 if the surface touches the (closed) voxel, n in the n-th layer inside, -n in
//            the n-th layer outside (also in cavities). The paper does not say which neighbours
//            make a layer; we take all 26. The n-th layer is then a shell one voxel thick on all
//            sides (chessboard distance, as McNeely, Puterbaugh and Troy 2006 do for the same
//            maps). The distance of its centres is at least (n - 1/2) s and at most (n + 1/2)
//            sqrt(3) s.
//   scaled   v = trunc(d 10^p): equation 1.
//   support  d in double, and its gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/first_order_field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

enum class VoxmapEncoding : std::uint32_t {
  kLayers = 0,   // 2 bytes per voxel; compressed in files.
  kScaled = 1,   // 4 bytes.
  kSupport = 2,  // 24 bytes.
};

// The method that finds the surface point nearest to a voxel (scaled and support).
enum class ClosestPointMethod : std::uint32_t {
  kExact = 0,  // By the triangles' hierarchy.
  // SSL14: straight along the layers' gradient at the voxel to the first surface voxel, whose
  // nearest point is used. The result is never too near, often too far. The next numbers are those
  // of the Stanford bunny at 128 voxels. Next to the surface it is too far by 0.1 voxels in the
  // median and 0.6 in the 99th percentile. In layers 2 to 4 it is 0.3 and 5 to 9, in layers 5 to 16
  // it is 1.2 and 29 to 40. It takes half the time of kExact.
  kLayerWalk = 1,
};

// One voxel of the support map. It has the paper's sign: positive inside, and the gradient points
// in.
struct SupportVoxel {
  double penetration;  // Metres.
  float gradient[3];   // Metres per metre.
  std::int32_t layer;
};
static_assert(sizeof(SupportVoxel) == 24 && offsetof(SupportVoxel, gradient) == 8);

// The start of the flat buffer. Offsets are bytes from its start, multiples of 64.
struct VoxmapHeader {
  char magic[8];           // "ISOVOXEL", or "ISOLAYER" for compressed layers.
  std::uint32_t version;   // 1
  std::uint32_t encoding;  // VoxmapEncoding
  double origin[3];        // metres
  double voxel_size;       // Metres: the paper's s.
  std::int32_t cells[3];
  std::int32_t precision;        // The paper's p: scaled only, else 0.
  std::uint32_t closest_method;  // ClosestPointMethod; 0 for layers.
  std::int32_t deepest_layer;    // Greatest v, at least 0.
  std::int32_t furthest_layer;   // Greatest -v, at least 0.
  std::uint32_t unused0;
  std::uint64_t surface_voxels;  // v = 0
  std::uint64_t inner_voxels;    // v > 0
  std::uint64_t outer_voxels;    // v < 0
  std::uint64_t total_bytes;
  std::uint64_t data_offset;  // int16, int32 or SupportVoxel per voxel, x fastest; or the code.
  std::uint8_t unused[136];
};
static_assert(sizeof(VoxmapHeader) == 256 && offsetof(VoxmapHeader, cells) == 48 &&
              offsetof(VoxmapHeader, surface_voxels) == 80 &&
              offsetof(VoxmapHeader, unused) == 120);

inline constexpr int kMaxVoxmapCells = 16384;   // Per axis.
inline constexpr int kMaxVoxmapPrecision = 12;  // From -12 to 12.

// Immutable; copies share the buffer. Any number of threads may query it.
class Voxmap {
 public:
  Voxmap() = default;  // Empty: no query is allowed.

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it. Throws Error if
  // find_flaw_in_voxmap names a flaw.
  static Voxmap from_buffer(std::span<const std::byte> buffer, std::shared_ptr<const void> owner);
  std::span<const std::byte> buffer() const { return buffer_; }

  const VoxmapHeader& header() const {
    return *reinterpret_cast<const VoxmapHeader*>(buffer_.data());
  }
  const Lattice& lattice() const { return lattice_; }
  VoxmapEncoding encoding() const { return static_cast<VoxmapEncoding>(header().encoding); }
  double voxel_size() const { return lattice_.spacing; }
  // Empty for the other encodings.
  std::span<const std::int16_t> layers() const { return layers_; }
  std::span<const std::int32_t> scaled() const { return scaled_; }
  std::span<const SupportVoxel> support() const { return support_; }

  Vec3 voxel_center(const Index3& voxel) const;
  Index3 voxel_at(const Vec3& point) const;  // The nearest one, for points outside of the box.
  bool is_solid(const Index3& voxel) const;  // On the surface or inside: the paper's v >= 0.

  // The paper's layer value, positive inside; layers and support only.
  int layer_value(const Index3& voxel) const;
  // Our sign: negative inside.
  int signed_layer(const Index3& voxel) const { return -layer_value(voxel); }

  // The paper's global part, v sigma: sigma = s for layers, lambda = 10^-p for scaled; the support
  // map's V_R(C). Metres, positive inside.
  double penetration_of_voxel(const Index3& voxel) const;
  double distance_of_voxel(const Index3& voxel) const { return -penetration_of_voxel(voxel); }

  // Equation 4: V(P) = n . (C - P) + v sigma, for a point of a pointshell with its unit normal. The
  // normal points into the pointshell's own body, hence out of this one at a contact. A positive
  // result is penetration in metres. Neither throws nor allocates. Outside of the box it is
  // extend_outside of the value at the nearest point of the box.
  double penetration(const Vec3& point, const Vec3& inward_normal) const;
  double distance(const Vec3& point, const Vec3& inward_normal) const {
    return -penetration(point, inward_normal);
  }

  // Equation 5, support only: V_R(C) + grad V_R . (P - C). The paper divides the second term by s.
  // That is right for a gradient of differences from voxel to voxel, in metres per voxel. Ours is
  // in metres per metre, and dividing it would be wrong by a factor of 1/s. The value jumps between
  // voxels: to_first_order_field interpolates the same data continuously.
  double interpolated_penetration(const Vec3& point) const;
  double interpolated_distance(const Vec3& point) const { return -interpolated_penetration(point); }

  // The surface point that was found for a voxel, support only: C - V_R grad V_R.
  Vec3 closest_point_of_voxel(const Index3& voxel) const;

  // The true distance (ours, negative inside) of the voxel's centre lies in the result. Layers and
  // support only.
  Interval distance_bounds_of_voxel(const Index3& voxel) const;

 private:
  friend struct VoxmapAccess;
  static Voxmap adopt(std::span<const std::byte> buffer, std::shared_ptr<const void> owner);
  std::size_t place(const Index3& voxel) const {
    return flat_index(lattice_.cells, voxel[0], voxel[1], voxel[2]);
  }

  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_;
  Lattice lattice_{};
  double scale_ = 1;  // lambda
  std::span<const std::int16_t> layers_{};
  std::span<const std::int32_t> scaled_{};
  std::span<const SupportVoxel> support_{};
};

// Describes what is wrong with a buffer that claims to be a voxelmap. With `deep` it also checks
// that layers are chessboard distances to the voxels of value 0 and change sign nowhere else, and
// that counts are right. Cost: with `deep` some twenty nanoseconds, and memory of 3 to 5 bytes, per
// voxel.
std::optional<std::string> find_flaw_in_voxmap(std::span<const std::byte> buffer, bool deep = true);

// A distance in our sign from a layer value in the paper's: see the top.
Interval layer_distance_bounds(int layer_value, double voxel_size);

struct VoxmapSettings {
  VoxmapEncoding encoding = VoxmapEncoding::kLayers;
  int precision = 4;  // p of equation 1, for scaled: 4 keeps tenths of a millimetre.
  ClosestPointMethod closest = ClosestPointMethod::kExact;
  // For meshes, see prepare_surface; a Surface brings its own.
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double shell_offset = 0;  // Metres; 0: one voxel (only for unsigned).
  // Bytes for the map and for building it, beside the mesh and its hierarchy; 0: the memory of the
  // machine.
  std::uint64_t max_memory = 0;
  Threads threads{};
  Monitor monitor{};
};

struct VoxmapReport {
  std::uint64_t surface_voxels = 0, inner_voxels = 0, outer_voxels = 0;
  int deepest_layer = 0, furthest_layer = 0;
  std::uint64_t walked_voxels = 0;  // By kLayerWalk.
  // Voxels whose straight walk missed the surface, or had no direction: they went down the layers
  // voxel by voxel.
  std::uint64_t strayed_voxels = 0;
  double seconds = 0;
};

struct VoxmapResult {
  Voxmap voxmap;
  VoxmapReport report;
};

// Returns the bytes for the map and for building it, except for the part that depends on the
// surface (some bytes per voxel of it). It is a double, since a hostile lattice may ask for more
// than 2^64.
double voxmap_build_bytes(const Lattice& lattice, VoxmapEncoding encoding);

// Finds surface voxels by the separating-axis test, then layers. Scan-line filling from the box's
// faces finds the outside. A region that it does not reach gets its side from the surface's own
// rule of sign (ExactField at one of its voxels). So cavities are outside, nested parts follow
// Surface::nested, and the map agrees with every field built of the same surface.
//
// An unsigned surface is the shell. Its surface voxels are those whose centres are within half a
// diagonal of the points at shell_offset. These are a few more than it touches, with valid bounds
// of layers. This costs a search for every voxel. Scaled and support keep the field's value there,
// the distance to the triangles less the offset. Deep between two sheets this is nearer to zero
// than the distance to the shell's surface, which layers count. It needs kExact (Error).
//
// Throws Error for a surface that extends beyond the lattice, an unusable lattice, and a memory
// limit that would not suffice. So it does for numbers that do not fit (scaled: with the p that
// would). Throws Cancelled if the monitor's token was set. The result has the same bytes for any
// number of threads.
VoxmapResult build_voxmap(const Surface& surface, const Lattice& lattice,
                          const VoxmapSettings& settings = {});

// The same from prepare_surface with voxels of the lattice's size, and throws as that does.
VoxmapResult build_voxmap(const TriangleMesh& mesh, const Lattice& lattice,
                          const VoxmapSettings& settings = {});

// Returns a lattice of voxels around a box, with at least `padding` voxels on all sides, centred.
Lattice voxmap_lattice(const Aabb& box, double voxel_size, int padding = 2);

// The support map as a continuous Field: its values and gradients become nodes at the voxels'
// centres. Needs a support map with two voxels per axis or more (Error).
FirstOrderField to_first_order_field(const Voxmap& support, FirstOrderSettings settings = {});

// Encodes layers for files: the runs of surface voxels, and the sides of the regions they enclose,
// as variable-length numbers. All other layers follow from them, and are filled again by
// decompression: lossless, a hundredth or less of the map. Cost: some ten nanoseconds per voxel.
// Needs the layers encoding (asserted).
std::vector<std::byte> compress_layers(const Voxmap& voxmap);

// Throws Error for code that is not valid, or whose map would take more than max_bytes (and half as
// much again while it is made). Memory is only allocated after the whole code was found to be well
// formed. Cost: some ten nanoseconds per voxel. The size of the result does not follow from that of
// the code: a small file may ask for much.
inline constexpr std::uint64_t kMaxUnpackedLayers = std::uint64_t{1} << 30U;  // 812^3 voxels.
Voxmap decompress_layers(std::span<const std::byte> code,
                         std::uint64_t max_bytes = kMaxUnpackedLayers, Threads threads = {});

// Returns a field for queries that need one: samples at the centres of the voxels.
// DenseGridParts::sample_error bounds their distance from the true distance. Nothing is known of a
// map by ClosestPointMethod::kLayerWalk.
//   * Scaled and support maps: the stored distances.
//   * Layers: the distance to the centre of the nearest surface voxel, less half a voxel, so that
//     surface voxels are inside, as Voxmap::is_solid has it. Every surface point lies in a surface
//     voxel, and every surface voxel holds one. So the distance to the surface differs from that to
//     the centre of the nearest surface voxel by half a diagonal at most. The grid has one voxel
//     more on each side of the map.
// Throws Error for a scaled or support map with one voxel along an axis. Cost: some fifty
// nanoseconds per voxel for layers, some ten for the others.
DenseGrid to_dense_grid(const Voxmap& voxmap, Threads threads = {});

}  // namespace isotact
