// Meshes from and to files. A reader either returns a mesh whose indices are all in range or throws
// an Error. The Error says where (line of a text, byte of a binary file) and what was wrong. A
// reader needs memory for the mesh and a small window of the file. This does not depend on the
// length of lines or on the counts in the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

enum class MeshFormat { kObj, kStl, kPly, kOff, kGltf, kGlb };

std::string_view name(MeshFormat format);  // "obj", "stl", ...

struct MeshReadSettings {
  double scale = 1;  // Metres per unit of the file.
  Monitor monitor{};
};

struct LoadedMesh {
  TriangleMesh mesh;
  MeshFormat format{};
  std::vector<std::string> warnings;  // Describe oddities that could still be read.
};

// Recognises the format by content; the extension decides only if the content is ambiguous.
LoadedMesh read_mesh(const std::filesystem::path& path, const MeshReadSettings& settings = {});

// The same from memory; `file_name` is used in messages and for its extension. A glTF in memory may
// use only buffers that it contains itself.
LoadedMesh read_mesh(std::span<const std::byte> bytes, std::string_view file_name,
                     const MeshReadSettings& settings = {});

struct MeshWriteSettings {
  bool text = false;  // STL and PLY as text instead of binary.
};

// Writes OBJ, STL, PLY or GLB, by the extension. Text has enough digits to read the same floats
// again. Needs a mesh without find_flaw, and memory for the whole file.
void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh,
                const MeshWriteSettings& settings = {});

// Meshes as the bytes of a file. All need a mesh without find_flaw.

std::string encode_obj(const TriangleMesh& mesh);
std::string encode_stl(const TriangleMesh& mesh);  // Binary.
std::string encode_stl_text(const TriangleMesh& mesh);
std::string encode_ply(const TriangleMesh& mesh);  // Binary, little endian.
std::string encode_ply_text(const TriangleMesh& mesh);

}  // namespace isotact
