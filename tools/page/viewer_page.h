// The result of cmake/BuildViewer.cmake for viewer/.
#pragma once

#include <string_view>

namespace isotact::tool {

struct ViewerPage {
  std::string_view html;     // Empty: not built in.
  std::string_view missing;  // The reason.
};
ViewerPage viewer_page();

}  // namespace isotact::tool
