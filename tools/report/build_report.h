// What `build` says about the surface that it made of a mesh.
#pragma once

#include "commands/command.h"

namespace isotact::tool {

// The sign report that an asset stores, as keys of `build --json`. Counts and areas are as they
// are. Lengths of things that are not there are null.
void add_sign_facts(Json& report, const Json& stored);

}  // namespace isotact::tool
