// What `build` says about the surface that it made of a mesh.
#pragma once

#include "commands/command.h"

namespace isotact::tool {

// The sign report that an asset stores, as keys of `build --json`: counts and areas as they are,
// null for lengths of things that are not there.
void add_sign_facts(Json& report, const Json& stored);

}  // namespace isotact::tool
