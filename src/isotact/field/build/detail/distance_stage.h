// Exact unsigned distances for a build, from the processor (DistancePass) or from a device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/field/build/detail/distance_pass.h"
#include "isotact/field/build/distance_device.h"

namespace isotact::detail {

class DistanceStage {
 public:
  // Without a device, or where it cannot take the mesh, `find_bvh` is asked for the mesh's
  // hierarchy, which must outlive this.
  DistanceStage(const TriangleMesh& mesh, const Lattice& lattice, DistanceDevice* device,
                Threads threads, const std::function<const Bvh&()>& find_bvh);

  // As those of DistancePass; coarse distances come first.
  std::vector<float> find_coarse(const DistancePass::CoarseRule& rule, const Monitor& monitor);
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
