// Voxelmaps as SSL14 section 2.1 builds and reads them, in all three encodings. The voxels are the
// CELLS of a lattice; a voxel's value is that of its centre.
//
// SIGN. SSL14 counts penetration: POSITIVE INSIDE, negative outside, the opposite of everything
// else here. What is stored, and whatever is called layer or penetration, keeps the paper's sign.
// Whatever is called distance is ours: negative inside. The two differ by a minus and nothing else.
//
// Encodings, from small to exact:
//   layers   v = 0 where the surface touches the (closed) voxel, n in the n-th layer inside, -n in
//            the n-th layer outside (also in cavities). The paper does not say which neighbours
//            make a layer; we take all 26, so that the n-th layer is a shell one voxel thick on all
//            sides (chessboard distance, as McNeely, Puterbaugh and Troy 2006 do for the same
//            maps), and the distance of its centres is at least (n - 1/2) s and at most (n + 1/2)
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
#include "isotact/field/build/surface.h"
#include "isotact/field/field.h"
#include "isotact/field/first_order_field.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

enum class VoxmapEncoding : std::uint32_t {
  kLayers = 0,   // 2 bytes a voxel; compressed in files
  kScaled = 1,   // 4 bytes
  kSupport = 2,  // 24 bytes
};

// How the surface point nearest to a voxel is found (scaled and support).
enum class ClosestPointMethod : std::uint32_t {
  kExact = 0,  // by the triangles' hierarchy
  // SSL14: straight along the layers' gradient at the voxel to the first surface voxel, whose
  // nearest point counts. Never too near, often too far: on the Stanford bunny at 128 voxels by 0.1
  // voxels in the median and 0.6 in the 99th percentile next to the surface, by 0.3 and 5 to 9 in
  // layers 2 to 4, by 1.2 and 29 to 40 in layers 5 to 16. It takes half the time of kExact.
  kLayerWalk = 1,
};

// One voxel of the support map. The paper's sign: positive inside, and the gradient points in.
struct SupportVoxel {
  double penetration;  // metres
  float gradient[3];   // metres a metre
  std::int32_t layer;
};
static_assert(sizeof(SupportVoxel) == 24 && offsetof(SupportVoxel, gradient) == 8);

// What the flat buffer begins with. Offsets are bytes from its start, multiples of 64.
struct VoxmapHeader {
  char magic[8];           // "ISOVOXEL", or "ISOLAYER" for compressed layers
  std::uint32_t version;   // 1
  std::uint32_t encoding;  // VoxmapEncoding
  double origin[3];        // metres
  double voxel_size;       // metres: the paper's s
  std::int32_t cells[3];
  std::int32_t precision;        // the paper's p: scaled only, else 0
  std::uint32_t closest_method;  // ClosestPointMethod; 0 for layers
  std::int32_t deepest_layer;    // greatest v, at least 0
  std::int32_t furthest_layer;   // greatest -v, at least 0
  std::uint32_t unused0;
  std::uint64_t surface_voxels;  // v = 0
  std::uint64_t inner_voxels;    // v > 0
  std::uint64_t outer_voxels;    // v < 0
  std::uint64_t total_bytes;
  std::uint64_t data_offset;  // int16, int32 or SupportVoxel a voxel, x fastest; or the code
  std::uint8_t unused[136];
};
static_assert(sizeof(VoxmapHeader) == 256 && offsetof(VoxmapHeader, cells) == 48 &&
              offsetof(VoxmapHeader, surface_voxels) == 80 &&
              offsetof(VoxmapHeader, unused) == 120);

inline constexpr int kMaxVoxmapCells = 16384;   // an axis
inline constexpr int kMaxVoxmapPrecision = 12;  // from -12 to 12

// Immutable; copies share the buffer. Any number of threads may query it.
class Voxmap {
 public:
  Voxmap() = default;  // empty: nothing may be asked of it

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it. Throws Error where
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
  Index3 voxel_at(const Vec3& point) const;  // the nearest one, for points outside of the box
  bool is_solid(const Index3& voxel) const;  // on the surface or inside: the paper's v >= 0

  // The paper's layer value, positive inside; layers and support only.
  int layer_value(const Index3& voxel) const;
  // Ours: negative inside.
  int signed_layer(const Index3& voxel) const { return -layer_value(voxel); }

  // The paper's global part, v sigma: sigma = s for layers, lambda = 10^-p for scaled; the support
  // map's V_R(C). Metres, positive inside.
  double penetration_of_voxel(const Index3& voxel) const;
  double distance_of_voxel(const Index3& voxel) const { return -penetration_of_voxel(voxel); }

  // Equation 4: V(P) = n . (C - P) + v sigma, for a point of a pointshell with its unit normal,
  // which points into the pointshell's own body, hence out of this one where they touch. Positive:
  // penetration in metres. Neither throws nor allocates. Outside of the box, extend_outside of the
  // value at the nearest point of the box.
  double penetration(const Vec3& point, const Vec3& inward_normal) const;
  double distance(const Vec3& point, const Vec3& inward_normal) const {
    return -penetration(point, inward_normal);
  }

