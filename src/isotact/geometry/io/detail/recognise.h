// Which format a file has.
#pragma once

#include <filesystem>

#include "isotact/geometry/io/detail/window.h"
#include "isotact/geometry/io/mesh_io.h"

namespace isotact::detail {

// By the bytes in the window, at whose start the cursor must be; by the extension where they fit
// several formats. Where it is text, the window decodes it from here on. Throws Error for what is
// empty or no mesh.
MeshFormat recognise_mesh(Window& window, const std::filesystem::path& file);

// By the extension alone, in any case.
std::optional<MeshFormat> format_of_extension(const std::filesystem::path& file);

}  // namespace isotact::detail
