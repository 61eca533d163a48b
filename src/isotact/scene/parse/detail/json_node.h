// A JSON value that knows its path, for readers whose every complaint should name it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::detail {

struct NumberRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool above = false;  // lower itself is not allowed
};
// Positive, up to a limit.
constexpr NumberRange above_zero(double upper) { return {0, upper, true}; }
constexpr NumberRange within(double limit) { return {-limit, limit}; }

class JsonNode;

// The text as a tree. Throws Error for what is no JSON, for the same key twice in an object, and
// for what is nested deeper than 32 levels or has more values than that (keys and ends of objects
// and arrays count, too).
inline constexpr std::size_t kMostJsonValues = 500000;
class JsonText {
 public:
  JsonText(std::string_view text, std::string file, std::size_t most_values = kMostJsonValues);
  ~JsonText();
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;
  JsonNode root() const;

 private:
  struct Tree;
  std::unique_ptr<const Tree> tree_;
  std::string file_;
};

// Valid as long as the text. Every function that needs a kind or a range throws Error with the path
// where it finds something else.
class JsonNode {
 public:
  using Names = std::vector<std::string>;

  bool is_null() const;
  bool is_text() const;
  bool is_object() const;
  bool is_array() const;

  // Objects. expect_keys refuses all others, with the nearest one that is known.
  void expect_keys(const Names& keys) const;
  // Refuses more than one of them, and none where one is needed. The one that is there, or "".
  std::string choose_key(const Names& keys, bool needed) const;
  std::optional<JsonNode> find(const std::string& key) const;
  JsonNode get(const std::string& key) const;
  std::vector<std::pair<std::string, JsonNode>> members() const;
  // Arrays, of no more than so many.
  std::vector<JsonNode> items(std::size_t most) const;

  bool boolean() const;
  double number(const NumberRange& range) const;
  std::int64_t whole(std::int64_t lower, std::int64_t upper) const;
  std::string text(std::size_t most) const;
  std::string name() const;  // 1 to 100 characters
  std::size_t choice(const Names& names) const;
  Vec3 vec(double limit) const;
  std::vector<double> numbers(std::size_t count, const NumberRange& range) const;

  // What is there, short, for messages: "big" with its quotes, 12, an object.
  std::string found() const;
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_expecting(std::string_view expected) const;

 private:
  friend class JsonText;
  JsonNode(const void* value, std::string path, const std::string* file)
      : value_(value), path_(std::move(path)), file_(file) {}
  JsonNode member(const std::string& key, const void* value) const;

  const void* value_;  // the library's, which no header names
  std::string path_;
  const std::string* file_;
};

// Reads a member into a target where it is there.
template <typename T, typename Read>
void read_if(const JsonNode& object, const std::string& key, T& target, Read read) {
  if (const auto node = object.find(key)) target = read(*node);
}

}  // namespace isotact::detail
