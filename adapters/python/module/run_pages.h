// Recordings as files, and as the page that plays them if it was built in.
#pragma once

#include <string>

#include "isotact/scene/pack/replay_pack.h"

namespace isotact::python {

// Throws Error with the reason if pages are not built in.
std::string run_page(const RunPackSource& run);

// By the extension: .html, .glb, or .csv for the log.
void save_recording(const std::string& path, const RunPackSource& run);

}  // namespace isotact::python
