// Words, numbers and lines of a text file in a Window. Lines end with LF, CR or CR LF, mixed as
// they come, and may be of any length. A single word or number must be shorter than
// Window::kMaxToken.
#pragma once

#include <cstdint>
#include <string_view>

#include "isotact/base/vec.h"
#include "isotact/geometry/io/detail/number.h"
#include "isotact/geometry/io/detail/window.h"

namespace isotact::detail {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
constexpr bool is_line_end(char c) { return c == '\n' || c == '\r'; }

bool equals_ignoring_case(std::string_view text, std::string_view lower_case);

class TextInput {
 public:
  struct Syntax {
    bool backslash_joins_lines = false;
    char comment = '\0';  // from here to the end of the line; '\0': there are no comments
  };

  explicit TextInput(Window& window) : window_(window) {}
  TextInput(Window& window, const Syntax& syntax) : window_(window), syntax_(syntax) {}

  Window& window() { return window_; }
  std::uint64_t line() const { return line_; }  // from 1

  // Skips blanks within the line. Afterwards a whole word is in the window. Returns the byte there,
  // which is '\n' at every end of a line, before a comment and at the end of the file.
  char peek() {
    window_.ensure_token();
    const char* p = window_.cursor();
    if (*p == ' ') ++p;
    if (*p > ' ' && *p != '\\' && *p != syntax_.comment) {
      window_.move_to(p);
      return *p;
    }
    return peek_slowly();
  }
  bool is_at_line_end() { return peek() == '\n'; }
  bool is_at_file_end() { return window_.is_at_end(); }

  // Skips the rest of the line and its end.
  void next_line();
  // The same for a comment or a name, where a backslash at the end is a part of the text.
  void skip_text_line() { skip_line(false); }
  // Skips blanks, comments and ends of lines; false at the end of the file.
  bool skip_to_word() { return peek() != '\n' || skip_to_word_slowly(); }

  // Each takes what peek() found; `what` is used in messages: "a coordinate".
  float read_float(std::string_view what);
  double read_double(std::string_view what);
  Vec3f read_position();  // Three coordinates.
  std::int64_t read_integer(std::string_view what);
  // Up to the next blank or end of line; valid until the next call of anything here.
  std::string_view read_word();
  // The same without taking it; a word that is too long comes cut.
  std::string_view peek_word();
  void skip_word() { read_word(); }

  // Where in the window something was read: checks that a word ends there, and moves there.
  void finish_word(const char* end, std::string_view what) {
    const char c = *end;
    if ((c == ' ' || c == '\n') && end - window_.cursor() < kTooLong) {
      window_.move_to(end);
      return;
    }
    finish_word_slowly(end, what);
  }

  [[noreturn]] void fail(std::string_view message) const;
  // "expected `what`, found '...'", with what stands at the cursor.
  [[noreturn]] void fail_expecting(std::string_view what) const;

 private:
  static constexpr std::ptrdiff_t kTooLong = Window::kMaxToken;
  static_assert(Window::kPadding >= kNumberPadding);

  char peek_slowly();
  bool skip_to_word_slowly();
  void skip_line(bool joins_lines);
  void skip_line_end();
  void finish_word_slowly(const char* end, std::string_view what);

  Window& window_;
  Syntax syntax_{};
  std::uint64_t line_ = 1;
};

inline float TextInput::read_float(std::string_view what) {
  peek();
  float value = 0;
  const char* const end = parse_float(window_.cursor(), value);
  if (end == nullptr) fail_expecting(what);
  finish_word(end, what);
  return value;
}

inline Vec3f TextInput::read_position() {
  Vec3f p;
  for (std::size_t axis = 0; axis < 3; ++axis) p[axis] = read_float("a coordinate");
  return p;
}

inline void TextInput::next_line() {
  if (*window_.cursor() == '\n') {
    window_.move_to(window_.cursor() + 1);
    ++line_;
    return;
  }
  const bool is_comment = peek() == '\n' && *window_.cursor() == syntax_.comment;
  skip_line(syntax_.backslash_joins_lines && !is_comment);
}

inline std::int64_t TextInput::read_integer(std::string_view what) {
  peek();
  std::int64_t value = 0;
  const char* const end = parse_integer(window_.cursor(), value);
  if (end == nullptr) fail_expecting(what);
  finish_word(end, what);
  return value;
}

}  // namespace isotact::detail
