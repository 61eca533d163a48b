// Where a build may get its distances from instead of the processor: a GPU (gpu/distance_device.h).
// Everything else, such as plan, signs, thin walls, assembly, error bounds and reports, stays the
// build's own, so that a field is the same but for rounding wherever its distances come from.
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
#include "isotact/field/lattice.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// 8^3 nodes of a lattice, those that a brick calls its own: they begin at node 8 * cell. Those at
// the lattice's end may lie beyond it.
struct BrickRequest {
  Index3 cell{};
  bool whole = false;  // all nodes are wanted; else only cubes of 4^3 that come near enough
};

struct BrickDistances {
  std::size_t request = 0;      // its number
  std::span<float> distance{};  // of node 64 z + 8 y + x, cells; may be written to
  // Unit vectors from the nearest point of the surface to the node, where they were asked for.
  // Nodes within a thousandth of a cell of the surface have the normal of the triangle there (KGM,
  // section 4.3), which on a sheet is as good on either side.
  std::span<const Vec3f> direction{};
  unsigned exact = 0;  // bit x + 2 y + 4 z: this cube of 4^3 nodes has its distances
};
inline constexpr double kOnSurface = 0.001;  // cells

// The distances of one mesh at the nodes of one lattice. For one thread at a time.
class DeviceDistances {
 public:
  DeviceDistances() = default;
  DeviceDistances(const DeviceDistances&) = delete;
  DeviceDistances& operator=(const DeviceDistances&) = delete;
  virtual ~DeviceDistances() = default;

  // Of all nodes 8 cells apart, x fastest, cells. Throws Cancelled when the monitor says so.
  virtual std::vector<float> find_coarse(const Monitor& monitor) = 0;

  struct Work {
    std::span<const BrickRequest> bricks{};
    // A cube is wanted where a node of it may be as far from the surface: the centre of the cube
    // and those of its groups of 2^3 nodes decide. Cells.
    double wanted_from = 0, wanted_to = 0;
    bool directions = false;
  };
  // Calls visit for each brick, from several threads at once. Nodes of
  // cubes that are not wanted have distance 1.
  using Visitor = std::function<void(const BrickDistances& brick)>;
  virtual void for_each_brick(const Work& work, Threads threads, const Monitor& monitor,
                              const Visitor& visit) = 0;

  // How far distances can be off, cells.
  virtual double error() const = 0;
  // Of the machine's own memory, beside what it returns, at most.
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
  // Null where the mesh or the lattice is too large for the device; then `why` says so. The mesh
  // may go afterwards.
  virtual std::unique_ptr<DeviceDistances> open(const TriangleMesh& mesh, const Lattice& lattice,
                                                Threads threads, std::string& why) = 0;
};

}  // namespace isotact
