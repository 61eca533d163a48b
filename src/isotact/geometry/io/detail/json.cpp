#include "isotact/geometry/io/detail/json.h"

#include <charconv>
#include <cmath>

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

}  // namespace isotact::detail
