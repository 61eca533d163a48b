// glTF 2.0 as text (.gltf) and binary (.glb). Only geometry is read: what hangs below the default
// scene, with its node transforms applied in double and outside kept outside under mirrors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Told apart by content: GLB by its magic, everything else is taken for JSON. `file` names the file
// in messages and tells where its folder is. With may_read_siblings, buffers may lie in files of
// that folder or below it (relative path, no way out of it by "..", links or schemes); without,
// only data: URIs and the GLB's own chunk are followed. The network never is.
//
// Vertices are as stored: each primitive appends its positions once per node that shows it, those
// of points and lines too (their vertices stay, without triangles, and a warning says so). Stitches
// of triangle strips (an index twice) are dropped. No scene: all root nodes; no nodes: all meshes.
// Skins and morph targets stay at rest, with a warning. An extension that is required and not known
// to leave geometry alone is an Error that names it; so are draco and meshopt compression.
// No triangles at all: an empty mesh with a warning.
//
// Every index, offset and count is checked. Errors name the byte (container), the line and column
// (JSON text) or the JSON path (/meshes/0/primitives/1/indices).
// Memory: the mesh, the named buffer files once each, 3/4 of data: URIs, and up to about 10 times
// the JSON. A mesh that takes more than 64 MiB and more than 64 times the bytes that it was read
// from (many nodes that show one mesh) is refused.
LoadedMesh read_gltf(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     bool may_read_siblings, const MeshReadSettings& settings);

// A GLB with one mesh, float positions and 32-bit indices. No triangles: the positions as points;
// no positions: an empty scene. Throws where glTF cannot hold the mesh: a position that is not
// finite, or more than 4 GiB. read_gltf gives back the same mesh, bit for bit. Needs a mesh without
// flaw.
std::vector<std::byte> write_glb(const TriangleMesh& mesh);

}  // namespace isotact
