// Level sets to and from OpenVDB's files (.vdb) and NanoVDB's (.nvdb). Built where their packages
// are installed (CMake: ISOTACT_WITH_OPENVDB, target isotact::openvdb); nothing of theirs is needed
// to include this.
//
// Written is one float grid of class LEVEL_SET named "distance", whose voxel (i, j, k) is node
// (i, j, k) of the lattice, with the level set's background; values come back in the same bits.
// A .vdb carries a random identity of its own, so that two writes differ in bytes; .nvdb do not.
//
// What their libraries throw arrives as Error with the file's name. Files are replaced in one step.
// A file that was cut short is an Error, but for .vdb files whose grids have no offsets (written to
// a stream) or whose format is older than 222. A damaged file is an Error as far as their readers
// notice: OpenVDB 10 checks magic number, version and types but has no checksums and trusts the
// counts inside a grid, so that a hostile .vdb may exhaust memory or crash it. NanoVDB files are
// held against their sizes and checksums before they are used, which finds damage but not forged
// offsets under a checksum that fits: their reader follows those. Read neither from strangers in a
// process that must live.
#pragma once

#include <filesystem>
#include <string>

#include "isotact/field/sparse_level_set.h"

namespace isotact {

struct VdbReadSettings {
  std::string grid{};  // name; empty: the first grid of floats, level sets before others
};

void write_vdb(const std::filesystem::path& path, const SparseLevelSet& level_set);
// A float grid whose voxels are cubes along the axes; others are an Error. The lattice holds all
// active voxels and begins at a multiple of 8 voxels. Active tiles (constant regions) become leaves
// where they are few.
SparseLevelSet read_vdb(const std::filesystem::path& path, const VdbReadSettings& settings = {});

// These throw Error where NanoVDB is not built in.
bool has_nanovdb();
void write_nvdb(const std::filesystem::path& path, const SparseLevelSet& level_set);
SparseLevelSet read_nvdb(const std::filesystem::path& path, const VdbReadSettings& settings = {});

}  // namespace isotact
