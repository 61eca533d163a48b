// Reads a mesh for a subcommand: --unit, a progress bar, warnings about implausible sizes.
#pragma once

#include <string>

#include "isotact/geometry/io/mesh_io.h"

#include "commands/command.h"

namespace isotact::tool {

struct MeshInputOptions {
  std::string file;
  std::string unit;  // Empty: not given, metres assumed.
};

// Adds the positional FILE and --unit.
void add_mesh_input(Command& command, MeshInputOptions& options, const std::string& help);

// Adds the same --unit for commands with several files.
void add_unit(Command& command, std::string& unit);

// Reads the mesh. `warnings` of the result include an implausible size.
LoadedMesh read_input(const MeshInputOptions& options);

}  // namespace isotact::tool
