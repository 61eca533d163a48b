#include "depth_device.h"

namespace isotact::tool {

struct DepthDevice::State {};

DepthDevice::DepthDevice(bool gpu, const DepthSettings& settings) : settings_(settings) {
  if (gpu) warning_ = "no GPU, the CPU answers: it is not built in";
}

DepthDevice::~DepthDevice() = default;

DepthMap DepthDevice::draw(const DepthElement& object, const DepthView& view) {
  return draw_depth_map({&object, 1}, view, settings_);
}

DepthReport DepthDevice::detect(const DepthMap& map, const Pose& world_from_object,
                                const DepthElement& environment) {
  return detect_by_depth(map, world_from_object, {&environment, 1}, settings_);
}

}  // namespace isotact::tool
