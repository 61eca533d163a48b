// Reading a mesh for a subcommand: --unit, a progress bar, warnings about odd sizes.
#pragma once

#include <string>

#include "isotact/geometry/io/mesh_io.h"

#include "command.h"

namespace isotact::tool {

struct MeshInputOptions {
  std::string file;
  std::string unit;  // empty: not said, metres assumed
};

// The positional FILE and --unit.
void add_mesh_input(Command& command, MeshInputOptions& options, const std::string& help);

// The same --unit for commands with several files.
void add_unit(Command& command, std::string& unit);

// Reads it; `warnings` of the result also name an implausible size.
LoadedMesh read_input(const MeshInputOptions& options);

}  // namespace isotact::tool
