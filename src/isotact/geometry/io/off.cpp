// Geomview OFF and its variants with normals, colours and texture coordinates, of which only the
// positions and faces are taken. A vertex and a face are a line each, so that what follows the
// needed numbers on a line can be passed over, whether the header announces it or not.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {
namespace {

class OffReader {
 public:
  OffReader(Window& window, MeshBuilder& builder)
      : in_(window, {.comment = '#'}), builder_(builder) {}

  void read() {
    read_keyword();
    read_counts();
    for (std::int64_t i = 0; i < vertex_count_; ++i) read_position(i);
    for (std::int64_t i = 0; i < face_count_; ++i) read_face(i);
    if (in_.skip_to_word())
      builder_.warnings.push_back(
          fmt::format("what follows the last face was passed over (from line {})", in_.line()));
    small_faces_.report_to(builder_.warnings);
  }

 private:
  void read_keyword() {
    if (!in_.skip_to_word()) in_.fail("expected OFF, found the end of the file");
    const std::string_view word = in_.peek_word();
    if (std::all_of(word.begin(), word.end(), is_digit)) {
      builder_.warnings.emplace_back("the keyword OFF is missing");
      return;  // the word is the first count
    }
    switch (off_variant(word)) {
      case OffVariant::kNone:
        in_.fail(fmt::format("expected OFF, found '{}'", printable(word)));
      case OffVariant::kOtherDimension:
        in_.fail(
            fmt::format("'{}' has points that are not three-dimensional; only OFF with three "
                        "coordinates can be read",
                        printable(word)));
      case OffVariant::kThreeDimensional:
        break;
    }
    in_.skip_word();
    if (in_.peek() == 'B') in_.fail("binary OFF cannot be read; only OFF in text");
  }

  void read_counts() {
    if (!in_.skip_to_word()) in_.fail("expected the number of vertices, found the end of the file");
    vertex_count_ = read_count("the number of vertices");
    face_count_ = read_count("the number of faces");
    // Some writers leave out the number of edges, which nobody uses.
    if (!in_.is_at_line_end()) read_count("the number of edges");
    if (vertex_count_ > static_cast<std::int64_t>(MeshBuilder::kMaxPositions))
      in_.fail(fmt::format("the header promises {} vertices; at most {} can be read", vertex_count_,
                           MeshBuilder::kMaxPositions));
    in_.next_line();
  }

  std::int64_t read_count(std::string_view what) {
    const std::int64_t count = in_.read_integer(what);
    if (count < 0) in_.fail(fmt::format("{} is {}", what, count));
    return count;
  }

  void read_position(std::int64_t i) {
    if (!in_.skip_to_word())
      in_.fail(fmt::format("the file ends after {} of {} vertices", i, vertex_count_));
    builder_.add_position(in_.read_position());
    in_.next_line();
  }

  void read_face(std::int64_t i) {
    if (!in_.skip_to_word())
      in_.fail(fmt::format("the file ends after {} of {} faces", i, face_count_));
    const std::int64_t corner_count = read_count("the number of corners");
    builder_.begin_polygon();
    for (std::int64_t corner = 0; corner < corner_count; ++corner) {
      if (in_.is_at_line_end())
        in_.fail(fmt::format("a face of {} corners ends after {}", corner_count, corner));
      const std::int64_t index = in_.read_integer("the index of a vertex");
      if (index < 0 || index >= vertex_count_)
        in_.fail(fmt::format("a face uses vertex {}; the {} vertices are numbered from 0", index,
                             vertex_count_));
      builder_.add_corner(static_cast<std::uint32_t>(index));
    }
    if (!builder_.end_polygon()) small_faces_.note(in_.line());
    in_.next_line();
  }

  TextInput in_;
  MeshBuilder& builder_;
  std::int64_t vertex_count_ = 0;
  std::int64_t face_count_ = 0;
  Oddity small_faces_{"passed over faces with fewer than three corners"};
};

}  // namespace

OffVariant off_variant(std::string_view word) {
  // The manual has the order ST, C, N; some writers have another.
  for (int round = 0; round < 3; ++round)
    for (const std::string_view prefix : {"ST", "C", "N"})
      if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  if (word == "OFF") return OffVariant::kThreeDimensional;
  if (word == "4OFF" || word == "nOFF" || word == "4nOFF") return OffVariant::kOtherDimension;
  return OffVariant::kNone;
}

void read_off(Window& window, MeshBuilder& builder) { OffReader(window, builder).read(); }

}  // namespace isotact::detail
