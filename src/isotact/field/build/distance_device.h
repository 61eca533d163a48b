// A source of a build's distances other than the processor: a GPU (gpu/distance_device.h).
// Everything else, such as plan, signs, thin walls, assembly, error bounds and reports, stays in
// the build. A field is therefore the same except for rounding, whatever the source of its
// distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/base/vec.h"
#include "isotact/export.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// 8^3 nodes of a lattice, those that a brick owns: they begin at node 8 * cell. Those at the
// lattice's end may lie beyond it.
struct BrickRequest {
  Index3 cell{};
  // True: all nodes are wanted. False: only cubes of 4^3 that come near enough.
  bool whole = false;
};

struct BrickDistances {
  std::size_t request = 0;      // Its number.
  std::span<float> distance{};  // Distance of node 64 z + 8 y + x, cells; may be written to.
  // Unit vectors from the nearest point of the surface to the node, if requested. Nodes within a
  // thousandth of a cell of the surface have the normal of the triangle there (KGM, section 4.3).
  // On a sheet it is as good on either side.
  std::span<const Vec3f> direction{};
  unsigned exact = 0;  // Bit x + 2 y + 4 z: this cube of 4^3 nodes has its distances.
};
inline constexpr double kOnSurface = 0.001;  // cells

// The distances of one mesh at the nodes of one lattice. Only one thread may use it at a time.
class DeviceDistances {
 public:
  DeviceDistances() = default;
  DeviceDistances(const DeviceDistances&) = delete;
  DeviceDistances& operator=(const DeviceDistances&) = delete;
  virtual ~DeviceDistances() = default;

  // Returns the distances of all nodes 8 cells apart, x fastest, in cells. Throws Cancelled if the
  // monitor's token was set.
  virtual std::vector<float> compute_coarse(const Monitor& monitor) = 0;

  struct Work {
    std::span<const BrickRequest> bricks{};
    // A cube is wanted if one of its nodes may be as far from the surface. The centre of the cube
    // and those of its groups of 2^3 nodes decide. Cells.
    double wanted_from = 0, wanted_to = 0;
    bool directions = false;
  };
  // Calls visit for each brick, from several threads at once. Nodes of cubes that are not wanted
  // have distance 1.
  using Visitor = std::function<void(const BrickDistances& brick)>;
  virtual void for_each_brick(const Work& work, Threads threads, const Monitor& monitor,
                              const Visitor& visit) = 0;

  // Largest error of the distances, in cells.
  virtual double error() const = 0;
  // Upper bound of the machine's own memory, beside the results.
  virtual std::uint64_t host_bytes() const = 0;
};

class DistanceDevice {
 public:
  DistanceDevice() = default;
  DistanceDevice(const DistanceDevice&) = delete;
  DistanceDevice& operator=(const DistanceDevice&) = delete;
  virtual ~DistanceDevice() = default;

  virtual std::string name() const = 0;  // "NVIDIA H200"
  // Needs a mesh with finite corners inside of the lattice's box, whose cells are multiples of 8.
  // Returns null if the mesh or the lattice is too large for the device; then `why` says so. The
  // mesh may be destroyed afterwards.
  virtual std::unique_ptr<DeviceDistances> open(const TriangleMesh& mesh, const Lattice& lattice,
                                                Threads threads, std::string& why) = 0;
};

}  // namespace isotact
