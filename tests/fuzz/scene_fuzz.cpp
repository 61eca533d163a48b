// Any bytes are a scene that is read, or an Error; what is read keeps to the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "isotact/base/error.h"
#include "isotact/scene/parse/scene.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isotact;
  try {
    const Scene scene = parse_scene({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (scene.bodies.empty() || scene.bodies.size() > kMostSceneBodies) std::abort();
    if (!(scene.world.step > 0) || step_count(scene) == 0) std::abort();
    for (const SceneBody& body : scene.bodies) {
      if (!is_finite(body.pose.translation)) std::abort();
      if (body.shape && *body.shape >= scene.shapes.size()) std::abort();
      if (body.material && *body.material >= scene.materials.size()) std::abort();
    }
    for (const SceneJoint& joint : scene.joints)
      if (joint.a >= scene.bodies.size() || joint.b >= scene.bodies.size()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
