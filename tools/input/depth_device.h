// The device of --method depth: the GPU, if it is requested and present, or the CPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isotact/queries/depth/depth_map.h"

namespace isotact::tool {

// Keeps the maps that it has drawn, and measures its time. For one environment only.
class DepthDevice final : public DepthBackend {
 public:
  explicit DepthDevice(bool gpu);
  ~DepthDevice() override;
  DepthDevice(const DepthDevice&) = delete;
  DepthDevice& operator=(const DepthDevice&) = delete;

  DepthMap draw(std::span<const DepthElement> object, const DepthView& view,
                const DepthSettings& settings) override;
  DepthResult detect(const DepthMap& map, const Pose& world_from_object,
                     std::span<const DepthElement> environment,
                     const DepthSettings& settings) override;

  const std::string& name() const { return name_; }  // "cpu", or the name of the GPU.
  // The reason for using the CPU although a GPU was requested; otherwise empty. Known once it has
  // drawn.
  const std::string& warning() const { return warning_; }
  const std::vector<DepthMap>& maps() const { return maps_; }
  double map_seconds() const { return map_seconds_; }
  double seconds() const { return seconds_; }  // Without compilation of shaders.

 private:
  struct State;
  void start(const DepthSettings& settings);

  bool wants_gpu_;
  std::unique_ptr<State> state_;  // State of the GPU.
  std::string name_ = "cpu", warning_;
  std::vector<DepthMap> maps_;
  double map_seconds_ = 0, seconds_ = 0;
};

}  // namespace isotact::tool
