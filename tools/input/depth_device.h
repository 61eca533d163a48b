// Where --method depth draws: on the GPU, where one is asked for and there is one, or on the CPU.
#pragma once

#include <memory>
#include <string>

#include "isotact/geometry/mesh.h"
#include "isotact/queries/depth_map.h"

namespace isotact::tool {

struct DepthBody {
  TriangleMesh mesh{};
  DepthMesh part{};  // the same
  bool closed = false;
  Pose world_from_body{};
};

class DepthDevice {
 public:
  DepthDevice(bool gpu, const DepthSettings& settings);
  ~DepthDevice();
  DepthDevice(const DepthDevice&) = delete;
  DepthDevice& operator=(const DepthDevice&) = delete;

  const std::string& name() const { return name_; }  // "cpu", or what the GPU is
  // Why it is the CPU although a GPU was wanted; else empty.
  const std::string& warning() const { return warning_; }

  DepthMap draw(const DepthBody& object, const DepthView& view);
  // With the map that was drawn last. The environment is always the same one.
  DepthReport detect(const DepthMap& map, const DepthBody& object, const DepthBody& environment);

 private:
  struct State;
  DepthSettings settings_;
  std::unique_ptr<State> state_;  // of the GPU
  std::string name_ = "cpu", warning_;
};

}  // namespace isotact::tool
