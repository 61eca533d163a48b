// Level sets to and from OpenVDB's files (.vdb) and NanoVDB's (.nvdb). Built if their packages are
// installed (CMake: ISOTACT_WITH_OPENVDB, target isotact::openvdb). This header needs nothing of
// theirs.
//
// The writers write one float grid of class LEVEL_SET named "distance". Its voxel (i, j, k) is node
// (i, j, k) of the lattice, with the level set's background. Values are read back with the same
// bits. A .vdb has a random identity of its own, so that two writes differ in bytes; .nvdb files do
// not.
//
// Exceptions of their libraries become Error with the file's name. Files are replaced in one step.
// A truncated file is an Error, except for .vdb files whose grids have no offsets (written to a
// stream) or whose format is older than 222. A damaged file is an Error as far as their readers
// notice. OpenVDB 10 checks magic number, version and types but has no checksums and trusts the
// counts inside a grid. A hostile .vdb may therefore exhaust memory or crash it. NanoVDB files are
// checked by their sizes and checksums before use. This finds damage but not forged offsets under a
// valid checksum: their reader follows those. Do not read files of untrusted origin in a critical
// process.
#pragma once

#include <filesystem>
#include <string>

#include "isotact/field/models/sparse_level_set.h"

namespace isotact {

struct VdbReadSettings {
  std::string grid{};  // Name. Empty: the first grid of floats, level sets before others.
};

void write_vdb(const std::filesystem::path& path, const SparseLevelSet& level_set);
// Reads a float grid whose voxels are cubes along the axes; others are an Error. The lattice
// contains all active voxels and begins at a multiple of 8 voxels. Active tiles (constant regions)
// become leaves if they are few.
SparseLevelSet read_vdb(const std::filesystem::path& path, const VdbReadSettings& settings = {});

// These throw Error if NanoVDB is not built in.
bool has_nanovdb();
void write_nvdb(const std::filesystem::path& path, const SparseLevelSet& level_set);
SparseLevelSet read_nvdb(const std::filesystem::path& path, const VdbReadSettings& settings = {});

}  // namespace isotact
