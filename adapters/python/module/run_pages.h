// The page that plays a run, if it was built in.
#pragma once

#include <string>

namespace isotact {
class SceneRun;
}

namespace isotact::python {

// Throws Error with the reason if pages are not built in.
std::string run_page(const SceneRun& run);

}  // namespace isotact::python
