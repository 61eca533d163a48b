// Reading an asset for a subcommand, and telling assets from meshes.
#pragma once

#include <string>

#include "isotact/field/io/asset.h"

#include "command.h"

namespace isotact::tool {

// By its first bytes. False for what cannot be read, so that the reader of meshes says why.
bool is_asset(const std::string& file);

// Copied and checked in full. Notes about what was passed over go to stderr.
Asset read_asset_input(const std::string& file);

// The asset's brick field; an Error that says how to get one where it has none.
const BrickField& require_field(const Asset& asset);

// The cells along the field's longest side.
int resolution_of(const BrickField& field);

// How inside and outside were told apart: what build wrote into the asset, or null.
Json sign_report_of(const Asset& asset);

}  // namespace isotact::tool
