#include "isotact/geometry/io/detail/text_input.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

constexpr bool ends_word(char c) { return is_blank(c) || is_line_end(c); }

}  // namespace

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

char TextInput::peek_slowly() {
  for (;;) {
    window_.ensure_token();
    const char* p = window_.cursor();
    while (is_blank(*p)) ++p;
    window_.move_to(p);
    if (p == window_.end()) {
      if (window_.is_last()) return '\n';
      continue;
    }
    if (*p == '\\' && syntax_.backslash_joins_lines) {
      window_.ensure_token();
      p = window_.cursor();
      if (is_line_end(p[1])) {
        window_.move_to(p + 1);
        skip_line_end();
        continue;
      }
    }
    window_.ensure_token();
    const char c = *window_.cursor();
    return is_line_end(c) || (c == syntax_.comment && c != '\0') ? '\n' : c;
  }
}

// The cursor is at the CR or LF.
void TextInput::skip_line_end() {
  window_.ensure_token();
  const char* p = window_.cursor();
  p += p[0] == '\r' && p[1] == '\n' ? 2 : 1;
  window_.move_to(p);
  ++line_;
}

void TextInput::skip_line(bool joins_lines) {
  char before = '\0';
  while (!window_.is_at_end()) {
    const char* p = window_.cursor();
    const char* const start = p;
    while (static_cast<unsigned char>(*p) > '\r' || !(is_line_end(*p) || p == window_.end())) ++p;
    if (p != start) before = p[-1];
    window_.move_to(p);
    if (p == window_.end()) continue;
    skip_line_end();
    if (!(joins_lines && before == '\\')) return;
    before = '\0';
  }
}

bool TextInput::skip_to_word_slowly() {
  while (peek() == '\n') {
    if (is_at_file_end()) return false;
    if (is_line_end(*window_.cursor()))
      skip_line_end();
    else
      skip_text_line();
  }
  return true;
}

double TextInput::read_double(std::string_view what) {
  peek();
  const char* const start = window_.cursor();
  float rounded = 0;
  const char* const end = parse_float(start, rounded);
  if (end == nullptr) fail_expecting(what);
  double value = rounded;
  std::from_chars(*start == '+' ? start + 1 : start, end, value);
  finish_word(end, what);
  return value;
}

std::string_view TextInput::peek_word() {
  peek();
  const char* p = window_.cursor();
  while (p != window_.end() && !ends_word(*p)) ++p;
  return {window_.cursor(), static_cast<std::size_t>(p - window_.cursor())};
}

std::string_view TextInput::read_word() {
  const std::string_view word = peek_word();
  finish_word(word.data() + word.size(), "a word");
  return word;
}

void TextInput::finish_word_slowly(const char* end, std::string_view what) {
  if (end - window_.cursor() >= kTooLong)
    fail(fmt::format("expected {} of less than {} characters, found more", what, kTooLong));
  if (end != window_.end() && !ends_word(*end) && *end != '\\' &&
      (*end != syntax_.comment || *end == '\0')) {
    fail_expecting(what);
  }
  window_.move_to(end);
}

void TextInput::fail(std::string_view message) const {
  throw Error({.file = window_.name(), .line = line_}, message);
}

void TextInput::fail_expecting(std::string_view what) const {
  const char* p = window_.cursor();
  if (p == window_.end()) fail(fmt::format("expected {}, found the end of the file", what));
  if (is_line_end(*p)) fail(fmt::format("expected {}, found the end of the line", what));
  while (p != window_.end() && !ends_word(*p)) ++p;
  const std::string_view word(window_.cursor(), static_cast<std::size_t>(p - window_.cursor()));
  fail(fmt::format("expected {}, found '{}'", what, printable(word)));
}

}  // namespace isotact::detail
