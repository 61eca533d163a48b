// Wavefront OBJ: positions and polygons. Everything else (normals, texture coordinates, colours,
// groups, materials, points, lines, curves) is passed over.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/readers.h"
#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {
namespace {

// Statements that hold a name or a path: a backslash at their end joins nothing.
constexpr std::array<std::string_view, 10> kNameStatements = {
    "g", "o", "usemtl", "mtllib", "s", "mg", "usemap", "maplib", "shadow_obj", "trace_obj"};
// Statements of the format that add nothing to a mesh.
constexpr std::array<std::string_view, 32> kOtherStatements = {
    "vn",     "vt",   "vp",    "l",     "p",        "deg",      "bmat", "step",
    "cstype", "curv", "curv2", "surf",  "parm",     "trim",     "hole", "scrv",
    "sp",     "end",  "con",   "bevel", "c_interp", "d_interp", "lod",  "ctech",
    "stech",  "call", "csh",   "bsp",   "bzp",      "cdc",      "cdp",  "res"};

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

// At the end of the file a zero byte stands behind the text.
bool ends_keyword(char c) { return is_blank(c) || is_line_end(c) || c == '\0'; }

class ObjReader {
 public:
  ObjReader(Window& window, MeshBuilder& builder)
      : in_(window, {.backslash_joins_lines = true, .comment = '#'}), builder_(builder) {}

  void read() {
    while (in_.skip_to_word()) read_statement();
    check_forward_references();
    if (unknown_.count() > 0 && !has_known_ && position_count_ == 0)
      throw Error({.file = in_.window().name(), .line = first_unknown_line_},
                  fmt::format("expected an OBJ statement, found '{}'", first_unknown_));
    unknown_.report_to(builder_.warnings);
    small_faces_.report_to(builder_.warnings);
  }

 private:
  void read_statement() {
    const char* const p = in_.window().cursor();
    if (p[0] == 'v' && ends_keyword(p[1])) {
      in_.window().move_to(p + 1);
      read_position();
    } else if (p[0] == 'f' && ends_keyword(p[1])) {
      in_.window().move_to(p + 1);
      read_face();
    } else {
      pass_over_statement();
    }
  }

  void read_position() {
    if (position_count_ == MeshBuilder::kMaxPositions)
      in_.fail(fmt::format("more than {} vertices", MeshBuilder::kMaxPositions));
    builder_.add_position(in_.read_position());
    ++position_count_;
    in_.next_line();  // a weight or a colour may follow
  }

  void read_face() {
    builder_.begin_polygon();
    while (!in_.is_at_line_end()) builder_.add_corner(read_corner());
    if (!builder_.end_polygon()) small_faces_.note(in_.line());
    in_.next_line();
    has_known_ = true;
  }

  // v, v/vt, v//vn or v/vt/vn; what is missing after a slash is forgiven.
  std::uint32_t read_corner() {
    std::int64_t number = 0;
    const char* p = parse_integer(in_.window().cursor(), number);
    if (p == nullptr) in_.fail_expecting("the number of a vertex");
    for (int slashes = 0; *p == '/' && slashes < 2; ++slashes) {
      ++p;
      if (*p == '-' || *p == '+') ++p;
      while (is_digit(*p)) ++p;
    }
    const std::uint32_t index = index_of(number);
    in_.finish_word(p, "a corner such as 1, 1/2, 1//3 or 1/2/3");
    return index;
  }

  std::uint32_t index_of(std::int64_t number) {
    const auto count = static_cast<std::int64_t>(position_count_);
    if (number > 0 && number <= count) return static_cast<std::uint32_t>(number - 1);
    if (number < 0 && -number <= count) return static_cast<std::uint32_t>(count + number);
    if (number == 0) in_.fail("a face uses vertex 0; vertices are numbered from 1");
    if (number < 0)
      in_.fail(fmt::format("a face uses vertex {}, but only {} vertices stand before it", number,
                           count));
    if (number > static_cast<std::int64_t>(MeshBuilder::kMaxPositions))
      in_.fail(fmt::format("a face uses vertex {}; more than {} cannot be named", number,
                           MeshBuilder::kMaxPositions));
    // Faces may stand before their vertices: what lies furthest ahead is checked at the end.
    if (number > furthest_.number) furthest_ = {number, in_.line()};
    return static_cast<std::uint32_t>(number - 1);
  }

  void check_forward_references() {
    if (furthest_.number > static_cast<std::int64_t>(position_count_))
      throw Error({.file = in_.window().name(), .line = furthest_.line},
                  fmt::format("a face uses vertex {}, but the file has {} vertices",
                              furthest_.number, position_count_));
  }

  void pass_over_statement() {
    const std::string_view word = in_.read_word();
    const auto is_one_of = [&](const auto& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is_one_of(kNameStatements)) {
      has_known_ = true;
      in_.skip_text_line();
      return;
    }
    if (is_one_of(kOtherStatements)) {
      has_known_ = true;
    } else {
      if (std::any_of(word.begin(), word.end(), is_control))
        in_.fail(fmt::format("expected text, found '{}'", printable(word)));
      if (unknown_.count() == 0) {
        first_unknown_ = printable(word);
        first_unknown_line_ = in_.line();
      }
      unknown_.note(in_.line());
    }
    in_.next_line();
  }

  struct ForwardReference {
    std::int64_t number = 0;
    std::uint64_t line = 0;
  };

  TextInput in_;
  MeshBuilder& builder_;
  std::uint64_t position_count_ = 0;
  ForwardReference furthest_{};
  bool has_known_ = false;
  std::string first_unknown_;
  std::uint64_t first_unknown_line_ = 0;
  Oddity unknown_{"passed over lines with unknown statements"};
  Oddity small_faces_{"passed over faces with fewer than three corners"};
};

}  // namespace

void read_obj(Window& window, MeshBuilder& builder) { ObjReader(window, builder).read(); }

}  // namespace isotact::detail
