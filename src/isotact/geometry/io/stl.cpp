// STL, text and binary. Every triangle keeps its own three vertices, as stored; weld() joins them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {
namespace {

constexpr std::uint64_t kStlHeaderSize = 84;
constexpr std::size_t kFacetSize = 50;  // normal, three corners, two bytes that mean nothing
constexpr std::uint64_t kMaxFacets = MeshBuilder::kMaxPositions / 3;

std::uint32_t load_little_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

bool begins_with_word(std::string_view text, std::string_view lower_case) {
  return text.size() > lower_case.size() &&
         equals_ignoring_case(text.substr(0, lower_case.size()), lower_case) &&
         static_cast<unsigned char>(text[lower_case.size()]) <= ' ';
}

// Bytes below the blank but those that end lines and indent.
bool has_control_bytes(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && !is_blank(c) && !is_line_end(c);
  });
}

// Whether the corners in the first kilobyte are numbers as parts have them, which a quarter of all
// bit patterns is not. Normals may be anything.
bool begins_with_sane_facets(std::string_view head) {
  constexpr float kFarthest = 1e20F;
  head = head.substr(0, 1024);
  for (std::size_t facet = kStlHeaderSize; facet + kFacetSize <= head.size(); facet += kFacetSize)
    for (std::size_t i = 0; i < 9; ++i) {
      const auto c = std::bit_cast<float>(load_little_endian(head.data() + facet + 12 + 4 * i));
      if (!(std::abs(c) <= kFarthest)) return false;
    }
  return true;
}

// Text begins with the word solid, or facet where that line is lost, and holds no control
// bytes.
bool looks_like_text(std::string_view head) {
  head = head.substr(0, 1024);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  if (!begins_with_word(head, "solid") && !begins_with_word(head, "facet")) return false;
  return !has_control_bytes(head);
}

class StlTextReader {
 public:
  StlTextReader(Window& window, MeshBuilder& builder) : in_(window), builder_(builder) {}

  void read() {
    bool is_inside = false;
    bool had_solid = false;
    while (in_.skip_to_word()) {
      const std::string_view word = in_.read_word();
      if (equals_ignoring_case(word, "facet")) {
        read_facet();
      } else if (equals_ignoring_case(word, "solid")) {
        is_inside = had_solid = true;
        in_.skip_text_line();  // its name
      } else if (equals_ignoring_case(word, "endsolid")) {
        is_inside = false;
        in_.skip_text_line();
      } else {
        in_.fail(fmt::format("expected facet or endsolid, found '{}'", printable(word)));
      }
    }
    if (!had_solid) builder_.warnings.emplace_back("the line 'solid' is missing");
    if (is_inside) builder_.warnings.emplace_back("the line 'endsolid' is missing");
    small_loops_.report_to(builder_.warnings);
  }

 private:
  void read_facet() {
    // The normal follows from the corners; here it may be anything.
    do expect_more("'outer loop'");
    while (!equals_ignoring_case(in_.read_word(), "outer"));
    expect_word("loop");
    builder_.begin_polygon();
    for (;;) {
      expect_more("vertex or endloop");
      const std::string_view word = in_.read_word();
      if (equals_ignoring_case(word, "endloop")) break;
      if (!equals_ignoring_case(word, "vertex"))
        in_.fail(fmt::format("expected vertex or endloop, found '{}'", printable(word)));
      read_corner();
    }
    if (!builder_.end_polygon()) small_loops_.note(in_.line());
    expect_word("endfacet");
  }

  void read_corner() {
    if (count_ == MeshBuilder::kMaxPositions)
      in_.fail(fmt::format("more than {} vertices", MeshBuilder::kMaxPositions));
    builder_.add_position(in_.read_position());
    builder_.add_corner(static_cast<std::uint32_t>(count_++));
  }

  void expect_more(std::string_view what) {
    if (!in_.skip_to_word()) in_.fail_expecting(what);
  }
  void expect_word(std::string_view lower_case) {
    expect_more(lower_case);
    const std::string_view word = in_.read_word();
    if (!equals_ignoring_case(word, lower_case))
      in_.fail(fmt::format("expected {}, found '{}'", lower_case, printable(word)));
  }

