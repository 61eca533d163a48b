// What cmake/BuildViewer.cmake makes of viewer/.
#pragma once

#include <string_view>

namespace isotact::tool {

struct ViewerPage {
  std::string_view html;     // empty: not built in
  std::string_view missing;  // why
};
ViewerPage viewer_page();

}  // namespace isotact::tool
