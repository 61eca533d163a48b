// The library says which of its settings would help; a verb that has an option for it says so too.
#pragma once

#include <string>

namespace isotact::tool {

// A message of the library with the options of the running verb that change the settings it names:
// "... metres_per_unit(\"mm\") (--unit mm)". Messages without such settings come back as they are.
std::string with_hint(const std::string& message);

}  // namespace isotact::tool
