// Meshes from and to files. A reader either returns a mesh whose indices are all in range or throws
// an Error that says where (line of a text, byte of a binary file) and what was wrong. It needs
// memory for the mesh and a small window of the file, however long the lines are or whatever the
// counts in the file promise.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/progress.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

enum class MeshFormat { kObj, kStl, kPly, kOff, kGltf, kGlb };

std::string_view name(MeshFormat format);  // "obj", "stl", ...

struct MeshReadSettings {
  double scale = 1;  // metres per unit of the file
  Monitor monitor{};
};

struct LoadedMesh {
  TriangleMesh mesh;
  MeshFormat format{};
  std::vector<std::string> warnings;  // what was odd but could be read, in words
};

// Recognises the format by content; the extension only decides where content cannot.
LoadedMesh read_mesh(const std::filesystem::path& path, const MeshReadSettings& settings = {});

// The same from memory; `file_name` is used in messages and for its extension. A glTF in memory may
// only use buffers that it carries itself.
LoadedMesh read_mesh(std::span<const std::byte> bytes, std::string_view file_name,
                     const MeshReadSettings& settings = {});

struct MeshWriteSettings {
  bool text = false;  // STL and PLY as text instead of binary
};

// Writes OBJ, STL, PLY or GLB, by the extension. Text has as many digits as it takes to read the
// same floats again. Needs a mesh without find_flaw, and memory for the whole file.
void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh,
                const MeshWriteSettings& settings = {});

}  // namespace isotact
