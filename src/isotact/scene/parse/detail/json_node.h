// A JSON value with its path, for readers whose error messages name that path.
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
  bool above = false;  // The lower limit itself is not allowed.
};
// The range of positive numbers up to a limit.
constexpr NumberRange above_zero(double upper) { return {0, upper, true}; }
constexpr NumberRange within(double limit) { return {-limit, limit}; }

class JsonNode;

// JSON text as a tree. Throws Error for text that is not JSON, for a repeated key in an object, and
// for more than 32 levels of nesting. Also throws for more values than most_values; keys and ends
// of objects and arrays count as values.
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
// if it finds something else.
class JsonNode {
 public:
  using Names = std::vector<std::string>;

  bool is_null() const;
  bool is_text() const;
  bool is_object() const;
  bool is_array() const;

  // Objects. expect_keys throws Error for any other key and names the nearest known key.
  void expect_keys(const Names& keys) const;
  // Returns the one key of the list that is present, or "". Throws Error if more than one is
  // present, or if none is and one is needed.
  std::string choose_key(const Names& keys, bool needed) const;
  std::optional<JsonNode> find(const std::string& key) const;
  JsonNode get(const std::string& key) const;
  std::vector<std::pair<std::string, JsonNode>> members() const;
  // Returns the items of an array. Throws Error if there are more than `most`.
  std::vector<JsonNode> items(std::size_t most) const;

  bool boolean() const;
  double number(const NumberRange& range) const;
  std::int64_t whole(std::int64_t lower, std::int64_t upper) const;
  std::string text(std::size_t most) const;
  std::string name() const;  // 1 to 100 characters.
  std::size_t choice(const Names& names) const;
  Vec3 vec(double limit) const;
  std::vector<double> numbers(std::size_t count, const NumberRange& range) const;

  // Returns a short form of the value for messages: "big" with its quotes, 12, an object.
  std::string found() const;
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_expecting(std::string_view expected) const;

 private:
  friend class JsonText;
  JsonNode(const void* value, std::string path, const std::string* file)
      : value_(value), path_(std::move(path)), file_(file) {}
  JsonNode member(const std::string& key, const void* value) const;

  const void* value_;  // The library's value type, which no header names.
  std::string path_;
  const std::string* file_;
};

// Reads a member into a target if the member is present.
template <typename T, typename Read>
void read_if(const JsonNode& object, const std::string& key, T& target, Read read) {
  if (const auto node = object.find(key)) target = read(*node);
}

}  // namespace isotact::detail
