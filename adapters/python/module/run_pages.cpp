#include "run_pages.h"

#include <filesystem>
#include <span>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/scene/replay/replay.h"

#include "page/run_page.h"
#include "page/viewer_page.h"

namespace isotact::python {

std::string run_page(const RunPackSource& run) {
  const tool::ViewerPage viewer = tool::viewer_page();
  if (viewer.html.empty())
    throw Error("pages are not built into this package: " + std::string(viewer.missing) +
                "; runs can be saved as .glb");
  return tool::play_when_opened(tool::make_run_page(write_run_pack(run)));
}

void save_recording(const std::string& path, const RunPackSource& run) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto write_text = [&](const std::string& text) {
    write_file(path, std::as_bytes(std::span(text.data(), text.size())));
  };
  if (ending == ".glb") return write_file(path, write_replay_glb(run.replay));
  if (ending == ".csv") return write_text(write_log_csv(run.replay));
  if (ending == ".html") return write_text(run_page(run));
  throw Error(
      "a recording is saved as .html (a page that plays it), .glb or .csv (its log), not '" +
      ending + "'");
}

}  // namespace isotact::python
