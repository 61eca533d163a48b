#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/json.h"

namespace isotact::detail {

// Appends nodes in the order of the text. Open containers wait on a stack of fixed size.
class JsonDocument::Parser {
 public:
  explicit Parser(JsonDocument& document)
      : text_(document.text_), source_(document.source_), nodes_(document.nodes_) {}

  void run() {
    if (text_.size() >= std::numeric_limits<std::uint32_t>::max())
      throw Error({.file = source_.file},
                  fmt::format("{} bytes of JSON; less than 4 GiB can be read", text_.size()));
    nodes_.reserve(most_values());
    parse_value();
    while (depth_ > 0) parse_in_container();
    skip_space();
    if (at_ != text_.size()) fail_expecting("the end of the text");
  }

 private:
  // Each value but the first stands behind one of these, and a key before ':'. A value takes two
  // characters with what parts it from the next; only containers that are never closed take one.
  std::size_t most_values() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"') {
        for (++i; i < text_.size() && text_[i] != '"'; ++i)
          if (text_[i] == '\\') ++i;
      } else if (c == ',' || c == ':' || c == '[' || c == '{') {
        ++count;
      }
    }
    return std::min(count, (text_.size() + kMaxDepth) / 2 + 1);
  }

  void parse_in_container() {
    Node& container = nodes_[stack_[depth_ - 1]];
    const bool is_object = text_[container.begin] == '{';
    const bool has_items = nodes_.size() > stack_[depth_ - 1] + 1;
    skip_space();
    if (peek() == (is_object ? '}' : ']')) {
      ++at_;
      --depth_;
      container.next = static_cast<std::uint32_t>(nodes_.size());
      return;
    }
    if (has_items) {
      if (peek() != ',') fail_expecting(is_object ? "',' or '}'" : "',' or ']'");
      ++at_;
      skip_space();
    }
    if (is_object) {
      if (peek() != '"') fail_expecting("a key in quotes");
      parse_string();
      skip_space();
      if (peek() != ':') fail_expecting("':' after a key");
      ++at_;
    }
    parse_value();
  }

  void parse_value() {
    skip_space();
    switch (peek()) {
      case '{':
      case '[':
        if (depth_ == kMaxDepth)
          fail(
              fmt::format("arrays and objects lie more than {} deep within each other", kMaxDepth));
        stack_[depth_++] = static_cast<std::uint32_t>(nodes_.size());
        add_node(at_++);
        return;
      case '"':
        return parse_string();
      case 't':
        return parse_word("true");
      case 'f':
        return parse_word("false");
      case 'n':
        return parse_word("null");
      default:
        return parse_number();
    }
  }

  void parse_string() {
    add_node(at_++);
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail_expecting("'\"' at the string's end");
      if (text_[at_++] == '\\') parse_escape();
    }
    if (at_ == text_.size()) fail_expecting("'\"' at the string's end");
    ++at_;
  }

  void parse_escape() {
    const char c = peek();
    if (c == 'u') {
      for (int i = 0; i < 4; ++i) {
        ++at_;
        if (!is_hex(peek())) fail_expecting("four hexadecimal digits after \\u");
      }
    } else if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
      fail_expecting("one of \" \\ / b f n r t u after a backslash");
    }
    ++at_;
  }

  void parse_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) fail_expecting("a value");
    add_node(at_);
    at_ += word.size();
  }

  void parse_number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (!is_digit(peek())) {
      at_ = begin;
      fail_expecting("a value");
    }
    if (peek() == '0')
      ++at_;
    else
      skip_digits();
    if (peek() == '.') {
      ++at_;
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      skip_digits();
    }
    add_node(begin);
  }

  void skip_digits() {
    if (!is_digit(peek())) fail_expecting("a digit");
    while (is_digit(peek())) ++at_;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }

  // NUL past the end: no rule accepts it.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void add_node(std::size_t begin) {
    nodes_.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(nodes_.size() + 1)});
  }

  [[noreturn]] void fail_expecting(std::string_view expected) const {
    const std::string found = at_ == text_.size()
                                  ? std::string("the end of the text")
                                  : fmt::format("'{}'", printable(text_.substr(at_, 1)));
    fail(fmt::format("not JSON: expected {}, found {}", expected, found));
  }

  [[noreturn]] void fail(const std::string& message) const {
    if (!source_.has_lines)
      throw Error({.file = source_.file, .byte = source_.first_byte + at_}, message);
    const std::string_view before = text_.substr(0, at_);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error({.file = source_.file, .line = static_cast<std::uint64_t>(lines) + 1},
                fmt::format("column {}: {}", at_ - line_begin + 1, message));
  }

  std::string_view text_;
  const JsonSource& source_;
  std::vector<Node>& nodes_;
  std::size_t at_ = 0;
  std::array<std::uint32_t, kMaxDepth> stack_{};
  std::size_t depth_ = 0;
};

JsonDocument::JsonDocument(std::string_view text, JsonSource source)
    : text_(text), source_(std::move(source)) {
  Parser(*this).run();
}

}  // namespace isotact::detail
