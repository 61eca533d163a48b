// glTF 2.0 as text (.gltf) and binary (.glb). Only geometry is read: everything below the default
// scene. Node transforms are applied in double, and mirrors keep the outside outside.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "isotact/export.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// The content decides the container: GLB by its magic, everything else is read as JSON. `file`
// names the file in messages and gives its folder. With may_read_siblings, buffers may be in files
// of that folder or below it. Their path is relative and must not leave the folder by "..", links
// or schemes. Otherwise only data: URIs and the GLB's own chunk are followed. The network is never
// used.
//
// Vertices are as stored: each primitive appends its positions once per node that shows it. Points
// and lines keep their vertices, without triangles, and a warning says so. Degenerate triangles of
// triangle strips (an index twice) are dropped. Without a scene, all root nodes are read; without
// nodes, all meshes. Skins and morph targets stay at rest, with a warning. A required extension
// that is not known to leave geometry alone is an Error that names it. Draco and meshopt
// compression are such errors. A file without triangles gives an empty mesh with a warning.
//
// Every index, offset and count is checked. Errors name the byte (container), the line and column
// (JSON text) or the JSON path (/meshes/0/primitives/1/indices). Memory: the mesh, the named buffer
// files once each, 3/4 of data: URIs, and up to about 10 times the JSON. A mesh is refused if it
// takes more than 64 MiB and more than 64 times the bytes of its file. Many nodes may show one
// mesh.
LoadedMesh read_gltf(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     bool may_read_siblings, const MeshReadSettings& settings);

// Returns a GLB with one mesh, float positions and 32-bit indices. Without triangles it has the
// positions as points; without positions it has an empty scene. Throws Error if glTF cannot
// represent the mesh: a position that is not finite, or more than 4 GiB. read_gltf gives back the
// same mesh, bit for bit. Needs a mesh without flaw.
std::vector<std::byte> write_glb(const TriangleMesh& mesh);

// Returns the linear light, as glTF stores colours, of an sRGB value in [0, 1] (IEC 61966-2-1). The
// result has the same bits on every machine.
double decode_srgb(double encoded);

}  // namespace isotact
