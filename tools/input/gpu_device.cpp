#include "gpu_device.h"

#include <utility>

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/build/field_builder.h"
#endif

namespace isotact::tool {

#if defined(ISOTACT_HAS_GPU)

struct GpuDevice::State {
  explicit State(GpuContext made) : context(std::move(made)), builder(context) {}
  GpuContext context;
  GpuFieldBuilder builder;
};

GpuDevice::GpuDevice(bool wanted) {
  if (!wanted) return;
  std::string why;
  if (std::optional<GpuContext> context = GpuContext::try_create(&why))
    state_ = std::make_unique<State>(std::move(*context));
  else
    warning_ = "--gpu: there is none, so the processor builds: " + why;
}

DistanceDevice* GpuDevice::get() const { return state_ ? &state_->builder : nullptr; }

#else

struct GpuDevice::State {};

GpuDevice::GpuDevice(bool wanted) {
  if (wanted) warning_ = "--gpu: this program was built without, so the processor builds";
}

DistanceDevice* GpuDevice::get() const { return nullptr; }

#endif

GpuDevice::~GpuDevice() = default;

}  // namespace isotact::tool
