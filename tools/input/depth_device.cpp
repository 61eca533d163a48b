#include "depth_device.h"

#include <chrono>
#include <optional>
#include <utility>

#include "isotact/base/error.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/depth/mesh_drawable.h"
#endif

namespace isotact::tool {
namespace {

template <typename Work>
double time_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

#if defined(ISOTACT_HAS_GPU)

namespace {

// Elements as the GPU takes them; it copies them.
GpuMeshes upload(std::span<const DepthElement> elements) {
  std::vector<std::vector<Vec3f>> positions;
  std::vector<MeshElement> meshes;
  for (const DepthElement& e : elements) {
    std::vector<Vec3f>& own = positions.emplace_back();
    for (const Vec3& p : e.positions) own.push_back(to_float(p));
    meshes.push_back({own, e.indices, e.world_from_element, e.id, e.primitive, e.closed});
  }
  return GpuMeshes(meshes);
}

}  // namespace

struct DepthDevice::State {
  State(GpuContext made, const DepthSettings& settings)
      : context(std::move(made)), detector(context, settings) {}

  DepthMap draw(std::span<const DepthElement> object, const DepthView& view) {
    detector.draw_map(0, upload(object), view);
    return detector.read_map(0);
  }
  DepthResult detect(const Pose& world_from_object, std::span<const DepthElement> elements) {
    if (!environment) environment.emplace(upload(elements));
    const GpuMeshes* meshes[] = {&*environment};
    return detector.detect(world_from_object, {.meshes = meshes});
  }

  GpuContext context;
  GpuDepthDetector detector;
  std::optional<GpuMeshes> environment{};
};

void DepthDevice::start(const DepthSettings& settings) {
  if (!std::exchange(wants_gpu_, false)) return;
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

#else

struct DepthDevice::State {
  DepthMap draw(std::span<const DepthElement>, const DepthView&) { return {}; }
  DepthResult detect(const Pose&, std::span<const DepthElement>) { return {}; }
};

void DepthDevice::start(const DepthSettings&) {
  if (std::exchange(wants_gpu_, false)) warning_ = "no GPU, the CPU answers: it is not built in";
}

#endif

DepthDevice::DepthDevice(bool gpu) : wants_gpu_(gpu) {}
DepthDevice::~DepthDevice() = default;

DepthMap DepthDevice::draw(std::span<const DepthElement> object, const DepthView& view,
                           const DepthSettings& settings) {
  start(settings);
  map_seconds_ += time_of([&] {
    maps_.push_back(state_ ? state_->draw(object, view) : draw_depth_map(object, view, settings));
  });
  return maps_.back();
}

DepthResult DepthDevice::detect(const DepthMap& map, const Pose& world_from_object,
                                std::span<const DepthElement> environment,
                                const DepthSettings& settings) {
  DepthResult report;
  const auto once = [&] {
    report = state_ ? state_->detect(world_from_object, environment)
                    : detect_by_depth(map, world_from_object, environment, settings);
  };
  if (state_) once();  // compiles shaders
  seconds_ += time_of(once);
  return report;
}

}  // namespace isotact::tool
