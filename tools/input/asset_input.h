// Reading an asset for a subcommand, and what is said about it.
#pragma once

#include <string>
#include <string_view>

#include "isotact/asset/asset_field.h"
#include "isotact/asset/load_shape.h"
#include "isotact/field/io/asset.h"

#include "commands/command.h"

namespace isotact::tool {

// Copied and checked in full, but for voxmap layers, which stay compressed: nothing here needs
// them, and a small file may stand for gigabytes. Notes about what was passed over go to stderr.
Asset read_asset_input(const std::string& file);

// extract_field_surface; errors end with the options of the command that help, such as "--iso".
FieldSurfaceResult extract_surface_input(const AssetField& field,
                                         const FieldSurfaceSettings& settings,
                                         const std::string& file, const std::string& options);

// Returns a text of an asset as JSON. Returns null if it is not JSON, or longer or nested deeper
// than any text of build. A hostile file may try to exhaust memory or stack.
Json parse_text(std::string_view text);

// Returns build's report of the sign method in the asset, or null.
Json sign_report_of(const Asset& asset);

// Facts of the triangles that an asset keeps, as JSON and in words.
Json describe_mesh(const FlatMesh& mesh);
std::string format_mesh(const Json& j);

// Adds facts of a brick field: its bricks, its error bounds, and its largest value.
void add_brick_facts(Json& j, const BrickField& field);
// Returns the bounds in words.
std::string format_errors(const Json& j);

}  // namespace isotact::tool
