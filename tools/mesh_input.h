// Reading a mesh for a subcommand: --unit, a progress bar, warnings about odd sizes.
#pragma once

#include <string>

#include "command.h"
#include "isotact/geometry/io/mesh_io.h"

namespace isotact::tool {

struct MeshInputOptions {
  std::string file;
  std::string unit;  // empty: not said, metres assumed
};

// The positional FILE and --unit.
void add_mesh_input(CLI::App& command, MeshInputOptions& options, const std::string& help);

// Reads it; `warnings` of the result also name an implausible size.
LoadedMesh read_input(const MeshInputOptions& options);

}  // namespace isotact::tool
