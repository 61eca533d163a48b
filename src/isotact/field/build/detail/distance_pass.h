// Exact unsigned distances at nodes of a lattice, wherever they are wanted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/machine.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/build/detail/plan.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/lattice.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact::detail {

class DistancePass {
 public:
  // The hierarchy must be the mesh's and outlive this.
  DistancePass(const TriangleMesh& mesh, const Bvh& bvh, const Lattice& lattice, Threads threads,
               SimdLevel level = simd_level());

  struct CoarseRule {
    float sparse_from = 0;  // metres, of values: see sparse_nodes.h
    float shift = 0;        // metres that are taken off distances
  };
  // Returns the distances of all nodes of the coarse lattice, metres.
  std::vector<float> compute_coarse(const CoarseRule& rule, const Monitor& monitor) const;

  // Updates the 2^3 coarse nodes, `stride` apart, that begin at each of some nodes; the others keep
  // their values. A stride of 2 is for even nodes. A stride of 1 is for groups that begin at even
  // nodes. If the rule makes some nodes sparse, it leaves these even nodes as they are: they must
  // be known by then.
  void update_coarse(const CoarseRule& rule, std::int32_t stride, std::span<const Index3> packets,
                     std::span<float> values) const;

  // For local edits. A hidden triangle is no longer measured; a frame's number is its place in the
  // hierarchy: kBlockWidth times its block plus its place there. Added triangles are measured
  // beside the first ones, and replace those added before; their hierarchy must outlive this.
  void hide(std::size_t frame);
  void set_added(const TriangleMesh& mesh, const Bvh& bvh);

  struct Wanted {
    double from, to;  // fine cells
  };
  struct BrickWork {
    const CellBits& bits;   // coarse cells whose nodes are wanted
    const CellBits& whole;  // those of which all are
    std::span<const float>
        coarse;        // what compute_coarse found, whatever sign or offset it got since
    Wanted distances;  // else, cubes of 4^3 nodes without such a distance are left out
    double shift = 0;  // metres that were taken off coarse values
  };
  // Calls visit(cell, distances, exact) for each marked coarse cell: of its own 8^3 nodes, in fine
  // cells, node 64 z + 8 y + x. Bit x + 2 y + 4 z of `exact` says which cubes are there. From
  // several threads at once; the span may be written to.
  using BrickVisitor =
      std::function<void(const Index3& cell, std::span<float> distance, unsigned exact)>;
  void for_each_brick(const BrickWork& work, const Monitor& monitor,
                      const BrickVisitor& visit) const;

  // If more triangles than this may be nearest to a node of a block, walks through the hierarchy
  // replace lists. The mesh is then so much finer than the cells that walks cost less. Results are
  // the same.
  void set_longest_list(std::size_t triangles) { longest_list_ = triangles; }

  // How far results can be off, in fine cells. Coordinates of corners and along a triangle's axes
  // are floats, at most as large as the lattice is wide. So they are off by at most 2^-24 of that.
  // A dozen operations of similar size follow.
  double error() const { return error_; }
  // The same for signed results: grid lines see a surface that is snapped (row_crossings.h), so a
  // distance below that may have the wrong sign.
  double signed_error() const { return 2 * error_ + 0.002; }

 private:
  // Triangles with a hierarchy of their own.
  struct Part {
    const Bvh* bvh;
    std::size_t first_frame;
  };
  struct Scratch;
  Index3 coarse_nodes() const;
  PacketWork make_packet_work(const Part& part) const;
  void find_packet(const CoarseRule& rule, std::int32_t stride, std::span<PacketWork> works,
                   const Index3& first, std::span<float> values) const;
  void find_packets(const CoarseRule& rule, std::int32_t stride, const Monitor& monitor,
                    std::span<float> values) const;
  bool gather(const Aabbf& box, Scratch& scratch) const;
  double bound_distance(const BrickWork& work, const Index3& cell) const;
  void compute_eighths(const BrickWork& bricks, const Index3& first_cell, unsigned wanted,
                       unsigned whole, Scratch& scratch, const BrickVisitor& visit) const;

  std::vector<Part> parts_;
  Lattice lattice_;
  Threads threads_;
  const DistanceKernels& kernels_;
  std::vector<TriangleFrame> frames_;
  std::size_t longest_list_ = 1000;
  double error_ = 0;
  double metres_error_ = 0;  // cells: rounding of the hierarchy's coordinates, far from the origin
};

// Exact unsigned distances for a build, from the processor (DistancePass) or from a device.

class DistanceStage {
 public:
  // Without a device, or where it cannot take the mesh, `find_bvh` is asked for the mesh's
  // hierarchy, which must outlive this.
  DistanceStage(const TriangleMesh& mesh, const Lattice& lattice, DistanceDevice* device,
                Threads threads, const std::function<const Bvh&()>& find_bvh);

  // As those of DistancePass; coarse distances come first.
  std::vector<float> compute_coarse(const DistancePass::CoarseRule& rule, const Monitor& monitor);
  void for_each_brick(const DistancePass::BrickWork& work, const Monitor& monitor,
                      const DistancePass::BrickVisitor& visit);
  double error() const { return on_device_ ? on_device_->error() : pass_->error(); }
  double signed_error() const { return 2 * error() + 0.002; }

  DeviceDistances* on_device() const { return on_device_.get(); }  // null: the processor's
  const std::string& refusal() const { return refusal_; }          // the device's reason, or empty

 private:
  Lattice lattice_;
  Threads threads_;
  std::optional<DistancePass> pass_;
  std::unique_ptr<DeviceDistances> on_device_;
  std::string refusal_;
};

}  // namespace isotact::detail
