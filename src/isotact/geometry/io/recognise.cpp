#include "isotact/geometry/io/detail/recognise.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/off_header.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {
namespace {

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

}  // namespace

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

}  // namespace isotact::detail
