// The GPU for builds, where one is asked for and there is one.
#pragma once

#include <memory>
#include <string>

#include "isotact/field/build/distance_device.h"

namespace isotact::tool {

class GpuDevice {
 public:
  explicit GpuDevice(bool wanted);
  ~GpuDevice();
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  DistanceDevice* get() const;  // null: the processor
  // Why it is the processor although a GPU was wanted; else empty.
  const std::string& warning() const { return warning_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string warning_;
};

}  // namespace isotact::tool
