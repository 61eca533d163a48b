// What somebody may have meant who wrote a name that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace isotact {

// "; did you mean gear? Possible: sphere, box, ..." where one of the names is near enough, else
// "; possible: sphere, box, ...". Looks at the first 64 characters only.
std::string suggest(std::string_view wrong, std::span<const std::string> names);

}  // namespace isotact
