#include "depth_device.h"

#include <optional>
#include <utility>

#include "isotact/base/error.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/depth/mesh_drawable.h"
#endif

namespace isotact::tool {

#if defined(ISOTACT_HAS_GPU)

struct DepthDevice::State {
  State(GpuContext made, const DepthSettings& settings)
      : context(std::move(made)), detector(context, settings) {}
  GpuContext context;
  GpuDepthDetector detector;
  std::optional<GpuMeshes> environment{};
};

DepthDevice::DepthDevice(bool gpu, const DepthSettings& settings) : settings_(settings) {
  if (!gpu) return;
  std::string why;
  try {
    if (std::optional<GpuContext> context = GpuContext::try_create(&why)) {
      const std::string name = describe(context->info());
      state_ = std::make_unique<State>(std::move(*context), settings);
      name_ = name;
      return;
    }
    warning_ = "no GPU, the CPU answers: " + why;
  } catch (const Error& error) {  // such as no conservative rasterisation
    warning_ = std::string("not on this GPU, the CPU answers: ") + error.what();
  }
}

DepthMap DepthDevice::draw(const DepthBody& object, const DepthView& view) {
  if (state_) {
    const MeshElement element = make_mesh_element(object.mesh, {}, 0, object.closed);
    state_->detector.draw_map(0, GpuMeshes({&element, 1}), view);
    return state_->detector.read_map(0);
  }
  const DepthElement element = make_depth_element(object.part, {}, 0, object.closed);
  return draw_depth_map({&element, 1}, view, settings_);
}

DepthReport DepthDevice::detect(const DepthMap& map, const DepthBody& object,
                                const DepthBody& environment) {
  if (state_) {
    if (!state_->environment) {
      const MeshElement element =
          make_mesh_element(environment.mesh, environment.world_from_body, 0, environment.closed);
      state_->environment.emplace(std::span(&element, 1));
    }
    const GpuMeshes* meshes[] = {&*state_->environment};
    return state_->detector.detect(object.world_from_body, {.meshes = meshes});
  }
  const DepthElement element =
      make_depth_element(environment.part, environment.world_from_body, 0, environment.closed);
  return detect_by_depth(map, object.world_from_body, {&element, 1}, settings_);
}

#else

struct DepthDevice::State {};

DepthDevice::DepthDevice(bool gpu, const DepthSettings& settings) : settings_(settings) {
  if (gpu) warning_ = "no GPU, the CPU answers: it is not built in";
}

DepthMap DepthDevice::draw(const DepthBody& object, const DepthView& view) {
  const DepthElement element = make_depth_element(object.part, {}, 0, object.closed);
  return draw_depth_map({&element, 1}, view, settings_);
}

DepthReport DepthDevice::detect(const DepthMap& map, const DepthBody& object,
                                const DepthBody& environment) {
  const DepthElement element =
      make_depth_element(environment.part, environment.world_from_body, 0, environment.closed);
  return detect_by_depth(map, object.world_from_body, {&element, 1}, settings_);
}

#endif

DepthDevice::~DepthDevice() = default;

}  // namespace isotact::tool