  TextInput in_;
  MeshBuilder& builder_;
  std::uint64_t count_ = 0;
  Oddity small_loops_{"passed over facets with fewer than three corners"};
};

// How many facets to read, from what the header says and what the file can hold.
std::uint64_t decide_facet_count(const Window& window, std::uint32_t promised,
                                 std::vector<std::string>& warnings) {
  if (!window.file_size()) return promised;
  const std::uint64_t left = window.remaining().value_or(0);
  const std::uint64_t held = left / kFacetSize;
  if (promised == held && left % kFacetSize == 0) return promised;
  // Writers that do not know the count in advance leave this.
  if ((promised == 0 || promised == 0xFFFFFFFFU) && held > 0 && left % kFacetSize == 0) {
    warnings.push_back(
        fmt::format("the header promises {} triangles; the file's size says {}", promised, held));
    return held;
  }
  if (promised > held)
    throw Error(
        {.file = window.name(), .byte = kStlHeaderSize - 4},
        fmt::format("the header of a binary STL promises {} triangles of {} bytes, but only "
                    "{} bytes follow",
                    promised, kFacetSize, left));
  warnings.push_back(fmt::format("{} bytes after the last triangle were passed over",
                                 left - promised * kFacetSize));
  return promised;
}

void read_stl_binary(Window& window, MeshBuilder& builder) {
  if (!window.ensure(kStlHeaderSize))
    throw Error({.file = window.name(), .byte = window.available()},
                fmt::format("a binary STL has a header of {} bytes; the file ends inside it",
                            kStlHeaderSize));
  const std::uint32_t promised = load_little_endian(window.cursor() + kStlHeaderSize - 4);
  window.move_to(window.cursor() + kStlHeaderSize);
  const std::uint64_t count = decide_facet_count(window, promised, builder.warnings);
  if (count > kMaxFacets)
    throw Error({.file = window.name(), .byte = kStlHeaderSize - 4},
                fmt::format("{} triangles; at most {} can be read", count, kMaxFacets));
  if (window.file_size()) {
    builder.expect_positions(3 * count);
    builder.expect_triangles(count);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!window.ensure(kFacetSize))
      throw Error({.file = window.name(), .byte = window.byte()},
                  fmt::format("the file ends in triangle {} of {}", i, count));
    const char* p = window.cursor() + 12;
    std::array<Vec3f, 3> corners;
    for (Vec3f& corner : corners)
      for (std::size_t axis = 0; axis < 3; ++axis, p += 4)
        corner[axis] = std::bit_cast<float>(load_little_endian(p));
    builder.add_positions(corners);
    const auto first = static_cast<std::uint32_t>(3 * i);
    builder.add_triangle({first, first + 1, first + 2});
    window.move_to(p + 2);
  }
}

}  // namespace

bool is_binary_stl(std::string_view head, std::optional<std::uint64_t> file_size) {
  if (!file_size || head.size() < kStlHeaderSize) return false;
  const std::uint64_t count = load_little_endian(head.data() + kStlHeaderSize - 4);
  return *file_size == kStlHeaderSize + count * kFacetSize;
}

bool may_be_binary_stl(std::string_view head, std::optional<std::uint64_t> file_size) {
  if (head.size() < kStlHeaderSize + kFacetSize) return false;
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return false;  // UTF-16
  // The last of its four bytes is one that no text has, up to 150 million triangles.
  if (!has_control_bytes(head.substr(kStlHeaderSize - 4, 4))) return false;
  const std::uint64_t count = load_little_endian(head.data() + kStlHeaderSize - 4);
  const std::uint64_t size = kStlHeaderSize + count * kFacetSize;
  if (count == 0) return false;
  if (file_size) return size <= *file_size;
  return size >= head.size() && count <= kMaxFacets && begins_with_sane_facets(head);
}

void read_stl(Window& window, MeshBuilder& builder) {
  window.ensure_token();
  const bool is_binary =
      !window.is_decoded() &&
      (is_binary_stl(window.text(), window.file_size()) || !looks_like_text(window.text()));
  if (!is_binary)
    StlTextReader(window, builder).read();
  else
    read_stl_binary(window, builder);
}

}  // namespace isotact::detail
