#include "scene_engines.h"

#if defined(ISOTACT_HAS_BULLET)
#include "isotact/adapters/bullet/scene_engine.h"
#endif

namespace isotact::tool {

SceneEngines built_in_engines() {
#if defined(ISOTACT_HAS_BULLET)
  return {{"bullet", make_bullet_engine}};
#else
  return {};
#endif
}

}  // namespace isotact::tool
