// Pictures of runs: of a scene, which is run, or of a page that `isotact simulate` wrote.
#pragma once

#include <string>

#include "command.h"
#include "picture/render_mesh.h"

namespace isotact::tool {

// Returns whether it is a scene (.json) or a page (.html), by name.
bool is_run_file(const std::string& file);

struct RunPicture {
  std::string file;
  double time = kNotSaid;                   // Seconds. Not given: the end.
  double yaw = kNotSaid, pitch = kNotSaid;  // Degrees. Not given: those of the scene.
  double zoom = 1;                          // Factor on the scene's zoom.
  bool contacts = true;
  RenderSettings settings{};  // Only size, samples and threads are used.
};

// Throws Error for files that cannot be read, for runs that stop before that time, and for times
// behind the end of a page's run.
// Warnings of a scene's run replace what `warnings` holds.
Picture render_run(const RunPicture& request, std::vector<std::string>& warnings);

}  // namespace isotact::tool