  // Equation 5, support only: V_R(C) + grad V_R . (P - C). The paper divides the second term by s.
  // That is right for a gradient of differences from voxel to voxel, in metres a voxel; ours is in
  // metres a metre, and dividing it would be wrong by a factor of 1/s. The value jumps between
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

// What is wrong with a buffer that claims to be a voxelmap, in words. With `deep` also that layers
// are chessboard distances to the voxels of value 0 and change sign nowhere else, and that counts
// are right. Cost: with `deep` some twenty nanoseconds, and memory of 3 to 5 bytes, a voxel.
std::optional<std::string> find_flaw_in_voxmap(std::span<const std::byte> buffer, bool deep = true);

// A distance in our sign from a layer value in the paper's: see the top.
Interval layer_distance_bounds(int layer_value, double voxel_size);

struct VoxmapSettings {
  VoxmapEncoding encoding = VoxmapEncoding::kLayers;
  int precision = 4;  // p of equation 1, for scaled: 4 keeps tenths of a millimetre
  ClosestPointMethod closest = ClosestPointMethod::kExact;
  // For meshes, see prepare_surface; a Surface brings its own.
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double shell_offset = 0;       // metres; 0: one voxel (only for unsigned)
  std::uint64_t max_memory = 0;  // bytes for the map and for building it, beside the mesh and its
                                 // hierarchy; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
};

struct VoxmapReport {
  std::uint64_t surface_voxels = 0, inner_voxels = 0, outer_voxels = 0;
  int deepest_layer = 0, furthest_layer = 0;
  std::uint64_t walked_voxels = 0;   // by kLayerWalk
  std::uint64_t strayed_voxels = 0;  // whose straight walk missed the surface, or had no direction:
                                     // they went down the layers voxel by voxel
  double seconds = 0;
};

struct VoxmapResult {
  Voxmap voxmap;
  VoxmapReport report;
};

// Bytes for the map and for building it, but for what depends on the surface (some bytes a voxel of
// it). A double, since a hostile lattice may ask for more than 2^64.
double voxmap_build_bytes(const Lattice& lattice, VoxmapEncoding encoding);

// Surface voxels by the separating-axis test, then layers. Scan-line filling from the box's faces
// finds the outside; a region that it does not reach is on the side of the surface's own rule of
// sign (ExactField at one of its voxels), so that cavities are outside, nested parts what
// Surface::nested says, and the map agrees with every field built of the same surface.
//
// An unsigned surface is the shell: its surface voxels are those whose centres are within half a
// diagonal of the points at shell_offset (a few more than it touches; the bounds of layers hold),
// at the cost of a search for every voxel. Scaled and support keep the field's value there, the
// distance to the triangles less the offset, which deep between two sheets is nearer to zero than
// the distance to the shell's surface, which layers count. It needs kExact (Error).
//
// Throws Error for a surface that sticks out of the lattice, an unusable lattice, numbers that do
// not fit (scaled: with the p that would), and a memory limit that would not suffice; Cancelled
// when the monitor says so. The same bytes for any number of threads.
VoxmapResult build_voxmap(const Surface& surface, const Lattice& lattice,
                          const VoxmapSettings& settings = {});

// Of prepare_surface with voxels of the lattice's size, and as that throws.
VoxmapResult build_voxmap(const TriangleMesh& mesh, const Lattice& lattice,
                          const VoxmapSettings& settings = {});

// A lattice of voxels around a box, with at least `padding` voxels on all sides, centred.
Lattice voxmap_lattice(const Aabb& box, double voxel_size, int padding = 2);

// The support map as a continuous Field: its values and gradients as nodes at the voxels' centres.
// Needs a support map with two voxels an axis or more (Error).
FirstOrderField to_first_order_field(const Voxmap& support, FirstOrderSettings settings = {});

// Layers for files: the stretches of surface voxels, and the sides of the regions they enclose, as
// variable-length numbers. All other layers follow from them, and are filled again on the way back:
// lossless, a hundredth or less of the map. Cost: some ten nanoseconds a voxel.
// Needs the layers encoding (asserted).
std::vector<std::byte> compress_layers(const Voxmap& voxmap);

// Throws Error for code that is not valid, or whose map would take more than max_bytes (and half as
// much again while it is made); memory is only taken after the whole code was found to be well
// formed. Cost: some ten nanoseconds a voxel.
// The size of the result does not follow from that of the code: a small file may ask for much.
inline constexpr std::uint64_t kMaxUnpackedLayers = std::uint64_t{1} << 30U;  // 812^3 voxels
Voxmap decompress_layers(std::span<const std::byte> code,
                         std::uint64_t max_bytes = kMaxUnpackedLayers, Threads threads = {});

}  // namespace isotact
