#include "isotact/geometry/io/detail/ply_header.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/mesh_builder.h"

namespace isotact::detail {
namespace {

// More than any file needs; a header of nothing but properties must not fill the memory.
constexpr std::size_t kMaxDeclarations = 10000;

constexpr std::array<std::pair<std::string_view, PlyType>, 16> kTypeNames = {{
    {"char", PlyType::kInt8},
    {"int8", PlyType::kInt8},
    {"uchar", PlyType::kUint8},
    {"uint8", PlyType::kUint8},
    {"short", PlyType::kInt16},
    {"int16", PlyType::kInt16},
    {"ushort", PlyType::kUint16},
    {"uint16", PlyType::kUint16},
    {"int", PlyType::kInt32},
    {"int32", PlyType::kInt32},
    {"uint", PlyType::kUint32},
    {"uint32", PlyType::kUint32},
    {"float", PlyType::kFloat32},
    {"float32", PlyType::kFloat32},
    {"double", PlyType::kFloat64},
    {"float64", PlyType::kFloat64},
}};

PlyType read_type(TextInput& in) {
  if (in.is_at_line_end()) in.fail_expecting("a type such as float or uchar");
  const std::string_view word = in.read_word();
  for (const auto& [name, type] : kTypeNames)
    if (name == word) return type;
  in.fail(fmt::format("expected a type such as float or uchar, found '{}'", printable(word)));
}

std::string read_name(TextInput& in, std::string_view what) {
  if (in.is_at_line_end()) in.fail_expecting(what);
  return std::string(in.read_word());
}

PlyEncoding read_format(TextInput& in) {
  const std::string name = read_name(in, "a format");
  if (name == "ascii") return PlyEncoding::kText;
  if (name == "binary_little_endian") return PlyEncoding::kLittleEndian;
  if (name == "binary_big_endian") return PlyEncoding::kBigEndian;
  in.fail(fmt::format(
      "expected the format ascii, binary_little_endian or binary_big_endian, found '{}'",
      printable(name)));
}

PlyElement read_element(TextInput& in) {
  PlyElement element;
  element.name = read_name(in, "the name of an element");
  const std::int64_t count = in.read_integer("the number of rows of the element");
  if (count < 0) in.fail(fmt::format("element {} has {} rows", printable(element.name), count));
  element.count = static_cast<std::uint64_t>(count);
  return element;
}

PlyProperty read_property(TextInput& in) {
  PlyProperty property;
  if (in.peek() == 'l') {
    if (const std::string_view word = in.read_word(); word != "list")
      in.fail(fmt::format("expected a type or 'list', found '{}'", printable(word)));
    property.count_type = read_type(in);
  }
  property.type = read_type(in);
  property.name = read_name(in, "the name of a property");
  return property;
}

void find_coordinates(PlyElement& element, const TextInput& in) {
  constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto found =
        std::find_if(element.properties.begin(), element.properties.end(),
                     [&](const PlyProperty& p) { return p.name == kAxes[axis] && !p.count_type; });
    if (found == element.properties.end())
      in.fail(fmt::format("element vertex has no number '{}' among its properties", kAxes[axis]));
    element.wanted[axis] = static_cast<std::size_t>(found - element.properties.begin());
  }
}

void find_corners(PlyElement& element, const TextInput& in) {
  const auto found =
      std::find_if(element.properties.begin(), element.properties.end(), [](const PlyProperty& p) {
        return p.count_type && (p.name == "vertex_indices" || p.name == "vertex_index");
      });
  if (found == element.properties.end())
    in.fail(fmt::format("element {} has no list 'vertex_indices' among its properties",
                        printable(element.name)));
  element.wanted[0] = static_cast<std::size_t>(found - element.properties.begin());
}

void find_roles(PlyHeader& header, const TextInput& in) {
  bool has_vertices = false;
  for (PlyElement& element : header.elements) {
    if (element.name == "vertex") {
      if (std::exchange(has_vertices, true)) in.fail("element vertex is declared twice");
      if (element.count > MeshBuilder::kMaxPositions)
        in.fail(fmt::format("the header promises {} vertices; at most {} can be read",
                            element.count, MeshBuilder::kMaxPositions));
      element.role = PlyElement::Role::kVertices;
      header.vertex_count = element.count;
      find_coordinates(element, in);
    } else if (element.name == "face" || element.name == "tristrips") {
      // Writers declare faces without properties where there are none.
      if (element.count == 0) continue;
      element.role = element.name == "face" ? PlyElement::Role::kFaces : PlyElement::Role::kStrips;
      find_corners(element, in);
    }
  }
}

// Data begin right behind the end of the line. Where lines end with CR alone, an LF is data.
void skip_last_line_end(TextInput& in, bool lines_end_with_cr) {
  in.peek();  // steps over blanks, however many
  const char* p = in.window().cursor();
  if (*p == '\r') {
    ++p;
    if (*p == '\n' && !lines_end_with_cr) ++p;
  } else if (*p == '\n') {
    ++p;
  }
  in.window().move_to(p);
}

}  // namespace

bool PlyElement::has_lists() const {
  return std::any_of(properties.begin(), properties.end(),
                     [](const PlyProperty& p) { return p.count_type.has_value(); });
}

std::uint64_t PlyElement::min_row_size() const {
  std::uint64_t size = 0;
  for (const PlyProperty& p : properties) size += size_of(p.count_type.value_or(p.type));
  return size;
}

PlyHeader read_ply_header(TextInput& in) {
  if (!in.skip_to_word() || in.read_word() != "ply") in.fail("expected 'ply' as the first word");
  in.is_at_line_end();
  const std::string_view first_end = in.window().text().substr(0, 2);
  const bool lines_end_with_cr = first_end.starts_with('\r') && !first_end.ends_with('\n');
  PlyHeader header;
  std::optional<PlyEncoding> encoding;
  for (std::size_t declarations = 0;;) {
    if (!in.skip_to_word()) in.fail("the file ends before 'end_header'");
    const std::string word(in.read_word());
    if (word == "end_header") break;
    if (word == "format") {
      encoding = read_format(in);
    } else if (word == "element") {
      header.elements.push_back(read_element(in));
    } else if (word == "property") {
      if (header.elements.empty()) in.fail("a property stands before the first element");
      header.elements.back().properties.push_back(read_property(in));
    } else if (word != "comment" && word != "obj_info") {
      in.fail(fmt::format("expected a line of a PLY header, found '{}'", printable(word)));
    }
    if ((word == "element" || word == "property") && ++declarations > kMaxDeclarations)
      in.fail(fmt::format("the header has more than {} declarations", kMaxDeclarations));
    in.next_line();
  }
  if (!encoding) in.fail("the header has no line 'format'");
  header.encoding = *encoding;
  find_roles(header, in);
  if (header.encoding != PlyEncoding::kText)
    skip_last_line_end(in, lines_end_with_cr);
  else
    in.next_line();
  return header;
}

}  // namespace isotact::detail
