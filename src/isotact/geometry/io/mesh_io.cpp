#include "isotact/geometry/io/mesh_io.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/text_input.h"
#include "isotact/geometry/io/detail/window.h"
#include "isotact/geometry/io/gltf.h"

namespace isotact::detail {
namespace {

// Which format a file has.

// By the bytes in the window, at whose start the cursor must be; by the extension where they fit
// several formats. Where it is text, the window decodes it from here on. Throws Error for what is
// empty or no mesh.
MeshFormat recognise_mesh(Window& window, const std::filesystem::path& file);

// By the extension alone, in any case.
std::optional<MeshFormat> format_of_extension(const std::filesystem::path& file);

using namespace std::string_view_literals;

constexpr std::string_view kReadable = "OBJ, STL, PLY, OFF, glTF and GLB can be read";

// What people take for a mesh by mistake, or what lies beside meshes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kForeign = {{
    {"\x89PNG"sv, "a PNG picture"},
    {"\xFF\xD8\xFF"sv, "a JPEG picture"},
    {"GIF8"sv, "a GIF picture"},
    {"%PDF"sv, "a PDF document"},
    {"\x7F"
     "ELF"sv,
     "a program or library (ELF)"},
    {"PK\x03\x04"sv, "a ZIP archive (3MF files are such archives, too)"},
    {"\x1F\x8B"sv, "compressed with gzip; uncompress it first"},
    {"\xFD"
     "7zXZ"sv,
     "compressed with xz; uncompress it first"},
    {"BZh"sv, "compressed with bzip2; uncompress it first"},
    {"Kaydara FBX"sv, "an FBX file"},
    {"BLENDER"sv, "a Blender file"},
    {"# vtk"sv, "a VTK file"},
    {"ISO-10303"sv, "a STEP file; export it as triangles first"},
    {"<"sv, "XML or HTML (COLLADA and X3D files are XML, too)"},
}};

std::string_view first_word(std::string_view text) {
  const auto is_end = [](char c) { return is_blank(c) || is_line_end(c); };
  return text.substr(
      0, static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_end) - text.begin()));
}

// The first line that is neither blank nor a comment, from its first word on.
std::string_view first_statement(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\v\f\r\n"), text.size()));
    if (!text.starts_with('#')) return text;
    text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
  }
}

bool begins_like_obj(std::string_view statement) {
  constexpr std::array<std::string_view, 13> kWords = {
      "v", "vn", "vt", "vp", "f", "l", "p", "o", "g", "s", "usemtl", "mtllib", "cstype"};
  return std::find(kWords.begin(), kWords.end(), first_word(statement)) != kWords.end();
}

// Three whole numbers on a line of their own: an OFF file that lost its keyword.
bool begins_with_counts(std::string_view statement) {
  const std::string_view line = statement.substr(0, statement.find_first_of("\r\n#"));
  int numbers = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_blank(line[i])) continue;
    if (!is_digit(line[i])) return false;
    if (i == 0 || is_blank(line[i - 1])) ++numbers;
  }
  return numbers == 3;
}

std::optional<MeshFormat> format_of_content(std::string_view text,
                                            std::optional<MeshFormat> extension) {
  const std::string_view statement = first_statement(text);
  const std::string_view word = first_word(statement);
  if (word == "ply") return MeshFormat::kPly;
  if (off_variant(word) != OffVariant::kNone) return MeshFormat::kOff;
  if (equals_ignoring_case(word, "solid") || equals_ignoring_case(word, "facet"))
    return MeshFormat::kStl;
  if (begins_like_obj(statement)) return MeshFormat::kObj;
  if (word.starts_with('{') &&
      (extension == MeshFormat::kGltf || statement.find("\"asset\"") != std::string_view::npos))
    return MeshFormat::kGltf;
  if (extension == MeshFormat::kOff && begins_with_counts(statement)) return MeshFormat::kOff;
  return std::nullopt;
}

[[noreturn]] void fail_as_foreign(const Window& window) {
  const std::string_view text = window.text();
  const std::string_view statement = text.starts_with("# vtk") ? text : first_statement(text);
  for (const auto& [magic, kind] : kForeign)
    if (text.starts_with(magic) || (magic == "<" && statement.starts_with(magic)))
      throw Error({.file = window.name()}, fmt::format("is {}, not a mesh; {}", kind, kReadable));
  throw Error({.file = window.name()}, fmt::format("is not a mesh that is known here (it begins "
                                                   "with '{}'); {}",
                                                   printable(statement.substr(0, 16)), kReadable));
}

bool is_foreign(std::string_view text) {
  return std::any_of(kForeign.begin(), kForeign.end(),
                     [&](const auto& entry) { return text.starts_with(entry.first); });
}

std::optional<MeshFormat> format_of_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  if (extension.starts_with('.')) extension.erase(0, 1);
  for (const MeshFormat format : {MeshFormat::kObj, MeshFormat::kStl, MeshFormat::kPly,
                                  MeshFormat::kOff, MeshFormat::kGltf, MeshFormat::kGlb})
    if (equals_ignoring_case(extension, name(format))) return format;
  return std::nullopt;
}

MeshFormat recognise_mesh(Window& window, const std::filesystem::path& file) {
  const std::optional<MeshFormat> extension = format_of_extension(file);
  if (window.is_at_end())
    throw Error({.file = window.name()}, fmt::format("is empty; a mesh was expected"));
  if (window.text().starts_with("glTF")) return MeshFormat::kGlb;
  if (is_binary_stl(window.text(), window.file_size()) &&
      (extension == MeshFormat::kStl || window.remaining() > 84U))
    return MeshFormat::kStl;
  // glTF's own reader takes the bytes as they are, and has its own opinion of them.
  if (extension == MeshFormat::kGlb || extension == MeshFormat::kGltf) {
    if (first_statement(window.text()).starts_with('{')) return MeshFormat::kGltf;
  }
  if (is_foreign(window.text())) fail_as_foreign(window);
  if (may_be_binary_stl(window.text(), window.file_size()) &&
      (extension == MeshFormat::kStl || !window.file_size()))
    return MeshFormat::kStl;
  window.decode_text();
  if (const auto format = format_of_content(window.text(), extension)) return *format;
  // Comments alone, binary data and broken beginnings fit any of these; their readers say more.
  if (extension == MeshFormat::kObj || extension == MeshFormat::kOff ||
      extension == MeshFormat::kStl)
    if (!first_statement(window.text()).starts_with('<')) return *extension;
  if (extension == MeshFormat::kPly)
    throw Error({.file = window.name(), .line = 1}, "expected 'ply' as the first word");
  fail_as_foreign(window);
}

}  // namespace

}  // namespace isotact::detail

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
