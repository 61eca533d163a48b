// Stanford PLY: the header's elements in their order, of which vertices, faces and triangle strips
// are taken. This file reads the data of text files; ply_binary.cpp those of binary ones.
#include "isotact/geometry/io/detail/ply.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/mesh_builder.h"
#include "isotact/geometry/io/detail/readers.h"

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

void compute_coordinates(PlyElement& element, const TextInput& in) {
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
      compute_coordinates(element, in);
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

namespace {

class PlyTextReader {
 public:
  PlyTextReader(TextInput& in, const PlyHeader& header, MeshBuilder& builder)
      : in_(in), header_(header), builder_(builder) {}

  void read() {
    for (const PlyElement& element : header_.elements) {
      if (element.properties.empty()) continue;
      PlyCorners corners(builder_, header_.vertex_count, element.role == PlyElement::Role::kStrips);
      for (std::uint64_t row = 0; row < element.count; ++row) read_row(element, row, corners);
    }
    long_rows_.report_to(builder_.warnings);
    small_faces_.report_to(builder_.warnings);
  }

 private:
  void read_row(const PlyElement& element, std::uint64_t row, PlyCorners& corners) {
    if (!in_.skip_to_word())
      in_.fail(fmt::format("the file ends after {} of {} rows of element {}", row, element.count,
                           printable(element.name)));
    Vec3f position;
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& property = element.properties[i];
      expect_value(element, i);
      if (property.count_type)
        read_list(element, i, corners);
      else if (element.role == PlyElement::Role::kVertices)
        read_coordinate(element, i, position);
      else
        in_.skip_word();
    }
    if (element.role == PlyElement::Role::kVertices) builder_.add_position(position);
    if (!in_.is_at_line_end()) long_rows_.note(in_.line());
    in_.next_line();
  }

  void expect_value(const PlyElement& element, std::size_t property) {
    if (in_.is_at_line_end())
      in_.fail(fmt::format("a row of element {} ends before its property {}",
                           printable(element.name), printable(element.properties[property].name)));
  }

  void read_coordinate(const PlyElement& element, std::size_t property, Vec3f& position) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (element.wanted[axis] == property) {
        position[axis] = in_.read_float("a coordinate");
        return;
      }
    in_.skip_word();
  }

  void read_list(const PlyElement& element, std::size_t property, PlyCorners& corners) {
    const PlyProperty& list = element.properties[property];
    const bool is_wanted = element.role != PlyElement::Role::kNone &&
                           element.role != PlyElement::Role::kVertices &&
                           property == element.wanted[0];
    const std::int64_t count = read_whole(*list.count_type, "the length of a list");
    if (count < 0) in_.fail(fmt::format("the length of a list is {}", count));
    if (is_wanted) corners.begin();
    for (std::int64_t i = 0; i < count; ++i) {
      if (in_.is_at_line_end())
        in_.fail(fmt::format("a list of {} values ends after {}", count, i));
      if (!is_wanted) {
        in_.skip_word();
        continue;
      }
      const std::int64_t index = read_whole(list.type, "the index of a vertex");
      if (!corners.add(index))
        in_.fail(fmt::format("element {} uses vertex {}; the {} vertices are numbered from 0",
                             element.name, index, header_.vertex_count));
    }
    if (is_wanted && !corners.end()) small_faces_.note(in_.line());
  }

  // Counts and indices may be declared as floating-point numbers, and then be written as such.
  std::int64_t read_whole(PlyType type, std::string_view what) {
    if (is_integer(type)) return in_.read_integer(what);
    const double value = in_.read_double(what);
    constexpr double kLargest = 0x1p53;
    if (!(std::abs(value) <= kLargest) || value != std::trunc(value))
      in_.fail(fmt::format("expected {}, found {}", what, value));
    return static_cast<std::int64_t>(value);
  }

  TextInput& in_;
  const PlyHeader& header_;
  MeshBuilder& builder_;
  Oddity long_rows_{"passed over values beyond those that the header declares, in rows"};
  Oddity small_faces_{"passed over faces with fewer than three corners"};
};

}  // namespace

void read_ply_text(TextInput& in, const PlyHeader& header, MeshBuilder& builder) {
  PlyTextReader(in, header, builder).read();
}

void read_ply(Window& window, MeshBuilder& builder) {
  TextInput in(window);
  const PlyHeader header = read_ply_header(in);
  if (header.encoding == PlyEncoding::kText)
    read_ply_text(in, header, builder);
  else
    read_ply_binary(window, header, builder);
}

}  // namespace isotact::detail
