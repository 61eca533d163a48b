// Whether a .vdb file is as long as it says; only for the sources of this folder.
#pragma once

#include <filesystem>

namespace isotact::detail {

// Throws Error (without a file's name) where the file ends before its header does or before the end
// of a grid that the header promises. OpenVDB 10 does not look: on a file cut short it takes
// lengths from what it failed to read and asks for that much memory.
//
// Reads only the header and each grid's descriptor. Says nothing about files that it cannot walk:
// other formats, versions of OpenVDB's format before 222, and grids written to a stream, which have
// no offsets; nor about counts inside of a grid.
void check_vdb_length(const std::filesystem::path& path);

}  // namespace isotact::detail
