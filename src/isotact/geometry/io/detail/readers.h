// One reader per format: from the cursor of a window into a builder, or Error.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "isotact/geometry/io/detail/mesh_builder.h"
#include "isotact/geometry/io/detail/window.h"
#include "isotact/geometry/io/mesh_io.h"

namespace isotact::detail {

void read_obj(Window& window, MeshBuilder& builder);
void read_off(Window& window, MeshBuilder& builder);
void read_ply(Window& window, MeshBuilder& builder);
// Tells text from binary by content.
void read_stl(Window& window, MeshBuilder& builder);

// Whether these are the bytes of a binary STL, by its size: `head` is the beginning of a file of
// `file_size` bytes (nothing: unknown).
bool is_binary_stl(std::string_view head, std::optional<std::uint64_t> file_size);
// Whether they may be one with other bytes behind the last triangle, or of unknown size: the count
// is no text and fits the size. If the size is known, nothing else is tested: other binary files
// may pass, and the name must also say STL. If it is unknown, the first triangles must make sense.
bool may_be_binary_stl(std::string_view head, std::optional<std::uint64_t> file_size);

// Reads OBJ, STL, PLY or OFF as that format, whatever the contents resemble. The result does not
// depend on the size of the window.
LoadedMesh read_mesh_as(MeshFormat format, std::span<const std::byte> bytes,
                        std::string_view file_name, const MeshReadSettings& settings = {},
                        std::size_t window_size = Window::kUsualSize);

// The keyword that OFF files begin with: [ST][C][N][4][n]OFF, the letters in any order.

enum class OffVariant { kNone, kThreeDimensional, kOtherDimension };

OffVariant off_variant(std::string_view word);

}  // namespace isotact::detail
