// Fields as files: assets, and formats of other programs as far as this build has them.
#pragma once

#include <string>

#include "isotact/base/parallel.h"

#include "asset_input.h"

namespace isotact::tool {

// Recognises assets by content; .vdb, .nvdb and .sdf by name. Other files are meshes, or unknown.
bool is_field_file(const std::string& file);

// Returns the field of an asset, a narrow-band level set of a .vdb or .nvdb, or the samples of an
// .sdf. Throws Error, also if the build lacks the format.
AssetField load_field(const std::string& file);

// Tests the name, in upper or lower case, for .sdf .vti .vdb .nvdb. The build need not have the
// format.
bool is_field_format(const std::string& file);

// Returns the formats that this build can write: ".sdf .vti .vdb".
std::string field_formats();

// Returns "built in", "built in, without NanoVDB" or "not built in".
std::string openvdb_support();

// Throws Error if the build lacks the format, and for level sets of fields other than brick fields.
void export_field(const std::string& file, const AssetField& field, Threads threads);

}  // namespace isotact::tool
