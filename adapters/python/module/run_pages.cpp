#include "run_pages.h"

#if ISOTACT_PYTHON_PAGES
#include "page/run_page.h"
#include "page/viewer_page.h"
#endif

#include "isotact/base/error.h"

namespace isotact::python {

std::string run_page(const SceneRun& run) {
#if ISOTACT_PYTHON_PAGES
  const tool::ViewerPage viewer = tool::viewer_page();
  if (viewer.html.empty())
    throw Error("pages are not built into this package: " + std::string(viewer.missing) +
                "; runs can be saved as .glb");
  return tool::play_when_opened(tool::make_run_page(run, 0));
#else
  static_cast<void>(run);
  throw Error("pages are not built into this package (it was built without the tool); runs can be "
              "saved as .glb");
#endif
}

}  // namespace isotact::python
