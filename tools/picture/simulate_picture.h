// Pictures of a run.
#pragma once

#include "isotact/scene/replay/replay.h"

#include "picture/picture.h"
#include "picture/render_scene.h"

namespace isotact::tool {

struct ReplayView {
  RenderSettings settings{};  // With a frame, so that the camera does not move.
  Camera camera{};
  bool contacts = true;  // Show contacts.
};

// The box around all bodies in the given frames, without endless planes.
class ReplayBox {
 public:
  explicit ReplayBox(const Replay& replay);
  void add(const ReplayFrame& frame);
  // Returns a box of two metres if it is empty.
  Aabb box() const;

 private:
  const Replay& replay_;
  std::vector<Aabbf> meshes_;
  Aabb all_{};
};

// Returns a camera that shows the scene's box, or all bodies along all their paths. Only size,
// samples and threads of the settings are used; the view is that of the scene.
ReplayView make_replay_view(const Replay& replay, const SceneView& view,
                            const RenderSettings& settings);

// Draws bodies of a frame, its contacts on top as dots with their normals, and the time.
Picture draw_frame(const Replay& replay, std::size_t number, const ReplayView& view);

}  // namespace isotact::tool
