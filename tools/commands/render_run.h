// Pictures of runs: of a scene, which is run, or of a page that `isotact simulate` wrote.
#pragma once

#include <string>

#include "command.h"
#include "picture/render_mesh.h"

namespace isotact::tool {

// Scenes (.json) and pages (.html), by name.
bool is_run_file(const std::string& file);

struct RunPicture {
  std::string file;
  double time = kNotSaid;                   // seconds; not said: the end
  double yaw = kNotSaid, pitch = kNotSaid;  // degrees; not said: the scene's
  double zoom = 1;                          // times the scene's
  bool contacts = true;
  RenderSettings settings{};  // size, samples and threads count
};

// Throws Error for files that cannot be read, for runs that stop before that time, and for times
// behind the end of a page's run.
Picture render_run(const RunPicture& request);

}  // namespace isotact::tool
