#include "isotact/geometry/io/detail/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0U | (code >> 6U));
    put(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    put(0xe0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3fU));
    put(0x80U | (code & 0x3fU));
  } else {
    put(0xf0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3fU));
    put(0x80U | ((code >> 6U) & 0x3fU));
    put(0x80U | (code & 0x3fU));
  }
}

// The four digits after \u, which the parser has checked.
std::uint32_t hex4(std::string_view digits) {
  std::uint32_t code = 0;
  std::from_chars(digits.data(), digits.data() + 4, code, 16);
  return code;
}

// One escape that starts behind the backslash at raw[at]; returns the characters used, or 0 for
// half a surrogate pair.
std::size_t append_escape(std::string& out, std::string_view raw, std::size_t at) {
  const char c = raw[at];
  if (c != 'u') {
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    const std::size_t which = kNames.find(c);
    out += which == std::string_view::npos ? c : kMeanings[which];
    return 1;
  }
  const std::uint32_t first = hex4(raw.substr(at + 1));
  if (first < 0xd800 || first > 0xdfff) {
    append_utf8(out, first);
    return 5;
  }
  if (first > 0xdbff || raw.substr(at + 5, 2) != "\\u") return 0;
  const std::uint32_t second = hex4(raw.substr(at + 7));
  if (second < 0xdc00 || second > 0xdfff) return 0;
  append_utf8(out, 0x10000U + ((first - 0xd800U) << 10U) + (second - 0xdc00U));
  return 11;
}

}  // namespace

std::string_view name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "true or false";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

JsonKind JsonValue::kind() const {
  switch (document_->text_[document_->nodes_[index_].begin]) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 't':
    case 'f':
      return JsonKind::kBoolean;
    case 'n':
      return JsonKind::kNull;
    default:
      return JsonKind::kNumber;
  }
}

void JsonValue::expect(JsonKind expected) const {
  if (const JsonKind found = kind(); found != expected)
    fail(fmt::format("expected {}, found {}", name(expected), name(found)));
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  expect(JsonKind::kObject);
  const auto& nodes = document_->nodes_;
  const std::string_view text = document_->text_;
  std::optional<JsonValue> found;
  for (std::uint32_t at = index_ + 1; at < nodes[index_].next; at = nodes[at + 1].next) {
    const std::size_t begin = nodes[at].begin + 1;
    if (text.substr(begin, key.size()) != key || text[begin + key.size()] != '"') continue;
    if (found) fail(fmt::format("has the key {} twice", printable(key)));
    found = JsonValue(*document_, at + 1);
  }
  return found;
}

JsonValue JsonValue::get(std::string_view key) const {
  const std::optional<JsonValue> found = find(key);
  if (!found) fail(fmt::format("has no {}", key));
  return *found;
}

JsonValue::Items JsonValue::items() const {
  expect(JsonKind::kArray);
  return {*document_, index_ + 1, document_->nodes_[index_].next};
}

JsonValue::Items::Iterator& JsonValue::Items::Iterator::operator++() {
  index_ = document_->nodes_[index_].next;
  return *this;
}

bool JsonValue::as_bool() const {
  expect(JsonKind::kBoolean);
  return document_->text_[document_->nodes_[index_].begin] == 't';
}

std::string_view JsonValue::number_text() const {
  expect(JsonKind::kNumber);
  const std::string_view rest = document_->text_.substr(document_->nodes_[index_].begin);
  return rest.substr(0, rest.find_first_not_of("+-.0123456789eE"));
}

double JsonValue::as_double() const {
  const std::string_view text = number_text();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value))
    fail(fmt::format("{} is out of the range of numbers", printable(text)));
  return value;
}

std::uint64_t JsonValue::as_unsigned(std::uint64_t least, std::uint64_t most) const {
  const std::string_view text = number_text();
  std::uint64_t value = 0;
  const char* text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, value);
  bool is_whole = error == std::errc{} && end == text_end;
  if (!is_whole) {                               // 2.0, 1e3, -0 or something else
    constexpr double kExact = 9007199254740992;  // 2^53
    double real = -1;
    std::from_chars(text.data(), text_end, real);
    is_whole = real >= 0 && real <= kExact && std::floor(real) == real;
    if (is_whole) value = static_cast<std::uint64_t>(real);
  }
  if (!is_whole || value < least || value > most)
    fail(fmt::format("expected a whole number from {} to {}, found {}", least, most,
                     printable(text)));
  return value;
}

std::string_view JsonValue::as_string(std::string& storage) const {
  expect(JsonKind::kString);
  const std::string_view raw = document_->key_at(index_);
  std::size_t escape = raw.find('\\');
  if (escape == std::string_view::npos) return raw;
  storage.clear();
  std::size_t at = 0;
  while (escape != std::string_view::npos) {
    storage.append(raw, at, escape - at);
    const std::size_t used = append_escape(storage, raw, escape + 1);
    if (used == 0) fail("half of a surrogate pair in a string");
    at = escape + 1 + used;
    escape = raw.find('\\', at);
  }
  storage.append(raw, at);
  return storage;
}

std::string JsonValue::path() const { return document_->path_of(index_); }

void JsonValue::fail(std::string_view message) const {
  const std::string where = path();
  throw Error({.file = document_->source_.file},
              where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
}

std::string_view JsonDocument::key_at(std::uint32_t node) const {
  const std::size_t begin = nodes_[node].begin + 1;
  std::size_t end = begin;
  while (text_[end] != '"') end += text_[end] == '\\' ? 2U : 1U;
  return text_.substr(begin, end - begin);
}

std::string JsonDocument::path_of(std::uint32_t node) const {
  std::string path;
  std::uint32_t at = 0;
  while (at < node) {  // into the child that contains it
    // In an object the key comes first, then the value.
    const std::uint32_t key_size = text_[nodes_[at].begin] == '{' ? 1 : 0;
    std::uint32_t child = at + 1;
    std::size_t position = 0;
    for (; nodes_[child + key_size].next <= node; ++position) child = nodes_[child + key_size].next;
    path +=
        key_size > 0 ? fmt::format("/{}", printable(key_at(child))) : fmt::format("/{}", position);
    at = child + key_size;
  }
  return path;
}

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
