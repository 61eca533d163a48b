// The library ends messages with the settings of C++ that help (Hint in base/error.h). The tool
// shows the options of the running verb instead.
#pragma once

#include <string>

#include "commands/command.h"

namespace isotact::tool {

// "... may be millimetres (--unit mm)". A message without a hint comes back as it is. One whose
// hint has no option in the running verb loses the names of C++.
std::string in_words_of_tool(const std::string& message);

// The same for the values of all keys "warnings" and "error" within the JSON.
void use_words_of_tool(Json& json);

}  // namespace isotact::tool
