// Fields as files: assets, and those of other programs as far as this build has them.
#pragma once

#include <string>

#include "isotact/base/parallel.h"

#include "asset_input.h"

namespace isotact::tool {

// Assets by content; .vdb, .nvdb and .sdf by name. Else it is a mesh, or nothing that we know.
bool is_field_file(const std::string& file);

// The field of an asset, a narrow-band level set out of a .vdb or .nvdb, or the samples of an .sdf.
// Throws Error, also where the build lacks the format.
AssetField load_field(const std::string& file);

// By the name, in any case, whether this build has the format or not: .sdf .vti .vdb .nvdb.
bool is_field_format(const std::string& file);

// Those that this build can write: ".sdf .vti .vdb".
std::string field_formats();

// "built in", "built in, without NanoVDB" or "not built in".
std::string openvdb_support();

// Throws Error where the build lacks the format, and for level sets of what is no brick field.
void export_field(const std::string& file, const AssetField& field, Threads threads);

}  // namespace isotact::tool
