// The device of --method depth: the GPU, if it is requested and present, or the CPU.
#pragma once

#include <memory>
#include <string>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/depth/depth_map.h"

namespace isotact::tool {

struct DepthBody {
  TriangleMesh mesh{};
  DepthMesh part{};  // The same mesh.
  bool closed = false;
  Pose world_from_body{};
};

class DepthDevice {
 public:
  DepthDevice(bool gpu, const DepthSettings& settings);
  ~DepthDevice();
  DepthDevice(const DepthDevice&) = delete;
  DepthDevice& operator=(const DepthDevice&) = delete;

  const std::string& name() const { return name_; }  // "cpu", or the name of the GPU.
  // The reason for using the CPU although a GPU was requested; otherwise empty.
  const std::string& warning() const { return warning_; }

  DepthMap draw(const DepthBody& object, const DepthView& view);
  // Uses the map that was drawn last. The environment must always be the same.
  DepthReport detect(const DepthMap& map, const DepthBody& object, const DepthBody& environment);

 private:
  struct State;
  DepthSettings settings_;
  std::unique_ptr<State> state_;  // State of the GPU.
  std::string name_ = "cpu", warning_;
};

}  // namespace isotact::tool
