// Meshes as the bytes of a file. All need a mesh without find_flaw.
#pragma once

#include <string>

#include "isotact/geometry/mesh.h"

namespace isotact {

std::string encode_obj(const TriangleMesh& mesh);
std::string encode_stl(const TriangleMesh& mesh);  // binary
std::string encode_stl_text(const TriangleMesh& mesh);
std::string encode_ply(const TriangleMesh& mesh);  // binary, little endian
std::string encode_ply_text(const TriangleMesh& mesh);

}  // namespace isotact
