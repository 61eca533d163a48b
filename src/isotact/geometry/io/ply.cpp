// Stanford PLY: the header's elements in their order, of which vertices, faces and triangle strips
// are taken. This file reads the data of text files; ply_binary.cpp those of binary ones.
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/ply_body.h"
#include "isotact/geometry/io/detail/ply_corners.h"
#include "isotact/geometry/io/detail/readers.h"

namespace isotact::detail {
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
