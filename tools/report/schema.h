// The JSON of the tool as docs/schema describes it. The files there are built into the program.
#pragma once

#include <string>
#include <string_view>

#include "commands/command.h"

namespace isotact::tool {

// "isotact.collide/1" for "collide", the name of a file in docs/schema.
std::string schema_id(const std::string& name);

// The object as its schema wants it: "schema" first, then all keys in the schema's order. Keys that
// the object lacks have null (or the schema's default). The same for the objects within. Keys that
// the schema does not know stay, at the end: the tests refuse them.
Json complete(const std::string& name, const Json& object);

// The text of a file of docs/schema, without its extension; empty if there is none.
std::string_view schema_text(std::string_view name);

}  // namespace isotact::tool
