// The GPU for builds, if it is requested and present.
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

  DistanceDevice* get() const;  // Null: the CPU.
  // The reason for using the CPU although a GPU was requested; otherwise empty.
  const std::string& warning() const { return warning_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string warning_;
};

}  // namespace isotact::tool
