// A world with what Python keeps beside it: a recording, if one is wanted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/scene/parse/scene.h"
#include "isotact/scene/replay/replay.h"

namespace isotact::python {

class WorldObject {
 public:
  // frames_per_second 0: nothing is recorded.
  WorldObject(const WorldSettings& settings, double frames_per_second);

  World world;

  BodyId add_body(const BodySettings& settings);
  // Returns false if the run is in trouble.
  bool step();
  bool is_recording() const { return rate_ > 0; }
  // Throws Error if nothing is recorded.
  const Replay& replay();
  const Scene& scene() const { return scene_; }  // With the names that a page shows.

 private:
  void begin();
  void record();

  double rate_;
  bool begun_ = false;
  Scene scene_{};
  Replay replay_{};
};

}  // namespace isotact::python
