// Check of the length of a .vdb file. Only for the sources of this folder.
#pragma once

#include <filesystem>

namespace isotact::detail {

// Throws Error (without a file's name) if the file ends before its header does or before the end of
// a grid that the header promises. OpenVDB 10 does not check: with a truncated file it takes
// lengths from failed reads and allocates that much memory.
//
// Reads only the header and each grid's descriptor. Does not check files that it cannot walk: other
// formats, versions of OpenVDB's format before 222, and grids written to a stream, which have no
// offsets. Counts inside a grid are not checked either.
void check_vdb_length(const std::filesystem::path& path);

}  // namespace isotact::detail
