// The data of a PLY file, behind its header.
#pragma once

#include "isotact/geometry/io/detail/mesh_builder.h"
#include "isotact/geometry/io/detail/ply_header.h"

namespace isotact::detail {

void read_ply_text(TextInput& in, const PlyHeader& header, MeshBuilder& builder);
void read_ply_binary(Window& window, const PlyHeader& header, MeshBuilder& builder);

}  // namespace isotact::detail
