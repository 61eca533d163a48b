#include "isotact/geometry/io/mesh_io.h"

#include <cassert>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/recognise.h"
#include "isotact/geometry/io/gltf.h"
#include "isotact/geometry/io/mesh_encode.h"

namespace isotact {
namespace {

using detail::MeshBuilder;
using detail::Window;

void check_settings(const MeshReadSettings& settings) {
  if (!(settings.scale > 0) || !std::isfinite(settings.scale))
    throw Error(fmt::format("the scale of a mesh is {}; it must be positive", settings.scale));
}

LoadedMesh read_as(MeshFormat format, Window& window, const MeshReadSettings& settings) {
  MeshBuilder builder;
  switch (format) {
    case MeshFormat::kObj:
      detail::read_obj(window, builder);
      break;
    case MeshFormat::kStl:
      detail::read_stl(window, builder);
      break;
    case MeshFormat::kPly:
      detail::read_ply(window, builder);
      break;
    case MeshFormat::kOff:
      detail::read_off(window, builder);
      break;
    case MeshFormat::kGltf:
    case MeshFormat::kGlb:
      assert(false);  // not read through a window
  }
  LoadedMesh loaded;
  loaded.mesh = builder.finish(settings.scale, settings.monitor);
  loaded.format = format;
  loaded.warnings = std::move(builder.warnings);
  return loaded;
}

bool is_gltf(MeshFormat format) {
  return format == MeshFormat::kGltf || format == MeshFormat::kGlb;
}

void warn_about_name(LoadedMesh& loaded, const std::filesystem::path& file) {
  const std::optional<MeshFormat> named = detail::format_of_extension(file);
  if (named && *named != loaded.format && !(is_gltf(*named) && is_gltf(loaded.format)))
    loaded.warnings.push_back(
        fmt::format("named as {}, but its content is {}", name(*named), name(loaded.format)));
}

bool can_write(MeshFormat format) {
  return format != MeshFormat::kOff && format != MeshFormat::kGltf;
}

void write_as(MeshFormat format, const std::filesystem::path& path, const TriangleMesh& mesh,
              const MeshWriteSettings& settings) {
  switch (format) {
    case MeshFormat::kObj:
      return write_file(path, encode_obj(mesh));
    case MeshFormat::kStl:
      return write_file(path, settings.text ? encode_stl_text(mesh) : encode_stl(mesh));
    case MeshFormat::kPly:
      return write_file(path, settings.text ? encode_ply_text(mesh) : encode_ply(mesh));
    case MeshFormat::kGlb:
      return write_file(path, write_glb(mesh));
    case MeshFormat::kOff:
    case MeshFormat::kGltf:
      assert(false);  // refused before
  }
}

}  // namespace

std::string_view name(MeshFormat format) {
  switch (format) {
    case MeshFormat::kObj:
      return "obj";
    case MeshFormat::kStl:
      return "stl";
    case MeshFormat::kPly:
      return "ply";
    case MeshFormat::kOff:
      return "off";
    case MeshFormat::kGltf:
      return "gltf";
    case MeshFormat::kGlb:
      break;
  }
  return "glb";
}

LoadedMesh read_mesh(const std::filesystem::path& path, const MeshReadSettings& settings) {
  check_settings(settings);
  Window window(path, settings.monitor);
  const MeshFormat format = detail::recognise_mesh(window, path);
  LoadedMesh loaded = is_gltf(format) ? read_gltf(window.take_rest(), path, true, settings)
                                      : read_as(format, window, settings);
  warn_about_name(loaded, path);
  return loaded;
}

LoadedMesh read_mesh(std::span<const std::byte> bytes, std::string_view file_name,
                     const MeshReadSettings& settings) {
  check_settings(settings);
  Window window(bytes, file_name, settings.monitor);
  const MeshFormat format = detail::recognise_mesh(window, file_name);
  LoadedMesh loaded = is_gltf(format) ? read_gltf(bytes, file_name, false, settings)
                                      : read_as(format, window, settings);
  warn_about_name(loaded, file_name);
  return loaded;
}

LoadedMesh detail::read_mesh_as(MeshFormat format, std::span<const std::byte> bytes,
                                std::string_view file_name, const MeshReadSettings& settings,
                                std::size_t window_size) {
  Window window(bytes, file_name, settings.monitor, window_size);
  if (!is_binary_stl(window.text(), window.file_size())) window.decode_text();
  return read_as(format, window, settings);
}

void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh,
                const MeshWriteSettings& settings) {
  assert(!find_flaw(mesh));
  const std::optional<MeshFormat> format = detail::format_of_extension(path);
  if (!format || !can_write(*format))
    throw Error({.file = path.string()},
                fmt::format("the extension '{}' is no mesh format that can be written; .obj, .stl, "
                            ".ply and .glb can",
                            printable(path.extension().string())));
  write_as(*format, path, mesh, settings);
}

}  // namespace isotact
