// Pictures of a run.
#pragma once

#include "isotact/scene/replay.h"

#include "picture/picture.h"
#include "picture/render_scene.h"

namespace isotact::tool {

struct ReplayView {
  RenderSettings settings{};  // with a frame, so that the camera stands still
  Camera camera{};
  bool contacts = true;  // whether they are shown
};

// The box around all bodies in the frames that it was given, but for planes without end.
class ReplayBox {
 public:
  explicit ReplayBox(const Replay& replay);
  void add(const ReplayFrame& frame);
  // Of two metres where there was nothing.
  Aabb box() const;

 private:
  const Replay& replay_;
  std::vector<Aabbf> meshes_;
  Aabb all_{};
};

// A camera that holds the scene's box, or all bodies on all their ways. Size, samples and threads
// of the settings count; the view is the scene's.
ReplayView make_replay_view(const Replay& replay, const SceneView& view,
                            const RenderSettings& settings);

// Bodies as they are in a frame, its contacts on top as dots with their normals, and the time.
Picture draw_frame(const Replay& replay, std::size_t number, const ReplayView& view);

}  // namespace isotact::tool
