// Facts about an asset, for `info`.
#pragma once

#include <optional>
#include <string>

#include "isotact/field/io/asset.h"

#include "commands/command.h"

namespace isotact::tool {

// Returns the object of `info --json`; docs/tool.md lists the keys.
// What to say of cells that are too large to tell the body's shape.

Json describe_asset(const std::string& file);

// The same for a .vdb, .nvdb or .sdf.
Json describe_field_file(const std::string& file);

// Prints either as a table.
void print_asset(const Json& j);

// "1.21 MB"
std::string format_bytes(std::uint64_t bytes);

}  // namespace isotact::tool
